"""Equilibria of a flow, and fixed points of a map, followed through a whole sweep, stable or not."""

from collections.abc import Sequence

from dynamics.cycles import Cycle
from dynamics.system import Sweep, System
from labeling.continuation import Branch, Place, sharp_width, unstable
from labeling.local import Local, local
from labeling.sets import resting_points

STARTS = 16  # of Newton's method: zero, the row's start, and others spread over the sampling box
PART = 16  # grid intervals in one piece of work

Task = tuple[System, Sweep, list[float]]


def rest_tasks(system: System, sweep: Sweep, values: Sequence[float]) -> list[Task]:
    """The grid cut into overlapping pieces; none for a flow with explicit time, which has no equilibria."""
    if not system.has_formula or (system.kind == "ode" and not system.autonomous):
        return []
    return [(system, sweep, list(values[i : i + PART + 1])) for i in range(0, len(values) - 1, PART)]


def rest_crossings(system: System, sweep: Sweep, values: Sequence[float]) -> list[Local]:
    """Brackets at which an equilibrium changes its number of unstable multipliers, comes or goes, along a grid."""
    known = [resting_points(system.with_values({sweep.parameter: value}), STARTS) for value in values]
    found: list[Local] = []
    for i in range(len(values) - 1):
        branch = Branch(system, sweep.parameter, 0.01, sharp_width(sweep, values[i], values[i + 1]))
        for here, there, start in ((i, i + 1, values[i]), (i + 1, i, values[i + 1])):
            if len(known[here]) == len(known[there]) and _signature(known[here]) == _signature(known[there]):
                continue
            for cycle in known[here]:
                crossing = branch.crossing(Place(start, cycle), values[there])
                if crossing is not None:
                    found.append(local(branch, crossing, crossing.kind, "point"))
    return found


def _signature(points: Sequence[Cycle]) -> list[int]:
    return sorted(unstable(cycle) for cycle in points)
