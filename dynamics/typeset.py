"""The equations of a system as they are read: text and LaTeX, one for each variable, in the form of its kind.

map   x(n+1) = f              x_{n+1} = f(x_n)
ode   x' = f                  \\dot{x} = f
dde   the same, with x(t - tau) for a delayed name
sde   dx = (f) dt + (g) dW    Ito; of several variables each has its own W
pde   the equation of the field, which its module states
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import sympy as sp
from sympy.printing.latex import LatexPrinter

from dynamics.equations import expression, symbol
from dynamics.fields import formula
from dynamics.system import System

SITES = 5  # of a ring, the fewest whose equations are written once for all
COUNTERS = "nkmj"  # of iterates: the first that is no name of the row


class Equation(NamedTuple):
    """An equation for one variable (or intermediate), as text and as LaTeX."""

    variable: str
    text: str
    latex: str


class Ring(NamedTuple):
    """A system whose every site has the same equations: their texts with x[i], and the number of sites."""

    texts: tuple[str, ...]
    sites: int


class _Latex(LatexPrinter):
    """SymPy's LaTeX, but for a step that is often a variable's name, and for functions that it spells otherwise."""

    def _print_Heaviside(self, expr: sp.Heaviside, exp: str | None = None) -> str:
        return self._applied("H", expr, exp)

    def _print_sign(self, expr: sp.sign, exp: str | None = None) -> str:
        return self._applied(r"\operatorname{sign}", expr, exp)

    def _print_Min(self, expr: sp.Min, exp: str | None = None) -> str:
        return self._applied(r"\min", expr, exp)

    def _print_Max(self, expr: sp.Max, exp: str | None = None) -> str:
        return self._applied(r"\max", expr, exp)

    def _applied(self, name: str, expr: sp.Expr, exp: str | None) -> str:
        arguments = expr.args[:1] if isinstance(expr, sp.Heaviside) else sorted(expr.args, key=str)
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"{name}{power}\left({', '.join(self._print(a) for a in arguments)}\right)"


def equations(system: System) -> list[Equation]:
    """One equation for each variable of the state; of a field, those of the field."""
    if system.kind == "pde":
        return [Equation(*formula(system))]
    names = _names(system)
    return [_FORMS[system.kind](system, i, x, names) for i, x in enumerate(system.state)]


def definitions(system: System) -> list[Equation]:
    """One equation for each intermediate that the rule uses."""
    names = _names(system)
    return [
        Equation(x, f"{x} = {_text(system, f)}", f"{_name(x)} = {_latex(system, f, names)}")
        for x, f in system.let.items()
    ]


def ring(system: System) -> Ring | None:
    """The equations at site i, with indices modulo the number of sites, where those of all sites are alike."""
    families: dict[str, list[int]] = {}
    for name in system.state:
        found = re.fullmatch(r"(.*?[^\d])(\d+)", name)
        if found is None:
            return None
        families.setdefault(found[1], []).append(int(found[2]))
    n = system.dimension // max(len(families), 1)
    if n < SITES or system.let or any(indices != list(range(n)) for indices in families.values()):
        return None
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, families))})(\d+)\b")
    sites: set[tuple[str, ...]] = set()
    for i in range(n):

        def shifted(match: re.Match[str], i: int = i) -> str:
            shift = (int(match[2]) - i + n // 2) % n - n // 2
            return f"{match[1]}[i{f'{shift:+d}' if shift else ''}]"

        own = system.rule[i * len(families) : (i + 1) * len(families)]
        sites.add(tuple(pattern.sub(shifted, text) for text in own))
    if len(sites) > 1:
        return None
    after = "(n+1)" if system.discrete else "'"
    pairs = zip(families, sites.pop(), strict=True)
    return Ring(tuple(f"{x}[i]{after} = {text}" for x, text in pairs), n)


def _of_map(system: System, i: int, x: str, names: dict[sp.Symbol, str]) -> Equation:
    n = _counter(system)
    after = _at(_name(x), f"{n}+1")
    text, latex = _text(system, system.rule[i]), _latex(system, system.rule[i], names)
    if system.noisy and system.noise_expressions[i] != 0:
        text += f" + ({system.noise[i]}) u_{x}"
        latex += rf" + \left({_latex(system, system.noise[i], names)}\right) u_{{{_name(x)}}}"
    return Equation(x, f"{x}({n}+1) = {text}", f"{after} = {latex}")


def _of_flow(system: System, i: int, x: str, names: dict[sp.Symbol, str]) -> Equation:
    left = rf"\dot{{{_name(x)}}}"
    return Equation(x, f"{x}' = {_text(system, system.rule[i])}", f"{left} = {_latex(system, system.rule[i], names)}")


def _of_noise(system: System, i: int, x: str, names: dict[sp.Symbol, str]) -> Equation:
    text, latex = (
        f"d{x} = ({system.rule[i]}) dt",
        rf"d{_name(x)} = \left({_latex(system, system.rule[i], names)}\right) dt",
    )
    if system.noise_expressions[i] != 0:
        of = (f"_{x}", f"_{{{_name(x)}}}") if system.dimension > 1 else ("", "")
        text += f" + ({system.noise[i]}) dW{of[0]}"
        latex += rf" + \left({_latex(system, system.noise[i], names)}\right) dW{of[1]}"
    return Equation(x, text, latex)


_FORMS: dict[str, Callable[[System, int, str, dict[sp.Symbol, str]], Equation]] = {
    "map": _of_map, "ode": _of_flow, "dde": _of_flow, "sde": _of_noise,
}  # fmt: skip


def _text(system: System, rule: str) -> str:
    """The rule's text, with x(t - tau) for a delayed name."""
    for name, past in system.delayed.items():
        rule = re.sub(rf"\b{re.escape(name)}\b", f"{past.of}(t - {past.by})", rule)
    return rule


def _latex(system: System, text: str, names: dict[sp.Symbol, str]) -> str:
    known: dict[str, sp.Expr] = {s.name: s for s in names}
    return str(_Latex({"symbol_names": names}).doprint(expression(text, known)))


def _names(system: System) -> dict[sp.Symbol, str]:
    """Every symbol of the equations, and its LaTeX."""
    plain = {symbol(name): _name(name) for name in [*system.state, *system.parameters, *system.let, "t"]}
    past = {symbol(name): rf"{_name(one.of)}\left(t - {_name(one.by)}\right)" for name, one in system.delayed.items()}
    if system.discrete:
        plain |= {symbol(x): _at(_name(x), _counter(system)) for x in system.state}
    return plain | past


def _counter(system: System) -> str:
    taken = {*system.state, *system.parameters, *system.let}
    return next((letter for letter in COUNTERS if letter not in taken), "n")


def _name(name: str) -> str:
    """The LaTeX of a name: words upright, Greek letters as such, digits and what follows '_' below."""
    made = str(sp.latex(symbol(name))).replace(" ", ",")
    return re.sub(r"^([A-Za-z]{2,})", r"\\mathrm{\1}", made)


def _at(name: str, n: str) -> str:
    """A name of a variable with the number of the iterate below it, after what is there."""
    return f"{name[:-1]},{n}}}" if name.endswith("}") and "_{" in name else f"{name}_{{{n}}}"
