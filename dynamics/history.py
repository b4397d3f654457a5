"""What a system with delays was before t = 0: a formula in t and the parameters for every variable."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp

from dynamics.equations import EquationError, RowError, expression, symbol
from dynamics.nearest import shown
from dynamics.pointwise import value_at


@dataclass(frozen=True)
class Delayed:
    """A delayed name: the value of the variable `of` at a time earlier by the parameter `by`."""

    of: str
    by: str


def history_formula(system_id: str, name: str, text: str, parameters: Mapping[str, float]) -> sp.Expr:
    """The history of a variable as a SymPy expression over t and the parameters."""
    try:
        return expression(text, {**{p: symbol(p) for p in parameters}, "t": symbol("t")})
    except EquationError as error:
        raise RowError(f"{system_id}: the history of {name}: {error}") from None


def value_of_history(system_id: str, name: str, text: str, parameters: Mapping[str, float], time: float) -> float:
    """The history of a variable at one time; RowError where it has no finite value."""
    known = {symbol(p): value for p, value in parameters.items()}
    found = value_at(history_formula(system_id, name, text, parameters), {**known, symbol("t"): time})
    if not np.isfinite(found):
        raise RowError(f"{system_id}: the history of {name}, {shown(text)}, has no finite value at t = {time:g}")
    return float(found)
