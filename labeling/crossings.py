"""A flow's series crossing a plane: where it comes back to, roughly for all crossings and exactly for a few."""

import numpy as np
from numpy.typing import NDArray

from dynamics.block import Array, block
from dynamics.codegen import LANES
from dynamics.settle import slope
from labeling.evidence import Evidence

CROSSINGS = 160  # of the section, the last ones of a series
NEWTON = 4  # steps to where the cubic crosses


def crossings(e: Evidence) -> tuple[NDArray[np.int64], Array, Array]:
    """The last upward crossings of a flow's series through the mean of its widest variable, by cubic interpolation.

    Returns the index of the state before each crossing (n,), the time since that state (n,), and the states (n, d). The
    cubic has the values and slopes of the series on either side.
    """
    c, level = _section_plane(e)
    above = e.series[:, c] > level
    before = np.flatnonzero(~above[:-1] & above[1:])[-CROSSINGS:]
    x, y = e.series[before], e.series[before + 1]
    fx, fy = (_slopes(e, states) * e.series_step for states in (x, y))
    bend, twist = 3 * (y - x) - 2 * fx - fy, 2 * (x - y) + fx + fy  # x + fx s + bend s**2 + twist s**3
    part = (level - x[:, c]) / (y[:, c] - x[:, c])
    for _ in range(NEWTON):
        miss = x[:, c] + part * (fx[:, c] + part * (bend[:, c] + part * twist[:, c])) - level
        speed = fx[:, c] + part * (2 * bend[:, c] + 3 * part * twist[:, c])
        part = np.clip(part - miss / np.where(speed == 0.0, 1.0, speed), 0.0, 1.0)
    s = part[:, None]
    return before, part * e.series_step, x + s * (fx + s * (bend + s * twist))


def _slopes(e: Evidence, states: Array) -> Array:
    out = np.empty_like(states)
    parameters = np.repeat(e.parameters[:, None], LANES, axis=1)
    for begin in range(0, len(states), LANES):
        chunk = states[begin : begin + LANES]
        out[begin : begin + LANES] = slope(e.system, np.resize(chunk, (LANES, chunk.shape[1])).T, parameters)[0].T[
            : len(chunk)
        ]
    return out


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
