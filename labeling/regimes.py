"""The regime of one point, from evidence that agrees; what does not agree is undecided, with a reason."""

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import sympy as sp

from dynamics.block import Array, escape_radius, single_orbit
from dynamics.cycles import Cycle, cycle_points, equilibrium, flow_cycle, forced_cycle, map_cycle, wrapped
from dynamics.equations import symbol
from indicators.estimate import Estimate
from indicators.rotation import rotation_number
from labeling.crossings import crossings, located
from labeling.evidence import Evidence

Regime = Literal[
    "fixed_point", "periodic", "quasiperiodic", "chaotic", "hyperchaotic", "unbounded", "stochastic", "undecided"
]
Reason = Literal[
    "several_attractors", "mixed_phase_space", "long_transient", "indicators_disagree", "step_dependent",
    "possible_sna", "heteroclinic", "budget",
]  # fmt: skip
Stability = Literal["attracting", "neutral", "repelling"]

K_CHAOTIC, K_REGULAR = (
    0.8,
    0.2,
)  # K tends to 1 or 0 (Gottwald & Melbourne 2009, section 3); between, it says nothing yet
SLOPE_RATIO = (0.5, 1.5)  # of 2 * MEGNO slope to the largest exponent; 1 in the limit
LONGEST_CYCLE = 1024  # iterates of a map
LATE_LANDING = 40  # iterates after which a start that truly leads onto a repelling cycle has long been there
DOMAIN_STEPS = 20_000  # in which an orbit that leaves the rule's domain is retraced
LONGEST_EXACT = 64  # iterates after which an orbit on a repelling cycle repeats to the last bit
LONGEST_SECTION_CYCLE = 64  # crossings of the section by a cycle of a flow
CANDIDATES = 3  # near returns from which Newton is started
NEAR_RETURN = 0.02  # of the extent
RESONANT = 5e-4  # of the extent: a median return within LONGEST_RETURN that near is no torus's generic one
CONVERGING = 0.8  # from the first to the last quarter of a series, of the distance of near returns
ON_CYCLE = 1e-7  # of the scale: the orbit is on the cycle
APPROACH = 0.9  # the distance to the cycle must fall by this factor over the series where it is not yet reached


@dataclass(frozen=True)
class Verdict:
    """A regime, what is known of its period and stability, the reason if undecided, and the evidence in numbers."""

    regime: Regime
    period: int | None = None
    period_time: float | None = None
    stability: Stability | None = None
    reason: Reason | None = None
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int | None, int | None]:
        """What makes two verdicts different for a bracket: regime, period, and turns of a flow's cycle."""
        return self.regime, self.period, self.evidence.get("section_points")

    @property
    def is_chaotic(self) -> bool:
        """Whether the orbit is chaotic or hyperchaotic."""
        return self.regime in ("chaotic", "hyperchaotic")


def regime(e: Evidence) -> Verdict:
    """The verdict on a point; see Verdict. Chaos and regularity each need positive evidence."""
    verdict = _regime(e)
    if e.system.kind == "ode" or verdict.regime not in ("periodic", "quasiperiodic") or not e.system.circle:
        return verdict
    return replace(verdict, evidence=verdict.evidence | {"rotation_number": _rotation_numbers(e)})


def _rotation_numbers(e: Evidence) -> dict[str, float]:
    """Rotation number of every variable on a circle, from the advances that the rule itself makes on the series."""
    names = [*e.system.variables, *(symbol(name) for name in e.system.parameters), e.system.time]
    values = [*e.series.T, *e.parameters, np.arange(len(e.series))]
    out = {}
    for x, f in zip(e.system.variables, e.system.expressions, strict=True):
        if x.name in e.system.circle:
            advance = np.broadcast_to(sp.lambdify(names, f - x, "numpy")(*values), len(e.series))
            out[x.name] = rotation_number(advance, e.system.circle[x.name]).number
    return out


def _regime(e: Evidence) -> Verdict:
    if e.status == "blew_up" and _leaves_domain(e):
        return Verdict("undecided", reason="budget", evidence={"run": "the rule has no finite value on the orbit"})
    if e.status in ("escaped", "blew_up"):
        return Verdict("unbounded", evidence={"run": e.status})
    if e.status == "stalled":
        return Verdict("undecided", reason="budget", evidence={"run": e.status})
    value, half = _exponent(e.largest, 0)
    floor = math.log(_duration(e)) / _duration(e)  # a deviation that grows like t reads so much
    if value <= max(half, floor):
        found = _strobed_regular(e) if _is_strobed(e) else _flow_regular(e) if e.system.kind == "ode" else None
    else:
        found = _on_repelling(e)
    if found is not None:
        return found
    evidence: dict[str, Any] = {"lyapunov_max": value, "half_width_999": half, "ln_T_over_T": floor}
    if value > max(half, floor):
        return _chaotic(e, value, evidence)
    if not e.system.autonomous and e.system.forcing_period is None and value < 0:
        return Verdict("undecided", reason="possible_sna", evidence=evidence)
    if _can_be_torus(e) and _zero_exponents(e, floor):
        k = e.zero_one.number if e.zero_one.value is not None else 0.0  # no K: the section is a point, which is regular
        evidence["zero_one_k"] = e.zero_one.value
        if k < K_REGULAR and _recurrent(e):
            if not _on_torus(e):
                return Verdict("undecided", reason="long_transient", evidence=evidence)
            return Verdict("quasiperiodic", stability=None, evidence=evidence)
        if k > K_CHAOTIC:
            return Verdict("undecided", reason="indicators_disagree", evidence=evidence)
    return Verdict("undecided", reason="long_transient" if not _recurrent(e) else "budget", evidence=evidence)


def _on_repelling(e: Evidence) -> Verdict | None:
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
        slope_ = _constant_slope(e)
        evidence = _numbers(cycle, 0.0) | {"floating_point_collapse": True, "constant_slope": slope_}
        return Verdict("chaotic" if slope_ else "undecided", reason=None if slope_ else "budget", evidence=evidence)
    if cycle.period == 1:
        return Verdict("fixed_point", 1, None, "repelling", evidence=_numbers(cycle, 0.0))
    return Verdict("periodic", int(cycle.period), None, "repelling", evidence=_numbers(cycle, 0.0))


def _collapsed(e: Evidence, cycle: Cycle) -> bool:
    """Whether doubles drove the orbit onto a repelling cycle: no start of their own leads there only after long."""
    points = cycle_points(e.system, cycle, e.parameters, int(cycle.period))
    start = np.array([*e.system.state.values()])
    path, _, _ = single_orbit(e.system, start, 1.0, 1, LATE_LANDING)
    return bool(_distance(e, points, path[-1]) > 1e-12 * e.scale and _distance(e, points, start) > 1e-12 * e.scale)


def _constant_slope(e: Evidence) -> float | None:
    """The modulus of the slope of a map of one variable that has the same everywhere, if it is above 1.

    A bounded piecewise linear map that expands everywhere is chaotic with exponent ln|slope|, whatever doubles make of
    its orbits (Lasota & Yorke 1973, Trans. Am. Math. Soc. 186:481).
    """
    if e.system.dimension != 1:
        return None
    slope_ = e.system.jacobian[0, 0].replace(sp.sign, lambda _: sp.S.One)
    slope_ = slope_.subs({symbol(name): value for name, value in e.system.parameters.items()})
    return abs(float(slope_)) if slope_.is_number and abs(float(slope_)) > 1.0 else None


def _leaves_domain(e: Evidence) -> bool:
    """Whether the orbit ends at a state of ordinary size, where the rule has no finite value."""
    start = np.array([*e.system.state.values()])
    path, _, ended = single_orbit(e.system, start, e.h, 1, DOMAIN_STEPS)
    if ended != "blew_up":
        return False
    last = np.flatnonzero(~np.isfinite(path).all(axis=1))[0]
    before = path[last - 1] if last else start
    return bool(np.abs(before).max() < 1e-3 * escape_radius(e.system) and np.abs(before).max() < 1e100)


def _exponent(estimate: Estimate, index: int) -> tuple[float, float]:
    """A value and its half-width at 99.9 %; minus infinity where the orbit is superstable."""
    if estimate.value is None:
        return -math.inf, 0.0
    half = np.atleast_1d(estimate.evidence["error_999"])[index]
    return float(np.atleast_1d(estimate.value)[index]), float(half)


def _duration(e: Evidence) -> float:
    return len(e.growth) * e.interval


def _chaotic(e: Evidence, value: float, evidence: dict[str, Any]) -> Verdict:
    slope_ = e.megno[1]
    ratio = 2 * slope_.number / value if slope_.value is not None else None
    k = e.zero_one.value
    evidence |= {"zero_one_k": k, "megno_slope_ratio": ratio}
    agree = ratio is not None and SLOPE_RATIO[0] <= ratio <= SLOPE_RATIO[1]
    agree = agree and isinstance(k, float) and k > K_CHAOTIC  # a constant section has no K and is no chaos
    if not _recurrent(e):
        return Verdict("undecided", reason="long_transient", evidence=evidence)
    if not agree:
        return Verdict("undecided", reason="indicators_disagree", evidence=evidence)
    hyper = False
    if e.spectrum.value is not None and np.size(e.spectrum.value) > 1:
        second, half = _exponent(e.spectrum, 1)
        hyper = second > max(half, evidence["ln_T_over_T"])
        evidence["second_exponent"] = second
    return Verdict("hyperchaotic" if hyper else "chaotic", evidence=evidence)


def _can_be_torus(e: Evidence) -> bool:
    """Whether an invariant circle (map) or torus (flow) can exist.

    The phase space must have room for it; and off circles, a curve in the plane or a torus in space encloses a volume,
    which a map or flow that shrinks or grows every volume alike cannot map onto itself.
    """
    on_circle = bool(e.system.circle)
    d, least = e.system.dimension, 3 if e.system.kind == "ode" and e.system.autonomous else 2
    if on_circle:
        return d >= least or (d == least - 1 and len(e.system.circle) == d)
    factor = e.system.constant_volume_factor if d == least else None
    neutral = 0.0 if e.system.kind == "ode" else 1.0
    return d >= least and (factor is None or factor == neutral)


def _zero_exponents(e: Evidence, floor: float) -> bool:
    """Whether as many exponents vanish as a torus has frequencies: one for a map's circle, two for a flow's torus."""
    needed = 2 if e.system.kind == "ode" and e.system.autonomous else 1
    if e.spectrum.value is None or np.size(e.spectrum.value) < needed:
        return False
    return all(abs(v) <= max(half, 3 * floor) for v, half in (_exponent(e.spectrum, i) for i in range(needed)))


def _on_torus(e: Evidence) -> bool:
    """Whether near returns look like those of a torus: they get no nearer over time, and none is all but exact.

    On the way to a cycle they do get nearer. Among m returns one is nearer than 1/m of the circle on any torus; one far
    nearer than that is a cycle not yet reached, or a resonance, unless Newton shows that a map has no such cycle there.
    """
    m, gaps = e.near_return
    quarter = len(gaps) // 4
    if quarter == 0:
        return False
    if np.median(gaps) < RESONANT and (e.system.kind == "ode" or _resonant(e, m)):
        return False
    return bool(np.median(gaps[-quarter:]) >= CONVERGING * np.median(gaps[:quarter]))


def _resonant(e: Evidence, period: int) -> bool:
    """Whether a map has a cycle of this period near the orbit, to which it may yet come."""
    cycle = map_cycle(e.system, e.series[-1], e.parameters, period)
    if cycle is None:
        return False
    points = cycle_points(e.system, cycle, e.parameters, int(cycle.period))
    return _distance(e, points, e.series[-1]) <= NEAR_RETURN * float(e.extent.max())


def _recurrent(e: Evidence) -> bool:
    """Whether the end of the series comes back close to its first half, and ranges no further than it did."""
    n = len(e.series)
    early, late = e.series[: n // 2 : 4], e.series[-64::4]
    size = np.maximum(e.extent, 1e-12 * e.scale)
    gaps = [np.abs(wrapped(e.system, (early - x).T).T / size).max(axis=1).min() for x in late]
    first, second = (np.abs(half - half.mean(axis=0)).max(axis=0) for half in (e.series[: n // 2], e.series[n // 2 :]))
    free = [c for c, name in enumerate(e.system.state) if name not in e.system.circle]
    steady = all(second[c] <= 1.5 * first[c] + 1e-9 * e.scale for c in free)
    near = 0.1 if e.system.dimension <= 3 else 0.3  # of the extent: in many dimensions even near returns are far
    return bool(np.median(gaps) <= near) and steady


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


def _is_strobed(e: Evidence) -> bool:
    """Whether the orbit is seen as a map's: it is one, or it is seen once per forcing period."""
    return e.system.autonomous if e.system.kind == "map" else e.system.forcing_period is not None


def _strobed_regular(e: Evidence) -> Verdict | None:
    """Fixed points and cycles of a map, or of a forced flow seen once per forcing period."""
    if e.system.kind == "ode" and e.still:
        return Verdict("fixed_point", None, None, "attracting", evidence={"point": e.series[-1].tolist()})
    path = e.strobed
    last = path[-1]
    longest = min(LONGEST_CYCLE, len(path) // 4)
    back = path[-2 : -2 - longest : -1]  # 1, 2, .. iterates before the last
    gap = np.abs(wrapped(e.system, (back - last).T)).max(axis=0)
    limit = max(NEAR_RETURN * float(e.extent.max()), 10 * ON_CYCLE * e.scale)
    best = math.inf
    candidates = []
    for p in (np.flatnonzero(gap <= limit) + 1).tolist():
        if gap[p - 1] < 0.5 * best or best == math.inf:  # a longer return must be a clearly better one
            candidates.append(p)
            best = float(gap[p - 1])
    for p in candidates[-CANDIDATES:]:
        if e.system.kind == "map":
            cycle = map_cycle(e.system, last, e.parameters, p)
        else:
            cycle = forced_cycle(e.system, last, e.parameters, _strobe_phase(e), p, _forcing(e), e.h)
        if cycle is not None:
            if e.system.kind == "map":
                points = cycle_points(e.system, cycle, e.parameters, int(cycle.period))
                near, before = (_distance(e, points, x) for x in (last, path[0]))
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


def _distance(e: Evidence, points: Array, x: Array) -> float:
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
    tried = 0
    for m in range(1, min(LONGEST_SECTION_CYCLE, len(rough) // 3) + 1):
        if np.median(np.abs(rough[m:] - rough[:-m]).max(axis=1)) > NEAR_RETURN * extent:
            continue
        tried += 1
        times, states = located(e, before[[0, m, -1 - m, -1]], rough_times[[0, m, -1 - m, -1]])
        duration = float(times[3] - times[2])
        cycle = flow_cycle(e.system, states[2], e.parameters, duration, e.h)
        if cycle is not None and abs(cycle.period - duration) <= 0.05 * duration:
            earlier, near = (float(np.abs(states[q + 1] - states[q]).max()) for q in (0, 2))  # moved in m turns
            stability_ = _stable(cycle, near, earlier, e.scale)
            if stability_ is not None:
                evidence = _numbers(cycle, near) | {"section_points": m, "step": e.h}
                return Verdict("periodic", None, cycle.period, stability_, evidence=evidence)
        if tried == CANDIDATES:
            break
    return None
