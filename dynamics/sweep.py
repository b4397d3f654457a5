"""A grid over one parameter of a system, as its row states it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynamics.equations import RowError, number
from dynamics.nearest import shown

MAX_SWEEP_POINTS = 1_000_000


@dataclass(frozen=True)
class Sweep:
    """A grid over one parameter: `points` values from `lo` to `hi`, both included."""

    parameter: str
    lo: float
    hi: float
    points: int

    @property
    def values(self) -> list[float]:
        """The grid."""
        found: list[float] = np.linspace(self.lo, self.hi, self.points).tolist()
        return found

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lo) and math.isfinite(self.hi) and self.lo < self.hi):
            raise RowError(f"the sweep of {self.parameter} runs from {self.lo} to {self.hi}; lo must be below hi")
        if not math.isfinite(self.hi - self.lo):
            raise RowError(f"the sweep of {self.parameter} runs from {self.lo} to {self.hi}, which is too wide a range")
        if not 2 <= self.points <= MAX_SWEEP_POINTS:
            raise RowError(f"the sweep of {self.parameter} has {self.points} points; at least 2 are needed"
                               f" and at most {MAX_SWEEP_POINTS}")  # fmt: skip
        if (self.hi - self.lo) / (self.points - 1) < math.ulp(max(abs(self.lo), abs(self.hi))):
            raise RowError(f"the sweep of {self.parameter} has {self.points} points from {self.lo!r} to {self.hi!r},"
                           " which double precision cannot tell apart; take fewer")  # fmt: skip


def read_sweep(entry: Any, refuse: Callable[[str], RowError]) -> Sweep:
    """A sweep as a row states it."""
    keys = ("parameter", "lo", "hi", "points")
    if not isinstance(entry, dict) or set(entry) != set(keys):
        raise refuse(f"the sweep {shown(entry)} needs the keys {', '.join(keys)}, and no others")
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
