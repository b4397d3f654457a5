"""MEGNO: the mean exponential growth factor of nearby orbits, and its slope, on which the verdict rests."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from indicators.estimate import Estimate, without_value
from indicators.lyapunov import checked_growth

MINIMUM = 100  # intervals


def megno(growth: ArrayLike, interval: float, *, continuous: bool) -> tuple[Estimate, Estimate]:
    """The time-averaged MEGNO at the end of a run, and the slope of that average over the run's second half.

    growth : (n,) or (n, lanes), ln of the growth of one deviation over each of n intervals; with lanes, their mean.
    interval : time of one interval. continuous : a flow (weights at the middle of an interval) or a map (at its end).

    Y(t) = (2/t) int_0^t s d ln|w(s)|, for a map (2/N) sum_n n ln(|w_n|/|w_n-1|), and its running mean (Cincotta,
    Giordano & Simo 2003, Physica D 182:151, Eqs. 3 and 22). Since Y = 2 (ln|w(t)| - time average of ln|w|), the mean
    goes to 2 on a Hamiltonian torus (deviations grow like t), to 0 where ln|w| stays bounded (attracting cycles and
    tori of autonomous flows, isochronous oscillators), and like lambda t/2 for an exponent of either sign: its slope is
    lambda/2, whence the verdict uses the slope. Raises ValueError for fewer than 100 intervals or a NaN.
    """
    g = checked_growth(growth, interval)
    g = g[:, None] if g.ndim == 1 else g
    if g.ndim != 2 or len(g) < MINIMUM or g.shape[1] == 0:
        raise ValueError(f"MEGNO needs an array (n,) or (n, lanes) with n >= {MINIMUM}, not {np.shape(growth)}")
    if np.isneginf(g).any():
        nothing = without_value("diverged", "superstable: a deviation vanished, MEGNO is minus infinity")
        return nothing, nothing
    n = len(g)
    time = np.arange(1, n + 1)
    weight = (time - 0.5 if continuous else time)[:, None]
    y = 2.0 * np.cumsum(weight * g, axis=0) / time[:, None]
    mean = np.cumsum(y, axis=0) / time[:, None]
    late = slice(n // 2, n)
    slopes = _slope(time[late] * interval, mean[late])
    thirds = _slope(time[3 * n // 4 :] * interval, mean[3 * n // 4 :])
    wobble = np.ptp(mean[late] - np.outer(time[late] * interval, slopes), axis=0)
    evidence = {"T": n * interval, "lanes": g.shape[1], "last_Y": float(y[-1].mean())}
    return (
        _estimate(mean[-1], wobble, evidence),
        _estimate(slopes, np.abs(slopes - thirds), {"T": n * interval, "lanes": g.shape[1], "from": n // 2 * interval}),
    )


def _slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    centred = x - x.mean()
    return np.asarray(centred @ (y - y.mean(axis=0)) / (centred @ centred))


def _estimate(per_lane: np.ndarray, alone: np.ndarray, evidence: dict[str, object]) -> Estimate:
    """Mean over lanes with Student's interval; a single lane has `alone` as its half-width."""
    lanes = len(per_lane)
    if lanes > 1:
        half = float(student.ppf(0.975, lanes - 1) * per_lane.std(ddof=1) / math.sqrt(lanes))
    else:
        half = float(alone[0])
    return Estimate(float(per_lane.mean()), half, "ok", dict(evidence))
