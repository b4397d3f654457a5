"""Permutation entropy: how evenly a series uses the possible orders of `order` successive values."""

from math import factorial, log
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from indicators.estimate import Estimate, Status
from indicators.ordinal import codes_of, counts_of
from indicators.series import real_series, unfit

ORDERS = range(2, 9)
BLOCKS = 20
BLOCK_WINDOWS = 20
LISTED_ORDER = 4
WINDOWS_PER_PATTERN = 5


def permutation_entropy(x: ArrayLike, *, order: int = 3, delay: int = 1, normalize: bool = True) -> Estimate:
    """Entropy of the ordinal patterns, H = -sum p ln p; divided by ln(order!) unless `normalize` is false (nats).

    x : (N,) series; order : 2..8 values per window, `delay` samples apart (a flow needs the delay that `sampling`
    gives as stride). 0 for a monotone or constant series, about 1 - (order! - 1)/(2 N ln order!) for white noise.
    Equal values count as rising, in order of appearance.

    `error` is the half-width of the 95 % interval: H is the mean of -ln p over the windows, so its standard error is
    taken from the means of 20 successive blocks, which respects that windows overlap and remember each other, or from
    the multinomial variance (sum p ln^2 p - H^2)/windows if that is larger or there are fewer than 400 windows; the
    bias (seen patterns - 1)/(2 windows) is added. Fewer than 5 order! windows: status `not_converged`, and
    `few_windows` in the evidence, because the value is then held down by ln(windows).

    Bandt & Pompe 2002, Phys. Rev. Lett. 88:174102; forbidden patterns: Amigo, Zambrano & Sanjuan 2007, EPL 79:50001.
    """
    series = _windowed(x, order, delay)
    windows = series.size - (order - 1) * delay
    by_block = counts_of(series, order, delay, BLOCKS if windows >= BLOCKS * BLOCK_WINDOWS else 1)
    if by_block is None:
        raise ValueError(unfit(series))
    counts = by_block.sum(axis=0)
    seen = counts[counts > 0]
    p = seen / windows
    entropy = 0.0 - float(p @ np.log(p))
    unit = log(factorial(order)) if normalize else 1.0
    evidence: dict[str, Any] = {
        "order": order,
        "delay": delay,
        "windows": windows,
        "forbidden_patterns": int(counts.size - seen.size),
        "entropy_nats": entropy,
        "few_windows": windows < WINDOWS_PER_PATTERN * counts.size,
    }
    if order <= LISTED_ORDER:
        evidence["frequencies"] = {
            "".join(map(str, pattern)): float(counts[code] / windows) for code, pattern in _patterns(order)
        }
    if evidence["few_windows"]:
        evidence["reason"] = f"{windows} windows, {WINDOWS_PER_PATTERN * counts.size} are needed (5 per pattern)"
    half_width = _half_width(by_block) + (seen.size - 1) / (2 * windows)
    status: Status = "not_converged" if evidence["few_windows"] else "ok"
    return Estimate(entropy / unit, half_width / unit, status, evidence)


def ordinal_patterns(x: ArrayLike, order: int = 3, delay: int = 1) -> NDArray[np.int32]:
    """The ordinal pattern of each of the N - (order - 1) delay windows, as a code in 0..order! - 1.

    In the factorial number system digit j is the number of earlier values of the window that are greater than
    value j (Lehmer code of the stable argsort); code 0 is the rising pattern, order! - 1 the falling one.
    """
    series = _windowed(x, order, delay)
    problem = unfit(series)
    if problem:
        raise ValueError(problem)
    return codes_of(series, order, delay)


def _windowed(x: ArrayLike, order: int, delay: int) -> NDArray[np.float64]:
    """The series, whose values may still be NaN or infinite, if it has a window."""
    if index(order) not in ORDERS:
        raise ValueError(f"order is {order}; it must be in {ORDERS.start}..{ORDERS.stop - 1}")
    if index(delay) < 1:
        raise ValueError(f"delay is {delay}; it must be at least 1")
    series = real_series(x)
    shortest = (order - 1) * delay + 1
    if series.size < shortest:
        raise ValueError(
            f"the series has N = {series.size} values; order {order} and delay {delay} need at least "
            f"(order - 1)*delay + 1 = {shortest}"
        )
    return series


def pattern_frequencies(x: ArrayLike, order: int = 3, delay: int = 1) -> dict[tuple[int, ...], float]:
    """The share of windows with each pattern; all order! patterns are keys.

    A pattern is the stable argsort of its window: (2, 0, 1) means that the last value is the smallest and the middle
    one the largest.
    """
    codes = ordinal_patterns(x, order, delay)
    counts = np.bincount(codes, minlength=factorial(order))
    return {
        pattern: float(counts[code] / codes.size) for code, pattern in sorted(_patterns(order), key=lambda row: row[1])
    }


def _patterns(order: int) -> list[tuple[int, tuple[int, ...]]]:
    """Every code with its argsort pattern: value j is inserted below the earlier values that are greater."""
    table: list[tuple[int, tuple[int, ...]]] = [(0, (0,))]
    for j in range(1, order):
        table = [
            (code + factorial(j) * greater, (*pattern[: j - greater], j, *pattern[j - greater :]))
            for greater in range(j + 1)
            for code, pattern in table
        ]
    return table


def _half_width(by_block: NDArray[np.int64]) -> float:
    """Half-width of the 95 % interval of the entropy in nats, without its bias."""
    counts = by_block.sum(axis=0)
    windows = int(counts.sum())
    surprise = np.zeros(counts.size)
    surprise[counts > 0] = np.log(windows) - np.log(counts[counts > 0])
    mean = float(counts @ surprise) / windows
    half_width = ndtri(0.975) * np.sqrt(float(counts @ (surprise - mean) ** 2)) / windows
    if by_block.shape[0] > BLOCKS:
        blocks = by_block[:BLOCKS] @ surprise / (windows // BLOCKS)
        half_width = max(half_width, stdtrit(BLOCKS - 1, 0.975) * blocks.std(ddof=1) / np.sqrt(BLOCKS))
    return float(half_width)
