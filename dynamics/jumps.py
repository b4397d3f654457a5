"""Flows whose rule jumps: where it does, and the smooth rules on either side and along the surface between.

A rule with sign or Heaviside jumps across the surface g = 0 of its argument, unless what is switched is 0 there. With
the side s = sign(g) held fixed the rule is smooth. Where the fields on both sides point at the surface the orbit slides
along it, by the mean of the two that is tangent to it (Filippov 1988, Differential Equations with Discontinuous
Righthand Sides, section 4).
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from dynamics.equations import symbol
from dynamics.notation import equation
from dynamics.pointwise import value_at

if TYPE_CHECKING:
    from dynamics.system import System

PROBES = 256  # states between which a surface is sought
WIDER = 1.0  # of the box's width, added at each end for the search
HALVINGS = 60
JUMP = 1e-9  # relative to the rule's size, from which it is said to jump


def switches(system: "System") -> tuple[sp.Expr, ...]:
    """The functions of state and time across whose zeros the rule of a flow jumps, as points on them show."""
    if system.kind != "ode":
        return ()
    kinks = set().union(*(f.atoms(sp.sign, sp.Heaviside) for f in system.expressions))
    found = sorted({kink.args[0] for kink in kinks}, key=str)
    return tuple(g for g in found if _jumps(system, g))


def on_side(f: sp.Expr, g: sp.Expr, side: sp.Expr) -> sp.Expr:
    """An expression with the sign of g held at `side`."""
    held = {kink: side if isinstance(kink, sp.sign) else (1 + side) / 2
            for kink in f.atoms(sp.sign, sp.Heaviside) if kink.args[0] == g}  # fmt: skip
    return f.xreplace(held)


def with_sides(system: "System") -> "System":
    """The smooth flow whose further parameters are the sides, 1 or -1, one for each switch."""
    names = _side_names(system)
    rule = list(system.expressions)
    for g, name in zip(system.switches, names, strict=True):
        rule = [on_side(f, g, symbol(name)) for f in rule]
    parameters = {**system.parameters, **dict.fromkeys(names, 1.0)}
    return replace(system, parameters=parameters, rule=tuple(map(equation, rule)), let={})


def approaches(system: "System") -> tuple[sp.Expr, sp.Expr]:
    """The rates at which the only switch's g grows, above and below its surface."""
    (g,) = system.switches
    normal = [sp.diff(g, x) for x in system.variables]
    up, down = (
        sum((n * on_side(f, g, sp.Integer(side)) for n, f in zip(normal, system.expressions, strict=True)), sp.S.Zero)
        for side in (1, -1)
    )
    return up + sp.diff(g, system.time), down + sp.diff(g, system.time)


def may_slide(system: "System") -> bool:
    """Whether orbits can slide along the only surface: the normal speeds on both sides differ. Along one of several
    surfaces they are not followed.
    """
    if len(system.switches) != 1:
        return False
    up, down = approaches(system)
    return bool(sp.expand(up - down) != 0)


def sliding(system: "System") -> tuple["System", sp.Expr]:
    """The smooth flow along the only switch's surface, and the weight of the sides, which lies in [-1, 1] there.

    Its parameters are those of `with_sides`.
    """
    (g,) = system.switches
    above, below = ([on_side(f, g, sp.Integer(s)) for f in system.expressions] for s in (1, -1))
    up, down = approaches(system)
    weight = -(up + down) / sp.expand(up - down)
    rule = [sp.expand(a + b) / 2 + weight * sp.expand(a - b) / 2 for a, b in zip(above, below, strict=True)]
    parameters = with_sides(system).parameters
    return replace(system, parameters=parameters, rule=tuple(map(equation, rule)), let={}), weight


def _side_names(system: "System") -> list[str]:
    names, taken = [], {*system.state, *system.parameters, *system.let}
    for number in range(1, len(system.switches) + 1):
        name = f"side_{number}"
        while name in taken:
            name += "_"
        names.append(name)
        taken.add(name)
    return names


def _jumps(system: "System", g: sp.Expr) -> bool:
    above, below = ([on_side(f, g, sp.Integer(s)) for f in system.expressions] for s in (1, -1))
    for point in _on_surface(system, g):
        for a, b in zip(above, below, strict=True):
            up, down = value_at(a, point), value_at(b, point)
            if abs(up - down) > JUMP * (1.0 + abs(up) + abs(down)):
                return True
    return False


def _on_surface(system: "System", g: sp.Expr) -> list[dict[sp.Symbol, float]]:
    """Points where g = 0 between states drawn over the box and around it."""
    rng = np.random.default_rng(0)
    lows, highs = np.array([system.box.get(n, (v - 1.0, v + 1.0)) for n, v in system.state.items()]).T
    width = highs - lows
    names = [*system.variables, system.time]
    fixed = {symbol(name): value for name, value in system.parameters.items()}

    def at(x: np.ndarray) -> dict[sp.Symbol, float]:
        return {**fixed, **dict(zip(names, map(float, x), strict=True))}

    drawn = [
        np.append(rng.uniform(lows - WIDER * width, highs + WIDER * width), rng.uniform(0.0, 10.0))
        for _ in range(PROBES)
    ]
    values = [value_at(g, at(x)) for x in drawn]
    found = []
    for a, b, u, v in zip(drawn, drawn[1:], values, values[1:], strict=False):
        if u * v < 0.0:
            lo, hi = (a, b) if u < 0.0 else (b, a)
            for _ in range(HALVINGS):
                middle = (lo + hi) / 2
                lo, hi = (middle, hi) if value_at(g, at(middle)) < 0.0 else (lo, middle)
            found.append(at(hi))
    return found
