"""Where neighbouring attractors differ: a bracket, refined until it is narrow."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from dynamics.codegen import LANES
from dynamics.system import Sweep, System
from labeling.cascades import between
from labeling.continuation import Kind
from labeling.hysteresis import Carried, carried
from labeling.local import Local
from labeling.manifolds import AWAY, Change, fate_changes, fate_tasks
from labeling.points import Point, judged_versions
from labeling.rest import rest_crossings, rest_tasks
from labeling.settings import Settings
from labeling.workers import Workers

# width of a bracket, relative to the parameter's value (or to a thousandth of the sweep's range)
WIDTH = {"map": 2e-5, "ode": 1e-3}
ESCALATIONS = {"map": 1, "ode": 0}  # of a point inside a bracket; what stays undecided stays inside
ROUNDS = {"map": 6, "ode": 2}  # of refinement, each of LANES points to a bracket
ROUNDS_WITHOUT_FORMULA = 1  # of delay equations, fields and noise, whose points take seconds each
PROGRESS = 0.9  # a round that leaves more of the width than this is the last: undecided points fill the rest

Direction = Literal["up", "down", "both"]


@dataclass(frozen=True)
class Bracket:
    """A parameter interval [lo, hi] at whose ends the attractors differ.

    `below` and `above` are the attractors known on either side, the one that the change is about first. `direction`
    says whether a slowly growing parameter meets the change (up), a shrinking one (down), or either.
    """

    parameter: str
    lo: float
    hi: float
    below: tuple[Point, ...]
    above: tuple[Point, ...]
    converged: bool
    kind: Kind = "unclassified"
    method: str = "bisection of verdicts"
    direction: Direction = "both"
    certified: bool = False
    estimate: float | None = None  # the sharpest value known, where there is one


def thresholds(
    system: System, sweep: Sweep, points: Sequence[Point], settings: Settings, workers: Workers
) -> tuple[list[Bracket], Carried]:
    """All brackets of a sweep, in order, and the attractors carried along it.

    Equilibria (fixed points of a map) are followed through the whole grid, stable or not. Between grid points where an
    attractor ends, the attracting cycles are followed; what that does not account for is narrowed by verdicts.
    """
    known = carried(system, sweep, points, settings, workers)
    wide = _wide(sweep, points, known)
    tasks = [(system, sweep, _place(b.below[0], sweep), _place(b.above[0], sweep), settings) for b in wide]
    found: list[Bracket] = []
    open_ = _crises(sweep, points, known)
    if system.has_formula:
        for outer, (local, complete) in zip(wide, workers.each(between, tasks, "cycles"), strict=True):
            found += [_narrow(outer, x) for x in local]
            if not complete:
                open_.append(outer)
    else:  # whose cycles no Newton follows
        open_ += wide
    blocks = rest_tasks(system, sweep, [p.params[sweep.parameter] for p in points])
    for part in workers.each(rest_crossings, blocks, "equilibria"):
        inside = [x for x in part if x.lo > sweep.lo and x.hi < sweep.hi]  # an end of the range is no threshold
        found += [_narrow(_around(sweep, points, known, x.lo, x.hi), x) for x in inside]
    pieces = fate_tasks(system, sweep, [p.params[sweep.parameter] for p in points])
    for changes in workers.each(fate_changes, pieces, "manifolds"):
        found += [b for x in changes if (b := _global(sweep, points, known, x)) is not None]
    found = _distinct(found)
    open_ = [wide for wide in open_ if not any(_explains(x, wide) for x in found)]
    for bracket in refined(system, open_, sweep, settings, workers):
        if not any(x.lo <= bracket.hi and bracket.lo <= x.hi for x in found):
            found.append(bracket)
    return sorted(found, key=lambda x: (x.lo, x.hi)), known


def _explains(found: Bracket, wide: Bracket) -> bool:
    """Whether the birth or end of chaos, found on a saddle's manifold, is what changes across a grid interval."""
    chaotic = [b[0].verdict.is_chaotic for b in (wide.below, wide.above)]
    inside = wide.lo <= found.lo and found.hi <= wide.hi
    return inside and found.kind == "boundary_crisis" and chaotic[0] != chaotic[1]


def _wide(sweep: Sweep, points: Sequence[Point], known: Carried) -> list[Bracket]:
    """Grid intervals across which an attractor does not survive.

    Where the row's start leads to different attractors that both live on beyond, it is the basins that moved: nothing
    is bracketed there, but where either one ends.
    """
    out = []
    for i, j in known.pairs:
        up, down = known.ended(i, j, 1, points[i]), known.ended(i, j, -1, points[j])
        if up or down:
            direction: Direction = "both" if up and down else "up" if up else "down"
            out.append(_bracket(sweep, points[i], points[j], (i, j), known, direction))
    for end in known.ends:
        i, j = sorted((end.at, end.to))
        if end.after.verdict.regime != "undecided" and not any(a <= i and j <= b for a, b in known.pairs):
            low, high = (end.before, end.after) if end.direction == 1 else (end.after, end.before)
            out.append(_bracket(sweep, low, high, (i, j), known, "up" if end.direction == 1 else "down"))
    return out


def _crises(sweep: Sweep, points: Sequence[Point], known: Carried) -> list[Bracket]:
    """Grid intervals across which a map's chaos lives on, but in another number of bands."""
    pairs = [
        (i, i + 1)
        for i, (p, q) in enumerate(pairwise(points))
        if p.verdict.bands and q.verdict.bands and p.verdict.bands != q.verdict.bands
    ]
    return [_bracket(sweep, points[i], points[j], (i, j), known, "both") for i, j in pairs]


def _bracket(
    sweep: Sweep, low: Point, high: Point, at: tuple[int, int], known: Carried, direction: Direction
) -> Bracket:
    (lo, _), (hi, _) = _place(low, sweep), _place(high, sweep)
    kind = _kind(low, high, direction)
    below, above = ((p, *(q for q in known.lists[n] if q is not p)) for p, n in zip((low, high), at, strict=True))
    return Bracket(sweep.parameter, lo, hi, below, above, False, kind, direction=direction)


def _narrow(outer: Bracket, x: Local) -> Bracket:
    known = {name: getattr(x, name) for name in ("lo", "hi", "kind", "method", "certified", "estimate")}
    return replace(outer, converged=True, **known)


def _global(sweep: Sweep, points: Sequence[Point], known: Carried, x: Change) -> Bracket | None:
    """The bracket of a change in a saddle's manifold, where it tells of a homoclinic orbit or the birth of chaos."""
    outer = _around(sweep, points, known, x.lo, x.hi)
    chaos = [any(p.verdict.is_chaotic for p in side) for side in (outer.below, outer.above)]
    if min(x.below, x.above) >= 0 and x.returns:
        kind: Kind = "homoclinic"
    elif (x.below == AWAY and x.above >= 0 and chaos[0]) or (x.above == AWAY and x.below >= 0 and chaos[1]):
        kind = "boundary_crisis"
    else:
        return None
    method = "fate of a saddle's unstable manifold"
    return replace(outer, lo=x.lo, hi=x.hi, kind=kind, method=method, converged=True)


def _around(sweep: Sweep, points: Sequence[Point], known: Carried, lo: float, hi: float) -> Bracket:
    """The grid interval in which something changes between lo and hi, whatever becomes of attractors there."""
    values = [p.params[sweep.parameter] for p in points]
    i = max(n for n, value in enumerate(values) if value <= lo)
    j = min(n for n, value in enumerate(values) if value >= hi)
    directions = {end.direction for end in known.ends if i <= min(end.at, end.to) and max(end.at, end.to) <= j}
    one_way: dict[frozenset[int], Direction] = {frozenset({1}): "up", frozenset({-1}): "down"}
    return _bracket(sweep, points[i], points[j], (i, j), known, one_way.get(frozenset(directions), "both"))


def _place(point: Point, sweep: Sweep) -> tuple[float, Any]:
    return point.params[sweep.parameter], point.verdict


def _distinct(found: Sequence[Bracket]) -> list[Bracket]:
    """Each bifurcation once: of overlapping brackets, the one with a known kind, then the narrowest."""
    kept: list[Bracket] = []
    for x in sorted(found, key=lambda x: (x.kind == "unclassified", x.hi - x.lo)):
        slack = x.hi - x.lo
        if not any(k.lo - slack <= x.hi and x.lo <= k.hi + slack for k in kept):
            kept.append(x)
    return kept


def refined(
    system: System, wide: Sequence[Bracket], sweep: Sweep, settings: Settings, workers: Workers
) -> list[Bracket]:
    """Refine every bracket by dividing it among up to LANES points, again and again.

    Points inside start on the attractor that ends, if the change is met in one direction alone, else as the row says.
    Where one end is chaotic and the other is not, the boundary sought is that of chaos, next to the end without it
    (the onset, not the edge of some window beyond); where both are, a change in the number of its bands; otherwise it
    is the change next to the lower end. Undecided points
    are never an end: what cannot be decided stays inside the bracket.
    """
    found = list(wide)
    smallest = 1e-3 * (sweep.hi - sweep.lo)
    width = WIDTH["map" if system.discrete else "ode"]
    shorter = replace(settings, escalations=min(settings.escalations, ESCALATIONS["map" if system.discrete else "ode"]))
    open_ = list(range(len(found)))
    rounds = ROUNDS["map" if system.discrete else "ode"] if system.has_formula else ROUNDS_WITHOUT_FORMULA
    for round_ in range(1, rounds + 1):
        for i in open_:
            if found[i].hi - found[i].lo <= width * max(abs(found[i].lo), abs(found[i].hi), smallest):
                found[i] = replace(found[i], converged=True)
        open_ = [i for i in open_ if not found[i].converged]
        inside = {i: _inside(system, found[i], _count(found[i], width, smallest)) for i in open_}
        versions = [version for i in open_ for version in inside[i]]
        judged = judged_versions(versions, shorter, workers, what=f"brackets, round {round_}")
        still_open, those = [], iter(judged)
        for i in open_:
            old = found[i]
            mine = [next(those) for _ in inside[i]]
            inner = [p for p in mine if p.verdict.regime != "undecided" or _no_attractor(p)]
            ends = [old.below[0], *inner, old.above[0]]
            low, high = _narrowed(ends)
            found[i] = replace(
                old,
                lo=old.lo if low is old.below[0] else low.params[sweep.parameter],
                hi=old.hi if high is old.above[0] else high.params[sweep.parameter],
                below=(low, *old.below[1:]),
                above=(high, *old.above[1:]),
                kind=_kind(low, high, old.direction),
            )
            if found[i].hi - found[i].lo <= PROGRESS * (old.hi - old.lo):
                still_open.append(i)
        open_ = still_open
        if not open_:
            break
    return found


def _count(bracket: Bracket, width: float, smallest: float) -> int:
    """Points that divide a bracket, as many as it needs and at most a block of them."""
    allowed = width * max(abs(bracket.lo), abs(bracket.hi), smallest)
    return min(LANES, math.ceil((bracket.hi - bracket.lo) / allowed))


def _inside(system: System, bracket: Bracket, count: int) -> list[System]:
    start = {"up": bracket.below[0].end, "down": bracket.above[0].end, "both": None}[bracket.direction]
    values = np.linspace(bracket.lo, bracket.hi, count + 2)[1:-1].tolist()
    return [system.with_values({bracket.parameter: value}, start) for value in values]


def _kind(low: Point, high: Point, direction: Direction) -> Kind:
    """What two verdicts tell of a threshold's kind: an attractor that is lost to infinity or to another, or nothing."""
    sides = (low.verdict, high.verdict)
    chaotic = [v.is_chaotic for v in sides]
    if "unbounded" in (v.regime for v in sides):
        return "boundary_crisis" if any(chaotic) else "escape"
    if (direction == "up" and chaotic == [True, False]) or (direction == "down" and chaotic == [False, True]):
        return "boundary_crisis"  # the other attractor was there already: chaos ended, it did not change
    if low.verdict.bands and high.verdict.bands and low.verdict.bands != high.verdict.bands:
        return "interior_crisis"  # bands that touch: Grebogi, Ott & Yorke 1983, Physica D 7:181
    return "unclassified"


def _no_attractor(point: Point) -> bool:
    """Whether an undecided point's chaotic set is known to be no attractor, which is enough to be an end."""
    evidence = point.verdict.evidence
    return "leaves_by_saddle" in evidence or evidence.get("escapes", {}).get("late", 0) > 0


def _narrowed(ends: Sequence[Point]) -> tuple[Point, Point]:
    chaotic = [p.verdict.is_chaotic for p in (ends[0], ends[-1])]
    onset, crisis = chaotic[0] != chaotic[1], all(chaotic) and ends[0].verdict.key == ends[-1].verdict.key

    if crisis:  # windows between are no change of bands
        ends = [p for p in ends if p.verdict.bands]

    def side(point: Point) -> Hashable:
        if onset:
            return point.verdict.is_chaotic
        return point.verdict.bands if crisis else point.verdict.key

    pairs = list(pairwise(ends))
    if onset and side(ends[0]):
        pairs.reverse()  # chaos lies below: come from above
    unlike = [pair for pair in pairs if side(pair[0]) != side(pair[1])]
    return unlike[0] if unlike else (ends[0], ends[-1])  # two sets of one kind: verdicts do not tell them apart


def threshold_row(system: System, found: Bracket, provenance: dict[str, Any]) -> dict[str, Any]:
    """One row of thresholds.jsonl."""
    return {
        "system_id": system.id,
        "parameter": found.parameter,
        "params": {name: value for name, value in system.parameters.items() if name != found.parameter},
        "lo": found.lo,
        "hi": found.hi,
        "estimate": found.estimate,
        "kind": found.kind,
        "below": [p.attractor for p in found.below],
        "above": [p.attractor for p in found.above],
        "direction": found.direction,
        "method": found.method + ("" if found.converged else ", not narrowed further"),
        "confidence": 1.0 if found.certified else 0.999 if found.converged else 0.95,
        "basis": "certified" if found.certified else "measured",
        "provenance": provenance,
    }
