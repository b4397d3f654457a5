"""What every row must keep to, checked on short runs: `broken` names the figures of one row that are wrong.

A figure that is off by chance is in order on a longer run: a row that fails is run again, up to sixteen times as long.
"""

import math
from functools import cache

import numpy as np
import sympy as sp

from dynamics.block import block
from dynamics.codegen import LANES
from dynamics.cycles import wrapped
from dynamics.registry import system
from dynamics.settle import slope
from indicators.lyapunov import lyapunov_max
from labeling.gathering import gathered, reference_start
from labeling.settings import Settings

BRIEF = Settings(transient_map=2_000, transient_flow=200.0, records=512, series=2_048, turning_steps=1)
HORIZONS = (1, 4, 16)
LATER = (16,)  # for systems without a formula, whose short runs have too few intervals
KINKED = (sp.Abs, sp.Min, sp.Max, sp.sign, sp.Heaviside, sp.floor, sp.ceiling, sp.Mod, sp.Piecewise)
TORN = (sp.sign, sp.Heaviside, sp.floor, sp.ceiling, sp.Mod)  # those that jump: deviations jump there as well
RELATIVE = 1e-6  # of the largest entry of a row of the Jacobian, in units of the variables' ranges
NUDGE = 1e-4  # of a variable's range: the step of a difference
OWN = 0.01  # of what half the nudge changes in a difference: its own error after extrapolation
# HyperLu: SciPy's DOP853 at 1e-12 leaves its box for infinity from 4 of 16 starts there before t = 40, as runs at any
# step do from 12 of 16 before t = 2000; so do orbits that have been on its chaotic set for long.
ESCAPING = ("dysts_hyperlu",)
AT_REST = 1e-5  # distance that the state moves in a time unit, relative to its size


def kinked(s, kinds=KINKED):
    """Whether the rule has a kink (or, of TORN, a jump) in the state."""
    return any(a.has(*s.variables) for f in s.expressions for a in f.atoms(*kinds))


@cache
def broken(system_id):
    """The figures of a row that are wrong, one sentence each; empty where all is in order."""
    s = system(system_id)
    for horizon in HORIZONS if s.has_formula else LATER:
        start = reference_start(s, BRIEF, horizon)
        e = gathered(start, BRIEF)[0]
        if e.status != "ok":
            return [] if system_id in ESCAPING else [f"the orbit {e.status}"]
        # deviations of the other kinds are compared with differences of orbits in test_delay, test_fields, test_noise
        of_a_formula = [*wrong_jacobian(e), *wrong_volume(e)] if s.has_formula else []
        found = [*of_a_formula, *no_zero(e), *other_exponent(e, start, horizon)]
        if not found:
            return []
    return found


# --- The Jacobian against differences


def images(s, states, parameters, t):
    """f(u) (d, LANES) and its Jacobian (d, d, LANES) by the row's own kernels, at states (d, LANES) and times."""
    if s.kind == "ode":
        return slope(s, states, parameters, t)
    moving = block(s, states, parameters, s.dimension, t=t)
    moving.deviations[:] = np.eye(s.dimension)[:, :, None]
    moving.advance(1)
    return moving.states, moving.deviations.copy()


def wrong_jacobian(e):
    """At 16 random states of the series, against the central difference of fourth order.

    Where the difference over half the nudge is another one, a kink or jump lies between; such states of a rule that has
    any are left out, as long as half of all remain. An orbit at rest has one state alone (the baker's map, which
    doubles cannot follow, collapses to one): then the states are drawn from the box.
    """
    s, rng = e.system, np.random.default_rng(e.seed)
    n = np.sort(rng.choice(len(e.series), LANES))
    u, t = e.series[n].T.copy(), e.t + (n + 1) * e.series_step
    if e.still:
        u = np.array([rng.uniform(*s.box[name], LANES) for name in s.state])
    parameters = np.repeat(e.parameters[:, None], LANES, axis=1)
    exact = images(s, u, parameters, t)[1]
    size = np.maximum(np.maximum(e.extent, 1e-2 * np.abs(e.series).max(axis=0)), 1e-3 * e.scale)
    away = np.ones(LANES, dtype=bool)
    columns, bends = [], []
    for c in range(s.dimension):
        halves = []
        for width in (NUDGE * size[c], NUDGE * size[c] / 2):
            nudge = width * np.eye(s.dimension)[:, c : c + 1]
            ends = [images(s, u + sign * nudge, parameters, t)[0] for sign in (1, -1)]
            difference = wrapped(s, ends[0] - ends[1]) if s.kind == "map" else ends[0] - ends[1]
            halves.append(difference / (2 * width))
        columns.append((4 * halves[1] - halves[0]) / 3)
        bends.append(np.abs(halves[1] - halves[0]))
        away &= bends[-1].max(axis=0) <= 1e-3 * np.maximum(np.abs(halves[1]).max(axis=0), 1e-9)
    unit = size[None, :, None]
    largest = (np.abs(exact) * (unit + np.abs(u)[None])).max(axis=(1, 2))  # of each row; what its terms cancel from
    off = np.abs(exact - np.stack(columns, axis=1)) - OWN * np.stack(bends, axis=1)
    off = off * unit / np.maximum(largest, 1e-300)[:, None, None]
    if kinked(s):
        if away.sum() < LANES // 2:
            return [f"Jacobian: only {away.sum()} of {LANES} states lie away from kinks"]
        off = off[:, :, away]
    return [f"Jacobian: off by {off.max():.2g} of its largest entry"] if not off.max() <= RELATIVE else []


# --- Volume


def wrong_volume(e):
    """The sum of the exponents against the proved rate of volume, or the divergence averaged over another stretch."""
    s = e.system
    if s.kind == "ode" and kinked(s):
        return []
    total = e.volume_exponent
    if total.value is None:
        return [f"sum of exponents: none, {total.evidence['reason']}"]
    half, factor = total.evidence["error_999"], s.constant_volume_factor
    if e.too_coarse:
        return [f"sum of exponents: a tangent defect of {e.defect:.2g} beside exponents {e.spectrum.value}"]
    if factor is not None:
        expected, other = factor if s.kind == "ode" else math.log(factor) if factor else -math.inf, 0.0
    elif s.kind == "map":
        return []
    else:
        rate = np.concatenate([divergence(e, part) for part in range(0, len(e.series), LANES)])
        mean = lyapunov_max(rate * e.series_step, e.series_step)
        expected, other = mean.number, mean.evidence["error_999"]
    allowed = half + other + 1e-9 * max(1.0, *map(abs, e.spectrum.value or [0.0]))
    if abs(total.number - expected) > allowed:
        return [f"sum of exponents: {total.number:.9g}, but the mean divergence is {expected:.9g} +- {allowed:.2g}"]
    return []


def divergence(e, begin):
    """div f at LANES states of the series from `begin` on."""
    n = np.arange(begin, begin + LANES)
    parameters = np.repeat(e.parameters[:, None], LANES, axis=1)
    return np.trace(slope(e.system, e.series[n].T.copy(), parameters, e.t + (n + 1) * e.series_step)[1])


# --- A zero exponent


def no_zero(e):
    """An autonomous flow on a compact set that is not at rest has an exponent 0, within its interval at 99.9 %.

    A deviation that jumps with the rule would need a saltation matrix (Aizerman & Gantmakher 1958); rows with jumps in
    the state are not asked.
    """
    s = e.system
    if s.kind not in ("ode", "dde", "pde") or not s.autonomous or kinked(s, TORN) or at_rest(e):
        return []
    found, halves = np.atleast_1d(e.spectrum.value), np.atleast_1d(e.spectrum.evidence["error_999"])
    if (np.abs(found) <= halves).any():
        return []
    i = int(np.argmin(np.abs(found) / halves))
    return [
        f"zero exponent: the nearest is {found[i]:.6g} +- {halves[i]:.2g}, after T = {e.spectrum.evidence['T']:.4g}"
    ]


def at_rest(e):
    if not e.system.has_formula:
        return np.ptp(e.series[-256:], axis=0).max() <= AT_REST * e.scale
    last = np.repeat(e.series[-1:].T, LANES, axis=1)
    speed = np.abs(slope(e.system, last, np.repeat(e.parameters[:, None], LANES, axis=1))[0][:, 0]).max()
    return speed <= AT_REST * e.scale


# --- The same exponents by another step, from another state


def other_exponent(e, start, horizon):
    out = []
    if e.system.kind in ("ode", "dde", "pde"):
        out += unlike(e, gathered(start, BRIEF, finer=2)[0], "at half the step")
    moved = reference_start(e.system.with_values({}, e.end), BRIEF, horizon)
    return out + unlike(e, gathered(moved, BRIEF)[0], "from another state of the set")


def unlike(e, other, where):
    """The largest exponents are the same within the sum of their intervals at 99.9 %, or both minus infinity."""
    if other.status != "ok" and e.system.id in ESCAPING:
        return []
    if other.status != "ok":
        return [f"largest exponent: the orbit {other.status} {where}"]
    one, two = e.largest, other.largest
    if one.value is None or two.value is None:
        return [] if one.status == two.status else [f"largest exponent: {one.status}, and {two.status} {where}"]
    allowed = one.evidence["error_999"] + two.evidence["error_999"] + 1e-12
    if abs(one.number - two.number) <= allowed:
        return []
    return [f"largest exponent: {one.number:.6g}, and {two.number:.6g} {where}; allowed are {allowed:.2g}"]
