"""Lyapunov exponents from the logarithmic growth of Gram-Schmidt deviations, with an interval that can be believed."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from indicators.estimate import Estimate, without_value

LEVEL = 0.95  # of the reported half-width
VERDICT_LEVEL = 0.999  # of the half-width that decides a sign
BATCHES_ALONE, BATCHES_PER_LANE = 32, 8
CONVERGED = 0.02  # largest half-width relative to the largest exponent that still counts as converged


def lyapunov_spectrum(growth: ArrayLike, interval: float, *, defect: float = 0.0) -> Estimate:
    """Lyapunov exponents (nats per unit time or per iterate), largest first.

    growth : (n, k) or (n, k, lanes), ln of the growth of the k Gram-Schmidt directions over each of n intervals; lanes
        are independent runs on the same invariant set and are pooled.
    interval : time of one interval (1 for a map whose growth is recorded at every iterate).
    defect : by how much the integrator's errors are known to change a rate, per unit time; every half-width has it.

    The exponent is the mean rate (Benettin, Galgani, Giorgilli & Strelcyn 1980, Meccanica 15:9, Eq. 11). Its half-width
    is the largest of three: Student's interval from batch means; the range of ln|w| about its trend line divided by T,
    which bounds the wobble of a bounded quantity (limit cycles, tori); |lambda(T) - lambda(T/2)|, which sees drift. No
    length of run shows what the step did to all of it alike; so the defect is added.
    `error` is at 95 %; `evidence["error_999"]` is the one for verdicts. A superstable orbit's exponent is minus
    infinity: status `diverged`. Status `not_converged` where the half-width exceeds 2 % of the largest exponent.
    Raises ValueError for an empty run or a NaN in it.
    """
    g = _shaped(checked_growth(growth, interval))
    n, _, lanes = g.shape
    total = n * interval
    if np.isneginf(g).any():
        return without_value("diverged", "superstable: a deviation vanished, the exponent is minus infinity", T=total)
    rates = g.mean(axis=(0, 2)) / interval
    order = np.argsort(-rates, kind="stable")
    g, rates = g[:, order], rates[order]
    curve = np.cumsum(g.mean(axis=2), axis=0)  # ln|w| of the pooled run
    spread, batches = _batch_spread(g, interval)
    trend = _trend_range(curve) / total
    halves = np.abs(rates - curve[max(n // 2, 1) - 1] / (max(n // 2, 1) * interval))
    error, error_999 = (
        np.maximum.reduce([spread * student.ppf(0.5 + level / 2, batches - 1), trend, halves]) + defect
        for level in (LEVEL, VERDICT_LEVEL)
    )
    largest = float(np.abs(rates).max())
    resolution = 3 * math.log(max(total, math.e)) / total  # neutral directions grow like a power of t: ln T / T
    status = "ok" if error.max() <= max(CONVERGED * largest, resolution) else "not_converged"
    evidence: dict[str, Any] = {
        "error_999": error_999.tolist(),
        "batch_means": (spread * student.ppf(0.5 + LEVEL / 2, batches - 1)).tolist(),
        "range_over_T": trend.tolist(),
        "halves": halves.tolist(),
        "defect": defect,
        "T": total,
        "lanes": lanes,
        "batches": batches,
    }
    return Estimate(rates.tolist(), error.tolist(), status, evidence)  # type: ignore[arg-type]


def reaching_zero(spectrum: Estimate) -> Estimate:
    """A spectrum whose intervals reach 0 wherever an exponent is at most ln T/T in size.

    Neutral deviations of centres and Hamiltonian orbits grow like t, at a mean rate of ln T/T over the time T, whose
    scatter shrinks as fast: no interval from the scatter alone tells this rate from a true one.
    """
    if spectrum.value is None or spectrum.error is None:
        return spectrum
    duration = max(float(spectrum.evidence["T"]), math.e)
    size = np.abs(np.atleast_1d(spectrum.value))
    least = np.where(size <= math.log(duration) / duration, size, 0.0)
    error, error_999 = (
        np.maximum(np.atleast_1d(half), least).tolist() for half in (spectrum.error, spectrum.evidence["error_999"])
    )
    return Estimate(spectrum.value, error, spectrum.status, spectrum.evidence | {"error_999": error_999})


def largest_exponent(spectrum: Estimate) -> Estimate:
    """The largest exponent of a spectrum, as an estimate of its own."""
    if spectrum.value is None or spectrum.error is None:
        return spectrum
    values, errors = np.atleast_1d(spectrum.value), np.atleast_1d(spectrum.error)
    evidence = {
        key: value[0] if isinstance(value, list) else value for key, value in spectrum.evidence.items()
    }  # fmt: skip
    return Estimate(float(values[0]), float(errors[0]), spectrum.status, evidence)


def lyapunov_max(growth: ArrayLike, interval: float, *, defect: float = 0.0) -> Estimate:
    """The largest Lyapunov exponent from the growth of one deviation, (n,) or (n, lanes); see lyapunov_spectrum."""
    g = checked_growth(growth, interval)
    if g.ndim not in (1, 2):
        raise ValueError(f"the growth of one deviation is an array (n,) or (n, lanes), not of shape {g.shape}")
    return largest_exponent(lyapunov_spectrum(g[:, None] if g.ndim == 1 else g[:, None, :], interval, defect=defect))


def checked_growth(growth: ArrayLike, interval: float, what: str = "growth") -> NDArray[np.float64]:
    """Growth as real numbers; ValueError for masked or complex ones, NaN, +inf, or an interval not above 0."""
    if isinstance(growth, np.ma.MaskedArray) or np.iscomplexobj(growth):
        raise ValueError(f"{what} is masked or complex; pass a plain array of real numbers")
    g = np.asarray(growth, dtype=float)
    if np.isnan(g).any() or np.isposinf(g).any():
        raise ValueError(f"{what} holds NaN or +inf: the run blew up; cut it where it did")
    if not 0.0 < interval < math.inf:
        raise ValueError(f"the interval is {interval}; it must be a time above 0")
    return g


def _shaped(growth: NDArray[np.float64]) -> NDArray[np.float64]:
    g = growth[:, :, None] if growth.ndim == 2 else growth
    if g.ndim != 3 or g.shape[1] == 0 or g.shape[2] == 0:
        raise ValueError(f"growth is an array (n, k) or (n, k, lanes), not of shape {growth.shape}")
    if len(g) < 2 * BATCHES_ALONE:
        raise ValueError(f"{len(g)} intervals are too few for an error; at least {2 * BATCHES_ALONE} are needed")
    return g


def _batch_spread(g: NDArray[np.float64], interval: float) -> tuple[NDArray[np.float64], int]:
    """Standard error of the mean rate from batch means, and the number of batches."""
    n, k, lanes = g.shape
    parts = BATCHES_ALONE if lanes < 4 else BATCHES_PER_LANE
    length = n // parts
    means = g[: parts * length].reshape(parts, length, k, lanes).mean(axis=1) / interval
    flat = means.transpose(0, 2, 1).reshape(parts * lanes, k)
    return flat.std(axis=0, ddof=1) / math.sqrt(len(flat)), len(flat)


def _trend_range(curve: NDArray[np.float64]) -> NDArray[np.float64]:
    """Range of each column about its least-squares line."""
    x = np.arange(len(curve)) - (len(curve) - 1) / 2
    centred = curve - curve.mean(axis=0)
    slope = (x[:, None] * centred).sum(axis=0) / (x * x).sum()
    residual = centred - x[:, None] * slope
    return np.ptp(residual, axis=0)
