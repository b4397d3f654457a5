"""Surrogates: is a series more orderly than any linear noise with its values and its spectrum would be?"""

from math import factorial
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from indicators.entropy import WINDOWS_PER_PATTERN, permutation_entropy
from indicators.estimate import Estimate, without_value
from indicators.series import checked_series

FEWEST_VALUES = 200
FEWEST_SURROGATES = 19
MOST_VALUES = 8_192
ORDERS = (6, 5, 4, 3)
FINEST_DELAY = 8
ROUNDS = 50
CUT_SHARE = 10
KNOTS = 33
ROUNDING = 64.0


def surrogate_test(
    x: ArrayLike, *, order: int | None = None, delay: int = 1, surrogates: int = 99, seed: int = 0
) -> Estimate:
    """The probability p of so low a permutation entropy if x (N,), N >= 200, were linear noise.

    The hypothesis: a monotone function of a stationary Gaussian linear process. Ordinal patterns do not see the
    function, so the values are first made nearly Gaussian; without that, half of the exponentials of an autoregression
    were rejected at 5 %. Each surrogate has these values and, closely, their power
    spectrum; of `surrogates` many, m have an entropy (of `order`
    and `delay`; None: the largest order of 3..6 that 5 windows per pattern are there for) not above that of the series,
    and p = (m + 1)/(surrogates + 1): 0.01 if the series lies below all 99.
    A small p says that the order of the values is not that of linear noise; of chaos it is a necessary sign, no proof.
    `delay` should be the stride of `sampling` where the series is oversampled: at the smallest delays of a smooth noise
    the patterns hang on what is left of its spectrum at high frequencies, and it may be rejected.
    A sum of a few sines is its own surrogate, so p says nothing of regular motion.

    Of an oversampled series every (delay // 8)-th value is used, which leaves a linear process linear, and of that at
    most the first 8,192 values, without up to a tenth at the ends, so that both ends agree in value and slope: a jump
    there would put power at all frequencies of the surrogates. Status `not_converged`: fewer than 5 windows per
    pattern. `undefined`: a constant series; fewer values than one window. `error` is None.

    Theiler, Eubank, Longtin, Galdrikian & Farmer 1992, Physica D 58:77; Schreiber & Schmitz 1996, Phys. Rev. Lett.
    77:635 (the iteration), 2000, Physica D 142:346 (the ends).
    """
    if index(surrogates) < FEWEST_SURROGATES:
        raise ValueError(f"surrogates is {surrogates}; at least {FEWEST_SURROGATES} are needed, 99 are usual")
    if index(delay) < 1:
        raise ValueError(f"delay is {delay}; it must be at least 1")
    series = checked_series(x, FEWEST_VALUES)
    if np.ptp(series) <= ROUNDING * np.spacing(np.max(np.abs(series))):
        return without_value("undefined", "the series is constant")
    step = max(1, delay // FINEST_DELAY)
    used = matched_ends(gaussianised(series[::step][:MOST_VALUES]))
    lag = max(1, round(delay / step))
    if order is None:
        order = next((one for one in ORDERS if _windows(used, one, lag) >= WINDOWS_PER_PATTERN * factorial(one)), 3)
    windows = _windows(used, order, lag)
    if windows < 1:
        return without_value("undefined", f"{used.size} values are left, fewer than one window of order {order}")
    own = permutation_entropy(used, order=order, delay=lag)
    others = [
        permutation_entropy(one, order=order, delay=lag)
        for one in surrogates_of(used, surrogates, np.random.default_rng(seed))
    ]
    entropies = np.array([one.number for one in others])
    p = float(1 + np.count_nonzero(entropies <= own.number)) / (surrogates + 1)
    evidence: dict[str, Any] = {
        "order": order,
        "delay": lag * step,
        "n": used.size,
        "step": step,
        "surrogates": surrogates,
        "seed": seed,
        "entropy": own.number,
        "entropy_of_surrogates": [float(entropies.min()), float(entropies.max())],
        "forbidden_patterns": own.evidence["forbidden_patterns"],
        "forbidden_patterns_of_surrogates": max(one.evidence["forbidden_patterns"] for one in others),
    }
    least = WINDOWS_PER_PATTERN * factorial(order)
    if windows < least:
        return Estimate(p, None, "not_converged", {"reason": f"{windows} windows, {least} are needed", **evidence})
    return Estimate(p, None, "ok", evidence)


def surrogates_of(series: NDArray[np.float64], count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A (count, N) array: series with the values of the given one in another order, and nearly its power spectrum.

    From a random order, the amplitudes of the spectrum and then the values (by rank) are put back in turn, until the
    order stays or 50 times.
    """
    values = np.sort(series)
    amplitudes = np.abs(rfft(series))
    out = np.empty((count, series.size))
    for row in out:
        row[:] = rng.permutation(series)
        ranks = np.empty(0, np.int64)
        for _ in range(ROUNDS):
            phases = rfft(row)
            size = np.abs(phases)
            phases = np.where(size > 0.0, phases / np.where(size > 0.0, size, 1.0), 1.0)
            order = np.argsort(irfft(amplitudes * phases, series.size), kind="stable")
            if np.array_equal(order, ranks):
                break
            ranks = order
            row[ranks] = values
    return out


def gaussianised(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """The series through an increasing function that gives it nearly a Gaussian's distribution; equal values stay so.

    It is a smooth one, through 32 quantiles: the ranks themselves would add a noise of their own to a smooth series.
    """
    values = np.sort(series)
    knots = np.unique(values[np.linspace(0, values.size - 1, KNOTS).astype(int)])
    sides = np.searchsorted(values, knots, "left"), np.searchsorted(values, knots, "right")
    levels = (sides[0] + sides[1]) / (2 * values.size)
    moved: NDArray[np.float64] = PchipInterpolator(knots, ndtri(levels))(series)
    return moved


def matched_ends(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """The series without up to a tenth at the ends, so that value and slope at both agree best.

    Of the lengths that are left those with small prime factors are tried, which transform fast.
    """
    slope = np.diff(series)
    best, least = series, np.inf
    for size in range(series.size - series.size // CUT_SHARE, series.size + 1):
        if next_fast_len(size) != size:
            continue
        last = size - 1
        gaps = np.abs(series[last:] - series[: series.size - last])
        gaps += np.abs(slope[last - 1 :] - slope[: series.size - last])
        head = int(np.argmin(gaps))
        if gaps[head] < least:
            best, least = series[head : head + size], float(gaps[head])
    return np.ascontiguousarray(best)


def _windows(series: NDArray[np.float64], order: int, delay: int) -> int:
    return series.size - (order - 1) * delay
