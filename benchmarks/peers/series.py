"""Peers that read a series, each called as its documentation says."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import inputs

Call = Callable[[], Any]


def dysts(n: int) -> Call:
    """dysts' 0-1 test, which takes one c at a time; the series is freed of its mean, which dysts leaves to the user."""
    from dysts.analysis import zero_one_test

    series, frequencies = inputs.centred(n), inputs.frequencies(100)
    return lambda: np.median([zero_one_test(series, c) for c in frequencies])


def antropy(n: int, order: int) -> Call:
    from antropy import perm_entropy

    series = inputs.logistic(n)
    return lambda: perm_entropy(series, order=order, normalize=True)


def ordpy(n: int, order: int) -> Call:
    from ordpy import permutation_entropy

    series = inputs.logistic(n)
    return lambda: permutation_entropy(series, dx=order, base=2, normalized=True)


def neurokit2_entropy(n: int, order: int) -> Call:
    from neurokit2 import entropy_permutation

    series = inputs.logistic(n)
    return lambda: entropy_permutation(series, delay=1, dimension=order, corrected=True)[0]


def neurokit2(n: int, radius: int | str) -> Call:
    from neurokit2 import fractal_correlation

    series = inputs.henon(n)
    return lambda: fractal_correlation(series, delay=1, dimension=2, radius=radius)[0]
