import numpy as np
import pytest
from naive import logistic, van_der_pol
from orbits import GOLDEN, lorenz, orbit, rossler, rotation

from indicators.frequencies import base_frequencies
from indicators.power_spectrum import joint_spectral_lines, spectral_lines

N = np.arange(20_000)
TORUS = np.cos(0.3 * N) + 0.5 * np.cos(0.3 * np.sqrt(2) * N)


def noise(n=20_000, seed=0):
    return np.random.default_rng(seed).normal(size=n)


def test_a_cosine_is_one_line_at_its_frequency():
    found = spectral_lines(7 + 3 * np.cos(0.3 * N + 1))
    assert found.verdict == "lines"
    assert [line.frequency for line in found.lines] == pytest.approx([0.3 / (2 * np.pi)], abs=1e-10)
    assert found.share == pytest.approx(1, abs=1e-6)
    assert found.floor < 1e-15


def test_shares_and_frequencies_of_a_torus():
    found = spectral_lines(TORUS)
    assert found.verdict == "quasi_periodic"
    assert found.base == pytest.approx([0.3 / (2 * np.pi), 0.3 * np.sqrt(2) / (2 * np.pi)], abs=1e-10)
    assert [line.share for line in found.lines] == pytest.approx([0.8, 0.2], abs=1e-3)


def test_combinations_add_no_base_frequency():
    x = np.cos(0.3 * N) * (1 + 0.5 * np.cos(0.3 * np.sqrt(2) * N)) ** 2 + 0.2 * np.sin(0.6 * N)
    found = spectral_lines(x)
    assert (found.verdict, len(found.base), len(found.lines)) == ("quasi_periodic", 2, 6)
    three = spectral_lines(TORUS + 0.3 * np.cos(0.3 * np.sqrt(3) * N))
    assert (three.verdict, len(three.base)) == ("quasi_periodic", 3)


@pytest.mark.parametrize(("r", "base"), [(3.2, 1 / 2), (3.5, 1 / 4), (3.83, 1 / 3)])
def test_cycles_of_the_logistic_map(r, base):
    found = spectral_lines(logistic(r, 5000))
    assert found.verdict == "lines"
    assert found.base == pytest.approx([base], abs=1e-9)
    assert spectral_lines(logistic(r, 5000), section=True).base == [1.0]


def test_relaxation_oscillation_has_one_base_frequency():
    found = spectral_lines(van_der_pol()[0][::20])
    assert found.verdict == "lines"
    assert len(found.lines) > 4
    odd = sorted(line.frequency for line in found.lines)[:3]
    assert [f / found.base[0] for f in odd] == pytest.approx([1, 3, 5], abs=1e-5)


def test_a_rotation_is_periodic_as_a_flow_and_quasi_periodic_as_a_map():
    x = rotation(5000)[:, 0]
    assert spectral_lines(x).verdict == "lines"
    found = spectral_lines(x, section=True)
    assert found.verdict == "quasi_periodic"
    assert found.base == pytest.approx([1.0, 1 - GOLDEN], abs=1e-9)


@pytest.mark.parametrize(("r", "lines"), [(3.6, 1), (3.572, 4)])
def test_cyclic_bands_are_lines_over_a_band(r, lines):
    found = spectral_lines(logistic(r, 20_000))
    assert found.verdict == "lines_and_band"
    assert len(found.lines) == lines
    assert found.lines[0].frequency == 0.5
    assert found.share < 0.9995


def test_a_line_under_noise():
    found = spectral_lines(0.3 * np.cos(0.7 * N) + noise())
    assert found.verdict == "lines_and_band"
    assert [line.frequency for line in found.lines] == pytest.approx([0.7 / (2 * np.pi)], abs=1e-6)
    assert found.share == pytest.approx(0.045 / 1.045, rel=0.1)
    assert found.floor == pytest.approx(np.log(2) * 2 / 20_000, rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_noise_has_no_lines(seed):
    assert spectral_lines(noise(seed=seed)).verdict == "broad_band"
    assert spectral_lines(np.cumsum(noise(seed=seed))).verdict == "broad_band"


def test_chaos_has_no_lines():
    chaotic = [logistic(4.0, 20_000), orbit("henon", 20_000)[:, 0], *lorenz(20_000, 0.1)[:, ::2].T]
    for x in chaotic:
        found = spectral_lines(x)
        assert (found.verdict, found.lines, found.share) == ("broad_band", [], 0.0)


def test_phase_coherent_chaos_has_lines_until_the_series_outlasts_its_phase():
    """The Rossler attractor's main peak is narrower than 1/T at T = 2,000 and wider at T = 50,000."""
    short = spectral_lines(rossler(100_000, 0.5)[:4000, 0])
    assert short.verdict == "lines_and_band"
    assert 2 * np.pi * short.lines[0].frequency / 0.5 == pytest.approx(1.072, abs=0.005)
    assert spectral_lines(rossler(100_000, 0.5)[:, 0]).verdict == "broad_band"


def test_components_are_combined():
    joint, each = joint_spectral_lines(np.stack([np.cos(0.3 * N), TORUS, np.full(N.size, 2.0)], axis=1))
    assert [one.verdict for one in each] == ["lines", "quasi_periodic", "constant"]
    assert (joint.verdict, len(joint.base), len(joint.lines)) == ("quasi_periodic", 2, 2)
    mixed, _ = joint_spectral_lines(np.stack([np.cos(0.3 * N), noise()], axis=1))
    assert (mixed.verdict, mixed.share) == ("lines_and_band", 0.0)
    two_cycles, _ = joint_spectral_lines(np.stack([np.cos(0.3 * N), np.cos(0.3 * np.sqrt(2) * N)], axis=1))
    assert two_cycles.verdict == "quasi_periodic"
    still, _ = joint_spectral_lines(np.ones((1000, 2)))
    assert still.verdict == "constant"


def test_a_constant_has_no_spectrum():
    found = spectral_lines(np.full(1000, 0.1))
    assert (found.verdict, found.lines, found.base) == ("constant", [], [])


def test_base_frequencies_by_hand():
    f = np.array([3, 1, 5]) * 0.0123456789
    assert base_frequencies(f, 10_000) == pytest.approx([0.0123456789], abs=1e-9)
    f = np.array([3, 5]) * 0.0123456789
    assert base_frequencies(f, 10_000) == pytest.approx([0.0123456789], abs=1e-9)
    assert len(base_frequencies(np.array([GOLDEN, np.sqrt(2) - 1]), 10_000)) == 2
    assert len(base_frequencies(np.array([GOLDEN, 5 * GOLDEN % 1]), 10_000)) == 1
    assert base_frequencies(np.array([0.25, 0.5]), 10_000, section=True) == [1.0]
    assert base_frequencies(np.array([]), 10_000, section=True) == []
