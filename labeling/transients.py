"""Transients: chaotic sets that orbits leave, and how long an orbit takes to settle."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dynamics.block import Array, block, run
from dynamics.codegen import LANES
from dynamics.cycles import Cycle, cycle_points, wrapped
from dynamics.system import System
from labeling.evidence import Evidence, Start, swept_start
from labeling.regimes import Verdict
from labeling.sets import resting_attractors
from labeling.settings import Settings

ESCAPE_LANES = 64  # orbits followed to see whether any leaves a chaotic set
ESCAPE_CHECKS = 16  # times at which each is looked at
ESCAPE_STEPS = {"map": 200_000, "ode": 2_000_000}  # iterates or steps for which each is followed
SETTLED = 1e-2  # distance from the final set, relative to the scale, within which an orbit has settled
RECORDS = 4096  # of the run that measures a transient
LONG = (16, 128)  # budgets of the measurement, in transients dropped by default
CHAOTIC_FOLDS = 3.0  # e-foldings of a deviation over a transient that make it look chaotic


def escapes(e: Evidence, rest: Sequence[Cycle], seed: int) -> dict[str, float] | None:
    """How chaotic-looking orbits leave for attracting equilibria beside them: counts and times, None without any.

    64 states spread along the settled series are followed for ESCAPE_STEPS. Those that rest in the first
    quarter may have started in a basin; a later one shows that the chaotic set is a transient. `rate` is escapes per
    unit of time survived, `rate_below` its upper end at 95 % (rule of three) where none escaped.
    """
    if not rest:
        return None
    s, rng = e.system, np.random.default_rng(seed)
    parameters = np.repeat(e.parameters[:, None], LANES, axis=1)
    stretch = ESCAPE_STEPS[s.kind] // ESCAPE_CHECKS
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


def survives(e: Evidence, verdict: Verdict, seed: int) -> Verdict:
    """A chaotic verdict, or undecided where orbits still leave the chaotic set for an equilibrium beside it."""
    found = escapes(e, resting_attractors(e.system), seed)
    if found is None:
        return verdict
    evidence = verdict.evidence | {"escapes": found}
    if found["late"] or found["early"] >= ESCAPE_LANES // 2:
        return Verdict("undecided", reason="long_transient", evidence=evidence)
    return replace(verdict, evidence=evidence)


def transient(system: System, verdict: Verdict, settings: Settings) -> dict[str, Any] | None:
    """How long the orbit from the system's start takes to settle on a resting point or map cycle, and what it is like.

    `length` is in iterates or time, until the orbit last is farther than 1 % of its scale from the final set;
    `resembles` is "chaotic" where a deviation grew meanwhile by three e-foldings, else the final regime. None where
    the final set is no point or map cycle, or was not reached within the budget.
    """
    points = _final_points(system, verdict)
    if points is None:
        return None
    start = swept_start([system], replace(settings, transient_map=50, transient_flow=settings.transient_flow / 50))
    for long in LONG:
        found = _settling(system, start, points, verdict, settings, long)
        if found is not None:
            return found
    return None


def _settling(
    system: System, start: Start, points: Array, verdict: Verdict, settings: Settings, long: int
) -> dict[str, Any] | None:
    budget = (settings.transient_flow if system.kind == "ode" else settings.transient_map) * long
    steps = max(1, round(budget / float(start.h[0]) / RECORDS))
    states = np.repeat(np.array([*system.state.values()])[:, None], LANES, axis=1)
    moving = block(system, states, start.parameters, 1, h=float(start.h[0]), seed=settings.seed)
    passed = run(moving, RECORDS, steps=min(steps, 8), renormalisations=max(1, steps // 8))
    path = passed.states[:, :, 0].T
    scale = max(float(np.abs(path).max()), 1e-3)
    gap = np.min([np.abs(wrapped(system, path - p[:, None])).max(axis=0) for p in points.T], axis=0)
    outside = np.flatnonzero(gap > SETTLED * scale)
    last = int(outside[-1]) + 1 if len(outside) else 0
    if last == RECORDS:
        return None
    growth = float(passed.growth[:last, 0, 0].sum())
    resembles = "chaotic" if growth > CHAOTIC_FOLDS else verdict.regime
    return {"length": last * float(passed.interval[0]), "resembles": resembles}


def _final_points(system: System, verdict: Verdict) -> Array | None:
    if verdict.stability != "attracting" or "point" not in verdict.evidence:
        return None
    point = np.array(verdict.evidence["point"])
    if verdict.regime == "fixed_point":
        return point[:, None]
    if system.kind == "map" and verdict.period is not None:
        cycle = Cycle(point, float(verdict.period), np.empty(0, dtype=complex), 0.0)
        return cycle_points(system, cycle, np.array([*system.parameters.values()]), verdict.period)
    return None
