"""As many local maxima of a flow's variable as the 0-1 test needs."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dynamics.block import Array, Block
from dynamics.run_alone import Alone
from dynamics.section import local_maxima
from indicators.sampling import sampling

FEW_MAXIMA = 200  # of a series for the 0-1 test
MORE = 7  # times in all that the search is continued where there are few
NARROW = 0.01  # of the range of the widest variable, below which another is not looked at


def turns(
    moving: Block | Alone, components: NDArray[np.int64], states: Array, steps: int, capacity: int
) -> list[Array]:
    """The first `capacity` local maxima of each lane over `steps` steps, in place, of the variable that ranges most.

    components : (n,) variables to choose from; states : (N, d, LANES), from which their ranges are taken. One orbit
    alone is searched on while it has too few: stiff flows turn seldom in their small steps. Maxima that creep between
    bursts are thinned before the 0-1 test, and if too few are left another variable's are taken.
    """
    ranges = np.ptp(np.nan_to_num(states[:, components, : len(moving.t)]), axis=0)
    found = local_maxima(moving, components[np.argmax(ranges, axis=0)], steps, capacity)
    if isinstance(moving, Block) or _enough(found[0], capacity):
        return found
    first, left = found, MORE
    others = list(_others(components, ranges[:, 0]))
    for n, component in enumerate(others):
        searches = math.ceil(left / (len(others) - n))
        left -= searches
        for _ in range(searches):
            next_ = local_maxima(moving, component, steps, capacity)
            found = [np.concatenate([*found, *next_])[:capacity]]
            if _enough(found[0], capacity):
                return found
        first, found = max(first, found, key=lambda lanes: len(lanes[0])), [np.empty(0)]
    return first


def _others(components: NDArray[np.int64], ranges: Array) -> Iterator[NDArray[np.int64]]:
    """One variable after the other, the widest first and without the narrow ones."""
    for n in np.argsort(-ranges, kind="stable"):
        if ranges[n] >= NARROW * ranges.max() > 0.0:
            yield components[n : n + 1]


def _enough(maxima: Array, capacity: int) -> bool:
    """Whether twice FEW_MAXIMA are left once the series is thinned."""
    if len(maxima) < 2 * FEW_MAXIMA or not np.isfinite(maxima).all():
        return False
    return len(maxima) >= min(2 * FEW_MAXIMA * sampling(maxima).stride, capacity)
