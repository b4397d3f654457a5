"""Expressions as straight-line code that numba compiles well: a system's rule, and its Jacobian applied to vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import sympy as sp
from sympy.printing.pycode import PythonCodePrinter

from dynamics.elementary import ELEMENTARY
from dynamics.system import System

MOST_FACTORS = 16  # of a power that is multiplied out


class _Printer(PythonCodePrinter):
    """Python that numba compiles well: no calls where arithmetic does, floats that round-trip."""

    def _print_Float(self, expr: sp.Float) -> str:
        return repr(float(expr))

    def _print_Integer(self, expr: sp.Integer) -> str:
        return str(int(expr)) if abs(int(expr)) < 2**31 else repr(float(expr))

    def _print_Rational(self, expr: sp.Rational) -> str:
        return repr(float(expr))

    def _print_Pow(self, expr: sp.Pow, rational: bool = False) -> str:
        base, exponent = expr.as_base_exp()
        if (
            exponent.is_Integer and 3 < exponent <= MOST_FACTORS
        ):  # numba multiplies, where the C library would be called
            return f"{self.parenthesize(base, 1000)}**{int(exponent)}"
        if exponent.is_Integer and -MOST_FACTORS <= exponent < -3:
            return f"(1.0/{self.parenthesize(base, 1000)}**{int(-exponent)})"
        if exponent in (2, 3):
            return "(" + "*".join([self.parenthesize(base, 1000)] * int(exponent)) + ")"
        if exponent == sp.Rational(1, 2):
            return f"math.sqrt({self._print(base)})"
        if exponent in (-1, -2, -3):
            return "(1.0/(" + "*".join([self.parenthesize(base, 1000)] * int(-exponent)) + "))"
        return f"power({self._print(base)}, {self._print(exponent)})"

    def _print_elementary(self, expr: sp.Function) -> str:
        return f"{ELEMENTARY[type(expr).__name__].__name__}({', '.join(map(self._print, expr.args))})"

    _print_sin = _print_cos = _print_tan = _print_exp = _print_elementary
    _print_sinh = _print_cosh = _print_tanh = _print_log = _print_kepler = _print_elementary

    def _print_floor(self, expr: sp.floor) -> str:
        return f"np.floor({self._print(expr.args[0])})"

    def _print_sign(self, expr: sp.sign) -> str:
        return f"np.sign({self._print(expr.args[0])})"

    def _print_Heaviside(self, expr: sp.Heaviside) -> str:
        return f"(0.5*(np.sign({self._print(expr.args[0])}) + 1.0))"

    def _print_Mod(self, expr: sp.Mod) -> str:
        a, m = (self.parenthesize(argument, 1000) for argument in expr.args)
        return f"({a} - {m}*np.floor({a}/{m}))"

    def _print_Abs(self, expr: sp.Abs) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Min(self, expr: sp.Min) -> str:
        return f"min({', '.join(self._print(a) for a in expr.args)})"

    def _print_Max(self, expr: sp.Max) -> str:
        return f"max({', '.join(self._print(a) for a in expr.args)})"


_PRINTER = _Printer({"fully_qualified_modules": True})


@dataclass(frozen=True)
class Derivative:
    """Straight-line code at a point held in u0..: of f, of J's entries that are not 0, and of J v column by column.

    `entries` are the (row, column) of the entries j0_0, .. that `j_lines` compute; `div` is the trace of J.
    """

    f_lines: tuple[str, ...]
    f: tuple[str, ...]
    j_lines: tuple[str, ...]
    entries: tuple[tuple[int, int], ...]
    jv: tuple[tuple[str, ...], ...]  # [column][component]
    div: str | None
    uses_time: bool


FUNCTION_COST = 30  # additions and multiplications that a sine or exponential is worth


@cache
def operations(expressions: tuple[sp.Expr, ...]) -> int:
    """About how many additions and multiplications one evaluation of a rule takes."""
    common, reduced = sp.cse(list(expressions))
    parts = [*(value for _, value in common), *reduced]
    calls = sum(len([a for a in sp.preorder_traversal(e) if isinstance(a, sp.Function)]) for e in parts)
    return int(sum(e.count_ops() for e in parts)) + FUNCTION_COST * calls


def derivative_code(system: System, k: int, columns: int | None = None) -> Derivative:
    """The code for k deviations, of which J v is written out for all, or for so many `columns`."""
    d = system.dimension
    plain = _plain(system)
    f_lines, f = shared([e.xreplace(plain) for e in system.expressions], "c")
    jac = system.jacobian.xreplace(plain) if k else sp.zeros(d, d)
    wants_div = k == d and system.kind == "ode"
    cells = [(r, c) for r in range(d) for c in range(d) if jac[r, c] != 0]
    lines, code = shared([*(jac[r, c] for r, c in cells), *([jac.trace()] if wants_div else [])], "e")
    entry: dict[tuple[int, int], str] = {}
    for (r, c), text in zip(cells, code, strict=False):
        lines.append(f"j{r}_{c} = {text}")
        entry[r, c] = f"j{r}_{c}"
    jv = tuple(
        tuple(" + ".join(f"{entry[r, c]}*v{c}_{j}" for c in range(d) if (r, c) in entry) or "0.0" for r in range(d))
        for j in range(k if columns is None else columns)
    )
    return Derivative(
        tuple(f_lines), tuple(f), tuple(lines), tuple(cells), jv, code[-1] if wants_div else None, not system.autonomous
    )


def at_point(system: System, expressions: Sequence[sp.Expr]) -> tuple[list[str], list[str]]:
    """Lines for what expressions have in common, and their code, at a point held in u0.., p0.. and tt."""
    return shared([e.xreplace(_plain(system)) for e in expressions], "c")


def _plain(system: System) -> dict[sp.Symbol, sp.Symbol]:
    plain = {s: sp.Symbol(f"u{c}", real=True) for c, s in enumerate(system.variables)}
    plain |= {sp.Symbol(name, real=True): sp.Symbol(f"p{q}", real=True) for q, name in enumerate(system.parameters)}
    return plain | {system.time: sp.Symbol("tt", real=True)}


def shared(expressions: list[sp.Expr], prefix: str) -> tuple[list[str], list[str]]:
    """Lines for common subexpressions, named with the prefix, and the expressions in terms of them."""
    common, reduced = sp.cse(expressions, symbols=sp.numbered_symbols(prefix, real=True), order="canonical")
    return [f"{n} = {_PRINTER.doprint(value)}" for n, value in common], [_PRINTER.doprint(e) for e in reduced]


def arguments(system: System, code: Derivative) -> str:
    """The arguments of the function f: state, parameters, and time where it occurs."""
    names = [f"u{c}" for c in range(system.dimension)] + [f"p{q}" for q in range(len(system.parameters))]
    return ", ".join([*names, *(["tt"] if code.uses_time else [])])


def results(system: System, pattern: str) -> str:
    """A tuple with one entry per variable, such as f0, f1,"""
    return ", ".join(pattern.format(c=c) for c in range(system.dimension)) + ","


def state_functions(system: System, code: Derivative) -> list[str]:
    """f as a function of its own, returning a tuple; a map's image is put back onto its circles."""
    body = list(code.f_lines)
    for c, name in enumerate(system.state):
        body.append(f"f{c} = {code.f[c]}")
        if system.kind == "map" and name in system.circle:
            length = repr(system.circle[name])
            body.append(f"f{c} = f{c} - {length}*np.floor(f{c}/{length})")
    return [
        "@njit(**EXACT)",
        f"def f({arguments(system, code)}):",
        *(f"    {line}" for line in body),
        f"    return ({results(system, '1.0*f{c}')})",
    ]
