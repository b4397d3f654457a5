"""Predicates that the equations decide by themselves, or volume and range where they do not."""

from dynamics import structure
from labeling.predicate import Predicate, fact, undecided
from labeling.study import SIMPLE, Procedure, Study

HIGH = 4  # state variables of HighDimSystem
RANGE_GROWTH = 1.1  # over a doubling of the time, up to which a range is said to have stopped growing


def kind_is(kind: str) -> Procedure:
    """The procedure that tells whether the rule is a map or a differential equation."""

    def decide(s: Study) -> Predicate:
        is_flow = s.e.system.kind == "ode"
        return fact(s.e.system.kind == kind, f"the rule is {'a differential equation' if is_flow else 'a map'}")

    return decide


def forced(s: Study) -> Predicate:
    """Whether time occurs in the rule, openly or as a phase that advances evenly."""
    if not s.e.system.autonomous:
        return fact(True, "time occurs in the rule")
    clock = structure.clock(s.e.system)
    return fact(clock is not None, clock.why if clock else "time does not occur in the rule")


def autonomous(s: Study) -> Predicate:
    """The opposite of forced."""
    opposite = s.predicate("Forced")
    return Predicate(not opposite.value, "exact", opposite.evidence)


def high_dimensional_state(s: Study) -> Predicate:
    """Whether the state has four variables or more."""
    d = s.e.system.dimension
    return fact(d >= HIGH, f"the state has {d} dimension{'s' * (d != 1)}")


def hyperchaotic(s: Study) -> Predicate:
    """Whether two exponents are positive; FALSE by proof where the dimension forbids it."""
    rate = structure.volume_rate(s.e.system)
    sign = int(rate.value) if rate else -1 if s.value("Dissipative") else None
    why = structure.forbidden_second_exponent(s.e.system, sign)  # type: ignore[arg-type]
    if why is not None:
        exact = s.e.system.dimension == 1 or rate is not None or "at most 3" in why
        return Predicate(False, "exact" if exact else "measured", {"fact": why})
    if s.verdict.regime == "undecided":
        return s.open()
    return Predicate(s.verdict.regime == "hyperchaotic", "measured", s.regime)


def dissipative(s: Study) -> Predicate:
    """Whether volume shrinks: everywhere by proof, or on average along the orbit, by the sum of the exponents."""
    rate = structure.volume_rate(s.e.system)
    if rate is not None:
        return fact(rate.value < 0, rate.why)
    density = structure.preserved_density(s.e.system)
    if density is not None:
        return fact(False, density.why)
    shrinking = s.e.volume_exponent
    if shrinking.evidence.get("superstable"):
        return Predicate(True, "measured", {"fact": "superstable: the sum of exponents is minus infinity"})
    if shrinking.value is None:
        return undecided("no Lyapunov spectrum")
    total, half = shrinking.number, float(shrinking.evidence["error_999"])
    figures = {"sum_of_exponents": total, "half_width_999": half}
    if abs(total) <= half:
        return undecided("the sum of exponents is 0 within its interval", **figures)
    return Predicate(total < 0, "measured", figures)


def conservative(s: Study) -> Predicate:
    """Whether a smooth density is preserved: TRUE by proof alone; FALSE where volume shrinks or grows on average.

    Where volume shrinks everywhere, a bounded set has none, and no density lives on it.
    """
    rate = structure.volume_rate(s.e.system)
    if rate is not None and rate.value != 0:
        return fact(False, rate.why)
    proof = structure.preserved_density(s.e.system)
    if proof is not None:
        return fact(True, proof.why)
    volume = s.predicate("Dissipative")
    if volume.value is None:
        return undecided("no proof, and a sum of exponents of 0 within its interval is none", **volume.evidence)
    return Predicate(False, volume.basis, volume.evidence)


def bounded(s: Study) -> Predicate:
    """Whether the set's range stops growing over two doublings of the time."""
    if len(s.e.system.circle) == s.e.system.dimension:
        return fact(True, "every variable lives on a circle")
    if s.verdict.regime == "unbounded":
        return Predicate(False, "measured", {"run": s.e.status})
    if s.verdict.regime in SIMPLE:
        return Predicate(True, "measured", {"fact": "a confirmed equilibrium or cycle"} | s.regime)
    if s.e.status != "ok":
        return undecided("budget", run=s.e.status)
    growth = s.averages.range_growth()
    figures = {"range_growth_over_doublings": list(growth)}
    if max(growth) <= RANGE_GROWTH:
        return Predicate(True, "measured", figures)
    return undecided("the range still grows", **figures)
