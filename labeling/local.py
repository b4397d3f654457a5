"""A local bifurcation as a sweep reports it: bracket, kind, how it was found, and whether its ends are certified."""

from dataclasses import dataclass

from labeling.certified_bracket import certified_crossing
from labeling.continuation import Branch, Crossing, Kind


@dataclass(frozen=True)
class Local:
    """One bifurcation.

    `ended`: the branch that was followed exists on one side only. `certified`: multipliers are of opposite kind at the
    two ends, by proof. `estimate`: the sharpest value that was found, within the bracket.
    """

    lo: float
    hi: float
    kind: Kind
    method: str
    ended: bool = False
    certified: bool = False
    estimate: float | None = None


def local(branch: Branch, crossing: Crossing, kind: Kind, what: str) -> Local:
    """A crossing of a branch of points or cycles (`what`) as a bracket, certified where that can be had."""
    if crossing.ends:
        return Local(crossing.lo, crossing.hi, kind, f"existence of the {what}", True, estimate=crossing.estimate)
    proved = _certified(branch, crossing)
    return Local(crossing.lo, crossing.hi, kind, "multiplier crossing", False, proved, crossing.estimate)


def _certified(branch: Branch, crossing: Crossing) -> bool:
    system, near = branch.system, crossing.before.cycle
    if system.kind == "ode" and (near.period != 0.0 or not system.autonomous):
        return False
    lo, hi = (branch.at(value, near) for value in (crossing.lo, crossing.hi))
    if lo is None or hi is None:
        return False
    return certified_crossing(system, branch.parameter, crossing.lo, crossing.hi, lo, hi)[0] is not None
