"""Our side of the comparisons: the project's own public functions, as a user calls them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import inputs

Call = Callable[[], Any]


def zero_one(n: int) -> Call:
    from indicators.zero_one import zero_one_k

    series = inputs.logistic(n)
    return lambda: zero_one_k(series).number


def displacement(n: int) -> Call:
    """The kernel alone: displacement and K of series that need no look at how they are sampled."""
    from indicators.zero_one import displacement, growth_correlation

    series, c = inputs.centred(n), inputs.frequencies(100)
    return lambda: np.median(growth_correlation(displacement(series, c)))


def permutation_entropy(n: int, order: int) -> Call:
    from indicators.entropy import permutation_entropy

    series = inputs.logistic(n)
    return lambda: permutation_entropy(series, order=order).number


def correlation_dimension(n: int) -> Call:
    from indicators.correlation_dimension import correlation_dimension

    series = inputs.henon(n)
    points = np.stack([series[:-1], series[1:]], axis=1)
    return lambda: correlation_dimension(points).number


def exponents(name: str, over: str, grid: list[float], at: int, settings: dict[str, Any]) -> Call:
    """Exponents over a grid (lo, hi, points) of one parameter, told at one of its points."""
    from dynamics.registry import system
    from labeling.exponents import exponents_over

    chosen = system(name)
    values = inputs.grid(*grid)
    return lambda: inputs.named(exponents_over(chosen, {over: values}, **settings).values[at])


def lorenz96(n: int, settings: dict[str, Any]) -> Call:
    """All exponents of the lattice at F = 8."""
    from dynamics.registry import curated_rows
    from dynamics.system import system_from_row
    from labeling.exponents import exponents_over

    row = curated_rows()["lorenz96"]
    chosen = system_from_row("lorenz96", row | {"parameters": row["parameters"] | {"N": n}})
    return lambda: inputs.named(exponents_over(chosen, {"F": [8.0]}, **settings).values[0])
