"""Where neighbouring verdicts differ: a bracket, refined until it is narrow."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from dynamics.codegen import LANES
from dynamics.system import Sweep, System
from labeling.points import Point, judged_points
from labeling.regimes import Verdict
from labeling.settings import Settings
from labeling.workers import Workers

# width of a bracket, relative to the parameter's value (or to a thousandth of the sweep's range)
WIDTH = {"map": 2e-5, "ode": 1e-3}
ESCALATIONS = {"map": 1, "ode": 0}  # of a point inside a bracket; what stays undecided stays inside
ROUNDS = 6  # of refinement, each of LANES points to a bracket
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

    @property
    def kind(self) -> str:
        """The kind of threshold as far as verdicts alone tell it."""
        return "escape" if "unbounded" in (self.below.regime, self.above.regime) else "unclassified"


def neighbours(points: Sequence[Place]) -> list[tuple[Place, Place]]:
    """Pairs of neighbouring decided points whose verdicts differ; undecided points between them are passed over."""
    decided = [p for p in points if p[1].regime != "undecided"]
    return [(a, b) for a, b in pairwise(decided) if a[1].key != b[1].key]


def brackets(
    system: System, sweep: Sweep, points: Sequence[Point], settings: Settings, workers: Workers
) -> list[Bracket]:
    """Refine every interval between differing verdicts by dividing it among LANES points, again and again.

    Where one end is chaotic and the other is not, the boundary sought is that of chaos, next to the end without it
    (the onset, not the edge of some window beyond); otherwise it is the change next to the lower end. Undecided points
    are never an end: what cannot be decided stays inside the bracket.
    """
    places = [(point.params[sweep.parameter], point.verdict) for point in points]
    found = [Bracket(sweep.parameter, a[0], b[0], a[1], b[1], False) for a, b in neighbours(places)]
    smallest = 1e-3 * (sweep.hi - sweep.lo)
    width = WIDTH[system.kind]
    shorter = replace(settings, escalations=min(settings.escalations, ESCALATIONS[system.kind]))
    open_ = list(range(len(found)))
    for round_ in range(1, ROUNDS + 1):
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
            found[i] = replace(old, lo=low[0], hi=high[0], below=low[1], above=high[1])
            if found[i].hi - found[i].lo <= PROGRESS * (old.hi - old.lo):
                still_open.append(i)
        open_ = still_open
        if not open_:
            break
    return found


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
        "method": "bisection of verdicts" + ("" if found.converged else ", not narrowed further"),
        "confidence": 0.999 if found.converged else 0.95,
        "provenance": provenance,
    }
