import math

import numpy as np
import pytest
from scipy.linalg import expm

from dynamics.adaptive import adaptive_run
from dynamics.block import block, run
from dynamics.codegen import LANES
from dynamics.registry import system
from dynamics.system import system_from_row

NONE = np.zeros((0, LANES))
ORDERS = {"rk4": 4, "dp5": 5, "dop853": 8}
STEPS = {"rk4": [8, 16, 32, 64, 128], "dp5": [8, 16, 32, 64, 128], "dop853": [5, 6, 8, 10, 13]}  # above rounding
# x' = -2 t x^2, x(0) = 1: x = 1/(1 + t^2)
BELL = system_from_row("bell", {"kind": "ode", "state": {"x": 1.0}, "rule": ["-2*t*x**2"]})
OSCILLATOR = system_from_row("shm", {"kind": "ode", "state": {"x": 1.0, "v": 0.0}, "rule": ["v", "-x"]})
PENDULUM = system_from_row("pendulum", {"kind": "ode", "state": {"x": 1.0, "v": 0.0}, "rule": ["v", "-sin(x)"]})


def everywhere(*values):
    return np.repeat(np.array(values, dtype=float)[:, None], LANES, axis=1)


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def linear(seed=0, d=3):
    """A random stable linear flow, its matrix and its row."""
    a = np.random.default_rng(seed).standard_normal((d, d))
    a -= (1 + np.linalg.eigvals(a).real.max()) * np.eye(d)
    names = [f"x{c}" for c in range(d)]
    rule = [" + ".join(f"{float(a[r, c])!r}*{names[c]}" for c in range(d)) for r in range(d)]
    return a, system_from_row("linear", {"kind": "ode", "state": dict.fromkeys(names, 1.0), "rule": rule})


@pytest.mark.parametrize("method", ORDERS)
def test_order_on_a_linear_system(method):
    """Error at t = 2 against the matrix exponential, for the state and for the deviations: both of the stated order."""
    a, s = linear()
    exact = expm(2 * a)
    steps = np.array(STEPS[method][1:])
    errors, tangent = [], []
    for n in steps:
        moving = block(s, everywhere(1, 1, 1), NONE, 3, h=2 / n, method=method)
        moving.deviations[:] = np.eye(3)[:, :, None]
        moving.advance(n)
        errors.append(np.abs(moving.states[:, 0] - exact.sum(axis=1)).max())
        tangent.append(np.abs(moving.deviations[:, :, 0] - exact).max())
        assert moving.divergence_integral[0] == pytest.approx(2 * np.trace(a), rel=1e-13)
    assert slope(1 / steps, errors) == pytest.approx(ORDERS[method], abs=0.25)
    assert slope(1 / steps, tangent) == pytest.approx(ORDERS[method], abs=0.25)


@pytest.mark.parametrize("method", ORDERS)
def test_order_on_a_nonlinear_nonautonomous_equation(method):
    """A lane for every step; the nodes c of the tableau enter through explicit time."""
    steps = np.array(STEPS[method] if method != "dop853" else [4, 6, 8, 11, 14])
    errors = []
    for n in steps:
        moving = block(BELL, everywhere(1.0), NONE, 0, h=2 / n, method=method)
        moving.advance(n)
        errors.append(abs(moving.states[0, 0] - 1 / 5))
    # between neighbours the order is approached from afar; the finest three are in the asymptotic range
    assert slope(1 / steps[2:], errors[2:]) == pytest.approx(ORDERS[method], abs=0.3)
    assert errors[-1] < 1e-8


@pytest.mark.parametrize("s", [BELL, linear()[1]], ids=["bell", "linear"])
def test_adaptive_error_is_proportional_to_the_tolerance(s):
    tolerances = 10.0 ** np.arange(-10, -4)
    errors = []
    for tolerance in tolerances:
        moving = block(s, everywhere(*s.state.values()), NONE, 0, h=1e-3)
        result = adaptive_run(moving, 2.0, rtol=tolerance, atol=tolerance)
        assert set(result.status) == {"ok"}
        assert np.array_equal(moving.t, np.full(LANES, 2.0))
        exact = [0.2] if s is BELL else expm(2 * linear()[0]).sum(axis=1)
        errors.append(np.abs(moving.states[:, 0] - exact).max())
    assert slope(tolerances, errors) == pytest.approx(1.0, abs=0.15)
    assert all(e < 20 * tolerance for e, tolerance in zip(errors, tolerances, strict=True))


def test_dense_samples_are_accurate_up_to_the_end():
    """The interpolant at 997 times, and the last sample is the end itself."""
    errors = []
    tolerances = [1e-6, 1e-8, 1e-10]
    for tolerance in tolerances:
        moving = block(OSCILLATOR, everywhere(1.0, 0.0), NONE, 0, h=1e-3)
        result = adaptive_run(moving, 10.0, rtol=tolerance, atol=tolerance, samples=997)
        times = 10.0 * np.arange(1, 998) / 997
        error = np.abs(result.samples[:, :, 0] - np.array([np.cos(times), -np.sin(times)]).T).max(axis=1)
        assert result.samples.shape == (997, 2, LANES)
        assert np.allclose(result.samples[-1], moving.states, rtol=0, atol=1e-15)
        errors.append(error.max())
        assert error[0] <= 10 * tolerance
        # between the steps the quartic interpolant is worse than the steps' ends by no more than this factor
        assert error.max() <= 20 * max(error[-1], tolerance)
    # steps go like tolerance**(1/5), so samples whose error goes like h**4 or h**5 have a slope of 0.8 to 1
    assert 0.75 <= slope(tolerances, errors) <= 1.1


def test_adaptive_lanes_have_their_own_durations_and_clocks():
    begun = np.linspace(0.0, 1.0, LANES)
    duration = np.linspace(0.5, 3.0, LANES)
    moving = block(BELL, (1 / (1 + begun**2))[None, :], NONE, 0, h=0.01, t=begun)
    result = adaptive_run(moving, duration, rtol=1e-11, atol=1e-11, samples=2)
    end = begun + duration
    assert np.array_equal(moving.t, end)
    assert np.allclose(moving.states[0], 1 / (1 + end**2), atol=1e-9)
    middle = begun + duration / 2
    assert np.allclose(result.samples[0, 0], 1 / (1 + middle**2), atol=1e-9)


def test_adaptive_orbit_is_the_same_with_deviations():
    """MEG-10: the step looks at the state alone. The rule is compiled once per number of deviations."""
    s = system("lorenz63")
    states = np.random.default_rng(0).uniform([[-10], [-10], [15]], [[10], [10], [35]], (3, LANES))
    parameters = everywhere(10, 28, 8 / 3)
    ends = []
    for k in (0, 1, 3):
        moving = block(s, states, parameters, k, h=1e-3)
        result = adaptive_run(moving, 20.0, samples=5)
        ends.append((moving.states, moving.h.copy(), result.samples, result.smallest_step))
    for other in ends[1:]:
        for a, b in zip(ends[0], other, strict=True):
            assert np.array_equal(a, b)


def test_adaptive_lanes_are_independent():
    s = system("lorenz63")
    states = np.random.default_rng(1).uniform([[-10], [-10], [15]], [[10], [10], [35]], (3, LANES))
    parameters = everywhere(10, 28, 8 / 3)
    order = np.random.default_rng(2).permutation(LANES)
    plain, shuffled = (block(s, states[:, o], parameters, 1, h=1e-3) for o in (np.arange(LANES), order))
    for moving in (plain, shuffled):
        adaptive_run(moving, 20.0)
    assert np.array_equal(shuffled.states, plain.states[:, order])
    assert np.array_equal(shuffled.deviations, plain.deviations[:, :, order])


def test_adaptive_deviations_follow_the_flow():
    """The deviation of the bell curve: d x(t)/d x(0) = (1 + t^2)^-2 at x(0) = 1."""
    moving = block(BELL, everywhere(1.0), NONE, 1, h=1e-3)
    moving.deviations[:] = 1.0
    adaptive_run(moving, 2.0, rtol=1e-11, atol=1e-11)
    assert moving.deviations[0, 0, 0] == pytest.approx(1 / 25, rel=1e-9)


def test_drift_of_the_harmonic_oscillator():
    """RK4 multiplies x^2 + v^2 by 1 - h^6/72, DP5 by 1 + b h^6: the drift of energy at fixed time goes like h^5."""
    for method in ("rk4", "dp5"):
        drift = []
        for n in (250, 500, 1000):
            moving = block(OSCILLATOR, everywhere(1.0, 0.0), NONE, 0, h=100 / n / 2, method=method)
            moving.advance(2 * n)
            drift.append(abs((moving.states[:, 0] ** 2).sum() - 1))
        assert slope([4, 2, 1], drift) == pytest.approx(5.0, abs=0.15)
    h = 0.1
    moving = block(OSCILLATOR, everywhere(1.0, 0.0), NONE, 0, h=h, method="rk4")
    moving.advance(100)
    # |1 + z + z^2/2 + z^3/6 + z^4/24|^2 at z = i h is 1 - h^6/72 + h^8/576
    assert (moving.states[:, 0] ** 2).sum() == pytest.approx((1 - h**6 / 72 + h**8 / 576) ** 100, rel=1e-12)


def test_drift_of_the_pendulum():
    """DYN-05, for the methods used: halving the step divides the drift of energy by 32."""

    def energy(u):
        return u[1] ** 2 / 2 - np.cos(u[0])

    starts = np.vstack([np.linspace(0.1, 3.0, LANES), np.zeros(LANES)])
    for method in ("rk4", "dp5"):
        drift = []
        for h in (0.1, 0.05, 0.025):
            moving = block(PENDULUM, starts, NONE, 0, h=h, method=method)
            moving.advance(round(100 / h))
            drift.append(np.abs(energy(moving.states) - energy(starts)).max())
        assert slope([4, 2, 1], drift) == pytest.approx(5.0, abs=0.5)
        assert drift[-1] < 1e-5


# Lanes that end differently, side by side: x' = a x + b x^2, from x = 1.
GROWTH = system_from_row("growth", {
    "kind": "ode", "state": {"x": 1.0}, "parameters": {"a": 0.0, "b": 0.0}, "rule": ["a*x + b*x**2"],
    "box": {"x": [-1.0, 1.0]},
})  # fmt: skip


def growth_lanes():
    """Lane 0 reaches infinity at t = 1, lane 1 passes 1e6 at t = ln(1e6) = 13.8, the others decay."""
    parameters = everywhere(-1.0, 0.0)
    parameters[:, 0] = 0.0, 1.0
    parameters[:, 1] = 1.0, 0.0
    return block(GROWTH, everywhere(1.0), parameters, 1, h=0.01)


@pytest.mark.parametrize("adaptive", [False, True])
def test_lanes_that_end_have_a_status_and_leave_the_others_alone(adaptive):
    moving = growth_lanes()
    alone = block(GROWTH, everywhere(1.0), everywhere(-1.0, 0.0), 1, h=0.01)
    if adaptive:
        result, quiet = adaptive_run(moving, 20.0, samples=4), adaptive_run(alone, 20.0, samples=4)
        assert np.isfinite(moving.states).all()
        assert moving.t[0] == pytest.approx(1.0, abs=1e-3)
        assert moving.t[1] == pytest.approx(math.log(1e4), abs=0.5)
        assert np.isnan(result.samples[:, 0, 0]).all()
        assert np.isnan(result.samples[:, 0, 1]).tolist() == [False, True, True, True]  # samples at 5, 10, 15, 20
        assert np.array_equal(result.samples[:, :, 2:], quiet.samples[:, :, 2:])
    else:
        result, quiet = run(moving, 200, steps=10), run(alone, 200, steps=10)
        assert result.kept[0] in (9, 10, 11)
        assert result.kept[1] == 92  # x = 1e4 at t = 9.2103, and a record lasts 0.1
        assert (result.kept[2:] == 200).all()
        assert np.isfinite(result.growth[:9, :, 0]).all()
        assert np.array_equal(result.growth[:, :, 2:], quiet.growth[:, :, 2:])
    assert result.status[0] in ("escaped", "blew_up")
    assert result.status[1] == "escaped"
    assert set(result.status[2:]) == {"ok"}
    assert np.array_equal(moving.states[:, 2:], alone.states[:, 2:])
    assert np.allclose(moving.states[0, 2:], math.exp(-20), rtol=1e-6)


def test_the_logistic_map_beyond_four_escapes():
    s = system("logistic_r4")
    parameters = everywhere(5.0)
    parameters[0, 8:] = 2.8
    moving = block(s, everywhere(0.3), parameters, 1)
    result = run(moving, 100)
    assert set(result.status[:8]) <= {"escaped", "blew_up"}
    assert result.status[8:] == ("ok",) * 8
    assert (result.kept[:8] < 30).all()
    assert np.isfinite(result.growth[: result.kept[0]]).all()
    assert np.allclose(moving.states[0, 8:], 1 - 1 / 2.8, atol=1e-9)


@pytest.mark.parametrize("h", [0.01, 0.002, 0.001])
def test_stiff_van_der_pol_at_a_fixed_step_never_hides_its_blow_up(h):
    """DYN-08: mu = 1000 by RK4 is not finite after 4 (7, 43) steps; the lanes say so, and NaN is in no kept record."""
    moving = block(system("vdp"), everywhere(2.0, 0.0), everywhere(1000.0), 2, h=h, method="rk4")
    result = run(moving, 200)
    assert set(result.status) <= {"escaped", "blew_up"}
    assert (result.kept < 60).all()
    assert np.isfinite(result.states[: result.kept[0]]).all()
    assert np.isfinite(result.growth[: result.kept[0]]).all()


def test_stiff_van_der_pol_adaptively():
    """DYN-08: from (2, 0), Radau at rtol 1e-8 stays below |x| = 2.000; it begins on the slow manifold."""
    moving = block(system("vdp"), everywhere(2.0, 0.0), everywhere(1000.0), 0, h=1e-6)
    result = adaptive_run(moving, 500.0, rtol=1e-7, atol=1e-9, samples=10)
    assert set(result.status) == {"ok"}
    times = 50.0 * np.arange(1, 11)
    x = result.samples[:, 0, 0]
    # the slow flow integrates to ln x - x^2/2 = ln 2 - 2 + t/mu, with an error of order mu^-2
    assert np.allclose(np.log(x) - x**2 / 2, math.log(2) - 2 + times / 1000, atol=1e-5)
    assert np.abs(result.samples[:, 0]).max() <= 2.0


def test_a_step_that_vanishes_is_called_stalled():
    """x' = -1/x from 1 reaches x = 0 at t = 1/2 with infinite slope; no step leads on."""
    s = system_from_row("falling", {"kind": "ode", "state": {"x": 1.0}, "rule": ["-1/x"]})
    moving = block(s, everywhere(1.0), NONE, 0, h=1e-3)
    result = adaptive_run(moving, 1.0)
    assert set(result.status) == {"stalled"}
    assert np.isfinite(moving.states).all()
    assert moving.t[0] == pytest.approx(0.5, abs=1e-6)


def test_maps_are_not_integrated():
    s = system("henon")
    moving = block(s, everywhere(0.1, 0.1), everywhere(1.4, 0.3), 0)
    with pytest.raises(ValueError, match="henon is a map; it is iterated, not integrated"):
        adaptive_run(moving, 1.0)
