"""Brackets of local bifurcations, certified: multipliers of opposite kind at their two ends, both proved."""

from dataclasses import dataclass

import numpy as np
from flint import arb, ctx

from dynamics.block import Array
from dynamics.cycles import Cycle, cycle_points, wrapped
from dynamics.system import System
from labeling.balls import NoEnclosureError
from labeling.certificates import Certificate, certificate, equations_of
from labeling.decimals import ball
from labeling.proofs import Equations, Orbit, UnprovedError, proved_orbit, refined

WIDER = (1.5, 3.0, 10.0)  # radii tried for the branch, as multiples of how far the ends are from its middle


@dataclass(frozen=True)
class CertifiedCrossing:
    """Certificates of an orbit at the two ends of a bracket, whose numbers of unstable multipliers differ.

    `connected` if one branch is proved to join them: then a multiplier crosses between. It stays False where the branch
    folds or meets another between the ends, as in a pitchfork or transcritical bifurcation.
    """

    parameter: str
    lo: Certificate
    hi: Certificate
    connected: bool


def certified_crossing(
    system: System, parameter: str, lo: float, hi: float, cycle_lo: Cycle, cycle_hi: Cycle
) -> tuple[CertifiedCrossing | None, str]:
    """The certified bracket of a cycle's (or equilibrium's) change of stability between two parameter values.

    Where there is none, the second value says why in one sentence; otherwise it is empty.
    """
    if not lo < hi:
        return None, f"{system.id}: the bracket of {parameter} runs from {lo} to {hi}; lo must be below hi"
    if cycle_lo.period != cycle_hi.period:
        return None, f"{system.id}: the cycles at the ends have periods {cycle_lo.period:g} and {cycle_hi.period:g}"
    if system.kind == "ode" and cycle_lo.period != 0.0:
        return None, f"{system.id}: of a flow only equilibria can be certified"
    low, high = (system.with_values({parameter: value}) for value in (lo, hi))
    points = _points(low, cycle_lo)
    one, reason = certificate(low, points)
    if one is None:
        return None, reason
    other, reason = certificate(high, _aligned(high, _points(high, cycle_hi), points))
    if other is None:
        return None, reason
    if one.unstable is None or other.unstable is None or one.unstable == other.unstable:
        counts = [end.unstable if end.unstable is not None else "undecided" for end in (one, other)]
        return None, f"{system.id}: the numbers of unstable multipliers are {counts[0]} and {counts[1]} at the ends"
    return CertifiedCrossing(parameter, one, other, _connected(parameter, one, other)), ""


def _points(system: System, cycle: Cycle) -> Array:
    if system.kind == "ode":
        return cycle.point[:, None]
    return cycle_points(system, cycle, np.array([*system.parameters.values()]), int(cycle.period))


def _aligned(system: System, points: Array, near: Array) -> Array:
    """The points of a cycle (d, p) begun, and on circles lifted, nearest to those of another."""
    turned = [np.roll(points, -i, axis=1) for i in range(points.shape[1])]
    best = min(turned, key=lambda one: float(np.abs(wrapped(system, one - near)).max()))
    return near + wrapped(system, best - near)


def _connected(parameter: str, lo: Certificate, hi: Certificate) -> bool:
    """Whether an interval Newton step with the parameter anywhere in the bracket encloses one branch with both ends.

    The orbit in the box is then unique for every value, and moves continuously (Neumaier 1990, section 5.1).
    """
    if lo.turns != hi.turns or len(lo.orbit) != len(hi.orbit):
        return False
    values = [end.system.parameters[parameter] for end in (lo, hi)]
    middle = lo.system.with_values({parameter: 0.5 * (values[0] + values[1])})
    with ctx.workprec(max(lo.bits, hi.bits)):
        ends: list[Orbit] = [[[ball(x) for x in point] for point in end.orbit] for end in (lo, hi)]
        equations = equations_of(middle, lo.turns, len(lo.orbit))
        try:
            start = [[(a + b) / 2 for a, b in zip(*pair, strict=True)] for pair in zip(*ends, strict=True)]
            centre = refined(equations, [[x.mid() for x in point] for point in start])
        except (UnprovedError, NoEnclosureError):
            return False
        away = [
            abs(a - b) for end in ends for pair in zip(end, centre, strict=True) for a, b in zip(*pair, strict=True)
        ]
        reach = max(x.abs_upper() for x in away) + max(ball(lo.radius), ball(hi.radius))
        enclosed = equations.parameters | {parameter: arb(values[0]).union(arb(values[1]))}
        branch = Equations(middle, enclosed, equations.circle, equations.turns)
        return any(_holds(branch, centre, (factor * reach).mid()) for factor in WIDER)


def _holds(branch: Equations, centre: Orbit, radius: arb) -> bool:
    try:
        proved_orbit(branch, centre, radius)
    except (UnprovedError, NoEnclosureError):
        return False
    return True
