"""The energy of a start as a parameter: starts are solved for on the surface that is asked for.

A row whose `conserved` has an `energy`, and whose sweep names it, has a parameter `energy` that its rule does not use.
Another value of it moves the start: along the last momentum, a variable in which the energy is a polynomial of degree 2
that bends upward, with all others held; where their energy alone is too much, with the other momenta 0; where even that
is too much, at rest and nearer to the origin.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import sympy as sp
from scipy.optimize import brentq

from dynamics.equations import RowError, symbol
from dynamics.pointwise import value_at

if TYPE_CHECKING:
    from dynamics.system import System

ENERGY = "energy"
NEAREST = 1e-9  # of the start: how near to the origin, where an energy may have no value


def energy_at(system: "System", start: Mapping[str, float], parameters: Mapping[str, float]) -> float:
    """The energy of a state."""
    return value_at(system.conserved_expressions[ENERGY], _known(start, parameters))


def start_of_energy(system: "System", energy: float, parameters: Mapping[str, float]) -> dict[str, float]:
    """The row's start moved onto an energy surface; RowError where none of its momenta leads there."""
    momenta = [name for name in reversed(system.state) if _bend(system, system.state, name, parameters)[0] > 0.0]
    for start in (system.state, {**system.state, **dict.fromkeys(momenta, 0.0)}):
        for name in momenta:
            a, b, c = _bend(system, start, name, parameters)
            inside = b * b - 4 * a * (c - energy)
            if inside >= 0.0:
                return {**start, name: (-b + math.sqrt(inside)) / (2 * a)}

    def above(part: float) -> float:
        at = {name: 0.0 if name in momenta else part * value for name, value in system.state.items()}
        return energy_at(system, at, parameters) - energy

    if not above(1.0) * above(NEAREST) <= 0.0:
        raise RowError(f"{system.id}: no start at rest between the row's and the origin has energy {energy:g}; give"
                       " a larger one, or another start")  # fmt: skip
    part = float(brentq(above, NEAREST, 1.0, xtol=1e-15, rtol=1e-14))
    return {name: 0.0 if name in momenta else part * value for name, value in system.state.items()}


def _bend(
    system: "System", start: Mapping[str, float], name: str, parameters: Mapping[str, float]
) -> tuple[float, float, float]:
    """The energy along one variable, a x**2 + b x + c; zeros where it is no such polynomial."""
    x = symbol(name)
    held = {k: v for k, v in _known(start, parameters).items() if k != x}
    along = sp.expand(system.conserved_expressions[ENERGY].subs(held))
    if not along.is_polynomial(x) or sp.degree(along, x) != 2:
        return 0.0, 0.0, 0.0
    return float(along.coeff(x, 2)), float(along.coeff(x, 1)), float(along.coeff(x, 0))


def _known(start: Mapping[str, float], parameters: Mapping[str, float]) -> dict[sp.Symbol, float]:
    return {symbol(name): value for name, value in {**start, **parameters}.items()}
