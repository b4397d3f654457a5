"""What the equations of a system prove by themselves: volume, invariant measures, hidden clocks, linear growth, mixing.

Every function returns None where it proves nothing; what is proved comes with the fact in one sentence. Parameter
values are taken as the exact numbers that the row's doubles are.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
import sympy as sp

from dynamics.equations import derivative, symbol
from dynamics.fields import energy_law
from dynamics.pointwise import simplified, value_at, vanishes
from dynamics.system import System

BESIDE = 0.1234  # of a state, how far in every variable it is from the start


class Fact(NamedTuple):
    """A proved value and the sentence that says why."""

    value: float
    why: str


def volume_rate(system: System) -> Fact | None:
    """-1, 0 or 1 where the flow's divergence, or ln |det J| of a map, has that sign in the whole phase space."""
    name, neutral = ("div f", 0) if not system.discrete else ("abs det J", 1)
    if system.kind == "dde":
        return None
    constant = system.constant_volume_factor
    if system.kind == "pde" and constant is not None:
        return Fact(float(np.sign(constant)), energy_law(system))
    if constant is not None:
        return Fact(float(np.sign(constant - neutral)), f"{name} = {constant:.12g} everywhere")
    if not system.discrete:
        rate = _valued(system, system.divergence)
        for sign, known, word in ((-1.0, rate.is_negative, "below"), (1.0, rate.is_positive, "above")):
            if known:
                return Fact(sign, f"div f = {rate} is {word} 0 everywhere")
    return None


def preserved_density(system: System) -> Fact | None:
    """1 where a stated density is invariant: div(rho f) = 0 of a flow, rho(F) |det J| = rho of a map, for all states.

    With constant divergence 0, or |det J| 1, the density is 1. A density must be positive on the sampling box.
    """
    if system.preserves_volume:
        return Fact(
            1.0, "div f = 0: volume is preserved" if not system.discrete else "abs det J = 1: volume is preserved"
        )
    rho = system.density_expression
    if rho is None:
        return None
    if not system.discrete:
        pairs = zip(system.variables, system.expressions, strict=True)
        rest = sum(sp.diff(rho * f, x) for x, f in pairs)
        if system.autonomous and _vanishes(system, rest):
            return Fact(1.0, f"div(rho f) = 0 for rho = {rho}")
        return None
    image = rho.subs(dict(zip(system.variables, system.expressions, strict=True)), simultaneous=True)
    rest = image * sp.Abs(system.jacobian.det(method="berkowitz")) - rho
    if _vanishes(system, rest):
        return Fact(1.0, f"rho(F) abs det J = rho for rho = {rho}")
    return None


def conserved_quantity(system: System) -> Fact | None:
    """1 where a stated first integral is one, for all states: dH/dt = 0 of a flow, H(F) = H of a map."""
    for name, h in system.conserved_expressions.items():
        if not system.discrete:
            rest = sum(sp.diff(h, x) * f for x, f in zip(system.variables, system.expressions, strict=True))
        else:
            rest = h.subs(dict(zip(system.variables, system.expressions, strict=True)), simultaneous=True) - h
        if _vanishes(system, rest):
            return Fact(1.0, f"{name} = {h} is conserved")
    return None


def clock(system: System) -> Fact | None:
    """The constant rate of a variable that is time in disguise: it advances evenly and acts only through its phase.

    The variable must appear in other equations, there inside sines and cosines alone (or live on a circle).
    """
    if system.kind == "pde":
        return None  # it has no formula, and its kernels read no time
    noisy = {x for x, b in zip(system.variables, system.noise_expressions, strict=False) if b != 0}
    for x, f in zip(system.variables, system.expressions, strict=True):
        advance = f if not system.discrete else f - x
        if x in noisy or _varies(system, advance):
            continue
        rate = _valued(system, advance if not system.discrete else sp.expand(advance))
        if not rate.is_number or rate == 0:
            continue
        others = [g for y, g in zip(system.variables, system.expressions, strict=True) if y != x and g.has(x)]
        hidden = [g.xreplace({w: sp.Dummy() for w in g.atoms(sp.sin, sp.cos) if w.has(x)}) for g in others]
        if others and (x.name in system.circle or not any(g.has(x) for g in hidden)):
            return Fact(float(rate), f"{x} advances at the constant rate {float(rate):g} and acts as a phase")
    return None


def linear_exponents(system: System) -> list[float] | None:
    """The exact Lyapunov exponents, largest first, of a linear system of at most two variables."""
    if not system.has_formula or not system.autonomous or system.dimension > 2:
        return None
    jacobian = _valued(system, system.jacobian)
    if jacobian.free_symbols:
        return None
    # in two dimensions the eigenvalues are exact by their formula, and so is the sign of what decides
    exact = [sp.simplify(sp.re(v) if not system.discrete else sp.log(sp.Abs(v))) for v in _eigenvalues(jacobian)]
    return sorted((-math.inf if v in (sp.zoo, -sp.oo) else float(v) for v in exact), reverse=True)


def _eigenvalues(jacobian: sp.Matrix) -> list[sp.Expr]:
    return [value for value, count in jacobian.eigenvals().items() for _ in range(count)]


def mixing(system: System) -> Fact | None:
    """1 for maps that are mixing by a theorem on their very form.

    A quadratic map of the line that is conjugate to x**2 - 2 (the logistic map at r = 4: Ulam & von Neumann 1947, Bull.
    Am. Math. Soc. 53:1120); x -> k x on the circle, k whole and abs k > 1; a hyperbolic automorphism of the torus
    (Katok & Hasselblatt 1995, Introduction to the Modern Theory of Dynamical Systems, section 4.2); the baker's map in
    k strips, which is a Bernoulli shift (Arnold & Avez 1968, Ergodic Problems of Classical Mechanics, chapter 2).
    """
    if not system.discrete or not system.autonomous:
        return None
    rule = [_valued(system, f) for f in system.expressions]
    if system.dimension == 1 and not system.circle and rule[0].is_polynomial(system.variables[0]):
        c = sp.Poly(rule[0], system.variables[0]).all_coeffs()
        if len(c) == 3 and (2 * c[1] - c[1] ** 2 + 4 * c[0] * c[2]) / 4 == -2:
            return Fact(1.0, "the map is conjugate to x**2 - 2, and so to the tent map of slope 2")
    return _torus_mixing(system, rule) or _bakers_mixing(system, rule)


def _bakers_mixing(system: System, rule: list[sp.Expr]) -> Fact | None:
    if system.dimension != 2 or system.circle:
        return None
    if not all(0 <= value <= 1 for value in system.state.values()):
        return None
    x, y = system.variables
    k = derivative(rule[0], x)
    if not (k.is_Integer and k > 1):
        return None
    strip = sp.floor(k * x)
    stretched, stacked = (f.replace(sp.Mod, lambda a, m: a - m * sp.floor(a / m)) for f in rule)
    if sp.expand(stretched - k * x + strip) == 0 and sp.expand(stacked - (y + strip) / k) == 0:
        return Fact(1.0, f"the baker's map of {k} strips: a Bernoulli shift on the unit square")
    return None


def _torus_mixing(system: System, rule: list[sp.Expr]) -> Fact | None:
    lengths = set(system.circle.values())
    if len(system.circle) != system.dimension or len(lengths) != 1:
        return None
    jacobian = sp.Matrix([[sp.diff(f, x) for x in system.variables] for f in rule])
    if jacobian.free_symbols or not all(entry.is_integer for entry in jacobian):
        return None
    moduli = np.abs(np.linalg.eigvals(np.array(jacobian.tolist(), dtype=float)))
    expanding = system.dimension == 1 and moduli[0] > 1.5
    hyperbolic = abs(jacobian.det()) == 1 and bool((np.abs(moduli - 1.0) > 1e-6).all())
    if expanding or hyperbolic:
        return Fact(1.0, f"a linear map of the torus with integer entries, eigenvalues of modulus {_list(moduli)}")
    return None


def forbidden_second_exponent(system: System, sign: Literal[-1, 0, 1] | None) -> str | None:
    """Why no bounded orbit can have two positive exponents, or None where it may; `sign` is that of the volume rate."""
    d, flow = system.dimension, not system.discrete
    if system.kind in ("dde", "pde"):
        return None
    if d == 1:
        return "one dimension has one exponent"
    if system.noisy:
        return None  # no exponent need be 0 under noise
    if flow and system.autonomous and d <= 3:
        return "an autonomous bounded flow in at most 3 dimensions has an exponent 0 and a sum of at most 0"
    if flow and not system.autonomous and d <= 2 and sign is not None and sign <= 0:
        return "a forced flow in 2 dimensions has a sum of exponents of at most 0"
    if not flow and d == 2 and system.constant_volume_factor not in (None, 0.0) and sign is not None and sign <= 0:
        return "an invertible map of the plane that expands no volume has a sum of exponents of at most 0"
    if flow and d == 4 and sign == 0 and conserved_quantity(system) is not None:
        return "of the four exponents of a volume-preserving flow with a first integral two are 0"
    return None


def _vanishes(system: System, rest: sp.Expr) -> bool:
    """Whether an expression is proved to be 0: at all parameter values, which is proved once, or else at the row's."""
    return vanishes(rest) or simplified(_valued(system, rest)) == 0


def _varies(system: System, expr: sp.Expr) -> bool:
    """Whether the value at the start and at a state beside it differ, as those of no constant do."""
    values = {symbol(name): value for name, value in system.parameters.items()} | {system.time: 0.0}
    state = system.state | {past: system.state[one.of] for past, one in system.delayed.items()}
    here, beside = (
        value_at(expr, values | {symbol(name): value + shift for name, value in state.items()})
        for shift in (0.0, BESIDE)
    )
    return math.isfinite(here) and math.isfinite(beside) and not math.isclose(here, beside, rel_tol=1e-9, abs_tol=1e-9)


def _valued(system: System, thing: sp.Expr | sp.Matrix) -> sp.Expr | sp.Matrix:
    return thing.xreplace({symbol(name): sp.Rational(value) for name, value in system.parameters.items()})


def _list(values: np.ndarray) -> str:
    return ", ".join(f"{v:.6g}" for v in values)
