"""Ito equations, and maps, with diagonal noise.

A map with noise is x(n+1) = f(x(n)) + b(x(n)) u, with u evenly spread over [-1, 1], drawn anew for every variable and
iterate: noise of bounded size, which need not drive a bounded orbit away. Method "iterate".

Ito equations: dx_c = a_c(x, t) dt + b_c(x, t) dW_c, moved over lanes by generated steps.

Euler-Maruyama:  x + a h + b dW.                       strong order 1/2 (1 where b does not depend on x), weak order 1
Milstein:        x + a h + b dW + b b'/2 (dW^2 - h).   strong order 1, b' = d b_c/d x_c   (Milstein 1974;
                 Kloeden & Platen 1992, Numerical Solution of SDEs, Eqs. 10.2.4, 10.3.1)

A deviation is moved by the derivative of the step itself, under the same dW: its growth is the exponent of the random
flow. The increments are those of deviates.py: dW over a step is sqrt(h/fine) times the sum of `fine` deviates, so a
block at step h with fine = 2 follows the same Brownian path as one at h/2 with fine = 1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import sympy as sp

from cache.key import key
from dynamics.codegen import loaded_module
from dynamics.elementary import IMPORT
from dynamics.equations import derivative, symbol
from dynamics.kernel import VERSIONS
from dynamics.pointwise import vanishes
from dynamics.straight_line import shared
from dynamics.system import RowError, System, system_from_row

Method = Literal["euler_maruyama", "milstein", "iterate"]
METHODS: tuple[Method, ...] = ("euler_maruyama", "milstein", "iterate")


@dataclass(frozen=True)
class NoisySystem:
    """A row with noise: `drift` is the row without it, a flow or map; `noise` has one expression per variable."""

    drift: System
    noise: tuple[str, ...]
    expressions: tuple[sp.Expr, ...]

    @property
    def id(self) -> str:
        """The row's id."""
        return self.drift.id

    @property
    def additive(self) -> bool:
        """Whether the noise is the same wherever the state is; then both methods are one, of strong order 1."""
        return not any(b.has(*self.drift.variables) for b in self.expressions)


def noise_row(system_id: str, row: Mapping[str, Any]) -> System:
    """The system that a TOML table of kind "sde" describes; RowError says in one sentence what is wrong with it."""
    if row.get("kind") not in ("sde", "map"):
        raise RowError(f"{system_id}: kind is {row.get('kind')!r}; a row with noise has kind 'sde' or 'map'")
    noise = row.get("noise")
    if not isinstance(noise, list) or not all(isinstance(text, str) for text in noise):
        raise RowError(f"{system_id}: the key 'noise' is missing or not a list of texts, one per variable")
    plain = {key: value for key, value in row.items() if key != "noise"}
    drift = system_from_row(system_id, {**plain, "kind": "map" if row["kind"] == "map" else "ode"})
    if len(noise) != drift.dimension:
        raise RowError(f"{system_id}: the noise has {len(noise)} terms, the state has {drift.dimension} variables")
    replace(drift, rule=tuple(noise)).check_start()  # read as a rule is: the same names, intermediates and refusals
    return replace(drift, kind=row["kind"], noise=tuple(noise))


def noisy_form(system: System) -> NoisySystem:
    """A row with noise as its kernels see it."""
    return NoisySystem(_silent(system), system.noise, system.noise_expressions)


def _silent(system: System) -> System:
    return replace(system, kind="map" if system.discrete else "ode", noise=())


def noisy_system(system_id: str, row: Mapping[str, Any]) -> NoisySystem:
    """The system that a TOML table describes, as its kernels see it."""
    return noisy_form(noise_row(system_id, row))


def sharpest_method(system: NoisySystem) -> Method:
    """Of a map, iteration; Milstein where every variable's noise depends on it alone, else Euler-Maruyama."""
    if system.drift.discrete:
        return "iterate"
    pairs = zip(system.drift.variables, system.expressions, strict=True)
    alone = all(not b.has(*(y for y in system.drift.variables if y != x)) for x, b in pairs)
    return "milstein" if alone else "euler_maruyama"


def without_silent_noise(system: System) -> System:
    """The system itself, or the ordinary one that is left of it where its noise is 0 everywhere."""
    if not system.noisy:
        return system
    values = {symbol(name): value for name, value in system.parameters.items()}
    at = [b.subs(values) for b in system.noise_expressions]
    if not all(b.is_zero or vanishes(b) for b in at):
        return system
    return _silent(system)


def increments(system: NoisySystem, method: Method, h: sp.Symbol, dw: tuple[sp.Symbol, ...]) -> list[sp.Expr]:
    """x after one step less x before it, for every variable, over state, parameters, time, h and dW.

    Raises RowError for Milstein with noise that depends on other variables than its own: its step would need iterated
    integrals of two Brownian motions.
    """
    if method not in METHODS:
        raise ValueError(f"{system.id}: the method {method!r} is not known; known are {', '.join(METHODS)}")
    if (method == "iterate") != system.drift.discrete:
        raise ValueError(f"{system.id}: the method {method!r} is not one for a {system.drift.kind}")
    out = []
    drift = system.drift
    if method == "iterate":
        triples = zip(drift.variables, drift.expressions, system.expressions, strict=True)
        return [a + b * dw[c] - x for c, (x, a, b) in enumerate(triples)]
    for c, (x, a, b) in enumerate(zip(drift.variables, drift.expressions, system.expressions, strict=True)):
        step = a * h + b * dw[c]
        if method == "milstein":
            others = [str(y) for y in drift.variables if y != x and b.has(y)]
            if others:
                raise RowError(f"{system.id}: the noise of {x} depends on {', '.join(others)}; Milstein's step is for"
                               " noise that depends on its own variable alone, take Euler-Maruyama")  # fmt: skip
            step += b * derivative(b, x) / 2 * (dw[c] ** 2 - h)
        out.append(step)
    return out


def noise_step(system: NoisySystem, k: int, method: Method) -> Callable[..., None]:
    """step(S, P, t, h, n, seed, lanes, first, fine) for k deviations (0 or 1) and any number of lanes.

    S is laid out as in codegen, without the row of the divergence; lanes (W,) are the lanes' numbers; `first` is the
    number of the first step since time began.
    """
    return cast(Callable[..., None], loaded_module(system.id, step_source(system, k, method)).step)


def step_source(system: NoisySystem, k: int, method: Method) -> str:
    """The text of the module of noise_step."""
    drift, d = system.drift, system.drift.dimension
    h, dw = sp.Symbol("hh", real=True), tuple(sp.Symbol(f"dw{c}", real=True) for c in range(d))
    # names of our own, which no row's can meet: they are put in all at once
    held = tuple(sp.Dummy(real=True) for _ in range(d + 1))
    moves = increments(system, method, held[d], held[:d])
    slopes = [[derivative(f, x) for x in drift.variables] for f in moves]
    plain = {x: sp.Symbol(f"u{c}", real=True) for c, x in enumerate(drift.variables)}
    plain |= {symbol(name): sp.Symbol(f"p{q}", real=True) for q, name in enumerate(drift.parameters)}
    plain |= {drift.time: sp.Symbol("tt", real=True), **dict(zip(held, [*dw, h], strict=True))}
    lines, moved = shared([f.xreplace(plain) for f in moves], "c")
    names = ", ".join([f"u{c}" for c in range(d)] + [f"dw{c}" for c in range(d)]
                      + [f"p{q}" for q in range(len(drift.parameters))] + ["tt", "hh"])  # fmt: skip
    ends = []
    for c, name in enumerate(drift.state):
        ends.append(f"f{c} = u{c} + ({moved[c]})")
        if name in drift.circle:
            ends.append(f"f{c} = f{c} - {drift.circle[name]!r}*np.floor(f{c}/{drift.circle[name]!r})")
    body = [*lines, *ends, f"return ({', '.join(f'1.0*f{c}' for c in range(d))},)"]
    drawn = [
        (f"math.erf(math.sqrt(0.5)*{one})" if method == "iterate" else one)  # of a normal deviate, even over [-1, 1]
        if b != 0
        else "0.0"
        for c, b in enumerate(system.expressions)
        for one in [f"root*summed(seed, lanes[i], (first + m)*fine, fine, {c})"]
    ]
    loop = [
        *(f"u{c} = S[{c * (1 + k)}*W + i]" for c in range(d)),
        *(f"p{q} = P[{q}*W + i]" for q in range(len(drift.parameters))),
        "tt, hh = t[i], h[i]",
        "root = math.sqrt(hh/fine)",
        *(f"dw{c} = {text}" for c, text in enumerate(drawn)),
        f"{', '.join(f'f{c}' for c in range(d))}, = move({names})",
    ]
    carry: list[str] = []
    if k:
        cells = [(r, c) for r in range(d) for c in range(d) if slopes[r][c] != 0]
        carried, entries = shared([slopes[r][c].xreplace(plain) for r, c in cells], "e")
        rows = [
            " + ".join([f"v{r}", *(f"({e})*v{c}" for (row, c), e in zip(cells, entries, strict=True) if row == r)])
            for r in range(d)
        ]
        deviations = ", ".join(f"v{c}" for c in range(d))
        carry = ["@njit(**EXACT)", f"def carry({names}, {deviations}):", *(f"    {line}" for line in carried),
                 f"    return ({', '.join(f'1.0*({row})' for row in rows)},)"]  # fmt: skip
        loop += [f"v{c} = S[{c * (1 + k) + 1}*W + i]" for c in range(d)]
        loop += [f"{', '.join(f'g{c}' for c in range(d))}, = carry({names}, {deviations})"]
        loop += [f"S[{c * (1 + k) + 1}*W + i] = g{c}" for c in range(d)]
    loop += [*(f"S[{c * (1 + k)}*W + i] = f{c}" for c in range(d)), "t[i] = tt + hh"]
    generator = Path(__file__).with_name("deviates.py").read_text(encoding="utf-8")
    return "\n".join([
        f"# generated code: {k} deviation vectors, {method}",
        # machine code is kept under this text, so what is compiled into it from elsewhere stands here by its digest
        f"# deviates {key(generator, VERSIONS)}",
        "import math",
        IMPORT,
        "import numpy as np",
        "from numba import njit, types",
        "from dynamics.deviates import summed",
        "from dynamics.kernel import kernel",
        "A, I = types.float64[::1], types.int64",
        f"POLICY = dict(group={system.id!r}, source=__name__)",
        "EXACT = dict(nogil=True, error_model='numpy', forceinline=True)",
        "@njit(**EXACT)",
        f"def move({names}):",
        *(f"    {line}" for line in body),
        *carry,
        "@kernel(types.void(A, A, A, A, I, types.uint64, types.int64[::1], I, I), **POLICY)",
        "def step(S, P, t, h, n, seed, lanes, first, fine):",
        "    W = t.shape[0]",
        "    for m in range(n):",
        "        for i in range(W):",
        *(f"            {line}" for line in loop),
    ]) + "\n"  # fmt: skip
