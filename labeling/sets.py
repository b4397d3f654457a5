"""The attractors of a system over its sampling box: what they are, and which share of the starts each one gets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynamics.block import Array, block, run
from dynamics.codegen import LANES
from dynamics.cycles import Cycle, rest_points, wrapped
from dynamics.system import System
from labeling.evidence import Evidence
from labeling.regimes import Verdict
from labeling.settings import Settings

STARTS = 64  # of the ensemble, drawn over the box
SAME_POINT = 1e-5  # relative distance within which two resting points, or two cycles' extents, are the same
OVERLAP = 0.6  # of two chaotic sets' extents, from which on they are one set
LEAST_SHARE = 0.01  # of a set that counts for the label of a system


@dataclass(frozen=True)
class InvariantSet:
    """One set that orbits end on: the verdict on it, its share of the starts, and a start that leads there."""

    verdict: Verdict
    share: float
    start: dict[str, float]

    def as_row(self) -> dict[str, Any]:
        """The set as it stands in a row's `attractors`."""
        v = self.verdict
        return {
            "regime": v.regime, "share": self.share, "period": v.period, "period_time": v.period_time,
            "initial_condition": self.start,
        }  # fmt: skip


def ensemble(system: System, seed: int) -> list[System]:
    """The system from STARTS states drawn over its box, and from the neighbourhood of each attracting equilibrium."""
    rng = np.random.default_rng(seed)
    lows, highs = _box(system)
    drawn = lows + (highs - lows) * rng.random((STARTS, system.dimension))
    return [system.with_values({}, dict(zip(system.state, map(float, x), strict=True))) for x in drawn]


def resting_attractors(system: System) -> list[Cycle]:
    """The attracting equilibria of a flow, or fixed points of a map, that Newton finds from starts over the box."""
    if system.kind == "ode" and not system.autonomous:
        return []
    lows, highs = _box(system)
    unit = np.random.default_rng(0).random((48, system.dimension))
    starts: Array = np.vstack([[*system.state.values()], lows + unit * (highs - lows)])
    found: list[Cycle] = []
    for cycle in rest_points(system, starts):
        if cycle.modulus < 1.0 and all(_gap(system, cycle.point, known.point) > SAME_POINT for known in found):
            found.append(cycle)
    return found


def sets_of(judged: Sequence[tuple[Evidence, Verdict]], system: System) -> list[InvariantSet]:
    """The different sets among the ends of an ensemble, the most frequent first, and attracting equilibria besides."""
    groups: list[list[tuple[Evidence, Verdict]]] = []
    for e, v in judged:
        for group in groups:
            if _alike(*group[0], e, v):
                group.append((e, v))
                break
        else:
            groups.append([(e, v)])
    groups.sort(key=lambda group: -len(group))
    found = [InvariantSet(g[0][1], len(g) / len(judged), dict(g[0][0].system.state)) for g in groups]
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
    factor = system.constant_volume_factor
    preserving = factor is not None and factor == (0.0 if system.kind == "ode" else 1.0)
    reason = "mixed_phase_space" if preserving else "several_attractors"
    shares = [[s.verdict.regime, s.share] for s in sets]
    return Verdict("undecided", reason=reason, evidence={"shares": shares})


def escapes(e: Evidence, rest: Sequence[Cycle], seed: int) -> dict[str, float] | None:
    """How chaotic-looking orbits leave for attracting equilibria beside them: counts and times, None without any.

    64 states spread along the settled series are followed for as long as 16 series. Those that rest in the first
    quarter may have started in a basin; a later one shows that the chaotic set is a transient. `rate` is escapes per
    unit of time survived, `rate_below` its upper end at 95 % (rule of three) where none escaped.
    """
    if not rest:
        return None
    s, rng = e.system, np.random.default_rng(seed)
    parameters = np.repeat(e.parameters[:, None], LANES, axis=1)
    steps = max(1, round(e.series_step / e.h))
    stretch = len(e.series) * ESCAPE_SERIES // ESCAPE_CHECKS * steps
    survived, late, early = 0.0, 0, 0
    for part in range(ESCAPE_LANES // LANES):
        index = np.linspace(0, len(e.series) - 1, ESCAPE_LANES).astype(int)[part * LANES : (part + 1) * LANES]
        states = e.series[index].T * (1 + 1e-6 * rng.standard_normal((s.dimension, LANES)))
        moving = block(s, states, parameters, 0, h=e.h)
        gone = np.zeros(LANES, dtype=bool)
        for check in range(ESCAPE_CHECKS):
            run(moving, 1, steps=64, renormalisations=max(1, stretch // 64))
            now = np.zeros(LANES, dtype=bool)
            for cycle in rest:
                gap = np.abs(wrapped(s, moving.states - cycle.point[:, None])).max(axis=0)
                now |= gap <= 1e-3 * e.scale
            new = now & ~gone
            if check >= ESCAPE_CHECKS // 4:
                late += int(new.sum())
                survived += float((~gone).sum()) * stretch * e.h
            else:
                early += int(new.sum())
            gone |= now
    rate = late / survived if survived else np.inf
    return {"early": early, "late": late, "time": survived, "rate": rate, "rate_below": 3.0 / max(survived, 1e-300)}


ESCAPE_LANES, ESCAPE_CHECKS, ESCAPE_SERIES = 64, 16, 16


def survives(e: Evidence, verdict: Verdict, seed: int) -> Verdict:
    """A chaotic verdict, or undecided where orbits still leave the chaotic set for an equilibrium beside it."""
    found = escapes(e, resting_attractors(e.system), seed)
    if found is None:
        return verdict
    evidence = verdict.evidence | {"escapes": found}
    if found["late"] or found["early"] >= ESCAPE_LANES // 2:
        return Verdict("undecided", reason="long_transient", evidence=evidence)
    return replace(verdict, evidence=evidence)


def _box(system: System) -> tuple[Array, Array]:
    lows, highs = (
        np.array([system.box.get(n, (v - 1.0, v + 1.0))[side] for n, v in system.state.items()]) for side in (0, 1)
    )
    return lows, highs


def _gap(system: System, a: Array, b: Array) -> float:
    return float(np.abs(wrapped(system, a - b)).max() / (1 + np.abs(a).max()))


def _alike(e: Evidence, v: Verdict, other: Evidence, w: Verdict) -> bool:
    if v.key != w.key or v.stability != w.stability:
        return False
    if v.regime in ("unbounded", "undecided"):
        return True
    if v.regime == "fixed_point":
        return _gap(e.system, np.array(v.evidence["point"]), np.array(w.evidence["point"])) <= SAME_POINT
    factor = e.system.constant_volume_factor
    if factor is not None and factor == (0.0 if e.system.kind == "ode" else 1.0):
        return True  # orbits of a volume-preserving system are all different; their kinds are what counts
    a, b = ((x.series.min(axis=0), x.series.max(axis=0)) for x in (e, other))
    shared = np.minimum(a[1], b[1]) - np.maximum(a[0], b[0])
    whole = np.maximum(np.maximum(a[1], b[1]) - np.minimum(a[0], b[0]), 1e-300)
    least = 1 - 100 * SAME_POINT if v.regime == "periodic" and e.system.kind == "map" else OVERLAP
    return bool((shared / whole >= least).all())
