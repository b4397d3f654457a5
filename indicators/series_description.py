"""All that the indicators say about one measured series, gathered with the settings that suit it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indicators.correlation_dimension import FEWEST_POINTS, correlation_dimension
from indicators.embedding import delay_vectors
from indicators.entropy import permutation_entropy
from indicators.estimate import Estimate, without_value
from indicators.power_spectrum import FEWEST_VALUES as FEWEST_FOR_LINES
from indicators.power_spectrum import SpectralLines, spectral_lines
from indicators.sampling import Sampling, local_maxima, sampling
from indicators.series import checked_series
from indicators.series_exponent import series_exponent
from indicators.surrogates import surrogate_test
from indicators.zero_one import FEWEST_VALUES, zero_one_k

ORDERS = (3, 4, 5, 6, 7)
ROUNDING = 64.0


@dataclass(frozen=True)
class Description:
    """The indicators of a series of n values, `interval` apart; entropies are by order.

    zero_one_maxima : K of the heights of the local maxima of an oversampled series, a section of its flow.
    linear_noise : see `surrogate_test`. spectrum : None below 500 values.
    """

    n: int
    interval: float
    constant: bool
    sampling: Sampling
    zero_one: Estimate
    zero_one_maxima: Estimate
    entropies: dict[int, Estimate]
    linear_noise: Estimate
    exponent: Estimate
    dimension: Estimate
    spectrum: SpectralLines | None


def described(
    x: ArrayLike,
    *,
    interval: float = 1.0,
    orders: tuple[int, ...] = ORDERS,
    seed: int = 0,
    told: Callable[[str], None] = lambda what: None,
) -> Description:
    """Every indicator that a series x (N,), N >= 200, can be asked for.

    interval : time from value to value. orders : of the permutation entropy. seed : of the frequencies of the 0-1 test
    and of the surrogates. told : is called with the name of each indicator before it is taken.

    Ordinal patterns are taken at the stride of `sampling` where the series is oversampled, at 1 otherwise. The
    correlation dimension is that of the delay vectors of `series_exponent`, which suffice where their dimension is
    above D_2 (Ding et al. 1993, Phys. Rev. Lett. 70:3872); without a dimension in which neighbours are true it has no
    meaning. What a series is too short for is `undefined`, with the reason.
    """
    if not 0.0 < interval < np.inf:
        raise ValueError(f"interval is {interval}; it must be positive and finite")
    if not orders:
        raise ValueError("orders is empty; one order in 2..8 is needed at least")
    series = checked_series(x, FEWEST_VALUES)
    told("sampling")
    chosen = sampling(series)
    delay = chosen.stride if chosen.oversampled else 1
    told("0-1 test")
    zero_one, maxima = zero_one_k(series, seed=seed), _zero_one_maxima(series, chosen, seed)
    told("permutation entropy")
    entropies = {order: _entropy(series, order, delay) for order in orders}
    told("surrogates")
    linear_noise = surrogate_test(series, delay=delay, seed=seed)
    told("largest exponent")
    exponent = _exponent(series, interval)
    told("correlation dimension")
    dimension = _dimension(series, exponent)
    told("power spectrum")
    spectrum = spectral_lines(series) if series.size >= FEWEST_FOR_LINES else None
    constant = bool(np.ptp(series) <= ROUNDING * np.spacing(np.max(np.abs(series))))
    return Description(
        series.size,
        interval,
        constant,
        chosen,
        zero_one,
        maxima,
        entropies,
        linear_noise,
        exponent,
        dimension,
        spectrum,
    )


def _zero_one_maxima(series: NDArray[np.float64], chosen: Sampling, seed: int) -> Estimate:
    if not chosen.oversampled:
        return without_value("not_applicable", "the series is not oversampled, so its maxima are not those of a curve")
    heights = local_maxima(series)
    if heights.size < FEWEST_VALUES:
        return without_value("undefined", f"{heights.size} local maxima, {FEWEST_VALUES} are needed")
    return zero_one_k(heights, seed=seed)


def _entropy(series: NDArray[np.float64], order: int, delay: int) -> Estimate:
    least = (order - 1) * delay + 1
    if series.size < least:
        return without_value("undefined", f"{series.size} values, one window of order {order} needs {least}")
    return permutation_entropy(series, order=order, delay=delay)


def _exponent(series: NDArray[np.float64], interval: float) -> Estimate:
    try:
        return series_exponent(series, interval=interval)
    except ValueError as error:  # the input is right, so what is left to refuse is its length
        return without_value("undefined", str(error))


def _dimension(series: NDArray[np.float64], exponent: Estimate) -> Estimate:
    found: dict[str, Any] = exponent.evidence
    repeats = "false_neighbours" not in found
    if "dimension" not in found and not repeats:
        return without_value("undefined", "no dimension without false neighbours to embed the series in")
    dimension, delay = found.get("dimension", 1), found.get("delay", 1)
    points = delay_vectors(series, dimension, delay)
    if len(points) < FEWEST_POINTS:
        return without_value("undefined", f"{len(points)} delay vectors, {FEWEST_POINTS} are needed")
    estimate = correlation_dimension(points, theiler=found.get("theiler"))
    evidence = {**estimate.evidence, "embedding_dimension": dimension, "delay": delay}
    return Estimate(estimate.value, estimate.error, estimate.status, evidence)
