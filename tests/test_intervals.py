"""Intervals hold the truth as often as they say, whatever the number and size of clusters; those over rows do not."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binomtest, bootstrap

from bench.intervals import ACCURACY, Floats, Interval, Statistic, clustered_interval, confusion, mcc, ratio_interval

CELLS = [(clusters, value) for clusters in (15, 30, 100, 300) for value in (0.0, 0.4, 0.9)]


def clustered(clusters: int, value: float, rng: np.random.Generator) -> Floats:
    """Counts of clusters of 2 to hundreds of questions, each with its own share of TRUE and of right answers.

    The shares of right answers are beta distributed about (1 + value)/2; with gold shares about a half and errors alike
    on both golds, the MCC of expected counts is `value` exactly.
    """
    n = np.maximum(2, np.round(rng.lognormal(np.log(20), 0.8, clusters))).astype(int)
    mean, weight = (1 + value) / 2, 8.0
    right = rng.beta(weight * mean, weight * (1 - mean), clusters)
    true = rng.binomial(n, rng.beta(3, 3, clusters))
    tp, tn = rng.binomial(true, right), rng.binomial(n - true, right)
    return np.stack([tp, n - true - tn, tn, true - tp], axis=1).astype(float)


def held(interval: Callable[[Floats], Interval], clusters: int, value: float, times: int) -> float:
    """The share of intervals that hold the truth."""
    rng = np.random.default_rng([clusters, round(10 * value)])
    found = [interval(clustered(clusters, value, rng)) for _ in range(times)]
    return float(np.mean([x.lo is not None and x.hi is not None and x.lo <= value <= x.hi for x in found]))


def rowwise(counts: Floats) -> Interval:
    """The percentile interval of a bootstrap that draws questions as if they were independent."""
    total = counts.sum(axis=0)
    drawn = mcc(np.random.default_rng(0).multinomial(int(total.sum()), total / total.sum(), 500).astype(float))
    lo, hi = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(mcc(total)), float(lo), float(hi), int(total.sum()), len(counts), "rows")


def allowed(clusters: int, share: float) -> bool:
    return (0.90 if clusters == 15 else 0.93) <= share <= (0.98 if clusters == 15 else 0.97)


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "value"), CELLS)
def test_intervals_hold_the_truth_in_2000_samples_of_each_kind(clusters: int, value: float) -> None:
    assert allowed(clusters, held(clustered_interval, clusters, value, 2000))


@pytest.mark.parametrize(("clusters", "value"), [(15, 0.9), (30, 0.0), (100, 0.4)])
def test_intervals_hold_the_truth_as_often_as_they_say(clusters: int, value: float) -> None:
    """95 % of 500 intervals, within three standard errors of such a share, which are 0.029."""
    assert held(clustered_interval, clusters, value, 500) == pytest.approx(0.95, abs=0.029)


@pytest.mark.parametrize(("clusters", "value"), CELLS)
def test_a_bootstrap_over_rows_fails_the_same_test(clusters: int, value: float) -> None:
    assert not allowed(clusters, held(rowwise, clusters, value, 100))


@pytest.mark.parametrize("share", [0.02, 0.5])
def test_intervals_of_shares_hold_the_truth_too(share: float) -> None:
    """Of what some clusters do more often than others, in 40 clusters; 500 intervals."""
    rng, found = np.random.default_rng(1), []
    for _ in range(500):
        n = rng.integers(5, 60, 40)
        some = rng.binomial(n, rng.beta(20 * share, 20 * (1 - share), 40)).astype(float)
        one = clustered_interval(np.stack([some, n - some, 0 * some, 0 * some], axis=1), ACCURACY)
        found.append(one.lo is not None and one.hi is not None and one.lo <= share <= one.hi)
    assert np.mean(found) == pytest.approx(0.95, abs=0.029 if share > 0.1 else 0.04)


@pytest.mark.parametrize("clusters", [20, 60])
def test_intervals_of_ratios_of_sums_hold_the_truth_too(clusters: int) -> None:
    """Of counts whose rates of 3 on average differ from cluster to cluster; 500 intervals."""
    rng, found = np.random.default_rng(3), []
    for _ in range(500):
        n = rng.integers(5, 30, clusters)
        row = np.repeat(np.arange(clusters), n)
        top = rng.poisson(rng.gamma(6.0, 0.5, clusters)[row])
        one = ratio_interval(top, np.ones(len(row)), row)
        found.append(one.lo is not None and one.hi is not None and one.lo <= 3.0 <= one.hi)
    assert np.mean(found) == pytest.approx(0.95, abs=0.029)


def test_the_interval_of_a_mean_of_rows_that_stand_alone_is_students() -> None:
    """The jackknife of a mean has the error of the mean; its degrees of freedom are estimated, and near n - 1."""
    x = np.random.default_rng(4).normal(size=400)
    one = ratio_interval(x, np.ones(400), np.arange(400))
    assert one.lo is not None
    assert one.hi is not None
    assert one.value == pytest.approx(x.mean())
    assert (one.hi - one.lo) / 2 == pytest.approx(1.96 * x.std(ddof=1) / 20, rel=0.01)
    assert ratio_interval([1, 1], [1, 1], ["a", "b"]).interval == "constant"
    assert ratio_interval([1, 1], [1, 1], ["a", "a"]).lo is None
    assert ratio_interval([], [], []).value is None
    assert ratio_interval([1.0, 2.0], [1.0, 0.0], ["a", "b"]).lo is None  # nothing is left without a


def test_the_error_is_that_of_scipys_bootstrap() -> None:
    """Half the interval's width on Fisher's scale over 1.96 is the standard deviation of z over draws of clusters."""
    counts = clustered(400, 0.4, np.random.default_rng(2))
    ours = clustered_interval(counts)
    assert ours.lo is not None
    assert ours.hi is not None
    theirs = bootstrap(
        tuple(counts.T), lambda *kinds, axis: np.arctanh(mcc(np.stack([k.sum(axis=axis) for k in kinds], axis=-1))),
        method="percentile", paired=True, vectorized=True, n_resamples=4000, batch=500, rng=np.random.default_rng(3),
    ).standard_error  # fmt: skip
    assert (np.arctanh(ours.hi) - np.arctanh(ours.lo)) / 3.92 == pytest.approx(theirs, rel=0.06)


def test_a_statistic_of_no_order_in_its_clusters() -> None:
    counts = clustered(30, 0.4, np.random.default_rng(4))
    one, two = clustered_interval(counts), clustered_interval(counts[::-1])
    assert (one.lo, one.hi) == pytest.approx((two.lo, two.hi))
    empty = np.concatenate([counts, np.zeros((5, 4))])
    assert clustered_interval(empty) == one


def test_a_perfect_answerer_is_not_certain() -> None:
    truth, cluster = np.arange(400) % 2 == 0, np.arange(400) // 10
    perfect = clustered_interval(confusion(truth, truth, cluster))
    assert (perfect.value, perfect.hi, perfect.interval) == (1.0, 1.0, "wilson")
    unseen = binomtest(0, 40).proportion_ci(0.95, method="wilson").high
    assert perfect.lo == pytest.approx(1 - 2 * unseen)
    mirror = clustered_interval(confusion(truth, ~truth, cluster))
    assert (mirror.value, mirror.lo, mirror.hi) == (-1.0, -1.0, pytest.approx(-unseen * -2 - 1))
    few = clustered_interval(confusion(truth[:60], truth[:60], cluster[:60]))
    assert few.reason is not None
    assert "6 clusters are few" in few.reason
    constant = clustered_interval(confusion(truth, np.ones(400), cluster))
    assert (constant.value, constant.lo, constant.hi, constant.interval) == (0.0, 0.0, 0.0, "constant")


def test_all_right_and_all_wrong_are_exactly_1_and_minus_1() -> None:
    """89 FALSE and 75 TRUE, each said to be the other: a product of square roots is -0.9999999999999999 there."""
    first, second = np.meshgrid(np.arange(1.0, 200.0), np.arange(1.0, 200.0))
    none = np.zeros_like(first)
    assert (mcc(np.stack([first, none, second, none], axis=-1)) == 1.0).all()
    assert (mcc(np.stack([none, first, none, second], axis=-1)) == -1.0).all()
    wrong = clustered_interval(np.array([[0.0, 80.0, 0.0, 70.0], [0.0, 9.0, 0.0, 5.0]]))
    assert (wrong.value, wrong.lo, wrong.interval) == (-1.0, -1.0, "wilson")


def test_one_cluster_with_all_errors_has_a_wide_interval() -> None:
    truth, cluster = np.arange(400) % 2 == 0, np.arange(400) // 10
    said = truth.copy()
    said[:4] = ~said[:4]
    found = clustered_interval(confusion(truth, said, cluster))
    assert found.value == pytest.approx(0.98)
    assert found.lo is not None
    assert found.hi is not None
    assert found.lo < 0.9
    assert 0.98 < found.hi < 1.0


def test_what_has_no_interval_says_why() -> None:
    one_gold = clustered_interval(np.array([[3.0, 0, 0, 1], [2, 0, 0, 2]]))
    assert (one_gold.value, one_gold.reason) == (None, "all gold answers are the same")
    alone = clustered_interval(np.array([[3.0, 1, 2, 1]]))
    assert (alone.lo, alone.reason) == (None, "one cluster has no interval")
    fragile = clustered_interval(np.array([[3.0, 0, 0, 1], [2, 1, 3, 2], [2, 0, 0, 1]]))
    assert (fragile.lo, fragile.reason) == (None, "without one of the clusters all gold answers are the same")
    nothing = clustered_interval(np.zeros((0, 4)), Statistic(mcc, -1.0, ""))
    assert (nothing.value, nothing.reason) == (None, "there are no answers")
