"""Generated steps of systems with delays: f and its Jacobian written out, loops over deviations and lanes around it.

The history is a ring of N nodes one step apart, each a block of rows c*(1 + k) + j times LANES lanes (component c of
column j: column 0 the orbit, columns 1..k deviations). `R` holds the values at the nodes and `M` those in the middle
of the step that begins at a node; `head` is the slot of the present. A delay is a whole number of steps, so that a
fourth-order Runge-Kutta step, whose stages lie at 0, 1/2 and 1, reads the past at nodes and middles alone, and the
breaking points t = 0, tau, 2 tau, .. are nodes: no step goes across a jump of a derivative.

Middles are those of the cubic Hermite polynomial, x(1/2) = (x0 + x1)/2 + h (f0 - f1)/8, exact to h^4 x''''/384, which
leaves the order 4 (Bellen & Zennaro 2003, Numerical Methods for Delay Differential Equations, 4.1 and 6.1). Those of
the stated history are its own values, so the jump of x' at t = 0 is never interpolated across. The formula is linear
and the stages are those of the joint system: deviations are the exact derivative of the discrete orbit.
"""

from collections.abc import Callable

from numba import types

from dynamics.codegen import LANES, loaded_module
from dynamics.delay_system import DelaySystem
from dynamics.elementary import IMPORT
from dynamics.straight_line import Derivative, arguments, derivative_code, results, state_functions

_F, _I = types.float64[::1], types.int64[::1]
DELAY_STEP_SIGNATURE = types.void(_F, _F, _F, _F, _F, _I, _I, types.int64, types.int64)
DELAY_STEP_TYPE = types.FunctionType(DELAY_STEP_SIGNATURE)

_LOADED: dict[str, Callable[..., None]] = {}

_STEP = """
@kernel(types.void(A, A, I, types.int64, types.int64), **POLICY)
def gather(Z, ring, lags, head, k):
    rows = D*(1 + k)
    N = ring.shape[0]//(rows*W)
    for q in range(Q):
        for i in range(W):
            slot = head - lags[q*W + i]
            if slot < 0:
                slot += N
            a = (slot*rows + OF[q]*(1 + k))*W + i
            for j in range(1 + k):
                Z[(q*(1 + k) + j)*W + i] = ring[a + j*W]
@kernel(types.void(A, A, A, A, A, I, I, types.int64, types.int64), **POLICY)
def step(R, M, P, t, h, lags, head, k, n):
    rows = D*(1 + k)
    size = rows*W
    N = R.shape[0]//size
    Z, J, Y, now = np.empty(Q*(1 + k)*W), np.empty(max(ENTRIES, 1)*W), np.empty(size), np.empty(W)
    K1, K2, K3, K4, K5 = np.empty(size), np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    gather(Z, R, lags, head[0], k)
    slope(K1, R[head[0]*size:(head[0] + 1)*size], Z, P, t, J, k)
    for m in range(n):
        begin, after = head[0]*size, (head[0] + 1)%N
        S, T, middle = R[begin:begin + size], R[after*size:(after + 1)*size], M[begin:begin + size]
        gather(Z, M, lags, head[0], k)
        for i in range(W):
            now[i] = t[i] + 0.5*h[i]
        for e in range(rows):
            for i in range(W):
                Y[e*W + i] = S[e*W + i] + 0.5*h[i]*K1[e*W + i]
        slope(K2, Y, Z, P, now, J, k)
        for e in range(rows):
            for i in range(W):
                Y[e*W + i] = S[e*W + i] + 0.5*h[i]*K2[e*W + i]
        slope(K3, Y, Z, P, now, J, k)
        for e in range(rows):
            for i in range(W):
                Y[e*W + i] = S[e*W + i] + h[i]*K3[e*W + i]
        gather(Z, R, lags, after, k)
        for i in range(W):
            t[i] = t[i] + h[i]
        slope(K4, Y, Z, P, t, J, k)
        for e in range(rows):
            for i in range(W):
                x = e*W + i
                T[x] = S[x] + h[i]/6.0*(K1[x] + 2.0*K2[x] + 2.0*K3[x] + K4[x])
        slope(K5, T, Z, P, t, J, k)
        for e in range(rows):
            for i in range(W):
                x = e*W + i
                middle[x] = 0.5*(S[x] + T[x]) + 0.125*h[i]*(K1[x] - K5[x])
        K1, K5 = K5, K1
        head[0] = after
"""


def delay_step(system: DelaySystem) -> Callable[..., None]:
    """The compiled step(R, M, P, t, h, lags, head, k, n) of a system: n steps with any number k of deviations.

    R, M : (N, d (1 + k), LANES) flat, values at nodes and middles. P : (parameters, LANES), t, h : (LANES,).
    lags : (delayed names, LANES) int64, delays in steps, 1 <= lag < N. head : (1,) int64. All but P, h, lags change.
    """
    source = delay_source(system)
    if source not in _LOADED:
        _LOADED[source] = loaded_module(system.id, source).step
    return _LOADED[source]


def delay_source(system: DelaySystem) -> str:
    """The text of the module of `gather`, `slope` and `step`."""
    base, d = system.base, system.dimension
    code = derivative_code(base, 1, columns=0)
    head = [
        "# generated code: a delay equation, any number of deviation histories, rk4",
        "import math",
        IMPORT,
        "import numpy as np",
        "from numba import njit, types",
        "from dynamics.kernel import kernel",
        "A, I = types.float64[::1], types.int64[::1]",
        f"D, Q, W, ENTRIES = {d}, {len(system.delayed)}, {LANES}, {len(code.entries)}",
        f"OF = np.array({[system.variables.index(one.of) for one in system.delayed.values()]})",
        f"ROW = np.array({[r for r, _ in code.entries] or [0]})",
        f"COLUMN = np.array({[c for _, c in code.entries] or [0]})",
        f"POLICY = dict(fastmath=frozenset({{'nsz'}}), group={system.id!r}, source=__name__)",
        "EXACT = dict(nogil=True, error_model='numpy', fastmath={'nsz'}, forceinline=True)",
        *state_functions(base, code),
        *_slope(system, code),
    ]
    return "\n".join(head) + _STEP


def _slope(system: DelaySystem, code: Derivative) -> list[str]:
    """out = f for column 0, and A v + B z_v for the deviations: columns of J from D on belong to delayed names."""
    base, d = system.base, system.dimension
    return [
        "@kernel(types.void(A, A, A, A, A, A, types.int64), **POLICY)",
        "def slope(out, S, Z, P, t, J, k):",
        "    for i in range(W):",
        *(f"        u{c} = S[{c}*(1 + k)*W + i]" for c in range(d)),
        *(f"        u{d + q} = Z[{q}*(1 + k)*W + i]" for q in range(len(system.delayed))),
        *(f"        p{q} = P[{q}*W + i]" for q in range(len(system.parameters))),
        "        tt = t[i]",
        f"        {results(base, 'f{c}')} = f({arguments(base, code)})",
        *(f"        out[{c}*(1 + k)*W + i] = f{c}" for c in range(d)),
        "        if k > 0:",
        *(f"            {line}" for line in code.j_lines),
        *(f"            J[{e}*W + i] = j{r}_{c}" for e, (r, c) in enumerate(code.entries)),
        "    if k == 0:",
        "        return",
        "    for c in range(D):",
        "        for e in range((c*(1 + k) + 1)*W, (c + 1)*(1 + k)*W):",
        "            out[e] = 0.0",
        "    for e in range(ENTRIES):",
        "        late = COLUMN[e] >= D",
        "        V = Z if late else S",
        "        row = COLUMN[e] - D if late else COLUMN[e]",
        "        for j in range(1, k + 1):",
        "            a, b = (ROW[e]*(1 + k) + j)*W, (row*(1 + k) + j)*W",
        "            for i in range(W):",
        "                out[a + i] += J[e*W + i]*V[b + i]",
    ]
