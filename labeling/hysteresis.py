"""Attractors carried along a sweep, up and down from where they were met: where they end, where several coexist."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from dynamics.block import at_phase_zero
from dynamics.codegen import LANES
from dynamics.cycles import wrapped
from dynamics.structure import preserved_density
from dynamics.system import Sweep, System
from labeling.cascades import same_cycle
from labeling.continuation import SHARP, Branch
from labeling.points import Point, judged_versions
from labeling.sets import ensemble
from labeling.settings import Settings
from labeling.workers import Workers

ESCALATIONS = {"map": 1, "ode": 0}  # of a carried attractor; one that stays undecided counts as ended
Result = TypeVar("Result")

PART = 16  # grid intervals in one piece of work
SPACING, PLACES = 8, 8  # grid points between those at which other attractors are looked for, and how many at most
SAME_PLACE = 1e-3  # relative distance within which two resting points, or points of forced cycles, are one
NO_SET = ("undecided", "unbounded", "stochastic")  # regimes of no attractor that could be carried


@dataclass(frozen=True)
class End:
    """An attractor met as `origin` and carried to grid point `at`: it is another, or undecided, at the next, `to`."""

    origin: Point
    at: int
    to: int
    before: Point
    after: Point

    @property
    def direction(self) -> int:
        """1 where the parameter grew, -1 where it shrank."""
        return 1 if self.to > self.at else -1


@dataclass(frozen=True)
class Carried:
    """What is known of a sweep's attractors.

    `lists` has those known at every grid point, the one from the row's start first; `pairs` the neighbouring grid
    points between which that one changes; `ends` where carried attractors ended. `drawn` has, for the grid points at
    which other attractors were looked for, what orbits from all over the box ended on.
    """

    lists: list[list[Point]]
    pairs: list[tuple[int, int]]
    ends: list[End]
    drawn: dict[int, list[Point]] = field(default_factory=dict)

    def share(self, at: int, attractor: Point) -> float | None:
        """The share of the starts at a grid point that ended on an attractor; None where none were drawn."""
        if at not in self.drawn:
            return None
        return sum(_alike(p, attractor) for p in self.drawn[at]) / len(self.drawn[at])

    def ended(self, low: int, high: int, direction: int, origin: Point) -> bool:
        """Whether an attractor that was carried in a direction ended between two grid points."""
        return any(
            end.origin is origin
            and end.direction == direction
            and low <= min(end.at, end.to)
            and max(end.at, end.to) <= high
            for end in self.ends
        )


def differing(points: Sequence[Point]) -> list[tuple[int, int]]:
    """Indices of neighbouring decided points whose verdicts differ; undecided points between them are passed over."""
    decided = [i for i, p in enumerate(points) if p.verdict.regime != "undecided"]
    return [(i, j) for i, j in pairwise(decided) if points[i].verdict.differs(points[j].verdict)]


def carried(system: System, sweep: Sweep, points: Sequence[Point], settings: Settings, workers: Workers) -> Carried:
    """Carry the attractor on either side of every difference across it, and on, until it ends or is the known one.

    Every step starts from a state on the attractor at the grid point before, as a slow change of the parameter would;
    on a cycle, from where Newton finds it after the step, so that a coarse grid does not lose it.
    All attractors on their way are looked at together, so the work is dealt in blocks like that of a grid.
    """
    lists, ends = [[p] for p in points], list[End]()
    # no attractors: other orbits beside the known one are no news; and a past is more than a state to start from
    if not system.has_formula or preserved_density(system) is not None:
        pairs = differing(points)
        return Carried(lists, pairs, [*_all_end(points, pairs)])
    pairs = sorted(differing(points) + _jumping(system, sweep, points, workers))
    brief = replace(settings, escalations=min(settings.escalations, ESCALATIONS["map" if system.discrete else "ode"]))
    travellers = [(points[i], i, 1, points[i]) for i, _ in pairs] + [(points[j], j, -1, points[j]) for _, j in pairs]
    drawn = _drawn(points, brief, workers)
    for at, ended in drawn.items():
        for found in ended:
            if found.verdict.regime not in NO_SET and not any(_alike(found, known) for known in lists[at]):
                lists[at].append(found)
    tried: set[tuple[int, int]] = set()
    while travellers := travellers or _untried(lists, tried):
        tried |= {(id(before), at + step) for _, at, step, before in travellers}
        steps = [(_bare(before), points[at + step].version) for _, at, step, before in travellers]
        versions = _dealt(_moves, system, sweep, steps, workers, "continuation, start")
        judged = judged_versions(versions, brief, workers, what="continuation")
        met = [(_bare(before), _bare(after)) for (_, _, _, before), after in zip(travellers, judged, strict=True)]
        others = _dealt(_changes, system, sweep, met, workers, "continuation, end")
        still = []
        for (origin, at, step, before), after, other in zip(travellers, judged, others, strict=True):
            to = at + step
            if other:
                ends.append(End(origin, at, to, before, after))
                origin = after  # what it became is carried on, unless it is known
            if after.verdict.regime not in NO_SET and not any(_alike(after, known) for known in lists[to]):
                lists[to].append(after)
                if 0 <= to + step < len(points):
                    still.append((origin, to, step, after))
        travellers = still
    return Carried(lists, pairs, ends, drawn)


def _untried(lists: Sequence[Sequence[Point]], tried: set[tuple[int, int]]) -> list[tuple[Point, int, int, Point]]:
    """Where several attractors are known, those that were not carried to either neighbour yet."""
    return [
        (p, i, step, p)
        for i, known in enumerate(lists)
        for p in known
        for step in (1, -1)
        if len(known) > 1 and 0 <= i + step < len(lists) and (id(p), i + step) not in tried
        if p.verdict.regime not in NO_SET
    ]


def _drawn(points: Sequence[Point], settings: Settings, workers: Workers) -> dict[int, list[Point]]:
    """What LANES orbits from all over the box end on, at a few grid points."""
    spacing = max(SPACING, math.ceil(len(points) / PLACES))
    places = range(spacing // 2, len(points), spacing)
    starts = [version for at in places for version in ensemble(points[at].version, settings.seed)[:LANES]]
    judged = iter(judged_versions(starts, replace(settings.brief(), escalations=0), workers, what="other attractors"))
    return {at: [next(judged) for _ in range(LANES)] for at in places}


def _alike(a: Point, b: Point) -> bool:
    if a.verdict.differs(b.verdict):
        return False
    mine, other = a.verdict.cycle, b.verdict.cycle
    if mine is None or other is None:
        return True
    single = a.verdict.regime == "fixed_point" or a.verdict.period == 1  # which no other of its points can stand for
    gap = np.abs(wrapped(a.version, mine.point - other.point)).max() if single else 0.0
    return same_cycle(mine, other) and bool(gap <= SAME_PLACE * (1 + np.abs(mine.point).max()))


def _jumping(system: System, sweep: Sweep, points: Sequence[Point], workers: Workers) -> list[tuple[int, int]]:
    """Neighbouring points that have the same kind of cycle, but not the same one."""
    alike = [
        (i, i + 1) for i, (p, q) in enumerate(pairwise(points)) if p.verdict.key == q.verdict.key and p.verdict.cycle
    ]
    bare = [(_bare(points[i]), _bare(points[j])) for i, j in alike]
    jumped = _dealt(_jumps, system, sweep, bare, workers, "same cycles")
    return [pair for pair, jump in zip(alike, jumped, strict=True) if jump]


def _dealt(
    function: Callable[[System, Sweep, Sequence[Any]], list[Result]],
    system: System,
    sweep: Sweep,
    items: Sequence[Any],
    workers: Workers,
    what: str,
) -> list[Result]:
    """A function of many items, which are dealt in pieces of PART."""
    tasks = [(system, sweep, list(items[i : i + PART])) for i in range(0, len(items), PART)]
    return [x for found in workers.each(function, tasks, what) for x in found]


def _bare(point: Point) -> Point:
    return replace(point, row=None, orbit=np.empty(0))


def _jumps(system: System, sweep: Sweep, pairs: Sequence[tuple[Point, Point]]) -> list[bool]:
    return [_jumped(system, sweep, a, b) for a, b in pairs]


def _moves(system: System, sweep: Sweep, steps: Sequence[tuple[Point, System]]) -> list[System]:
    return [_moved(system, sweep, before, there) for before, there in steps]


def _moved(system: System, sweep: Sweep, before: Point, there: System) -> System:
    cycle = before.verdict.cycle
    if cycle is not None and cycle.attracts and not cycle.neutral:
        branch = _branch(system, sweep, before)
        found = branch.at(there.parameters[sweep.parameter], cycle)
        if found is not None and found.attracts:
            state = at_phase_zero(there, found.point, branch.phase, branch.step)
            return there.with_values({}, dict(zip(system.state, map(float, state), strict=True)))
    return there.with_values({}, before.end)


def _branch(system: System, sweep: Sweep, point: Point) -> Branch:
    e = point.verdict.evidence
    step, phase = float(e.get("step", 0.01)), float(e.get("phase", 0.0))
    return Branch(system, sweep.parameter, step, SHARP * (sweep.hi - sweep.lo), phase)


def _changes(system: System, sweep: Sweep, pairs: Sequence[tuple[Point, Point]]) -> list[bool]:
    return [a.verdict.differs(b.verdict) or _jumped(system, sweep, a, b) for a, b in pairs]


def _jumped(system: System, sweep: Sweep, a: Point, b: Point) -> bool:
    """Whether the cycle of one point, followed to the other's parameter by Newton, is there and is another cycle."""
    mine, other = a.verdict.cycle, b.verdict.cycle
    if mine is None or other is None or mine.neutral or other.neutral:
        return False
    branch = _branch(system, sweep, a)
    there = branch.at(b.params[sweep.parameter], mine)
    if there is not None and same_cycle(there, other):
        return False
    back = branch.at(a.params[sweep.parameter], other)
    return back is None or not same_cycle(back, mine)


def _all_end(points: Sequence[Point], pairs: Sequence[tuple[int, int]]) -> Iterator[End]:
    for i, j in pairs:
        yield End(points[i], i, j, points[i], points[j])
        yield End(points[j], j, i, points[j], points[i])
