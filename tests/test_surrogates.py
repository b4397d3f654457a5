"""The test against linear noise: its surrogates, its level, and what it is blind and sharp for."""

from math import gcd

import numpy as np
import pytest
from naive import logistic
from orbits import lorenz
from scipy.ndimage import gaussian_filter1d
from scipy.signal import lfilter

from indicators.surrogates import gaussianised, matched_ends, surrogate_test, surrogates_of

NOISES = {
    "white": (lambda e: e, 1),
    "autoregressive": (lambda e: lfilter([1.0], [1.0, -0.9], e)[500:], 1),
    "its exponential": (lambda e: np.exp(lfilter([1.0], [1.0, -0.9], e)[500:] / 2), 1),
    "smoothed": (lambda e: gaussian_filter1d(e, 5.0), 17),
    "a walk": (np.cumsum, 5),
}


@pytest.mark.parametrize("name", NOISES)
def test_linear_noise_is_rejected_as_seldom_as_is_said(name):
    """Of 40 noises at p <= 0.05 two are expected; more than 7 have a chance of 1 in 1,000."""
    noise, delay = NOISES[name]
    p = [
        surrogate_test(
            noise(np.random.default_rng(seed).normal(size=1500)), delay=delay, surrogates=19, seed=seed
        ).number
        for seed in range(40)
    ]
    assert np.count_nonzero(np.array(p) <= 0.05) <= 7
    assert 0.3 < np.mean(p) < 0.8


@pytest.mark.parametrize(("x", "delay"), [
    (logistic(3.9999999, 1000), 1), (logistic(3.6, 1000), 1), (lorenz(5000, 0.1)[:, 0], 2),
    (logistic(3.9999999, 1000) + 0.02 * np.random.default_rng(0).normal(size=1000), 1),
])  # fmt: skip
def test_chaos_is_more_orderly_than_linear_noise(x, delay):
    estimate = surrogate_test(x, delay=delay)
    assert (estimate.status, estimate.value) == ("ok", 0.01)
    assert estimate.evidence["entropy"] < estimate.evidence["entropy_of_surrogates"][0]


def test_surrogates_have_the_values_and_nearly_the_spectrum():
    x = lfilter([1.0], [1.0, -0.9], np.random.default_rng(0).normal(size=2000))
    for y in surrogates_of(x, 3, np.random.default_rng(1)):
        assert np.array_equal(np.sort(x), np.sort(y))
        assert abs(np.corrcoef(x, y)[0, 1]) < 0.3
        power, other = (np.abs(np.fft.rfft(z)) ** 2 for z in (x, y))
        assert np.abs(other - power).sum() < 0.02 * power.sum()


def test_ends_are_matched_in_value_and_slope():
    """The best of all pairs of ends, over the lengths whose prime factors are at most 11."""
    x = np.sin(0.1 * np.arange(400)) + 0.002 * np.arange(400)

    def gap(y):
        return abs(y[-1] - y[0]) + abs((y[-1] - y[-2]) - (y[1] - y[0]))

    lengths = [n for n in range(360, 401) if gcd(n, 2310**9) == n]
    best = min((x[head : head + n] for n in lengths for head in range(401 - n)), key=gap)
    assert np.array_equal(matched_ends(x), best)
    assert gap(best) < gap(x) / 3


def test_gaussianised_keeps_order_and_ties():
    x = np.round(np.random.default_rng(0).exponential(size=3000), 2)
    y = gaussianised(x)
    order = np.argsort(x, kind="stable")
    assert (np.diff(y[order]) >= 0).all()
    assert np.unique(y).size == np.unique(x).size
    assert abs(np.mean(y)) < 0.05
    assert abs(np.std(y) - 1) < 0.05
    assert np.unique(gaussianised(np.arange(300) % 2 * 1.0)).size == 2


def test_an_increasing_map_changes_nothing_of_chaos():
    x = logistic(3.9, 600)
    assert surrogate_test(np.exp(3 * x)).value == surrogate_test(x).value == 0.01


def test_no_variance_and_too_few_windows():
    assert surrogate_test(np.full(300, 0.6)).status == "undefined"
    few = surrogate_test(np.random.default_rng(0).normal(size=250), order=5)
    assert few.status == "not_converged"
    assert few.evidence["reason"].endswith("600 are needed")
    none = surrogate_test(np.random.default_rng(0).normal(size=250), delay=200)
    assert none.status == "undefined"


@pytest.mark.parametrize(("wrong", "said"), [({"surrogates": 18}, "surrogates is 18"), ({"delay": 0}, "delay is 0"),
                                             ({"order": 9}, "order is 9")])  # fmt: skip
def test_impossible_settings(wrong, said):
    with pytest.raises(ValueError, match=said):
        surrogate_test(logistic(3.9, 300), **wrong)
