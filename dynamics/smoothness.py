"""Whether the rule of a system bends or jumps, read off the functions in it and shown at a state where it does.

abs, min and max bend; sign, Heaviside, floor, Mod and atan2 jump, unless what they are multiplied by is 0 there.
"""

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import sympy as sp

from dynamics.bounds import size
from dynamics.equations import symbol
from dynamics.notation import equation
from dynamics.pointwise import MAX_SIMPLIFIED, value_at
from dynamics.system import System

BENDING = (sp.Abs, sp.Min, sp.Max)
STEPS = (sp.sign, sp.Heaviside, sp.floor, sp.Mod, sp.atan2)
PAIRS = 64  # of states in the box between which a surface is sought
HALVINGS = 60  # of the segment between two of them: to neighbouring doubles
JUMP = 1e-6  # difference across a surface, relative to the size of the values, that is no rounding
NAMED = 4  # functions that a sentence names at most
LONG = 40  # characters of a function that is not written out

Level = Literal["smooth", "continuous", "discontinuous", "unsettled"]
Point = dict[sp.Symbol, float]


class Smoothness(NamedTuple):
    """What the rule is where it is defined, and the sentence that says why."""

    level: Level
    why: str


def smoothness(system: System) -> Smoothness:
    """Whether the rule is smooth, continuous with kinks, or jumps; unsettled where neither is shown."""
    if system.kind == "pde":
        return Smoothness("smooth", "the equation is a polynomial or sine of the field and its derivatives")
    rules = [*system.expressions, *system.noise_expressions]
    if not (found := _sorted(rules, STEPS)):
        bends = _sorted(rules, BENDING)
        if bends:
            return Smoothness(
                "continuous", f"of what is not smooth only {_listed(bends)} occurs: it bends, and jumps nowhere"
            )
        return Smoothness("smooth", "no abs, sign, Heaviside, min, max, floor, Mod or atan2 occurs in the rule")
    for step in found:
        if (why := _jump(system, step)) is not None:
            return Smoothness("discontinuous", why)
    if all(_is_cancelled(f, step) for f in rules for step in found):
        return Smoothness("continuous", f"{_listed(found)} changes only where what it is multiplied by is 0")
    return Smoothness("unsettled", f"{_listed(found)} occurs; no state of the box is found where the rule jumps")


def _sorted(rules: list[sp.Expr], functions: tuple[type, ...]) -> list[sp.Expr]:
    return sorted({part for f in rules for part in f.atoms(*functions)}, key=str)


def _listed(parts: list[sp.Expr]) -> str:
    names = [
        *dict.fromkeys(text if len(text) <= LONG else f"{text.partition('(')[0]}(..)" for text in map(equation, parts))
    ]
    more = [f"and {len(names) - NAMED} more"] if len(names) > NAMED else []
    return ", ".join([*names[:NAMED], *more])


def _level(step: sp.Expr, point: Point) -> float:
    """A number that is the same on one side of the surface where the step jumps, and another one on the other."""
    if isinstance(step, sp.Mod):
        return math.floor(value_at(step.args[0] / step.args[1], point))
    if isinstance(step, sp.floor):
        return value_at(step, point)
    return float(value_at(step.args[0], point) > 0)


def _jump(system: System, step: sp.Expr) -> str | None:
    """Where the rule jumps with this step, in one sentence; differences of whole turns on a circle are none."""
    for a, b in _crossings(system, step):
        for name, f in zip(system.state, system.expressions, strict=True):
            if not f.has(step):
                continue
            before, after = value_at(f, a), value_at(f, b)
            gap = abs(after - before)
            if system.discrete and name in system.circle:
                gap = abs(math.remainder(gap, system.circle[name]))
            if math.isfinite(gap) and gap > JUMP * max(1.0, abs(before), abs(after)):
                at = ", ".join(f"{x} = {_figure(a[symbol(x)])}" for x in system.state)
                return f"{equation(step)} makes {name} jump: at {at} its rule goes from {before:.4g} to {after:.4g}"
    return None


def _crossings(system: System, step: sp.Expr) -> Iterator[tuple[Point, Point]]:
    """Neighbouring states on both sides of the surface where the step jumps, within the box."""
    rng = np.random.default_rng(0)
    fixed = {symbol(name): value for name, value in system.parameters.items()} | {system.time: 0.0}
    names = {**{x: x for x in system.state}, **{past: one.of for past, one in system.delayed.items()}}
    bounds = {x: system.box.get(of, (system.state[of] - 1.0, system.state[of] + 1.0)) for x, of in names.items()}

    def drawn() -> Point:
        return {symbol(x): float(rng.uniform(lo, hi)) for x, (lo, hi) in bounds.items()}

    for _ in range(PAIRS):
        a, b = drawn(), drawn()
        ends = _level(step, fixed | a), _level(step, fixed | b)
        if ends[0] == ends[1] or not all(map(math.isfinite, ends)):
            continue
        for _ in range(HALVINGS):
            middle = {x: (a[x] + b[x]) / 2 for x in a}
            if _level(step, fixed | middle) == ends[0]:
                a = middle
            else:
                b = middle
        yield fixed | a, fixed | b


def _is_cancelled(f: sp.Expr, step: sp.Expr) -> bool:
    """Whether the difference that a sign or Heaviside makes to an expression has its own argument as a factor."""
    if not f.has(step):
        return True
    if not isinstance(step, (sp.sign, sp.Heaviside)) or size(f) > MAX_SIMPLIFIED:
        return False
    low = -1 if isinstance(step, sp.sign) else 0
    difference = f.xreplace({step: sp.Integer(1)}) - f.xreplace({step: sp.Integer(low)})
    ratio = sp.cancel(sp.together(difference / step.args[0]))
    return bool(sp.denom(ratio).is_number)


def _figure(value: float) -> str:
    return "0" if abs(value) < 1e-12 else f"{value:.4g}"
