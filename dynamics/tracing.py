"""The rule of a class of the package dysts as expressions, obtained by running its own method on symbols.

No equation is copied: the class's `rhs` (or `_rhs`) runs as it stands, on an array of symbols for the state and with
symbols for its parameters; where it calls NumPy, a stand-in with the same names does what NumPy does, element by
element, on expressions. Loops unroll by themselves, and matrices become named scalars.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from keyword import iskeyword
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np
import sympy as sp

from dynamics.equations import RESERVED, symbol
from dynamics.kepler import kepler
from dynamics.notation import equation

Array = np.ndarray[Any, Any]


class TracingError(ValueError):
    """A class whose rule is no formula; the message says which and why."""


@dataclass(frozen=True)
class Traced:
    """A rule over symbols: `rule` gives dx/dt of a flow and x(n+1) of a map; `delayed` is {name: (of, by)}."""

    state: dict[str, float]
    parameters: dict[str, float]
    rule: tuple[sp.Expr, ...]
    delayed: dict[str, tuple[str, str]]


def traced(cls: type, start: list[float], parameters: Mapping[str, Any], kind: str) -> Traced:
    """The rule of a class of dysts at the stated start and parameters; kind is ode, map or dde.

    Parameters keep their names, and get a "_" at the end where the name is a variable's, a keyword of Python or a
    reserved word of equations. Entry (i, j) of a matrix `w` is `w_i_j`, counted from 1. Variables have the names that
    the method gives them, or x1, x2, ...
    """
    start = start[:1] if kind == "dde" else start  # dysts states an embedding there, and uses its first value alone
    names = _state_names(cls, len(start), kind)
    values: dict[str, float] = {}
    given: dict[str, Any] = {}
    for name, value in parameters.items():
        array = np.asarray(value)
        entries = np.empty(array.shape, dtype=object)
        for index in np.ndindex(array.shape):
            own = _free("_".join([name, *(str(i + 1) for i in index)]), [*names, *values])
            entries[index] = symbol(own)
            values[own] = float(array[index])
        given[name] = entries if array.shape else entries.item()
    model = _Instance(cls, given)
    variables = np.array([symbol(name) for name in names], dtype=object)
    t, delayed = symbol("t"), {}
    if kind == "ode":
        rates = model.rhs(variables, t)
    elif kind == "map":
        rates = model._rhs(*variables, *model.param_list)
    else:
        past = _free(f"{names[0]}_tau", [*names, *values])
        delayed = {past: (names[0], "tau")}
        rates = model._rhs(variables[0], symbol(past), t, *model.param_list)
    rates = list(rates) if isinstance(rates, (tuple, list, np.ndarray)) else [rates]
    rule = tuple(sp.sympify(rate) for rate in rates)
    return Traced(dict(zip(names, map(float, start), strict=True)), values, rule, delayed)


def without_clocks(flow: Traced) -> Traced:
    """The same flow with explicit time: a variable of constant rate on which others depend is its start + rate*t.

    Such a variable would read as autonomous, and add an exponent 0.
    """
    variables = {name: symbol(name) for name in flow.state}
    varying = {*variables.values(), symbol("t")}
    clocks: dict[str, sp.Expr] = {}
    for (name, x), rate in zip(variables.items(), flow.rule, strict=True):
        felt = any(f.has(x) for f in flow.rule)
        if felt and rate != 0 and not rate.free_symbols & varying:
            start = flow.state[name]
            clocks[name] = rate * symbol("t") + (sp.Float(start) if start else 0)
    inserted = {variables[name]: phase for name, phase in clocks.items()}
    rule = tuple(
        f.xreplace(inserted) for name, f in zip(variables, flow.rule, strict=True) if name not in clocks
    )  # fmt: skip
    state = {name: value for name, value in flow.state.items() if name not in clocks}
    return replace(flow, state=state, rule=rule)


def _free(name: str, taken: list[str]) -> str:
    while iskeyword(name) or name in RESERVED or name in taken:
        name += "_"
    return name


def _state_names(cls: type, d: int, kind: str) -> list[str]:
    """The variables' names: those that `_rhs` has as its first arguments, or into which `rhs` unpacks the state."""
    if kind != "ode" or not _overrides_rhs(cls):
        names = [name for name in inspect.signature(_plain(cls, "_rhs")).parameters if name != "self"][:d]
    else:
        source = ast.parse(textwrap.dedent(inspect.getsource(_plain(cls, "rhs"))))
        names = [f"x{i + 1}" for i in range(d)]
        for node in ast.walk(source):
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=elements)], value=ast.Name(id="X")):
                    names = [element.id for element in elements if isinstance(element, ast.Name)]
    return [_free(name, []) for name in names]


def _overrides_rhs(cls: type) -> bool:
    owner = next(c for c in cls.__mro__ if "rhs" in c.__dict__)
    return owner.__module__ != "dysts.base"


def _plain(cls: type, name: str) -> FunctionType:
    """The plain Python function behind a method, static or compiled by numba as it may be."""
    attribute = inspect.getattr_static(cls, name)
    while isinstance(attribute, staticmethod):
        attribute = attribute.__func__
    function = getattr(attribute, "py_func", attribute)
    if not isinstance(function, FunctionType):
        raise TracingError(f"{cls.__name__}.{name} is no function")
    return function


class _Instance:
    """Stands in for an instance of the class: its parameters are symbols, and its methods see the stand-in NumPy."""

    def __init__(self, cls: type, parameters: Mapping[str, Any]) -> None:
        self.__dict__.update(parameters)
        self._cls = cls
        self.param_list = [parameters[name] for name in sorted(parameters)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        plain = _plain(self._cls, name)
        seen = {**plain.__globals__, "np": _NUMPY, "max": _largest, "min": _smallest, "fsolve": _solved}
        function = FunctionType(plain.__code__, seen, plain.__name__, plain.__defaults__, plain.__closure__)
        is_static = isinstance(inspect.getattr_static(self._cls, name), staticmethod)
        return function if is_static else MethodType(function, self)


def _largest(*values: Any) -> sp.Expr:
    return sp.Max(*values)


def _smallest(*values: Any) -> sp.Expr:
    return sp.Min(*values)


def _solved(residual: Callable[[sp.Expr], sp.Expr], *_: Any) -> list[sp.Expr]:
    """What a rule solves for numerically, where the equation is Kepler's; from which start does not matter then."""
    q = sp.Dummy("q", real=True)
    left = residual(q)
    eccentricity = -left.coeff(sp.sin(q))
    mean = q - eccentricity * sp.sin(q) - left
    if mean.has(q) or eccentricity.has(q):
        shown = equation(left.xreplace({q: symbol("q")}))
        raise TracingError(f"the rule solves {shown} = 0 for q numerically, which is not Kepler's equation")
    return [kepler(mean, eccentricity)]


def _elementwise(function: Callable[..., sp.Expr]) -> Callable[..., Any]:
    def applied(x: Any, *rest: Any) -> Any:
        if isinstance(x, np.ndarray):
            result = np.empty(x.shape, dtype=object)
            for index in np.ndindex(x.shape):
                result[index] = function(x[index], *rest)
            return result
        return function(x, *rest)

    return applied


def _step(x: sp.Expr, at_zero: float) -> sp.Expr:
    if at_zero != 0:
        raise TracingError(f"a step with the value {at_zero} at 0 is not written yet")
    return sp.Max(sp.sign(x), 0)  # which is 0 at 0, too; Heaviside is 1/2 there


def _counted(first: int, beyond: int) -> Array:
    return np.array([sp.Integer(i) for i in range(first, beyond)], dtype=object)


def _least(x: Array, axis: int) -> Array:
    return np.array([sp.Min(*row) for row in np.moveaxis(x, axis, -1)], dtype=object)


_SAME = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign")  # in SymPy as in NumPy
_OWN = ("dot", "matmul", "sum", "hstack", "asarray", "zeros_like")  # of NumPy, which work on arrays of expressions
# what the rules of dysts call of NumPy, on expressions and on arrays of them
_NUMPY = SimpleNamespace(
    pi=sp.pi,
    **{name: _elementwise(getattr(sp, name)) for name in _SAME},
    **{"arccos": _elementwise(sp.acos), "arctan2": _elementwise(sp.atan2), "abs": _elementwise(sp.Abs)},
    **{name: getattr(np, name) for name in _OWN},
    heaviside=_elementwise(_step),
    arange=_counted,
    min=_least,
)
