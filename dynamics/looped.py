"""Kernels of systems with many variables: the rule written out once, loops over deviations and lanes around it.

A step that is written out whole grows like d (1 + k) and takes minutes to compile beyond some forty numbers. Here only
f and the entries of its Jacobian are written out; k is read off the size of the block, so that one module serves every
number of deviations, and the state's path is the same, bit for bit, with and without them.
"""

from dynamics.elementary import IMPORT
from dynamics.kernel import STEP_FASTMATH
from dynamics.straight_line import Derivative, arguments, results, state_functions
from dynamics.system import System
from dynamics.tableaux import TABLEAUX


def looped_source(system: System, code: Derivative, method: str, lanes: int) -> str:
    """The module of step and (for a flow) rule; see codegen for what they do."""
    d = system.dimension
    # a single lane's orbit is compared with no other's bit by bit, and its sums may be fused
    flags = ", ".join(repr(flag) for flag in (sorted(STEP_FASTMATH) if lanes == 1 else ["nsz"]))
    head = [
        f"# generated code: any number of deviation vectors, {method}",
        "import math",
        IMPORT,
        "import numpy as np",
        "from numba import njit, types",
        "from dynamics.kernel import kernel",
        "A = types.float64[::1]",
        f"D, W, ENTRIES = {d}, {lanes}, {len(code.entries)}",
        f"ROW = np.array({[r for r, _ in code.entries] or [0]})",
        f"COLUMN = np.array({[c for _, c in code.entries] or [0]})",
        f"POLICY = dict(fastmath=frozenset({{{flags}}}), group={system.id!r}, source=__name__)",
        "EXACT = dict(nogil=True, error_model='numpy', fastmath={'nsz'}, forceinline=True)",
        *state_functions(system, code),
        *_slope(system, code, lanes),
    ]
    return "\n".join([*head, *(_map_step() if system.kind == "map" else _flow_step(system, method, lanes))]) + "\n"


# J times the deviations of all lanes: one column at a time, which stays in the nearest cache
_OVER_LANES = (
    "    for c in range(D):",
    "        for e in range((c*(1 + k) + 1)*W, (c + 1)*(1 + k)*W):",
    "            out[e] = 0.0",
    "    for j in range(1, k + 1):",
    "        for e in range(ENTRIES):",
    "            a, b = (ROW[e]*(1 + k) + j)*W, (COLUMN[e]*(1 + k) + j)*W",
    "            for i in range(W):",
    "                out[a + i] += J[e*W + i]*S[b + i]",
)


def _over_columns(d: int, code: Derivative) -> list[str]:
    """J times the deviations of a single lane, row by row: loops over columns, of one store each."""
    lines = []
    for r in range(d):
        mine = [(e, c) for e, (row, c) in enumerate(code.entries) if row == r]
        terms = " + ".join(f"x{e}*S[{c}*(1 + k) + j]" for e, c in mine) or "0.0"
        lines += [f"    x{e} = J[{e}]" for e, _ in mine]
        lines += ["    for j in range(1, 1 + k):", f"        out[{r}*(1 + k) + j] = {terms}"]
    return lines


def _slope(system: System, code: Derivative, lanes: int) -> list[str]:
    d = system.dimension
    return [
        "@kernel(types.void(A, A, A, A, A, A, types.int64), **POLICY)",
        "def slope(out, S, P, t, J, trace, k):",
        "    for i in range(W):",
        *(f"        u{c} = S[{c}*(1 + k)*W + i]" for c in range(d)),
        *(f"        p{q} = P[{q}*W + i]" for q in range(len(system.parameters))),
        "        tt = t[i]",
        f"        {results(system, 'f{c}')} = f({arguments(system, code)})",
        *(f"        out[{c}*(1 + k)*W + i] = f{c}" for c in range(d)),
        "        if k > 0:",
        *(f"            {line}" for line in code.j_lines),
        *(f"            J[{e}*W + i] = j{r}_{c}" for e, (r, c) in enumerate(code.entries)),
        f"            trace[i] = {code.div or '0.0'}",
        "    if k == 0:",
        "        return",
        *(_OVER_LANES if lanes > 1 else _over_columns(d, code)),
    ]


def _map_step() -> list[str]:
    return [
        "@kernel(types.void(A, A, A, A, types.int64), **POLICY)",
        "def step(S, P, t, h, n):",
        "    k = (S.shape[0]//W - 1)//D - 1",
        "    size = D*(1 + k)*W",
        "    new, J, trace = np.empty(size), np.empty(max(ENTRIES, 1)*W), np.empty(W)",
        "    for m in range(n):",
        "        slope(new, S, P, t, J, trace, k)",
        "        for e in range(size):",
        "            S[e] = new[e]",
        "        for i in range(W):",
        "            t[i] = t[i] + h[i]",
    ]


def _flow_step(system: System, method: str, lanes: int) -> list[str]:
    tableau = TABLEAUX[method]
    stages = tableau.stages
    lines = [
        "@kernel(types.void(A, A, A, A), **POLICY)",
        "def rule(out, S, P, t):",
        "    k = (S.shape[0]//W - 1)//D - 1",
        "    slope(out, S, P, t, np.empty(max(ENTRIES, 1)*W), np.empty(W), k)",
        "@kernel(types.void(A, A, A, A, types.int64), **POLICY)",
        "def step(S, P, t, h, n):",
        "    k = (S.shape[0]//W - 1)//D - 1",
        "    rows = D*(1 + k)",
        "    Y, J, now = np.empty(rows*W), np.empty(max(ENTRIES, 1)*W), np.empty(W)",
        *(f"    K{s}, q{s} = np.zeros(rows*W), np.zeros(W)" for s in range(stages)),
        "    hh = h[0]",
        "    for m in range(n):",
    ]
    for s in range(stages + 1):
        weights = [float(a) for a in (tableau.a[s, :s] if s < stages else tableau.b)]
        terms = [f"{w!r}*K{r}[e*W + i]" for r, w in enumerate(weights) if w != 0.0]
        target = "Y" if s < stages else "S"
        total = f"S[e*W + i] + h[i]*({' + '.join(terms)})" if terms else "S[e*W + i]"
        if lanes == 1:
            lines += [
                "        for e in range(rows):",
                f"            {target}[e] = {total}".replace("e*W + i", "e").replace("h[i]", "hh"),
            ]
        else:
            lines += [
                "        for e in range(rows):",
                "            for i in range(W):",
                f"                {target}[e*W + i] = {total}",
            ]
        if s < stages:
            lines += [
                "        for i in range(W):",
                f"            now[i] = t[i] + {float(tableau.c[s])!r}*h[i]",
                f"        slope(K{s}, Y, P, now, J, q{s}, k)",
            ]
    for c, name in enumerate(system.state):
        if name in system.circle:
            length = repr(system.circle[name])
            at = f"S[{c}*(1 + k)*W + i]"
            lines += ["        for i in range(W):", f"            {at} = {at} - {length}*np.floor({at}/{length})"]
    trace = " + ".join(f"{float(b)!r}*q{s}[i]" for s, b in enumerate(tableau.b) if b != 0.0)
    return [
        *lines,
        "        for i in range(W):",
        "            if k == D:",
        f"                S[rows*W + i] += h[i]*({trace})",
        "            t[i] = t[i] + h[i]",
    ]
