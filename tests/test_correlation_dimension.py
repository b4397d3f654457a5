import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import logistic
from orbits import baker, cantor, lorenz, orbit, rossler, rotation
from scipy.optimize import brentq
from scipy.signal import lfilter

from indicators.correlation_dimension import correlation_dimension, theiler_window
from indicators.correlation_sum import RADII, pair_counts

MANY = 100_000


def uniform(n, d, seed=0):
    return np.random.default_rng(seed).random((n, d))


@given(st.integers(0, 2**32), st.integers(30, 90), st.integers(1, 3), st.integers(0, 12), st.data())
@settings(max_examples=25)
def test_pairs_are_those_of_the_double_loop(seed, n, d, window, data):
    circle = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=d, max_size=d)))
    points = np.random.default_rng(seed).integers(0, 64, (n, d)) / 64  # distances fall on radii, coordinates on strips
    counts, reach = pair_counts(points, circle, window, 1e9)
    for k in np.flatnonzero((reach >= RADII) & (RADII > 1e-3))[::3]:
        assert counts[:, :, k].sum() == naive.pairs_closer(points, RADII[k], window, circle)


def test_points_that_all_but_coincide_are_counted():
    """An orbit that creeps into a resting point: strips as narrow as its reach would fill any memory."""
    points = 0.5 + 1e-10 * uniform(400, 2)
    points[0], points[1] = 0.0, 1.0
    counts, reach = pair_counts(points, np.zeros(2), 0, 1e9)
    assert reach < 1e-9
    for k in np.flatnonzero((reach >= RADII) & (RADII > 1e-11)):
        assert counts[:, :, k].sum() == naive.pairs_closer(points, RADII[k], 0, np.zeros(2))


def test_pairs_are_counted_block_by_block():
    points = uniform(160, 2)
    counts, reach = pair_counts(points, np.zeros(2), 3, 1e9)
    k = int(np.searchsorted(RADII, reach))
    for b in range(8):
        inside = points[20 * b : 20 * b + 20]
        assert counts[b, b, k] == naive.pairs_closer(inside, reach, 3, np.zeros(2))


@pytest.mark.parametrize("d", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_uniform_points_in_a_cube_and_on_a_torus(d):
    cube = correlation_dimension(uniform(MANY, d))
    assert abs(cube.number - d) < cube.error < 0.07 * d
    torus = correlation_dimension(uniform(MANY, d), circumference=[1] * d)
    assert torus.status == "ok"
    assert abs(torus.number - d) < torus.error < 0.03 * d
    assert torus.number == pytest.approx(d, rel=0.005)


def test_henon():
    """Grassberger & Procaccia 1983: 1.21 +- 0.01; Sprott & Rowlands 2001: 1.220 +- 0.036."""
    estimate = correlation_dimension(orbit("henon", MANY))
    assert estimate.status == "ok"
    assert estimate.number == pytest.approx(1.21, abs=0.02)
    assert estimate.error < 0.04
    assert estimate.evidence["decades"] > 2


def test_lorenz():
    """Grassberger & Procaccia 1983: 2.05 +- 0.01; Sprott & Rowlands 2001: 2.068 +- 0.086."""
    estimate = correlation_dimension(lorenz(MANY, 0.2))
    assert estimate.status == "ok"
    assert estimate.number == pytest.approx(2.05, abs=0.02)
    assert abs(estimate.number - 2.05) < estimate.error < 0.05


def test_rossler_is_not_settled_but_its_interval_holds_the_literature():
    """Sprott & Rowlands 2001: 1.991 +- 0.065; 1e5 points see slopes of 1.8 to 1.9 that still grow."""
    estimate = correlation_dimension(rossler(MANY, 0.5))
    assert estimate.status == "not_converged"
    assert "still changes" in estimate.evidence["reason"]
    assert abs(estimate.number - 1.991) < estimate.error < 0.3


def test_logistic_r4_has_a_logarithmic_correction():
    """D_2 = 1, but the slope is 1 - 1/(ln(1/r) + const), because the density has poles at both ends."""
    estimate = correlation_dimension(logistic(4.0, MANY))
    assert estimate.status == "not_converged"
    assert 0.9 < estimate.number < 0.97
    assert estimate.evidence["slope_upper_half"] < estimate.evidence["slope_lower_half"] < 1
    assert abs(estimate.number - 1) < estimate.error + 0.02


def test_the_feigenbaum_attractor():
    """Grassberger & Procaccia 1983: 0.500 +- 0.005."""
    estimate = correlation_dimension(logistic(3.569945671870945, 50_000))
    assert abs(estimate.number - 0.5) < max(estimate.error, 0.005)
    assert estimate.error < 0.07


def test_rotation_and_closed_curve_have_dimension_1():
    for points in (rotation(MANY), rotation(20_000, 0.1 / np.sqrt(7)) * [1.0, 0.3]):
        estimate = correlation_dimension(points)
        assert estimate.status == "ok"
        assert abs(estimate.number - 1) < estimate.error < 0.1


def test_rotation_on_its_circle():
    angle = np.arange(20_000) * np.sqrt(2)
    estimate = correlation_dimension(angle, circumference=[2 * np.pi])
    assert abs(estimate.number - 1) < max(estimate.error, 0.01)


def test_cantor_measure():
    estimate = correlation_dimension(cantor(MANY))
    assert estimate.status == "ok"
    assert estimate.number == pytest.approx(np.log(2) / np.log(3), abs=0.005)


@pytest.mark.parametrize(("weight", "left", "right"), [(0.4, 0.3, 0.2), (0.5, 0.25, 0.25), (0.7, 0.4, 0.1)])
def test_generalised_baker(weight, left, right):
    """1 + x with weight^2 left^-x + (1 - weight)^2 right^-x = 1 (Hentschel & Procaccia 1983, Physica D 8:435)."""
    exact = 1 + brentq(lambda x: weight**2 * left**-x + (1 - weight) ** 2 * right**-x - 1, 0, 1)
    estimate = correlation_dimension(baker(MANY, weight, left, right))
    assert estimate.status == "ok"
    assert abs(estimate.number - exact) < estimate.error < 0.1
    assert estimate.number == pytest.approx(exact, abs=0.025)


def test_the_interval_holds_the_truth():
    """Of 40 samples of the unit square on the torus and of the interval, at most 4 may be outside."""
    outside = 0
    for seed in range(20):
        for d in (1, 2):
            estimate = correlation_dimension(uniform(3000, d, seed), circumference=[1] * d)
            outside += abs(estimate.number - d) > estimate.error
    assert outside <= 4


def test_a_point_and_a_cycle_have_dimension_0_exactly():
    point = correlation_dimension(np.full((500, 2), 0.3))
    assert (point.value, point.error, point.status) == (0.0, 0.0, "ok")
    noisy = correlation_dimension(1 + 1e-16 * np.random.default_rng(0).random((500, 2)))
    assert noisy.value == 0.0
    cycle = correlation_dimension(logistic(3.5, 1000))
    assert (cycle.value, cycle.error, cycle.evidence["period"]) == (0.0, 0.0, 4)
    angles = correlation_dimension(np.arange(1000.0) % 5 * 0.2, circumference=[1])
    assert (angles.value, angles.evidence["period"]) == (0.0, 5)


def test_no_number_without_a_scaling_range():
    noise = correlation_dimension(np.random.default_rng(0).normal(size=(5000, 8)))
    assert noise.status == "undefined"
    assert "decade" in noise.evidence["reason"]
    collapsed = correlation_dimension(np.where(np.arange(5000) < 2500, uniform(5000, 1)[:, 0], 0.0))
    coarse = correlation_dimension(np.round(uniform(5000, 1), 1))
    for estimate in (collapsed, coarse):
        assert estimate.status == "undefined"
        assert "pairs of points coincide" in estimate.evidence["reason"]


def test_units_and_order_of_components_do_not_matter():
    points = orbit("henon", 20_000)
    plain = correlation_dimension(points)
    moved = correlation_dimension(points[:, ::-1] * [-1024.0, 0.125])
    assert moved.number == pytest.approx(plain.number, abs=1e-6)
    constant = correlation_dimension(np.column_stack([points, np.full(20_000, 7.0)]))
    assert constant.value == plain.value


def test_the_theiler_window_keeps_coloured_noise_from_having_a_dimension():
    """Osborne & Provenzale 1989, Physica D 35:357. The set fills four dimensions; its path looks like three."""
    noise = np.random.default_rng(0).normal(size=(20_000, 4))
    path = lfilter([1.0], [1.0, -0.995], noise, axis=0)
    without = correlation_dimension(path, theiler=0)
    assert without.number < 3.5
    with_window = correlation_dimension(path)
    assert with_window.status == "undefined"
    assert with_window.evidence["theiler"] > 300


def test_the_theiler_window_is_three_falls_of_the_autocorrelation():
    n = np.arange(10_000)
    assert theiler_window(np.random.default_rng(0).normal(size=1000)) == 3
    wave = theiler_window(np.cos(2 * np.pi * n / 100.5))
    assert wave == 3 * np.ceil(100.5 * np.arccos(np.exp(-1)) / (2 * np.pi))
    assert theiler_window(2 * np.pi * n / 100.5, [2 * np.pi]) == wave
    assert theiler_window(n) == 500
    for outside in (-1, 251):
        with pytest.raises(ValueError, match=rf"theiler is {outside}; for 500 points it must be in 0\.\.250"):
            correlation_dimension(uniform(500, 1), theiler=outside)
