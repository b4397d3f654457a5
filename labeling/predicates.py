"""The 27 predicates of one labelled set: each with its value, its basis, its confidence and the evidence for it.

What the equations prove is `exact`; what Newton, exponents and orbits show is `measured`; what stands in for a limit
that no run reaches is a `proxy`; what follows from another predicate is `derived`. What nothing decides is UNDECIDED.
Definitions: ChaosBench-Logic v2 (arXiv 2605.24305), section 3, made exact where it leaves a choice.
"""

from collections.abc import Callable
from typing import Any

from labeling import fractal, statistical, structural, unpredictability
from labeling.predicate import NAMES, Predicate, fact
from labeling.study import Procedure, Study

NOISY = "by definition: a random flow has none of the deterministic regimes"


def _regime_is(*regimes: str) -> Callable[[Study], Predicate]:
    def decide(s: Study) -> Predicate:
        if s.verdict.regime == "stochastic":
            return fact(False, NOISY)
        return (
            s.open()
            if s.verdict.regime == "undecided"
            else Predicate(s.verdict.regime in regimes, "measured", s.regime)
        )

    return decide


def _rests(s: Study) -> Predicate:
    if s.verdict.regime == "stochastic":
        return fact(False, NOISY)
    rests = s.verdict.regime == "fixed_point" and s.verdict.stability == "attracting"
    return s.open() if s.verdict.regime == "undecided" else Predicate(rests, "measured", s.regime)


PROCEDURES: dict[str, Procedure] = {
    "Chaotic": _regime_is("chaotic", "hyperchaotic"),
    "Deterministic": structural.has_no_noise,
    "PosLyap": unpredictability.positive_exponent,
    "Sensitive": unpredictability.sensitive,
    "StrangeAttr": fractal.strange,
    "PointUnpredictable": unpredictability.point_unpredictable,
    "StatPredictable": statistical.predictable,
    "QuasiPeriodic": _regime_is("quasiperiodic"),
    "Random": structural.has_noise,
    "FixedPointAttr": _rests,
    "Periodic": _regime_is("periodic"),
    "Dissipative": structural.dissipative,
    "Bounded": structural.bounded,
    "Mixing": statistical.mixing,
    "Ergodic": statistical.ergodic,
    "HyperChaotic": structural.hyperchaotic,
    "Conservative": structural.conservative,
    "HighDimensional": fractal.high_dimensional,
    "Multifractal": fractal.multifractal,
    "HighDimSystem": structural.high_dimensional_state,
    "ContinuousTime": structural.time_is(discrete=False),
    "DiscreteTime": structural.time_is(discrete=True),
    "DelaySystem": structural.has_delay,
    "Forced": structural.forced,
    "Autonomous": structural.autonomous,
    "StrongMixing": lambda s: s.predicate("Mixing"),
    "WeakMixing": lambda s: s.predicate("Mixing"),
}


def predicates(s: Study) -> dict[str, dict[str, Any]]:
    """The rows of the 27 predicates of the set under study."""
    return {name: s.predicate(name).row for name in NAMES}
