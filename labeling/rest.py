"""Equilibria of a flow, and fixed points of a map, followed through a whole sweep, stable or not."""

from collections.abc import Sequence

import numpy as np

from dynamics.block import Array
from dynamics.cycles import Cycle, rest_points, wrapped
from dynamics.system import Sweep, System
from labeling.cascades import Local
from labeling.continuation import SHARP, Branch, Place, unstable

STARTS = 14  # of Newton's method, spread over the sampling box
APART = 1e-6  # relative distance at which two solutions are two points
PART = 16  # grid intervals in one piece of work

Task = tuple[System, Sweep, list[float]]


def rest_tasks(system: System, sweep: Sweep, values: Sequence[float]) -> list[Task]:
    """The grid cut into overlapping pieces; none for a flow with explicit time, which has no equilibria."""
    if system.kind == "ode" and not system.autonomous:
        return []
    return [(system, sweep, list(values[i : i + PART + 1])) for i in range(0, len(values) - 1, PART)]


def rest_crossings(system: System, sweep: Sweep, values: Sequence[float]) -> list[Local]:
    """Brackets at which an equilibrium changes its number of unstable multipliers, comes or goes, along a grid."""
    width = SHARP * max(min(abs(values[0]), abs(values[-1])), 1e-3 * (sweep.hi - sweep.lo))
    branch = Branch(system, sweep.parameter, 0.01, width)
    known = [_resting(system.with_values({sweep.parameter: value})) for value in values]
    found: list[Local] = []
    for i in range(len(values) - 1):
        for here, there, start in ((i, i + 1, values[i]), (i + 1, i, values[i + 1])):
            if len(known[here]) == len(known[there]) and _signature(known[here]) == _signature(known[there]):
                continue
            for cycle in known[here]:
                crossing = branch.crossing(Place(start, cycle), values[there])
                if crossing is not None:
                    how = "existence of the point" if crossing.ends else "multiplier crossing"
                    found.append(Local(crossing.lo, crossing.hi, crossing.kind, how))
    return found


def _signature(points: Sequence[Cycle]) -> list[int]:
    return sorted(unstable(cycle) for cycle in points)


def _resting(system: System) -> list[Cycle]:
    """All equilibria that Newton reaches from starts spread over the box, in a fixed order."""
    lows, highs = (
        np.array([system.box.get(n, (v - 1.0, v + 1.0))[s] for n, v in system.state.items()]) for s in (0, 1)
    )
    unit = np.random.default_rng(0).random((STARTS, system.dimension))
    starts: Array = np.vstack([np.zeros(system.dimension), [*system.state.values()], lows + unit * (highs - lows)])
    found: list[Cycle] = []
    for cycle in rest_points(system, starts):
        near = [np.abs(wrapped(system, cycle.point - known.point)).max() for known in found]
        if all(gap > APART * (1 + np.abs(cycle.point).max()) for gap in near):
            found.append(cycle)
    return sorted(found, key=lambda cycle: tuple(np.round(cycle.point, 9)))
