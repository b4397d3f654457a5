import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import logistic

from indicators.zero_one import displacement, zero_one_k

GOLDEN = (5**0.5 - 1) / 2


@given(st.integers(0, 2**32), st.integers(10, 320), st.floats(0.63, 2.51))
@settings(max_examples=15)
def test_displacement_equals_the_double_sum(seed, n, c):
    phi = np.random.default_rng(seed).integers(-3, 4, n) / 2
    expected = naive.displacement(phi, c)
    assert np.max(np.abs(displacement(phi, [c, 1.0])[:, 0] - expected)) <= 1e-11 * max(1.0, expected.max())


def test_displacement_stays_exact_over_a_long_series():
    """Against the same sum by cumulative sums, for chaos and for a period where everything cancels."""
    for r in (3.97, 3.5):
        phi = logistic(r, 20_000) - logistic(r, 20_000).mean()
        z = np.concatenate([[0], np.cumsum(phi * np.exp(1.3j * np.arange(1, 20_001)))])
        moved = displacement(phi, [1.3])[:, 0]
        for n in (1, 255, 256, 257, 1999, 2000):
            expected = np.mean(np.abs(z[n : n + 18_000] - z[:18_000]) ** 2)
            assert moved[n - 1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("r", [3.97, 3.5])
def test_k_is_the_median_of_the_twins_k(r):
    x = logistic(r, 300)
    estimate = zero_one_k(x, stride=1, n_c=21, seed=5)
    each = [naive.zero_one_k(x, c) for c in np.random.default_rng(5).uniform(np.pi / 5, 4 * np.pi / 5, 21)]
    assert estimate.number == pytest.approx(np.median(each), abs=1e-9)
    assert estimate.evidence["mean"] == pytest.approx(np.mean(each), abs=1e-9)
    assert estimate.evidence["iqr"] == pytest.approx(np.subtract(*np.quantile(each, [0.75, 0.25])), abs=1e-9)
    ordered = np.sort(each)  # the interval from the 6th to the 16th of 21 holds the median with 97 %
    assert estimate.error == pytest.approx((ordered[15] - ordered[5]) / 2, abs=1e-9)


@given(
    st.sampled_from([3.5, 3.6, 3.83, 3.97]),
    st.floats(1e-3, 1e3).flatmap(lambda a: st.sampled_from([a, -a])),
    st.floats(-1e3, 1e3),
)
@settings(max_examples=30)
def test_k_does_not_change_under_an_affine_map(r, a, b):
    x = logistic(r, 1500)
    scaled, plain = zero_one_k(a * x + b), zero_one_k(x)
    assert scaled.number == pytest.approx(plain.number, abs=1e-6)
    assert scaled.status == plain.status
    assert scaled.evidence["stride"] == plain.evidence["stride"]


@pytest.mark.parametrize("r", [3.5, 3.55, 3.83])
@pytest.mark.parametrize("n", [2000, 5000])
def test_cycles_of_the_logistic_map_are_regular(r, n):
    """K01_logistic_r_3_55_N_2000 among them."""
    estimate = zero_one_k(logistic(r, n))
    assert abs(estimate.number) < 0.02
    assert estimate.status == "ok"
    assert "cycle of period" in estimate.evidence["note"]


@pytest.mark.parametrize("n", [2000, 5000])
def test_logistic_chaos(n):
    """K01_logistic_r_3_97_N_2000."""
    estimate = zero_one_k(logistic(3.97, n))
    assert 0.98 < estimate.number <= 1
    assert estimate.status == "ok"
    assert 0 < estimate.error < 0.01


@pytest.mark.parametrize(
    ("r", "n", "bands"),
    [(3.6, 5000, 2), (3.57, 100_000, 32), (3.5699456 + 3e-5, 100_000, 64), (3.5699456 + 1e-5, 200_000, 128)],
)
def test_chaos_in_cyclic_bands_is_seen_inside_a_band(r, n, bands):
    estimate = zero_one_k(logistic(r, n))
    assert estimate.number > 0.95
    assert (estimate.evidence["stride"], estimate.evidence["rule"]) == (bands, "cyclic bands")


@pytest.mark.parametrize("r", [3.57, 3.5699456 + 3e-5])
def test_chaos_in_many_bands_looks_regular_without_the_stride(r):
    assert abs(zero_one_k(logistic(r, 20_000), stride=1).number) < 0.01


def test_bands_too_many_for_the_length_are_said():
    estimate = zero_one_k(logistic(3.57, 5000))
    assert estimate.evidence["stride"] == 1
    assert estimate.status == "not_converged"
    assert "32 cyclic bands, 6400 values" in estimate.evidence["reason"]


@pytest.mark.parametrize("step", [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5])
def test_t01_01_lorenz_is_chaotic_at_every_sampling(step):
    """T01-01: x, y and z from three starts, 500 time units."""
    for row in naive.lorenz()[:, :: round(step / 0.001)]:
        estimate = zero_one_k(row)
        assert estimate.number > 0.95
        assert estimate.status == ("ok" if estimate.evidence["n"] >= 1000 else "not_converged")
        assert estimate.evidence["n"] > 800
        assert estimate.evidence["oversampled"] == (estimate.evidence["ratio"] > 10)
        assert 0.1 <= estimate.evidence["stride"] * step <= 0.7


def test_t01_01_oversampling_is_resampled_or_said():
    """T01-01: N = 5,000 at 0.01, where every value used gives -0.007."""
    x = naive.lorenz()[0, ::10][:5000]
    resampled = zero_one_k(x)
    assert resampled.number > 0.95
    assert resampled.evidence["oversampled"]
    assert resampled.status == "not_converged"
    assert "1000 are needed" in resampled.evidence["reason"]
    forced = zero_one_k(x, stride=1)
    assert abs(forced.number) < 0.1
    assert forced.status == "not_converged"
    assert "oversampled at the given stride 1" in forced.evidence["reason"]


def test_t01_02_resonances_do_not_enter_the_median():
    estimate = zero_one_k(logistic(3.5, 5000))
    assert estimate.number == pytest.approx(-0.002, abs=0.002)
    assert estimate.evidence["mean"] > 0.01
    assert estimate.evidence["iqr"] < 0.02
    with pytest.raises(ValueError, match="n_c is 19; the median needs at least 20"):
        zero_one_k(logistic(3.5, 5000), n_c=19)


@pytest.mark.parametrize(
    "x", [np.zeros(2000), np.full(2000, 0.6), 1e6 + 0.1 * np.ones(777), 3.0 - 0.1 * np.arange(2000)]
)
def test_t01_04_no_variance_is_undefined(x):
    estimate = zero_one_k(x)
    assert estimate.status == "undefined"
    assert estimate.evidence["reason"] == "zero variance"


def test_t01_05_an_offset_changes_nothing():
    x = logistic(3.97, 5000)
    assert zero_one_k(x + 1e6).number == pytest.approx(0.998, abs=1e-3)
    assert zero_one_k(-3 * x + 7).number == pytest.approx(zero_one_k(x).number, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e200, 1e307])
def test_extreme_units_change_nothing(scale):
    x = logistic(3.97, 2000)
    assert zero_one_k(scale * x).number == pytest.approx(zero_one_k(x).number, abs=1e-9)


def test_t01_07_white_noise_reads_as_chaos():
    estimate = zero_one_k(np.random.default_rng(1).normal(size=5000))
    assert estimate.number == pytest.approx(0.998, abs=2e-3)
    assert "no test of determinism" in " ".join(zero_one_k.__doc__.split())


def test_t01_08_a_trend_is_taken_off():
    n = np.arange(5000)
    estimate = zero_one_k(np.sin(0.9 * n) + 0.01 * n)
    assert abs(estimate.number) < 0.02
    assert (estimate.evidence["stride"], estimate.evidence["oversampled"]) == (1, False)
    assert estimate.status == "ok"


@pytest.mark.parametrize("every", [1, 5, 10, 20, 30, 50])
def test_van_der_pol_cycle_is_a_point_or_regular(every):
    for row in naive.van_der_pol()[:, ::every]:
        estimate = zero_one_k(row)
        if estimate.status == "undefined":
            assert estimate.evidence["reason"] == "section is a point"
        else:
            assert abs(estimate.number) < 0.1
    assert every > 10 or zero_one_k(naive.van_der_pol()[0, ::every]).status == "undefined"


def test_rotation_is_regular_in_a_smooth_observable():
    angle = 2 * np.pi * GOLDEN * np.arange(5000)
    for x in (np.cos(angle), np.sin(angle), np.exp(np.cos(angle)), np.cos(angle) + 0.6 * np.cos(5**0.5 * angle)):
        estimate = zero_one_k(x)
        assert abs(estimate.number) < 0.02
        assert estimate.status == "ok"


def test_rotation_seen_through_a_jump_is_not_called_decided():
    """Fourier coefficients 1/k put a resonance near every c: K falls to 0, but slowly, and stays not_converged."""
    values = []
    for n in (1000, 20_000, 200_000):
        estimate = zero_one_k(GOLDEN * np.arange(n) % 1)
        assert estimate.status == "not_converged"
        values.append(estimate.number)
    assert 0.7 > values[0] > values[1] + 0.1 > values[2] + 0.1
    assert values[2] < 0.3


def test_a_torus_flow_is_regular():
    t = 0.05 * np.arange(60_000)
    estimate = zero_one_k(np.sin(t) + 0.3 * np.sin(2**0.5 * t))
    assert estimate.evidence["oversampled"]
    assert abs(estimate.number) < 0.1


def test_short_input():
    with pytest.raises(ValueError, match="has 199 values; at least 200"):
        zero_one_k(logistic(3.97, 199))
    few = zero_one_k(logistic(3.97, 900))
    assert few.status == "not_converged"
    assert few.number > 0.95
    left = zero_one_k(logistic(3.97, 900), stride=10)
    assert left.status == "undefined"
    assert left.evidence["reason"].startswith("90 values are left at stride 10; 2000 values")


def test_impossible_settings():
    with pytest.raises(ValueError, match="stride is 0"):
        zero_one_k(logistic(3.97, 900), stride=0)
    with pytest.raises(TypeError):
        zero_one_k(logistic(3.97, 900), stride=1.5)
    with pytest.raises(ValueError, match="index 3"):
        zero_one_k([0.0, 1.0, 2.0, np.nan] * 100)


def test_a_stride_of_the_period_leaves_no_variance():
    estimate = zero_one_k(logistic(3.5, 2000), stride=4)
    assert (estimate.status, estimate.evidence["reason"]) == ("undefined", "zero variance at stride 4")


def test_the_seed_decides_the_frequencies():
    x = logistic(3.97, 2000)
    assert zero_one_k(x, seed=1) == zero_one_k(x, seed=1)
    assert zero_one_k(x, seed=1) != zero_one_k(x, seed=2)
