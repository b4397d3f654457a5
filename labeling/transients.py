"""Transients: chaotic sets that orbits leave, and how long an orbit takes to settle."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynamics.block import Array, block, run
from dynamics.codegen import LANES
from dynamics.cycles import Cycle, cycle_points, wrapped
from dynamics.settle import slope
from dynamics.system import System
from labeling.evidence import Evidence
from labeling.gathering import Start, swept_start
from labeling.sets import resting_points
from labeling.settings import Settings, share
from labeling.verdict import Verdict

ESCAPE_LANES = 64  # orbits followed to see whether any leaves a chaotic set
LEAVE = 1e-6  # of the scale, from a saddle: where its unstable manifold is taken up
APPROACHED = 0.15  # of the extent: the least distance to a saddle that an orbit near it reaches in one series
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
    stretch = int(ESCAPE_STEPS["map" if s.discrete else "ode"] * share(s)) // ESCAPE_CHECKS
    survived, late, early = 0.0, 0, 0
    for part in range(ESCAPE_LANES // LANES):
        index = np.linspace(0, len(e.series) - 1, ESCAPE_LANES).astype(int)[part * LANES : (part + 1) * LANES]
        states = e.series[index].T * (1 + 1e-6 * rng.standard_normal((s.dimension, LANES)))
        moving = block(s, states, _same_in_all(e), 0, h=e.h)
        gone = np.zeros(LANES, dtype=bool)
        for check in range(ESCAPE_CHECKS):
            run(moving, 1, steps=64, renormalisations=max(1, stretch // 64))
            now = _resting(e, moving.states, rest)
            new = now & ~gone
            if check >= ESCAPE_CHECKS // 4:
                late += int(new.sum())
                survived += float((~gone).sum()) * stretch * e.h
            else:
                early += int(new.sum())
            gone |= now
    rate = late / survived if survived else np.inf
    return {"early": early, "late": late, "time": survived, "rate": rate, "rate_below": 3.0 / max(survived, 1e-300)}


def leaving_saddle(e: Evidence, rest: Sequence[Cycle], saddles: Sequence[Cycle]) -> list[float] | None:
    """A saddle of a flow that the orbit comes near to and whose unstable manifold leads to a resting attractor.

    What an orbit comes arbitrarily near to belongs to its set, and with a saddle the set contains its unstable
    manifold, on the side of the stable one on which the orbit passes; if that ends on an attracting equilibrium the set
    is no attractor, however long orbits stay. The Lorenz system loses its attractor so at rho = 24.06 (Kaplan & Yorke
    1979, Commun. Math. Phys. 67:93).
    """
    if e.system.kind == "map" or not e.system.autonomous or not rest:
        return None
    leads = [
        (saddle, saddle.point + away)
        for saddle in saddles
        if (np.abs(saddle.multipliers) > 1.0).sum() == 1
        for away in _departures(e, saddle)
    ][:LANES]
    if not leads:
        return None
    states = np.array([leads[min(i, len(leads) - 1)][1] for i in range(LANES)]).T
    moving = block(e.system, states, _same_in_all(e), 0, h=e.h)
    run(moving, 1, steps=64, renormalisations=ESCAPE_STEPS["ode"] // 64)
    ended = np.flatnonzero(_resting(e, moving.states, rest)[: len(leads)])
    return leads[int(ended[0])][0].point.tolist() if len(ended) else None


def survives(e: Evidence, verdict: Verdict, seed: int) -> Verdict:
    """A chaotic verdict, or undecided where orbits may yet leave the chaotic set for an equilibrium beside it."""
    points = resting_points(e.system)
    rest = [c for c in points if c.attracts and not c.neutral]
    saddle = leaving_saddle(e, rest, points)
    if saddle is not None:
        evidence = verdict.evidence | {"leaves_by_saddle": saddle}
        return Verdict("undecided", reason="long_transient", evidence=evidence)
    found = escapes(e, rest, seed)
    if found is None:
        return verdict
    evidence = verdict.evidence | {"escapes": found}
    if found["late"] or found["early"] >= ESCAPE_LANES // 2:
        return Verdict("undecided", reason="long_transient", evidence=evidence)
    return replace(verdict, evidence=evidence)


def _same_in_all(e: Evidence) -> Array:
    return np.repeat(e.parameters[:, None], LANES, axis=1)


def _resting(e: Evidence, states: Array, rest: Sequence[Cycle]) -> NDArray[np.bool_]:
    gaps = [np.abs(wrapped(e.system, states - c.point[:, None])).max(axis=0) for c in rest]
    return np.asarray(np.min(gaps, axis=0) <= 1e-3 * e.scale)


def _departures(e: Evidence, saddle: Cycle) -> list[Array]:
    """From a saddle along its unstable direction, to the sides on which the orbit comes so near that it may belong.

    A side is the sign of the unstable component, by the left eigenvector: the stable manifold is flat that near.
    """
    gaps = (np.abs(e.series - saddle.point) / np.maximum(e.extent, 1e-12 * e.scale)).max(axis=1)
    near = e.series[gaps <= APPROACHED] - saddle.point
    jacobian = slope(e.system, np.repeat(saddle.point[:, None], LANES, axis=1), _same_in_all(e))[1][:, :, 0]
    values, vectors = np.linalg.eig(jacobian)
    unstable = int(np.argmax(values.real))
    away = np.real(vectors[:, unstable]) * LEAVE * e.scale
    side = near @ np.real(np.linalg.inv(vectors)[unstable])
    return [sign * away for sign in (1.0, -1.0) if (sign * side > 0.0).any()]


def transient(system: System, verdict: Verdict, settings: Settings) -> dict[str, Any] | None:
    """How long the orbit from the system's start takes to settle on a resting point or map cycle, and what it is like.

    `length` is in iterates or time, until the orbit last is farther than 1 % of its scale from the final set;
    `resembles` is "chaotic" where a deviation grew meanwhile by three e-foldings, else the final regime. None where
    the final set is no point or map cycle, or was not reached within the budget.
    """
    points = _final_points(system, verdict) if system.has_formula else None
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
    if verdict.regime == "fixed_point":  # rounding may send an orbit that was chaotic to any of them
        return np.array([point, *(c.point for c in resting_points(system) if c.attracts)]).T
    if system.kind == "map" and verdict.period is not None:
        cycle = Cycle(point, float(verdict.period), np.empty(0, dtype=complex), 0.0)
        return cycle_points(system, cycle, np.array([*system.parameters.values()]), verdict.period)
    return None
