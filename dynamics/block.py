"""A block: LANES copies of one system side by side, and the kernels that move it. Maps and flows look alike here."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numba import types
from numpy.typing import NDArray

from dynamics.codegen import LANES, STEP_TYPE, Kernels, kernels
from dynamics.kernel import inlined, kernel
from dynamics.system import System

Array = NDArray[np.float64]
RunStatus = Literal["ok", "escaped", "blew_up", "stalled"]
STATUSES: tuple[RunStatus, ...] = ("ok", "escaped", "blew_up", "stalled")
LN2 = math.log(2.0)
TINY = 1e-250
UNKNOWN_RADIUS = 1e15  # where no box says how large states are
ESCAPE_RADIUS = 1e4  # in units of the sampling box: no attractor of a row reaches so far out


@dataclass
class Block:
    """The numbers of LANES lanes: `data` as laid out in codegen, `p` (n, LANES), and `t`, `h` (LANES,), all flat.

    `periods` (LANES,) are the forcing periods by which time may be taken back, infinite where there are none: a small
    time is an exact one.
    """

    system: System
    k: int
    data: Array
    p: Array
    t: Array
    h: Array
    periods: Array
    kernels: Kernels

    @property
    def states(self) -> Array:
        """The state of every lane, (d, LANES); a copy."""
        d = self.system.dimension
        return self.data[: d * (1 + self.k) * LANES].reshape(d, 1 + self.k, LANES)[:, 0].copy()

    @property
    def deviations(self) -> Array:
        """The deviation vectors of every lane, (d, k, LANES); a view."""
        d = self.system.dimension
        return self.data[: d * (1 + self.k) * LANES].reshape(d, 1 + self.k, LANES)[:, 1:]

    @property
    def divergence_integral(self) -> Array:
        """Integral of the divergence along each lane, (LANES,), gathered while k = d; a view."""
        return self.data[-LANES:]

    @property
    def step(self) -> Any:
        """The kernel that moves it."""
        return self.kernels.step

    def advance(self, steps: int) -> None:
        """Move every lane by `steps` iterations or steps of its own h."""
        self.kernels.step(self.data, self.p, self.t, self.h, steps)


def block(
    system: System,
    states: Array,
    parameters: Array,
    k: int,
    *,
    h: Array | float = 1.0,
    t: Array | float = 0.0,
    periods: Array | None = None,
    seed: int = 0,
    method: str = "dp5",
) -> Block:
    """A block from states (d, LANES) and parameters (n, LANES), with k random orthonormal deviations.

    The deviations are drawn from `seed` and are the same in every lane; a random frame has no chance to lie in an
    invariant subspace, from which the largest exponent would never be seen.
    """
    d = system.dimension
    if states.shape != (d, LANES) or parameters.shape != (len(system.parameters), LANES):
        raise ValueError(f"{system.id}: a block needs states {(d, LANES)} and parameters"
                         f" {(len(system.parameters), LANES)}, not {states.shape} and {parameters.shape}")  # fmt: skip
    data = np.zeros((d * (1 + k) + 1) * LANES)
    shaped = data[: d * (1 + k) * LANES].reshape(d, 1 + k, LANES)
    shaped[:, 0] = states
    if k:
        shaped[:, 1:] = _frame(d, seed)[:, :k, None]
    return Block(
        system,
        k,
        data,
        np.ascontiguousarray(parameters, dtype=float).ravel(),
        np.broadcast_to(np.asarray(t, dtype=float), LANES).copy(),
        np.broadcast_to(np.asarray(h, dtype=float), LANES).copy(),
        np.full(LANES, np.inf) if periods is None else np.asarray(periods, dtype=float).copy(),
        kernels(system, k, method),
    )


@cache
def _frame(d: int, seed: int) -> Array:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


def escape_radius(system: System) -> float:
    """The size of a state beyond which a lane counts as escaped."""
    reach = [abs(x) for x in system.state.values()] + [abs(x) for bounds in system.box.values() for x in bounds]
    return (ESCAPE_RADIUS if system.box else UNKNOWN_RADIUS) * max(1.0, *reach)


def single_orbit(
    system: System, start: Array, h: float, steps: int, count: int, t: float = 0.0, period: float = math.inf
) -> tuple[Array, Array, RunStatus]:
    """States (count, d) and times (count,) along one orbit, `steps` iterates or steps of h apart, and how it ended.

    Moved alone, at a fraction of a block's cost; for where to start lanes, not for comparing orbits bit by bit.
    """
    step = kernels(system, 0, lanes=1).step
    data = np.append(start, 0.0)
    p, now, width = np.array([*system.parameters.values()]), np.array([t]), np.array([h])
    out, times = np.empty((count, system.dimension)), np.empty(count)
    radius = escape_radius(system)
    for m in range(count):
        for begin in range(0, steps, 1024):
            step(data, p, now, width, min(1024, steps - begin))
            data[np.abs(data) < TINY] = 0.0
            now %= period
        out[m], times[m] = data[:-1], now[0]
        largest = np.abs(out[m]).max()
        if not largest <= radius:
            return out, times, "escaped" if np.isfinite(largest) else "blew_up"
    return out, times, "ok"


def at_phase_zero(system: System, state: Array, t: float, h: float) -> Array:
    """A state (d,) of a forced flow at time t, carried on to the next multiple of the forcing period; others as is.

    Those with noise or a delay are others: their state alone says too little to carry it on.
    """
    period = system.forcing_period if system.kind == "ode" else None
    rest = period - t % period if period is not None else 0.0
    if rest == 0.0 or rest == period:
        return state
    steps = max(1, math.ceil(rest / h))
    return single_orbit(system, state, rest / steps, steps, 1, t)[0][-1]


@dataclass(frozen=True)
class Run:
    """What a block did: growth of the deviations and states, once per record.

    growth (records, k, LANES): ln of the growth of each Gram-Schmidt direction over the record; states (records, d,
    LANES) at the record's end; interval (LANES,): time per record; status per lane, and `kept` (LANES,), the number of
    records before a lane ended; divergence (LANES,): mean divergence along the lane (flows with k = d, else NaN).
    """

    growth: Array
    states: Array
    interval: Array
    status: tuple[RunStatus, ...]
    kept: NDArray[np.int64]
    divergence: Array


def run(moving: Block, records: int, *, steps: int = 1, renormalisations: int = 1) -> Run:
    """Move a block over `records` records of `renormalisations` Gram-Schmidt intervals of `steps` steps each.

    Moves the block in place, so that a later call goes on where this one ended; `kept` and `status` count from here.
    The discretisation of a record does not change the orbit: the state's path depends on h alone.
    """
    d, k = moving.system.dimension, moving.k
    growth = np.zeros((records, k, LANES))
    states = np.zeros((records, d, LANES))
    status = np.zeros(LANES, dtype=np.int64)
    kept = np.full(LANES, records, dtype=np.int64)
    moving.divergence_integral[:] = 0.0
    _run(
        moving.kernels.step, moving.data, moving.p, moving.t, moving.h, moving.periods, d, k, steps, renormalisations,
        escape_radius(moving.system), growth, states, status, kept,
    )  # fmt: skip
    interval = moving.h * (steps * renormalisations)
    measured = not moving.system.discrete and k == d
    mean = moving.divergence_integral / (interval * records) if measured else np.full(LANES, np.nan)
    return Run(growth, states, interval, tuple(STATUSES[s] for s in status), kept, mean)


_F1, _F3, _I1 = types.float64[::1], types.float64[:, :, ::1], types.int64[::1]


@inlined
def _orthonormalise(S, d, k, factor, exponent, dot, product, bits):  # type: ignore[no-untyped-def]
    """Modified Gram-Schmidt in every lane; lengths are multiplied into `factor`, whose exponent bits are moved out.

    `dot` and `product` (LANES,) are working space of the caller's, and `bits` the bits of `product`.
    """
    lanes = dot.size
    for j in range(k):
        for q in range(j):
            dot[:] = 0.0
            for c in range(d):
                a, b = (c * (1 + k) + j + 1) * lanes, (c * (1 + k) + q + 1) * lanes
                for i in range(lanes):
                    dot[i] += S[a + i] * S[b + i]
            for c in range(d):
                a, b = (c * (1 + k) + j + 1) * lanes, (c * (1 + k) + q + 1) * lanes
                for i in range(lanes):
                    S[a + i] -= dot[i] * S[b + i]
        dot[:] = 0.0
        for c in range(d):
            a = (c * (1 + k) + j + 1) * lanes
            for i in range(lanes):
                dot[i] += S[a + i] * S[a + i]
        for i in range(lanes):
            dot[i] = math.sqrt(dot[i])
            product[i] = factor[j, i] * dot[i]
        for i in range(lanes):
            # 2**e is split off the factor, so that products never over- or underflow and need one logarithm a record
            e = ((bits[i] >> 52) & 2047) - 1023
            e = e if (e > -1023) & (e < 1024) else 0
            exponent[j, i] += e
            bits[i] -= e << 52
        for i in range(lanes):
            factor[j, i] = product[i]
        for c in range(d):
            a = (c * (1 + k) + j + 1) * lanes
            for i in range(lanes):
                # a deviation that vanished (superstable orbit) is replaced by a unit vector
                x = S[a + i] / dot[i] if dot[i] != 0.0 else (1.0 if c == j else 0.0)
                S[a + i] = 0.0 if abs(x) < TINY else x


@kernel(types.void(_F1, _F1, _F1, types.int64, types.int64))
def tidy(S, t, periods, d, k):  # type: ignore[no-untyped-def]
    """Take whole forcing periods off the time of every lane, and what is as good as 0 off its state."""
    for i in range(LANES):
        if t[i] >= periods[i]:
            t[i] -= periods[i] * math.floor(t[i] / periods[i])
    for c in range(d):
        for i in range(LANES):
            # an orbit that decays to 0 must not crawl through the denormals, where arithmetic is slow
            if abs(S[c * (1 + k) * LANES + i]) < TINY:
                S[c * (1 + k) * LANES + i] = 0.0


@kernel(types.void(_F1, types.int64, types.int64, types.float64, types.int64, _F3, _I1, _I1))
def look(S, d, k, radius, r, states, status, kept):  # type: ignore[no-untyped-def]
    """Write the states of record r, and which lanes end with it: those not finite, or beyond the radius."""
    for i in range(LANES):
        finite, inside = True, True
        for c in range(d):
            x = S[c * (1 + k) * LANES + i]
            states[r, c, i] = x
            finite &= math.isfinite(x)
            inside &= abs(x) <= radius
        if status[i] == 0 and not (finite and inside):
            status[i] = 1 if finite else 2
            kept[i] = r


@kernel(types.void(STEP_TYPE, _F1, _F1, _F1, _F1, _F1, types.int64, types.int64, types.int64, types.int64,
                   types.float64, _F3, _F3, _I1, _I1))  # fmt: skip
def _run(step, S, P, t, h, periods, d, k, steps, renormalisations, radius, growth, states, status, kept):  # type: ignore[no-untyped-def]
    factor = np.empty((k, LANES))
    exponent = np.empty((k, LANES), dtype=np.int64)
    dot, product = np.empty(LANES), np.empty(LANES)
    bits = product.view(np.int64)
    for r in range(growth.shape[0]):
        factor[:] = 1.0
        exponent[:] = 0
        for _ in range(renormalisations):
            step(S, P, t, h, steps)
            tidy(S, t, periods, d, k)
            if k:
                _orthonormalise(S, d, k, factor, exponent, dot, product, bits)
        for j in range(k):
            for i in range(LANES):
                growth[r, j, i] = math.log(factor[j, i]) + exponent[j, i] * LN2
        look(S, d, k, radius, r, states, status, kept)
