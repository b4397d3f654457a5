"""Predicates that the equations decide by themselves, or volume and range where they do not."""

from dynamics import structure
from dynamics.equations import symbol
from dynamics.system import System
from labeling.predicate import Predicate, fact, undecided
from labeling.study import SIMPLE, Procedure, Study

HIGH = 4  # state variables of HighDimSystem
RANGE_GROWTH = 1.1  # over a doubling of the time, up to which a range is said to have stopped growing


RULES = {
    "map": "a map", "ode": "a differential equation", "dde": "a differential equation with delays",
    "sde": "an Ito equation", "pde": "a partial differential equation",
}  # fmt: skip


def time_is(*, discrete: bool) -> Procedure:
    """The procedure that tells whether time goes in iterates, or flows."""

    def decide(s: Study) -> Predicate:
        return fact(s.e.system.discrete == discrete, f"the rule is {RULES[s.e.system.kind]}")

    return decide


def has_delay(s: Study) -> Predicate:
    """Whether a delayed variable occurs in the rule."""
    names = [f"{one.of}(t - {one.by})" for one in s.e.system.delayed.values()]
    return fact(bool(names), f"the rule reads {', '.join(names)}" if names else "the row has no delayed variable")


def has_noise(s: Study) -> Predicate:
    """Whether the row has a noise term of non-zero amplitude."""
    system = s.e.system
    if not system.noisy:
        return fact(False, "no noise acts at these parameters")
    return fact(True, f"the row has the noise term {', '.join(system.noise)}")


def has_no_noise(s: Study) -> Predicate:
    """The opposite of has_noise."""
    opposite = s.predicate("Random")
    return Predicate(not opposite.value, "exact", opposite.evidence)


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
    if s.e.system.kind in ("dde", "pde"):
        return fact(True, f"the state of {RULES[s.e.system.kind]} is a function: it has infinitely many dimensions")
    d = s.e.system.dimension
    return fact(d >= HIGH, f"the state has {d} dimension{'s' * (d != 1)}")


def hyperchaotic(s: Study) -> Predicate:
    """Whether two exponents are positive; FALSE by proof where the dimension forbids it."""
    if s.e.system.noisy and s.exponent is not None and s.exponent[0] + s.exponent[1] < 0:
        return Predicate(False, "measured", {"lyapunov_max": s.exponent[0], "half_width_999": s.exponent[1]})
    rate = structure.volume_rate(s.e.system)
    sign = int(rate.value) if rate else -1 if s.value("Dissipative") else None
    why = structure.forbidden_second_exponent(s.e.system, sign)  # type: ignore[arg-type]
    if why is not None:
        exact = s.e.system.dimension == 1 or rate is not None or "at most 3" in why
        return Predicate(False, "exact" if exact else "measured", {"fact": why})
    if s.verdict.regime == "undecided":
        return s.open()
    if s.verdict.second_open:
        found = {name: s.verdict.evidence[name] for name in ("second_exponent", "ln_T_over_T")}
        return undecided("the second exponent is neither above 0 nor as small as a neutral one", **found)
    return Predicate(s.verdict.regime == "hyperchaotic", "measured", s.regime)


def dissipative(s: Study) -> Predicate:
    """Whether volume shrinks: everywhere by proof, or on average along the orbit, by the sum of the exponents."""
    if s.e.system.kind == "dde":
        return fact(True, "a segment of history is smoothed as it moves on: volume in the space of histories shrinks")
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
    if s.e.system.kind == "dde":
        return fact(False, s.predicate("Dissipative").evidence["fact"])
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


def unbounded_noise(system: System) -> bool:
    """Whether Gaussian noise that does not depend on the state acts on a variable that lives on no circle."""
    if system.discrete:
        return False  # a map's noise is bounded
    values = {symbol(name): value for name, value in system.parameters.items()}
    pairs = zip(system.state, system.noise_expressions, strict=False)  # none without noise
    return any(name not in system.circle and (b := b_.subs(values)).is_number and not b.is_zero for name, b_ in pairs)


def bounded(s: Study) -> Predicate:
    """Whether the set's range stops growing over two doublings of the time."""
    if len(s.e.system.circle) == s.e.system.dimension:
        return fact(True, "every variable lives on a circle")
    if unbounded_noise(s.e.system):
        return fact(False, "Gaussian noise of constant strength acts on a variable off circles, and leaves any bound")
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
