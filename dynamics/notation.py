"""Expressions written as the text of equations: what `equations.expression` reads, with numbers that round-trip."""

from collections.abc import Iterable, Sequence

import sympy as sp
from sympy.printing.str import StrPrinter

from dynamics.bounds import size
from dynamics.equations import symbol

LONG = 300  # characters of all equations above which parts that occur again get names
SMALL = 8  # symbols, numbers and operations of a part that is repeated rather than named


class _Notation(StrPrinter):
    """SymPy's own notation but for the names of functions, and for floats, which are written in full."""

    def _print_Float(self, expr: sp.Float) -> str:
        return repr(float(expr))

    def _print_Abs(self, expr: sp.Abs) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Min(self, expr: sp.Min) -> str:
        return f"min({self.stringify(sorted(expr.args, key=str), ', ')})"

    def _print_Max(self, expr: sp.Max) -> str:
        return f"max({self.stringify(sorted(expr.args, key=str), ', ')})"


def equation(expr: sp.Expr) -> str:
    """The text of one expression."""
    return _Notation({"order": "lex"}).doprint(expr)


def equations(rule: Sequence[sp.Expr], taken: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Intermediates and the texts of a rule; intermediates w1, w2, ... stand only where the texts are long.

    `taken` are the names that must not be used.
    """
    texts = [equation(f) for f in rule]
    if sum(map(len, texts)) <= LONG:
        return {}, texts
    used = set(taken)
    names = (symbol(name) for name in (f"w{i}" for i in range(1, 1000)) if name not in used)
    shared, short = sp.cse(rule, symbols=names)
    let: dict[str, str] = {}
    small: dict[sp.Symbol, sp.Expr] = {}
    for part, f in shared:
        whole = f.xreplace(small)
        if size(whole) <= SMALL:
            small[part] = whole
        else:
            let[part.name] = equation(whole)
    return let, [equation(f.xreplace(small)) for f in short]
