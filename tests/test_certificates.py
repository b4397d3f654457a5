import math

import numpy as np
import pytest
import sympy as sp
from certified import LOGISTIC, LORENZ, certified, standard_points
from flint import acb, arb, arb_mat, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.cycles import cycle_points, map_cycle
from dynamics.equations import FUNCTIONS, symbol
from dynamics.registry import curated_ids, curated_rows, system
from dynamics.system import system_from_row
from labeling.balls import enclosure
from labeling.certificates import certificate
from labeling.decimals import ball, tight_decimals
from labeling.proofs import _unstable

TENT = {"kind": "map", "state": {"x": 0.1}, "parameters": {"m": 1.9}, "rule": ["m*min(x, 1 - x)"]}


def planar(kind, rule, **more):
    return system_from_row("plane", {"kind": kind, "state": {"x": 0.1, "y": 0.2}, "rule": rule, **more})


def refused(s, *points):
    found, reason = certificate(s, np.array(points, dtype=float).T)
    assert found is None
    return reason


def cycle_of(s, guess, period):
    parameters = np.array([*s.parameters.values()])
    cycle = map_cycle(s, np.array(guess), parameters, period)
    return cycle, cycle_points(s, cycle, parameters, int(cycle.period))


def holds(text, radius, value):
    """Whether a decimal and a radius hold a value, given as a narrow ball."""
    return bool(abs(ball(text) - value) <= ball(radius))


def logistic_cycle(r):
    """The 2-cycle (r + 1 +- sqrt((r + 1)(r - 3)))/(2 r), with multiplier 4 + 2 r - r^2, in balls."""
    root = ((arb(r) + 1) * (arb(r) - 3)).sqrt()
    return [(arb(r) + 1 + sign * root) / (2 * arb(r)) for sign in (1, -1)], 4 + 2 * arb(r) - arb(r) ** 2


def lorenz_c(sigma, rho, beta, sign):
    x = sign * (arb(beta) * (arb(rho) - 1)).sqrt()
    return [x, x, arb(rho) - 1]


def test_the_two_cycle_of_the_logistic_map(logistic):
    points, multiplier = logistic_cycle(3.2)
    assert (logistic.set, logistic.period, logistic.stability, logistic.unstable) == ("cycle", 2, "attracting", 0)
    with ctx.workprec(300):
        for (text,), point in zip(logistic.orbit, logistic_cycle(3.2)[0], strict=True):
            assert holds(text, logistic.radius, point)
        ((real, imaginary, radius),) = logistic.multipliers
        assert holds(real, radius, logistic_cycle(3.2)[1])
    assert float(ball(real)) == pytest.approx(4 + 2 * 3.2 - 3.2**2)
    assert float(ball(imaginary)) == 0.0
    assert float(ball(radius)) < 1e-30
    assert len(points) == 2
    assert multiplier < 1


def test_henons_cycle_of_period_70():
    """The benchmark says that the map is chaotic there; the cycle attracts (DYN-01)."""
    s = system("henon").with_values({"a": 1.2652})
    x = np.array([0.1, 0.1])
    for _ in range(100_000):
        x = np.array([1 - 1.2652 * x[0] ** 2 + x[1], 0.3 * x[0]])
    found = certified(s, *cycle_of(s, x, 70)[1].T)
    assert (found.period, found.stability, found.unstable) == (70, "attracting", 0)
    with ctx.workprec(400):
        one, other = (
            acb(ball(re), ball(im)) + acb(arb(0, ball(r)), arb(0, ball(r))) for re, im, r in found.multipliers
        )
        assert (one + other).real.rad() < 1e-20
        assert float((one + other).real.mid()) == pytest.approx(-0.10842446608)
        assert (one * other).real.overlaps(arb(0.3) ** 70)
        assert (one * other).real.rad() < 1e-38


@pytest.mark.parametrize("sign", [1, -1])
def test_equilibria_of_lorenz(sign):
    s = LORENZ.with_values({"rho": 14.0})
    x = sign * math.sqrt(s.parameters["beta"] * 13)
    found = certified(s, [x, x, 13.0])
    assert (found.set, found.period, found.stability, len(found.multipliers)) == ("equilibrium", None, "attracting", 3)
    with ctx.workprec(300):
        closed = lorenz_c(10.0, 14.0, s.parameters["beta"], sign)
        assert all(holds(text, found.radius, value) for text, value in zip(found.orbit[0], closed, strict=True))


def test_unstable_equilibria_of_lorenz():
    origin = certified(LORENZ, [0.0, 1e-17, 0.0])
    assert (origin.stability, origin.unstable) == ("repelling", 1)
    top = (-11 + math.sqrt(121 + 4 * 10 * 27)) / 2
    assert max(float(ball(real)) for real, _, _ in origin.multipliers) == pytest.approx(top)
    x = math.sqrt(LORENZ.parameters["beta"] * 27)
    assert certified(LORENZ, [x, x, 27.0]).unstable == 2


def test_a_locked_orbit_on_the_circle(tongue):
    """0 -> 1/2 -> 1 with K = 1/2: multiplier (1 + K)(1 - K)."""
    assert (tongue.period, tongue.stability, tongue.turns) == (2, "attracting", ((0,), (1,)))
    assert float(ball(tongue.multipliers[0][0])) == 0.75


def test_an_orbit_that_turns_backwards_and_a_circle_of_2_pi():
    s = system("standard_map")
    elliptic = certified(s, *standard_points(s, [0.0, math.pi]))
    assert (elliptic.stability, elliptic.unstable, elliptic.row["circle"]["theta"]) == (None, None, "2*pi")
    saddle = certified(s, *standard_points(s, [0.0, 0.0]))
    assert (saddle.stability, saddle.unstable) == ("repelling", 1)
    k = s.parameters["K"]
    assert float(ball(saddle.multipliers[0][0])) == pytest.approx((2 + k + math.sqrt(k * k + 4 * k)) / 2)
    back = certified(s, *standard_points(s, [-2 * math.pi, 0.0]))
    c = list(s.state).index("theta")
    assert back.turns[0][c] == -1


def test_a_cycle_of_a_map_of_the_plane_that_repels():
    s = system("henon")
    x = (-(1 - 0.3) + math.sqrt((1 - 0.3) ** 2 + 4 * 1.4)) / 2.8
    found = certified(s, [x, 0.3 * x])
    assert (found.set, found.period, found.stability, found.unstable) == ("fixed_point", 1, "repelling", 1)


def test_multipliers_of_a_cycle_whose_derivatives_do_not_commute():
    s = planar("map", ["1 - 1.3*x**2 + 0.4*y", "0.5*x*y + 0.3*x - 0.2*y**2"])
    x = np.array([0.1, 0.2])
    for _ in range(5000):
        x = np.array([1 - 1.3 * x[0] ** 2 + 0.4 * x[1], 0.5 * x[0] * x[1] + 0.3 * x[0] - 0.2 * x[1] ** 2])
    cycle, points = cycle_of(s, x, 8)
    found = certified(s, *points.T)
    assert found.period > 2
    theirs = sorted(cycle.multipliers, key=lambda m: -abs(m))
    ours = [complex(float(ball(re)), float(ball(im))) for re, im, _ in found.multipliers]
    assert sum(ours) == pytest.approx(sum(theirs), rel=1e-9)


def test_a_long_repelling_cycle_takes_more_bits():
    """x = sin(theta)^2 doubles theta at r = 4: the cycles are known, with multiplier (+-2)^p."""
    p, k = 70, 271828182845904523
    angles = [sp.pi * ((k << i) % (2**p + 1)) / (2**p + 1) for i in range(p)]
    found = certified(LOGISTIC, *[[float(sp.sin(angle).evalf(20) ** 2)] for angle in angles])
    assert (found.period, found.stability, found.bits) == (p, "repelling", 256)
    assert abs(float(ball(found.multipliers[0][0]))) == 2.0**p


def test_eigenvalues_that_cannot_be_told_apart():
    """Jordan blocks: multipliers are wide or left out; their number outside the unit circle is proved all the same."""
    for kind, rate, stability in (("map", 0.5, "attracting"), ("map", 2, "repelling"), ("ode", -1, "attracting")):
        found = certified(planar(kind, [f"{rate}*x + y + x*y", f"{rate}*y"]), [0.0, 0.0])
        assert found.stability == stability
        assert all(holds(real, radius, rate) for real, _, radius in found.multipliers or ())
        assert found.unstable == (2 if stability == "repelling" else 0)


@pytest.mark.parametrize("rule", [["-y", "x"], ["-y - x**3", "x"], ["y", "0.5*x - 0.5*x**3"]])
def test_nothing_is_attracting_that_is_not(rule):
    assert certified(planar("ode", rule), [0.0, 0.0]).stability != "attracting"


def test_a_neutral_multiplier_is_left_undecided():
    assert "regular" in refused(LOGISTIC.with_values({"r": 1.0}), [0.0])
    flip = certified(LOGISTIC.with_values({"r": 3.0}), [2 / 3])
    assert (flip.stability, flip.unstable) == (None, None)


def test_kinks_and_jumps_are_refused():
    tent = system_from_row("tent", TENT)
    x = 1.9 / 2.9
    assert certified(tent, [x]).stability == "repelling"
    assert refused(tent.with_values({"m": 1.0}), [0.5])
    for rule in ("min(x/2 + 0.25, 1 - x)", "floor(2*x)/2", "Mod(x, 0.5)/2 + 0.5", "0.5 + abs(x - 0.5)/2",
                 "0.5 + sign(x - 0.5)/4", "0.5*Heaviside(x - 0.5)", "max(x/2, 1 - 1.5*x)/0.5 - x + 0.5"):  # fmt: skip
        one = system_from_row("jump", {"kind": "map", "state": {"x": 0.1}, "rule": [rule]})
        assert "touches" in refused(one, [0.5]), rule


def test_the_other_refusals_say_why():
    forced = system_from_row("forced", {"kind": "ode", "state": {"x": 0.1}, "rule": ["-x + cos(t)"]})
    assert "time" in refused(forced, [0.0])
    assert "equilibria" in refused(LORENZ, [0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    assert "2 coordinates" in refused(LORENZ, [0.0, 0.0])
    assert "finite" in refused(LORENZ, [0.0, 0.0, math.nan])
    assert "Newton" in refused(LOGISTIC.with_values({"r": 3.2}), [0.6], [0.3])
    assert "leaves the points" in refused(LORENZ.with_values({"rho": 14.0}), [5.8, 5.8, 13.0])
    assert "told apart" in refused(LOGISTIC.with_values({"r": 3.2}), [1 - 1 / 3.2], [1 - 1 / 3.2])
    root = system_from_row("root", {"kind": "map", "state": {"x": 0.1}, "rule": ["sqrt(x)/2"]})
    assert "sqrt" in refused(root, [0.0])
    lost = system_from_row("lost", {"kind": "map", "state": {"x": 0.1}, "rule": ["x/2"], "circle": {"x": 1.0}})
    assert "repeat" in refused(lost, [0.0])


@pytest.mark.parametrize("system_id", [i for i in curated_ids() if curated_rows()[i]["kind"] in ("map", "ode")])
def test_balls_hold_the_rule_and_jacobian_of_sympy(system_id):
    s = system(system_id)
    if not s.autonomous:
        return
    with ctx.workprec(128):
        _agree(s, {name: value + 0.01 for name, value in s.state.items()})


RULES = {"Mod": "Mod(3*x, 0.7)", "atan2": "atan2(x, x**2 + 0.3)", "min": "min(x, 0.9, 2*x)", "max": "max(x, -1, x/2)",
         "kepler": "kepler(7*x - x**2, x/(1 + x**2))"}  # fmt: skip


@pytest.mark.parametrize("rule", [*(RULES.get(name, f"{name}(x)") for name in FUNCTIONS),
                                  "x**-3", "(x - 0.6)**2", "(x - 1)**3", "2.5**x", "x**x", "x**0.5 + x**2.5", "+x - -x",
                                  "tan(x)/asin(x)"])  # fmt: skip
def test_balls_hold_every_function(rule):
    s = system_from_row("one", {"kind": "map", "state": {"x": 0.6}, "rule": [rule]})
    with ctx.workprec(128):
        _agree(s, s.state)


def _agree(s, state):
    point = [arb(value) for value in state.values()]
    values, derivative = enclosure(s, {name: arb(value) for name, value in s.parameters.items()}, point)
    at = {symbol(name): sp.Float(value, 60) for name, value in [*s.parameters.items(), *state.items()]}
    for i, (value, expected) in enumerate(zip(values, s.expressions, strict=True)):
        assert float(value.mid()) == pytest.approx(float(expected.subs(at)), rel=1e-12, abs=1e-12)
        assert value.rad() < 1e-30 * (1 + abs(value))
        for j in range(s.dimension):
            slope = float(s.jacobian[i, j].subs(at))
            assert float(derivative[i, j].mid()) == pytest.approx(slope, rel=1e-12, abs=1e-12)


@given(st.floats(0.2, 0.8), st.floats(-1, 1), st.sampled_from(["sin", "exp", "tan", "sqrt", "log", "atan", "tanh"]))
def test_a_box_holds_what_its_points_give(x, part, name):
    s = system_from_row("one", {"kind": "map", "state": {"x": 0.6}, "rule": [f"{name}(x)*x - x**3/(1 + x)"]})
    with ctx.workprec(128):
        (value,), derivative = enclosure(s, {}, [arb(x, 0.05)])
        (inside,), slope = enclosure(s, {}, [arb(x + 0.0499 * part)])
        assert value.contains(inside)
        assert derivative[0, 0].contains(slope[0, 0])


@settings(max_examples=30)
@given(st.floats(1.05, 3.9))
def test_the_fixed_point_of_the_logistic_map(r):
    found, _ = certificate(LOGISTIC.with_values({"r": r}), np.array([1 - 1 / r]))
    with ctx.workprec(300):
        assert holds(found.orbit[0][0], found.radius, 1 - 1 / arb(r))
        assert holds(found.multipliers[0][0], found.multipliers[0][2], 2 - arb(r))
    assert found.stability == ("attracting" if r < 3 else "repelling" if r > 3 else None)


@settings(max_examples=30)
@given(st.floats(1.0, 20.0), st.floats(1.1, 60.0), st.floats(0.5, 4.0), st.sampled_from([1, -1]))
def test_equilibria_of_lorenz_at_any_parameters(sigma, rho, beta, sign):
    """C+- attract below rho = sigma (sigma + beta + 3)/(sigma - beta - 1), and for any rho if that is negative."""
    x = sign * math.sqrt(beta * (rho - 1))
    s = LORENZ.with_values({"sigma": sigma, "rho": rho, "beta": beta})
    found, reason = certificate(s, np.array([x, x, rho - 1]))
    assert found is not None, reason
    with ctx.workprec(300):
        closed = lorenz_c(sigma, rho, beta, sign)
        assert all(holds(text, found.radius, value) for text, value in zip(found.orbit[0], closed, strict=True))
    hopf = sigma * (sigma + beta + 3) / (sigma - beta - 1) if sigma != beta + 1 else math.inf
    if abs(rho - hopf) > 1e-9:
        assert found.stability == ("attracting" if hopf < 0 or rho < hopf else "repelling")


@given(st.lists(st.fractions(-50, 50, max_denominator=997), min_size=1, max_size=6), st.integers(5, 30))
def test_decimals_are_as_tight_as_their_last_digit(values, decimals):
    with ctx.workprec(300):
        balls = [arb(value.numerator) / value.denominator for value in values]
        texts, radius = tight_decimals(balls, decimals)
        for text, x in zip(texts, balls, strict=True):
            assert holds(text, radius, x)
            unit = arb(10) ** -len(text.partition(".")[2])
            assert abs(ball(text) - x) < unit
            for other in (ball(text) + unit, ball(text) - unit):
                assert abs(other - x) > ball(radius)


@settings(max_examples=60)
@given(st.lists(st.floats(-3, 3).filter(lambda x: abs(abs(x) - 1) > 1e-3 and abs(x) > 1e-3), min_size=1, max_size=5))
def test_rouths_count_is_that_of_the_eigenvalues(values):
    d = len(values)
    with ctx.workprec(256):
        matrix = arb_mat([[arb(values[i]) if i == j else arb(j > i) for j in range(d)] for i in range(d)])
        assert _unstable(matrix, True) in (None, sum(abs(x) > 1 for x in values))
        assert _unstable(matrix, False) in (None, sum(x > 0 for x in values))
        if len(set(values)) == d and d < 4:
            assert _unstable(matrix, True) is not None
