"""The 0-1 test for chaos: does the translation that a series drives in the plane diffuse or stay bounded?"""

from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import bdtr

from dynamics.kernel import kernel
from indicators.estimate import Estimate, without_value
from indicators.sampling import BAND_FLOOR, SMOOTH_RATIO, oversampling, sampling, section_is_point
from indicators.series import checked_series

FEWEST_VALUES = 200
ENOUGH_VALUES = 1000
FEWEST_FREQUENCIES = 20
FREQUENCIES = (np.pi / 5, 4 * np.pi / 5)
REGULAR, CHAOTIC = 0.1, 0.9
WIDEST_SPREAD = 0.2
ROUNDING = 32.0
TREND_SHARE = 0.01


def zero_one_k(x: ArrayLike, *, stride: int | None = None, n_c: int = 100, seed: int = 0) -> Estimate:
    """K of the 0-1 test, about 1 for chaos and about 0 for regular motion; never clipped to that range.

    x : (N,) one observable, N >= 200. A smooth one: angles as cos or sin, since for a jump of theta mod 1 the
    displacement of a plain rotation is not bounded, and K falls only slowly (0.5 at N = 5,000, 0.2 at 20,000 for the
    golden mean).
    stride : every stride-th value is used; None lets `sampling` decide. n_c : number of frequencies c, uniform in
    (pi/5, 4 pi/5) from `seed`, at least 20.

    For each c, with the series freed of mean and linear trend and scaled to unit variance,
        z(n) = sum_{l<=n} x_l exp(i c l),   M_c(n) = mean_{j<J} abs(z(j+n) - z(j))^2,   J = N - N/10,
    and K_c is the correlation of M_c(1..N/10) with 1..N/10; K is the median of the K_c. Gottwald and Melbourne
    subtract (mean x)^2 (1 - cos nc)/(1 - cos c) from M_c; without a mean that term is zero.

    `error` is the half-width of the 95 % interval of the median over c (order statistics); what a longer series would
    change is not in it. Status `not_converged`, with the reason: K between 0.1 and 0.9; quartiles of the K_c more than
    0.2 apart; fewer than 1,000 values used (tori with seven harmonics read up to 0.96 at 200 values, 0.25 at 500,
    0.06 at 1,000); a given stride that leaves the series oversampled; cyclic bands too many for the length. Status
    `undefined`: no variance, an oversampled cycle (reason "section is a point"), fewer than 200 values left. White
    noise reads 1 as chaos does: K is no test of determinism.

    Gottwald & Melbourne 2009, SIAM J. Appl. Dyn. Syst. 8:129, sections 2 and 3.
    """
    if index(n_c) < FEWEST_FREQUENCIES:
        raise ValueError(f"n_c is {n_c}; the median needs at least {FEWEST_FREQUENCIES} frequencies, 100 are usual")
    if stride is not None and index(stride) < 1:
        raise ValueError(f"stride is {stride}; it must be at least 1")
    series = checked_series(x, FEWEST_VALUES)
    series = np.ldexp(series, -np.frexp(np.max(np.abs(series)))[1])  # exact, and squares neither overflow nor vanish
    rest = _detrended(series)
    if rest is None:
        return without_value("undefined", "zero variance", n_series=series.size)
    if rest.var() < (1 - TREND_SHARE) * series.var():
        series = rest
    chosen = sampling(series)
    evidence: dict[str, Any] = {
        "oversampled": chosen.oversampled,
        "ratio": chosen.ratio,
        "bands": chosen.bands,
        "n_series": series.size,
    }
    if chosen.oversampled and section_is_point(series):
        return without_value("undefined", "section is a point", **evidence)
    step, rule = (chosen.stride, chosen.rule) if stride is None else (stride, "given")
    reasons = []
    if rule == "cyclic bands" and series.size // step < FEWEST_VALUES:
        reasons.append(
            f"{step} cyclic bands, {FEWEST_VALUES * step} values are needed to look inside one; stride 1 used"
        )
        step = 1
    if chosen.periodic:
        evidence["note"] = f"a cycle of period {chosen.bands}: the bands are narrower than {BAND_FLOOR} of the spread"
    used = np.ascontiguousarray(series[::step])
    evidence |= {"stride": step, "rule": rule, "n": used.size}
    if used.size < FEWEST_VALUES:
        reason = f"{used.size} values are left at stride {step}; {FEWEST_VALUES * step} values of this series would do"
        return without_value("undefined", reason, **evidence)
    rest = _detrended(used)
    if rest is None:
        return without_value("undefined", f"zero variance at stride {step}", **evidence)
    if rule == "given" and oversampling(used) > SMOOTH_RATIO:
        reasons.append(f"oversampled at the given stride {step}; stride {chosen.stride} would do")
    if used.size < ENOUGH_VALUES:
        reasons.append(f"{used.size} values used, {ENOUGH_VALUES} are needed: {ENOUGH_VALUES * step} of this series")

    c = np.random.default_rng(seed).uniform(*FREQUENCIES, n_c)
    each = np.sort(growth_correlation(displacement(rest / rest.std(), c)))
    value = float(np.median(each))
    if REGULAR < value < CHAOTIC:
        reasons.append(f"K = {value:.3f} is neither 0 nor 1; a longer series or a smoother observable is needed")
    lower, upper = np.quantile(each, [0.25, 0.75])
    if upper - lower > WIDEST_SPREAD:
        reasons.append(f"the quartiles of K over c are {lower:.3f} and {upper:.3f}")
    evidence |= {"n_c": n_c, "n_cut": used.size // 10, "seed": seed, "iqr": float(upper - lower)}
    evidence["mean"] = float(each.mean())
    if not reasons:
        return Estimate(value, _median_half_width(each), "ok", evidence)
    return Estimate(value, _median_half_width(each), "not_converged", {"reason": "; ".join(reasons), **evidence})


def displacement(phi: ArrayLike, c: ArrayLike) -> NDArray[np.float64]:
    """The mean-square displacement M_c(n) of `zero_one_k`, an (N/10, n_c) array whose row n - 1 belongs to n.

    phi : (N,) series, N >= 10, best with mean 0 and variance 1; c : (n_c,) frequencies. It is exact, at a cost
    O(N log N + n_c N/10): the increment M_c(m+1) - M_c(m) changes from m to m + 1 only by the newest product of
    lag m, which is an autocorrelation and free of c, and by the windows' two end points.
    """
    series = checked_series(phi, 10)
    frequencies = checked_series(c, 1, "list of frequencies c")
    n_cut = series.size // 10
    windows = series.size - n_cut
    size = next_fast_len(series.size + windows, real=True)
    products = irfft(np.conj(rfft(series[:windows], size)) * rfft(series, size), size)[:n_cut]
    out = np.empty((n_cut, frequencies.size))
    _displacement(series, np.ascontiguousarray(products), frequencies, np.empty((9, frequencies.size)), out)
    return out


@kernel("void(f8[::1], f8[::1], f8[::1], f8[:, ::1], f8[:, ::1])")
def _displacement(phi: NDArray, products: NDArray, c: NDArray, work: NDArray, out: NDArray) -> None:
    """Row m of out is M_c(m + 1); the inner loops run over c.

    products[m] = sum_j phi[j] phi[j+m] over the J windows. head and tail are sum phi[l] exp(icl) from the start of
    the first and of the last window, unit is exp(icm), whose rounding grows to m ulp.
    """
    n_cut, count = out.shape
    windows = phi.size - n_cut
    share = 1.0 / windows
    turn_re, turn_im, unit_re, unit_im, head_re, head_im, tail_re, tail_im, growth = work
    for i in range(count):
        turn_re[i] = np.cos(c[i])
        turn_im[i] = np.sin(c[i])
        unit_re[i] = 1.0
        unit_im[i] = 0.0
        head_re[i] = 0.0
        head_im[i] = 0.0
        tail_re[i] = 0.0
        tail_im[i] = 0.0
        growth[i] = products[0] * share
        out[0, i] = growth[i]
    for m in range(1, n_cut):
        first = phi[m - 1]
        last = phi[windows + m - 1]
        squares = last * last - first * first
        product = products[m]
        for i in range(count):
            re = unit_re[i] * turn_re[i] - unit_im[i] * turn_im[i]
            unit_im[i] = unit_re[i] * turn_im[i] + unit_im[i] * turn_re[i]
            unit_re[i] = re
        for i in range(count):
            re = unit_re[i]
            im = unit_im[i]
            pairs = last * (re * tail_re[i] + im * tail_im[i]) - first * (re * head_re[i] + im * head_im[i])
            growth[i] += (squares + 2.0 * (pairs + re * product)) * share
            tail_re[i] += last * re
            tail_im[i] += last * im
            head_re[i] += first * re
            head_im[i] += first * im
            out[m, i] = out[m - 1, i] + growth[i]


def _detrended(series: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The series without mean and linear trend; None if what is left is rounding, 32 ulp of the largest value."""
    time = np.arange(series.size) - (series.size - 1) / 2
    rest = series - series.mean()
    rest -= time * ((time * rest).sum() / (time * time).sum())
    return rest if rest.std() > ROUNDING * np.spacing(np.max(np.abs(series))) else None


def growth_correlation(moved: NDArray[np.float64]) -> NDArray[np.float64]:
    """K_c: the correlation of each column of moved with its row number."""
    out = np.empty(moved.shape[1])
    _correlation(moved, np.empty((2, moved.shape[1])), out)
    return out


@kernel("void(f8[:, ::1], f8[:, ::1], f8[::1])")
def _correlation(moved: NDArray, work: NDArray, out: NDArray) -> None:
    """Means first, and sums of what differs from them after, lest the sums cancel."""
    count, columns = moved.shape
    mean, squares = work
    mean[:] = 0.0
    squares[:] = 0.0
    out[:] = 0.0
    for m in range(count):
        for i in range(columns):
            mean[i] += moved[m, i]
    for i in range(columns):
        mean[i] /= count
    of_time = 0.0
    for m in range(count):
        time = m - 0.5 * (count - 1)
        of_time += time * time
        for i in range(columns):
            rest = moved[m, i] - mean[i]
            squares[i] += rest * rest
            out[i] += time * rest
    for i in range(columns):
        out[i] /= np.sqrt(of_time * squares[i])


def _median_half_width(ordered: NDArray[np.float64]) -> float:
    """Half the distance of the order statistics that enclose the median with 95 %, whatever the distribution."""
    rank = int(np.searchsorted(bdtr(np.arange(ordered.size), ordered.size, 0.5), 0.025))
    return float(ordered[ordered.size - rank] - ordered[rank - 1]) / 2
