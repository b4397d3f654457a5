"""How long and how finely a point is looked at: one object, which every row carries in its provenance."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from dynamics.straight_line import operations
from dynamics.system import System

COSTLY = 60  # operations of a rule, above which its runs begin shorter
LEAST_SHARE = 0.125


@dataclass(frozen=True)
class Settings:
    """Lengths of the runs behind a label.

    transient_map, transient_flow : what is dropped first, iterates and time units (a row's own `transient` wins).
    records : records of the deviations' growth; each spans `renormalisations` Gram-Schmidt intervals.
    series : states kept for the indicators that read a series; one per iterate, or per `steps` steps of a flow.
    turning_steps : steps of a flow over which its local maxima are gathered.
    steps : steps of a flow per Gram-Schmidt interval (a map: 1 iterate).
    finer : divides every step of a flow; a verdict must not depend on it.
    dimension_points : states of a set from which its correlation dimension is taken.
    transient_steps : most steps that a flow's transient may take, however small they must be.
    escalations : how often an undecided point is looked at again with everything four times longer.
    seed : of the deviations' first frame and of every random choice of the indicators.
    """

    transient_map: int = 5_000
    transient_flow: float = 400.0
    records: int = 4_000
    series: int = 16_384
    turning_steps: int = 600_000
    steps: int = 8
    finer: int = 1
    renormalisations: int = 8
    dimension_points: int = 2_000
    transient_steps: int = 3_000_000
    escalations: int = 2
    seed: int = 0

    def brief(self) -> "Settings":
        """Half the lengths: enough to tell sets apart, and to confirm what a longer run has shown."""
        return replace(
            self,
            records=self.records // 2,
            series=self.series // 2,
            turning_steps=self.turning_steps // 2,
            transient_steps=self.transient_steps // 8,
        )

    def provenance(self) -> dict[str, Any]:
        """The settings as they stand in a row."""
        return {key: value for key, value in asdict(self).items() if key != "seed"}


def share(system: System) -> float:
    """The share of the usual lengths that a costly rule is given at first; what stays undecided is given more."""
    if system.kind != "ode":
        return 1.0
    return min(1.0, max(LEAST_SHARE, COSTLY / max(operations(system.expressions), 1)))
