"""Equilibria and cycles followed through a parameter, stable or not, to where a multiplier crosses the unit circle.

A bifurcation of an equilibrium or cycle is bracketed by its multipliers (or by its existence, at a fold), far more
sharply than any verdict on an orbit could.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from dynamics.block import Array
from dynamics.cycles import Cycle, equilibrium, flow_cycle, forced_cycle, map_cycle, wrapped
from dynamics.system import Sweep, System
from labeling.hopf import hopf_kind

Kind = Literal[
    "fold", "transcritical", "pitchfork", "hopf_supercritical", "hopf_subcritical", "hopf_degenerate",
    "period_doubling", "neimark_sacker", "accumulation", "tangent", "interior_crisis", "boundary_crisis", "homoclinic",
    "escape", "unclassified",
]  # fmt: skip

SHARP = 1e-6  # width of a local bracket, relative to the value or to a thousandth of the sweep's range
FINER = 1e-4  # of a bracket's width, to which its best estimate is sharpened
HOPELESS = 1e-2  # of the longest step: a branch lost so near, and far from a fold, is given up
STEPS = 8  # of a branch between two neighbouring values
PAD = 0.01  # of a bracket's width, added at either end: a multiplier is not known to the last digit
AT_FOLD = 0.1  # distance from 1 within which a multiplier must be where a branch ends
NEUTRAL_MAP = 1e-11  # a multiplier this near 1 in modulus counts as not yet crossed


def sharp_width(sweep: Sweep, a: float, b: float) -> float:
    """The width of a local bracket between two values: relative to the one nearest to 0."""
    nearest = 0.0 if a * b <= 0.0 else min(abs(a), abs(b))
    return SHARP * max(nearest, 1e-3 * (sweep.hi - sweep.lo))


@dataclass(frozen=True)
class Place:
    """A cycle at a parameter value."""

    value: float
    cycle: Cycle


@dataclass(frozen=True)
class Crossing:
    """Two values between which a branch changes stability or ends, a sharper estimate, and the cycle just before.

    `ends` if the branch exists on one side only.
    """

    lo: float
    hi: float
    estimate: float
    kind: Kind
    ends: bool
    before: Place


@dataclass(frozen=True)
class Branch:
    """A family of cycles of one system over one parameter, solved afresh at each value from a neighbour on it."""

    system: System
    parameter: str
    step: float  # of a flow, as fine as its orbits need
    width: float  # of the brackets looked for
    phase: float = 0.0  # time at which a forced flow is seen

    def at(self, value: float, near: Cycle, guess: Array | None = None) -> Cycle | None:
        """The cycle of the same kind and period at another value, if Newton finds it from a neighbour."""
        found = self._near(value, near, guess)
        if found is None or (self.system.kind == "map" and found.period != near.period):
            return None
        if self._floats(near) and abs(found.period / near.period - 1) > 0.2:
            return None
        return found

    def _near(self, value: float, near: Cycle, guess: Array | None = None) -> Cycle | None:
        """What Newton finds at another value from a neighbour: perhaps a cycle of half the period, or another."""
        s = self.system.with_values({self.parameter: value})
        parameters = np.array([*s.parameters.values()])
        point = near.point if guess is None else guess
        if s.kind == "map":
            return map_cycle(s, point, parameters, int(near.period))
        if s.forcing_period is not None:
            return forced_cycle(s, point, parameters, self.phase, round(near.period), s.forcing_period, self.step)
        if near.period == 0.0:
            return equilibrium(s, point, parameters)
        return flow_cycle(s, point, parameters, near.period, self.step)

    def _floats(self, cycle: Cycle) -> bool:
        """Whether the cycle's point may sit anywhere along it: a cycle of an autonomous flow."""
        return self.system.kind == "ode" and self.system.autonomous and cycle.period > 0.0

    def followed(self, start: Place, stop: float, *, alike: bool = False) -> tuple[list[Place], bool]:
        """Places from a start towards a stop, and whether the branch reaches it; steps are halved where need be.

        With `alike`, places of another stability do not count as the branch (past a fold, Newton finds its other half).
        """
        places = [start]
        longest = step = (stop - start.value) / STEPS
        while abs(stop - places[-1].value) > 1e-14 * max(1.0, abs(stop)):
            value = places[-1].value + step
            if (stop - value) * step <= 0:
                value = stop
            found = self.at(value, places[-1].cycle, self._ahead(places, value))
            other = alike and found is not None and unstable(found) != unstable(start.cycle)
            if found is None or other or self._jumped(places, found):
                step /= 2
                lost = abs(step) < HOPELESS * abs(longest) and _from_fold(places[-1].cycle) > 0.5
                if lost or abs(step) < self.width / 4:
                    return places, False
                continue
            places.append(Place(value, found))
            step = math.copysign(min(abs(longest), 2 * abs(step)), longest)
        return places, True

    def _ahead(self, places: Sequence[Place], value: float) -> Array:
        """Linear extrapolation of the last two points; the last point where there is one."""
        if len(places) < 2 or self._floats(places[-1].cycle):
            return places[-1].cycle.point
        a, b = places[-2], places[-1]
        part = (value - b.value) / (b.value - a.value)
        return b.cycle.point + min(part, 1.0) * wrapped(self.system, b.cycle.point - a.cycle.point)

    def _jumped(self, places: Sequence[Place], found: Cycle) -> bool:
        """Whether Newton landed on another branch: the point leapt, or two or more multipliers crossed at once."""
        last = places[-1].cycle
        if abs(unstable(found) - unstable(last)) > 2:
            return True
        if self._floats(last):
            return abs(found.period / last.period - 1) > 0.05
        leap = float(np.abs(wrapped(self.system, found.point - last.point)).max())
        if len(places) < 2:
            return leap > 0.2 * (1 + np.abs(last.point).max())
        before = float(np.abs(wrapped(self.system, last.point - places[-2].cycle.point)).max())
        return leap > 0.02 * (1 + np.abs(last.point).max()) and leap > 6 * before

    def crossing(self, start: Place, stop: float) -> Crossing | None:
        """The first change of stability, or the end, of the branch on the way from a start to a stop; None if none."""
        places, arrived = self.followed(start, stop)
        for a, b in pairwise(places):
            if unstable(a.cycle) != unstable(b.cycle):
                found = self._sharpened(a, b)
                return self._end(a, stop) if found is None or found.kind == "fold" else found
        return None if arrived else self._end(start, stop)

    def _end(self, start: Place, stop: float) -> Crossing | None:
        places, arrived = self.followed(start, stop, alike=True)
        if arrived:
            return None
        last = places[-1]
        if _from_fold(last.cycle) > AT_FOLD:
            return None  # Newton lost the branch, but no fold ended it
        beyond = float(last.value + np.sign(stop - start.value) * self.width)
        lo, hi = sorted((last.value, beyond))
        half = self._near(beyond, last.cycle)
        flipped = half is not None and last.cycle.period and abs(2 * half.period / last.cycle.period - 1) < 0.05
        kind: Kind = "period_doubling" if flipped else "fold"  # a doubled cycle ends upon the one it came from
        pad = PAD * self.width
        return Crossing(lo - pad, hi + pad, 0.5 * (lo + hi), kind, True, last)

    def _sharpened(self, a: Place, b: Place) -> Crossing | None:
        """Bisection of the number of unstable multipliers between two places on the branch."""
        bracket = None
        while abs(b.value - a.value) > FINER * self.width:
            if bracket is None and abs(b.value - a.value) <= self.width:
                bracket = a, b
            value = 0.5 * (a.value + b.value)
            guess = a.cycle.point + 0.5 * wrapped(self.system, b.cycle.point - a.cycle.point)
            middle = self.at(value, a.cycle, None if self._floats(a.cycle) else guess)
            if middle is None:
                break
            if unstable(middle) == unstable(a.cycle):
                a = Place(value, middle)
            else:
                b = Place(value, middle)
        if bracket is None:
            return None
        lo, hi = sorted(place.value for place in bracket)
        lo, hi = lo - PAD * self.width, hi + PAD * self.width
        kind = self._kind(*bracket)
        return Crossing(lo, hi, 0.5 * (a.value + b.value), kind, kind == "fold", bracket[0])

    def _kind(self, a: Place, b: Place) -> Kind:
        rest, moving = (a, b) if unstable(a.cycle) < unstable(b.cycle) else (b, a)
        crossed = sorted(moving.cycle.multipliers, key=lambda m: abs(abs(m) - 1.0))[0]
        angle = abs(float(np.angle(crossed)))
        flow_rest = self.system.kind == "ode" and self.system.autonomous and rest.cycle.period == 0.0
        if abs(unstable(a.cycle) - unstable(b.cycle)) == 2 or (not flow_rest and 1e-3 < angle < np.pi - 1e-3):
            if flow_rest:
                s = self.system.with_values({self.parameter: rest.value})
                return hopf_kind(s, rest.cycle.point)
            return "neimark_sacker"
        if not flow_rest and angle > np.pi / 2:
            return "period_doubling"
        return self._steady_kind(a, b)

    def _steady_kind(self, a: Place, b: Place) -> Kind:
        """Transcritical or pitchfork, by how many neighbours the branch has on either side a little way off."""
        away = max(1e3 * self.width, 1e-3 * max(abs(a.value), abs(b.value)))
        counts = []
        for place, sign in ((a, np.sign(a.value - b.value)), (b, np.sign(b.value - a.value))):
            value = place.value + sign * away
            on = self.at(value, place.cycle)
            if on is None:
                return "fold"
            counts.append(self._neighbours(value, on, away))
        return "pitchfork" if sorted(counts) == [0, 2] else "transcritical" if counts == [1, 1] else "unclassified"

    def _neighbours(self, value: float, on: Cycle, away: float) -> int:
        s = self.system.with_values({self.parameter: value})
        rng = np.random.default_rng(0)
        reach = 3.0 * np.sqrt(away) * (1 + np.abs(on.point).max())
        found: list[Array] = []
        for _ in range(60):
            other = self.at(value, on, on.point + reach * rng.uniform(-1, 1, len(on.point)))
            if other is None:
                continue
            gap = np.abs(wrapped(s, other.point - on.point)).max()
            if 1e-7 < gap < 3 * reach and all(np.abs(other.point - p).max() > 1e-7 for p in found):
                found.append(other.point)
        return len(found)


def _from_fold(cycle: Cycle) -> float:
    """How far the nearest multiplier is from 1, which it must reach where a branch ends in a fold."""
    return float(np.abs(cycle.multipliers - 1.0).min())


def unstable(cycle: Cycle) -> int:
    """Number of multipliers outside the unit circle."""
    return int((np.abs(cycle.multipliers) > 1.0 + NEUTRAL_MAP).sum())
