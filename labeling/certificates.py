"""Certificates: equilibria and map cycles proved to exist, with their least period, multipliers and stability.

A certificate is about the rule at the exact doubles of the row (a parameter stated as 0.3 or 8/3 is the double nearest
to it, and so is a decimal in the rule), on circles of the exact circumference: 2 pi itself where the row says "2*pi".
It says that within `radius` of `orbit`, in every coordinate, there is exactly one orbit of that period on those turns.
The radius is so small that a change of any digit of the orbit is a change beyond it.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from flint import acb, arb, ctx

from dynamics.block import Array
from dynamics.system import System
from labeling.balls import NoEnclosureError, enclosure
from labeling.decimals import ball, digits_before, tight_decimals
from labeling.proofs import (
    Equations,
    Orbit,
    Spectrum,
    Stable,
    UnprovedError,
    proved_orbit,
    refined,
    require_circles,
    require_least_period,
    spectrum,
)

BITS = (128, 256, 512, 1024, 2048, 4096)  # tried in turn until the proof works
BITS_STABILITY = 512  # beyond which an undecided stability is left undecided: a multiplier on the circle stays there
SHARE = 0.7  # of the digits that the precision holds are stored; the rest is for the rounding errors of the proof
SMALL = 1e-6  # a point nearer to 0 is stored as one of this size
LONGEST = 4096  # period
MOST = 64  # state variables

Kind = Literal["equilibrium", "fixed_point", "cycle"]


@dataclass(frozen=True)
class Certificate:
    """A proved orbit: decimals of its p points, the radius that holds it, and [re, im, radius] of each multiplier.

    The multipliers of a flow's equilibrium are the eigenvalues of its Jacobian. They are None where they cannot be told
    apart; `unstable` is then still proved where it is a number. `turns` are the whole turns of each variable in each
    iterate, empty where none is on a circle. `stability` is "repelling" if some multiplier is proved unstable, and None
    where nothing is proved of it.
    """

    system: System
    set: Kind
    orbit: tuple[tuple[str, ...], ...]
    radius: str
    bits: int
    multipliers: tuple[tuple[str, str, str], ...] | None
    unstable: int | None
    stability: Stable | None
    turns: tuple[tuple[int, ...], ...]

    @property
    def period(self) -> int | None:
        """The least period in iterates; None of a flow's equilibrium."""
        return None if self.set == "equilibrium" else len(self.orbit)

    @property
    def row(self) -> dict[str, Any]:
        """The line of certificates.jsonl: with the equations, so that it can be checked without a registry."""
        s = self.system
        row = {
            "system_id": s.id,
            "params": dict(s.parameters),
            "set": self.set,
            "orbit": [list(point) for point in self.orbit],
            "radius": self.radius,
            "bits": self.bits,
            "multipliers": None if self.multipliers is None else [list(m) for m in self.multipliers],
            "unstable": self.unstable,
            "stability": self.stability,
            "period": self.period,
            "turns": [list(whole) for whole in self.turns],
            "kind": s.kind,
            "state": list(s.state),
            "rule": list(s.rule),
            "let": dict(s.let),
            "circle": circle_text(s),
        }
        return row | {"sha256": checksum(row)}


def checksum(row: dict[str, Any]) -> str:
    """SHA-256 of a row without its own checksum, as JSON with sorted keys; ValueError for what JSON cannot hold."""
    content = {key: value for key, value in row.items() if key != "sha256"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def certificate(system: System, points: Array) -> tuple[Certificate | None, str]:
    """The certificate of the orbit near points (d, p), or of an equilibrium or fixed point near (d,).

    Where there is none, the second value says why in one sentence; otherwise it is empty.
    """
    points = np.asarray(points, dtype=np.float64).reshape(len(points), -1)
    reason = _refusal(system, points)
    if reason:
        return None, f"{system.id}: {reason}"
    found = None
    for bits in BITS:
        if found is not None and bits > BITS_STABILITY:
            break
        with ctx.workprec(bits):
            try:
                better = _attempt(system, points, bits)
            except (UnprovedError, NoEnclosureError) as error:
                reason = f"{system.id}: {error}"
                continue
        found = better if found is None or better.stability is not None else found
        if found.stability is not None:
            break
    return found, reason if found is None else ""


def proof(equations: Equations, centre: Orbit, radius: arb) -> tuple[Orbit, Spectrum]:
    """The whole statement about the orbit near a centre: it exists, alone, has that least period, these multipliers."""
    orbit = proved_orbit(equations, centre, radius)
    require_circles(equations, orbit[0])
    require_least_period(equations, orbit)
    return orbit, spectrum(equations, orbit)


def equations_of(system: System, turns: Sequence[Sequence[int]], count: int) -> Equations:
    """The equations of an orbit of so many points, at the exact parameters of the system's row."""
    names = list(system.state)
    circle = {names.index(name): text for name, text in circle_text(system).items()}
    whole = [list(turn) for turn in turns] if turns else [[0] * len(names) for _ in range(count)]
    return Equations(system, {name: arb(value) for name, value in system.parameters.items()}, circle, whole)


def circle_text(system: System) -> dict[str, str]:
    """The circumferences as text that is exact: a multiple of pi where the row's double is the nearest to one."""
    out = {}
    for name, length in system.circle.items():
        whole = round(length / math.pi)
        out[name] = f"{whole}*pi" if whole and whole * math.pi == length else repr(length)
    return out


def _refusal(system: System, points: Array) -> str:
    d, count = points.shape
    if d != system.dimension:
        return f"the points have {d} coordinates, and the state has {system.dimension}"
    if not np.isfinite(points).all():
        return "the points are not finite"
    if not system.autonomous:
        return "time occurs in the rule; only autonomous systems can be certified"
    if system.kind == "ode" and count != 1:
        return f"of a flow only equilibria can be certified, and {count} points are given"
    if not 1 <= count <= LONGEST or d > MOST:
        return f"only periods up to {LONGEST} of up to {MOST} variables can be certified"
    return ""


def _attempt(system: System, points: Array, bits: int) -> Certificate:
    start = [[arb(float(x)) for x in point] for point in points.T]
    turns = _turns(system, start)
    equations = equations_of(system, turns, len(start))
    centre = refined(equations, start)
    size = math.log10(max(np.abs(points).max(), SMALL))
    decimals = max(0, math.floor(SHARE * bits * math.log10(2) - size))
    texts, radius = tight_decimals([x for point in centre for x in point], decimals)
    d = system.dimension
    orbit = tuple(tuple(texts[i : i + d]) for i in range(0, len(texts), d))
    _, found = proof(equations, [[ball(x) for x in point] for point in orbit], ball(radius))
    kind: Kind = "equilibrium" if system.kind == "ode" else "fixed_point" if len(orbit) == 1 else "cycle"
    multipliers = None if found.multipliers is None else tuple(_decimals(m, bits) for m in found.multipliers)
    return Certificate(system, kind, orbit, radius, bits, multipliers, found.unstable, found.stability, turns)


def _turns(system: System, points: Orbit) -> tuple[tuple[int, ...], ...]:
    """Whole turns, (p, d), by which each image is ahead of the next point; empty where no variable turns."""
    if system.kind == "ode" or not system.circle:
        return ()
    equations = equations_of(system, (), len(points))
    lengths = {c: float(length) for c, length in equations.circumferences.items()}
    out = []
    for point, following in zip(points, [*points[1:], points[0]], strict=True):
        image, _ = enclosure(system, equations.parameters, point)
        gaps = [float((a - b).mid()) for a, b in zip(image, following, strict=True)]
        out.append(tuple(round(gap / lengths[c]) if c in lengths else 0 for c, gap in enumerate(gaps)))
    return tuple(out)


def _decimals(multiplier: acb, bits: int) -> tuple[str, str, str]:
    parts = [multiplier.real, multiplier.imag]
    most = math.floor(bits * math.log10(2))
    wide = [digits_before(part.rad()) - 5 for part in parts if part.rad() > 0]
    (real, imaginary), radius = tight_decimals(parts, max(0, min([most, *wide])))
    return real, imaginary, radius
