"""Ordinal patterns of a series as integer codes, and how often each occurs, in one pass over the series."""

from math import factorial

import numpy as np
from numpy.typing import NDArray

from dynamics.kernel import kernel

CHUNK = 2048  # windows at a time: what is compared stays in the first-level cache
MOST_CELLS = 600  # of the table in which several codes are counted at once
MOST_TOGETHER = 8


def codes_of(series: NDArray[np.float64], order: int, delay: int) -> NDArray[np.int32]:
    """The pattern's code of each window of a series that is long enough for one; see `entropy.ordinal_patterns`."""
    codes = np.empty(series.size - (order - 1) * delay, dtype=np.int32)
    _codes(series, order, delay, *_work(order, delay), codes)
    return codes


def counts_of(series: NDArray[np.float64], order: int, delay: int, blocks: int) -> NDArray[np.int64] | None:
    """How often each pattern occurs, (blocks, order!) over equal blocks of windows; None if a value is not finite.

    One more row has the windows that are left over, where there is more than one block.
    """
    patterns = factorial(order)
    length = (series.size - (order - 1) * delay) // blocks
    counts = np.zeros((blocks + (blocks > 1), patterns), dtype=np.int64)
    together = 1
    while patterns ** (together + 1) <= MOST_CELLS and together < MOST_TOGETHER:
        together += 1
    cells = np.empty(patterns**together, dtype=np.int32)
    finite = _counts(series, order, delay, length, together, *_work(order, delay), cells, counts)
    return counts if finite else None


def _work(order: int, delay: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint16]]:
    """Room for a chunk: as long as what it shares with the next, or more, so that little is compared twice."""
    chunk = max(CHUNK, (order - 2) * delay)
    greater = np.empty((order, chunk + (order - 2) * delay), dtype=np.uint8)
    return greater, np.empty(chunk, dtype=np.uint8), np.empty(chunk, dtype=np.uint16)


@kernel("void(f8[::1], i8, i8, i8, i8, u1[:, ::1], u1[::1], u2[::1])")
def _chunk_codes(
    x: NDArray, start: int, size: int, order: int, delay: int, greater: NDArray, digit: NDArray, codes: NDArray
) -> None:
    """Codes of the windows that begin at start..start + size - 1.

    greater[lag] says where a value exceeds the one `lag` places later in a window. Each such comparison is one of
    several windows' and is made once; what is left are sums of bytes, of which a register holds many.
    """
    for lag in range(1, order):
        row = greater[lag]
        early = x[start : start + size + (order - 1 - lag) * delay]
        late = x[start + lag * delay : start + size + (order - 1) * delay]
        for i in range(early.size):
            row[i] = early[i] > late[i]
    first = greater[1]
    for i in range(size):
        codes[i] = first[i]
    weight = 1
    for j in range(2, order):
        weight *= j
        digit_weight = np.uint16(weight)
        first = greater[j]
        second = greater[j - 1][delay : delay + size]
        for i in range(size):
            digit[i] = first[i] + second[i]
        for k in range(2, j):
            part = greater[j - k][k * delay : k * delay + size]
            for i in range(size):
                digit[i] += part[i]
        for i in range(size):
            codes[i] += digit_weight * digit[i]


@kernel("void(f8[::1], i8, i8, u1[:, ::1], u1[::1], u2[::1], i4[::1])")
def _codes(
    x: NDArray, order: int, delay: int, greater: NDArray, digit: NDArray, chunk: NDArray, codes: NDArray
) -> None:
    for start in range(0, codes.size, chunk.size):
        size = min(chunk.size, codes.size - start)
        _chunk_codes(x, start, size, order, delay, greater, digit, chunk)
        for i in range(size):
            codes[start + i] = chunk[i]


@kernel("b1(f8[::1])")
def _finite(x: NDArray) -> bool:
    """Without a branch, so that it is vectorised."""
    odd = False
    for i in range(x.size):
        odd |= x[i] - x[i] != 0.0
    return not odd


@kernel("void(u2[::1], i8, i8, i4[::1], i8[::1])")
def _tally(codes: NDArray, patterns: int, together: int, cells: NDArray, counts: NDArray) -> None:
    """Count a chunk's codes in cells, `together` of them as one number; what does not divide goes to counts at once.

    One increment after another is what takes time; so they are made fewer, as far as the table stays small.
    """
    part = codes.size // together
    tuples = codes[:part]
    weight = 1
    for g in range(1, together):
        weight *= patterns
        place = np.uint16(weight)
        others = codes[g * part : (g + 1) * part]
        for i in range(part):
            tuples[i] += place * others[i]
    for i in range(part):
        cells[tuples[i]] += 1
    for i in range(together * part, codes.size):
        counts[codes[i]] += 1


@kernel("b1(f8[::1], i8, i8, i8, i8, u1[:, ::1], u1[::1], u2[::1], i4[::1], i8[:, ::1])")
def _counts(
    x: NDArray,
    order: int,
    delay: int,
    length: int,
    together: int,
    greater: NDArray,
    digit: NDArray,
    codes: NDArray,
    cells: NDArray,
    counts: NDArray,
) -> bool:
    windows = x.size - (order - 1) * delay
    patterns = counts.shape[1]
    finite = _finite(x[windows:])
    for b in range(counts.shape[0]):
        stop = min((b + 1) * length, windows)
        cells[:] = 0
        for start in range(b * length, stop, codes.size):
            size = min(codes.size, stop - start)
            finite &= _finite(x[start : start + size])
            _chunk_codes(x, start, size, order, delay, greater, digit, codes)
            _tally(codes[:size], patterns, together, cells, counts[b])
        for cell in range(cells.size):
            code = cell
            if cells[cell] > 0:
                for _ in range(together):
                    counts[b, code % patterns] += cells[cell]
                    code //= patterns
    return finite
