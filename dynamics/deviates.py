"""Normal deviates without a state: a number is a function of seed, lane, step and component, and of nothing else.

So a path can be replayed, entered anywhere, and moved in blocks of any size, with the same bits. The generator is
Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011, SC'11, Sec. 3.3), which passes TestU01's BigCrush; its 128 bits become
two uniform numbers and one normal deviate (Box & Muller 1958).
"""

import math
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from dynamics.kernel import kernel

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_SHIFT = np.uint64(11)
_ONE = np.uint64(1)
_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)  # multipliers, and the steps of the key
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
ROUNDS = 10
LARGEST = math.sqrt(2 * 53 * math.log(2))  # 8.57: no deviate is larger in size

_U = types.uint64


@kernel(types.UniTuple(_U, 4)(_U, _U, _U, _U, _U, _U))
def philox(c0, c1, c2, c3, k0, k1):  # type: ignore[no-untyped-def]
    """The four 32-bit words of a counter of four under a key of two, each held in 64 bits."""
    for _ in range(ROUNDS):
        p, q = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (q >> _HALF) ^ c1 ^ k0, q & _LOW, (p >> _HALF) ^ c3 ^ k1, p & _LOW
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@kernel(types.float64(_U, types.int64, types.int64, types.int64))
def normal(seed, lane, step, component):  # type: ignore[no-untyped-def]
    """One standard normal deviate; lane and component below 2^32, step and seed below 2^64."""
    n = _U(step)
    c0, c1, c2, c3 = philox(
        n & _LOW, n >> _HALF, _U(lane) & _LOW, _U(component) & _LOW, _U(seed) & _LOW, _U(seed) >> _HALF
    )
    # 53 bits each; the first in (0, 1], so that its logarithm is finite
    first = (((c0 << _HALF) | c1) >> _SHIFT) + _ONE
    second = ((c2 << _HALF) | c3) >> _SHIFT
    return math.sqrt(-2.0 * math.log(float(first) * 2.0**-53)) * math.cos(2.0 * math.pi * (float(second) * 2.0**-53))


@kernel(types.float64(_U, types.int64, types.int64, types.int64, types.int64))
def summed(seed, lane, begin, count, component):  # type: ignore[no-untyped-def]
    """The sum of the deviates of the steps begin .. begin + count - 1."""
    total = 0.0
    for step in range(begin, begin + count):
        total += normal(seed, lane, step, component)
    return total


@kernel(types.void(_U, types.int64[::1], types.int64, types.float64[:, :, ::1]))
def _fill(seed, lanes, begin, out):  # type: ignore[no-untyped-def]
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            for i in range(out.shape[2]):
                out[n, c, i] = normal(seed, lanes[i], begin + n, c)


def checked_seed(seed: int) -> np.uint64:
    """The seed as 64 bits; ValueError outside 0 .. 2^64 - 1."""
    if not 0 <= seed < 2**64:
        raise ValueError(f"the seed is {seed}; it must be a whole number of at least 0 and below 2**64")
    return np.uint64(seed)


def checked_lanes(lanes: Any) -> NDArray[np.int64]:
    """The numbers of lanes, whole and in 0 .. 2^32 - 1; ValueError otherwise."""
    found = np.ascontiguousarray(lanes)
    if found.ndim != 1 or found.size == 0 or found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= 2**32:
        raise ValueError("lanes must be a list of whole numbers of at least 0 and below 2**32")
    return found.astype(np.int64)


def normals(seed: int, lanes: Any, steps: int, components: int, begin: int = 0) -> NDArray[np.float64]:
    """Standard normal deviates (steps, components, lanes) of the lanes with these numbers, from step `begin` on."""
    numbers = checked_lanes(lanes)
    out = np.empty((steps, components, len(numbers)))
    _fill(checked_seed(seed), numbers, begin, out)
    return out
