"""Equations become kernels: straight-line numba code over lanes, generated once per system and kept on disk.

A block holds W = LANES copies of a system, each with its own parameters, time and step. It is one flat array in which
component c of column j in lane i stands at ((c*(1 + k) + j)*W + i); column 0 is the state, columns 1..k are deviations
that the tangent rule moves along. One more row at the end gathers the integral of the divergence when k = d.

Two kinds of function are generated:

- step(S, P, t, h, n): n whole steps (iterations of a map, or Runge-Kutta steps of a flow), lanes innermost, so that
  LLVM vectorises over lanes and a step stays in registers;
- rule(D, S, P, t): the derivative of the block, for integrators that choose their own stages.

Modules are named by a digest of all that shapes them and are never rewritten in place.
"""

import hashlib
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import sympy as sp
from numba import types
from sympy.printing.pycode import PythonCodePrinter

from cache.store import cache_folder, write_whole
from dynamics.kernel import STEP_FASTMATH
from dynamics.system import RowError, System
from dynamics.tableaux import TABLEAUX, Tableau

LANES = 16  # at least 16, or LLVM does not vectorise the loop over lanes
MAX_UNROLLED = 30  # d (1 + k) of a step that is generated whole; above, compile time explodes and speed falls

_ARRAY = types.float64[::1]
STEP_SIGNATURE = types.void(_ARRAY, _ARRAY, _ARRAY, _ARRAY, types.int64)
RULE_SIGNATURE = types.void(_ARRAY, _ARRAY, _ARRAY, _ARRAY)
STEP_TYPE = types.FunctionType(STEP_SIGNATURE)
RULE_TYPE = types.FunctionType(RULE_SIGNATURE)


@dataclass(frozen=True)
class Kernels:
    """The generated functions of one system with k deviations: step for maps and flows, rule for flows only."""

    step: Callable[..., None]
    rule: Callable[..., None] | None


_LOADED: dict[tuple[str, int, str, int], Kernels] = {}


def kernels(system: System, k: int, method: str = "dp5", lanes: int = LANES) -> Kernels:
    """The compiled kernels of a system with k deviation vectors (0 <= k <= d), from the cache or made now.

    `lanes` is LANES for blocks, and 1 for the path of a single orbit, which need not pay for sixteen.
    """
    d = system.dimension
    if not 0 <= k <= d:
        raise ValueError(f"{system.id}: {k} deviation vectors asked for, the state has {d} dimensions")
    if d * (1 + k) > MAX_UNROLLED:
        raise RowError(f"{system.id}: {d} variables with {k} deviations are too many for a generated step"
                       f" (at most {MAX_UNROLLED} numbers in all)")  # fmt: skip
    shape = repr((system.kind, [*system.state], [*system.parameters], system.let, system.rule, system.circle))
    key = (shape, k, method, lanes)
    if key not in _LOADED:
        module = _module(system.id, _module_source(system, k, method, lanes))
        _LOADED[key] = Kernels(module.step, getattr(module, "rule", None))
    return _LOADED[key]


def _module(stem: str, source: str) -> Any:
    salt = f"{version('numba')} {version('llvmlite')}\n"
    digest = hashlib.sha256((salt + source).encode()).hexdigest()[:20]
    name = "".join(c if c.isalnum() else "_" for c in stem)[:60] + "_" + digest
    folder = cache_folder("kernels")
    path = Path(folder) / f"{name}.py"
    if not path.exists() or path.read_text(encoding="utf-8") != source:
        write_whole(path, source.encode())
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
        importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:  # the folder's listing was cached before the file came
        importlib.invalidate_caches()
        return importlib.import_module(name)


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
        if exponent in (2, 3):
            return "(" + "*".join([self.parenthesize(base, 1000)] * int(exponent)) + ")"
        if exponent == sp.Rational(1, 2):
            return f"math.sqrt({self._print(base)})"
        if exponent == -1:
            return f"(1.0/{self.parenthesize(base, 1000)})"
        return f"{self.parenthesize(base, 1000)}**({self._print(exponent)})"

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
class _Derivative:
    """Straight-line code for f (and, column by column, J v) at a point held in u0..; `div` is the trace of J."""

    lines: tuple[str, ...]
    f: tuple[str, ...]
    jv: tuple[tuple[str, ...], ...]  # [column][component]
    div: str | None
    uses_time: bool


def _derivative_code(system: System, k: int) -> _Derivative:
    d = system.dimension
    plain = {s: sp.Symbol(f"u{c}", real=True) for c, s in enumerate(system.variables)}
    plain |= {sp.Symbol(name, real=True): sp.Symbol(f"p{q}", real=True) for q, name in enumerate(system.parameters)}
    plain[system.time] = sp.Symbol("tt", real=True)
    f = [e.xreplace(plain) for e in system.expressions]
    jac = system.jacobian.xreplace(plain) if k else sp.zeros(d, d)
    wants_div = k == d and system.kind == "ode"
    cells = [(r, c) for r in range(d) for c in range(d) if jac[r, c] != 0]
    outputs = [*f, *(jac[r, c] for r, c in cells), *([jac.trace()] if wants_div else [])]
    shared, reduced = sp.cse(outputs, symbols=sp.numbered_symbols("c", real=True), order="canonical")
    lines = [f"{name} = {_PRINTER.doprint(value)}" for name, value in shared]
    code = [_PRINTER.doprint(e) for e in reduced]
    entry: dict[tuple[int, int], str] = {}
    for (r, c), text, value in zip(cells, code[d : d + len(cells)], reduced[d : d + len(cells)], strict=True):
        if value.is_number or value.is_Symbol:
            entry[r, c] = f"({text})"
        else:
            lines.append(f"j{r}_{c} = {text}")
            entry[r, c] = f"j{r}_{c}"
    jv = tuple(
        tuple(" + ".join(f"{entry[r, c]}*v{c}_{j}" for c in range(d) if (r, c) in entry) or "0.0" for r in range(d))
        for j in range(k)
    )
    return _Derivative(tuple(lines), tuple(code[:d]), jv, code[-1] if wants_div else None, not system.autonomous)


def _module_source(system: System, k: int, method: str, lanes: int) -> str:
    flags = ", ".join(repr(flag) for flag in sorted(STEP_FASTMATH))
    head = [
        f'"""{system.id} with {k} deviation vectors, {method}: generated code."""',
        "import math",
        "import numpy as np",
        "from numba import njit, types",
        "A = types.float64[::1]",
        f"POLICY = dict(cache=True, nogil=True, error_model='numpy', fastmath={{{flags}}})",
    ]
    code = _derivative_code(system, k)
    if system.kind == "map":
        return "\n".join([*head, *_map_step(system, k, code, lanes)]) + "\n"
    return (
        "\n".join([*head, *_flow_step(system, k, code, TABLEAUX[method], lanes), *_flow_rule(system, k, code, lanes)])
        + "\n"
    )


def _at(c: int, j: int, k: int, d: int, lanes: int) -> str:
    """Index of component c, column j (c = d: the extra row)."""
    return f"{(c * (1 + k) + j) * lanes if c < d else d * (1 + k) * lanes} + i"


def _loads(system: System, k: int, lanes: int) -> list[str]:
    d = system.dimension
    lines = [f"u{c} = S[{_at(c, 0, k, d, lanes)}]" for c in range(d)]
    lines += [f"v{c}_{j} = S[{_at(c, j + 1, k, d, lanes)}]" for j in range(k) for c in range(d)]
    return lines + [f"p{q} = P[{q * lanes} + i]" for q in range(len(system.parameters))]


def _step_head(loop: list[str], lanes: int) -> list[str]:
    return [
        "@njit(types.void(A, A, A, A, types.int64), **POLICY)",
        "def step(S, P, t, h, n):",
        "    for m in range(n):",
        f"        for i in range({lanes}):",
        *(f"            {line}" for line in loop),
        f"    for i in range({lanes}):",
        "        t[i] += n*h[i]",
    ]


def _map_step(system: System, k: int, code: _Derivative, lanes: int) -> list[str]:
    d = system.dimension
    loop = [*_loads(system, k, lanes)]
    if code.uses_time:
        loop.append("tt = t[i] + m*h[i]")
    loop += code.lines
    for c, name in enumerate(system.state):
        loop.append(f"f{c} = {code.f[c]}")
        if name in system.circle:
            length = repr(system.circle[name])
            loop.append(f"f{c} = f{c} - {length}*np.floor(f{c}/{length})")
    loop += [f"w{c}_{j} = {code.jv[j][c]}" for j in range(k) for c in range(d)]
    loop += [f"S[{_at(c, 0, k, d, lanes)}] = f{c}" for c in range(d)]
    loop += [f"S[{_at(c, j + 1, k, d, lanes)}] = w{c}_{j}" for j in range(k) for c in range(d)]
    return _step_head(loop, lanes)


def _combination(weights: list[float], name: str) -> str:
    return " + ".join(f"{w!r}*{name.format(s=s)}" for s, w in enumerate(weights) if w != 0.0)


def _flow_step(system: System, k: int, code: _Derivative, tableau: Tableau, lanes: int) -> list[str]:
    d = system.dimension
    columns = [(f"u{c}", f"y{c}", f"f{{s}}_{c}", _at(c, 0, k, d, lanes), code.f[c]) for c in range(d)]
    columns += [
        (f"v{c}_{j}", f"w{c}_{j}", f"g{{s}}_{c}_{j}", _at(c, j + 1, k, d, lanes), code.jv[j][c])
        for j in range(k)
        for c in range(d)
    ]
    loop = [*_loads(system, k, lanes), "hh = h[i]", "t0 = t[i] + m*hh"]
    loop += [f"{start} = {now}" for now, start, *_ in columns]
    for s in range(tableau.stages):
        if s:
            weights = [float(a) for a in tableau.a[s, :s]]
            loop += [f"{now} = {start} + hh*({_combination(weights, slope)})" for now, start, slope, *_ in columns]
        if code.uses_time:
            loop.append(f"tt = t0 + {float(tableau.c[s])!r}*hh")
        loop += code.lines
        loop += [f"{slope.format(s=s)} = {text}" for *_, slope, _, text in columns]
        if code.div is not None:
            loop.append(f"q{s} = {code.div}")
    weights = [float(b) for b in tableau.b]
    loop += [f"S[{at}] = {start} + hh*({_combination(weights, slope)})" for _, start, slope, at, _ in columns]
    if code.div is not None:
        loop.append(f"S[{_at(d, 0, k, d, lanes)}] += hh*({_combination(weights, 'q{s}')})")
    return _step_head(loop, lanes)


def _flow_rule(system: System, k: int, code: _Derivative, lanes: int) -> list[str]:
    d = system.dimension
    loop = [*_loads(system, k, lanes), "tt = t[i]", *code.lines]
    loop += [f"D[{_at(c, 0, k, d, lanes)}] = {code.f[c]}" for c in range(d)]
    loop += [f"D[{_at(c, j + 1, k, d, lanes)}] = {code.jv[j][c]}" for j in range(k) for c in range(d)]
    return [
        "@njit(types.void(A, A, A, A), **POLICY)",
        "def rule(D, S, P, t):",
        f"    for i in range({lanes}):",
        *(f"        {line}" for line in loop),
    ]
