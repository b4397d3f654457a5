"""Statistics of answers with intervals that know the design: questions of one cluster stand or fall together.

All that is needed are the four counts of each cluster. An interval is the cluster jackknife's on Fisher's scale,
because that one holds its coverage where others do not: of 15 clusters of unequal size the percentile bootstrap, BCa
and the studentised bootstrap miss an MCC of 0.9 in 14 to 15 % of samples (docs/scores.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit  # scipy.stats takes half a second to import

LEVEL = 0.95
FEW = 20  # clusters, below which the reason says that they are few

Floats = NDArray[np.float64]


class Statistic(NamedTuple):
    """A function of (.., 4) counts with values from `least` to 1, and why it may have none."""

    of: Callable[[Floats], Floats]
    least: float
    undefined: str


@dataclass(frozen=True)
class Interval:
    """A statistic with its 95 % interval, as it stands in scores.json.

    `interval` is how lo and hi were found: fisher_z, jackknife, wilson, constant or none; value is null with a reason.
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

    Matthews 1975, Biochim. Biophys. Acta 405:442.
    """
    tp, fp, tn, fn = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    gold, answers = (tp + fn) * (tn + fp), (tp + fp) * (tn + fn)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (tp * tn - fp * fn) / (np.sqrt(gold) * np.sqrt(answers))
    value = np.where(fp + fn == 0, 1.0, np.where(tp + tn == 0, -1.0, value))  # where the quotient may be rounded
    return np.where(gold == 0, np.nan, np.where(answers == 0, 0.0, np.clip(value, -1.0, 1.0)))


def accuracy(counts: Floats) -> Floats:
    """The share of answers that are right, of (.., 4) counts; NaN without answers."""
    return share(counts[..., 0] + counts[..., 2], counts.sum(axis=-1))


def share(part: Floats, whole: Floats) -> Floats:
    """One count over another; NaN where there is nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.asarray(part, dtype=float) / whole)


MCC = Statistic(mcc, -1.0, "all gold answers are the same")
ACCURACY = Statistic(accuracy, 0.0, "there are no answers")


def clustered_interval(counts: Floats, statistic: Statistic = MCC) -> Interval:
    """The statistic over all clusters, with its 95 % interval.

    counts : (clusters, .., 4) as of `confusion`
    Each cluster is left out in turn (jackknife; Efron & Stein 1981, Ann. Stat. 9:586), on Fisher's scale
    z = artanh of the statistic stretched to -1 .. 1, which keeps the interval inside its range. The error is Student's
    with 3 (sum d^2)^2 / sum d^4 - 1 degrees of freedom, d the deviations of the z: as many as there are clusters
    where all weigh the same, fewer where some decide (Satterthwaite 1946, Biometrics Bull. 2:110; from fourth moments).
    Where one cluster has all that is wrong, z without it is infinite, and d are taken on the plain scale, times dz.
    Where nothing is wrong, or everything, as many whole clusters count as the other way round as Wilson's interval
    allows of which none was seen, so that it is never [1, 1].
    """
    counts = np.asarray(counts, dtype=float)
    counts = counts[counts.sum(axis=tuple(range(1, counts.ndim))) > 0]
    n, clusters = int(counts.sum()), len(counts)
    if n == 0:
        return Interval(None, None, None, 0, 0, "none", "there are no answers")
    total = counts.sum(axis=0)
    value = float(statistic.of(total))
    if np.isnan(value):
        return Interval(None, None, None, n, clusters, "none", statistic.undefined)
    reason = _few(clusters)
    if clusters == 1:
        return Interval(value, None, None, n, 1, "none", "one cluster has no interval")
    if value in (statistic.least, 1.0):
        lo, hi = _unseen(total, clusters, statistic)
        return Interval(value, lo, hi, n, clusters, "wilson", reason)
    without = statistic.of(total - counts)
    if np.isnan(without).any():
        return Interval(value, None, None, n, clusters, "none", f"without one of the clusters {statistic.undefined}")
    if np.ptp(without) == 0.0:
        return Interval(value, value, value, n, clusters, "constant", "no cluster makes a difference")
    error, freedom = jackknife(_fisher(without, statistic.least))
    if not np.isfinite(error):
        error, freedom = jackknife(without)
        stretched = 1 - 2 * (1 - value) / (1 - statistic.least)
        error *= 2 / (1 - statistic.least) / (1 - stretched**2)
    reach = error * stdtrit(freedom, (1 + LEVEL) / 2)
    z = _fisher(value, statistic.least)
    lo, hi = (float(1 - (1 - np.tanh(end)) * (1 - statistic.least) / 2) for end in (z - reach, z + reach))
    return Interval(value, lo, hi, n, clusters, "fisher_z", reason)


def ratio_interval(top: ArrayLike, bottom: ArrayLike, cluster: ArrayLike) -> Interval:
    """The ratio of two sums over rows, such as a mean, with its 95 % interval: the jackknife's on the plain scale."""
    codes, names = pd.factorize(np.asarray(cluster))
    tops, bottoms = (np.bincount(codes, np.asarray(x, dtype=float), len(names)) for x in (top, bottom))
    n, clusters = len(codes), len(names)
    if not bottoms.sum() > 0.0:
        return Interval(None, None, None, n, clusters, "none", "there is nothing to take a mean of")
    value = float(tops.sum() / bottoms.sum()) + 0.0
    if clusters == 1:
        return Interval(value, None, None, n, 1, "none", "one cluster has no interval")
    without = share(tops.sum() - tops, bottoms.sum() - bottoms)
    if not np.isfinite(without).all():
        return Interval(value, None, None, n, clusters, "none", "without one of the clusters there is nothing")
    if np.ptp(without) == 0.0:
        return Interval(value, value, value, n, clusters, "constant", "no cluster makes a difference")
    error, freedom = jackknife(without)
    reach = error * float(stdtrit(freedom, (1 + LEVEL) / 2))
    return Interval(value, value - reach, value + reach, n, clusters, "jackknife", _few(clusters))


def _few(clusters: int) -> str | None:
    return f"{clusters} clusters are few for an interval; {FEW} are needed" if clusters < FEW else None


def jackknife(without: Floats) -> tuple[float, float]:
    """The standard error of a statistic from its (clusters,) values without each, and its degrees of freedom."""
    with np.errstate(invalid="ignore"):
        away = without - without.mean()
    clusters, squares = len(away), float(np.sum(away**2))
    if not squares > 0.0:
        return (0.0 if squares == 0.0 else np.inf), 1.0
    freedom = 3 * squares**2 / float(np.sum(away**4)) - 1
    return float(np.sqrt((clusters - 1) / clusters * squares)), float(np.clip(freedom, 1, clusters - 1))


def _fisher(value: ArrayLike, least: float) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.arctanh(1 - 2 * (1 - np.asarray(value)) / (1 - least)))


def _unseen(total: Floats, clusters: int, statistic: Statistic) -> tuple[float, float]:
    """The interval where nothing is wrong, or nothing right: from that value to where a share of all is otherwise."""
    part = ndtri((1 + LEVEL) / 2) ** 2 / (clusters + ndtri((1 + LEVEL) / 2) ** 2)  # Wilson 1927, none of n seen
    tp, fp, tn, fn = np.moveaxis(total, -1, 0)
    other = np.stack([fn, tn, fp, tp], axis=-1)
    ends = sorted(float(statistic.of(x)) for x in (total, (1 - part) * total + part * other))
    return ends[0], ends[1]
