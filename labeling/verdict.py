"""What is said of a point: a regime, or that it is undecided and why."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dynamics.cycles import Cycle

Regime = Literal[
    "fixed_point", "periodic", "quasiperiodic", "chaotic", "hyperchaotic", "unbounded", "stochastic", "undecided"
]
Reason = Literal[
    "several_attractors", "mixed_phase_space", "long_transient", "indicators_disagree", "step_dependent",
    "possible_sna", "heteroclinic", "budget",
]  # fmt: skip
Stability = Literal["attracting", "neutral", "repelling"]
NEUTRAL = 2.0  # times ln T/T: what a neutral direction, whose deviations grow like T, may read


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
    def second_open(self) -> bool:
        """Whether chaos has a second exponent that is neither shown to be positive nor as small as a neutral one."""
        if self.regime != "chaotic" or "second_exponent" not in self.evidence:
            return False
        return bool(self.evidence["second_exponent"] > NEUTRAL * self.evidence["ln_T_over_T"])

    def differs(self, other: "Verdict") -> bool:
        """Whether the two contradict each other, and are no two readings of what the intervals leave open."""
        if self.is_chaotic and other.is_chaotic and (self.second_open or other.second_open):
            return False
        return self.key != other.key

    @property
    def bands(self) -> int | None:
        """Of how many pieces, visited in turn, a map's chaotic set is; None of others."""
        return self.evidence.get("bands") if self.is_chaotic else None

    @property
    def is_chaotic(self) -> bool:
        """Whether the orbit is chaotic or hyperchaotic."""
        return self.regime in ("chaotic", "hyperchaotic")

    @property
    def cycle(self) -> Cycle | None:
        """The cycle or equilibrium on which the verdict rests, if it rests on one."""
        if self.regime not in ("fixed_point", "periodic") or "multipliers" not in self.evidence:
            return None
        multipliers = np.array([complex(*m) for m in self.evidence["multipliers"]])
        period = float(self.period or self.period_time or 0.0)
        return Cycle(np.array(self.evidence["point"]), period, multipliers, self.evidence["residual"])
