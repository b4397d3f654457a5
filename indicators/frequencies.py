"""Incommensurate base frequencies: the fewest of which all spectral lines are integer combinations."""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 0.01
LARGEST_DIVISOR = 6
LARGEST_FACTOR = (64, 8, 4)
LARGEST_PERIOD = 64


def base_frequencies(frequencies: NDArray[np.float64], n: int, section: bool = False) -> list[float]:
    """The base frequencies of lines found in n values, in cycles per sample; lines come strongest first.

    A line f depends on the bases b found before it if q f = sum m_j b_j + m for integers 0 < q <= 6, an m that stands
    for aliases, and m_j not all 0 with abs(m_j) <= 64 for one base, 8 for two, 4 for more, within 0.01 q / n. Chance
    makes that true of about one frequency in n/54 for one base and in n/120 for two. Otherwise f is the next base. A
    single base of which a line is a fraction is divided. In a `section` of a map or of a forced flow the sampling
    frequency, 1, is a frequency of the motion and the first base; lines at m/q, q <= 64, need no other.
    """
    tolerance = TOLERANCE / n
    bases: list[float] = []
    for f in frequencies.tolist():
        if section and _is_fraction(f, tolerance):
            continue
        divisor = _divisor(f, bases, tolerance)
        if divisor == 0:
            bases.append(f)
        elif divisor > 1 and len(bases) == 1:
            bases = [_divided(bases[0], divisor, f)]
    return [1.0, *bases] if section and frequencies.size else bases


def _away(f: NDArray[Any]) -> NDArray[np.float64]:
    """Distance to the nearest integer."""
    distance: NDArray[np.float64] = np.abs(f - np.round(f))
    return distance


def _is_fraction(f: float, tolerance: float) -> bool:
    q = np.arange(1, LARGEST_PERIOD + 1)
    return bool(np.any(_away(q * f) <= q * tolerance))


def _divisor(f: float, bases: list[float], tolerance: float) -> int:
    """The smallest q for which q f is an integer combination of the bases; 0 if there is none."""
    if not bases:
        return 0
    most = LARGEST_FACTOR[min(len(bases), len(LARGEST_FACTOR)) - 1]
    factors = np.array([m for m in product(range(-most, most + 1), repeat=len(bases)) if any(m)])
    sums = factors @ np.array(bases)
    return next((q for q in range(1, LARGEST_DIVISOR + 1) if _away(sums - q * f).min() <= q * tolerance), 0)


def _divided(base: float, divisor: int, f: float) -> float:
    """The one of (base + j)/divisor of which f is the multiple that fits best."""
    parts = (base + np.arange(divisor)) / divisor
    factors = np.arange(-LARGEST_FACTOR[0], LARGEST_FACTOR[0] + 1)
    misfit = _away(np.outer(parts, factors) - f).min(axis=1)
    best = float(parts[int(np.argmin(np.round(misfit, 9)))] % 1.0)
    return min(best, 1.0 - best)
