"""The door of every indicator that reads a scalar time series."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def checked_series(x: Any, minimum: int = 1, what: str = "series") -> NDArray[np.float64]:
    """The series as a contiguous (N,) float64 array, or a ValueError that says what is wrong with it and what would do.

    Read-only input is copied, because compiled kernels refuse it; an array that will do is returned itself. Booleans
    and integers of any width are cast, so unsigned differences cannot wrap around. Complex, masked and non-numeric
    input, any other number of dimensions than one, fewer than `minimum` values and the first value that is NaN or
    infinite are refused.
    """
    series = real_series(x, what)
    if series.size < minimum:
        raise ValueError(f"the {what} has {series.size} values; at least {minimum} are needed")
    problem = unfit(series, what)
    if problem:
        raise ValueError(problem)
    return series


def unfit(series: NDArray[np.float64], what: str = "series") -> str:
    """What is to be said of a series that is not finite; nothing of one that is."""
    finite = np.isfinite(series)
    if finite.all():
        return ""
    first = int(np.argmin(finite))
    return (
        f"the {what} is not finite: the value at index {first} is {series[first]}, "
        f"{np.count_nonzero(~finite)} of {series.size} in all; pass finite values only"
    )


def real_series(x: Any, what: str = "series") -> NDArray[np.float64]:
    """As `checked_series`, of any length, for a caller who sees on the way what is not finite."""
    if isinstance(x, np.ma.MaskedArray):
        raise ValueError(f"the {what} is a masked array; pass a plain array without the masked values, x.compressed()")
    try:
        values = np.asarray(x)
    except ValueError as error:
        raise ValueError(
            f"the {what} is not an array of numbers ({error}); pass real numbers in one dimension"
        ) from None
    if values.ndim != 1:
        raise ValueError(f"the {what} has shape {values.shape}; pass one observable, an array of shape (N,)")
    if np.iscomplexobj(values):
        raise ValueError(f"the {what} is complex; pass a real observable, for example x.real or abs(x)")
    if values.dtype.kind in "OUS":
        values = _numbers(values, what)
    elif values.dtype.kind not in "biuf":
        raise ValueError(f"the {what} has dtype {values.dtype}; pass real numbers")
    series = np.require(values, np.float64, ["C", "A", "W"])
    return series


def _numbers(values: NDArray[Any], what: str) -> NDArray[np.float64]:
    for index, value in enumerate(values.tolist()):
        if isinstance(value, complex | str | bytes) or not hasattr(value, "__float__"):
            raise ValueError(f"the {what} holds {value!r} at index {index}, not a real number; pass real numbers")
    return values.astype(np.float64)
