"""A system's rule and its derivative in ball arithmetic: enclosures of every value they take over a box of states.

The rule's text itself is evaluated, and derivatives are carried along by the chain rule (forward differentiation:
Griewank & Walther 2008, Evaluating Derivatives, chapter 3), so that a proof rests neither on simplifications nor on a
derivative made elsewhere. Numbers mean the exact doubles that they are read as, whole numbers and pi themselves.
Balls are those of Arb (Johansson 2017, IEEE Trans. Comput. 66:1281), at the precision of `flint.ctx`.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from flint import arb, arb_mat, ctx

from dynamics.equations import FUNCTIONS, MAX_EXPONENT
from dynamics.kepler import eccentric_anomaly
from dynamics.system import System


class NoEnclosureError(ArithmeticError):
    """The rule has no smooth finite value all over the box; the message quotes the part that has none."""


@dataclass(frozen=True)
class Jet:
    """The value of an expression over a box and its derivatives by those state variables that it depends on."""

    value: arb
    slopes: dict[int, arb]


SMOOTH: dict[str, tuple[Callable[[arb], arb], Callable[[arb, arb], arb]]] = {  # value f(x); slope of (x, f(x))
    "sqrt": (arb.sqrt, lambda x, f: 1 / (2 * f)),
    "exp": (arb.exp, lambda x, f: f),
    "log": (arb.log, lambda x, f: 1 / x),
    "sin": (arb.sin, lambda x, f: x.cos()),
    "cos": (arb.cos, lambda x, f: -x.sin()),
    "tan": (arb.tan, lambda x, f: 1 + f * f),
    "asin": (arb.asin, lambda x, f: 1 / (1 - x * x).sqrt()),
    "acos": (arb.acos, lambda x, f: -1 / (1 - x * x).sqrt()),
    "atan": (arb.atan, lambda x, f: 1 / (1 + x * x)),
    "sinh": (arb.sinh, lambda x, f: x.cosh()),
    "cosh": (arb.cosh, lambda x, f: x.sinh()),
    "tanh": (arb.tanh, lambda x, f: 1 - f * f),
}


def enclosure(system: System, parameters: Mapping[str, arb], box: Sequence[arb]) -> tuple[list[arb], arb_mat]:
    """Values (d,) and derivative (d, d) of the rule over a box of d balls, in the order of the state.

    Raises NoEnclosureError where the box touches a kink or jump, leaves the domain, or time occurs in the rule.
    """
    known = {name: Jet(value, {}) for name, value in parameters.items()} | {"pi": Jet(arb.pi(), {})}
    known |= {name: Jet(value, {c: arb(1)}) for c, (name, value) in enumerate(zip(system.state, box, strict=True))}
    for name, text in system.let.items():
        known[name] = _jet(_tree(text), known)
    images = [_jet(_tree(text), known) for text in system.rule]
    derivative = [[image.slopes.get(c, arb(0)) for c in range(len(box))] for image in images]
    return [image.value for image in images], arb_mat(derivative)


def constant(text: str) -> arb:
    """The ball around the value of a constant expression such as "2*pi"."""
    return _jet(_tree(text), {"pi": Jet(arb.pi(), {})}).value


@lru_cache(maxsize=4096)
def _tree(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def _jet(node: ast.expr, known: Mapping[str, Jet]) -> Jet:
    match node:
        case ast.Constant(value=(int() | float()) as number) if not isinstance(number, bool):
            return Jet(arb(number), {})
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.UnaryOp(op=ast.USub()):
            operand = _jet(node.operand, known)
            jet = _chain(-operand.value, (arb(-1), operand))
        case ast.UnaryOp(op=ast.UAdd()):
            jet = _jet(node.operand, known)
        case ast.BinOp():
            jet = _operation(node.op, _jet(node.left, known), _jet(node.right, known))
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS and not node.keywords:
            jet = _call(name, [_jet(argument, known) for argument in node.args])
        case _:
            raise NoEnclosureError(f"{_shown(node)} has no ball arithmetic")
    if not all(ball.is_finite() for ball in (jet.value, *jet.slopes.values())):
        raise NoEnclosureError(f"{_shown(node)} is not smooth and finite all over the box")
    return jet


def _chain(value: arb, *parts: tuple[arb, Jet]) -> Jet:
    """The jet of f(g, h, ..) from its value and the pairs of a partial derivative of f with its argument."""
    slopes: dict[int, arb] = {}
    for partial, argument in parts:
        for c, slope in argument.slopes.items():
            slopes[c] = slopes[c] + partial * slope if c in slopes else partial * slope
    return Jet(value, slopes)


def _operation(operator: ast.operator, a: Jet, b: Jet) -> Jet:
    match operator:
        case ast.Add():
            return _chain(a.value + b.value, (arb(1), a), (arb(1), b))
        case ast.Sub():
            return _chain(a.value - b.value, (arb(1), a), (arb(-1), b))
        case ast.Mult():
            return _chain(a.value * b.value, (b.value, a), (a.value, b))
        case ast.Div():
            quotient = a.value / b.value
            return _chain(quotient, (1 / b.value, a), (-quotient / b.value, b))
        case ast.Pow():
            return _power(a, b)
    raise NoEnclosureError("the rule uses an operator that has no ball arithmetic")


def _power(a: Jet, b: Jet) -> Jet:
    if b.slopes:
        value = a.value**b.value
        return _chain(value, (b.value * value / a.value, a), (value * a.value.log(), b))
    whole = b.value.unique_fmpz() if b.value.is_exact() else None
    if whole is None or abs(int(whole)) > MAX_EXPONENT:
        return _chain(a.value**b.value, (b.value * a.value ** (b.value - 1), a) if a.slopes else (arb(0), a))
    n = int(whole)
    return _chain(_whole_power(a.value, n), (n * _whole_power(a.value, n - 1) if n else arb(0), a))


def _whole_power(x: arb, n: int) -> arb:
    """By products: Arb's own power has no value for balls around 0."""
    if n < 0:
        return 1 / _whole_power(x, -n)
    value = arb(1)
    for bit in bin(n)[2:]:
        value = value * value * x if bit == "1" else value * value
    return value


def _call(name: str, arguments: list[Jet]) -> Jet:
    if name in SMOOTH:
        function, slope = SMOOTH[name]
        (a,) = arguments
        value = function(a.value)
        return _chain(value, (slope(a.value, value), a))
    if name in ("min", "max"):
        return _extreme(name, arguments)
    if name == "kepler":
        return _kepler(*arguments)
    if name in ("Mod", "atan2"):
        a, b = arguments
        if name == "Mod":
            turns = _floor(a.value / b.value)
            return _chain(a.value - turns * b.value, (arb(1), a), (-turns, b))
        if a.value.contains(0) and not b.value > 0:
            raise NoEnclosureError("the box touches the jump of atan2")
        square = a.value * a.value + b.value * b.value
        return _chain(arb.atan2(a.value, b.value), (b.value / square, a), (-a.value / square, b))
    (a,) = arguments
    if name == "floor":
        return Jet(_floor(a.value), {})
    side = 1 if a.value > 0 else -1 if a.value < 0 else 0
    if side == 0 and (a.slopes or not a.value.is_zero()):
        raise NoEnclosureError(f"the box touches the kink or jump of {name}")
    if name == "abs":
        return _chain(side * a.value, (arb(side), a))
    return Jet(arb(side) if name == "sign" else arb(1 + side) / 2, {})


def _kepler(mean: Jet, eccentricity: Jet) -> Jet:
    """E of E - e sin E = M. All solutions lie within abs f(E0)/(1 - e) of any E0, since df/dE >= 1 - e for the
    difference f of the two sides; an interval Newton step from E0 sharpens that.
    """
    m, e = mean.value, eccentricity.value
    if not (e >= 0 and e < 1):
        raise NoEnclosureError("the box leaves 0 <= e < 1, where kepler(M, e) is defined")
    middle, shape = m.mid(), e.mid()
    start = arb(float(eccentric_anomaly(float(middle), float(shape))))
    for _ in range(ctx.prec.bit_length()):  # each of Newton's steps doubles the digits
        start = (start - (start - shape * start.sin() - middle) / (1 - shape * start.cos())).mid()
    rest = start - e * start.sin() - m
    around = start + (rest / (1 - e)).abs_upper() * arb(0, 1)
    value = start - rest / (1 - e * around.cos())
    slope = 1 - e * value.cos()
    return _chain(value, (1 / slope, mean), (value.sin() / slope, eccentricity))


def _extreme(name: str, arguments: list[Jet]) -> Jet:
    sign = 1 if name == "min" else -1
    for one in arguments:
        if all(other is one or sign * one.value <= sign * other.value for other in arguments):
            return one
    raise NoEnclosureError(f"the box touches the kink of {name}")


def _floor(x: arb) -> arb:
    floor = x.floor()
    if not floor.is_exact():
        raise NoEnclosureError("the box touches the jump of floor or Mod")
    return floor


def _shown(node: ast.expr) -> str:
    text = ast.unparse(node)
    return repr(text if len(text) <= 60 else text[:57] + "...")
