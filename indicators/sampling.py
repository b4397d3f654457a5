"""How a scalar series has to be sampled before a test that asks for one value per step of the dynamics.

A flow stored at small steps is a smooth curve: neighbouring values say the same thing, and the 0-1 test and ordinal
patterns then see only smoothness. A map whose attractor consists of p pieces visited in turn carries a period on top
of its chaos. In both cases every `stride`-th value is the right series, and `sampling` finds the stride.
"""

from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft

from dynamics.kernel import kernel
from indicators.series import checked_series

Rule = Literal["every value", "cyclic bands", "mutual information", "autocorrelation zero", "autocorrelation 1/e"]

SMOOTH_RATIO = 10.0
MAX_BANDS = 256
BAND_POINTS = 8
BAND_FLOOR = 1e-6
SECTION_PERIODS = 16
SECTION_RETURNS = 4
SECTION_FLOOR = 1e-6
SECTION_CEILING = 1e-3


@dataclass(frozen=True)
class Sampling:
    """Every `stride`-th value is to be kept, by `rule`; `ratio` is the oversampling, `bands` the cyclic bands found.

    `periodic` says that the bands have no width, at most BAND_FLOOR of the series' spread: the series is a cycle of
    period `bands`, and `stride` stays 1.
    """

    stride: int
    rule: Rule
    oversampled: bool
    ratio: float
    bands: int
    periodic: bool


def sampling(x: ArrayLike, max_bands: int = MAX_BANDS) -> Sampling:
    """The sampling that a (N,) series needs.

    An oversampled series is thinned to the first minimum of its mutual information. Otherwise, if its p residue
    classes are cyclic bands, every p-th value is kept: within one band the p-th iterate is what can mix, while the
    visits to the bands are a plain period. Bands that the orbit only drifts through (a rotation close to a rational
    one: class 0 is itself oversampled) do not count, nor do bands without width, which are a periodic orbit.
    """
    series = checked_series(x, 2)
    ratio = oversampling(series)
    if ratio > SMOOTH_RATIO:
        stride, rule = first_minimum(series)
        return Sampling(stride, rule, True, ratio, 1, False)
    bands = cyclic_bands(series, max_bands)
    if bands == 1:
        return Sampling(1, "every value", False, ratio, 1, False)
    if _band_width(series, bands) <= BAND_FLOOR:
        return Sampling(1, "every value", False, ratio, bands, True)
    if oversampling(series[::bands]) > SMOOTH_RATIO:
        return Sampling(1, "every value", False, ratio, 1, False)
    return Sampling(bands, "cyclic bands", False, ratio, bands, False)


def oversampling(x: ArrayLike) -> float:
    """Range over mean step, (max x - min x) / mean abs(x[i+1] - x[i]); 0 for a constant series.

    For an oscillation that swings over its whole range it is half the number of samples per oscillation. Above 10
    (20 samples per oscillation) a series is called oversampled. Lorenz at rho = 28 reads 13-23 at a
    step of 0.05, where the 0-1 test begins to lose its chaos (K 0.93-0.99), and 7-12 at 0.1, where it sees all of it
    (0.997); chaotic maps read 2-4, normal noise of a million values 9.
    """
    series = checked_series(x, 2)
    span = float(np.ptp(series))
    return span / float(np.mean(np.abs(np.diff(series)))) if span > 0.0 else 0.0


@kernel("void(i4[::1], i8, i8, f8[:, ::1], f8[::1])")
def _mutual_information(codes: NDArray, first: int, bins: int, counts: NDArray, out: NDArray) -> None:
    for k in range(out.size):
        lag = first + k
        pairs = codes.size - lag
        counts[:, :] = 0.0
        for i in range(pairs):
            counts[codes[i], codes[i + lag]] += 1.0
        information = 0.0
        for a in range(bins):
            row = 0.0
            column = 0.0
            for b in range(bins):
                count = counts[a, b]
                row += count
                column += counts[b, a]
                if count > 0.0:
                    information += count * np.log(count)
            if row > 0.0:
                information -= row * np.log(row)
            if column > 0.0:
                information -= column * np.log(column)
        out[k] = information / pairs + np.log(pairs)


def mutual_information(x: ArrayLike, max_lag: int, bins: int | None = None) -> NDArray[np.float64]:
    """Mutual information of x[i] and x[i+k] in nats for the lags k = 0..max_lag, a (max_lag + 1,) array.

    I(k) = sum p_ab ln(p_ab / (p_a p_b)) over a histogram with bins of equal probability, the ranks of the values
    (equal values share a bin). By default 4 to 16 bins, so that independent values would put 20 pairs in a cell; the
    bias is then about (bins - 1)^2 / 2N. Fraser & Swinney 1986, Phys. Rev. A 33:1134.
    """
    series = checked_series(x, 2)
    if not 0 <= max_lag < series.size:
        raise ValueError(f"max_lag is {max_lag}; for {series.size} values it must be in 0..{series.size - 1}")
    return _information(_bin_codes(series, bins), 0, max_lag)


def _bin_codes(series: NDArray[np.float64], bins: int | None) -> NDArray[np.int32]:
    count = bins if bins is not None else int(min(16, max(4, np.sqrt(series.size / 20))))
    if count < 2:
        raise ValueError(f"bins is {count}; at least 2 are needed")
    ranks = np.searchsorted(np.sort(series), series)
    return (ranks * count // series.size).astype(np.int32)


def _information(codes: NDArray[np.int32], first: int, last: int) -> NDArray[np.float64]:
    bins = int(codes.max()) + 1
    out = np.empty(last - first + 1)
    _mutual_information(codes, first, bins, np.empty((bins, bins)), out)
    return out


def first_minimum(x: ArrayLike, max_lag: int | None = None) -> tuple[int, Rule]:
    """The lag of the first minimum of the mutual information, at least 1, and the rule that gave it.

    Wiggles of the histogram are no minima: no lag within a quarter of k, and within a sixteenth of the
    oversampling ratio (a thirtieth of an oscillation), on either side of the minimum k may have less. By default lags
    up to twice the ratio are searched, which is one whole oscillation, and at most N/20. Without a minimum there, the
    first zero of the autocorrelation is taken, and without that its first value below 1/e.
    """
    series = checked_series(x, 2)
    ratio = oversampling(series)
    limit = max_lag if max_lag is not None else min(ceil(2.0 * ratio), series.size // 20)
    limit = min(max(limit, 1), series.size - 1)
    codes = _bin_codes(series, None)
    curve = _information(codes, 0, min(32, limit))
    while True:
        lag = _window_minimum(curve, max(1, int(ratio / 16)))
        if lag:
            return lag, "mutual information"
        if curve.size > limit:
            break
        curve = np.concatenate([curve, _information(codes, curve.size, min(2 * curve.size, limit))])
    correlation = _autocorrelation(series)
    if correlation.min() <= 0.0:
        return int(np.argmax(correlation <= 0.0)), "autocorrelation zero"
    if correlation.min() < np.exp(-1.0):
        return int(np.argmax(correlation < np.exp(-1.0))), "autocorrelation 1/e"
    return limit, "autocorrelation 1/e"


def _window_minimum(curve: NDArray[np.float64], least: int) -> int:
    for lag in range(1, curve.size):
        reach = max(least, lag // 4)
        if lag + reach >= curve.size:
            return 0
        if curve[lag] <= curve[max(0, lag - reach) : lag + reach + 1].min():
            return lag
    return 0


def _autocorrelation(series: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = series - series.mean()
    lags = max(2, series.size // 4)
    spectrum = rfft(centred, next_fast_len(series.size + lags, real=True))
    products = irfft(np.abs(spectrum) ** 2, next_fast_len(series.size + lags, real=True))[:lags]
    return products / products[0] if products[0] > 0.0 else np.ones(lags)


@kernel("i8(f8[::1], i8, f8, f8[:, ::1])")
def _cyclic_bands(x: NDArray, most: int, gap: float, work: NDArray) -> int:
    """Tries p from above on prefixes of 2 p, 32 p, ... values: classes that overlap there overlap for good.

    Most p fail at once, on two successive classes that overlap, and need no sorting.
    """
    low, high, lows, highs = work
    for p in range(most, 1, -1):
        low[:p] = x[:p]
        high[:p] = x[:p]
        done = p
        size = 2 * p
        apart = True
        while apart and done < x.size:
            r = done % p
            for i in range(done, size):
                low[r] = min(low[r], x[i])
                high[r] = max(high[r], x[i])
                r = r + 1 if r + 1 < p else 0
            for r in range(1, p):
                if low[r] <= high[r - 1] + gap and low[r - 1] <= high[r] + gap:
                    apart = False
                    break
            if not apart:
                break
            lows[:p] = low[:p]
            highs[:p] = high[:p]
            lows[:p].sort()
            highs[:p].sort()
            for r in range(p - 1):
                apart = apart and highs[r] + gap < lows[r + 1]
            done = size
            size = min(16 * size, x.size)
        if apart:
            return p
    return 1


def cyclic_bands(x: ArrayLike, max_bands: int = MAX_BANDS) -> int:
    """The largest p <= max_bands for which x[0::p], ..., x[p-1::p] lie in pairwise disjoint intervals; 1 if none.

    Chaos in p bands that are visited in turn gives p (the logistic map at r = 3.6 gives 2), and so does a cycle of
    period p, whose bands have no width. Every class must have 8 values, and a gap must be wider than rounding,
    8 ulp of the largest absolute value.
    """
    series = checked_series(x, 2)
    if max_bands < 1:
        raise ValueError(f"max_bands is {max_bands}; at least 1 is needed")
    most = min(max_bands, series.size // BAND_POINTS)
    if most < 2:
        return 1
    gap = 8.0 * float(np.spacing(np.max(np.abs(series))))
    return int(_cyclic_bands(series, most, gap, np.empty((4, most))))


def _band_width(series: NDArray[np.float64], bands: int) -> float:
    rows = series[: series.size // bands * bands].reshape(-1, bands)
    return float(np.sqrt(np.mean(np.var(rows, axis=0))) / np.std(series))


def local_maxima(x: ArrayLike) -> NDArray[np.float64]:
    """The heights of the local maxima of a sampled curve: a section of the flow where the observable turns.

    The parabola through a maximum and its two neighbours gives the place; there the polynomial through five points
    is read. Maxima within two samples of an end are left out.
    """
    return _maxima(checked_series(x, 5))[0]


def _maxima(series: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Heights of the maxima, and a bound on the error of each.

    With central differences d1..d4 at a maximum the parabola's top is at s = -d1/d2, abs(s) <= 1/2. Stirling's
    interpolation adds d3 s(s^2 - 1)/6 + d4 s^2(s^2 - 1)/24 to its height. The place is wrong by about d3/(6 d2), which
    lowers the height by d3^2/(72 d2); the bound adds d4/128, the most that the last term can be.
    """
    inner = series[2:-2]
    tops = 2 + np.flatnonzero((series[1:-3] < inner) & (inner >= series[3:-1]))
    far_left, left, top, right, far_right = (series[tops + k] for k in (-2, -1, 0, 1, 2))
    d1 = (right - left) / 2
    d2 = left - 2 * top + right
    d3 = (far_right - 2 * right + 2 * left - far_left) / 2
    d4 = far_right - 4 * right + 6 * top - 4 * left + far_left
    s = -d1 / d2
    height = top + s * d1 / 2 + s * (s * s - 1) * d3 / 6 + s * s * (s * s - 1) * d4 / 24
    return height, d3 * d3 / (72 * np.abs(d2)) + np.abs(d4) / 128


def section_is_point(x: ArrayLike) -> bool:
    """Whether the local maxima of an oversampled series repeat, with a period of at most 16: the orbit is a cycle.

    For each period m with four returns, the maxima are compared with the mean of their residue class modulo m. They
    repeat if the root mean square of what is left is within that of the interpolation error (fourth order in the
    sampling step, see `_maxima`), which is taken as at least 1e-6 of the range, what an integrator of usual tolerance
    leaves. An error above 1e-3 of the range resolves no maxima, and nothing is called a point: a period of unresolved
    spikes cannot be told from chaos in a narrow band.
    """
    series = checked_series(x, 5)
    heights, errors = _maxima(series)
    span = float(np.ptp(series))
    if heights.size < SECTION_RETURNS:
        return False
    error = float(np.sqrt(np.mean(errors**2)))
    if error > SECTION_CEILING * span:
        return False
    tolerance = max(error, SECTION_FLOOR * span)
    for period in range(1, min(SECTION_PERIODS, heights.size // SECTION_RETURNS) + 1):
        rows = heights[: heights.size // period * period].reshape(-1, period)
        if np.sqrt(np.mean(np.var(rows, axis=0))) <= tolerance:
            return True
    return False
