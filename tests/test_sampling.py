import time

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import logistic

from indicators.sampling import (
    cyclic_bands,
    first_minimum,
    local_maxima,
    mutual_information,
    oversampling,
    sampling,
    section_is_point,
)

ACCUMULATION = 3.5699456


def sine(points, n, phase=0.3):
    return np.sin(2 * np.pi * np.arange(n) / points + phase)


def test_oversampling_is_half_the_points_of_an_oscillation():
    assert oversampling(sine(80.3, 50_000)) == pytest.approx(80.3 / 2, rel=1e-3)
    assert oversampling(np.full(100, 0.6)) == 0.0
    assert oversampling(logistic(3.97, 5000)) < 4


@given(st.integers(0, 2**32), st.integers(0, 5), st.integers(2, 7))
def test_mutual_information_equals_its_twin(seed, lag, bins):
    x = np.random.default_rng(seed).integers(0, 12, 60).astype(float)
    assert mutual_information(x, lag, bins)[lag] == pytest.approx(naive.mutual_information(x, lag, bins), abs=1e-12)


def test_mutual_information_of_independent_values_is_its_bias():
    n, bins = 40_000, 8
    information = mutual_information(np.random.default_rng(3).normal(size=n), 20, bins)
    bias = (bins - 1) ** 2 / (2 * n)
    # 2 N I follows chi-squared with 49 degrees of freedom, whose standard deviation is sqrt(98)
    assert np.all(np.abs(information[1:] - bias) < 5 * np.sqrt(98) / (2 * n))
    assert information[0] == pytest.approx(np.log(bins), abs=1e-9)


def test_mutual_information_refuses_impossible_settings():
    with pytest.raises(ValueError, match=r"max_lag is 10; for 10 values it must be in 0\.\.9"):
        mutual_information(np.arange(10), 10)
    with pytest.raises(ValueError, match="bins is 1"):
        mutual_information(np.arange(10), 3, bins=1)


@pytest.mark.parametrize("every", [2, 5, 10, 20, 40])
def test_first_minimum_of_lorenz_is_a_time_not_a_lag(every):
    """A fifth of a time unit for x and y, less for z, whatever the step."""
    for row in naive.lorenz()[:, ::every]:
        lag, rule = first_minimum(row)
        assert rule == "mutual information"
        assert 0.14 <= lag * every * 0.001 <= 0.22


def test_first_minimum_falls_back_to_the_autocorrelation():
    x = np.random.default_rng(0).normal(size=20_000)
    for _ in range(3):  # a smooth random series with a monotone memory of some 50 values
        x = np.convolve(x, np.exp(-np.arange(400) / 20), mode="valid")
    lag, rule = first_minimum(x, max_lag=12)
    correlation = [np.corrcoef(x[: -k or None], x[k:])[0, 1] for k in range(lag + 1)]
    assert rule in ("autocorrelation zero", "autocorrelation 1/e")
    assert correlation[lag] < 0.4 <= correlation[10]
    assert first_minimum(np.arange(1000.0))[1].startswith("autocorrelation")


@pytest.mark.parametrize(
    ("r", "bands"),
    [(3.5, 4), (3.55, 8), (3.83, 3), (3.67, 2), (3.6, 2), (3.575, 4), (3.57, 32), (ACCUMULATION + 2e-5, 64), (3.7, 1)],
)
def test_cyclic_bands_of_the_logistic_map(r, bands):
    """Above the accumulation bands merge in pairs, at 3.5748, 3.5926, 3.6786; below it and in windows are cycles."""
    assert cyclic_bands(logistic(r, 20_000)) == bands


@given(st.integers(0, 2**32), st.integers(1, 9), st.floats(0.0, 1.5))
def test_cyclic_bands_equal_their_twin(seed, p, width):
    rng = np.random.default_rng(seed)
    x = rng.permutation(p)[np.arange(150) % p] + width * rng.random(150)
    assert cyclic_bands(x, 30) == naive.cyclic_bands(x, 30)


def test_cyclic_bands_need_eight_values_each_and_a_gap_above_rounding():
    x = np.tile([0.0, 1.0], 8)
    assert cyclic_bands(x) == 2
    assert cyclic_bands(x[:15]) == 1
    assert cyclic_bands(1.0 + np.tile([0.0, 2.2e-16], 50)) == 1
    assert cyclic_bands(np.arange(1000.0)) == 1
    assert cyclic_bands(x, max_bands=1) == 1
    with pytest.raises(ValueError, match="max_bands is 0"):
        cyclic_bands(x, 0)


@pytest.mark.parametrize("r", [3.5, ACCUMULATION + 2e-5, 3.97])
def test_cyclic_bands_are_found_in_a_fifth_of_a_second(r):
    x = logistic(r, 100_000)
    start = time.process_time()
    cyclic_bands(x)
    assert time.process_time() - start < 0.2


def test_sampling_rules():
    banded = sampling(logistic(3.6, 5000))
    assert (banded.stride, banded.rule, banded.bands, banded.periodic) == (2, "cyclic bands", 2, False)
    cycle = sampling(logistic(3.5, 5000))
    assert (cycle.stride, cycle.rule, cycle.bands, cycle.periodic) == (1, "every value", 4, True)
    chaos = sampling(logistic(3.97, 5000))
    assert (chaos.stride, chaos.rule, chaos.oversampled) == (1, "every value", False)
    curve = sampling(sine(200.3, 20_000) + sine(283.1, 20_000))
    assert curve.oversampled
    assert curve.rule == "mutual information"
    assert 20 < curve.stride < 200


def test_a_cycle_with_solver_noise_is_no_chaos_in_bands():
    noise = 1e-9 * np.random.default_rng(0).normal(size=5000)
    found = sampling(logistic(3.83, 5000) + noise)
    assert (found.stride, found.bands, found.periodic) == (1, 3, True)


def test_bands_that_the_orbit_only_drifts_through_do_not_count():
    x = np.cos(2 * np.pi * (np.arange(5000) * (1 / 3 + 1e-6) + 0.1))
    assert cyclic_bands(x) == 3
    assert sampling(x).stride == 1


def test_local_maxima_are_the_heights_of_the_curve():
    t = 0.2 * np.arange(500)
    assert np.max(np.abs(local_maxima(3 + 2 * np.sin(t)) - 5)) < 3e-5
    assert local_maxima(t).size == 0


@pytest.mark.parametrize("points", [20.7, 55.1, 400.3])
def test_section_of_a_cycle_is_a_point(points):
    assert section_is_point(sine(points, 6000))
    assert section_is_point(sine(points, 6000) + 0.5 * sine(points / 3, 6000) + 0.4 * sine(2 * points, 6000))


def test_section_of_a_torus_is_not_a_point():
    for size in (0.3, 0.01):
        assert not section_is_point(sine(100.3, 30_000) + size * sine(100.3 / 2**0.5, 30_000))


@pytest.mark.parametrize("every", [2, 10, 40, 100])
def test_section_of_lorenz_is_not_a_point(every):
    assert not any(section_is_point(row) for row in naive.lorenz()[:, ::every])


def test_section_of_van_der_pol_is_a_point():
    for every in (1, 5, 10):
        assert all(section_is_point(row) for row in naive.van_der_pol()[:, ::every])


def test_a_section_that_is_not_resolved_is_not_a_point():
    assert not section_is_point(np.arange(5000) * 0.013123 % 1)
    assert not section_is_point(np.arange(1000.0))
