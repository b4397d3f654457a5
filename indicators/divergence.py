"""How far neighbours in delay space are apart as time goes on: the divergence curves of Kantz and of Rosenstein."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from dynamics.kernel import kernel
from indicators.embedding import REPEAT, REPEATED, delay_vectors, nearest_neighbours, repeated_share, spread_over

REFERENCES = 4000
MOST_NEIGHBOURS = 256
WITH_NEIGHBOUR = 0.8
UNRELATED = 300
FEWEST_POINTS = 50
COINCIDENT = 0.01

Logarithm = Literal["of mean", "mean of"]


@dataclass(frozen=True)
class Neighbourhoods:
    """Reference points of a delay space and, for each, its neighbours: members[starts[r]:starts[r + 1]]."""

    references: NDArray[np.int64]
    starts: NDArray[np.int64]
    members: NDArray[np.int64]
    radius: float


def neighbourhoods(
    series: NDArray[np.float64], dimension: int, delay: int, theiler: int, steps: int, radius: float | None = None
) -> Neighbourhoods:
    """The neighbours, in a ball of maximum norm, of up to 4,000 evenly spread points that have `steps` steps ahead.

    radius : None takes the smallest one at which four fifths of the points have a neighbour. Neighbours within
    `theiler` in time and repeats, closer than 1e-9 of the range, do not count; points without neighbours are left out.
    Of more than 256 neighbours so many are taken, evenly spread in time: a motion that comes to rest has thousands.
    """
    points = delay_vectors(series, dimension, delay)
    points = points[: len(points) - steps]
    repeat = REPEAT * float(np.ptp(series))
    references = spread_over(len(points), REFERENCES)
    if radius is None:
        _, apart = nearest_neighbours(points, references, theiler, repeat)
        radius = float(np.quantile(apart, WITH_NEIGHBOUR, method="higher"))
    if not np.isfinite(radius):
        return Neighbourhoods(references[:0], np.zeros(1, np.int64), references[:0], radius)
    tree = cKDTree(points)
    lists = []
    for i in references:
        index = np.array(tree.query_ball_point(points[i], radius, p=np.inf, return_sorted=True), dtype=np.int64)
        index = index[np.abs(index - i) > theiler]
        index = index[np.max(np.abs(points[index] - points[i]), axis=1) > repeat]
        lists.append(index[spread_over(index.size, MOST_NEIGHBOURS)] if index.size else index)
    sizes = np.array([each.size for each in lists])
    starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
    return Neighbourhoods(references[sizes > 0], starts, np.concatenate(lists), radius)


@kernel("void(f8[::1], i8[::1], i8[::1], i8[::1], i8, i8, b1, b1, f8[:, ::1])")
def _divergence(
    x: NDArray,
    references: NDArray,
    starts: NDArray,
    members: NDArray,
    dimension: int,
    delay: int,
    of_mean: bool,
    across: bool,
    out: NDArray,
) -> None:
    """Of the difference d of two vectors, d^2 - (d v)^2 / v^2 is left across the sum v of their two velocities."""
    last = x.size - 1
    for r in range(references.size):
        out[r, :] = 0.0
        for q in range(starts[r], starts[r + 1]):
            i = references[r]
            j = members[q]
            for k in range(out.shape[1]):
                apart = 0.0
                square = 0.0
                along = 0.0
                speed = 0.0
                for e in range(dimension):
                    a = i + k + e * delay
                    b = j + k + e * delay
                    gap = x[a] - x[b]
                    apart = max(apart, abs(gap))
                    if across:
                        v = x[min(a + 1, last)] - x[max(a - 1, 0)] + x[min(b + 1, last)] - x[max(b - 1, 0)]
                        square += gap * gap
                        along += gap * v
                        speed += v * v
                if across:
                    apart = np.sqrt(max(0.0, square - along * along / speed if speed > 0.0 else square))
                out[r, k] += apart if of_mean else np.log(apart)
        count = starts[r + 1] - starts[r]
        for k in range(out.shape[1]):
            out[r, k] = np.log(out[r, k] / count) if of_mean else out[r, k] / count


def divergence(
    series: NDArray[np.float64],
    near: Neighbourhoods,
    dimension: int,
    delay: int,
    steps: int,
    of_mean: bool,
    across: bool = False,
) -> NDArray[np.float64]:
    """A (references, steps + 1) array: the logarithm of the distance to the neighbours after 0..steps samples.

    The distance is that of the delay vectors in maximum norm; `across`: the Euclidean one across their mean direction
    of motion, for samples of a smooth curve, since a distance along the orbit does not grow. of_mean: the logarithm of
    its mean over the neighbours, else the mean of its logarithm; minus infinity where that is of zero.
    """
    out = np.empty((near.references.size, steps + 1))
    _divergence(series, near.references, near.starts, near.members, dimension, delay, of_mean, across, out)
    return out


def saturation(points: NDArray[np.float64], of_mean: bool) -> float:
    """The level that the divergence curve ends on: the mean logarithm of the distance of points that are unrelated."""
    some = points[spread_over(len(points), UNRELATED)]
    apart = np.max(np.abs(some[:, None] - some), axis=2)
    apart = apart[~np.eye(len(some), dtype=bool)].reshape(len(some), -1)
    if of_mean:
        return float(np.mean(np.log(apart.mean(axis=1))))
    return float(np.mean(np.log(apart[apart > 0.0])))


@dataclass(frozen=True)
class Curves:
    """One row per point with the logarithms of its neighbours' distances, and the level of unrelated points."""

    rows: dict[str, NDArray[np.float64]]
    level: dict[str, float]
    near: Neighbourhoods


def divergence_curves(
    series: NDArray[np.float64], dimension: int, delay: int, theiler: int, steps: int, radius: float | None
) -> Curves | str:
    """The divergence curves of all points that have neighbours, or the reason why there are none."""
    points = delay_vectors(series, dimension, delay)
    if repeated_share(points, theiler, REPEAT * float(np.ptp(series))) > REPEATED:
        return (
            f"zero distances: over half of the points repeat others in dimension {dimension}, the values are too coarse"
        )
    near = neighbourhoods(series, dimension, delay, theiler, steps, radius)
    if near.references.size < FEWEST_POINTS:
        return f"{near.references.size} points have neighbours in a ball of dimension {dimension}, {FEWEST_POINTS} must"
    mean_of = divergence(series, near, dimension, delay, steps, False)
    positive = np.isfinite(mean_of).all(axis=1)
    if np.mean(positive) < 1 - COINCIDENT:
        return f"zero distances: {1 - np.mean(positive):.1%} of the points have neighbours that merge with them"
    of_mean = divergence(series, near, dimension, delay, steps, True)
    return Curves(
        {"of mean": of_mean[positive], "mean of": mean_of[positive]},
        {"of mean": saturation(points, True), "mean of": saturation(points, False)},
        near,
    )
