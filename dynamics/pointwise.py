"""The value of an expression at a point, and whether it has the same value at every point.

Values are found by walking the expression in double precision; nothing is compiled or executed. A wrong guess cannot
come of it: values that differ disprove constancy, and constancy itself is proved by algebra, within a bound on its
size, since SymPy's simplification of large expressions may take hours.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, reduce

import numpy as np
import sympy as sp

from dynamics.bounds import KINKED, size
from dynamics.kepler import eccentric_anomaly, kepler

MAX_SIMPLIFIED = 350  # symbols, numbers and operations of an expression that is simplified
MAX_REDUCED = 1000  # likewise of one whose sines and cosines are eliminated
MAX_MINORS = 6  # rows of a matrix whose determinant is written out
DRAWS = 8  # points at which values are compared
VARIES = 1e-6  # difference of two values, relative to the size of their terms, that rounding does not make


def value_at(expr: sp.Expr, point: Mapping[sp.Symbol, float]) -> float:
    """The value of an expression in double precision: NaN where it has none, infinite where it overflows."""
    found: dict[sp.Expr, float] = {}

    def value(e: sp.Expr) -> float:
        if e not in found:
            found[e] = _value(e, point, value)
        return found[e]

    return value(expr)


def finite_at(expr: sp.Expr, point: Mapping[sp.Symbol, float]) -> bool:
    """Whether the expression has a finite real value there."""
    return math.isfinite(value_at(expr, point))


def constant_trace(jacobian: sp.Matrix, points: Sequence[Mapping[sp.Symbol, float]]) -> sp.Expr | None:
    """The trace of a matrix of expressions, free of the varying symbols, if it is proved to be the same everywhere."""
    terms = [[value_at(e, point) for e in jacobian.diagonal()] for point in points]
    if not _may_be_constant([sum(t) for t in terms], [sum(abs(v) for v in t) for t in terms]):
        return None
    trace = jacobian.trace()
    absent = [s for s in trace.free_symbols if all(point.get(s) == 0.0 for point in points)]
    return simplified(trace.xreplace(dict.fromkeys(absent, sp.S.Zero)))


def constant_determinant(jacobian: sp.Matrix, points: Sequence[Mapping[sp.Symbol, float]]) -> sp.Expr | None:
    """Likewise the determinant."""
    matrices = [np.array([[value_at(e, point) for e in row] for row in jacobian.tolist()]) for point in points]
    with np.errstate(all="ignore"):
        values = [float(np.linalg.det(m)) if np.isfinite(m).all() else math.nan for m in matrices]
        if not _may_be_constant(values, [float(np.prod(np.linalg.norm(m, axis=1))) for m in matrices]):
            return None
    if jacobian.rows > MAX_MINORS or sum(size(e) for e in jacobian) > MAX_SIMPLIFIED:
        return None
    return simplified(_determinant(sp.ImmutableMatrix(jacobian)))


@lru_cache(maxsize=256)
def _determinant(matrix: sp.ImmutableMatrix) -> sp.Expr:
    return matrix.det(method="berkowitz")


def _may_be_constant(values: list[float], scales: list[float]) -> bool:
    """Whether the values at the points where there are any, two at least, are the same but for rounding."""
    usable = [(v, s) for v, s in zip(values, scales, strict=True) if math.isfinite(v) and math.isfinite(s)]
    found = [v for v, _ in usable]
    return len(found) >= 2 and max(found) - min(found) <= VARIES * max(1.0, *(s for _, s in usable))


@lru_cache(maxsize=1024)
def simplified(expr: sp.Expr) -> sp.Expr | None:
    """The expression simplified, or None if it is too large for that.

    Functions of functions, kinks and roots are taken as names, so that simplification never works its way down a tower.
    """
    if size(expr) > MAX_SIMPLIFIED:
        return None
    names: dict[sp.Expr, sp.Dummy] = {}

    def outer(e: sp.Expr, inside: bool) -> sp.Expr:
        if not e.args:
            return e
        opaque = isinstance(e, KINKED) or (e.is_Pow and not e.exp.is_Integer)
        if opaque or (inside and not (e.is_Add or e.is_Mul or e.is_Pow)):
            return names.setdefault(e, sp.Dummy(real=e.is_extended_real))
        return e.func(*(outer(a, inside or not (e.is_Add or e.is_Mul or e.is_Pow)) for a in e.args))

    simple = sp.simplify(outer(expr, False))
    return simple.xreplace({dummy: e for e, dummy in names.items()})


@lru_cache(maxsize=256)
def vanishes(expr: sp.Expr) -> bool:
    """Whether a rational expression in symbols, sines and cosines is proved to be 0; False proves nothing.

    Its numerator is reduced by sin**2 = 1 - cos**2, which simplification finds too, but for smaller expressions only.
    """
    if size(expr) > MAX_REDUCED or any(e.args and e.func not in _VALUES for e in sp.preorder_traversal(expr)):
        return False
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        point = {symbol: rng.uniform(0.5, 1.5) for symbol in sorted(expr.free_symbols, key=str)}
        terms = [value_at(term, point) for term in sp.Add.make_args(expr)]
        if not abs(sum(terms)) <= VARIES * max([1.0, *map(abs, terms)]):
            return False
    rest = sp.numer(sp.together(sp.expand_trig(expr)))
    sines = {e: sp.Dummy() for e in rest.atoms(sp.sin)}
    rest = sp.expand(rest.xreplace(sines))
    for sine, name in sines.items():
        rest = sp.rem(rest, name**2 + sp.cos(sine.args[0]) ** 2 - 1, name)
    return bool(sp.expand(rest) == 0)


def _value(e: sp.Expr, point: Mapping[sp.Symbol, float], value: Callable[[sp.Expr], float]) -> float:
    if e.is_Symbol:
        return point[e]
    if not e.args:
        return float(e)
    arguments = [value(a) for a in e.args]
    try:
        return float(_VALUES[e.func](*arguments))
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return math.nan


def _floor(x: float) -> float:
    return float(math.floor(x))


_VALUES: dict[type, Callable[..., float]] = {
    sp.Add: lambda *terms: sum(terms),
    sp.Mul: lambda *factors: reduce(operator.mul, factors),
    sp.Pow: lambda base, exponent: math.pow(base, exponent),
    sp.exp: math.exp,
    sp.log: math.log,
    sp.sin: math.sin,
    sp.cos: math.cos,
    sp.tan: math.tan,
    sp.asin: math.asin,
    sp.acos: math.acos,
    sp.atan: math.atan,
    sp.atan2: math.atan2,
    sp.sinh: math.sinh,
    sp.cosh: math.cosh,
    sp.tanh: math.tanh,
    sp.Abs: abs,
    sp.sign: lambda x: math.nan if math.isnan(x) else float((x > 0) - (x < 0)),
    sp.Heaviside: lambda x, at_zero: at_zero if x == 0 else float(x > 0) if x == x else math.nan,
    sp.Min: min,
    sp.Max: max,
    sp.floor: _floor,
    sp.Mod: lambda a, m: a - m * math.floor(a / m),
    kepler: lambda mean, eccentricity: float(eccentric_anomaly(mean, eccentricity)),
}
