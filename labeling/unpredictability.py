"""Predicates about what nearby orbits do: grow apart, and spoil a forecast."""

from typing import Any

from dynamics import structure
from labeling.predicate import Predicate, fact, undecided
from labeling.study import Study


def positive_exponent(s: Study) -> Predicate:
    """Whether the largest Lyapunov exponent is above 0."""
    exact = structure.linear_exponents(s.e.system)
    if exact is not None:
        return Predicate(exact[0] > 0, "exact", {"fact": f"the system is linear with exponents {exact}"})
    if s.verdict.regime == "unbounded":
        return undecided("the orbit leaves every bound", regime="unbounded")
    if s.verdict.regime == "undecided":
        return s.open()
    if s.verdict.regime == "stochastic":
        return _under_noise(s)
    positive = s.verdict.is_chaotic or s.verdict.stability == "repelling"
    return Predicate(positive, "measured", _exponents(s))


def _under_noise(s: Study) -> Predicate:
    """The sign of the random flow's exponent, beyond its interval."""
    if s.exponent is None or abs(s.exponent[0]) <= s.exponent[1]:
        return undecided("the exponent is 0 within its interval", **_exponents(s))
    return Predicate(s.exponent[0] > 0, "measured", _exponents(s) | {"of": "the random flow under one noise path"})


def _exponents(s: Study) -> dict[str, Any]:
    return {"lyapunov_max": None, "half_width_999": None} if s.exponent is None else {
        "lyapunov_max": s.exponent[0], "half_width_999": s.exponent[1]
    }  # fmt: skip


def _no_growth(s: Study) -> Predicate | None:
    """FALSE where no exponent is above 0, or the set is a point or cycle; undecided where nothing is known."""
    if s.verdict.regime == "undecided":
        return s.open()
    if s.verdict.regime == "stochastic":
        positive = s.predicate("PosLyap")
        return None if positive.value else positive
    if not s.verdict.is_chaotic:
        return Predicate(False, "measured", s.regime | _exponents(s))
    return None


def _linear_growth(s: Study) -> Predicate | None:
    exact = structure.linear_exponents(s.e.system)
    if s.verdict.regime != "unbounded" or exact is None:
        return None
    return fact(exact[0] > 0, f"separations grow as exp(lambda t), lambda = {exact[0]:.12g}, from everywhere")


def sensitive(s: Study) -> Predicate:
    """Whether orbits 1e-9 of the diameter apart part exponentially, at the exponent's rate, to a tenth of it."""
    if s.verdict.regime == "unbounded":
        return _linear_growth(s) or undecided("the orbit leaves every bound", regime="unbounded")
    if s.verdict.evidence.get("floating_point_collapse") and s.verdict.is_chaotic:
        return fact(True, f"separations grow by {s.verdict.evidence['constant_slope']} per iterate, everywhere")
    flat = _no_growth(s)
    if flat is not None:
        return flat
    if s.pairs is None or s.exponent is None:
        return undecided("budget", wanted="40 Lyapunov times")
    value = s.pairs.sensitive(s.exponent[0])
    reason = None if value else "not all pairs part at the exponent's rate within 40 Lyapunov times"
    return Predicate(value, "measured", s.pairs.figures, reason)


def point_unpredictable(s: Study) -> Predicate:
    """Whether a forecast from a state known to 1e-9 of the diameter ends no better than the climatological mean."""
    if s.value("Random"):
        return fact(True, f"{s.predicate('Random').evidence['fact']}, and no one knows its path")
    if s.verdict.regime == "unbounded":
        return undecided("the orbit leaves every bound: there is no climatological mean", regime="unbounded")
    if s.verdict.evidence.get("floating_point_collapse"):
        proof = structure.mixing(s.e.system)
        if proof is not None:
            return fact(True, f"mixing spreads every cloud of starts over the whole measure: {proof.why}")
        return undecided("budget", regime=s.verdict.regime, run="doubles cannot follow the orbit")
    flat = _no_growth(s)
    if flat is not None:
        return flat
    if s.pairs is None:
        return undecided("budget", wanted="40 Lyapunov times")
    value = s.pairs.unpredictable
    return Predicate(value, "measured", s.pairs.figures, "the forecast is about as good as the mean")
