import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import logistic
from orbits import GOLDEN, lorenz, orbit, rossler

from indicators.decay import autocorrelation, decay_of_correlation

N = np.arange(20_000)


def named(result, name):
    return next(each for each in result.observables if each.name == name)


@given(st.integers(0, 2**32), st.integers(5, 60), st.floats(1e-3, 1e3))
@settings(max_examples=25)
def test_autocorrelation_is_that_of_the_double_loop(seed, n, scale):
    x = scale * (5 + np.random.default_rng(seed).normal(size=n))
    assert autocorrelation(x, n - 2) == pytest.approx(naive.autocorrelation(x, n - 2), abs=1e-9)


def test_autocorrelation_refuses_a_lag_beyond_the_series():
    with pytest.raises(ValueError, match=r"the longest lag is 10; for 10 values it must be in 0\.\.9"):
        autocorrelation(np.arange(10.0), 10)
    assert autocorrelation(np.ones(10), 3).tolist() == [1, 1, 1, 1]


def test_logistic_r4_decays_at_once():
    result = decay_of_correlation(logistic(4.0, 20_000))
    assert (result.verdict, result.bands, result.longest_lag) == ("decays", 0, 5000)
    x = named(result, "x0")
    assert x.fall == 1
    assert x.tau_int == pytest.approx(1, abs=0.2)
    assert x.noise == pytest.approx(1 / np.sqrt(20_000), rel=0.1)
    assert x.tail == pytest.approx(x.noise, rel=0.25)


@pytest.mark.parametrize(
    ("r", "bands", "amplitude"), [(3.6, 2, 0.91), (3.572, 4, 0.91), (3.5, 4, 0.95), (3.83, 3, 1.0)]
)
def test_cyclic_bands_and_cycles_persist_with_their_period(r, bands, amplitude):
    result = decay_of_correlation(logistic(r, 20_000))
    assert (result.verdict, result.bands) == ("persists", bands)
    x = named(result, "x0")
    assert x.fall is None
    assert x.amplitude == pytest.approx(amplitude, abs=0.1)
    assert x.kept == pytest.approx(1, abs=1e-3)


def test_henon_and_lorenz_decay():
    assert decay_of_correlation(orbit("henon", 20_000)).verdict == "decays"
    states = lorenz(20_000, 0.1)
    assert decay_of_correlation(states).verdict == "decays"
    for c in (0, 2):
        assert decay_of_correlation(states[:, c]).verdict == "decays"


def test_rotations_and_tori_persist_without_bands():
    on_circle = decay_of_correlation(GOLDEN * N, circumference=[1])
    assert (on_circle.verdict, on_circle.bands) == ("persists", 0)
    assert {each.verdict for each in on_circle.observables} == {"persists"}
    assert named(on_circle, "cos x0").amplitude == pytest.approx(1, abs=0.01)
    torus = decay_of_correlation(np.cos(0.3 * N) + 0.5 * np.cos(0.3 * np.sqrt(2) * N))
    assert (torus.verdict, torus.bands) == ("persists", 0)


@pytest.mark.parametrize("count", [20_000, 100_000])
def test_phase_coherent_chaos_is_slow(count):
    result = decay_of_correlation(rossler(100_000, 0.5)[:count])
    assert result.verdict == "slow"
    assert named(result, "x0").kept < 0.998


def test_autoregression_has_its_integrated_time():
    noise = np.random.default_rng(0).normal(size=200_000)
    x = np.zeros(200_000)
    for i in range(1, x.size):
        x[i] = 0.9 * x[i - 1] + noise[i]
    result = decay_of_correlation(x)
    assert result.verdict == "decays"
    assert named(result, "x0").tau_int == pytest.approx(1.9 / 0.1, rel=0.1)
    assert named(result, "x0").noise == pytest.approx(np.sqrt(1.81 / 0.19 / 200_000), rel=0.1)


def test_a_random_walk_is_slow():
    assert decay_of_correlation(np.cumsum(np.random.default_rng(0).normal(size=20_000))).verdict == "slow"


def test_a_weak_wave_under_noise_persists():
    x = 0.3 * np.cos(0.7 * N) + np.random.default_rng(0).normal(size=N.size)
    result = decay_of_correlation(x)
    assert result.verdict == "persists"
    assert named(result, "x0").amplitude == pytest.approx(0.045, abs=0.03)


@pytest.mark.parametrize("seed", range(10))
def test_white_noise_decays(seed):
    x = np.random.default_rng(seed).normal(size=(2000, 5))
    result = decay_of_correlation(x)
    assert result.verdict == "decays"
    assert len(result.observables) == 5 + 5 + 4


def test_all_observables_are_needed():
    """One coordinate that persists is enough, and a wave that only the product shows."""
    rng = np.random.default_rng(0)
    wave = decay_of_correlation(np.stack([rng.normal(size=N.size), np.cos(0.3 * N)], axis=1))
    assert wave.verdict == "persists"
    assert named(wave, "x0").verdict == "decays"
    sign = rng.choice([-1.0, 1.0], N.size)
    hidden = decay_of_correlation(np.stack([sign, sign * (2 + np.cos(0.3 * N))], axis=1))
    assert named(hidden, "x1").verdict == "decays"
    assert named(hidden, "(x0)(x1)").verdict == "persists"
    assert hidden.verdict == "persists"


def test_a_point_is_constant():
    result = decay_of_correlation(np.ones((1000, 2)))
    assert result.verdict == "constant"
    assert {each.verdict for each in result.observables} == {"constant"}


@pytest.mark.parametrize("seed", range(3))
def test_a_phase_that_diffuses_slowly_is_not_taken_for_a_period(seed):
    """The correlation falls by a few per cent over the lags."""
    phase = np.cumsum(np.random.default_rng(seed).normal(scale=0.005, size=N.size))
    assert decay_of_correlation(np.cos(0.7 * N)).verdict == "persists"
    drifting = decay_of_correlation(np.cos(0.7 * N + phase))
    assert drifting.verdict == "slow"
    assert abs(named(drifting, "x0").kept - 1) < 0.1


def test_the_largest_tail_decides():
    rng = np.random.default_rng(0)
    wave = 0.3 * np.cos(0.7 * N) + rng.normal(size=N.size)
    result = decay_of_correlation(np.stack([wave, np.cumsum(rng.normal(size=N.size))], axis=1))
    assert named(result, "x0").verdict == "persists"
    assert named(result, "x1").verdict == "slow"
    assert result.verdict == "slow"
