"""An evidence and its verdict, and what several predicates need of them, made when first asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from indicators.correlation_dimension import correlation_dimension
from indicators.estimate import Estimate, without_value
from labeling.averages import Averages
from labeling.evidence import Evidence
from labeling.predicate import Predicate, undecided
from labeling.separation import Separation, separation
from labeling.settings import Settings
from labeling.verdict import Verdict

SIMPLE = ("fixed_point", "periodic")  # regimes of sets that are a point, a finite set or a closed curve
FEWEST = 200  # points from which a correlation dimension is taken

Procedure = Callable[["Study"], Predicate]


@dataclass(frozen=True)
class Study:
    """One labelled set under study. `procedures` decide the predicates, each once, whoever asks for it."""

    e: Evidence
    verdict: Verdict
    settings: Settings
    procedures: Mapping[str, Procedure] = field(default_factory=dict)
    _decided: dict[str, Predicate] = field(default_factory=dict)

    def predicate(self, name: str) -> Predicate:
        """The predicate of this name, decided now or before."""
        if name not in self._decided:
            self._decided[name] = self.procedures[name](self)
        return self._decided[name]

    def value(self, name: str) -> bool | None:
        """The value of the predicate of this name; None where it is undecided."""
        return self.predicate(name).value

    @cached_property
    def averages(self) -> Averages:
        """Time averages over the set."""
        return Averages(self.e)

    @cached_property
    def exponent(self) -> tuple[float, float] | None:
        """The largest exponent and its half-width at 99.9 %; None where there is none."""
        largest = self.e.largest
        return None if largest.value is None else (largest.number, float(largest.evidence["error_999"]))

    @cached_property
    def pairs(self) -> Separation | None:
        """The fate of pairs of near orbits."""
        return separation(self.e, self.exponent[0]) if self.exponent else None

    @cached_property
    def correlation_dimension(self) -> Estimate:
        """Correlation dimension of the set, of its stroboscopic section where the flow is forced.

        0 of a finite set of points and 1 of a closed curve without measuring.
        """
        e, regime = self.e, self.verdict.regime
        if e.status != "ok":
            return without_value("diverged", f"the orbit {e.status}")
        if e.system.noisy:
            return without_value("not_applicable", "noise fills its space")
        if self.verdict.evidence.get("floating_point_collapse"):
            return without_value("undefined", "doubles cannot follow the orbit")
        if regime == "fixed_point" or (regime == "periodic" and (e.system.discrete or not e.system.autonomous)):
            return Estimate(0.0, 0.0, "ok", {"reason": "a finite set of points"})
        if regime == "periodic":
            return Estimate(1.0, 0.0, "ok", {"reason": "a closed curve"})
        wanted = self.settings.dimension_points
        path = e.unfolded if e.system.kind == "dde" else e.strobed
        points = path[:: max(1, len(path) // wanted)][:wanted]
        circles = None if e.system.kind == "dde" else [e.system.circle.get(n, 0.0) for n in e.system.state]
        if len(points) < FEWEST:
            return without_value("undefined", f"{len(points)} points are too few; {FEWEST} are needed")
        return correlation_dimension(points, circumference=circles)

    @cached_property
    def entropy(self) -> Estimate:
        """Permutation entropy of the orbit."""
        if self.verdict.evidence.get("floating_point_collapse"):
            return without_value("undefined", "doubles cannot follow the orbit")
        return self.e.entropy

    @property
    def regime(self) -> dict[str, Any]:
        """The regime as evidence."""
        return {"regime": self.verdict.regime, "stability": self.verdict.stability}

    def open(self) -> Predicate:
        """An undecided predicate, because the regime is."""
        return undecided(self.verdict.reason or "budget", regime=self.verdict.regime)
