"""An open-book question read back from its English text alone, and answered by integrating with SciPy.

Nothing here comes from the library: equations, parameters and start are read from the text, SymPy differentiates,
SciPy's LSODA integrates the state together with a deviation from it, and a regime is told by the growth of the
deviation and by what recurs. Where these do not tell, the answer is None.
"""

import re
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

SAYINGS = {  # affirmative, negative
    "Chaotic": (r"is chaotic|is it chaotic", r"is not chaotic"),
    "PosLyap": (r"(?:has|does it have) a positive largest Lyapunov exponent", r"has no positive Lyapunov exponent"),
    "Periodic": (r"is periodic|is it periodic", r"is not periodic"),
    "FixedPointAttr": (r"(?:has|does it have) a fixed-point attractor", r"has no fixed-point attractor"),
}
DENIED = re.compile(r"Is it wrong to say|Is the claim wrong")
DEFINED = re.compile(r"In this question, to .+? means: .+?\. (?=Consider)")
VALUE = re.compile(r"\b(\w+) = (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\d.]*\w)")
RING = re.compile(r"(\w+) is taken modulo ([\d.]+)")
FUNCTIONS = {"abs": sp.Abs, "sign": sp.sign, "Mod": sp.Mod, "Min": sp.Min, "Max": sp.Max, "pi": sp.pi} | {
    name: getattr(sp, name) for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "atan",
                                         "asin", "acos", "floor", "sec", "Heaviside", "Piecewise")
}  # fmt: skip
ESCAPED = 1e8
TURNS = 400  # of the time that the state takes to go once around, before and while it is measured
LATER = 2000  # after which chaos is looked at again: it may have been a transient
GROWTH = 0.02  # of the deviation in one turn, above which it is growth
ITERATES = 20_000
CALLS = 2_500_000  # of the rule, some half a minute: what is not known then stays open
RECURRENCE = 1e-4  # of the extent
NOISE = 1e-8  # of the state, below which what moves is the integrator's error: a rest, which crosses no section


class Question(NamedTuple):
    """What a text says: the rule, the point, what is asked and whether TRUE denies it."""

    discrete: bool
    rule: tuple[tuple[str, str], ...]  # variable and formula
    lets: tuple[tuple[str, str], ...]
    rings: tuple[tuple[str, float], ...]
    values: tuple[tuple[str, float], ...]
    predicate: str
    denied: bool

    @property
    def place(self):
        """All but what is asked."""
        return self[:5]


def read(text):
    """The question that a text asks, or None where it asks of something else than SAYINGS, or of a delay."""
    context, _, asked = text.rpartition("\n\n")
    _, _, lines = context.partition(":\n")
    if "t - " in lines or " dt " in lines:
        return None
    rule, lets = [], []
    for line in lines.split("\n"):
        if RING.match(line):
            continue
        name, _, formula = line.partition(" = ")
        match = re.fullmatch(r"(\w+)('|\(n\+1\))", name)
        (rule if match else lets).append((match[1] if match else name, formula))
    asked = DEFINED.sub("", asked)
    found = [(name, negative) for name, sayings in SAYINGS.items() for negative, saying in enumerate(sayings)
             if re.search(saying, asked, re.IGNORECASE)]  # fmt: skip
    if len(found) != 1:
        return None
    ((predicate, negative),) = found
    return Question(
        "(n+1)" in lines, tuple(rule), tuple(lets), tuple((name, float(x)) for name, x in RING.findall(lines)),
        tuple((name, float(x)) for name, x in VALUE.findall(asked)), predicate,
        bool(negative) != bool(DENIED.search(asked)),
    )  # fmt: skip


def answer(question):
    """TRUE, FALSE or None."""
    holds = regime(*question.place)
    if holds is None or holds[question.predicate] is None:
        return None
    return "TRUE" if holds[question.predicate] != question.denied else "FALSE"


@lru_cache(maxsize=4096)
def regime(discrete, rule, lets, rings, values):
    """Each predicate of SAYINGS with its truth or None; None where the orbit cannot be followed."""
    names = [name for name, _ in rule]
    known = {name: sp.Symbol(name, real=True) for name in ("t", *names)} | dict(FUNCTIONS)
    given = dict(values)
    known |= {name: sp.Float(repr(value), 17) for name, value in given.items() if name not in names}
    for name, formula in lets:
        known[name] = sp.sympify(formula, locals=known)
    rates = sp.Matrix([sp.sympify(formula, locals=known) for _, formula in rule])
    symbols = [known[name] for name in names]
    if rates.free_symbols - {*symbols, sp.Symbol("t", real=True)}:
        return None
    arguments = [sp.Symbol("t", real=True), *symbols]
    f = sp.lambdify(arguments, list(rates), modules=["math", {"Abs": abs, "sign": np.sign, "Mod": lambda a, b: a % b}])
    f = limited(f, CALLS)
    smooth = rates.replace(sp.Mod, lambda x, _: x).replace(sp.floor, lambda x: sp.Integer(0))  # all but its jumps
    slopes = smooth.jacobian(symbols).replace(sp.DiracDelta, lambda *_: sp.Integer(0))
    j = sp.lambdify(arguments, slopes.tolist(), modules=["numpy"])
    start = np.array([given[name] for name in names])
    ring = np.array([dict(rings).get(name, np.inf) for name in names])
    try:
        seen = of_map(f, j, start, ring) if discrete else of_flow(f, j, start, ring)
    except (OverflowError, ZeroDivisionError, ValueError):
        return None
    return seen


def limited(f, most):
    """A function that may be called so many times; the next call raises ValueError."""
    calls = count(1)

    def called(*values):
        if next(calls) > most:
            raise ValueError(f"the rule was called {most} times")
        return f(*values)

    return called


def judged(escaped, resting, recurring, halves):
    """The predicates from what was seen; halves : the growth of the deviation in one turn, in both halves."""
    if escaped:
        return dict.fromkeys(SAYINGS, False)
    grows = min(halves) > GROWTH and max(halves) < 2 * min(halves)
    still = halves[-1] < GROWTH / 2  # a shear grows with the logarithm of time, so the later half tells
    if resting or recurring:
        regular = {"Chaotic": False, "PosLyap": False, "Periodic": not resting, "FixedPointAttr": resting}
        return regular if still else None
    if grows:
        return {"Chaotic": True, "PosLyap": True, "Periodic": False, "FixedPointAttr": False}
    return None


def of_map(f, j, u, ring):
    """What iterates do."""
    n, w, logs, orbit = len(u), np.ones(len(u)) / np.sqrt(len(u)), [], []
    finite = np.isfinite(ring)
    for step in range(2 * ITERATES):
        if step >= ITERATES:
            w = np.array(j(float(step), *u), dtype=float).reshape(n, n) @ w
            size = np.linalg.norm(w)
            logs.append(np.log(max(size, 1e-300)))
            w = w / size if size > 0 else np.ones(n) / np.sqrt(n)
            orbit.append(u)
        u = np.array(f(float(step), *u), dtype=float)
        u[finite] = u[finite] % ring[finite]
        if not np.all(np.abs(u) < ESCAPED):
            return judged(True, False, False, (0, 0))
    halves = np.mean(np.reshape(logs, (2, -1)), axis=1)
    late = np.array(orbit[-2000:])
    extent = max(np.ptp(late, axis=0).max(), 1e-12)
    apart = late[1:] - late[:1]
    apart[:, finite] = np.abs((apart[:, finite] + ring[finite] / 2) % ring[finite] - ring[finite] / 2)
    back = np.nonzero(np.abs(apart).max(axis=1) < 1e-9)[0]
    resting = len(back) == len(apart)
    return judged(False, resting, not resting and len(back) > 8 and extent > 1e-9, tuple(halves))


def of_flow(f, j, u, ring):
    """What the flow does: a transient of TURNS turns, and as many that are measured; of chaos once more much later."""
    free = ~np.isfinite(ring)

    def rate(t, x):
        return f(t, *x)

    def on(t, u, span):
        """The run over a span, or None where it escapes; ValueError where it cannot be integrated."""
        run = solve_ivp(rate, (t, t + span), u, method="LSODA", rtol=1e-9, atol=1e-11)
        if np.abs(run.y[free]).max(initial=0.0) > ESCAPED:
            return None
        if run.status != 0:
            raise ValueError(run.message)
        return run

    turn, t = 1.0, 0.0
    for _ in range(6):  # the length of a turn, from the extent and the mean speed
        if (run := on(t, u, 20 * turn)) is None:
            return judged(True, False, False, (0, 0))
        t, u, late = run.t[-1], run.y[:, -1], slice(len(run.t) // 2, None)
        speeds = np.array([rate(s, x) for s, x in zip(run.t[late], run.y[:, late].T, strict=True)])
        spread, speed = run.y[:, late].std(axis=1).max(), np.sqrt((speeds**2).mean(axis=0)).max()
        turn = float(np.clip(2 * np.pi * spread / speed, turn / 10, turn * 10)) if speed > 1e-9 else turn * 4
    found = None
    for turns in (TURNS, LATER):
        if (run := on(t, u, turns * turn)) is None:
            return judged(True, False, False, (0, 0))
        t, u, late = run.t[-1], run.y[:, -1], run.y[:, -len(run.t) // 4 :]
        across = int(np.where(free, np.ptp(late, axis=1), -1.0).argmax())
        moves = np.ptp(late[across]) > NOISE * max(1.0, np.abs(late[across]).max())
        level = float(late[across].mean()) if moves else -np.inf
        found = measured(f, j, t, u, turn, free, (across, level))
        if found is None or not found["Chaotic"]:
            break
    return found


def measured(f, j, t, u, turn, free, section):
    """The predicates, from TURNS turns and the returns to a section x[i] = level."""
    n = len(u)

    def both(t, x):
        return [*f(t, *x[:n]), *(np.array(j(t, *x[:n]), dtype=float).reshape(n, n) @ x[n:])]

    def crossing(t, x):
        return x[section[0]] - section[1]

    crossing.direction = 1.0
    w, logs, returns, extents = np.ones(n) / np.sqrt(n), [], [], []
    for _ in range(TURNS):
        run = solve_ivp(both, (t, t + turn), [*u, *w], method="LSODA", rtol=1e-9, atol=1e-11, events=crossing)
        if run.status != 0:
            return None
        t, u, w = run.t[-1], run.y[:n, -1], run.y[n:, -1]
        logs.append(np.log(np.linalg.norm(w)))
        w = w / np.linalg.norm(w)
        returns += [[s, *x[:n][free]] for s, x in zip(run.t_events[0], run.y_events[0], strict=True)]
        extents.append(np.ptp(run.y[:n][free], axis=1).max(initial=0.0))
    extent = max(extents[TURNS // 2 :])
    resting = bool(extent < 1e-6 * max(1.0, np.abs(u[free]).max(initial=0.0)))
    recurring = not resting and recurs(np.array(returns), extent, turn)
    return judged(False, resting, recurring, tuple(np.mean(np.reshape(logs, (2, -1)), axis=1)))


def recurs(returns, extent, turn):
    """Whether returns to a section repeat, state by state and at equal distances; returns : (m, 1 + n), time first."""
    if len(returns) < 24:
        return False
    late = returns[len(returns) // 2 :]
    for period in range(1, min(len(late) // 3, 64)):
        times = late[period:, 0] - late[:-period, 0]
        apart = np.abs(late[period:, 1:] - late[:-period, 1:]).max()
        if apart < RECURRENCE * extent and np.ptp(times) < RECURRENCE * turn * period:
            return True
    return False
