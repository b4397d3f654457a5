"""The estimate alone, from growth that is made up: scale, order, intervals, refused input."""

import math

import numpy as np
import pytest

from dynamics.codegen import LANES
from indicators.lyapunov import largest_exponent, lyapunov_max, lyapunov_spectrum, reaching_zero


def test_scale_of_time_and_order_of_columns():
    g = np.random.default_rng(8).standard_normal((200, 3)) * 0.1 + [-2.0, 1.0, 0.3]
    one, other = lyapunov_spectrum(g, 1.0), lyapunov_spectrum(g[:, [2, 0, 1]], 0.25)
    assert one.value == sorted(one.value, reverse=True)
    assert one.value == pytest.approx(sorted(g.mean(axis=0), reverse=True), rel=1e-12)
    assert other.value == pytest.approx([4 * v for v in one.value], rel=1e-12)
    assert other.error == pytest.approx([4 * e for e in one.error], rel=1e-9)
    assert other.evidence["T"] == 50.0
    top = largest_exponent(one)
    assert (top.value, top.error) == (one.value[0], one.error[0])
    assert top.evidence["error_999"] == one.evidence["error_999"][0]
    assert lyapunov_max(g[:, 1], 1.0).number == pytest.approx(one.value[0], rel=1e-12)


def test_the_interval_of_noise_is_that_of_its_mean():
    """White growth: half-width close to 1.96 sigma/sqrt n, larger by Student's factor and never much smaller."""
    n, sigma = 3_200, 0.5
    g = sigma * np.random.default_rng(9).standard_normal((n, 1, LANES))
    found = lyapunov_spectrum(g, 1.0)
    expected = 1.96 * sigma / math.sqrt(n * LANES)
    assert 0.8 * expected < found.evidence["batch_means"][0] < 1.3 * expected
    assert found.error[0] >= found.evidence["batch_means"][0]


def test_drift_widens_the_interval():
    """Growth that fades, as in a transient: the difference of the halves is at least in the error."""
    g = np.exp(-np.arange(1_000) / 300)[:, None]
    found = lyapunov_spectrum(g, 1.0)
    assert found.error[0] >= abs(g.mean() - g[:500].mean()) * (1 - 1e-12)
    assert found.status == "not_converged"


def test_the_integrator_s_defect_is_in_every_half_width():
    g = np.random.default_rng(11).standard_normal((200, 3))
    plain, wide = lyapunov_spectrum(g, 0.5), lyapunov_spectrum(g, 0.5, defect=0.25)
    assert wide.value == plain.value
    assert wide.error == pytest.approx(np.array(plain.error) + 0.25, rel=1e-12)
    assert wide.evidence["error_999"] == pytest.approx(np.array(plain.evidence["error_999"]) + 0.25, rel=1e-12)
    assert wide.evidence["defect"] == 0.25
    one = lyapunov_max(g[:, 0], 0.5, defect=0.25)
    assert one.error == pytest.approx(lyapunov_max(g[:, 0], 0.5).error + 0.25, rel=1e-12)


def test_growth_like_t_is_no_exponent():
    """ln T/T of a shear's deviation: its interval reaches 0, and its own scatter does not. A steady rate is not 0."""
    n = np.arange(100, 2_100)  # once the deviations are aligned
    shear, steady = np.log1p(1 / n), np.full(2_000, 0.01)  # the mean of the first is ln(21)/2000 = 0.00152
    noise = 1e-4 * np.random.default_rng(12).standard_normal((2_000, 2, LANES))
    plain = lyapunov_spectrum(np.stack([shear, steady], axis=1)[:, :, None] + noise, 1.0)
    found = reaching_zero(plain)
    (rate, other), (half, apart) = plain.value[::-1], plain.error[::-1]
    assert (rate, other) == (pytest.approx(0.00152, abs=1e-5), pytest.approx(0.01, abs=1e-5))
    assert half < rate
    assert found.value == plain.value
    assert found.error == [apart, rate]
    assert found.evidence["error_999"][1] == max(rate, plain.evidence["error_999"][1])
    assert found.evidence["error_999"][0] == plain.evidence["error_999"][0] < 1e-4
    nothing = lyapunov_spectrum(np.full((100, 1), -math.inf), 1.0)
    assert reaching_zero(nothing) is nothing


NOISE = np.random.default_rng(10).standard_normal((200, 2))


@pytest.mark.parametrize(("growth", "interval", "part"), [
    (np.where(np.arange(400).reshape(200, 2) == 77, math.nan, NOISE), 1.0, "NaN"),
    (np.where(np.arange(400).reshape(200, 2) == 77, math.inf, NOISE), 1.0, "NaN or .inf"),
    (NOISE[:63], 1.0, "63 intervals are too few for an error; at least 64"),
    (np.zeros((0, 2)), 1.0, "0 intervals"),
    (NOISE[:, 0], 1.0, "not of shape"),
    (NOISE[:, :0], 1.0, "not of shape"),
    (NOISE[..., None, None], 1.0, "not of shape"),
    (3.0, 1.0, "not of shape"),
    (NOISE + 0j, 1.0, "complex"),
    (np.ma.masked_less(NOISE, 0), 1.0, "masked"),
    (NOISE, 0.0, "the interval is 0.0"),
    (NOISE, -1.0, "the interval is -1.0"),
    (NOISE, math.nan, "the interval is nan"),
    (NOISE, math.inf, "the interval is inf"),
])  # fmt: skip
def test_refused_input(growth, interval, part):
    with pytest.raises(ValueError, match=part):
        lyapunov_spectrum(growth, interval)


def test_refused_input_of_the_largest():
    with pytest.raises(ValueError, match=r"\(n,\) or \(n, lanes\)"):
        lyapunov_max(NOISE[..., None], 1.0)
    with pytest.raises(ValueError, match="NaN"):
        lyapunov_max([math.nan] * 100, 1.0)
    with pytest.raises(ValueError, match="complex"):
        lyapunov_max(NOISE[:, 0] + 1j, 1.0)
