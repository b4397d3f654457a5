"""A flow's series crossing a plane: where it comes back to, roughly for all crossings and exactly for a few."""

import numpy as np
from numpy.typing import NDArray

from dynamics.block import Array, block
from dynamics.codegen import LANES
from dynamics.settle import slope
from labeling.evidence import Evidence

CROSSINGS = 160  # of the section, the last ones of a series


def crossings(e: Evidence) -> tuple[NDArray[np.int64], Array, Array]:
    """The last upward crossings of a flow's series through the mean of its widest variable, by linear interpolation.

    Returns the index of the state before each crossing (n,), the time since that state (n,), and the states (n, d).
    """
    c, level = _section_plane(e)
    above = e.series[:, c] > level
    before = np.flatnonzero(~above[:-1] & above[1:])[-CROSSINGS:]
    x, y = e.series[before], e.series[before + 1]
    part = (level - x[:, c]) / (y[:, c] - x[:, c])
    return before, part * e.series_step, x + part[:, None] * (y - x)


def located(e: Evidence, before: NDArray[np.int64], since: Array) -> tuple[Array, Array]:
    """Times and states of up to LANES crossings, exact: Newton on the step itself, from the states before them."""
    c, level = _section_plane(e)
    index, tau = np.resize(before, LANES), np.resize(since, LANES)
    parameters = np.repeat(e.parameters[:, None], LANES, axis=1)
    start = e.series[index].T.copy()
    for _ in range(6):
        moving = block(e.system, start, parameters, 0, h=tau / 8)
        moving.advance(8)
        reached = moving.states
        speed = slope(e.system, reached, parameters)[0][c]
        tau = np.clip(
            tau - (reached[c] - level) / np.where(speed == 0.0, 1.0, speed), -e.series_step, 2 * e.series_step
        )
    return (index * e.series_step + tau)[: len(before)], reached.T[: len(before)]


def _section_plane(e: Evidence) -> tuple[int, float]:
    c = int(np.argmax(e.extent))
    return c, float(e.series[:, c].mean())
