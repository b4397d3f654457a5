"""Predicates about the dimension of the set."""

import numpy as np

from dynamics import structure
from dynamics.equations import symbol
from labeling.predicate import Predicate, fact, open_proxy, undecided
from labeling.study import SIMPLE, Study

TO_999 = 3.29 / 1.96  # from the half-width at 95 % to that at 99.9 %
HIGH_DIMENSION = 3.0  # of the set, for HighDimensional
MULTIFRACTAL = 0.5  # difference of Kaplan-Yorke and correlation dimension, for Multifractal


def _kaplan_yorke(s: Study) -> tuple[float, float] | None:
    d = s.e.kaplan_yorke
    return None if d.value is None or d.error is None else (d.number, TO_999 * float(np.max(d.error)))


def strange(s: Study) -> Predicate:
    """Whether the set is dissipative, bounded, chaotic, and of a Kaplan-Yorke dimension that is not whole."""
    parts = {"Dissipative": s.value("Dissipative"), "Bounded": s.value("Bounded"), "Chaotic": s.value("Chaotic")}
    if False in parts.values():
        return Predicate(False, "measured", {"fact": f"not {next(n for n, v in parts.items() if v is False)}"})
    if None in parts.values():
        return undecided(f"{next(n for n, v in parts.items() if v is None)} is undecided")
    dimension = _kaplan_yorke(s)
    if dimension is None:
        return undecided("no Kaplan-Yorke dimension")
    value, half = dimension
    figures = {"kaplan_yorke_dimension": value, "half_width_999": half}
    if abs(value - round(value)) <= half:
        return undecided("the dimension may be whole", **figures)
    return Predicate(True, "measured", figures)


def high_dimensional(s: Study) -> Predicate:
    """Whether the set has dimension 3 or more."""
    if s.e.system.has_formula and s.e.system.dimension < HIGH_DIMENSION:
        return fact(False, f"the state has {s.e.system.dimension} dimensions")
    if s.verdict.regime in SIMPLE:
        return Predicate(False, "measured", {"dimension": int(s.verdict.regime == "periodic")} | s.regime)
    if s.verdict.regime in ("undecided", "unbounded"):
        return s.open() if s.verdict.regime == "undecided" else undecided("no invariant set", regime="unbounded")
    if s.e.system.noisy:
        values = {symbol(name): value for name, value in s.e.system.parameters.items()}
        noise = [b.subs(values) for b in s.e.system.noise_expressions]
        if s.e.system.dimension >= HIGH_DIMENSION and not all(b.is_number and not b.is_zero for b in noise):
            return undecided("noise of constant strength does not act on every variable")
        d = s.e.system.dimension
        return fact(d >= HIGH_DIMENSION, f"the measure spreads over at most the state's {d} dimension{'s' * (d != 1)}")
    if s.e.system.preserves_volume:
        surface = s.e.system.dimension - (structure.conserved_quantity(s.e.system) is not None)
        if s.verdict.is_chaotic:
            return Predicate(surface >= HIGH_DIMENSION, "measured", {"dimension": surface})
        return undecided("the dimension of the torus is not measured")
    at_least = s.e.kaplan_yorke.evidence.get("at_least", 0.0)
    if at_least >= HIGH_DIMENSION:
        return Predicate(True, "measured", {"kaplan_yorke_dimension_at_least": at_least})
    dimension = _kaplan_yorke(s)
    if dimension is None:
        return undecided("no Kaplan-Yorke dimension")
    value, half = dimension
    figures = {"kaplan_yorke_dimension": value, "half_width_999": half}
    if value - half < HIGH_DIMENSION <= value + half and half > 0:
        return undecided("the interval holds 3", **figures)
    return Predicate(value >= HIGH_DIMENSION, "measured", figures)


def multifractal(s: Study) -> Predicate:
    """Whether Kaplan-Yorke and correlation dimension differ by 0.5 or more, on a dissipative chaotic set.

    A proxy, decided at the 95 % level: the correlation dimension's interval has no other.
    """
    chaotic = s.value("Chaotic")
    if chaotic is False or s.value("Dissipative") is False:
        return Predicate(False, "measured", {"fact": "no dissipative chaotic set"} | s.regime)
    if chaotic is None or s.value("Dissipative") is None:
        return s.open()
    first, second = s.e.kaplan_yorke, s.correlation_dimension
    if first.value is None or second.value is None or second.error is None or first.error is None:
        return open_proxy("no correlation dimension")
    gap, width = abs(first.number - second.number), float(np.max(first.error)) + float(np.max(second.error))
    figures = {"kaplan_yorke_dimension": first.number, "correlation_dimension": second.number, "half_width_95": width}
    if gap - width < MULTIFRACTAL <= gap + width:
        return open_proxy("the difference of dimensions may be 0.5", **figures)
    return Predicate(gap >= MULTIFRACTAL, "proxy", figures)
