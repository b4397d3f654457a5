"""One system whole: its row, its equations as text and LaTeX, and what the equations prove, each with its proof."""

import math
from typing import Any

import sympy as sp

from dynamics import structure
from dynamics.fields import discretisation
from dynamics.notation import equation
from dynamics.registry import system as shipped
from dynamics.smoothness import smoothness
from dynamics.sweep import STATED
from dynamics.system import System
from dynamics.typeset import definitions, equations, ring

INFINITE = {
    "dde": "what follows depends on a piece of the past, which is a function",
    "pde": "the state is a function of space",
}
VOLUME = {-1.0: "shrinks", 0.0: "preserved", 1.0: "grows"}


def description(system: System) -> dict[str, Any]:
    """The system as JSON: every key of its row, and `equations`, `definitions`, `ring` and `facts`.

    `dimension` is the number of numbers that the state is computed with; that of the phase space is a fact.
    """
    alike = ring(system)
    return {
        "system_id": system.id,
        "name": system.name,
        "kind": system.kind,
        "dimension": system.dimension,
        "state": system.state,
        "parameters": system.parameters,
        "box": system.box,
        "circle": system.circle,
        "let": system.let,
        "rule": list(system.rule),
        "delayed": {name: vars(one) for name, one in system.delayed.items()},
        "history": system.history,
        "noise": list(system.noise),
        "definitions": [one._asdict() for one in definitions(system)],
        "equations": [one._asdict() for one in equations(system)],
        "ring": None if alike is None else alike._asdict(),
        "discretisation": discretisation(system) if system.kind == "pde" else None,
        "conserved": system.conserved,
        "density": system.density,
        "facts": facts(system),
        "sweeps": [{key: getattr(sweep, key) for key in STATED} for sweep in system.sweeps],
        "transient": system.transient,
        "same_as": system.same_as,
        "variant_of": system.variant_of,
        "citation": system.citation,
    }


def description_of(system_id: str) -> dict[str, Any]:
    """The description of a shipped system."""
    return description(shipped(system_id))


def facts(system: System) -> list[dict[str, Any]]:
    """What is proved from the equations alone: `fact`, `value`, and in `why` the sentence that proves it.

    Values are those of JSON: an infinite dimension, and an exponent of minus infinity, are null.
    """
    found = [_dimension(system), *_time(system), *_randomness(system)]
    rate = structure.volume_rate(system)
    if rate is not None:
        found.append(_fact("phase_volume", VOLUME[rate.value], rate.why))
    for name, proof in (("invariant_density", structure.preserved_density(system)),
                        ("first_integral", structure.conserved_quantity(system)),
                        ("mixing", structure.mixing(system))):  # fmt: skip
        if proof is not None:
            found.append(_fact(name, True, proof.why))
    exponents = structure.linear_exponents(system)
    if exponents is not None:
        of = "logarithms of the moduli" if system.discrete else "real parts"
        values = [value if math.isfinite(value) else None for value in exponents]
        found.append(_fact("exact_exponents", values, f"the Jacobian is the same everywhere: {of} of its eigenvalues"))
    sign = None if rate is None else int(rate.value)
    why = structure.forbidden_second_exponent(system, sign)  # type: ignore[arg-type]
    if why is not None:
        found.append(_fact("at_most_one_positive_exponent", True, why))
    return [*found, _fact("smoothness", *smoothness(system))]


def _fact(name: str, value: Any, why: str) -> dict[str, Any]:
    return {"fact": name, "value": value, "why": why}


def _dimension(system: System) -> dict[str, Any]:
    if system.kind in INFINITE:
        return _fact("dimension", None, INFINITE[system.kind])
    d = system.dimension
    return _fact("dimension", d, f"the state has {d} variable{'s' * (d != 1)}")


def _time(system: System) -> list[dict[str, Any]]:
    if system.autonomous:
        found = [_fact("explicit_time", False, "time does not occur in the rule")]
        clock = structure.clock(system)
        return found if clock is None else [*found, _fact("clock_rate", clock.value, clock.why)]
    parts = [part for f in system.expressions for part in _with_time(f, system.time)]
    names = list(dict.fromkeys(map(equation, parts)))
    found = [_fact("explicit_time", True, f"the rule has {', '.join(names[:4])}{', ..' * (len(names) > 4)}")]
    period = system.forcing_period if not system.discrete else None
    if period is not None:
        why = "time acts in sines and cosines alone, whose frequencies are multiples of one"
        found.append(_fact("forcing_period", period, why))
    return found


def _with_time(f: sp.Expr, time: sp.Symbol) -> list[sp.Expr]:
    """The smallest functions in which time occurs, or time itself."""
    inside = sorted((part for part in f.atoms(sp.Function) if part.has(time)), key=str)
    smallest = [part for part in inside if not any(other != part and part.has(other) for other in inside)]
    return smallest or ([time] if f.has(time) else [])


def _randomness(system: System) -> list[dict[str, Any]]:
    """Delays and noise, where the rule has any."""
    past = [f"{one.of}(t - {one.by})" for one in system.delayed.values()]
    found = [_fact("delays", len(past), f"the rule reads {', '.join(past)}")] if past else []
    if system.noise:
        pushed = [x for x, b in zip(system.state, system.noise_expressions, strict=True) if b != 0]
        why = f"the row has a noise term for {', '.join(pushed)}" if pushed else "all noise terms of the row are 0"
        found.append(_fact("noise", bool(pushed), why))
    return found
