"""The straight range of a divergence curve, its slope, and what is uncertain about that."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from indicators.embedding import spread_over

LEAST_RISE = 1.0
BEND = 0.1
ENDS = 48
LEAST_STEPS = 4
BLOCKS = 8


def slope(curve: NDArray[np.float64], first: int, last: int) -> NDArray[np.float64]:
    """Least-squares slope, per step, of curves (..., k) over the steps first..last."""
    time = np.arange(last - first + 1) - (last - first) / 2
    fitted: NDArray[np.float64] = curve[..., first : last + 1] @ time / (time @ time)
    return fitted


def halves(curve: NDArray[np.float64], first: int, last: int) -> tuple[float, float]:
    """The slopes over the two halves of a range."""
    middle = (first + last) // 2
    return float(slope(curve, first, middle)), float(slope(curve, middle, last))


def straight_range(curve: NDArray[np.float64], start: int, top: float) -> tuple[int, int] | None:
    """The first and last step of the range of largest rise in which the curve is straight, or None.

    It begins at `start` or later, ends before the curve first exceeds `top`, has at least five points and rises by at
    least a factor e in distance, and the slopes over its two halves are within 10 % of their mean. Where there are more
    than 48 steps its ends are sought on 48 of them.
    """
    above = np.flatnonzero(curve[start:] > top)
    stop = start + int(above[0]) - 1 if above.size else curve.size - 1
    ends = start + spread_over(max(stop - start + 1, 1), ENDS)
    best, rise = None, 0.0
    for a in ends:
        for b in ends[ends >= a + LEAST_STEPS]:
            rate = float(slope(curve, a, b))
            if rate * (b - a) < max(LEAST_RISE, rise):
                continue
            low, high = halves(curve, a, b)
            if abs(low - high) <= BEND * abs(low + high):
                best, rise = (int(a), int(b)), rate * (b - a)
    return best


def block_error(rows: NDArray[np.float64], first: int, last: int) -> float:
    """Half-width at 95 % of the slope of the mean of the rows, from the slopes of 8 successive blocks of rows."""
    slopes = [float(slope(block.mean(axis=0), first, last)) for block in np.array_split(rows, BLOCKS)]
    return float(stdtrit(BLOCKS - 1, 0.975) * np.std(slopes, ddof=1) / np.sqrt(BLOCKS))
