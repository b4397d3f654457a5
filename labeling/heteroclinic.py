"""Orbits that cycle between saddles and stay longer at each: they settle on nothing, until underflow stops them."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dynamics.block import Array, single_orbit
from dynamics.cycles import rest_points, wrapped
from labeling.evidence import Evidence
from labeling.verdict import Verdict

NEAR = 0.05  # of the extent, around a saddle: the orbit dwells there
SAMPLES = 20_000  # of the orbit from its start
DURATION = 400.0  # time, or iterates, in units of the step's inverse rate: what is sampled
MOST_STEPS = 500  # from sample to sample, however small they are
GUESSES = 64  # of Newton, for the saddles
VISITS = 4  # in a row that must grow
GROWTH = 1.02  # of each over the one before


def cycling(e: Evidence, verdict: Verdict) -> Verdict:
    """The verdict, or undecided (heteroclinic) where the orbit visits saddles in turn and dwells longer each time.

    Only an orbit that is undecided, or that ends on a repelling equilibrium as underflow makes it, is looked at. Dwell
    times near an attracting heteroclinic cycle grow geometrically (May & Leonard 1975, SIAM J. Appl. Math. 29:243).
    """
    if e.status != "ok" or not e.system.autonomous or not e.system.has_formula:
        return verdict
    if verdict.regime != "undecided" and not (verdict.regime == "fixed_point" and verdict.stability == "repelling"):
        return verdict
    if not _visits_saddles(e):  # which takes no orbit of its own to see
        return verdict
    times = dwell_times(e)
    run = times[-VISITS:]
    if len(run) < VISITS or any(b < GROWTH * a for a, b in pairwise(run)):
        return verdict
    return Verdict("undecided", reason="heteroclinic", evidence=verdict.evidence | {"dwell_times": times})


def _visits_saddles(e: Evidence) -> bool:
    """Whether the series, where most of the time is spent near saddles by then, comes near one at all."""
    states = e.series[:: max(1, len(e.series) // GUESSES)]
    return bool(_inside(e, states, states).any())


def _inside(e: Evidence, path: Array, guesses: Array) -> NDArray[np.bool_]:
    """Which states of a path are near a saddle that Newton finds from some of them."""
    s = e.system
    saddles = [c for c in rest_points(s, guesses) if not c.attracts and not c.neutral]
    size = np.maximum(np.ptp(path, axis=0), 1e-12 * e.scale)
    gaps = [(np.abs(wrapped(s, (path - c.point).T)).T / size).max(axis=1) for c in saddles]
    return np.min(gaps, axis=0) <= NEAR if gaps else np.zeros(len(path), dtype=bool)


def dwell_times(e: Evidence) -> list[float]:
    """How long the orbit from its start stayed near a saddle, visit after visit; whole visits alone."""
    s = e.system
    steps = int(np.clip(round(DURATION / SAMPLES / e.h), 1, MOST_STEPS)) if s.kind == "ode" else 1
    path, _, status = single_orbit(s, np.array([*s.state.values()]), e.h, steps, SAMPLES)
    if status != "ok":
        return []
    inside = _inside(e, path, path[np.linspace(0, SAMPLES - 1, GUESSES).astype(int)])
    edges = np.flatnonzero(np.diff(inside.astype(int)))
    enters, leaves = edges[~inside[edges]], edges[inside[edges]]
    leaves = leaves[len(leaves) - len(leaves[leaves > enters[0]]) :] if len(enters) else leaves[:0]
    return [float((b - a) * steps * e.h) for a, b in zip(enters, leaves, strict=False)]
