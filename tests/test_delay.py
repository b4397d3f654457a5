"""Delay equations against closed forms, characteristic roots, a slow twin and published regimes of Mackey and Glass."""

import math
from itertools import pairwise

import naive
import numpy as np
import pytest
from delayed import MACKEY_GLASS, levels, values
from scipy.integrate import simpson
from scipy.special import lambertw

from dynamics.codegen import LANES
from dynamics.delay import delay_block, steps_of_delays
from dynamics.delay_run import delay_run
from dynamics.delay_system import delay_system_from_row
from dynamics.system import RowError
from indicators.lyapunov import lyapunov_spectrum

LINEAR_ROW = {
    "kind": "dde",
    "state": {"x": 1.0},
    "parameters": {"a": -1.0, "tau": 1.0},
    "delayed": {"x_tau": {"of": "x", "by": "tau"}},
    "rule": ["a*x_tau"],
}
LINEAR = delay_system_from_row("linear_delay", LINEAR_ROW)
COSINE = LINEAR.with_values({"a": -1.0, "tau": math.pi / 2}, {"x": "cos(t)"})
# (x, y) = (sin t, cos t) solves it whatever the two delays are: every term that they bring in is taken off again
TWO = delay_system_from_row(
    "two_delays",
    {
        "kind": "dde",
        "state": {"x": "sin(t)", "y": "cos(t)"},
        "parameters": {"p": 1.0, "q": 0.75},
        "delayed": {"x_p": {"of": "x", "by": "p"}, "y_p": {"of": "y", "by": "p"}, "y_q": {"of": "y", "by": "q"}},
        "rule": ["y + x_p*y_q - sin(t - p)*cos(t - q)", "-x + y_p**2 - cos(t - p)**2"],
    },
)


def shaped(moving, ring):
    return ring.reshape(-1, moving.system.dimension, 1 + moving.k, LANES)


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def test_order_on_the_cosine():
    """x' = -x(t - pi/2) from cos t stays cos t."""
    steps = np.array([4, 8, 16, 32, 64])
    errors = []
    for m in steps:
        moving = delay_block(COSINE, values(COSINE), 0, h=math.pi / 2 / m)
        assert set(moving.lags) == {m}
        moving.advance(10 * m)
        assert moving.t[0] == pytest.approx(5 * math.pi, rel=1e-13)
        errors.append(np.hypot(moving.states[0, 0] + 1.0, (moving.history(0)[-2, 0] + math.cos(moving.h[0]))))
    assert slope(1 / steps[1:], errors[1:]) == pytest.approx(4, abs=0.1)
    assert errors[-1] < 1e-7


@pytest.mark.parametrize("n", [1, 3])
def test_order_with_two_delays_products_and_explicit_time(n):
    steps = n * np.array([4, 8, 16, 32])  # 3/4 of each is a whole number: no smaller step is taken
    errors = []
    for m in steps:
        moving = delay_block(TWO, values(TWO), 0, h=1 / m)
        assert [*moving.lags.reshape(3, LANES)[:, 0]] == [m, m, 3 * m // 4]
        moving.advance(3 * m)
        errors.append(np.abs(moving.states[:, 0] - [math.sin(3), math.cos(3)]).max())
    assert slope(1 / steps[1:], errors[1:]) == pytest.approx(4, abs=0.25)
    assert errors[-1] < 1e-6


def by_steps(a, tau, t):
    """x' = a x(t - tau), x = 1 before 0: a polynomial of degree n on [(n - 1) tau, n tau]."""
    return sum(a**j * (t - (j - 1) * tau) ** j / math.factorial(j) for j in range(math.floor(t / tau + 1e-9) + 2))


def test_method_of_steps_is_exact_up_to_the_fourth_interval():
    """Up to 4 tau the delayed value is a cubic, which Hermite's polynomial and Simpson's rule have exactly; from an
    interpolation across t = 0, where x' jumps, or a node beside a breaking point, an error would remain."""
    a, tau = np.linspace(-2, 2, LANES), np.linspace(0.3, 3, LANES)
    moving = delay_block(LINEAR, values(LINEAR, a=a, tau=tau), 0, h=tau / 5)
    assert set(moving.lags) == {5}
    for m in range(1, 21):
        moving.advance(1)
        exact = [by_steps(a[i], tau[i], m * tau[i] / 5) for i in range(LANES)]
        assert moving.states[0] == pytest.approx(exact, rel=1e-12, abs=1e-12)


def test_method_of_steps_has_order_four_later():
    steps = np.array([4, 8, 16, 32])
    errors = []
    for m in steps:
        moving = delay_block(LINEAR, values(LINEAR, a=-2.0), 0, h=1 / m)
        moving.advance(9 * m)
        errors.append(abs(moving.states[0, 0] - by_steps(-2.0, 1.0, 9.0)))
    assert slope(1 / steps, errors) == pytest.approx(4, abs=0.2)
    assert errors[-1] > 0.0


def test_a_twin_agrees_with_two_delays_and_deviations():
    """Orbit and two deviations, as one slow system of six variables, equal to rounding."""
    k, m = 2, 8
    moving = delay_block(TWO, values(TWO, q=0.5 + np.arange(LANES) / 32), k, h=1 / m)
    lane = 5
    q = moving.p.reshape(2, LANES)[1, lane]
    lags = [int(x) for x in moving.lags.reshape(3, LANES)[1:, lane]]
    h = moving.h[lane]
    assert lags == [round(1 / h), round(q / h)]

    def rule(u, past, t):
        (x, y), (x_p, y_p), y_q = u[:2], past[0][:2], past[1][1]
        out = [y + x_p * y_q - math.sin(t - 1) * math.cos(t - q), -x + y_p**2 - math.cos(t - 1) ** 2]
        for j in (2, 4):
            (v, w), (v_p, w_p), w_q = u[j : j + 2], past[0][j : j + 2], past[1][j + 1]
            out += [w + v_p * y_q + x_p * w_q, -v + 2 * y_p * w_p]
        return np.array(out)

    segments = [np.hstack([moving.history(lane, j, middles=middles) for j in range(1 + k)]) for middles in (0, 1)]

    def history(t):
        place = t / h + moving.span[lane]
        return segments[round(2 * place) % 2][math.floor(place + 0.25)]

    steps = 3 * int(moving.span[lane])
    moving.advance(steps)
    slow = naive.delayed(rule, history, h, lags, steps)[-lags[0] - 1 :]
    fast = np.hstack([moving.history(lane, j) for j in range(1 + k)])
    assert fast == pytest.approx(slow, rel=1e-11, abs=1e-12)
    assert np.abs(fast).max() > 1


def test_exponents_of_a_linear_equation_are_the_characteristic_roots():
    """x' = a x(t - tau): s = a exp(-s tau), s = W_j(a tau)/tau over the branches j of Lambert's function; a tau from
    the stable real (-0.2) and complex (-1) to the unstable complex (-2.5) and real (1.5) ones."""
    product = np.array([-3, -2.5, -2, -1.7, -1.5, -1.3, -1, -0.8, -0.6, -0.3, -0.2, 0.2, 0.5, 1, 1.5, 2])
    tau = np.geomspace(0.25, 5, LANES)
    zero = LINEAR.with_values({}, {"x": "0"})
    moving = delay_block(zero, values(zero, a=product / tau, tau=tau), 3, h=tau / 32)
    delay_run(moving, 100, steps=32)
    done = delay_run(moving, 1000, steps=32)
    assert set(done.status) == {"ok"}
    assert not done.states.any()
    for i in range(LANES):
        roots = np.sort([(lambertw(product[i], branch) / tau[i]).real for branch in range(-4, 5)])[::-1]
        spectrum = lyapunov_spectrum(done.growth[:, :, i], done.interval[i])
        off = np.abs(np.array(spectrum.value) - roots[:3])
        assert (off <= np.array(spectrum.error) + 2e-5 / tau[i]).all(), (product[i], spectrum.value, roots[:3])
        assert (off < 3e-3 / tau[i]).all()


def test_deviations_of_a_linear_equation_are_its_solutions():
    moving = delay_block(COSINE, values(COSINE), 1, h=0.1)
    for ring in (moving.nodes, moving.middles):
        shaped(moving, ring)[:, :, 1] = shaped(moving, ring)[:, :, 0]
    moving.advance(200)
    assert np.abs(moving.history(3)).max() > 0.9
    assert moving.history(3, 1) == pytest.approx(moving.history(3), abs=1e-13)


def test_deviations_are_the_difference_of_close_orbits():
    """Central differences of orbits whose histories differ by a deviation; the error goes like the square of that."""
    k, eps = 2, 1e-4
    moving = delay_block(MACKEY_GLASS, values(MACKEY_GLASS), k, h=0.2, history=levels)
    steps = int(moving.span[0])
    delay_run(moving, 10, steps=steps)
    for j in range(1, k + 1):
        close = []
        for sign in (1, -1):
            other = delay_block(MACKEY_GLASS, values(MACKEY_GLASS), 0, h=0.2)
            other.head[:] = moving.head
            for to, ring in ((other.nodes, moving.nodes), (other.middles, moving.middles)):
                both = shaped(moving, ring)
                to[:] = (both[:, :, 0] + sign * eps * both[:, :, j]).ravel()
            other.advance(2 * steps)
            close.append(np.array([other.history(i) for i in range(LANES)]))
        deviation = delay_block(MACKEY_GLASS, values(MACKEY_GLASS), k, h=0.2)
        deviation.head[:] = moving.head
        deviation.nodes[:], deviation.middles[:] = moving.nodes, moving.middles
        deviation.advance(2 * steps)
        moved = np.array([deviation.history(i, j) for i in range(LANES)])
        assert np.abs(moved).max() > 0.1
        assert (close[0] - close[1]) / (2 * eps) == pytest.approx(moved, abs=2e-5 * np.abs(moved).max())


def test_the_orbit_is_the_same_with_and_without_deviations():
    """Bit for bit; and so is the growth of the first deviations, whatever follows them."""
    runs = []
    for k in (0, 1, 3):
        moving = delay_block(MACKEY_GLASS, values(MACKEY_GLASS), k, h=0.3, history=levels)
        runs.append((delay_run(moving, 40, steps=30, renormalisations=2), moving))
    assert np.ptp(runs[0][0].states[:, 0, 0]) > 0.1
    for done, moving in runs[1:]:
        assert np.array_equal(done.states, runs[0][0].states)
        assert np.array_equal(moving.history(7), runs[0][1].history(7))
    assert np.array_equal(runs[1][0].growth[:, 0], runs[2][0].growth[:, 0])


def test_a_lane_does_not_depend_on_its_neighbours():
    """LYA-20: a lane among others, with longer histories beside it, is the lane alone."""
    alone = delay_block(MACKEY_GLASS, values(MACKEY_GLASS, tau=9.0), 2, h=0.3, history=lambda t: 0.8 + 0.0 * t[None])
    tau = np.full(LANES, 9.0)
    tau[8:] = 20.0
    among = delay_block(MACKEY_GLASS, values(MACKEY_GLASS, tau=tau), 2, h=0.3, history=lambda t: 0.8 + 0.0 * t[None])
    assert among.span[0] < among.span[-1]
    a, b = (delay_run(moving, 100, steps=7) for moving in (alone, among))
    assert np.array_equal(a.states[:, :, :8], b.states[:, :, :8])
    assert np.array_equal(a.growth[:, :, :8], b.growth[:, :, :8])
    assert not np.allclose(b.states[:, :, 0], b.states[:, :, 8])


def test_deviations_are_orthonormal_histories():
    """In v(t) w(t) + mean of v w over the history, summed here by scipy."""
    tau = np.linspace(2.0, 5.0, LANES)
    moving = delay_block(TWO, values(TWO, p=tau, q=tau / 2), 3, h=0.25)
    for _ in range(2):
        for i in (0, 9, LANES - 1):
            m = int(moving.span[i])
            whole = np.empty((3, 2 * m + 1, 2))
            for j in range(3):
                whole[j, ::2], whole[j, 1::2] = moving.history(i, j + 1), moving.history(i, j + 1, middles=True)
            products = np.einsum("jnc,qnc->jqn", whole, whole)
            gram = products[:, :, -1] + simpson(products, dx=1 / (2 * m), axis=-1)
            assert gram == pytest.approx(np.eye(3), abs=1e-12)
        delay_run(moving, 5, steps=11)


def test_growth_does_not_depend_on_how_often_it_is_taken_out():
    totals = []
    for steps, renormalisations in ((40, 1), (10, 4), (5, 8)):
        moving = delay_block(MACKEY_GLASS, values(MACKEY_GLASS), 2, h=0.4, history=levels)
        done = delay_run(moving, 30, steps=steps, renormalisations=renormalisations)
        assert done.interval[0] == pytest.approx(40 * moving.h[0])
        totals.append(done.growth.sum(axis=0))
    assert np.abs(totals[0]).max() > 1
    assert totals[1] == pytest.approx(totals[0], abs=1e-7)
    assert totals[2] == pytest.approx(totals[0], abs=1e-7)


def test_half_the_step_has_a_sixteenth_of_the_error():
    """Mackey and Glass at t = 68, before chaos parts the orbits."""
    ends = []
    for m in (40, 80, 160, 320):
        moving = delay_block(MACKEY_GLASS, values(MACKEY_GLASS), 0, h=17 / m, history=levels)
        moving.advance(4 * m)
        ends.append(moving.states[0])
    moves = [np.linalg.norm(b - a) for a, b in pairwise(ends)]
    assert math.log2(moves[1] / moves[2]) == pytest.approx(4, abs=0.35)
    assert moves[2] < 1e-5


def test_escape_and_blow_up_end_a_lane_alone():
    """x' = a x^2 + b x(t - 1): the pole at t = 1, exponential growth, and decay, side by side."""
    row = {**LINEAR_ROW, "parameters": {"a": 0.0, "b": -1.0, "tau": 1.0}, "rule": ["a*x**2 + b*x_tau"]}
    s = delay_system_from_row("quadratic_delay", row)
    a, b = np.zeros(LANES), np.full(LANES, -1.0)
    a[0], b[0] = 1.0, 0.0
    b[1] = 1.0
    moving = delay_block(s, values(s, a=a, b=b), 1, h=0.05)
    done = delay_run(moving, 40, steps=40)
    assert done.status[:2] == ("blew_up", "escaped")
    assert set(done.status[2:]) == {"ok"}
    assert done.kept[0] == 0
    assert 2 * done.kept[1] == pytest.approx(math.log(1e15) / lambertw(1).real, abs=3)  # records of 2 time units
    assert set(done.kept[2:]) == {40}
    assert np.isfinite(done.growth).all()
    assert np.isfinite(done.states).all()
    assert not done.states[done.kept[1] :, :, 1].any()
    assert done.states[: done.kept[1], 0, 1].all()
    assert abs(done.states[-1, 0, 2]) < 1e-8


def test_deviations_that_overflow_end_a_lane_whose_orbit_is_fine():
    """The orbit rests at 0; a deviation grows like exp(2.86 t) for 300 time units without being brought back."""
    zero = LINEAR.with_values({}, {"x": "0"})
    a = np.full(LANES, 1.0)
    a[3] = 50.0
    moving = delay_block(zero, values(zero, a=a), 1, h=0.05)
    done = delay_run(moving, 2, steps=6000)
    assert [i for i in range(LANES) if done.status[i] == "blew_up"] == [3]
    assert done.kept[3] == 0
    assert np.isfinite(done.growth).all()
    assert done.growth[1, 0, 0] == pytest.approx(300 * lambertw(1).real, rel=1e-6)


def test_what_no_step_reads_any_more_cannot_overflow():
    """A strongly contracting lane of 2 steps a delay beside one of 1200: 1200 divisions by 0.17 would be too many."""
    row = {**LINEAR_ROW, "parameters": {"a": -3.2, "tau": 1.0}, "rule": ["a*x - 0.01*x_tau"]}
    s = delay_system_from_row("contracting_delay", row)
    h = np.full(LANES, 0.5)
    h[1] = 1 / 1200
    moving = delay_block(s, values(s), 1, h=h)
    done = delay_run(moving, 1100)
    assert set(done.status) == {"ok"}
    assert -2.5 < done.growth[100:, 0, 0].mean() < -1.0
    assert np.isfinite(moving.nodes).all()


def test_history_formulas_hold_at_nodes_and_middles_with_the_lanes_own_parameters():
    row = {**LINEAR_ROW, "state": {"x": "1 + a*sin(3*t)"}}
    s = delay_system_from_row("wave", row)
    a = np.linspace(-0.5, 0.5, LANES)
    moving = delay_block(s, values(s, a=a, tau=2.0), 0, h=0.1)
    for i in (0, 11):
        assert moving.history(i)[:, 0] == pytest.approx(1 + a[i] * np.sin(3 * np.linspace(-2, 0, 21)), abs=1e-12)
        middles = np.linspace(-1.95, -0.05, 20)
        assert moving.history(i, middles=True)[:, 0] == pytest.approx(1 + a[i] * np.sin(3 * middles), abs=1e-12)


def test_other_values_and_histories():
    other = LINEAR.with_values({"tau": 2.0}, {"x": "a*t"})
    assert other.parameters == {"a": -1.0, "tau": 2.0}
    assert other.base.state == {"x": 0.0, "x_tau": 2.0}
    assert LINEAR.parameters["tau"] == 1.0
    assert hash(other) == hash(LINEAR.with_values({"tau": 2.0}, {"x": "a*t"}))
    assert other != LINEAR
    numbers = delay_system_from_row("linear_delay", {**LINEAR_ROW, "state": {"x": np.float64(0.1)}})
    assert numbers.past(np.array([-1.0, 0.0]), {}).tolist() == [[0.1, 0.1]]
    with pytest.raises(RowError, match="did you mean tau"):
        LINEAR.with_values({"tou": 1.0})
    with pytest.raises(RowError, match="no variable 'y'"):
        LINEAR.with_values({}, {"y": "1"})
    with pytest.raises(RowError, match="the delay tau is -1"):
        LINEAR.with_values({"tau": -1.0})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "ode"}, "has kind 'dde'"),
        ({"delayed": {}}, "'delayed' is missing"),
        ({"circle": {"x": 1.0}}, "'circle' is not read"),
        ({"rule": ["x_tau", "x"]}, "2 equations, the state has 1"),
        ({"delayed": {"x_tau": {"of": "y", "by": "tau"}}}, "'y' is not a variable; they are x"),
        ({"delayed": {"x_tau": {"of": "x", "by": "tu"}}}, "did you mean tau"),
        ({"delayed": {"x_tau": "x"}}, "give {of ="),
        ({"delayed": {"a": {"of": "x", "by": "tau"}}}, "'a' is used twice"),
        ({"parameters": {"a": 1.0, "tau": 0.0}}, "the delay tau is 0; it must be above 0"),
        ({"state": {"x": True}}, "the history of x: True is not a real number"),
        ({"state": {"x": "1/t"}}, "no finite value at t = 0"),
        ({"state": {"x": "y + 1"}}, "the history of x: the name 'y' is not defined"),
        ({"rule": ["a*x_late"]}, "did you mean x_tau"),
        ({"sweep": [{"parameter": "b", "lo": 0, "hi": 1, "points": 3}]}, "'b' is not one of"),
    ],
)
def test_rows_that_are_refused(change, message):
    with pytest.raises(RowError, match=message):
        delay_system_from_row("linear_delay", {**LINEAR_ROW, **change})


def test_steps_divide_every_delay():
    lags, h = steps_of_delays(TWO, values(TWO, p=2.0, q=0.7), 0.15)
    assert [*lags[:, 0]] == [20, 20, 7]
    assert h[0] == pytest.approx(0.1)
    assert 0.07 / 0.01 > 7  # in doubles; seven steps are meant all the same
    lags, h = steps_of_delays(LINEAR, values(LINEAR, tau=0.07), 0.01)
    assert (lags[0, 0], h[0]) == (7, pytest.approx(0.01))
    lags, h = steps_of_delays(LINEAR, values(LINEAR, tau=0.3), 7.0)
    assert (lags[0, 0], h[0]) == (1, 0.3)
    with pytest.raises(ValueError, match="no multiples of one step"):
        steps_of_delays(TWO, values(TWO, p=1.0, q=math.sqrt(0.5)), 0.01)


def test_a_step_may_be_the_whole_delay():
    moving = delay_block(LINEAR, values(LINEAR, a=0.5), 1, h=1.0)
    assert moving.span[0] == 1
    moving.advance(4)
    assert moving.states[0, 0] == pytest.approx(by_steps(0.5, 1.0, 4.0), rel=1e-13)


def test_blocks_that_are_refused():
    with pytest.raises(ValueError, match=r"needs parameters \(2, 16\), not \(2,\)"):
        delay_block(LINEAR, np.array([1.0, 1.0]), 0, h=0.1)
    with pytest.raises(ValueError, match="9 deviations asked for; with 8 steps"):
        delay_block(LINEAR, values(LINEAR), 9, h=1 / 8)
    with pytest.raises(ValueError, match="finite and above 0"):
        delay_block(LINEAR, values(LINEAR, tau=-1.0), 0, h=0.1)
    with pytest.raises(ValueError, match="finite and above 0"):
        delay_block(LINEAR, values(LINEAR), 0, h=0.0)
    with pytest.raises(ValueError, match="at most 100000 are kept"):
        delay_block(LINEAR, values(LINEAR), 0, h=1e-6)
    with pytest.raises(ValueError, match="values that are not finite"):
        delay_block(LINEAR, values(LINEAR), 0, h=0.1, history=lambda t: np.full((1, *t.shape), np.nan))
    with pytest.raises(ValueError, match=r"has shape \(11, 16\)"):
        delay_block(LINEAR, values(LINEAR), 0, h=0.1, history=lambda t: t)
