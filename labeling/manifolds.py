"""Where the unstable manifold of a saddle point ends, along a sweep: a change of that fate is a global bifurcation.

A saddle with one unstable direction sends out two orbits. Where one of them changes from one resting attractor to
another it met the saddle itself in between, a homoclinic orbit. Where it changes from a resting attractor to one that
does not rest, a set that attracts was born or lost with it: of the Lorenz system the chaotic attractor, at rho = 24.06
(Kaplan & Yorke 1979, Commun. Math. Phys. 67:93; Sparrow 1982, The Lorenz Equations, chapter 3).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dynamics.block import Array, single_orbit
from dynamics.codegen import LANES
from dynamics.cycles import Cycle, wrapped
from dynamics.equations import symbol
from dynamics.system import Sweep, System
from labeling.continuation import SHARP, Branch, unstable
from labeling.gathering import swept_start
from labeling.rest import STARTS, Task
from labeling.sets import resting_points
from labeling.settings import Settings

GLOBAL = 1e-3  # width of a bracket, relative to the value or to a thousandth of the sweep's range
OFF = 1e-5  # of a saddle's size: how far from it an orbit begins
NEAR = 0.05  # of a resting attractor's size: how near an orbit ends that comes to rest there
ROUNDS = 4  # of LANES/2 points, which narrow a grid interval to a ninth each
SAMPLES = 4_000  # of the orbit from a saddle
AWAY, GONE = -1, -2  # fates beside the number of a resting attractor

Fate = tuple[int, ...]


@dataclass(frozen=True)
class Change:
    """Two values between which the fate of a saddle's manifold changes; what does not rest at either end is AWAY.

    `returns` : of all equilibria that repel, the orbit comes nearest to the saddle that it left. Where another one is
    nearer, the two are joined by a heteroclinic orbit in between.
    """

    lo: float
    hi: float
    below: int
    above: int
    returns: bool


@dataclass(frozen=True)
class _Seen:
    """One value: a saddle there, the attracting equilibria in order, and where the two orbits from the saddle end."""

    value: float
    saddle: Cycle
    resting: int
    fate: Fate


def fate_changes(system: System, sweep: Sweep, values: Sequence[float]) -> list[Change]:
    """Changes of fate between neighbouring values, narrowed to a thousandth; for autonomous flows with a formula.

    One of the two fates at least is to rest: orbits are followed only next to values at which something rests.
    """
    if system.kind != "ode" or not system.autonomous or system.preserves_volume or system.switches:
        return []
    branch = Branch(system, sweep.parameter, 0.01, SHARP * (sweep.hi - sweep.lo))
    resting = [resting_points(system.with_values({sweep.parameter: value}), STARTS) for value in values]
    comes_to_rest = [any(_attracts(c) for c in found) for found in resting]
    saddles: list[tuple[float, Cycle]] = []
    for i, value in enumerate(values):
        if any(comes_to_rest[max(0, i - 1) : i + 2]):  # else no fate on either side is to rest, and none tells anything
            saddles += [(value, saddle) for saddle in resting[i] if _is_saddle(saddle)]
    out: list[Change] = []
    seen = _seen(branch, saddles)
    for low in seen:
        above = [s for s in seen if s.value > low.value]
        if not above:
            continue
        value = min(s.value for s in above)
        there = branch.at(value, low.saddle)
        high = [s for s in above if s.value == value and there is not None and _same(system, s.saddle, there)]
        if high and high[0].fate != low.fate:
            out += _narrowed(branch, sweep, low, high[0])
    return out


def fate_tasks(system: System, sweep: Sweep, values: Sequence[float]) -> list[Task]:
    """The grid cut into overlapping pieces."""
    return [(system, sweep, list(values[i : i + LANES // 2 + 1])) for i in range(0, len(values) - 1, LANES // 2)]


def _attracts(cycle: Cycle) -> bool:
    return cycle.attracts and not cycle.neutral


def _is_saddle(cycle: Cycle) -> bool:
    outward = cycle.multipliers[np.abs(cycle.multipliers) > 1.0]
    return unstable(cycle) == 1 and len(outward) == 1 and abs(outward[0].imag) == 0.0


def _same(system: System, a: Cycle, b: Cycle) -> bool:
    return bool(np.abs(wrapped(system, a.point - b.point)).max() <= 1e-6 * (1 + np.abs(a.point).max()))


def _narrowed(branch: Branch, sweep: Sweep, low: _Seen, high: _Seen) -> list[Change]:
    which = next(i for i in range(2) if low.fate[i] != high.fate[i])
    for _ in range(ROUNDS):
        width = GLOBAL * max(abs(low.value), abs(high.value), 1e-3 * (sweep.hi - sweep.lo))
        if high.value - low.value <= width:
            break
        inner = np.linspace(low.value, high.value, LANES // 2 + 2)[1:-1].tolist()
        saddles = [(value, saddle) for value in inner if (saddle := branch.at(value, low.saddle)) is not None]
        line = [low, *_seen(branch, saddles), high]
        low, high = next((a, b) for a, b in pairwise(line) if a.fate[which] != b.fate[which])
        if low.resting != high.resting:  # what rests came or went, and the fate with it
            return []
    back = _returns(branch, low, which)
    return [Change(low.value, high.value, low.fate[which], high.fate[which], back)]


def _returns(branch: Branch, seen: _Seen, which: int) -> bool:
    version = branch.system.with_values({branch.parameter: seen.value})
    start = _outward(version, seen.saddle)[which]
    h = float(swept_start([start], Settings()).h[0])
    steps = max(1, round(Settings().transient_flow / SAMPLES / h))
    path = single_orbit(version, np.array([*start.state.values()]), h, steps, SAMPLES)[0]
    others = [c for c in resting_points(version, STARTS) if not c.attracts and not _same(version, c, seen.saddle)]

    def gaps(cycle: Cycle) -> Array:
        gap: Array = np.abs(wrapped(version, (path - cycle.point).T)).max(axis=0)
        return gap

    own = gaps(seen.saddle)
    gone = int(np.argmax(own >= 0.5 * own.max()))  # before, it has not left
    return all(own[gone:].min() < gaps(c)[gone:].min() for c in others)


def _seen(branch: Branch, saddles: Sequence[tuple[float, Cycle]]) -> list[_Seen]:
    out = []
    for begin in range(0, len(saddles), LANES // 2):
        part = saddles[begin : begin + LANES // 2]
        versions = [branch.system.with_values({branch.parameter: value}) for value, _ in part]
        starts = [s for v, (_, saddle) in zip(versions, part, strict=True) for s in _outward(v, saddle)]
        begun = swept_start(starts, Settings())
        assert isinstance(begun.states, np.ndarray)
        for i, (value, saddle) in enumerate(part):
            attracting = [c for c in resting_points(versions[i], STARTS) if _attracts(c)]
            ends = [
                GONE if begun.status[lane] != "ok" else _end(branch.system, begun.states[:, lane], attracting)
                for lane in (2 * i, 2 * i + 1)
            ]
            out.append(_Seen(value, saddle, len(attracting), tuple(ends)))
    return out


def _outward(version: System, saddle: Cycle) -> list[System]:
    """The version from either side of its saddle, along the unstable direction."""
    known = dict(zip(version.variables, map(float, saddle.point), strict=True))
    known |= {symbol(name): value for name, value in version.parameters.items()}
    jacobian = np.array(version.jacobian.subs(known), dtype=float)
    rates, directions = np.linalg.eig(jacobian)
    direction = directions[:, int(np.argmax(rates.real))].real
    direction *= np.sign(direction[np.argmax(np.abs(direction))])
    step = OFF * (1 + np.abs(saddle.point).max()) * direction
    return [version.with_values({}, _named(version, saddle.point + side * step)) for side in (1, -1)]


def _named(version: System, point: Array) -> dict[str, float]:
    return dict(zip(version.state, map(float, point), strict=True))


def _end(system: System, state: Array, attracting: Sequence[Cycle]) -> int:
    gaps = [np.abs(wrapped(system, state - c.point)).max() / (1 + np.abs(c.point).max()) for c in attracting]
    return int(np.argmin(gaps)) if gaps and min(gaps) <= NEAR else AWAY
