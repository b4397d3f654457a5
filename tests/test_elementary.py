"""sin, cos, exp and their kin against 200-bit arithmetic, at the edges, and without calls in the machine code."""

import math

import mpmath
import numpy as np
import pytest
from numba import njit

from dynamics.block import block
from dynamics.elementary import ELEMENTARY, eccentric_anomaly, power
from dynamics.registry import system

POLICY = {"error_model": "numpy", "fastmath": {"nsz"}}
UNITS = {"sin": 2, "cos": 2, "exp": 2, "tan": 4, "sinh": 6, "cosh": 6, "tanh": 6, "log": 3}
POSITIVE = ("log",)
RANGES = {"log": 1e300, "sin": 1e5, "cos": 1e5, "tan": 1e5, "exp": 700.0, "sinh": 700.0, "cosh": 700.0, "tanh": 700.0}


def over_lanes(function):
    @njit(**POLICY)
    def each(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    def call(x):
        x = np.asarray(x, dtype=float)
        out = np.empty_like(x)
        each(x, out)
        return out

    call.each = each
    return call


@pytest.fixture(scope="module")
def functions():
    return {name: over_lanes(f) for name, f in ELEMENTARY.items() if name in UNITS}


@pytest.mark.parametrize("name", UNITS)
def test_within_a_few_units_in_the_last_place(functions, name):
    rng = np.random.default_rng(1)
    scales = [1e-8, 1.0, 4.0, 30.0, RANGES[name]]
    x = np.concatenate([rng.uniform(-s, s, 400) for s in scales])
    x = np.abs(x) if name in POSITIVE else x
    got = functions[name](x)
    with mpmath.workprec(200):
        exact = [getattr(mpmath, name)(mpmath.mpf(v)) for v in x.tolist()]
        units = [
            abs(float((mpmath.mpf(g) - e) / np.spacing(abs(float(e)))))
            for g, e in zip(got.tolist(), exact, strict=True)
        ]
    assert max(units) <= UNITS[name]


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_far_angles_are_those_of_a_neighbour(functions, name):
    """Beyond 2**20 pi/2 the value is that at an angle within one unit in the last place."""
    x = np.random.default_rng(2).uniform(1e7, 1e12, 400)
    got = functions[name](x)
    with mpmath.workprec(200):
        exact = np.array([float(getattr(mpmath, name)(mpmath.mpf(v))) for v in x.tolist()])
    assert (np.abs(got - exact) <= np.spacing(x)).all()


def test_edges(functions):
    assert functions["exp"]([0.0, -0.0, np.inf, -np.inf, 710.0, -745.0]).tolist() == [
        1.0,
        1.0,
        np.inf,
        0.0,
        np.inf,
        0.0,
    ]
    assert functions["exp"]([709.78])[0] == pytest.approx(math.exp(709.78), rel=1e-15)
    assert functions["tanh"]([np.inf, -np.inf, 25.0]).tolist() == [1.0, -1.0, 1.0]
    assert functions["sinh"]([np.inf, -np.inf, 1e-300]).tolist() == [np.inf, -np.inf, 1e-300]
    assert functions["sinh"]([-710.0])[0] == pytest.approx(math.sinh(-710.0), rel=1e-14)
    for name in ("sin", "cos", "tan"):
        assert np.isnan(functions[name]([np.inf, -np.inf])).all()
        assert np.isfinite(functions[name]([1e300, -1e300])).all()
    for name, f in functions.items():
        assert np.isnan(f([np.nan])).all(), name


ECCENTRICITIES = [0.0, 1e-9, 0.1, 0.5, 0.8, 0.95, 0.999, 1 - 1e-9, 1 - 1e-15]


@pytest.mark.parametrize("e", ECCENTRICITIES)
def test_kepler_s_equation_is_solved_for_all_eccentricities(e):
    """Within 2 units of the double next to 1, times dE/dM where that is above 1, down to M = 1e-12."""
    rng = np.random.default_rng(8)
    means = [*rng.uniform(-math.pi, math.pi, 150), *(10.0 ** rng.uniform(-12, 0, 150)), -math.pi, math.pi]
    with mpmath.workprec(160):
        for m in means:
            got = exact = mpmath.mpf(eccentric_anomaly(m, e))
            for _ in range(10):
                exact -= (exact - e * mpmath.sin(exact) - m) / (1 - e * mpmath.cos(exact))
            condition = max(1.0, float(1 / (1 - e * mpmath.cos(exact))))
            assert abs(got - exact) <= 2 * np.spacing(1.0) * condition, m


def test_kepler_s_equation_at_edges_and_many_turns_away():
    assert eccentric_anomaly(0.0, 0.5) == 0.0
    assert eccentric_anomaly(math.pi, 0.5) == math.pi
    for m, e in [(1.0, 1.0), (1.0, -0.1), (math.inf, 0.5), (math.nan, 0.5), (1.0, math.nan)]:
        assert math.isnan(eccentric_anomaly(m, e))
    rng = np.random.default_rng(9)
    for m in rng.uniform(-1, 1, 300) * 10.0 ** rng.uniform(1, 9, 300):
        found = eccentric_anomaly(m, 0.8)
        assert abs(found - 0.8 * math.sin(found) - m) <= 4 * np.spacing(abs(m))
    assert eccentric_anomaly(1e300, 0.8) == 1e300


def test_lanes_call_no_library(functions):
    """A sine in a loop over lanes is arithmetic on vectors, for the loop and for a generated step alike."""
    functions["sin"](np.zeros(16))
    text = "".join(functions["sin"].each.inspect_asm().values())
    assert "ymm" in text or "xmm" in text or "v0." in text
    for call in ("callq\tsin", "bl\tsin", "sin@PLT"):
        assert call not in text


def test_a_step_is_the_same_in_any_lane_and_alone():
    """The bits of an orbit do not depend on how many deviations are carried, also where its rule has sines."""
    s = system("double_pendulum")
    rng = np.random.default_rng(0)
    states = rng.uniform(-2.0, 2.0, (s.dimension, 16))
    parameters = np.repeat(np.array([*s.parameters.values()])[:, None], 16, axis=1)
    plain, full = (block(s, states, parameters, k, h=0.01) for k in (0, s.dimension))
    for one in (plain, full):
        one.advance(200)
    assert np.array_equal(plain.states, full.states)


def test_powers():
    """Within 2 + 2 abs(y ln x) units; whole powers of negative numbers, and the ends as the C library has them."""

    @njit(**POLICY)
    def each(x, y, out):
        for i in range(x.size):
            out[i] = power(x[i], y[i])

    rng = np.random.default_rng(3)
    x, y = np.exp(rng.uniform(-20, 20, 2_000)), rng.uniform(-12, 12, 2_000)
    out = np.empty_like(x)
    each(x, y, out)
    with mpmath.workprec(200):
        exact = [mpmath.mpf(a) ** mpmath.mpf(b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        gaps = [abs(mpmath.mpf(g) - e) for g, e in zip(out.tolist(), exact, strict=True)]
        units = [float(gap / np.spacing(abs(float(e)))) for gap, e in zip(gaps, exact, strict=True)]
    assert (np.array(units) <= 2 + 2 * np.abs(y * np.log(x))).all()
    x = np.array([-2.0, -2.0, -2.0, 0.0, 0.0, 0.0, np.inf, 3.0, -8.0, 1e-310, np.nan])
    y = np.array([3.0, -2.0, 0.5, 2.0, -1.0, 0.0, 2.0, 0.0, 1 / 3, 0.5, 1.0])
    out = np.empty_like(x)
    each(x, y, out)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.power(x, y)
    assert np.allclose(out, expected, rtol=1e-14, equal_nan=True)


def test_logarithm_at_the_edges(functions):
    ends = functions["log"]([0.0, -1.0, np.inf, 1.0, 5e-324, 1e-310])
    assert ends[0] == -np.inf
    assert np.isnan(ends[1])
    assert ends[2:4].tolist() == [np.inf, 0.0]
    assert np.allclose(ends[4:], np.log([5e-324, 1e-310]), rtol=1e-15)
