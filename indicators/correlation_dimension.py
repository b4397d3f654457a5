"""The correlation dimension: how the share of close pairs of points falls with the distance that counts as close."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from indicators.correlation_sum import BLOCKS, RADII, lengths_of, pair_counts
from indicators.decay import autocorrelation
from indicators.estimate import Estimate, without_value
from indicators.points import checked_circumference, checked_points

FEWEST_POINTS = 200
FEWEST_PAIRS = 1000
MOST_PAIRS = 2e8
WINDOWS = ((4, 1.0), (8, 2.0))  # half-width of the local slope in radii, and the fewest decades of a range
TOLERANCE = 0.05
PLATEAU = 0.05
DRIFT = 0.03
COINCIDENT = 10
RETURN = 1e-9
THEILER_TIMES = 3
LONGEST_THEILER = 20


def correlation_dimension(
    points: ArrayLike, *, theiler: int | None = None, circumference: ArrayLike | None = None
) -> Estimate:
    """The correlation dimension D_2 = lim ln C(r) / ln r of the set that the points (N, d) lie on, r -> 0.

    points : (N, d) states in time order, or (N,), N >= 200. A flow should be sampled at steps in no simple ratio to
    its periods: a cycle sampled at a rational fraction of its period is a finite set. theiler : pairs with
    abs(i - j) <= theiler do not count; None: see `theiler_window`. circumference : (d,), 0 for a component on a line.

    C(r) is the share of pairs closer than r in maximum norm, each component in units of its range (an angle of its
    circumference). Radii are 2^-k {1, 5/4, 3/2, 7/4}, up to the one where 2e8 pairs, or a tenth of them all, are
    closer. The local slope at a radius is the least-squares slope of ln C against ln r over the two octaves around it,
    which need 1,000 pairs at their lower end. The fitted range is the longest one, at least a decade, where all local
    slopes are within 5 % (or 0.05) of their mean; if there is none, as on sets with wide gaps, one of two decades with
    slopes over four octaves. Slopes below 0.05 are no scaling. D_2 is the slope over the range.

    `error`: half-width at 95 %, the root of the sum of squares of Student's t times the jackknife over eight successive
    blocks of the points, and twice the difference of the slopes over the two halves of the range, which stands for
    its choice and for a slope that still moves. Status `not_converged`: the halves differ by more than 3 % (smaller
    radii, and so more points, are needed; with the singular density of the logistic map at r = 4 the slope is
    1 - 1/(ln(1/r) + const), 0.93 where 1e5 points can see it). `undefined`, with the reason: no range (too few points
    for the dimension), points that coincide (a collapsed orbit, a coarse quantisation). A point, and a cycle that
    repeats within 1e-9 of the range, have dimension 0 exactly.

    Grassberger & Procaccia 1983, Physica D 9:189; Theiler 1986, Phys. Rev. A 34:2427.
    """
    states = checked_points(points, FEWEST_POINTS)
    circle = checked_circumference(circumference, states.shape[1])
    scaled, circle = lengths_of(states, circle)
    if scaled.shape[1] == 0:
        return Estimate(0.0, 0.0, "ok", {"note": "a single point", "n": len(states)})
    period = _period(scaled, circle)
    if period:
        return Estimate(0.0, 0.0, "ok", {"note": f"a cycle of {period} points", "period": period, "n": len(states)})
    window = theiler_window(scaled, circle) if theiler is None else theiler
    if not 0 <= window <= len(scaled) // 2:
        raise ValueError(f"theiler is {window}; for {len(scaled)} points it must be in 0..{len(scaled) // 2}")
    counts, reach = pair_counts(scaled, circle, window, MOST_PAIRS)
    total = counts.sum(axis=(0, 1))
    evidence: dict[str, Any] = {"n": len(scaled), "theiler": window, "components": scaled.shape[1]}
    usable = np.flatnonzero((total >= max(FEWEST_PAIRS, COINCIDENT * total[0])) & (reach >= RADII))
    if total[0] >= FEWEST_PAIRS:
        evidence["coincident_pairs"] = int(total[0])
    if usable.size == 0:
        reason = f"{total[0]} pairs of points coincide; the orbit has collapsed, or the values are too coarse"
        return without_value(
            "undefined", reason if total[0] else "too few pairs are close; pass more points", **evidence
        )
    lnr, lnc = np.log(RADII[usable]), np.log(total[usable])
    for steps, fewest_decades in WINDOWS:
        slopes = _local_slopes(lnr, lnc, steps)
        first, last = _longest_constant(lnr, slopes, steps)
        decades = (lnr[last] - lnr[first]) / np.log(10)
        if decades >= fewest_decades:
            break
    else:
        reason = "the slope is constant nowhere over a decade, nor over two in wider windows; pass more points"
        return without_value("undefined", reason, **evidence)
    inside = slice(first + steps, last + 1 - steps)
    value, low, high = _three_slopes(lnr[first : last + 1], lnc[first : last + 1])
    standard_error = _jackknife(counts, lnr[first : last + 1], usable[first : last + 1])
    evidence |= {
        "range": [float(RADII[usable[first]]), float(RADII[usable[last]])],
        "decades": float(decades),
        "pairs": [int(total[usable[first]]), int(total[usable[last]])],
        "slope_scatter": float(np.std(slopes[inside])),
        "slope_lower_half": low,
        "slope_upper_half": high,
        "jackknife": standard_error,
    }
    error = float(np.hypot(stdtrit(BLOCKS - 1, 0.975) * standard_error, 2 * (low - high)))
    if abs(low - high) > DRIFT * max(1.0, value):
        evidence["reason"] = f"the slope still changes as the radius shrinks, from {high:.3f} to {low:.3f}"
        return Estimate(value, error, "not_converged", evidence)
    return Estimate(value, error, "ok", evidence)


def theiler_window(points: ArrayLike, circumference: ArrayLike | None = None) -> int:
    """Three times the first lag where the autocorrelation of every component is below 1/e, at most N/20.

    points : (N, d); of an angle the cosine and the sine are taken. Pairs closer in time than that are close because
    the orbit has not moved on. Theiler 1986 asks for a window of the order of the autocorrelation time.
    """
    states = checked_points(points, 2)
    circle = checked_circumference(circumference, states.shape[1])
    longest = max(1, len(states) // LONGEST_THEILER)
    falls = [1]
    for component, length in zip(states.T, circle, strict=True):
        angle = 2 * np.pi * component / length if length else component
        for series in (np.cos(angle), np.sin(angle)) if length else (component,):
            low = autocorrelation(series, min(longest, len(series) - 1)) < np.exp(-1.0)
            falls.append(int(np.argmax(low)) if low.any() else longest)
    return min(THEILER_TIMES * max(falls), longest)


def _period(points: NDArray[np.float64], circle: NDArray[np.float64]) -> int:
    """The smallest p <= N/4 with point i + p equal to point i within 1e-9 for every i; 0 if there is none."""
    at_first = np.flatnonzero(_apart(points[1 : len(points) // 4 + 1], points[0], circle) <= RETURN) + 1
    return next((int(p) for p in at_first[:100] if _apart(points[p:], points[:-p], circle).max() <= RETURN), 0)


def _apart(a: NDArray[np.float64], b: NDArray[np.float64], circle: NDArray[np.float64]) -> NDArray[np.float64]:
    gaps = np.abs(a - b)
    gaps = np.where(circle > 0.0, np.minimum(gaps, circle - gaps), gaps)
    distance: NDArray[np.float64] = gaps.max(axis=1)
    return distance


def _slope(lnr: NDArray[np.float64], lnc: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least-squares slope of lnc (..., k) against lnr (k,)."""
    centred = lnr - lnr.mean()
    slope: NDArray[np.float64] = lnc @ centred / (centred @ centred)
    return slope


def _local_slopes(lnr: NDArray[np.float64], lnc: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """Slopes over windows of `steps` radii on either side; NaN where the window does not fit, and on plateaus."""
    slopes = np.full(lnr.size, np.nan)
    for k in range(steps, lnr.size - steps):
        window = slice(k - steps, k + steps + 1)
        slopes[k] = _slope(lnr[window], lnc[window])
    slopes[slopes < PLATEAU] = np.nan
    return slopes


def _longest_constant(lnr: NDArray[np.float64], slopes: NDArray[np.float64], steps: int) -> tuple[int, int]:
    """First and last radius of the longest range of constant slope, windows included; the lower of equals."""
    best, length = (0, 0), 0.0
    for a in range(steps, slopes.size - steps):
        for b in range(slopes.size - 1 - steps, a - 1, -1):
            span = float(lnr[b + steps] - lnr[a - steps])
            if span <= length + 1e-9:
                break
            mean = slopes[a : b + 1].mean()
            if np.max(np.abs(slopes[a : b + 1] - mean)) <= TOLERANCE * max(1.0, mean):
                best, length = (a - steps, b + steps), span
                break
    return best


def _three_slopes(lnr: NDArray[np.float64], lnc: NDArray[np.float64]) -> tuple[float, float, float]:
    """Slopes over the range, over its lower and over its upper half."""
    middle = lnr.size // 2
    parts = slice(None), slice(0, middle + 1), slice(middle, None)
    whole, low, high = (float(_slope(lnr[part], lnc[part])) for part in parts)
    return whole, low, high


def _jackknife(counts: NDArray[np.int64], lnr: NDArray[np.float64], rows: NDArray[np.int64]) -> float:
    """Standard error of the slope, leaving out one block of points after another."""
    slopes = np.empty(BLOCKS)
    for b in range(BLOCKS):
        others = np.arange(BLOCKS) != b
        kept = counts[np.ix_(others, others, rows)].sum(axis=(0, 1))
        slopes[b] = _slope(lnr, np.log(np.maximum(kept, 1)))
    return float(np.sqrt((BLOCKS - 1) * slopes.var()))
