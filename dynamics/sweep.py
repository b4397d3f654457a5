"""A grid over one parameter of a system, as its row states it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynamics.equations import RowError, number
from dynamics.nearest import shown

MAX_SWEEP_POINTS = 1_000_000
STATED = ("parameter", "lo", "hi", "points")  # keys of a sweep in a row
MOVED = 0.01  # of the spacing, that rounding may move a value


@dataclass(frozen=True)
class Sweep:
    """A grid over one parameter: `points` values from `lo` to `hi`, both included.

    With `short`, values between are rounded to as few decimals as move none by more than 1 % of the spacing, for
    questions that print them.
    """

    parameter: str
    lo: float
    hi: float
    points: int
    short: bool = False

    @property
    def values(self) -> list[float]:
        """The grid."""
        found: list[float] = np.linspace(self.lo, self.hi, self.points).tolist()
        return [found[0], *self.rounded(found[1:-1]), found[-1]]

    @property
    def spacing(self) -> float:
        """The distance of neighbouring values."""
        return (self.hi - self.lo) / (self.points - 1)

    def rounded(self, values: Sequence[float], parts: int = 1) -> list[float]:
        """Values on a grid `parts` times finer, rounded as the grid's own are; themselves where these are not."""
        if not self.short:
            return list(values)
        decimals = math.ceil(-math.log10(2 * MOVED * self.spacing / parts))
        return [round(value, decimals) for value in values]

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lo) and math.isfinite(self.hi) and self.lo < self.hi):
            raise RowError(f"the sweep of {self.parameter} runs from {self.lo} to {self.hi}; lo must be below hi")
        if not math.isfinite(self.hi - self.lo):
            raise RowError(f"the sweep of {self.parameter} runs from {self.lo} to {self.hi}, which is too wide a range")
        if not 2 <= self.points <= MAX_SWEEP_POINTS:
            raise RowError(f"the sweep of {self.parameter} has {self.points} points; at least 2 are needed"
                               f" and at most {MAX_SWEEP_POINTS}")  # fmt: skip
        if self.spacing < math.ulp(max(abs(self.lo), abs(self.hi))):
            raise RowError(f"the sweep of {self.parameter} has {self.points} points from {self.lo!r} to {self.hi!r},"
                           " which double precision cannot tell apart; take fewer")  # fmt: skip


def read_sweep(entry: Any, refuse: Callable[[str], RowError]) -> Sweep:
    """A sweep as a row states it."""
    if not isinstance(entry, dict) or set(entry) != set(STATED):
        raise refuse(f"the sweep {shown(entry)} needs the keys {', '.join(STATED)}, and no others")
    name, points = entry["parameter"], entry["points"]
    if not isinstance(name, str):
        raise refuse(f"the sweep's parameter is {shown(name)}; the name of one parameter is needed")
    if not isinstance(points, int) or isinstance(points, bool):
        raise refuse(f"the sweep of {name} has points = {shown(points)}; a whole number is needed")
    lo, hi = (number(entry[end], f"{end} of the sweep of {name}") for end in ("lo", "hi"))
    try:
        return Sweep(name, lo, hi, points)
    except RowError as error:
        raise refuse(str(error)) from None
