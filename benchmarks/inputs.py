"""What both sides of a comparison are given, from NumPy alone, so that it is the same to the bit."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@cache
def logistic(n: int, r: float = 3.97) -> Array:
    """n values of the logistic map after 1,000."""
    out = np.empty(n)
    x = 0.4
    for i in range(-1000, n):
        x = r * x * (1.0 - x)
        if i >= 0:
            out[i] = x
    return out


def centred(n: int) -> Array:
    """The same with mean 0 and variance 1, as the displacement of the 0-1 test wants it."""
    series = logistic(n)
    centred_series: Array = (series - series.mean()) / series.std()
    return centred_series


@cache
def henon(n: int) -> Array:
    """n values of x of the Hénon map at a = 1.4, b = 0.3, after 1,000."""
    out = np.empty(n)
    x = y = 0.1
    for i in range(-1000, n):
        x, y = 1.0 - 1.4 * x * x + y, 0.3 * x
        if i >= 0:
            out[i] = x
    return out


def frequencies(n: int) -> Array:
    """The frequencies c that `zero_one_k` draws by default."""
    return np.random.default_rng(0).uniform(np.pi / 5, 4 * np.pi / 5, n)


def grid(lo: float, hi: float, points: int) -> Array:
    return np.linspace(lo, hi, points)


def named(spectrum: Any) -> dict[str, float]:
    """The exponents that a table shows: the first, and the last if there are more."""
    shown = np.atleast_1d(spectrum)
    return {"λ1": shown[0]} | ({f"λ{shown.size}": shown[-1]} if shown.size > 1 else {})
