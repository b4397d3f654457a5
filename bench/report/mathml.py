"""The equations of a system in MathML, which browsers show without any library: the forms of dynamics.typeset."""

import re
from collections.abc import Callable, Mapping
from xml.dom.minidom import Element, Node

import sympy as sp
from sympy.printing.mathml import MathMLPresentationPrinter

from dynamics.equations import expression, symbol
from dynamics.fields import field_name
from dynamics.system import System
from dynamics.typeset import COUNTERS, ring

FIELDS = {
    "kuramoto_sivashinsky": "<msub><mi>u</mi><mi>t</mi></msub><mo>=</mo><mo>-</mo><mi>u</mi><msub><mi>u</mi><mi>x</mi>"
    "</msub><mo>-</mo><msub><mi>u</mi><mi>xx</mi></msub><mo>-</mo><msub><mi>u</mi><mi>xxxx</mi></msub>",
    "sine_gordon": "<msub><mi>u</mi><mi>tt</mi></msub><mo>=</mo><msub><mi>u</mi><mi>xx</mi></msub><mo>-</mo>"
    "<mi>sin</mi><mo>&#8289;</mo><mi>u</mi>",
}  # of dynamics.fields
_AS_NAME = str.maketrans({"[": "_", "]": None, "+": "p", "-": "m"})


def mathml(system: System) -> list[str]:
    """One <math> element for each variable, of a ring of like sites one for each kind, then for each intermediate."""
    if system.kind == "pde":
        return [_math(FIELDS[field_name(system)])]
    alike = ring(system)
    if alike is not None:
        return [_site(system, text) for text in alike.texts]
    counter = _counter(system)
    printer = _Printer(system, {x: (x, counter) for x in system.state} if system.discrete else {})
    rows = [_FORMS[system.kind](printer, system, i, x) for i, x in enumerate(system.state)]
    rows += [f"{printer.name(x)}<mo>=</mo>{printer.formula(text)}" for x, text in system.let.items()]
    return [_math(row) for row in rows]


class _Printer(MathMLPresentationPrinter):
    """SymPy's MathML with the names of a system: iterates have their number below, delayed values their time."""

    def __init__(self, system: System, below: Mapping[str, tuple[str, str]]) -> None:
        """`below` : of names that stand for a variable with something below it, the variable and that."""
        super().__init__({"ln_notation": True})
        names = [*system.state, *system.parameters, *system.let, *system.delayed, *below, "t"]
        self.known: dict[str, sp.Expr] = {name: symbol(name) for name in names}
        self.below, self.delayed = below, system.delayed

    def formula(self, text: str) -> str:
        """An expression of a row."""
        return str(self.doprint(expression(text, self.known)))

    def name(self, name: str, below: str = "") -> str:
        """A name of a row, with what stands below it."""
        return str((self._below(name, below) if below else self._plain(name)).toxml())

    def _print_Symbol(self, sym: sp.Symbol, style: str = "plain") -> Element:
        if sym.name in self.below:
            return self._below(*self.below[sym.name])
        if sym.name in self.delayed:
            past = self.delayed[sym.name]
            row = self._element("mrow", self._plain(past.of))
            for tag, text in (("mo", "("), ("mi", "t"), ("mo", "−")):
                row.appendChild(self._element(tag, text))
            row.appendChild(self._plain(past.by))
            row.appendChild(self._element("mo", ")"))
            return row
        return self._plain(sym.name)

    def _plain(self, name: str) -> Element:
        return super()._print_Symbol(sp.Symbol(name))

    def _below(self, name: str, text: str) -> Element:
        """A name with a text below, after what is there."""
        base = self._plain(name)
        if base.tagName != "msub":
            return self._element("msub", base, self._element("mrow", self._element("mi", text)))
        body, index = base.childNodes
        below = self._element("mrow", index, self._element("mo", ","), self._element("mi", text))
        return self._element("msub", body, below)

    def _print_Heaviside(self, expr: sp.Expr) -> Element:
        return self._applied("H", expr.args[:1])

    def _print_sign(self, expr: sp.Expr) -> Element:
        return self._applied("sign", expr.args)

    def _print_Min(self, expr: sp.Expr) -> Element:
        return self._applied("min", sorted(expr.args, key=str))

    def _print_Max(self, expr: sp.Expr) -> Element:
        return self._applied("max", sorted(expr.args, key=str))

    def _print_Mod(self, expr: sp.Expr) -> Element:
        return self._applied("mod", expr.args)

    def _applied(self, name: str, arguments: "tuple[sp.Expr, ...] | list[sp.Expr]") -> Element:
        row = self._element("mrow", self._element("mi", name), self._element("mo", "("))
        for i, argument in enumerate(arguments):
            if i:
                row.appendChild(self._element("mo", ","))
            row.appendChild(self._print(argument))
        row.appendChild(self._element("mo", ")"))
        return row

    def _element(self, tag: str, *inside: Node | str) -> Element:
        made = self.dom.createElement(tag)
        for one in inside:
            made.appendChild(self.dom.createTextNode(one) if isinstance(one, str) else one)
        return made


def _of_map(printer: _Printer, system: System, i: int, x: str) -> str:
    made = f"{printer.name(x, f'{_counter(system)}+1')}<mo>=</mo>{printer.formula(system.rule[i])}"
    if system.noisy and system.noise_expressions[i] != 0:
        made += (
            f"<mo>+</mo>{_bracketed(printer.formula(system.noise[i]))}<msub><mi>u</mi>{_row(printer.name(x))}</msub>"
        )
    return made


def _of_flow(printer: _Printer, system: System, i: int, x: str) -> str:
    return f"<mover>{_row(printer.name(x))}<mo>˙</mo></mover><mo>=</mo>{printer.formula(system.rule[i])}"


def _of_noise(printer: _Printer, system: System, i: int, x: str) -> str:
    drift = _bracketed(printer.formula(system.rule[i]))
    made = f"<mi>d</mi>{printer.name(x)}<mo>=</mo>{drift}<mi>d</mi><mi>t</mi>"
    if system.noise_expressions[i] != 0:
        below = f"<msub><mi>W</mi>{_row(printer.name(x))}</msub>" if system.dimension > 1 else "<mi>W</mi>"
        made += f"<mo>+</mo>{_bracketed(printer.formula(system.noise[i]))}<mi>d</mi>{below}"
    return made


_FORMS: dict[str, Callable[[_Printer, System, int, str], str]] = {
    "map": _of_map, "ode": _of_flow, "dde": _of_flow, "sde": _of_noise,
}  # fmt: skip


def _site(system: System, text: str) -> str:
    """An equation of a ring at site i, from its text, in which x[i+1] is a neighbour of x[i]."""
    left, right = text.split(" = ", 1)
    family, now = left.split("[")[0], f",{_counter(system)}" if system.discrete else ""
    below: dict[str, tuple[str, str]] = {}

    def named(match: re.Match[str]) -> str:
        name = f"site{match[0].translate(_AS_NAME)}"
        below[name] = (match[1], match[2] + now)
        return name

    written = re.sub(r"(\w+)\[(i[^]]*)\]", named, right)
    printer = _Printer(system, below)
    own = printer.name(family, f"i{now}{'+1' if now else ''}")
    head = own if system.discrete else f"<mover>{_row(own)}<mo>˙</mo></mover>"
    return _math(f"{head}<mo>=</mo>{printer.formula(written)}")


def _counter(system: System) -> str:
    """The letter for the number of the iterate: the first that is no name of the row."""
    taken = {*system.state, *system.parameters, *system.let}
    return next((letter for letter in COUNTERS if letter not in taken), "n")


def _math(row: str) -> str:
    return f'<math display="block">{_row(row)}</math>'


def _row(inside: str) -> str:
    return f"<mrow>{inside}</mrow>"


def _bracketed(inside: str) -> str:
    return f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"
