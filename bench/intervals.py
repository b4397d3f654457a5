"""The MCC of answers and its interval from a bootstrap over clusters of questions.

Questions about one cluster stand or fall together, so clusters are drawn, not questions. All that a draw needs are the
four counts of each cluster: ten thousand draws are one product of multinomial weights with them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest, norm, t

ROUNDS = 10_000
LEVEL = 0.95
FEW = 20  # clusters, below which the reason says that they are few
BIAS = 0.1  # of the draws' median in their standard deviations, beyond which the interval is BCa
CHUNK = 20_000_000  # weights held at a time

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A statistic with its 95 % interval, as it stands in scores.json.

    `interval` is how lo and hi were found: percentile, bca, wilson, constant or none; value is null with a reason.
    """

    value: float | None
    lo: float | None
    hi: float | None
    n: int
    n_clusters: int
    interval: str
    reason: str | None = None

    def inverted(self) -> "Interval":
        """That of the predictor which says the opposite, if the statistic is the MCC."""
        value, lo, hi = (None if x is None else -x + 0.0 for x in (self.value, self.hi, self.lo))
        return Interval(value, lo, hi, self.n, self.n_clusters, self.interval, self.reason)


def confusion(truth: ArrayLike, said: ArrayLike, cluster: ArrayLike) -> Floats:
    """(clusters, 4): how many answers of each cluster are tp, fp, tn, fn, in the order of first occurrence."""
    true, yes = np.asarray(truth, dtype=bool), np.asarray(said, dtype=bool)
    codes, names = pd.factorize(np.asarray(cluster))
    kinds = (true & yes, ~true & yes, ~true & ~yes, true & ~yes)
    return np.stack([np.bincount(codes, kind, len(names)) for kind in kinds], axis=1)


def mcc(counts: Floats) -> Floats:
    """Matthews' correlation of (.., 4) counts: 0 if all answers are one class, NaN if all golds are.

    Matthews 1975, Biochim. Biophys. Acta 405:442, p. 445.
    """
    tp, fp, tn, fn = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    gold, answers = (tp + fn) * (tn + fp), (tp + fp) * (tn + fn)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (tp * tn - fp * fn) / np.sqrt(gold * answers)
    return np.where(gold == 0, np.nan, np.where(answers == 0, 0.0, value))


def accuracy(counts: Floats) -> Floats:
    """The share of answers that are right, of (.., 4) counts; NaN without answers."""
    with np.errstate(invalid="ignore"):
        return np.asarray((counts[..., 0] + counts[..., 2]) / counts.sum(axis=-1))


def clustered_interval(
    counts: Floats, statistic: Callable[[Floats], Floats] = mcc, rounds: int = ROUNDS, seed: int = 0
) -> Interval:
    """The statistic over all clusters, with its 95 % interval.

    counts : (clusters, 4) as of `confusion`
    The interval is that of the draws' quantiles, and BCa (Efron 1987, J. Am. Stat. Assoc. 82:171) where the draws are
    not centred on the value. Both are widened by Student's t for few clusters (Hesterberg 2015, Am. Stat. 69:371,
    sec. 4.2). Where no answer, or every one, is right, all draws are equal: then as many whole clusters count as the
    other way round as Wilson's interval allows of which none was seen, so that it is never [1, 1]. If only the answers
    are of one class, the MCC is 0 whatever the draw. Draws in which all golds are one class are left out.
    """
    counts = np.asarray(counts, dtype=float)
    counts = counts[counts.sum(axis=1) > 0]
    n, clusters = int(counts.sum()), len(counts)
    if n == 0:
        return Interval(None, None, None, 0, 0, "none", "there are no answers")
    total = counts.sum(axis=0)
    value = float(statistic(total))
    if np.isnan(value):
        return Interval(None, None, None, n, clusters, "none", "all gold answers are the same")
    reason = f"{clusters} clusters are few for an interval; {FEW} are needed" if clusters < FEW else None
    if clusters == 1:
        return Interval(value, None, None, n, 1, "none", "one cluster has no interval")
    if statistic is mcc and 0 in (total[0] + total[1], total[2] + total[3]):
        return Interval(0.0, 0.0, 0.0, n, clusters, "constant", "all answers are the same")
    if 0 in (total[0] + total[2], total[1] + total[3]):
        lo, hi = _unseen(total, clusters, statistic)
        return Interval(value, lo, hi, n, clusters, "wilson", reason)
    drawn = np.concatenate([statistic(some) for some in _draws(counts, rounds, seed)])
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) < rounds / 2:
        return Interval(value, None, None, n, clusters, "none", "most draws of clusters have one gold answer only")
    tails = norm.cdf(np.sqrt(clusters / (clusters - 1)) * t.ppf([(1 - LEVEL) / 2, (1 + LEVEL) / 2], clusters - 1))
    below = np.mean(drawn < value) + np.mean(drawn == value) / 2
    bias = norm.ppf(np.clip(below, 1 / len(drawn), 1 - 1 / len(drawn)))
    how = "bca" if abs(bias) > BIAS else "percentile"
    if how == "bca":
        shifted = bias + norm.ppf(tails)
        tails = norm.cdf(bias + shifted / (1 - _acceleration(counts, statistic) * shifted))
    lo, hi = np.quantile(drawn, tails)
    return Interval(value, float(lo), float(hi), n, clusters, how, reason)


def _draws(counts: Floats, rounds: int, seed: int) -> Iterator[Floats]:
    """(some, 4) counts of as many clusters drawn with replacement, `rounds` in all."""
    rng, clusters = np.random.default_rng(seed), len(counts)
    # clusters with the same counts are one kind: of many one-question clusters there are few kinds
    kinds, sizes = np.unique(counts, axis=0, return_counts=True)
    at_once = max(1, CHUNK // len(kinds))
    for start in range(0, rounds, at_once):
        yield rng.multinomial(clusters, sizes / clusters, size=min(at_once, rounds - start)) @ kinds


def _acceleration(counts: Floats, statistic: Callable[[Floats], Floats]) -> float:
    """Efron's a, from the values without each cluster in turn."""
    left = statistic(counts.sum(axis=0) - counts)
    away = np.nanmean(left) - left[~np.isnan(left)]
    spread = np.sum(away**2)
    return float(np.sum(away**3) / (6 * spread**1.5)) if spread > 0 else 0.0


def _unseen(total: Floats, clusters: int, statistic: Callable[[Floats], Floats]) -> tuple[float, float]:
    """The interval where nothing is wrong, or nothing right: from that value to where a share of all is otherwise."""
    share = binomtest(0, clusters).proportion_ci(LEVEL, method="wilson").high
    tp, fp, tn, fn = total
    other = np.array([fn, tn, fp, tp])
    ends = sorted(float(statistic(x)) for x in (total, (1 - share) * total + share * other))
    return ends[0], ends[1]
