"""SALI, GALI_k and FLI: how deviation vectors turn to one direction, and how far the longest has come.

All three are natural logarithms, read off the lengths of the vectors and the growth of their Gram-Schmidt directions:
so an index far below the smallest double is as exact as one near 1, and there is no floor.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from indicators.estimate import Estimate, without_value
from indicators.lyapunov import checked_growth

Law = Literal["exponential", "power", "none"]
Numbers: TypeAlias = NDArray[Any]
MINIMUM = 128  # records
OCTAVES = 5  # of time before the end that a law is fitted to: ln t must range for a power to differ from an exponential
HALF = 0.5  # tori have whole powers: one below 1/2 is nearest to 0, and one above n + 1/2 is none up to n
ROUNDING = 1e-6  # by which a volume of unit vectors may exceed 1, in a logarithm


def gali(lengths: ArrayLike, growth: ArrayLike, interval: float, k: int, *, rounding: float = 0.0) -> Estimate:
    """ln GALI_k at the end of a run: of the volume that the first k deviations span, each taken at length 1.

    lengths : (n, m) or (n, m, lanes), ln |w_j| at the end of each of n records, 0 at the start, where the deviations
        are orthonormal; m >= k. Lanes are runs on the same set.
    growth : of the same shape, ln of the growth of the Gram-Schmidt directions over each record.
    interval : time of a record. k : 2 to m. rounding : how wrong the logarithm may be by rounding; enters the error.

    GALI_k = |w_1/|w_1| ^ .. ^ w_k/|w_k|| (Skokos, Bountis & Antonopoulos 2007, Physica D 231:30), whence
    ln GALI_k = sum_j (sum of growth_j - ln |w_j|), j <= k: in (-inf, 0], never above ln GALI_{k-1}. It falls like
    -((l_1 - l_2) + .. + (l_1 - l_k)) t where the orbit is chaotic. On a torus of dimension s of a Hamiltonian system of
    N degrees of freedom it stays for k <= s, and falls like -(k - s) ln t for s < k <= 2N - s and like -2(k - N) ln t
    above (the same for s = N; Skokos, Bountis & Antonopoulos 2008, Eur. Phys. J. Spec. Top. 165:5, for s < N).

    Evidence: `decay` is "exponential", "power" or "none", told by least squares of the mean over lanes, evenly in ln t
    over the last 5 octaves of time: none where the power is below 1/2; exponential where it is above the steepest that
    tangent maps without exponents have, k (m - 1), of a Jordan block; else the law with the smaller residual (all are
    given). `power` is the fitted exponent of 1/t; `rate` the fitted exponential rate over the second half, and
    `expected_rate` that of the exponents there, both per unit time. `floor` is None: there is none. Status
    `not_converged` where the first half of the run gives another decay, or an exponential one that is no steeper than a
    power might be; `diverged` where a deviation vanished.
    `error` is Student's 95 % over lanes; of one lane, the range about its fit over the second half.

    Raises ValueError for fewer than 128 records, shapes that do not fit, a NaN, or growth that is not of these lengths.
    """
    sizes, g = _checked(lengths, growth, interval, k)
    if np.isneginf(g[:, :k]).any():
        return without_value("diverged", f"a deviation vanished: GALI_{k} is 0", T=len(g) * interval)
    index = _logarithm(sizes, g, k, rounding)
    return _estimate(
        index, interval, rounding, k * (g.shape[1] - 1), {"k": k, "expected_rate": _expected(g, k, interval)}
    )


def sali(lengths: ArrayLike, growth: ArrayLike, interval: float, *, rounding: float = 0.0) -> Estimate:
    """ln SALI at the end of a run, of the first two deviations; arguments, evidence and errors as those of `gali`.

    SALI = min(|u + v|, |u - v|) of the unit vectors u, v (Skokos 2001, J. Phys. A 34:10029). With the angle a
    between the lines, GALI_2 = sin a and SALI = 2 sin(a/2) = GALI_2 sqrt(2/(1 + cos a)): at most sqrt 2, from GALI_2
    to sqrt 2 GALI_2. It falls like -(l_1 - l_2) t for chaos, goes to a constant on tori of dimension >= 2, and falls
    like -2 ln t on those of maps of the plane. Near a right angle it has 8 digits.
    """
    sizes, g = _checked(lengths, growth, interval, 2)
    if np.isneginf(g[:, :2]).any():
        return without_value("diverged", "a deviation vanished: SALI is 0", T=len(g) * interval)
    sine = _logarithm(sizes, g, 2, rounding)
    index = sine + 0.5 * (math.log(2.0) - np.log1p(np.sqrt(-np.expm1(2.0 * sine))))
    return _estimate(
        index, interval, rounding, 2 * (g.shape[1] - 1), {"k": 2, "expected_rate": _expected(g, 2, interval)}
    )


def fli(lengths: ArrayLike, interval: float, *, rounding: float = 0.0) -> Estimate:
    """The FLI at the end of a run: the largest ln |w(t')| of any t' <= t and any deviation, each of length 1 at first.

    lengths : (n,), (n, m) or (n, m, lanes) as for `gali`; all m deviations are looked at.

    sup ln |w_j(t')| over t' <= t and j (Froeschle, Lega & Gonczi 1997, Celest. Mech. Dyn. Astron. 67:41): like l_1 t
    for chaos, like ln t on tori with shear, bounded on isochronous ones and on attracting cycles, and 0 where no
    deviation ever grows. Evidence as for `gali`, of the growth: `growth` is "exponential", "power" or "none", `power`
    the exponent of t, at most m - 1 (1 if m = 1) without an exponent. `error` and errors raised as for `gali`.
    """
    sizes = checked_growth(lengths, interval, "the array of lengths")
    sizes = sizes[:, None, None] if sizes.ndim == 1 else sizes[:, :, None] if sizes.ndim == 2 else sizes
    if sizes.ndim != 3 or len(sizes) < MINIMUM or 0 in sizes.shape:
        raise ValueError(
            f"FLI needs lengths (n,), (n, m) or (n, m, lanes) with n >= {MINIMUM}, not {np.shape(lengths)}"
        )
    m = sizes.shape[1]
    highest = np.maximum(np.maximum.accumulate(sizes.max(axis=1), axis=0), 0.0)  # at the start each is ln 1
    return _estimate(highest, interval, rounding, max(1, m - 1), {"deviations": m}, grows=True)


def _checked(lengths: ArrayLike, growth: ArrayLike, interval: float, k: int) -> tuple[Numbers, Numbers]:
    sizes, g = checked_growth(lengths, interval, "the array of lengths"), checked_growth(growth, interval)
    if sizes.shape != g.shape or g.ndim not in (2, 3) or len(g) < MINIMUM or 0 in g.shape:
        raise ValueError(f"lengths and growth are arrays (n, m) or (n, m, lanes) of one shape with n >= {MINIMUM}, not"
                         f" {sizes.shape} and {g.shape}")  # fmt: skip
    if not 2 <= k <= g.shape[1]:
        raise ValueError(f"k = {k}; there are {g.shape[1]} deviations, and an index needs 2 to {g.shape[1]} of them")
    return (sizes[:, :, None], g[:, :, None]) if g.ndim == 2 else (sizes, g)


def _logarithm(lengths: Numbers, growth: Numbers, k: int, rounding: float) -> Numbers:
    """ln GALI_k (n, lanes): the sum over j of ln of the sine between w_j and the span of those before it."""
    sines = np.cumsum(growth[:, :k], axis=0) - lengths[:, :k]
    if sines.max() > max(ROUNDING, rounding):
        raise ValueError(f"growth and lengths are not of one run: a sine would be exp({sines.max():.3g})")
    return np.asarray(np.minimum(sines, 0.0).sum(axis=1))  # above 0 there is rounding only


def _expected(growth: Numbers, k: int, interval: float) -> float:
    late = np.sort(growth[len(growth) // 2 :, :k].mean(axis=(0, 2)))[::-1] / interval
    return float((late[0] - late[1:]).sum())


@dataclass(frozen=True)
class _Fit:
    law: Law
    told: bool  # whether no other law is as steep
    power: float
    residuals: dict[str, float]
    line: Callable[[Numbers], Numbers]  # of the law, at times


def _fit(curve: Numbers, interval: float, steepest: float) -> _Fit:
    """How a curve (n,) rises, from its last octaves, where ln t is weighted evenly; no power is above `steepest`."""
    t = np.arange(1, len(curve) + 1) * interval
    late = slice(len(t) >> OCTAVES, None)
    x, y, weight = t[late], curve[late], 1.0 / t[late]
    power, in_ln_t = _line(np.log(x), y, weight)
    _, in_t = _line(x, y, weight)
    level = float((weight * y).sum() / weight.sum())
    residuals = {
        "none": _spread(y - level, weight),
        "power": _spread(y - in_ln_t(np.log(x)), weight),
        "exponential": _spread(y - in_t(x), weight),
    }
    if power < HALF:
        return _Fit("none", True, power, residuals, lambda at: np.full(len(at), level))
    too_steep = power > steepest + HALF
    if too_steep or residuals["exponential"] < residuals["power"]:
        return _Fit("exponential", too_steep, power, residuals, in_t)
    return _Fit("power", True, power, residuals, lambda at: in_ln_t(np.log(at)))


def _line(x: Numbers, y: Numbers, weight: Numbers) -> tuple[float, Callable[[Numbers], Numbers]]:
    total = weight.sum()
    middle, level = (weight * x).sum() / total, (weight * y).sum() / total
    apart = weight * (x - middle)  # sums, no dot products: those of the linear algebra wake threads
    slope = float((apart * y).sum() / (apart * (x - middle)).sum())
    return slope, lambda at: level + slope * (at - middle)


def _spread(residual: Numbers, weight: Numbers) -> float:
    return math.sqrt((weight * residual**2).sum() / weight.sum())


def _estimate(
    index: Numbers, interval: float, rounding: float, steepest: int, evidence: dict[str, Any], *, grows: bool = False
) -> Estimate:
    """The mean over lanes at the end of an index (n, lanes), and the law of its decay, or of its growth."""
    n, lanes = index.shape
    sign = 1.0 if grows else -1.0
    curve = sign * index.mean(axis=1)
    fit, before = _fit(curve, interval, steepest), _fit(curve[: n // 2], interval, steepest)
    t = np.arange(n // 2 + 1, n + 1) * interval
    rate, _ = _line(t, curve[n // 2 :], np.ones(len(t)))
    if lanes > 1:
        half = float(student.ppf(0.975, lanes - 1) * index[-1].std(ddof=1) / math.sqrt(lanes))
    else:
        half = float(np.ptp(curve[n // 2 :] - fit.line(t)))
    evidence |= {
        "growth" if grows else "decay": fit.law,
        "rate": rate,
        "power": fit.power,
        "steepest_power": steepest,
        "residuals": fit.residuals,
        "first_half": before.law,
        "floor": None,
        "rounding": rounding,
        "T": n * interval,
        "lanes": lanes,
        "unit": "natural logarithm",
    }
    status: Literal["ok", "not_converged"] = "ok" if fit.told and fit.law == before.law else "not_converged"
    return Estimate(float(index[-1].mean()), half + rounding, status, evidence)
