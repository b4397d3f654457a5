"""Where neighbouring verdicts differ: a bracket, refined until it is narrow."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from dynamics.codegen import LANES
from dynamics.system import Sweep, System
from labeling.cascades import Local, between
from labeling.continuation import Kind
from labeling.points import Point, judged_points
from labeling.regimes import Verdict
from labeling.rest import rest_crossings, rest_tasks
from labeling.settings import Settings
from labeling.workers import Workers

# width of a bracket, relative to the parameter's value (or to a thousandth of the sweep's range)
WIDTH = {"map": 2e-5, "ode": 1e-3}
ESCALATIONS = {"map": 1, "ode": 0}  # of a point inside a bracket; what stays undecided stays inside
ROUNDS = {"map": 6, "ode": 2}  # of refinement, each of LANES points to a bracket
PROGRESS = 0.9  # a round that leaves more of the width than this is the last: undecided points fill the rest

Place = tuple[float, Verdict]


@dataclass(frozen=True)
class Bracket:
    """A parameter interval [lo, hi] at whose ends the verdicts differ."""

    parameter: str
    lo: float
    hi: float
    below: Verdict
    above: Verdict
    converged: bool
    kind: Kind = "unclassified"
    method: str = "bisection of verdicts"


def neighbours(points: Sequence[Place]) -> list[tuple[Place, Place]]:
    """Pairs of neighbouring decided points whose verdicts differ; undecided points between them are passed over."""
    decided = [p for p in points if p[1].regime != "undecided"]
    return [(a, b) for a, b in pairwise(decided) if a[1].key != b[1].key]


def thresholds(
    system: System, sweep: Sweep, points: Sequence[Point], settings: Settings, workers: Workers
) -> list[Bracket]:
    """All brackets of a sweep, in order: local ones by following cycles, the others by dividing intervals.

    Equilibria (fixed points of a map) are followed through the whole grid, stable or not. Between differing verdicts
    the attracting cycles are followed; what that does not account for is narrowed by verdicts.
    """
    places = [(point.params[sweep.parameter], point.verdict) for point in points]
    pairs = neighbours(places)
    tasks = [(system, sweep, low, high, settings) for low, high in pairs]
    found: list[Bracket] = []
    open_: list[tuple[Place, Place]] = []
    for (low, high), (local, complete) in zip(pairs, workers.each(between, tasks, "cycles"), strict=True):
        found += [_bracket(sweep, x, low[1], high[1]) for x in local]
        if not complete:
            open_.append((low, high))
    blocks = rest_tasks(system, sweep, [value for value, _ in places])
    for part in workers.each(rest_crossings, blocks, "equilibria"):
        inside = [x for x in part if x.lo > sweep.lo and x.hi < sweep.hi]  # an end of the range is no threshold
        found += [_bracket(sweep, x, *_around(places, x.lo, x.hi)) for x in inside]
    found = _distinct(found)
    for wide in brackets(system, sweep, open_, settings, workers):
        if not any(x.lo <= wide.hi and wide.lo <= x.hi for x in found):
            found.append(wide)
    return sorted(found, key=lambda x: (x.lo, x.hi))


def _bracket(sweep: Sweep, x: Local, below: Verdict, above: Verdict) -> Bracket:
    return Bracket(sweep.parameter, x.lo, x.hi, below, above, True, x.kind, x.method)


def _around(places: Sequence[Place], lo: float, hi: float) -> tuple[Verdict, Verdict]:
    return next(v for x, v in reversed(places) if x <= lo), next(v for x, v in places if x >= hi)


def _distinct(found: Sequence[Bracket]) -> list[Bracket]:
    """Each bifurcation once: of overlapping brackets, the one with a known kind, then the narrowest."""
    kept: list[Bracket] = []
    for x in sorted(found, key=lambda x: (x.kind == "unclassified", x.hi - x.lo)):
        slack = x.hi - x.lo
        if not any(k.lo - slack <= x.hi and x.lo <= k.hi + slack for k in kept):
            kept.append(x)
    return kept


def brackets(
    system: System, sweep: Sweep, pairs: Sequence[tuple[Place, Place]], settings: Settings, workers: Workers
) -> list[Bracket]:
    """Refine every interval between differing verdicts by dividing it among LANES points, again and again.

    Where one end is chaotic and the other is not, the boundary sought is that of chaos, next to the end without it
    (the onset, not the edge of some window beyond); otherwise it is the change next to the lower end. Undecided points
    are never an end: what cannot be decided stays inside the bracket.
    """
    found = [Bracket(sweep.parameter, a[0], b[0], a[1], b[1], False, _kind(a[1], b[1])) for a, b in pairs]
    smallest = 1e-3 * (sweep.hi - sweep.lo)
    width = WIDTH[system.kind]
    shorter = replace(settings, escalations=min(settings.escalations, ESCALATIONS[system.kind]))
    open_ = list(range(len(found)))
    for round_ in range(1, ROUNDS[system.kind] + 1):
        for i in open_:
            if found[i].hi - found[i].lo <= width * max(abs(found[i].lo), abs(found[i].hi), smallest):
                found[i] = replace(found[i], converged=True)
        open_ = [i for i in open_ if not found[i].converged]
        grids = [np.linspace(found[i].lo, found[i].hi, LANES + 2)[1:-1].tolist() for i in open_]
        asked = [{sweep.parameter: value} for grid in grids for value in grid]
        judged = judged_points(system, asked, shorter, workers, what=f"brackets, round {round_}", rows=False)
        still_open = []
        for n, i in enumerate(open_):
            inner = [(p.params[sweep.parameter], p.verdict) for p in judged[n * LANES : (n + 1) * LANES]]
            old = found[i]
            decided = [(old.lo, old.below), *(p for p in inner if p[1].regime != "undecided"), (old.hi, old.above)]
            low, high = _narrowed(decided, old.below.is_chaotic != old.above.is_chaotic)
            found[i] = replace(old, lo=low[0], hi=high[0], below=low[1], above=high[1], kind=_kind(low[1], high[1]))
            if found[i].hi - found[i].lo <= PROGRESS * (old.hi - old.lo):
                still_open.append(i)
        open_ = still_open
        if not open_:
            break
    return found


def _kind(below: Verdict, above: Verdict) -> Kind:
    """What two verdicts tell of a threshold's kind: an attractor that is lost to infinity, or nothing."""
    if "unbounded" not in (below.regime, above.regime):
        return "unclassified"
    return "boundary_crisis" if below.is_chaotic or above.is_chaotic else "escape"


def _narrowed(places: Sequence[Place], onset: bool) -> tuple[Place, Place]:
    def side(place: Place) -> Hashable:
        return place[1].is_chaotic if onset else place[1].key

    pairs = list(pairwise(places))
    if onset and side(places[0]):
        pairs.reverse()  # chaos lies below: come from above
    return next(pair for pair in pairs if side(pair[0]) != side(pair[1]))


def threshold_row(system: System, found: Bracket, provenance: dict[str, Any]) -> dict[str, Any]:
    """One row of thresholds.jsonl."""

    def attractor(verdict: Verdict) -> dict[str, Any]:
        return {
            "regime": verdict.regime, "share": None, "period": verdict.period, "period_time": verdict.period_time,
            "initial_condition": dict(system.state),
        }  # fmt: skip

    return {
        "system_id": system.id,
        "parameter": found.parameter,
        "params": {name: value for name, value in system.parameters.items() if name != found.parameter},
        "lo": found.lo,
        "hi": found.hi,
        "kind": found.kind,
        "below": [attractor(found.below)],
        "above": [attractor(found.above)],
        "direction": "both",
        "method": found.method + ("" if found.converged else ", not narrowed further"),
        "confidence": 0.999 if found.converged else 0.95,
        "provenance": provenance,
    }
