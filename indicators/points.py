"""The door of every indicator that reads points of a state space in time order."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indicators.series import checked_series


def checked_points(x: Any, minimum: int = 1) -> NDArray[np.float64]:
    """The points as a contiguous (N, d) float64 array, or a ValueError that says what is wrong with them.

    A (N,) series counts as (N, 1). Each component is held to the rules of `checked_series`: integers are cast; complex,
    masked, non-numeric and not finite ones, and fewer than `minimum` points, are refused.
    """
    if isinstance(x, np.ma.MaskedArray):
        raise ValueError("the points are a masked array; pass a plain array without the masked points")
    try:
        values = np.asarray(x)
    except ValueError as error:
        raise ValueError(f"the points are not an array of numbers ({error}); pass an array of shape (N, d)") from None
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(f"the points have shape {values.shape}; pass an array of shape (N, d), d >= 1, or (N,)")
    columns = [checked_series(column, minimum, f"component {c}") for c, column in enumerate(values.T)]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def checked_circumference(circumference: ArrayLike | None, d: int) -> NDArray[np.float64]:
    """The circumference of each of d components as (d,) float64, 0 for one that lives on a line; None: all on lines."""
    if circumference is None:
        return np.zeros(d)
    lengths = checked_series(circumference, 0, "list of circumferences")
    if lengths.size != d:
        raise ValueError(f"{lengths.size} circumferences are given for {d} components; pass one each, 0 for a line")
    if lengths.min() < 0.0:
        raise ValueError(f"a circumference is {lengths.min()}; it must be above 0, or 0 for a component on a line")
    return lengths
