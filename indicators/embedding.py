"""Delay vectors of a scalar series, their nearest neighbours, and the dimension in which none of those is false."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

MOST_DIMENSIONS = 10
FALSE_RATIO = 15.0
FALSE_SIZE = 2.0
FALSE_SHARE = 0.01
REFERENCES = 1000
REPEAT = 1e-9
REPEATED = 0.5
SPARE = 64


def delay_vectors(series: NDArray[np.float64], dimension: int, delay: int) -> NDArray[np.float64]:
    """The vectors (x[i], x[i + delay], ..., x[i + (dimension - 1) delay]) as an (n, dimension) array, oldest first."""
    count = series.size - (dimension - 1) * delay
    return np.stack([series[k * delay : k * delay + count] for k in range(dimension)], axis=1)


def spread_over(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` of the indices 0..count - 1, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def nearest_neighbours(
    points: NDArray[np.float64], references: NDArray[np.int64], theiler: int, repeat: float, norm: float = np.inf
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The nearest neighbour of each reference point and its distance; -1 and infinity where none is found.

    Neighbours within `theiler` in time do not count, nor do repeats, points closer than `repeat`; a point with more
    than 64 repeats may be left without a neighbour.
    """
    tree = cKDTree(points)
    found, apart = np.full(references.size, -1), np.full(references.size, np.inf)
    left = np.arange(references.size)
    most = min(len(points), 2 * theiler + 1 + SPARE)
    count = min(8, most)
    while left.size:
        distance, index = tree.query(points[references[left]], np.arange(1, count + 1), p=norm)
        valid = (np.abs(index - references[left, None]) > theiler) & (distance > repeat)
        has, first = valid.any(axis=1), valid.argmax(axis=1)
        found[left[has]], apart[left[has]] = index[has, first[has]], distance[has, first[has]]
        if count == most:
            break
        left, count = left[~has], min(4 * count, most)
    return found, apart


def repeated_share(points: NDArray[np.float64], theiler: int, repeat: float) -> float:
    """The share of points that come back within `repeat` at a time more than `theiler` away."""
    references = spread_over(len(points), REFERENCES // 5)
    inside = cKDTree(points).query_ball_point(points[references], repeat, p=np.inf)
    again = [np.max(np.abs(np.array(list_) - i)) > theiler for i, list_ in zip(references, inside, strict=True)]
    return float(np.mean(again))


def false_neighbours(series: NDArray[np.float64], dimension: int, delay: int, theiler: int) -> float:
    """The share of nearest neighbours in `dimension` delays that one more delay shows to be false.

    A neighbour at the Euclidean distance R is false if its next coordinate is more than 15 R away, or if the distance
    with that coordinate is more than two standard deviations of the series. 1 if there are no neighbours at all.

    Kennel, Brown & Abarbanel 1992, Phys. Rev. A 45:3403, equations 4 and 5.
    """
    points = delay_vectors(series, dimension + 1, delay)
    references = spread_over(len(points), REFERENCES)
    repeat = REPEAT * float(np.ptp(series))
    found, apart = nearest_neighbours(np.ascontiguousarray(points[:, :-1]), references, theiler, repeat, 2.0)
    has = found >= 0
    if not has.any():
        return 1.0
    step = np.abs(points[references[has], -1] - points[found[has], -1])
    false = (step > FALSE_RATIO * apart[has]) | (np.hypot(apart[has], step) > FALSE_SIZE * series.std())
    return float(np.mean(false))


def embedding_dimension(series: NDArray[np.float64], delay: int, theiler: int, least: int) -> tuple[int, list[float]]:
    """The first dimension up to 10 with under 1 % of false neighbours, and the shares found; 0 if there is none.

    No dimension is tried that would leave fewer than `least` delay vectors.
    """
    shares: list[float] = []
    for dimension in range(1, MOST_DIMENSIONS + 1):
        if dimension > 1 and series.size - dimension * delay < least:
            break
        shares.append(false_neighbours(series, dimension, delay, theiler))
        if shares[-1] < FALSE_SHARE:
            return dimension, shares
    return 0, shares
