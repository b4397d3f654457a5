"""What permutation entropy can and cannot decide, on points whose regime is known and on noise."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indicators.entropy import permutation_entropy
from indicators.zero_one import zero_one_k
from labeling.evidence import Evidence

ORDER = 5
TURN_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 1.6180339887498949, 4.0, 10.0)  # delays, of a mean turn
FEWEST_WINDOWS = 600  # 5 for each pattern of order 5
NOISES = (0.0, 1e-6, 1e-3, 1e-2, 1e-1, 1.0)  # of the series' standard deviation, or of 1 where it is constant
Array = NDArray[np.float64]


def best_threshold(values: Sequence[float], chaotic: Sequence[bool]) -> tuple[float, int]:
    """The threshold above which "chaotic" is wrong least often on these very values, and how often that is."""
    order = np.argsort(values, kind="stable")
    ordered, truth = np.asarray(values)[order], np.asarray(chaotic)[order]
    # a threshold below the i-th value calls the first i regular and the others chaotic
    wrong = np.concatenate([[0], np.cumsum(truth)]) + np.concatenate([np.cumsum(~truth[::-1])[::-1], [0]])
    possible = np.concatenate([[True], np.diff(ordered) > 0, [True]])
    best = int(np.flatnonzero(possible)[np.argmin(wrong[possible])])
    ends = np.concatenate([[ordered[0] - 1.0], ordered, [ordered[-1] + 1.0]])
    return float((ends[best] + ends[best + 1]) / 2), int(wrong[best])


def at_delay(e: Evidence, share: float) -> float | None:
    """Entropy of a flow's series at a delay that is this share of its mean turn; None where it does not turn so often.

    A turn is the time between two passages of the mean, upwards.
    """
    x = e.observable - e.observable.mean()
    crossings = int(((x[:-1] < 0) & (x[1:] >= 0)).sum())
    if e.still or crossings < 4:
        return None
    delay = max(1, round(share * len(x) / crossings))
    if len(x) - (ORDER - 1) * delay < FEWEST_WINDOWS:
        return None
    return permutation_entropy(x, order=ORDER, delay=delay).number


def under_noise(series: Mapping[str, Array], seed: int = 0) -> Iterable[tuple[str, list[tuple[float, Any]]]]:
    """Entropy and K of series to which white noise of several sizes is added."""
    for name, x in series.items():
        size = float(x.std()) or 1.0
        rng = np.random.default_rng(seed)
        noisy = [x + level * size * rng.standard_normal(len(x)) for level in NOISES]
        yield name, [(permutation_entropy(y, order=ORDER).number, zero_one_k(y, stride=1).value) for y in noisy]
