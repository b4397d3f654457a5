"""The correlation sum: how many pairs of points are closer than each of a ladder of radii."""

import numpy as np
from numpy.typing import NDArray

from dynamics.kernel import kernel

OCTAVES = 36
STEPS = 4
MANTISSA_SHIFT = 50  # keeps the two leading bits of a double's mantissa: four steps per octave
BOTTOM = (1023 - OCTAVES) * STEPS
RADII = np.array([2.0 ** (k // STEPS) * (1 + k % STEPS / STEPS) for k in range(-OCTAVES * STEPS, 1)])
BLOCKS = 8
REFERENCES = 300
SAMPLE = 20_000
LARGEST_SHARE = 0.1
ROUNDING = 64.0
SMALLEST_RANGE = 1e-9


def lengths_of(
    points: NDArray[np.float64], circle: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points (N, d') in units of the range of each component, an angle of its circumference, and circumferences.

    Components whose range is rounding (64 ulp of the largest value, or 1e-9 of the largest range) are left out.
    """
    where = np.where(circle > 0.0, circle, 1.0)
    states = np.where(circle > 0.0, np.mod(points, where) % where, points)
    turned = np.where(circle > 0.0, np.mod(points - points[0] + where / 2, where), points)
    extent = np.minimum(np.ptp(states, axis=0), np.ptp(turned, axis=0))
    rounding = ROUNDING * np.spacing(np.maximum(np.abs(points).max(axis=0), circle))
    moves = (extent > rounding) & (extent > SMALLEST_RANGE * extent.max())
    unit = np.where(circle > 0.0, circle, np.where(extent > 0.0, extent, 1.0))
    scaled = ((states - np.where(circle > 0.0, 0.0, states.min(axis=0))) / unit)[:, moves]
    return np.ascontiguousarray(scaled), np.where(circle > 0.0, 1.0, 0.0)[moves]


def pair_counts(
    points: NDArray[np.float64], circle: NDArray[np.float64], window: int, most_pairs: float
) -> tuple[NDArray[np.int64], float]:
    """Pairs closer than each of RADII, by the blocks of their points, and the radius up to which they are counted.

    points : (N, d) with ranges of about 1; circle : (d,) circumference 1, or 0 for a line. counts[a, b, k] is the
    number of pairs i, j with abs(i - j) > window, i and j in the a-th and b-th of eight successive blocks (in either
    order), whose distance in maximum norm is below RADII[k]. They are complete up to the returned radius, the
    largest (at most 1/4 on circles) for which a sample of the points promises at most `most_pairs` pairs and a tenth
    of all.
    """
    n, d = points.shape
    reach = _reach(points, circle, most_pairs)
    by_range = np.argsort(-np.ptp(points, axis=0), kind="stable")
    points, circle = points[:, by_range], circle[by_range]
    strips = max(1, min(n, int(1.0 / reach))) if d > 1 else 1  # wider than the reach where points all but coincide
    strip = np.minimum((points[:, 1] * strips).astype(np.int64), strips - 1) if d > 1 else np.zeros(n, dtype=np.int64)
    index = np.arange(n)
    if circle[0] > 0.0:  # ghosts beyond both ends of the circle
        low, high = np.flatnonzero(points[:, 0] < reach), np.flatnonzero(points[:, 0] > 1.0 - reach)
        shift = np.zeros((low.size + high.size, d))
        shift[:, 0] = np.repeat([1.0, -1.0], [low.size, high.size])
        index = np.concatenate([index, low, high])
        points = np.concatenate([points, points[index[n:]] + shift])
        strip = strip[index]
    order = np.lexsort((points[:, 0], strip))
    bounds = np.searchsorted(strip[order], np.arange(strips + 1))
    counts = np.zeros((BLOCKS, BLOCKS, RADII.size + 1), dtype=np.int64)
    _pair_counts(
        np.ascontiguousarray(points[order]),
        circle.copy(),
        index[order],
        order < n,
        index[order] * BLOCKS // n,
        bounds,
        window,
        reach,
        counts,
    )
    return np.cumsum(counts, axis=2)[:, :, :-1], reach


def _reach(points: NDArray[np.float64], circle: NDArray[np.float64], most_pairs: float) -> float:
    n = len(points)
    counts = np.zeros(RADII.size + 1, dtype=np.int64)
    _sample(points, circle, max(1, n // REFERENCES), max(1, n // SAMPLE), counts)
    share = min(LARGEST_SHARE, most_pairs / (n * (n - 1) / 2))
    closer = np.cumsum(counts)[:-1]
    last = int(np.searchsorted(closer, share * counts.sum(), side="right")) - 1
    return min(float(RADII[max(1, last)]), 0.25 if circle.any() else 1.0)


@kernel("void(f8[:, ::1], f8[::1], i8, i8, i8[::1])")
def _sample(points: NDArray, circle: NDArray, reference_step: int, step: int, counts: NDArray) -> None:
    """Counts of the distances of every reference_step-th point to every step-th, as `_pair_counts` has them."""
    n, d = points.shape
    top = counts.size - 1
    for i in range(0, n, reference_step):
        for j in range(0, n, step):
            distance = 0.0
            for c in range(d):
                gap = abs(points[j, c] - points[i, c])
                if circle[c] > 0.0:
                    gap = min(gap, circle[c] - gap)
                distance = max(distance, gap)
            cell = int(np.float64(distance).view(np.int64) >> MANTISSA_SHIFT) - BOTTOM
            counts[min(max(cell + 1, 0), top)] += 1


@kernel("void(f8[:, ::1], f8[::1], i8[::1], b1[::1], i8[::1], i8[::1], i8, f8, i8[:, :, ::1])")
def _pair_counts(
    points: NDArray,
    circle: NDArray,
    when: NDArray,
    real: NDArray,
    block: NDArray,
    bounds: NDArray,
    window: int,
    reach: float,
    counts: NDArray,
) -> None:
    """Points are sorted by strip of component 1, within it by component 0; a pair lies in one strip or in two next."""
    d = points.shape[1]
    strips = bounds.size - 1
    top = counts.shape[2] - 1
    around = d > 1 and circle[1] > 0.0
    for s in range(strips):
        for step in range(2):
            t = s + step
            if t == strips:
                if not around:
                    break
                t = 0
            start = bounds[t]
            for i in range(bounds[s], bounds[s + 1]):
                if not real[i]:
                    continue
                if step == 0:
                    start = i + 1
                else:
                    while start < bounds[t + 1] and points[start, 0] <= points[i, 0] - reach:
                        start += 1
                for j in range(start, bounds[t + 1]):
                    if points[j, 0] - points[i, 0] >= reach:
                        break
                    distance = abs(points[j, 0] - points[i, 0])
                    for c in range(1, d):
                        gap = abs(points[j, c] - points[i, c])
                        if circle[c] > 0.0:
                            gap = min(gap, circle[c] - gap)
                        distance = max(distance, gap)
                    if distance < reach and abs(when[i] - when[j]) > window:
                        cell = (np.float64(distance).view(np.int64) >> MANTISSA_SHIFT) - BOTTOM
                        counts[block[i], block[j], min(max(cell + 1, 0), top)] += 1
