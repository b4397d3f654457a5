"""How large an expression may be: SymPy's work grows fast with nesting, so that it is bounded before it is begun."""

import math
from functools import lru_cache

import sympy as sp

KINKED = (sp.Abs, sp.sign, sp.Heaviside, sp.Min, sp.Max, sp.floor, sp.Mod)

MAX_NESTED = 48  # nested operations of what it stands for, intermediates inserted
KINK_LEVELS = 4  # of nesting that abs, Mod and their like count for: SymPy looks through each one many times
MAX_SIZE = 2000  # symbols, numbers and operations of what it stands for, intermediates inserted
MAX_CONSTANT = 40  # likewise, of a part without symbols
MAX_TERMS = 200  # of an argument of Mod, and of abs and sign of what may be no real number, all multiplied out


@lru_cache(maxsize=10_000)
def size(expr: sp.Expr) -> int:
    """How many symbols, numbers and operations the expression consists of."""
    return 1 + sum(size(argument) for argument in expr.args)


@lru_cache(maxsize=10_000)
def nested(expr: sp.Expr) -> int:
    """How deep its operations are nested; one with a kink counts KINK_LEVELS."""
    own = KINK_LEVELS if isinstance(expr, KINKED) else 1
    return own + max(map(nested, expr.args)) if expr.args else 0


@lru_cache(maxsize=10_000)
def terms(expr: sp.Expr) -> int:
    """How many terms the expression has at most when it is multiplied out, counted no further than MAX_TERMS + 1."""
    if expr.is_Add:
        found = sum(terms(argument) for argument in expr.args)
    elif expr.is_Mul:
        found = math.prod(terms(argument) for argument in expr.args)
    elif expr.is_Pow and expr.exp.is_Integer:
        n, power = terms(expr.base), abs(int(expr.exp))
        found = math.comb(n + power - 1, power)
    else:
        found = 1
    return min(found, MAX_TERMS + 1)
