"""The regime of one point, from evidence that agrees; what does not agree is undecided, with a reason."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from dynamics.block import escape_radius, single_orbit
from dynamics.cycles import cycle_points, map_cycle, wrapped
from dynamics.equations import symbol
from indicators.estimate import Estimate
from indicators.rotation import rotation_number
from labeling.confirmation import NEAR_RETURN, distance_to, on_repelling, resting_or_periodic
from labeling.evidence import Evidence
from labeling.returns import returning
from labeling.verdict import NEUTRAL, Verdict

# K tends to 1 or 0 (Gottwald & Melbourne 2009, section 3); between, it says nothing yet
K_CHAOTIC, K_REGULAR = 0.8, 0.2
SLOPE_RATIO = (0.5, 1.5)  # of 2 * MEGNO slope to the largest exponent; 1 in the limit
DOMAIN_STEPS = 20_000  # in which an orbit that leaves the rule's domain is retraced
LONG_ENOUGH = 4  # times the usual lengths, after which a flow that turns seldom is judged without K
RESONANT = 5e-4  # of the extent: a median return within LONGEST_RETURN that near is no torus's generic one
FEW_VARIABLES = 10  # up to which an orbit on an attractor comes back to within 0.3 of its extent in all of them
LIKE_PRESENT = 1.25  # by which the nearest state of the past may be further than that of the present
CONVERGING = 0.8  # from the first to the last quarter of a series, of the distance of near returns


def regime(e: Evidence) -> Verdict:
    """The verdict on a point; see Verdict. Chaos and regularity each need positive evidence."""
    verdict = _regime(e)
    if not e.system.discrete or verdict.regime not in ("periodic", "quasiperiodic") or not e.system.circle:
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
    if e.system.noisy and e.status == "ok":
        return Verdict("stochastic", evidence={"noise": list(e.system.noise), "lyapunov_max": e.largest.value})
    if e.status == "blew_up" and e.system.has_formula and (e.singular or _leaves_domain(e)):
        which = "the rule's derivative" if e.singular else "the rule"
        return Verdict("undecided", reason="budget", evidence={"run": f"{which} has no finite value on the orbit"})
    if e.status in ("escaped", "blew_up"):
        return Verdict("unbounded", evidence={"run": e.status})
    if e.status == "stalled":
        return Verdict("undecided", reason="budget", evidence={"run": e.status})
    value, half = _exponent(e.largest, 0)
    floor = math.log(_duration(e)) / _duration(e)  # a deviation that grows like t reads so much
    if not e.system.has_formula:
        found = returning(e)
    elif value <= max(half, floor):
        found = resting_or_periodic(e)
    else:
        found = on_repelling(e)
    if found is not None:
        return found
    evidence: dict[str, Any] = {"lyapunov_max": value, "half_width_999": half, "ln_T_over_T": floor}
    if value > max(half, floor):
        return _chaotic(e, value, evidence)
    if not e.system.autonomous and e.system.forcing_period is None and value < 0:
        return Verdict("undecided", reason="possible_sna", evidence=evidence)
    if _can_be_torus(e) and e.turned and _zero_exponents(e, floor):
        k = e.zero_one.number if e.zero_one.value is not None else 0.0  # no K: the section is a point, which is regular
        evidence["zero_one_k"] = e.zero_one.value
        if k < K_REGULAR and _recurrent(e):
            if not _on_torus(e):
                return Verdict("undecided", reason="long_transient", evidence=evidence)
            return Verdict("quasiperiodic", stability=None, evidence=evidence)
        if k > K_CHAOTIC:
            return Verdict("undecided", reason="indicators_disagree", evidence=evidence)
    return Verdict("undecided", reason="long_transient" if not _recurrent(e) else "budget", evidence=evidence)


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
    if e.zero_one.status != "not_applicable" or e.horizon < LONG_ENOUGH:  # few turns have no K, even in a longer run
        agree = agree and isinstance(k, float) and k > K_CHAOTIC  # a constant section has no K and is no chaos
    if not agree:
        return Verdict("undecided", reason="indicators_disagree", evidence=evidence)
    if not _recurrent(e):
        return Verdict("undecided", reason="long_transient", evidence=evidence | {"indicators": "agree"})
    hyper = False
    if e.spectrum.value is not None and np.size(e.spectrum.value) > 1:
        second, half = _exponent(e.spectrum, 1)
        hyper = second > max(half, evidence["ln_T_over_T"])
        evidence["second_exponent"] = second
    if e.system.discrete:
        evidence["bands"] = int(e.zero_one.evidence.get("bands", 1))
    return Verdict("hyperchaotic" if hyper else "chaotic", evidence=evidence)


def _can_be_torus(e: Evidence) -> bool:
    """Whether an invariant circle (map) or torus (flow) can exist.

    The phase space must have room for it; and off circles, a curve in the plane or a torus in space encloses a volume,
    which a map or flow that shrinks or grows every volume alike cannot map onto itself.
    """
    if not e.system.has_formula:
        return True
    on_circle = bool(e.system.circle)
    d, least = e.system.dimension, 3 if not e.system.discrete and e.system.autonomous else 2
    if on_circle:
        return d >= least or (d == least - 1 and len(e.system.circle) == d)
    factor = e.system.constant_volume_factor if d == least else None
    neutral = 0.0 if not e.system.discrete else 1.0
    return d >= least and (factor is None or factor == neutral)


def _zero_exponents(e: Evidence, floor: float) -> bool:
    """Whether as many exponents vanish as a torus has frequencies: one for a map's circle, two for a flow's torus.

    An exponent vanishes if it is no larger than what a neutral direction's drift reads; that its interval holds 0 is
    not enough, since a wide one holds 0 on weak chaos too.
    """
    needed = 2 if not e.system.discrete and e.system.autonomous else 1
    if e.spectrum.value is None or np.size(e.spectrum.value) < needed:
        return False
    return all(abs(_exponent(e.spectrum, i)[0]) <= NEUTRAL * floor for i in range(needed))


def _on_torus(e: Evidence) -> bool:
    """Whether near returns look like those of a torus: they get no nearer over time, and none is all but exact.

    On the way to a cycle they do get nearer. Among m returns one is nearer than 1/m of the circle on any torus; one far
    nearer than that is a cycle not yet reached, or a resonance, unless Newton shows that a map has no such cycle there.
    """
    m, gaps = e.near_return
    quarter = len(gaps) // 4
    if quarter == 0:
        return False
    if np.median(gaps) < RESONANT and (not e.system.discrete or _resonant(e, m)):
        return False
    return bool(np.median(gaps[-quarter:]) >= CONVERGING * np.median(gaps[:quarter]))


def _resonant(e: Evidence, period: int) -> bool:
    """Whether a map has a cycle of this period near the orbit, to which it may yet come."""
    cycle = map_cycle(e.system, e.series[-1], e.parameters, period)
    if cycle is None:
        return False
    points = cycle_points(e.system, cycle, e.parameters, int(cycle.period))
    return distance_to(e, points, e.series[-1]) <= NEAR_RETURN * float(e.extent.max())


def _recurrent(e: Evidence) -> bool:
    """Whether the end of the series comes back close to its first half, and ranges no further than it did."""
    n = len(e.series)
    early, late = e.series[: n // 2 : 4], e.series[-64::4]
    size = np.maximum(e.extent, 1e-12 * e.scale)
    gaps = [np.abs(wrapped(e.system, (early - x).T).T / size).max(axis=1).min() for x in late]
    first, second = (np.abs(half - half.mean(axis=0)).max(axis=0) for half in (e.series[: n // 2], e.series[n // 2 :]))
    free = [c for c, name in enumerate(e.system.state) if name not in e.system.circle]
    steady = all(second[c] <= 1.5 * first[c] + 1e-9 * e.scale for c in free)
    if not steady:
        return False
    if e.system.dimension > FEW_VARIABLES:  # where nothing returns closely, its past is as near as its present
        present = e.series[n // 2 : 3 * n // 4 : 2]
        past = e.series[n // 4 : n // 2 : 2]
        near = [[(np.abs(part - x) / size).max(axis=1).min() for x in late] for part in (past, present)]
        return bool(np.median(near[0]) <= LIKE_PRESENT * np.median(near[1]))
    return bool(np.median(gaps) <= (0.1 if e.system.dimension <= 3 else 0.3))  # of the extent
