"""Equilibria and cycles on which an orbit rests, confirmed by Newton or shooting, with their multipliers."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp

from dynamics.block import Array, single_orbit
from dynamics.cycles import Cycle, cycle_points, equilibrium, flow_cycle, forced_cycle, map_cycle, wrapped
from dynamics.equations import symbol
from labeling.crossings import crossings, located
from labeling.evidence import POINT, Evidence
from labeling.other_kinds import maxima_of
from labeling.verdict import Stability, Verdict

LONGEST_CYCLE = 1024  # iterates of a map
LATE_LANDING = 40  # iterates after which a start that truly leads onto a repelling cycle has long been there
LONGEST_EXACT = 64  # iterates after which an orbit on a repelling cycle repeats to the last bit
LONGEST_SECTION_CYCLE = 64  # crossings of the section by a cycle of a flow
FEW_STROBES = 8  # states seen once per forcing period, below which nothing can be said to repeat
CANDIDATES = 3  # near returns from which Newton is started
BETTER = 0.5  # a longer return must be nearer than all shorter ones by this factor to be a candidate
RESOLVED = 1e-5  # of the extent: returns to a flow's section that are nearer, as interpolated, are all as near
NEAR_RETURN = 0.02  # of the extent
LONGEST_PATH = 100_000  # samples along which a cycle of many turns is followed
ON_CYCLE = 1e-7  # of the scale: the orbit is on the cycle
APPROACH = 0.9  # the distance to the cycle must fall by this factor over the series where it is not yet reached


def resting_or_periodic(e: Evidence) -> Verdict | None:
    """The equilibrium or cycle to which the orbit has come, or close to which it stays, if Newton confirms one."""
    if _is_strobed(e):
        return _strobed_cycle(e)
    return _flow_regular(e) if e.system.kind == "ode" else None


def _is_strobed(e: Evidence) -> bool:
    """Whether the orbit is seen as a map's: it is one, or it is seen once per forcing period."""
    return e.system.autonomous if e.system.kind == "map" else e.system.forcing_period is not None


def _strobed_cycle(e: Evidence) -> Verdict | None:
    """Fixed points and cycles of a map, or of a forced flow seen once per forcing period."""
    if e.system.kind == "ode" and e.still:
        return Verdict("fixed_point", None, None, "attracting", evidence={"point": e.series[-1].tolist()})
    path = e.strobed
    if len(path) < FEW_STROBES:
        return None
    last = path[-1]
    longest = min(LONGEST_CYCLE, len(path) // 4)
    back = path[-2 : -2 - longest : -1]  # 1, 2, .. iterates before the last
    gap = np.abs(wrapped(e.system, (back - last).T)).max(axis=0)
    limit = max(NEAR_RETURN * float(e.extent.max()), 10 * ON_CYCLE * e.scale)
    for p in _nearest(gap.tolist(), limit, BETTER):
        if e.system.kind == "map":
            cycle = map_cycle(e.system, last, e.parameters, p)
        else:
            cycle = forced_cycle(e.system, last, e.parameters, _strobe_phase(e), p, _forcing(e), e.h)
        if cycle is not None:
            if e.system.kind == "map":
                points = cycle_points(e.system, cycle, e.parameters, int(cycle.period))
                near, before = (distance_to(e, points, x) for x in (last, path[0]))
            else:  # p periods before the end the orbit was as near the cycle's point as it is now, or further off
                passed = path[len(path) - 1 - (len(path) - 1) // p * p]
                near, before = (float(np.abs(x - cycle.point).max()) for x in (last, passed))
            stability = _stable(cycle, near, before, e.scale)
            if stability is not None:
                evidence = _numbers(cycle, near)
                if e.system.kind == "ode":
                    evidence |= {"step": e.h, "phase": _strobe_phase(e)}
                    return Verdict("periodic", p, p * _forcing(e), stability, evidence=evidence)
                if cycle.period == 1:
                    return Verdict("fixed_point", 1, None, stability, evidence=evidence)
                return Verdict("periodic", int(cycle.period), None, stability, evidence=evidence)
    return None


def _forcing(e: Evidence) -> float:
    period = e.system.forcing_period
    assert period is not None
    return period


def _strobe_phase(e: Evidence) -> float:
    """The time, within a forcing period, at which the strobed states were taken."""
    return e.t % _forcing(e)


def distance_to(e: Evidence, points: Array, x: Array) -> float:
    """Distance of a state (d,) to the nearest of some points (d, n), the short way round on circles."""
    return float(np.abs(wrapped(e.system, points - x[:, None])).max(axis=0).min())


def _flow_regular(e: Evidence) -> Verdict | None:
    if not e.system.autonomous:
        return None
    tenth = max(1, len(e.series) // 10)
    centre = e.series[-1] if e.still else e.series[-tenth:].mean(axis=0)
    rest = equilibrium(e.system, centre, e.parameters)
    if rest is not None:
        early, late = (float(np.abs(part - rest.point).max()) for part in (e.series[:tenth], e.series[-tenth:]))
        if _stable(rest, late, early, e.scale) == "attracting" or (e.still and rest.modulus <= 1.0):
            stability: Stability = "attracting" if rest.attracts else "neutral"
            return Verdict("fixed_point", None, None, stability, evidence=_numbers(rest, late))
    if e.still:
        return None
    before, rough_times, rough = crossings(e)
    extent = float(e.extent.max())
    longest = min(LONGEST_SECTION_CYCLE, len(rough) // 3)
    gaps = [float(np.median(np.abs(rough[m:] - rough[:-m]).max(axis=1))) for m in range(1, longest + 1)]
    for m in _nearest(np.maximum(gaps, RESOLVED * extent).tolist(), NEAR_RETURN * extent, BETTER):
        times, states = located(e, before[[0, m, -1 - m, -1]], rough_times[[0, m, -1 - m, -1]])
        if not np.isfinite(states).all():
            continue
        duration = float(times[3] - times[2])
        cycle = flow_cycle(e.system, states[2], e.parameters, duration, e.h)
        rounds = None if cycle is None else _rounds(cycle, duration, m)
        if cycle is not None and rounds is not None:
            earlier, near = (float(np.abs(states[q + 1] - states[q]).max()) for q in (0, 2))  # moved in m turns
            stability_ = _stable(cycle, near, earlier, e.scale)
            if stability_ is not None:
                points = m // rounds
                evidence = _numbers(cycle, near) | {"section_points": points, "maxima": _maxima(e, cycle), "step": e.h}
                return Verdict("periodic", None, cycle.period, stability_, evidence=evidence)
    return _long_cycle(e)


def _rounds(cycle: Cycle, duration: float, turns: int) -> int | None:
    """How often an orbit goes round a cycle in a time and so many turns; None where that is no whole number."""
    rounds = max(1, round(duration / cycle.period))
    whole = turns % rounds == 0 and abs(rounds * cycle.period - duration) <= 0.05 * duration
    return rounds if whole else None


def _long_cycle(e: Evidence) -> Verdict | None:
    """A cycle of so many turns that the series has too few of them, and its maxima repeat."""
    if not e.turned or not len(e.maxima):
        return None
    m, gaps = e.near_return
    seen = maxima_of(e.series[:, int(np.argmax(e.extent))])
    if m == 1 or float(np.median(gaps)) * np.ptp(e.maxima) > POINT * e.extent.max() or len(seen) < 2:
        return None
    turn = float(np.diff(seen).mean())  # in samples
    samples = round((m + 2) * turn)
    if samples > LONGEST_PATH:
        return None
    begin = e.series[-1]
    path, _, _ = single_orbit(e.system, begin, e.h, round(e.series_step / e.h), samples)
    late = round((m - 2) * turn)
    gap = np.abs(wrapped(e.system, (path[late:] - begin).T)).max(axis=0)
    duration = (late + 1 + int(np.argmin(gap))) * e.series_step
    cycle = flow_cycle(e.system, begin, e.parameters, duration, e.h)
    rounds = None if cycle is None else _rounds(cycle, duration, m)
    if cycle is None or rounds is None:
        return None
    near = float(np.abs(cycle.point - begin).max())  # shooting corrects its first point across the flow alone
    stability = _stable(cycle, near, near, e.scale)
    if stability is None:
        return None
    evidence = _numbers(cycle, near) | {"turns": m // rounds, "step": e.h}
    return Verdict("periodic", None, cycle.period, stability, evidence=evidence)


def _nearest(gaps: Sequence[float], limit: float, factor: float) -> list[int]:
    """The last CANDIDATES returns 1, 2, .. that are within a limit and nearer than all before by a factor."""
    found: list[int] = []
    best = math.inf
    for m, gap in enumerate(gaps, 1):
        if gap <= limit and gap < factor * best:
            found.append(m)
            best = gap
    return found[-CANDIDATES:]


def on_repelling(e: Evidence) -> Verdict | None:
    """The repelling equilibrium or map cycle on which the orbit lies exactly, as an orbit that is no attractor can."""
    last = e.series[-1]
    if e.system.kind == "ode":
        rest = equilibrium(e.system, last, e.parameters) if e.still and e.system.autonomous else None
        if rest is None or rest.attracts:
            return None
        return Verdict("fixed_point", None, None, "repelling", evidence=_numbers(rest, 0.0))
    back = e.series[-2 : -2 - LONGEST_EXACT : -1]
    repeats = np.flatnonzero(np.abs(wrapped(e.system, (back - last).T)).max(axis=0) <= 1e-13 * e.scale)
    if not len(repeats):
        return None
    cycle = map_cycle(e.system, last, e.parameters, int(repeats[0]) + 1)
    if cycle is None or cycle.attracts:
        return None
    if _collapsed(e, cycle):
        slope_ = _constant_slope(e, cycle)
        evidence = _numbers(cycle, 0.0) | {"floating_point_collapse": True, "constant_slope": slope_}
        return Verdict("chaotic" if slope_ else "undecided", reason=None if slope_ else "budget", evidence=evidence)
    if cycle.period == 1:
        return Verdict("fixed_point", 1, None, "repelling", evidence=_numbers(cycle, 0.0))
    return Verdict("periodic", int(cycle.period), None, "repelling", evidence=_numbers(cycle, 0.0))


def _collapsed(e: Evidence, cycle: Cycle) -> bool:
    """Whether doubles drove the orbit onto a repelling cycle: no start of their own leads there only after long."""
    points = cycle_points(e.system, cycle, e.parameters, int(cycle.period))
    start = np.array([*e.system.state.values()])
    near = 1e-12 * e.scale
    return bool(distance_to(e, points, _landing(e)) > near and distance_to(e, points, start) > near)


def _landing(e: Evidence) -> Array:
    """Where the orbit is by the time at which a start that truly leads onto a repelling cycle has long been there."""
    start = np.array([*e.system.state.values()])
    return single_orbit(e.system, start, 1.0, 1, LATE_LANDING)[0][-1]


def _constant_slope(e: Evidence, cycle: Cycle) -> float | None:
    """The factor by which a map whose derivative is the same everywhere stretches deviations, if it is above 1.

    A bounded piecewise linear map of one variable that expands everywhere is chaotic with exponent ln|slope|, whatever
    doubles make of its orbits (Lasota & Yorke 1973, Trans. Am. Math. Soc. 186:481). In more variables the exponents are
    the logarithms of the eigenvalues' moduli; but an orbit can reach a saddle by itself, along its stable directions.
    """
    d = e.system.dimension
    slopes = e.system.jacobian.replace(sp.sign, lambda _: sp.S.One) if d == 1 else e.system.jacobian
    slopes = slopes.subs({symbol(name): value for name, value in e.system.parameters.items()})
    if not all(entry.is_number for entry in slopes) or (d > 1 and cycle.period != 1):
        return None
    values, forms = np.linalg.eig(np.array(slopes.tolist(), dtype=float).T)
    most = int(np.abs(values).argmax())
    if abs(values[most]) <= 1.0 or (d > 1 and abs((_landing(e) - cycle.point) @ forms[:, most]) <= 1e-9 * e.scale):
        return None
    return float(abs(values[most]))


def _stable(cycle: Cycle | None, distance: float, earlier: float, scale: float) -> Stability | None:
    """How the cycle binds the orbit: attracting if it is stable and reached or approached, neutral if lain upon."""
    if cycle is None:
        return None
    on = distance <= ON_CYCLE * scale
    if cycle.neutral:
        return "neutral" if on else None
    if cycle.attracts and (on or distance <= APPROACH * earlier):
        return "attracting"
    return None


def _numbers(cycle: Cycle, distance: float) -> dict[str, Any]:
    return {
        "point": cycle.point.tolist(),
        "multipliers": [[float(m.real), float(m.imag)] for m in cycle.multipliers],
        "residual": cycle.residual,
        "distance": distance,
    }


def _maxima(e: Evidence, cycle: Cycle) -> int:
    """Local maxima of the first variable over one period of a flow's cycle."""
    x = e.series[-round(cycle.period / e.series_step) :, 0]
    return int(((x > np.roll(x, 1)) & (x >= np.roll(x, -1))).sum()) if len(x) > 2 else 1
