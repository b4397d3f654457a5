"""Equations are text from a stranger: read here as mathematics, and as nothing else.

The text is parsed by Python's own grammar into a tree, and only the nodes, names and functions listed here are turned
into SymPy objects, one by one. Nothing is ever evaluated or executed, and powers are bounded, so that `9**9**9` is
refused instead of computed.
"""

import ast
import math
import re
import sys
import warnings
from collections.abc import Callable, Mapping

import sympy as sp

from dynamics.bounds import (
    KINK_LEVELS,
    MAX_CONSTANT,
    MAX_NESTED,
    MAX_SIZE,
    MAX_TERMS,
    nested,
    size,
    terms,
)  # fmt: skip
from dynamics.kepler import kepler
from dynamics.nearest import did_you_mean, listed, shown

FUNCTIONS: dict[str, tuple[int, Callable[..., sp.Expr]]] = {  # name: (number of arguments, 0 = two or more; SymPy)
    "sqrt": (1, sp.sqrt),
    "exp": (1, sp.exp),
    "log": (1, sp.log),
    "sin": (1, sp.sin),
    "cos": (1, sp.cos),
    "tan": (1, sp.tan),
    "asin": (1, sp.asin),
    "acos": (1, sp.acos),
    "atan": (1, sp.atan),
    "atan2": (2, sp.atan2),
    "sinh": (1, sp.sinh),
    "cosh": (1, sp.cosh),
    "tanh": (1, sp.tanh),
    "abs": (1, sp.Abs),
    "sign": (1, sp.sign),
    "Heaviside": (1, sp.Heaviside),
    "min": (0, sp.Min),
    "max": (0, sp.Max),
    "floor": (1, sp.floor),
    "Mod": (2, sp.Mod),
    "kepler": (2, kepler),  # E of E - e*sin(E) = M, 0 <= e < 1
}
CONSTANTS: dict[str, sp.Expr] = {"pi": sp.pi}
RESERVED = frozenset(FUNCTIONS) | frozenset(CONSTANTS) | {"t"}
OTHER_NAMES = {  # of functions, as other languages write them
    "ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "sgn": "sign",
    "signum": "sign", "fabs": "abs", "fmod": "Mod", "modulo": "Mod", "pow": "a**b", "cot": "1/tan", "sec": "1/cos",
    "csc": "1/sin", "ceil": "-floor(-x)", "step": "Heaviside", "theta": "Heaviside",
}  # fmt: skip
NOT_FINITE = frozenset(["nan", "inf", "infinity", "oo"])

MAX_LENGTH = 5000  # characters of one equation
MAX_DEPTH = 200  # nested operations of the text
MAX_EXPONENT = 64  # of a power whose exponent is a number
MAX_BITS = 1024  # of a number that a power of numbers may produce (double precision ends there)
MAX_ARGUMENTS = 16  # of min and max: SymPy compares every pair

NO_VALUE = "has no finite real value (a division by zero, or a root or log of less)"


class EquationError(ValueError):
    """An equation that cannot be read, with the offending text."""


class RowError(ValueError):
    """A row that does not describe a system; the message says which row, which key, and what would be right."""


def symbol(name: str) -> sp.Symbol:
    """The real symbol that stands for a state variable, parameter or intermediate of this name."""
    return sp.Symbol(name, real=True)


def expression(text: str, symbols: Mapping[str, sp.Expr]) -> sp.Expr:
    """The SymPy expression that an equation's text stands for.

    `symbols` maps every name that the text may use (besides the functions and `pi`) to what it stands for.
    Raises EquationError, whose message names the offending part, for anything that is not plain arithmetic over them.
    """
    if len(text) > MAX_LENGTH:
        raise EquationError(f"an equation of {len(text)} characters is too long; at most {MAX_LENGTH} are read")
    try:
        with warnings.catch_warnings():  # Python's grammar warns of what is refused here anyway, such as `1or x`
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise EquationError(_no_expression(text, error)) from None
    try:
        _bounded(tree, symbols)
        result = _finite(_node(tree.body, symbols, 0), tree.body)
        if result.has(sp.zoo, sp.nan, sp.oo, -sp.oo, sp.I):
            raise EquationError(_no_value(text))
        numbers = result.atoms(sp.Number)
    except EquationError:
        raise
    except RecursionError:
        raise EquationError(f"operations in {shown(text)} are nested too deep") from None
    except (ArithmeticError, TypeError, ValueError):  # SymPy has no value for it: Mod(5, 0)
        raise EquationError(_no_value(text)) from None
    if any(abs(n) > sys.float_info.max for n in numbers):
        raise EquationError(f"a number in {shown(text)} overflows; use ones below 1e308")
    return result


def number(value: object, what: str) -> float:
    """A finite float from a number, or from the text of a constant expression such as "8/3" or "2*pi"."""
    if isinstance(value, str) and value.strip().lstrip("+-").lower() not in NOT_FINITE:
        try:
            return float(expression(value, {}))
        except EquationError as error:
            raise EquationError(f"{what}: {error}") from None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise EquationError(f"{what} is {shown(value)}; a number or an expression such as '8/3' is needed")
    try:
        result = math.inf if isinstance(value, str) else float(value)
    except OverflowError:
        raise EquationError(f"{what} is {shown(value)}, which overflows; use a number below 1e308") from None
    if not math.isfinite(result):
        raise EquationError(f"{what} is {shown(value)}; it must be finite")
    return result


def derivative(expr: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """The derivative almost everywhere: floor, sign and Heaviside have slope 0, |x| has slope sign(x).

    Jumps and kinks therefore contribute nothing; a flow that crosses one needs saltation matrices besides.
    """
    steps: dict[sp.Symbol, sp.Expr] = {}

    def held(step: sp.Expr) -> sp.Symbol:
        dummy = sp.Dummy(real=True)
        steps[dummy] = step
        return dummy

    smooth = expr.replace(sp.Mod, lambda a, m: a - m * held(sp.floor(a / m))).replace(
        sp.floor, lambda a: held(sp.floor(a))
    )
    # SymPy would split |log(x)| into real and imaginary part
    smooth = smooth.replace(sp.Abs, lambda a: sp.Abs(a) if a.is_extended_real else a * held(sp.sign(a)))
    smooth = smooth.replace(sp.sign, lambda a: sp.sign(a) if a.is_extended_real else held(sp.sign(a)))
    slope = sp.diff(smooth, variable).replace(sp.DiracDelta, lambda *_: sp.S.Zero)
    for dummy, step in reversed(steps.items()):  # a step may hold the ones inside it, which came first
        slope = slope.xreplace({dummy: step})
    return slope


def _bounded(tree: ast.Expression, symbols: Mapping[str, sp.Expr]) -> None:
    """Refuse what would be too large once the intermediates stand in it, before anything is built."""
    known = {name: size(value) for name, value in symbols.items()}
    count = sum(
        known.get(node.id, 1) if isinstance(node, ast.Name) else isinstance(node, ast.expr) for node in ast.walk(tree)
    )
    if count > MAX_SIZE:
        raise EquationError(f"it has {count} symbols, numbers and operations, intermediates inserted;"
                            f" at most {MAX_SIZE} are read")  # fmt: skip


def _node(node: ast.AST, symbols: Mapping[str, sp.Expr], depth: int) -> sp.Expr:
    value = _part(node, symbols, depth)
    if nested(value) > MAX_NESTED:
        raise EquationError(f"operations in {_source(node)} are nested more than {MAX_NESTED} deep, intermediates"
                            f" inserted (abs, Mod and their like count {KINK_LEVELS})")  # fmt: skip
    return value


def _part(node: ast.AST, symbols: Mapping[str, sp.Expr], depth: int) -> sp.Expr:
    if depth > MAX_DEPTH:
        raise EquationError(f"operations are nested more than {MAX_DEPTH} deep")
    match node:
        case ast.Constant(value=bool() | complex() | str() | bytes() | None):
            raise EquationError(f"{shown(node.value)} is not a real number")
        case ast.Constant(value=int(whole)):
            if whole.bit_length() > MAX_BITS:
                raise EquationError("a whole number of more than 300 digits is too large")
            return sp.Integer(whole)
        case ast.Constant(value=float(decimal)):
            if not math.isfinite(decimal):
                raise EquationError("a number overflows; use one below 1e308")
            return sp.Float(decimal)
        case ast.Name():
            return _name(node.id, symbols)
        case ast.UnaryOp(op=ast.USub()):
            return -_node(node.operand, symbols, depth + 1)
        case ast.UnaryOp(op=ast.UAdd()):
            return _node(node.operand, symbols, depth + 1)
        case ast.BinOp():
            left = _node(node.left, symbols, depth + 1)
            right = _node(node.right, symbols, depth + 1)
            return _operation(node, left, right)
        case ast.Call(func=ast.Name(id=name)) if name in symbols or name in CONSTANTS:
            raise EquationError(f"{name} is not a function; write a product as {name}*(...)")
        case ast.Call(func=ast.Constant()):
            raise EquationError(f"{_source(node)} calls a number; write a product as 2*(x)")
        case ast.Call(func=ast.Name(id=name)) if not node.keywords:
            return _finite(_call(name, [_node(argument, symbols, depth + 1) for argument in node.args]), node)
    raise EquationError(f"{_source(node)} is not allowed in an equation; use + - * / **, numbers, names, "
                        f"and the functions {', '.join(FUNCTIONS)}")  # fmt: skip


def _name(name: str, symbols: Mapping[str, sp.Expr]) -> sp.Expr:
    if name in symbols:
        return symbols[name]
    if name in CONSTANTS:
        return CONSTANTS[name]
    known = [*symbols, *CONSTANTS]
    if name in FUNCTIONS:
        raise EquationError(f"{name} is a function; write it as {name}(...)")
    if name == "e":
        raise EquationError(
            f"the name 'e' is not defined (write exp(1) for Euler's number); known here: {listed(known)}"
        )
    raise EquationError(
        f"the name {shown(name)} is not defined; known here: {listed(known)}{did_you_mean(name, known)}"
    )


def _operation(node: ast.BinOp, left: sp.Expr, right: sp.Expr) -> sp.Expr:
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            if right.is_zero:
                raise EquationError(f"{_source(node)} divides by zero")
            return left / right
        case ast.Pow():
            return _power(node, left, right)
    other = {ast.BitXor: "; a power is written x**2", ast.Mod: "; a remainder is written Mod(x, m)",
             ast.FloorDiv: "; write floor(x/y)"}  # fmt: skip
    raise EquationError(f"{_source(node)} uses an operator that is not one of + - * / **{other.get(type(node.op), '')}")


def _power(node: ast.BinOp, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    if exponent.is_number:
        size = abs(float(exponent.evalf(6)))
        if not size <= MAX_EXPONENT:
            raise EquationError(f"an exponent in {_source(node)} is beyond {MAX_EXPONENT}")
        if base.is_number and not base.is_zero and size * abs(math.log2(abs(float(base.evalf(6))))) > MAX_BITS:
            raise EquationError(f"{_source(node)} is too large a number")
        if base.is_zero and exponent.is_negative:
            raise EquationError(f"{_source(node)} divides by zero")
    return _finite(base**exponent, node)


def _call(name: str, arguments: list[sp.Expr]) -> sp.Expr:
    if name not in FUNCTIONS:
        hint = f"; write {OTHER_NAMES[name]}" if name in OTHER_NAMES else did_you_mean(name, FUNCTIONS)
        raise EquationError(f"the function {shown(name)} is not known{hint or '; known are ' + ', '.join(FUNCTIONS)}")
    arity, function = FUNCTIONS[name]
    if (arity and len(arguments) != arity) or (not arity and len(arguments) < 2):
        raise EquationError(f"{name} takes {arity or 'two or more'} argument(s), and got {len(arguments)}")
    if name in ("min", "max") and sum(len(a.args) if a.func is function else 1 for a in arguments) > MAX_ARGUMENTS:
        raise EquationError(f"{name} of more than {MAX_ARGUMENTS} values is not read")
    opened = name == "Mod" or (name in ("abs", "sign") and not arguments[0].is_extended_real)
    if opened and any(terms(a) > MAX_TERMS for a in arguments):
        raise EquationError(f"{name} of what has more than {MAX_TERMS} terms, multiplied out, is not read")
    if name == "exp" and arguments[0].is_number and float(arguments[0].evalf(6)) > 700:
        raise EquationError("exp of that number overflows")
    return function(*arguments)


def _finite(value: sp.Expr, node: ast.AST) -> sp.Expr:
    """The value itself; a constant that has no finite real value is refused, before abs or a power can hide it."""
    if value.is_number:
        if size(value) > MAX_CONSTANT:
            raise EquationError(f"the constant {_source(node)} has {size(value)} numbers and operations;"
                                f" at most {MAX_CONSTANT} are read, so write its value")  # fmt: skip
        constant = value.evalf(15)
        if not (isinstance(constant, sp.Number) and constant.is_real):
            raise EquationError(f"{_source(node)} {NO_VALUE}")
        if abs(constant) > sys.float_info.max:
            raise EquationError(f"{_source(node)} overflows; use numbers below 1e308")
    return value


def _no_value(text: str) -> str:
    return f"{shown(text)} {NO_VALUE}"


def _no_expression(text: str, error: BaseException) -> str:
    factor = re.search(r"(?<![\w.])(\d+(?:\.\d*)?)([^\W\d]\w*)", text)
    if factor:
        return f"{shown(text)} is not an expression; write {factor[1]}*{factor[2][:40]} for {factor[0][:40]}"
    return f"{shown(text)} is not an expression: {getattr(error, 'msg', error)}"


def _source(node: ast.AST) -> str:
    try:
        return shown(ast.unparse(node))
    except (RecursionError, ValueError):  # nested too deep, or a number of too many digits, to be written down again
        return "a part of it"
