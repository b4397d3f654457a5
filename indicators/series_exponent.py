"""The largest Lyapunov exponent of a measured series, without equations: how fast do near neighbours separate?"""

from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indicators.correlation_dimension import theiler_window
from indicators.divergence import Curves, Logarithm, divergence, divergence_curves
from indicators.embedding import MOST_DIMENSIONS, REPEAT, REPEATED, delay_vectors, embedding_dimension, repeated_share
from indicators.estimate import Estimate, without_value
from indicators.sampling import SMOOTH_RATIO, oversampling, sampling
from indicators.series import checked_series
from indicators.straight_range import block_error, halves, slope, straight_range

FEWEST_VECTORS = 100
FEWEST_STEPS = 10
STEPS_SHARE, STEPS, STEPS_DELAYS = 10, 500, 100
MARGIN = 1.5
NO_GROWTH = 1.0
ROUNDING = 64.0


def series_exponent(
    x: ArrayLike,
    *,
    interval: float = 1.0,
    dimension: int | None = None,
    delay: int | None = None,
    theiler: int | None = None,
    radius: float | None = None,
    steps: int | None = None,
    logarithm: Logarithm = "of mean",
) -> Estimate:
    """The largest Lyapunov exponent lambda of the motion behind a scalar series, in 1 / (unit of `interval`).

    x : (N,) one observable at equal steps, as free of noise as can be had. interval : time from value to value.
    delay : samples between the coordinates of a delay vector; None: the first minimum of the mutual information of an
    oversampled series (see `sampling`), 1 otherwise. dimension : number of coordinates; None: the first up to 10 with
    under 1 % of false neighbours. theiler : neighbours at most so many samples away do not count; None: see
    `theiler_window`. radius : of the ball, in units of x; None: the smallest in which four fifths of the points have
    a neighbour. steps : length of the curve in samples; None: a tenth of the series, at most 500 or 100 delays.

    For each of up to 4,000 points i, U_i are the delay vectors in a ball around it, in maximum norm, without repeats
    (closer than 1e-9 of the range). With d_ij(k) the distance of the vectors i and j after k samples,
        S(k) = mean_i ln mean_{j in U_i} d_ij(k)        the logarithm "of mean", as in Kantz,
        S(k) = mean_i mean_{j in U_i} ln d_ij(k)        the "mean of" logarithms, as in Rosenstein.
    The first is the default because a neighbour that happens to lie on the stable manifold, or very close, moves a mean
    of logarithms most; where all neighbours separate alike both have the same slope. lambda is the slope of S over
    its straight range: of the ranges that begin at k = dimension * delay, one delay after the vectors have been left,
    or later, end 1.5 below the level of unrelated points, and have slopes in their halves within 10 % of the mean of
    the two, the one of largest rise, which must be 1.

    `error`: half-width at 95 %, the root of the sum of squares of Student's t times the standard error over 8
    successive blocks of points, of twice the difference of the slopes in the halves, which stands for the choice of
    range, and of what one dimension more and the other place of the logarithm would change. For an oversampled series
    what distances across the orbit would change is added to that in full: distance along the orbit does not grow, and
    lowers the slope (Rossler: 0.05 to 0.06 of 0.071). The interval is one for the stretch that was read: of series of
    3,000 values of logistic maps it holds the exponent of the stretch always, that of the map in nine of ten. Status
    `not_converged`: neighbours do not separate by a factor e (value near 0: periodic, quasi-periodic, or a curve too
    short), or the interval holds 0. `undefined`, with the reason: zero distances (a constant series, an orbit that
    repeats itself, values too coarse), neighbours false in every dimension (noise), no straight range.

    Kantz 1994, Phys. Lett. A 185:77, equation 5; Rosenstein, Collins & De Luca 1993, Physica D 65:117.
    """
    if logarithm not in ("of mean", "mean of"):
        raise ValueError(f"logarithm is {logarithm!r}; it must be 'of mean' or 'mean of'")
    for name, width in (("interval", interval), ("radius", radius)):
        if width is not None and not 0.0 < width < np.inf:
            raise ValueError(f"{name} is {width}; it must be positive and finite")
    for name, count, least in (("dimension", dimension, 1), ("delay", delay, 1), ("theiler", theiler, 0)):
        if count is not None and index(count) < least:
            raise ValueError(f"{name} is {count}; it must be at least {least}")
    series = checked_series(x, 2)
    evidence: dict[str, Any] = {"n": series.size, "logarithm": logarithm}
    scale = int(np.frexp(np.max(np.abs(series)))[1])
    series = np.ldexp(series, -scale)  # exact, and no distance overflows
    span = float(np.ptp(series))
    if span <= ROUNDING * np.spacing(np.max(np.abs(series))):
        return without_value("undefined", "zero distances: the series is constant", **evidence)
    _enough(series.size, dimension or 1, delay or 1, theiler or 0, steps)

    if delay is None:
        chosen = sampling(series)
        delay = chosen.stride if chosen.oversampled else 1
    window = theiler_window(series) if theiler is None else theiler
    evidence |= {"delay": delay, "theiler": window}
    widest = dimension or max(1, min(MOST_DIMENSIONS, (series.size - 2 * window) // (2 * delay)))
    if repeated_share(delay_vectors(series, widest, delay), window, REPEAT * span) > REPEATED:
        return without_value("undefined", "zero distances: the orbit repeats itself, in a cycle or at rest", **evidence)
    if dimension is None:
        least = 2 * window + 1 + FEWEST_VECTORS
        dimension, shares = embedding_dimension(series, delay, window, least)
        evidence["false_neighbours"] = shares
        if dimension == 0:
            reason = f"{min(shares):.1%} or more of the neighbours are false in each of {len(shares)} dimensions: noise"
            return without_value("undefined", reason, **evidence)
    if steps is None:
        steps = max(min(series.size // STEPS_SHARE, max(STEPS, STEPS_DELAYS * delay)), dimension * delay + FEWEST_STEPS)
    _enough(series.size, dimension, delay, window, steps)
    evidence |= {"dimension": dimension, "steps": steps}

    size = None if radius is None else float(np.ldexp(radius, -scale))
    curves = divergence_curves(series, dimension, delay, window, steps, size)
    if isinstance(curves, str):
        return without_value("undefined", curves, **evidence)
    evidence |= {
        "radius": float(np.ldexp(curves.near.radius, scale)),
        "points": len(curves.rows[logarithm]),
        "neighbours": curves.near.members.size / curves.near.references.size,
    }
    across = None
    if dimension > 1 and oversampling(series) > SMOOTH_RATIO:
        rows = divergence(series, curves.near, dimension, delay, steps, logarithm == "of mean", across=True)
        rows = rows[np.isfinite(rows).all(axis=1)]
        across = rows.mean(axis=0) if len(rows) else None
    wider = divergence_curves(series, dimension + 1, delay, window, steps, size)
    return _estimate(curves, wider, across, logarithm, dimension * delay, delay, interval, evidence)


def _enough(size: int, dimension: int, delay: int, theiler: int, steps: int | None) -> None:
    """Refuses a series too short for `dimension` + 1 coordinates, and a curve that ends among the delay vectors."""
    least = dimension * delay + FEWEST_STEPS
    length = least if steps is None else index(steps)
    if length < least:
        raise ValueError(
            f"steps is {length}; with dimension {dimension} and delay {delay} the curve must have at least "
            f"dimension * delay + {FEWEST_STEPS} = {least}"
        )
    least = dimension * delay + length + 2 * theiler + 1 + FEWEST_VECTORS
    if size < least:
        raise ValueError(
            f"the series has {size} values; with dimension {dimension}, delay {delay}, Theiler window {theiler} and a "
            f"curve of {length} steps at least dimension * delay + steps + 2 theiler + {1 + FEWEST_VECTORS} = {least} "
            "are needed"
        )


def _estimate(
    curves: Curves,
    wider: Curves | str,
    across: NDArray[np.float64] | None,
    logarithm: Logarithm,
    start: int,
    delay: int,
    interval: float,
    evidence: dict[str, Any],
) -> Estimate:
    """The slope of the curve over its straight range, which begins at step `start` or later, and its error."""
    rows = curves.rows[logarithm]
    mean = rows.mean(axis=0)
    end = mean.size - 1
    top = curves.level[logarithm] - MARGIN
    found = straight_range(mean, start, top)
    if found is None:
        rise = float(np.ptp(mean[start:]))
        evidence["rise"] = rise
        if mean[start] > top:
            reason = "neighbours are as far apart as unrelated points at once: noise, or too few points"
            return without_value("undefined", reason, **evidence)
        if rise >= NO_GROWTH:
            reason = "the divergence curve has no straight range: noise, or too few points"
            return without_value("undefined", reason, **evidence)
        evidence["reason"] = f"neighbours do not separate: the curve stays within {rise:.2g} over {end} steps"
        flat = float(np.hypot(block_error(rows, start, end), 2 * rise / (end - start)))
        return Estimate(float(slope(mean, start, end)) / interval, flat / interval, "not_converged", evidence)
    first, last = found
    value = float(slope(mean, first, last))
    low, high = halves(mean, first, last)
    other = curves.rows["mean of" if logarithm == "of mean" else "of mean"].mean(axis=0)
    parts = {
        "blocks": block_error(rows, first, last),
        "halves": 2 * (low - high),
        "logarithm": value - float(slope(other, first, last)),
    }
    reasons = []
    if isinstance(wider, str):
        reasons.append(wider)
    else:
        more = wider.rows[logarithm].mean(axis=0)
        own = straight_range(more, start + delay, wider.level[logarithm] - MARGIN) or found
        parts["dimension"] = value - float(slope(more, *own))
    error = float(np.sqrt(sum(part * part for part in parts.values())))
    if across is not None:
        parts["across"] = value - float(slope(across, first, last))
        error += abs(parts["across"])
    evidence |= {
        "range": [first * interval, last * interval],
        "rise": float(mean[last] - mean[first]),
        "error_parts": {name: abs(part) / interval for name, part in parts.items()},
    }
    if error >= value:
        reasons.append("the interval holds 0; a longer series is needed")
    if reasons:
        return Estimate(value / interval, error / interval, "not_converged", {"reason": "; ".join(reasons), **evidence})
    return Estimate(value / interval, error / interval, "ok", evidence)
