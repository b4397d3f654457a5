import math
from itertools import pairwise

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.block import block, run
from dynamics.codegen import LANES
from dynamics.registry import system
from dynamics.system import system_from_row
from indicators.megno import megno

NONE = np.zeros((0, LANES))
PENDULUM_DEVIATION = np.array([0.3, 0.7]) / math.hypot(0.3, 0.7)
PENDULUM = system_from_row("pendulum", {"kind": "ode", "state": {"x": 1.0, "v": 0.0}, "rule": ["v", "-sin(x)"]})
OSCILLATOR = system_from_row("shm", {"kind": "ode", "state": {"x": 1.0, "v": 0.0}, "rule": ["v", "-x"]})
HENON_HEILES = system_from_row("henon_heiles", {
    "kind": "ode", "state": {"x": 0.0, "y": 0.1, "px": 0.3, "py": 0.0},
    "rule": ["px", "py", "-x - 2*x*y", "-y - x**2 + y**2"],
})  # fmt: skip


def everywhere(*values):
    return np.repeat(np.array(values, dtype=float)[:, None], LANES, axis=1)


def values(s, **changed):
    return everywhere(*(s.parameters | changed).values()).reshape(-1, LANES)


def directions(d, seed=0):
    """A generic deviation of length 1 for every lane, (d, LANES)."""
    v = np.random.default_rng(seed).standard_normal((d, LANES))
    return v / np.linalg.norm(v, axis=0)


def growth(s, states, parameters, deviations, records, *, h=1.0, steps=1, t=0.0, method="dp5"):
    """Growth (records, LANES) of one deviation per lane, from T = 0 on."""
    moving = block(s, states, parameters, 1, h=h, t=t, method=method)
    moving.deviations[:, 0] = deviations
    return run(moving, records, steps=steps).growth[:, 0]


def means(g):
    """Mean MEGNO of a map at every time, (n, lanes), by the definition."""
    n = np.arange(1, len(g) + 1)[:, None]
    return np.cumsum(2 * np.cumsum(n * g, axis=0) / n, axis=0) / n


# --- The function of an array


@given(st.integers(0, 2**32), st.integers(100, 300), st.floats(0.01, 10.0), st.booleans())
@settings(max_examples=25, deadline=None)
def test_equals_its_twin(seed, n, interval, continuous):
    g = np.random.default_rng(seed).standard_normal(n)
    found, _ = megno(g, interval, continuous=continuous)
    mean, last = naive.megno(g, interval, continuous)
    assert found.number == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert found.evidence["last_Y"] == pytest.approx(last, rel=1e-9, abs=1e-9)
    assert found.evidence["T"] == pytest.approx(n * interval)


@pytest.mark.parametrize("power", [-1.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("continuous", [True, False])
def test_growth_like_a_power_gives_twice_the_power(power, continuous):
    """d = (1 + t)^n: Y -> 2n, the mean like 2n - O(ln t/t)."""
    n = 100_000
    g = power * np.diff(np.log(1.0 + np.arange(n + 1)))
    found, slope = megno(g, 1.0, continuous=continuous)
    assert found.number == pytest.approx(2 * power, rel=2e-3)
    assert found.evidence["last_Y"] == pytest.approx(2 * power, rel=1e-3)
    assert abs(slope.number) < 1e-6


@pytest.mark.parametrize("rate", [0.3, -0.3, 1e-3, -2.0])
def test_exponential_growth_of_either_sign(rate):
    """d = exp(lambda t): Y = lambda t and its mean lambda t/2 for a flow; lambda (N + 3)/2 for a map."""
    interval, n = 0.5, 4_000
    flow, flow_slope = megno(np.full(n, rate * interval), interval, continuous=True)
    assert flow.evidence["last_Y"] == pytest.approx(rate * n * interval, rel=1e-12)
    assert flow.number == pytest.approx(rate * (n + 1) * interval / 2, rel=1e-12)
    assert flow_slope.number == pytest.approx(rate / 2, rel=1e-9)
    iterated, slope = megno(np.full(n, rate), 1.0, continuous=False)
    assert iterated.number == pytest.approx(rate * (n + 3) / 2, rel=1e-12)
    assert slope.number == pytest.approx(rate / 2, rel=1e-9)


def test_bounded_growth_gives_zero():
    t = np.arange(20_001) * 0.1
    g = np.diff(np.sin(t) + 0.5 * np.cos(math.sqrt(2) * t))
    found, slope = megno(g, 0.1, continuous=True)
    assert abs(found.number) < 4 * math.log(2_000) / 2_000  # the mean of a mean that goes like 1/t
    assert abs(slope.number) < 1e-5


def test_lanes_are_averaged_with_students_interval():
    g = np.random.default_rng(0).standard_normal((200, 5)) + 0.2
    together, slope = megno(g, 1.0, continuous=False)
    alone = [megno(g[:, i], 1.0, continuous=False) for i in range(5)]
    each = np.array([y.number for y, _ in alone])
    assert together.number == pytest.approx(each.mean(), rel=1e-12)
    assert together.error == pytest.approx(2.7764451 * each.std(ddof=1) / math.sqrt(5), rel=1e-7)  # t(0.975; 4)
    assert slope.number == pytest.approx(np.mean([s.number for _, s in alone]), rel=1e-9)
    assert (together.evidence["lanes"], alone[0][0].evidence["lanes"]) == (5, 1)


@pytest.mark.parametrize(("given_growth", "interval", "part"), [
    (np.ones(99), 1.0, "n >= 100"),
    (np.ones((100, 2, 2)), 1.0, "n >= 100"),
    (np.ones((100, 0)), 1.0, "n >= 100"),
    (3.0, 1.0, "n >= 100"),
    ([math.nan] * 200, 1.0, "NaN"),
    ([math.inf] * 200, 1.0, "inf"),
    (np.ones(200) * 1j, 1.0, "complex"),
    (np.ma.masked_greater(np.arange(200.0), 5), 1.0, "masked"),
    (np.ones(200), 0.0, "the interval is 0.0"),
    (np.ones(200), math.nan, "the interval is nan"),
])  # fmt: skip
def test_refused_input(given_growth, interval, part):
    with pytest.raises(ValueError, match=part):
        megno(given_growth, interval, continuous=True)


def test_a_vanished_deviation_has_no_value():
    for estimate in megno([-math.inf] * 200, 1.0, continuous=False):
        assert estimate.value is None
        assert estimate.status == "diverged"


# --- Regular orbits


def test_harmonic_oscillator_reads_zero():
    """MEG-02: isochronous, so no shear: 0 and not 2, from (1, 0) over T = 1000."""
    g = growth(OSCILLATOR, everywhere(1, 0), NONE, directions(2), 10_000, h=0.05, steps=2)
    for i in range(LANES):
        found, slope = megno(g[:, i], 0.1, continuous=True)
        assert abs(found.number) < 1e-6
        assert abs(slope.number) < 1e-9


def test_pendulum():
    """MEG-01: from (1, 0), <Y> = 1.12, 1.61, 1.74 at t = 200, 1000, 2000; regular is 0 to 2.5 with a slope near 0.

    The case states no deviation. One along (0.3, 0.7) gives its three numbers, and the 1.43 of MEG-05.
    """
    deviations = directions(2)
    deviations[:, 0] = PENDULUM_DEVIATION
    g = growth(PENDULUM, everywhere(1, 0), NONE, deviations, 20_000, h=0.02, steps=5, method="rk4")
    for duration, expected in [(200, 1.12), (1_000, 1.61), (2_000, 1.74)]:
        found, _ = megno(g[: 10 * duration, 0], 0.1, continuous=True)
        assert found.number == pytest.approx(expected, abs=0.006)
    for i in range(LANES):
        found, slope = megno(g[:, i], 0.1, continuous=True)
        assert 0.0 <= found.number <= 2.5
        assert abs(slope.number) < 1e-3


def test_late_clocks_do_not_matter():
    """MEG-05: the weight is the time since the start. <Y> = 1.43 at T = 500, whether t begins at 0 or at 1e5."""
    deviations = everywhere(*PENDULUM_DEVIATION)
    early, late = (
        growth(PENDULUM, everywhere(1, 0), NONE, deviations, 5_000, h=0.02, steps=5, t=t) for t in (0.0, 1e5)
    )
    assert np.array_equal(early, late)
    found, _ = megno(late[:, 0], 0.1, continuous=True)
    assert found.number == pytest.approx(1.43, abs=0.006)


def test_shear_map_in_closed_form():
    """K = 0: |w_n|^2 = (a + n b)^2 + b^2, and the mean is within 2 +- 0.1 at N = 1e4 where b is not small."""
    n = 10_000
    w = directions(2)
    g = growth(system("standard_map"), everywhere(1, 1), everywhere(0.0), w, n)
    steps = np.arange(n + 1)[:, None]
    length = 0.5 * np.log((w[0] + steps * w[1]) ** 2 + w[1] ** 2)
    assert np.allclose(g, np.diff(length, axis=0), atol=1e-9)
    for i in range(LANES):
        found, _ = megno(g[:, i], 1.0, continuous=False)
        assert found.number == pytest.approx(means(np.diff(length, axis=0))[-1, i], abs=1e-6)
        if abs(w[1, i]) > 0.25:
            assert found.number == pytest.approx(2.0, abs=0.1)
    assert (np.abs(w[1]) > 0.25).sum() >= 10


@pytest.mark.parametrize("seed", [1, 2])
def test_torus_of_the_standard_map_approaches_two(seed):
    """K = 0.3 from (1, 1): the envelope of |<Y> - 2| shrinks at every doubling of T.

    Y itself goes on swinging about 2, and the mean of one orbit may cross 2 and come back; so the envelope is the
    largest distance over the later half of the run, (T/2, T], and over 16 generic deviations.
    """
    longest = 17
    g = growth(system("standard_map"), everywhere(1, 1), everywhere(0.3), directions(2, seed), 2**longest)
    mean = means(g)
    found, slope = megno(g[:, 0], 1.0, continuous=False)
    assert found.number == pytest.approx(mean[-1, 0], rel=1e-9)
    assert abs(slope.number) < 1e-5
    envelope = [np.abs(mean[2**q // 2 : 2**q] - 2).max() for q in range(12, longest + 1)]
    assert all(late < early for early, late in pairwise(envelope))
    assert envelope[-1] < 0.1


def test_attracting_cycle_reads_zero():
    """van der Pol at mu = 1, on the cycle, T = 800."""
    s = system("vdp")
    moving = block(s, everywhere(1, 0), values(s), 0, h=0.02)
    moving.advance(5_000)
    g = growth(s, moving.states, values(s), directions(2, 3), 2_000, h=0.02, steps=20)
    for i in range(LANES):
        found, slope = megno(g[:, i], 0.4, continuous=True)
        assert abs(found.number) < 0.05
        assert abs(slope.number) < 1e-4


def test_stable_fixed_points_fall_like_half_the_exponent():
    """lambda t/2, without bound: logistic r = 2.8 and the damped oscillator."""
    g = growth(system("logistic_r4"), everywhere(1 - 1 / 2.8), everywhere(2.8), 1.0, 4_000)
    found, slope = megno(g[:, 0], 1.0, continuous=False)
    assert found.number == pytest.approx(math.log(0.8) * 4_003 / 2, rel=1e-9)
    assert slope.number == pytest.approx(math.log(0.8) / 2, rel=1e-9)
    s = system("damped_oscillator")
    g = growth(s, everywhere(1, 0), values(s), directions(2), 2_000, h=0.05, steps=10)
    found, slope = megno(g, 0.5, continuous=True)
    assert found.number == pytest.approx(-0.2 * 1_000 / 2, rel=0.01)
    assert slope.number == pytest.approx(-0.1, rel=1e-3)


def test_unstable_equilibrium_reads_its_rate():
    """MEG-07: at the upper point of the pendulum Y = t (20 and 100) and the mean t/2, while the orbit does not move."""
    s = PENDULUM
    moving = block(s, everywhere(math.pi, 0), NONE, 1, h=0.01)
    moving.deviations[:, 0] = math.sqrt(0.5)
    result = run(moving, 1_000, steps=10)
    for duration in (20, 100):
        found, slope = megno(result.growth[: 10 * duration, 0, 0], 0.1, continuous=True)
        assert found.evidence["last_Y"] == pytest.approx(duration, rel=1e-3)
        assert found.number == pytest.approx(duration / 2, rel=0.01)
        assert slope.number == pytest.approx(0.5, rel=1e-3)
    assert np.ptp(result.states[:200, 0]) < 1e-6


# --- Chaotic orbits


@pytest.mark.parametrize(("system_id", "exponent", "records", "h", "steps"), [
    ("logistic_r4", math.log(2), 10_000, 1.0, 1),
    ("henon", 0.4192288, 10_000, 1.0, 1),
    ("lorenz63", 0.9055914, 8_000, 0.01, 10),
    ("rossler", 0.07142294, 6_000, 0.02, 25),
])  # fmt: skip
def test_slope_is_half_the_exponent(system_id, exponent, records, h, steps):
    """To 5 % over 16 orbits; exponents from the reference rows (Sprott 2003; ln 2 exactly)."""
    s = system(system_id)
    rng = np.random.default_rng(4)
    starts = everywhere(*s.state.values()) * (1 + 0.05 * rng.standard_normal((s.dimension, LANES)))
    before = block(s, starts, values(s), 0, h=h)
    before.advance(20_000 if s.kind == "ode" else 1_000)
    g = growth(s, before.states, values(s), directions(s.dimension), records, h=h, steps=steps)
    found, slope = megno(g, h * steps, continuous=s.kind == "ode")
    assert slope.number == pytest.approx(exponent / 2, rel=0.05)
    assert found.number == pytest.approx(exponent * records * h * steps / 2, rel=0.05)
    assert slope.error < 0.1 * exponent


def test_long_chaotic_run_does_not_overflow():
    """MEG-04: Lorenz over T = 900: <Y> near lambda t/2 = 410 and Y near 818, no NaN."""
    s = system("lorenz63")
    g = growth(s, everywhere(1, 1, 1), values(s), directions(3), 9_000, h=0.01, steps=10)
    assert np.isfinite(g).all()
    found, slope = megno(g[:, 0], 0.1, continuous=True)
    assert found.number == pytest.approx(411, rel=0.05)
    assert found.evidence["last_Y"] == pytest.approx(818, rel=0.05)
    assert slope.number == pytest.approx(0.9056 / 2, rel=0.1)


def henon_heiles_start(energy, y):
    return everywhere(0, y, math.sqrt(2 * energy - y**2 + 2 * y**3 / 3), 0)


def test_control_cases():
    """MEG-08: Henon-Heiles at E = 0.1666 chaotic (<Y> = 134 at T = 2000), at E = 1/12 regular (1.83 at T = 3000); the
    standard map at K = 5 from (0.3, 0.2) chaotic (lambda N/2 = 9163 with lambda = ln(K/2))."""
    w = directions(4)
    g = growth(HENON_HEILES, henon_heiles_start(0.1666, -0.1), NONE, w, 2_000, h=0.05, steps=20)
    chaotic, slope = megno(g[:, 0], 1.0, continuous=True)
    assert 100 < chaotic.number < 170  # the exponent of one orbit of this length is 0.124 +- 0.02
    assert slope.number > 0.03
    g = growth(HENON_HEILES, henon_heiles_start(1 / 12, 0.1), NONE, w, 3_000, h=0.05, steps=20)
    for i in range(LANES):
        regular, slope = megno(g[:, i], 1.0, continuous=True)
        assert 0.0 <= regular.number <= 2.5
        assert abs(slope.number) < 1e-3
    g = growth(system("standard_map"), everywhere(0.3, 0.2), everywhere(5.0), directions(2), 20_000)
    found, slope = megno(g[:, 0], 1.0, continuous=False)
    assert found.number == pytest.approx(9_163, rel=0.1)
    assert slope.number == pytest.approx(math.log(2.5) / 2, rel=0.1)


def test_energy_is_kept_while_deviations_ride_along():
    """MEG-08: what is measured is on the energy surface that was asked for."""
    moving = block(HENON_HEILES, henon_heiles_start(1 / 12, 0.1), NONE, 1, h=0.05)
    run(moving, 3_000, steps=20)
    x, y, px, py = moving.states[:, 0]
    assert (px**2 + py**2 + x**2 + y**2) / 2 + x**2 * y - y**3 / 3 == pytest.approx(1 / 12, abs=1e-6)


@pytest.mark.parametrize("system_id", ["henon", "lorenz63", "henon_heiles"])
def test_orbit_is_the_same_with_deviations_of_any_seed(system_id):
    """MEG-10: bit for bit, at a fixed step; and the growth differs with the seed, so the seeds do something."""
    s = HENON_HEILES if system_id == "henon_heiles" else system(system_id)
    starts = everywhere(*s.state.values())
    found = []
    for k, seed in [(0, 0), (1, 0), (1, 5)]:
        moving = block(s, starts, values(s), k, h=0.01 if s.kind == "ode" else 1.0, seed=seed)
        found.append(run(moving, 200, steps=5))
    assert np.array_equal(found[1].states, found[0].states)
    assert np.array_equal(found[2].states, found[0].states)
    assert not np.array_equal(found[1].growth[:5], found[2].growth[:5])
    again = run(block(s, starts, values(s), 1, h=0.01 if s.kind == "ode" else 1.0, seed=5), 200, steps=5)
    assert np.array_equal(again.growth, found[2].growth)
