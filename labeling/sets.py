"""The attractors of a system over its sampling box: what they are, and which share of the starts each one gets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dynamics.block import Array
from dynamics.cycles import Cycle, cycle_points, rest_points, wrapped
from dynamics.fields import field_starts
from dynamics.system import System
from labeling.evidence import Evidence
from labeling.verdict import Verdict

STARTS = 64  # of the ensemble, drawn over the box
REST_STARTS = 32  # of Newton, to find resting attractors
SAME_POINT = 1e-6  # relative distance within which two resting points, or two cycles' extents, are the same
SAME_CYCLE = 0.98  # overlap of the extents of two sampled cycles that are the same
OVERLAP = 0.6  # of two chaotic sets' extents, from which on they are one set
LEAST_SHARE = 0.01  # of a set that counts for the label of a system


@dataclass(frozen=True)
class InvariantSet:
    """One set that orbits end on: the verdict on it, its share of the starts, and a start that leads there."""

    verdict: Verdict
    share: float
    start: dict[str, float]


def ensemble(system: System, seed: int) -> list[System]:
    """The system from STARTS states drawn over its box, and from the neighbourhood of each attracting equilibrium."""
    if system.kind == "pde":  # a field drawn point by point would be as rough as no solution is
        starts = field_starts(system, seed).T
        return [system.with_values({}, dict(zip(system.state, map(float, x), strict=True))) for x in starts]
    rng = np.random.default_rng(seed)
    lows, highs = _box(system)
    drawn = lows + (highs - lows) * rng.random((STARTS, system.dimension))
    return [system.with_values({}, dict(zip(system.state, map(float, x), strict=True))) for x in drawn]


def resting_points(system: System, starts: int = REST_STARTS) -> list[Cycle]:
    """The equilibria of a flow, or fixed points of a map, that Newton finds from starts over the box, stable or not."""
    if not system.has_formula or (system.kind == "ode" and not system.autonomous):
        return []
    lows, highs = _box(system)
    unit = np.random.default_rng(0).random((starts - 2, system.dimension))
    guesses: Array = np.vstack([np.zeros(system.dimension), [*system.state.values()], lows + unit * (highs - lows)])
    found: list[Cycle] = []
    for cycle in rest_points(system, guesses):
        if all(_gap(system, cycle.point, known.point) > SAME_POINT for known in found):
            found.append(cycle)
    return sorted(found, key=lambda cycle: tuple(np.round(cycle.point, 9)))


def resting_attractors(system: System) -> list[Cycle]:
    """Those of the resting points that attract."""
    return [cycle for cycle in resting_points(system) if cycle.attracts and not cycle.neutral]


def sets_of(
    judged: Sequence[tuple[Evidence, Verdict]], system: System, confirmed: Callable[[Evidence, Verdict], Verdict]
) -> list[InvariantSet]:
    """The different sets among the ends of an ensemble, the most frequent first, and attracting equilibria besides.

    Verdicts come as the indicators left them; one of each set is `confirmed`, for all.
    """
    groups: list[list[tuple[Evidence, Verdict]]] = []
    for e, v in judged:
        for group in groups:
            if _alike(*group[0], e, v):
                group.append((e, v))
                break
        else:
            groups.append([(e, v)])
    groups.sort(key=lambda group: -len(group))
    found = [InvariantSet(confirmed(*g[0]), len(g) / len(judged), dict(g[0][0].system.state)) for g in groups]
    for cycle in resting_attractors(system):
        at = [s for s in found if s.verdict.regime == "fixed_point"]
        if all(_gap(system, cycle.point, np.array(s.verdict.evidence["point"])) > SAME_POINT for s in at):
            rest = Verdict("fixed_point", 1 if system.kind == "map" else None, None, "attracting",
                           evidence={"point": cycle.point.tolist()})  # fmt: skip
            found.append(InvariantSet(rest, 0.0, dict(zip(system.state, map(float, cycle.point), strict=True))))
    return found


def verdict_over(sets: Sequence[InvariantSet], system: System) -> Verdict:
    """The label of the system over all its sets: theirs where those with a share of 1 % agree, else undecided."""
    counted = [s for s in sets if s.share >= LEAST_SHARE]
    if len({s.verdict.key[:2] for s in counted}) == 1:
        return counted[0].verdict
    shares = [[s.verdict.regime, s.share] for s in sets]
    evidence = {"shares": shares}
    return Verdict(
        "undecided", reason="mixed_phase_space" if system.preserves_volume else "several_attractors", evidence=evidence
    )


def _box(system: System) -> tuple[Array, Array]:
    lows, highs = (
        np.array([system.box.get(n, (v - 1.0, v + 1.0))[side] for n, v in system.state.items()]) for side in (0, 1)
    )
    return lows, highs


def _gap(system: System, a: Array, b: Array) -> float:
    return float(np.abs(wrapped(system, a - b)).max() / (1 + np.abs(a).max()))


def _alike(e: Evidence, v: Verdict, other: Evidence, w: Verdict) -> bool:
    if v.differs(w) or v.stability != w.stability:
        return False
    if v.regime in ("unbounded", "undecided"):
        return True
    if v.regime == "fixed_point":
        return _gap(e.system, np.array(v.evidence["point"]), np.array(w.evidence["point"])) <= SAME_POINT
    if v.regime == "periodic" and e.system.kind == "map":
        other_cycle = Cycle(np.array(w.evidence["point"]), float(w.period or 1), np.empty(0, dtype=complex), 0.0)
        points = cycle_points(other.system, other_cycle, other.parameters, int(w.period or 1))
        gap = np.abs(wrapped(e.system, points - np.array(v.evidence["point"])[:, None])).max(axis=0).min()
        return bool(gap <= SAME_POINT * e.scale)
    if e.system.preserves_volume:
        return True  # orbits of a volume-preserving system are all different; their kinds are what counts
    return _overlap(e, other) >= (SAME_CYCLE if v.regime == "periodic" else OVERLAP)


def lies_on(e: Evidence, known: Evidence, verdict: Verdict) -> bool | None:
    """Whether an orbit looked at briefly lies on a chaotic attractor known from a long run, and shares its verdict.

    Its largest exponent must be above 0 and agree with the attractor's, within 99.9 % intervals, and it must fill the
    same extents as two chaotic sets that count as one do. None: all but the sign of its exponent speaks for it, which a
    longer run may tell.
    """
    if not verdict.is_chaotic or e.system.preserves_volume or e.status != "ok":
        return False
    a, b = e.largest, known.largest
    if a.value is None or b.value is None:
        return False
    half, halves = float(a.evidence["error_999"]), float(a.evidence["error_999"]) + float(b.evidence["error_999"])
    if abs(a.number - b.number) > halves or _overlap(e, known) < OVERLAP:
        return False
    return True if a.number > half else None


def _overlap(e: Evidence, other: Evidence) -> float:
    """The part of their joint extent that two orbits have in common, in the variable where it is least."""
    a, b = ((x.series.min(axis=0), x.series.max(axis=0)) for x in (e, other))
    shared = np.minimum(a[1], b[1]) - np.maximum(a[0], b[0])
    whole = np.maximum(np.maximum(a[1], b[1]) - np.minimum(a[0], b[0]), 1e-300)
    return float((shared / whole).min())
