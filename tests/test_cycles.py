import math

import numpy as np
import pytest

from dynamics.block import block
from dynamics.codegen import LANES
from dynamics.cycles import Cycle, cycle_points, equilibrium, flow_cycle, map_cycle, rest_points, wrapped
from dynamics.registry import system
from dynamics.system import system_from_row

LOGISTIC = system("logistic_r4")
OSCILLATOR = system_from_row("shm", {"kind": "ode", "state": {"x": 1.0, "v": 0.0}, "rule": ["v", "-x"]})
VDP_PERIOD = 6.6632868593  # van der Pol at mu = 1: Andersen & Geer 1982, SIAM J. Appl. Math. 42:678
VDP_LAMBDA2 = -1.05939  # its mean divergence (reference row OUR_vdp_l2, +- 3e-5)


def values(s, **changed):
    return np.array([*(s.parameters | changed).values()], dtype=float)


def sorted_eigenvalues(cycle):
    """Eigenvalues of the Jacobian, from the multipliers exp(eigenvalue); imaginary parts below pi are not folded."""
    return sorted(np.log(cycle.multipliers), key=lambda e: (e.real, e.imag))


@pytest.mark.parametrize("sign", [1, -1])
def test_equilibria_of_lorenz_at_rho_14(sign):
    """DYN-04: C+ and C- attract, with the eigenvalues of the case."""
    s = system("lorenz63")
    c = sign * math.sqrt(8 / 3 * 13)
    found = equilibrium(s, np.array([c + 0.5, c - 0.7, 14.0]), values(s, rho=14.0))
    assert found.point == pytest.approx([c, c, 13.0], abs=1e-12)
    assert found.residual < 1e-12
    assert (found.attracts, found.neutral, found.period) == (True, False, 0.0)
    # the imaginary part 7.327 shows in the multiplier as an angle modulo 2 pi
    expected = np.exp([-12.87769, -0.39449 + 7.327j, -0.39449 - 7.327j])
    got = sorted(found.multipliers, key=lambda m: (round(abs(m), 9), -m.imag))
    assert np.log(np.abs(got)) == pytest.approx([-12.87769, -0.39449, -0.39449], abs=6e-6)
    assert np.angle(got) == pytest.approx(np.angle(expected), abs=6e-4)


def test_origin_of_lorenz():
    """LYA-14: a saddle with eigenvalues 11.82772, -2.66667, -22.82772."""
    s = system("lorenz63")
    found = equilibrium(s, np.array([0.1, -0.2, 0.3]), values(s))
    assert found.point == pytest.approx([0, 0, 0], abs=1e-12)
    assert [e.real for e in sorted_eigenvalues(found)] == pytest.approx([-22.82772, -2.66667, 11.82772], abs=6e-6)
    assert not found.attracts
    assert found.modulus == pytest.approx(math.exp((-11 + math.sqrt(1201)) / 2), rel=1e-12)


def test_no_equilibrium_where_there_is_none():
    s = system_from_row("lifted", {"kind": "ode", "state": {"x": 0.0}, "rule": ["1 + x**2"]})
    assert equilibrium(s, np.array([0.3]), np.array([])) is None


def test_van_der_pol_cycle():
    """Period, and the multiplier exp(T * mean divergence) by Liouville's formula."""
    s = system("vdp")
    found = flow_cycle(s, np.array([2.0, 0.1]), values(s), 6.5, 0.02)
    assert found.period == pytest.approx(VDP_PERIOD, abs=1e-8)
    assert found.multipliers == pytest.approx([math.exp(VDP_LAMBDA2 * VDP_PERIOD)], rel=3e-4)
    assert found.residual < 1e-9
    assert found.attracts
    points = cycle_points(s, found, values(s), 400)
    assert points.shape == (2, 400)
    assert points[0].max() == pytest.approx(2.00861986, abs=2e-4)  # amplitude, Andersen & Geer 1982
    divergence = 1 - points[0] ** 2
    assert found.multipliers[0].real == pytest.approx(math.exp(found.period * divergence.mean()), rel=1e-5)


def test_harmonic_oscillator_is_neutral():
    found = flow_cycle(OSCILLATOR, np.array([0.8, 0.6]), np.array([]), 6.0, 0.05)
    assert found.period == pytest.approx(2 * math.pi, rel=1e-9)
    assert found.multipliers == pytest.approx([1.0], abs=1e-6)
    assert found.neutral
    assert np.hypot(*found.point) == pytest.approx(1.0, abs=0.05)  # a member of the family near the guess


def test_a_flow_without_cycles_has_none():
    s = system("damped_oscillator")
    assert flow_cycle(s, np.array([0.5, 0.0]), values(s), 6.4, 0.05) is None


@pytest.mark.parametrize("r", [3.1, 3.2, 1 + math.sqrt(5), 3.4, 3.6, 4.0])
def test_logistic_2_cycle_in_closed_form(r):
    """x = (r + 1 -+ sqrt((r + 1)(r - 3)))/(2 r), multiplier 4 + 2 r - r^2; superstable at 1 + sqrt 5."""
    root = math.sqrt((r + 1) * (r - 3))
    ends = sorted([(r + 1 - root) / (2 * r), (r + 1 + root) / (2 * r)])
    found = map_cycle(LOGISTIC, np.array([ends[0] + 0.003]), np.array([r]), 2)
    assert found.period == 2.0
    assert sorted(cycle_points(LOGISTIC, found, np.array([r]), 2)[0]) == pytest.approx(ends, abs=1e-12)
    assert found.multipliers == pytest.approx([4 + 2 * r - r * r], abs=1e-10)
    assert found.attracts == (abs(4 + 2 * r - r * r) < 1)
    assert found.residual < 1e-12


@pytest.mark.parametrize(("r", "period", "multiple"), [(2.8, 1, 6), (3.2, 2, 8), (3.5, 4, 12), (3.83, 3, 9)])
def test_least_period_from_a_multiple(r, period, multiple):
    x = 0.4
    for _ in range(2_000):
        x = r * x * (1 - x)
    found = map_cycle(LOGISTIC, np.array([x + 1e-6]), np.array([r]), multiple)
    assert found.period == period
    orbit = cycle_points(LOGISTIC, found, np.array([r]), period)[0]
    assert found.multipliers == pytest.approx([np.prod(r * (1 - 2 * orbit))], abs=1e-10)


def test_fixed_points_of_henon():
    s = system("henon")
    x = (-0.7 + math.sqrt(0.49 + 5.6)) / 2.8
    found = map_cycle(s, np.array([0.6, 0.2]), values(s), 1)
    assert found.point == pytest.approx([x, 0.3 * x], abs=1e-12)
    root = math.sqrt(1.4**2 * x * x + 0.3)
    assert sorted(found.multipliers.real) == pytest.approx([-1.4 * x - root, -1.4 * x + root], rel=1e-12)
    assert not found.attracts


def test_henon_cycle_of_period_70():
    """At a = 1.2652 the attractor has period 70; trace of the derivative -0.10842, determinant 0.3**70."""
    s = system("henon")
    parameters = values(s, a=1.2652)
    moving = block(s, np.full((2, LANES), 0.1), np.repeat(parameters[:, None], LANES, axis=1), 0)
    moving.advance(200_000)
    found = map_cycle(s, moving.states[:, 0], parameters, 140)
    assert found.period == 70.0
    assert found.multipliers.sum() == pytest.approx(-0.10842, abs=6e-6)
    assert found.attracts
    orbit = cycle_points(s, found, parameters, 71)
    assert np.abs(orbit[:, 70] - orbit[:, 0]).max() < 1e-10
    assert np.abs(orbit[:, 1:70] - orbit[:, :1]).max(axis=0).min() > 1e-4


def test_cycles_on_a_circle_close_across_the_seam():
    """Rotation by 2 pi/3: every point has period 3, and its orbit crosses theta = 0."""
    s = system_from_row("rotation", {"kind": "map", "state": {"theta": 0.5}, "parameters": {"w": "2*pi/3"},
                                     "rule": ["theta + w"], "circle": {"theta": "2*pi"}})  # fmt: skip
    found = map_cycle(s, np.array([6.0]), values(s), 9)
    assert found.period == 3.0
    assert found.multipliers == pytest.approx([1.0], abs=1e-12)
    assert found.neutral
    assert wrapped(s, np.array([6.2])) == pytest.approx([6.2 - 2 * math.pi])
    assert wrapped(system("henon"), np.array([6.2, 1.0])).tolist() == [6.2, 1.0]


@pytest.mark.parametrize(("multipliers", "attracts", "neutral"), [
    ([0.5, 0.2j], True, False), ([1.0, 0.3], False, True), ([-1.1, 0.3], False, False), ([0.6 + 0.8j], False, True),
    ([1.0, 1.5], False, False), ([], True, False),
])  # fmt: skip
def test_what_multipliers_say(multipliers, attracts, neutral):
    cycle = Cycle(np.zeros(1), 1.0, np.array(multipliers, dtype=complex), 0.0)
    assert cycle.neutral == neutral
    assert neutral or cycle.attracts == attracts  # within rounding of 1 only `neutral` is meant to be asked


@pytest.mark.parametrize("turns", [2, 3, 4, 7, 13, 26, 59])
def test_a_flow_cycle_is_found_under_its_least_period(turns):
    found = flow_cycle(system("vdp"), np.array([2.0, 0.0]), values(system("vdp")), turns * 6.66, 0.02)
    assert found.period == pytest.approx(VDP_PERIOD, abs=1e-8)
    assert abs(found.multipliers[0]) == pytest.approx(math.exp(VDP_PERIOD * VDP_LAMBDA2), rel=1e-3)


def test_newton_far_out_where_the_derivative_is_singular_finds_nothing():
    """Both rows of the derivative are exp(x + y) there, some 1e52, beside which nothing that is added is seen."""
    row = {"kind": "map", "state": {"x": 0.5, "y": 0.5}, "rule": ["exp(x + y)"] * 2, "box": {"x": [0, 1], "y": [0, 1]}}
    assert rest_points(system_from_row("steep", row), np.array([[60.0, 60.0]])) == []


def test_a_fixed_point_with_an_infinite_slope_is_no_cycle():
    """cos(a arccos x) has the fixed point x = 1, where its derivative grows without bound if a is no whole number."""
    s = system("dysts_map_chebyshev").with_values({"a": 2.5})
    found = map_cycle(s, np.array([1.0]), np.array([*s.parameters.values()]), 1)
    assert found is None or np.isfinite(found.multipliers).all()
