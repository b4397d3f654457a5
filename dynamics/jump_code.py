"""Steps of flows whose rule jumps: they stop at every surface, turn the deviations as the jump does, and go on.

Between surfaces the side is held fixed and the step is that of a smooth flow. A lane that has crossed is taken back and
moved alone to the crossing, where deviations v become v + (f+ - f-) (n v)/(n f- + dg/dt), n = grad g: the saltation
matrix (Leine & Nijmeijer 2004, Dynamics and Bifurcations of Non-Smooth Mechanical Systems, equation 7.60). On a surface
that both fields point at, a lane slides, until one of them no longer does.
"""

import sympy as sp

from dynamics.jumps import approaches, may_slide, sliding
from dynamics.straight_line import at_point
from dynamics.system import System

MOST_EVENTS = 64  # crossings within one step
HAIR = 1e-15  # of the state's size: so near a surface rounding decides on which side an orbit is
HALVINGS = 100  # at most, of the interval that holds a crossing

DRIVER = """
@njit(**APART)
def least(s, q, t, g):
    surfaces(s, q, t, 0, 1, g)
    worst = np.inf
    for m in range(SWITCHES):
        worst = min(worst, g[m]*q[GIVEN + m])
    size = 1.0
    for c in range(DIM):
        size += abs(s[c*(1 + K)])
    return worst + HAIR*size
@njit(**APART)
def excess(s, q, t):
    return 1.0 - abs(weight(s, q, t))
@njit(**APART)
def moved(s, q, t, before, since, span, slides, g):
    # the state a span after `before`, and by how much it is inside what the current field is good for
    s[:] = before
    t[0] = since
    h = np.array([span])
    if slides:
        slid_step(s, q, t, h, 1)
        return excess(s, q, t)
    one_step(s, q, t, h, 1)
    return least(s, q, t, g)
@njit(**APART)
def cross(s, q, t, g, n, below, above):
    # at a crossing: deviations, side, and whether the orbit slides from here; -1 where it would but must not
    m, worst = 0, np.inf
    surfaces(s, q, t, 0, 1, g)
    for j in range(SWITCHES):
        if g[j]*q[GIVEN + j] < worst:
            m, worst = j, g[j]*q[GIVEN + j]
    normals(s, q, t, m, n)
    one_rule(below, s, q, t)
    q[GIVEN + m] = -q[GIVEN + m]
    one_rule(above, s, q, t)
    before, after = n[DIM], n[DIM]
    for c in range(DIM):
        before += n[c]*below[c*(1 + K)]
        after += n[c]*above[c*(1 + K)]
    slides = 0
    if before*after <= 0.0:
        if not MAY_SLIDE:
            return -1
        slides = 1
        slid_rule(above, s, q, t)
        after = 0.0
    for j in range(K):
        along = 0.0
        for c in range(DIM):
            along += n[c]*s[c*(1 + K) + j + 1]
        along /= before
        for c in range(DIM):
            s[c*(1 + K) + j + 1] += (above[c*(1 + K)] - below[c*(1 + K)])*along
    if K == DIM:
        s[DIM*(1 + K)] += np.log(after/before)
    return slides
@njit(**APART)
def through(s, q, t, span, slides):
    rows = s.size
    before, g, n = np.empty(rows), np.empty(SWITCHES), np.empty(DIM + 1)
    below, above = np.zeros(rows), np.zeros(rows)
    rest = span
    for event in range(MOST_EVENTS):
        before[:] = s
        since = t[0]
        inside = max(excess(s, q, t) if slides else least(s, q, t, g), 1e-300)
        outside = moved(s, q, t, before, since, rest, slides, g)
        if outside >= 0.0:
            return True
        lo, hi, side = 0.0, rest, 0
        for _ in range(HALVINGS):
            if hi - lo <= 4e-16*rest or outside == 0.0:
                break
            x = hi - outside*(hi - lo)/(outside - inside)
            if not lo < x < hi:
                x = (lo + hi)/2
            value = moved(s, q, t, before, since, x, slides, g)
            if not np.isfinite(value):
                return False
            if value >= 0.0:
                lo, inside = x, value
                outside = outside/2 if side == 1 else outside
                side = 1
            else:
                hi, outside = x, value
                inside = inside/2 if side == -1 else inside
                side = -1
        moved(s, q, t, before, since, hi, slides, g)
        rest -= hi
        if slides:
            q[GIVEN] = 1.0 if weight(s, q, t) > 0.0 else -1.0
            slides = 0
        else:
            slides = cross(s, q, t, g, n, below, above)
        if slides < 0:
            return False
        if rest <= 1e-15*span:
            return True
    return False
@njit(**APART)
def choose(S, Q, t, i, w, g, s, q, now):
    # the sides of lane i; whether it lies on a surface along which it slides
    surfaces(S, Q, t, i, w, g)
    for m in range(SWITCHES):
        Q[(GIVEN + m)*w + i] = 1.0 if g[m] >= 0.0 else -1.0
    size = 0.0
    for c in range(DIM):
        size = max(size, abs(S[c*(1 + K)*w + i]))
    if not MAY_SLIDE or abs(g[0]) > 1e3*HAIR*(1.0 + size):
        return 0
    for c in range(s.size):
        s[c] = S[c*w + i]
    for c in range(q.size):
        q[c] = Q[c*w + i]
    now[0] = t[i]
    return 1 if excess(s, q, now) > 0.0 and attracts(s, q, now) else 0
@kernel(types.void(A, A, A, A, types.int64), **POLICY)
def step(S, P, t, h, n):
    rows = S.size//W
    Q, old, since = np.empty((GIVEN + SWITCHES)*W), np.empty(S.size), np.empty(W)
    Q[:GIVEN*W] = P[:GIVEN*W]
    s, q, now, g = np.empty(rows), np.empty(GIVEN + SWITCHES), np.empty(1), np.empty(SWITCHES)
    slid = np.zeros(W, dtype=np.int64)
    for _ in range(n):
        for i in range(W):
            slid[i] = choose(S, Q, t, i, W, g, s, q, now)
        old[:] = S
        since[:] = t
        smooth_step(S, Q, t, h, 1)
        for i in range(W):
            surfaces(S, Q, t, i, W, g)
            left = slid[i] == 1
            for m in range(SWITCHES):
                left |= g[m]*Q[(GIVEN + m)*W + i] < 0.0
            if left:
                for c in range(rows):
                    s[c] = old[c*W + i]
                for c in range(q.size):
                    q[c] = Q[c*W + i]
                now[0] = since[i]
                if not through(s, q, now, h[i], slid[i]):
                    s[:] = np.nan
                for c in range(rows):
                    S[c*W + i] = s[c]
                t[i] = since[i] + h[i]
@kernel(types.void(A, A, A, A), **POLICY)
def rule(D, S, P, t):
    Q, g = np.empty((GIVEN + SWITCHES)*W), np.empty(SWITCHES)
    Q[:GIVEN*W] = P[:GIVEN*W]
    for i in range(W):
        surfaces(S, Q, t, i, W, g)
        for m in range(SWITCHES):
            Q[(GIVEN + m)*W + i] = 1.0 if g[m] >= 0.0 else -1.0
    smooth_rule(D, S, Q, t)
"""

NO_SLIDING = """
@njit(**APART)
def weight(s, q, t):
    return 0.0
@njit(**APART)
def attracts(s, q, t):
    return False
@njit(**APART)
def slid_step(s, q, t, h, n):
    s[:] = np.nan
@njit(**APART)
def slid_rule(d, s, q, t):
    d[:] = np.nan
"""


def surface_code(system: System, k: int) -> list[str]:
    """The functions `surfaces` and `normals`: every switch's g at a lane, and one g's derivatives, the last in time."""
    lines = ["@njit(**APART)", "def surfaces(S, P, t, i, w, out):", *_written(system, k, [*system.switches])]
    lines += ["@njit(**APART)", "def normals(S, P, t, m, out):", "    i, w = 0, 1"]
    for m, g in enumerate(system.switches):
        slopes = [sp.diff(g, x) for x in (*system.variables, system.time)]
        lines += [f"    if m == {m}:", *(f"    {line}" for line in _written(system, k, slopes))]
    return lines


def sliding_code(system: System, k: int) -> list[str]:
    """The functions `weight` and `attracts` of the only switch's surface."""
    _, share = sliding(system)
    lines = []
    for name, wanted, result in (
        ("weight", [share], "out[0]"),
        ("attracts", [*approaches(system)], "out[0] < 0.0 and out[1] > 0.0"),
    ):
        lines += [
            "@njit(**APART)",
            f"def {name}(S, P, t):",
            f"    i, w, out = 0, 1, np.empty({len(wanted)})",
            *_written(system, k, wanted),
            f"    return {result}",
        ]
    return lines


def _written(system: System, k: int, wanted: list[sp.Expr]) -> list[str]:
    lines, code = at_point(system, wanted)
    loads = [f"u{c} = S[{c * (1 + k)}*w + i]" for c in range(system.dimension)]
    loads += [f"p{q} = P[{q}*w + i]" for q in range(len(system.parameters))]
    out = [f"out[{m}] = {text}" for m, text in enumerate(code)]
    return [f"    {line}" for line in [*loads, "tt = t[i]", *lines, *out]]


def constants(system: System, k: int, lanes: int) -> list[str]:
    """The numbers that the driver is written with."""
    return [
        # forced inline, as the smooth functions are, these would take a minute to compile
        "APART = dict(nogil=True, error_model='numpy', fastmath={'nsz'})",
        f"W, K, DIM, GIVEN = {lanes}, {k}, {system.dimension}, {len(system.parameters)}",
        f"SWITCHES, MAY_SLIDE = {len(system.switches)}, {may_slide(system)}",
        f"MOST_EVENTS, HALVINGS, HAIR = {MOST_EVENTS}, {HALVINGS}, {HAIR!r}",
    ]
