"""One predicate of a labelled set: its value, its basis, its confidence and the evidence for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Value = Literal["TRUE", "FALSE", "UNDECIDED"]
Basis = Literal["exact", "certified", "measured", "proxy", "derived"]

NAMES = (  # in the order in which rows list them
    "Chaotic", "Deterministic", "PosLyap", "Sensitive", "StrangeAttr", "PointUnpredictable", "StatPredictable",
    "QuasiPeriodic", "Random", "FixedPointAttr", "Periodic", "Dissipative", "Bounded", "Mixing", "Ergodic",
    "HyperChaotic", "Conservative", "HighDimensional", "Multifractal", "HighDimSystem", "ContinuousTime",
    "DiscreteTime", "DelaySystem", "Forced", "Autonomous", "StrongMixing", "WeakMixing",
)  # fmt: skip
CONFIDENCE: dict[Basis, float] = {
    "exact": 1.0,
    "certified": 1.0,
    "measured": 0.999,  # the level of the intervals behind it
    "proxy": 0.95,
    "derived": 0.95,
}


@dataclass(frozen=True)
class Predicate:
    """One decided predicate, or one that is undecided for a reason."""

    value: bool | None
    basis: Basis
    evidence: Mapping[str, Any]
    reason: str | None = None

    @property
    def row(self) -> dict[str, Any]:
        """The predicate as it stands in a row."""
        value: Value = "UNDECIDED" if self.value is None else "TRUE" if self.value else "FALSE"
        confidence = 0.0 if self.value is None else CONFIDENCE[self.basis]
        reason = self.reason if self.value is None else None
        return {
            "value": value, "basis": self.basis, "confidence": confidence, "reason": reason,
            "evidence": dict(self.evidence),
        }  # fmt: skip


def fact(value: bool, why: str) -> Predicate:
    """What the equations prove, and why."""
    return Predicate(value, "exact", {"fact": why})


def undecided(reason: str, /, **evidence: Any) -> Predicate:
    """What nothing decides, and why."""
    return Predicate(None, "measured", evidence, reason)


def open_proxy(reason: str, /, **evidence: Any) -> Predicate:
    """What a proxy does not decide, and why."""
    return Predicate(None, "proxy", evidence, reason)
