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

import contextlib
import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from types import ModuleType
from typing import Any

from numba import types

from cache.store import cache_place, write_whole
from dynamics.elementary import IMPORT
from dynamics.jump_code import DRIVER, NO_SLIDING, constants, sliding_code, surface_code
from dynamics.jumps import may_slide, sliding, with_sides
from dynamics.kernel import STEP_FASTMATH
from dynamics.looped import looped_source
from dynamics.straight_line import Derivative, arguments, derivative_code, results, state_functions
from dynamics.system import RowError, System
from dynamics.tableaux import TABLEAUX, Tableau

LANES = 16  # at least 16, or LLVM does not vectorise the loop over lanes
MAX_UNROLLED = {"map": 240, "ode": 42}  # d (1 + d) of a step generated whole; above, compile time explodes
MAX_VARIABLES = 128
UNROLLED_NUMBERS = 16  # of state and deviations, in the iterates that are written out after one another

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


def is_looped(system: System) -> bool:
    """Whether the kernels loop over deviations, and so move any number of them: that of systems of many variables."""
    return system.dimension * (1 + system.dimension) > MAX_UNROLLED[system.kind]


def kernels(system: System, k: int, method: str = "dp5", lanes: int = LANES) -> Kernels:
    """The compiled kernels of a system with k deviation vectors (0 <= k <= d), from the cache or made now.

    `lanes` is LANES for blocks, and 1 for the path of a single orbit, which need not pay for sixteen.
    """
    d = system.dimension
    if not 0 <= k <= d:
        raise ValueError(f"{system.id}: {k} deviation vectors asked for, the state has {d} dimensions")
    if not system.has_formula:
        raise ValueError(f"{system.id}: a system of kind {system.kind} has steps of its own")
    check_size(system)
    shape = repr((system.kind, [*system.state], [*system.parameters], system.let, system.rule, system.circle))
    looped = is_looped(system)
    key = (shape + repr(system.switches), -1 if looped else k, method, lanes)
    if key not in _LOADED:
        if looped:
            source = looped_source(system, derivative_code(system, d, columns=0), method, lanes)
        elif system.switches:
            source = _jumping_source(system, k, method, lanes)
        else:
            source = _module_source(system, k, method, lanes)
        module = loaded_module(system.id, source)
        _LOADED[key] = Kernels(module.step, getattr(module, "rule", None))
    return _LOADED[key]


def check_size(system: System) -> None:
    """Raise RowError where the state has more variables than generated code can move."""
    if system.dimension > MAX_VARIABLES:
        raise RowError(f"{system.id}: {system.dimension} variables are too many; at most {MAX_VARIABLES} can be moved")


def loaded_module(system_id: str, source: str) -> Any:
    """The module with this text, named by its digest. It is run as it stands here: Python's own cache of bytecode would
    take a file rewritten within one second for the old one. The file is for its reader, and for tracebacks.
    """
    salt = f"{version('numba')} {version('llvmlite')}\n"
    digest = hashlib.sha256((salt + source).encode()).hexdigest()[:20]
    name = "".join(c if c.isalnum() else "_" for c in system_id)[:60] + "_" + digest
    if name in sys.modules:
        return sys.modules[name]
    path = cache_place() / "kernels" / system_id / f"{name}.py"
    with contextlib.suppress(OSError):  # what hinders writing is reported with the machine code
        if not path.exists() or path.read_text(encoding="utf-8") != source:
            write_whole(path, source.encode())
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # numba looks for a kernel's module there when it reads machine code
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _module_source(system: System, k: int, method: str, lanes: int) -> str:
    flags = ", ".join(repr(flag) for flag in sorted(STEP_FASTMATH))
    code = derivative_code(system, k)
    head = [
        f"# generated code: {k} deviation vectors, {method}",
        "import math",
        IMPORT,
        "import numpy as np",
        "from numba import njit, types",
        "from dynamics.kernel import kernel",
        "A = types.float64[::1]",
        f"POLICY = dict(fastmath=frozenset({{{flags}}}), group={system.id!r}, source=__name__)",
        # the state's own arithmetic is never reordered or fused: its rounding must not depend on what stands beside it
        "EXACT = dict(nogil=True, error_model='numpy', fastmath={'nsz'}, forceinline=True)",
        *state_functions(system, code),
    ]
    if system.kind == "map":
        return "\n".join([*head, *_map_step(system, k, code, lanes)]) + "\n"
    tableau = TABLEAUX[method]
    sums = [
        line
        for s in range(1, tableau.stages + 1)
        for line in _stage_sum(s, (tableau.a[s, :s] if s < tableau.stages else tableau.b).tolist())
    ]
    step = _flow_step(system, k, code, tableau, lanes)
    return "\n".join([*head, *sums, *step, *_flow_rule(system, k, code, lanes)]) + "\n"


def _jumping_source(system: System, k: int, method: str, lanes: int) -> str:
    """The module of a flow whose rule jumps: smooth steps of all lanes, and of one lane, with a driver around them."""
    held = with_sides(system)
    flows = [("one", held), *([("slid", sliding(system)[0])] if may_slide(system) else [])]
    parts = [_module_source(held, k, method, lanes).replace("def step(", "def smooth_step(").replace(
        "def rule(", "def smooth_rule(")]  # fmt: skip
    for name, flow in flows:
        code = derivative_code(flow, k)
        lines = [*_flow_step(flow, k, code, TABLEAUX[method], 1), *_flow_rule(flow, k, code, 1)]
        if flow is not held:
            lines = [*state_functions(flow, code), *lines]
        text = "\n".join(lines).replace("def step(", f"def {name}_step(").replace("def rule(", f"def {name}_rule(")
        parts.append(text if flow is held else text.replace("def f(", "def along(").replace("= f(", "= along("))
    parts += [*constants(system, k, lanes), *surface_code(system, k)]
    parts += sliding_code(system, k) if may_slide(system) else [NO_SLIDING]
    return "\n".join([*parts, DRIVER])


def _stage_sum(stage: int, weights: list[float]) -> list[str]:
    slopes = ", ".join(f"k{s}" for s in range(len(weights)))
    return [
        "@njit(**EXACT)",
        f"def sum{stage}(y, h, {slopes}):",
        f"    return y + h*({_combination(weights, 'k{s}')})",
    ]


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
        "@kernel(types.void(A, A, A, A, types.int64), **POLICY)",
        "def step(S, P, t, h, n):",
        "    for m in range(n):",
        f"        for i in range({lanes}):",
        *(f"            {line}" for line in loop),
    ]


def _map_step(system: System, k: int, code: Derivative, lanes: int) -> list[str]:
    d = system.dimension
    deviations = [(c, j) for j in range(k) for c in range(d)]
    once = [f"{results(system, 'f{c}')} = f({arguments(system, code)})", *code.j_lines]
    once += [f"w{c}_{j} = {code.jv[j][c]}" for c, j in deviations]
    once += [f"u{c} = f{c}" for c in range(d)] + [f"v{c}_{j} = w{c}_{j}" for c, j in deviations]
    once += ["tt = tt + h[i]"] if code.uses_time else []
    stores = [f"S[{_at(c, 0, k, d, lanes)}] = u{c}" for c in range(d)]
    stores += [f"S[{_at(c, j + 1, k, d, lanes)}] = v{c}_{j}" for c, j in deviations]
    stores += ["t[i] = tt"] if code.uses_time else []
    head = [*_loads(system, k, lanes), *(["tt = t[i]"] if code.uses_time else [])]
    # the iterates of a small map stay in registers for a few turns, since loads and stores would cost more than they do
    turns = max(1, UNROLLED_NUMBERS // (d * (1 + k)))
    many, one = ([*head, *turn, *stores] for turn in (once * turns, once))
    return [
        "@kernel(types.void(A, A, A, A, types.int64), **POLICY)",
        "def step(S, P, t, h, n):",
        f"    for m in range(n//{turns}):",
        f"        for i in range({lanes}):",
        *(f"            {line}" for line in many),
        f"    for m in range(n%{turns}):",
        f"        for i in range({lanes}):",
        *(f"            {line}" for line in one),
        *_clock(code, lanes),
    ]


def _clock(code: Derivative, lanes: int) -> list[str]:
    """Time moved by all steps at once, where the rule does not read it."""
    return [] if code.uses_time else [f"    for i in range({lanes}):", "        t[i] = t[i] + n*h[i]"]


def _combination(weights: list[float], name: str) -> str:
    return " + ".join(f"{w!r}*{name.format(s=s)}" for s, w in enumerate(weights) if w != 0.0)


def _flow_step(system: System, k: int, code: Derivative, tableau: Tableau, lanes: int) -> list[str]:
    d = system.dimension
    deviations = [(c, j) for j in range(k) for c in range(d)]
    loop = [*_loads(system, k, lanes), "hh = h[i]", *(["tt = t[i]", "t0 = tt"] if code.uses_time else [])]
    loop += [f"y{c} = u{c}" for c in range(d)] + [f"w{c}_{j} = v{c}_{j}" for c, j in deviations]
    for s in range(tableau.stages + 1):
        if s:
            weights = [float(a) for a in (tableau.a[s, :s] if s < tableau.stages else tableau.b)]
            slopes = [", ".join(f"f{q}_{c}" for q in range(s)) for c in range(d)]
            loop += [f"u{c} = sum{s}(y{c}, hh, {slopes[c]})" for c in range(d)]
            loop += [f"v{c}_{j} = w{c}_{j} + hh*({_combination(weights, f'g{{s}}_{c}_{j}')})" for c, j in deviations]
        if s == tableau.stages:
            break
        if code.uses_time:
            loop.append(f"tt = t0 + {float(tableau.c[s])!r}*hh")
        loop.append(f"{results(system, f'f{s}_{{c}}')} = f({arguments(system, code)})")
        loop += code.j_lines
        loop += [f"g{s}_{c}_{j} = {code.jv[j][c]}" for c, j in deviations]
        if code.div is not None:
            loop.append(f"q{s} = {code.div}")
    for c, name in enumerate(system.state):
        if name in system.circle:
            length = repr(system.circle[name])
            loop.append(f"u{c} = u{c} - {length}*np.floor(u{c}/{length})")
    loop += [f"S[{_at(c, 0, k, d, lanes)}] = u{c}" for c in range(d)]
    loop += [f"S[{_at(c, j + 1, k, d, lanes)}] = v{c}_{j}" for c, j in deviations]
    if code.div is not None:
        weights = [float(b) for b in tableau.b]
        loop.append(f"S[{_at(d, 0, k, d, lanes)}] += hh*({_combination(weights, 'q{s}')})")
    loop += ["t[i] = t0 + hh"] if code.uses_time else []
    return [*_step_head(loop, lanes), *_clock(code, lanes)]


def _flow_rule(system: System, k: int, code: Derivative, lanes: int) -> list[str]:
    d = system.dimension
    loop = [*_loads(system, k, lanes), "tt = t[i]"]
    loop += [f"{results(system, 'f{c}')} = f({arguments(system, code)})", *code.j_lines]
    loop += [f"D[{_at(c, 0, k, d, lanes)}] = f{c}" for c in range(d)]
    loop += [f"D[{_at(c, j + 1, k, d, lanes)}] = {code.jv[j][c]}" for j in range(k) for c in range(d)]
    return [
        "@kernel(types.void(A, A, A, A), **POLICY)",
        "def rule(D, S, P, t):",
        f"    for i in range({lanes}):",
        *(f"        {line}" for line in loop),
    ]
