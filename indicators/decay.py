"""Decay of correlation: does the autocorrelation of every observable fall to the level of noise and stay there?"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import lcm
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft

from indicators.points import checked_circumference, checked_points
from indicators.series import checked_series

Decay = Literal["decays", "persists", "slow", "constant"]

FEWEST_VALUES = 500
LAG_SHARE = 4
NOISE_MULTIPLE = 5.0
TAIL_MULTIPLE = 2.0
SOKAL = 20.0
CHANGE = 0.002
OUTLIERS = 1e-3
ALL_PRODUCTS = 4
BAND_SHARE = 0.95
ROUNDING = 64.0


@dataclass(frozen=True)
class ObservableDecay:
    """The autocorrelation rho of one observable in a few numbers; lags are in samples.

    tau_int : 1 + 2 sum rho(k), k up to `window`. noise : standard error that rho has where there is no correlation.
    fall : the lag from which on abs(rho) stays below `threshold`, 5 noise; None if it does not decay. tail : root mean
    square of rho over the longer half of the lags. kept : that over its value in the quarter, or in the eighth, of the
    lags before, whichever is farther from 1, which it is for a correlation that stays. amplitude : the largest abs(rho)
    of the longer half, where it does not decay. bands : the smallest p for which period p explains 95 % of the tail, 0
    if none does; finer bands within those are not seen, so the number of bands is a multiple of p.
    """

    name: str
    verdict: Decay
    tau_int: float = 0.0
    window: int = 0
    noise: float = 0.0
    threshold: float = 0.0
    fall: int | None = None
    tail: float = 0.0
    kept: float = 0.0
    amplitude: float = 0.0
    bands: int = 0


@dataclass(frozen=True)
class DecayOfCorrelation:
    """The verdict over all observables, the period of cyclic bands (0: none), the longest lag, and each observable."""

    verdict: Decay
    bands: int
    longest_lag: int
    observables: list[ObservableDecay]


def decay_of_correlation(x: ArrayLike, *, circumference: ArrayLike | None = None) -> DecayOfCorrelation:
    """Whether correlation decays, persists, or is slow to decay, in coordinates, squares and products of an orbit.

    x : (N, d) states in time order at equal steps, or (N,), N >= 500. circumference : (d,), 0 for a component on a
    line; of an angle the cosine and the sine are observed. Products are those of all pairs of up to four coordinates,
    else of neighbours. Lags go to N/4.

    noise = sqrt((1 + 2 sum rho(k)^2) / N), Bartlett's formula, summed up to the first lag that is 20 times the sum
    (Sokal's window, wide enough for a slow oscillation in the tail). An observable `decays` if abs(rho) falls below
    5 noise before half the longest lag and stays there, but for one lag in a thousand, and its root mean square over
    the second half of the lags (Hann taper) is below 2 noise. If it does not, or there is no such window up to N/16, it
    `persists` where that root mean square is the one over the quarter and over the eighth of lags before, within 0.2 %
    and what noise explains, and is `slow` otherwise: at this length it cannot be told whether it decays
    (phase-coherent chaos). An observable without variance is `constant`.

    The verdict is that of the observable with the largest tail among those that do not decay; `decays` if all do,
    `constant` if none varies. A component that persists below the noise is not seen.

    Bartlett 1946, J. R. Stat. Soc. Suppl. 8:27; Sokal 1997, in Functional Integration (Plenum), section 3.
    """
    states = checked_points(x, FEWEST_VALUES)
    circle = checked_circumference(circumference, states.shape[1])
    found = [_observable(name, series) for name, series in _observables(states, circle)]
    moving = [each for each in found if each.verdict != "constant"]
    left = [each for each in moving if each.verdict != "decays"]
    verdict: Decay = "decays" if moving else "constant"
    if left:
        verdict = max(left, key=lambda each: each.tail).verdict
    period = lcm(*(each.bands or 1 for each in found))
    return DecayOfCorrelation(verdict, period if period > 1 else 0, len(states) // LAG_SHARE, found)


def _observables(states: NDArray[np.float64], circle: NDArray[np.float64]) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Names and series; coordinates are scaled to mean 0 and variance 1, so that their squares say something else."""
    linear: list[tuple[str, NDArray[np.float64]]] = []
    for c, (component, length) in enumerate(zip(states.T, circle, strict=True)):
        if length:
            angle = 2 * np.pi * (component / length % 1.0)
            linear += [(f"cos x{c}", np.cos(angle)), (f"sin x{c}", np.sin(angle))]
            continue
        rest = component - component.mean()
        largest = float(np.max(np.abs(rest)))
        if largest <= ROUNDING * np.spacing(np.max(np.abs(component))):
            yield f"x{c}", np.zeros(rest.size)
            continue
        rest /= largest
        linear.append((f"x{c}", rest / rest.std()))
    for name, series in linear:
        yield name, series
        yield f"({name})^2", series * series
    for a, b in combinations(linear, 2) if len(linear) <= ALL_PRODUCTS else pairwise(linear):
        yield f"({a[0]})({b[0]})", a[1] * b[1]


def _observable(name: str, series: NDArray[np.float64]) -> ObservableDecay:
    if np.ptp(series) <= ROUNDING * np.spacing(np.max(np.abs(series))):
        return ObservableDecay(name, "constant")
    longest = series.size // LAG_SHARE
    rho = autocorrelation(series, longest)
    sums = 2 * np.cumsum(rho * rho) - 1
    enough = np.arange(longest // 4 + 1) >= SOKAL * sums[: longest // 4 + 1]
    window = int(np.argmax(enough)) if enough.any() else longest
    noise = float(np.sqrt(sums[window] / series.size))
    limit = NOISE_MULTIPLE * noise / np.sqrt(1 - np.arange(longest + 1) / series.size)
    above = np.abs(rho) >= limit
    beyond = np.append(np.cumsum(above[::-1])[::-1], 0)  # how many of the lags k, k + 1, ... are above
    fall = max(int(np.argmin(above)), int(np.argmax(beyond <= OUTLIERS * longest))) if enough.any() else longest + 1
    last = rho[longest // 2 :]
    tail = _level(last)
    before = [_level(rho[longest // (2 * k) : longest // k]) for k in (2, 4)]
    kept = max((tail / level for level in before), key=lambda ratio: abs(ratio - 1))
    numbers: dict[str, Any] = {
        "tau_int": float(2 * rho[: window + 1].sum() - 1),
        "window": window,
        "noise": noise,
        "threshold": NOISE_MULTIPLE * noise,
        "tail": tail,
        "kept": kept,
    }
    if fall <= longest // 2 and tail <= TAIL_MULTIPLE * noise:
        return ObservableDecay(name, "decays", fall=fall, **numbers)
    unseen = (noise / tail) ** 2 if enough.any() else 0.0
    stays = abs(kept - 1) <= CHANGE + unseen and (tail > TAIL_MULTIPLE * noise or not enough.any())
    return ObservableDecay(
        name,
        "persists" if stays else "slow",
        amplitude=float(np.max(np.abs(last))),
        bands=_bands(last) if stays else 0,
        **numbers,
    )


def _level(rho: NDArray[np.float64]) -> float:
    """Root mean square; a taper keeps a period cut off at an end from counting."""
    taper = np.hanning(rho.size + 2)[1:-1]
    return float(np.sqrt(taper @ (rho * rho) / taper.sum()))


def _bands(tail: NDArray[np.float64]) -> int:
    """The smallest p for which the means of the p residue classes hold 95 % of the mean square; 0 if there is none.

    p is at most half the root of the number of lags, over which a rotation drifts by a turn against any such p.
    """
    power = float(np.mean(tail * tail))
    for p in range(1, int(np.sqrt(tail.size) / 2) + 1):
        means = tail[: tail.size // p * p].reshape(-1, p).mean(axis=0)
        if np.mean(means * means) >= BAND_SHARE * power:
            return p
    return 0


def autocorrelation(x: ArrayLike, longest: int) -> NDArray[np.float64]:
    """rho(k) for k = 0..longest, a (longest + 1,) array; 1 at every lag for a constant series.

    rho(k) = sum_{i < N - k} (x_i - m)(x_{i+k} - m) / ((N - k) var), m the mean and var the variance of the N values.
    """
    series = checked_series(x, 2)
    if not 0 <= longest < series.size:
        raise ValueError(f"the longest lag is {longest}; for {series.size} values it must be in 0..{series.size - 1}")
    rest = series - series.mean()
    largest = float(np.max(np.abs(rest)))
    if largest <= ROUNDING * np.spacing(np.max(np.abs(series))):
        return np.ones(longest + 1)
    rest /= largest
    size = next_fast_len(series.size + longest, real=True)
    products = irfft(np.abs(rfft(rest, size)) ** 2, size)[: longest + 1]
    correlation: NDArray[np.float64] = products / (series.size - np.arange(longest + 1)) / np.mean(rest * rest)
    return correlation
