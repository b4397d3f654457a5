"""Delay equations in lanes: method of steps, history in a ring, and deviations that are whole history segments.

A deviation is a pair (v(t), v on [t - tau, t]) in R^d x L2, tau the longest delay of its lane. Gram-Schmidt uses

    <v, w> = v(t) . w(t) + (1/tau) * integral over [t - tau, t] of v . w ds,

by Simpson's rule on nodes and middles, so that everything a later step reads is weighed (Farmer 1982, Physica D 4:366;
Breda & Van Vleck 2014, Numer. Math. 126:225). Growth rates do not depend on the inner product.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import types
from numpy.typing import NDArray

from dynamics.block import LN2, STATUSES, TINY, Array, Run, escape_radius
from dynamics.codegen import LANES
from dynamics.delay_code import DELAY_STEP_TYPE, delay_step
from dynamics.delay_system import DelaySystem
from dynamics.kernel import kernel

MODES = 32  # cosines of which a deviation is made at first
MAX_STEPS_PER_DELAY = 100_000
WHOLE = 1e-9  # relative distance from a whole number at which a delay still counts as a multiple of the step


@dataclass
class DelayBlock:
    """LANES copies of a delay system: rings as laid out in delay_code, `p` (n, LANES) flat, and `t`, `h` (LANES,).

    `lags` (delayed names, LANES) flat are the delays in steps, `span` (LANES,) the longest of each lane. `at_nodes`
    and `at_middles` (N, LANES) are the weights of the inner product by age in steps.
    """

    system: DelaySystem
    k: int
    nodes: Array
    middles: Array
    p: Array
    t: Array
    h: Array
    lags: NDArray[np.int64]
    span: NDArray[np.int64]
    head: NDArray[np.int64]
    at_nodes: Array
    at_middles: Array
    step: Callable[..., None]

    @property
    def states(self) -> Array:
        """The present value in every lane, (d, LANES); a copy."""
        return self._shaped(self.nodes)[self.head[0], :, 0].copy()

    def history(self, lane: int, column: int = 0, *, middles: bool = False) -> Array:
        """The segment [t - tau, t] of one lane's orbit (column 0) or deviation, oldest first: (span + 1, d) at the
        nodes, or (span, d) in the middle of the steps; a copy.
        """
        ages = np.arange(self.span[lane], 0 if middles else -1, -1)
        ring = self._shaped(self.middles if middles else self.nodes)
        return ring[(self.head[0] - ages) % len(self.at_nodes), :, column, lane]

    def advance(self, steps: int) -> None:
        """Move every lane by `steps` steps of its own h."""
        self.step(self.nodes, self.middles, self.p, self.t, self.h, self.lags, self.head, self.k, steps)

    def _shaped(self, ring: Array) -> Array:
        return ring.reshape(-1, self.system.dimension, 1 + self.k, LANES)


def delay_block(
    system: DelaySystem,
    parameters: Array,
    k: int,
    *,
    h: Array | float,
    history: Callable[[Array], Array] | None = None,
    seed: int = 0,
) -> DelayBlock:
    """A block at t = 0 from parameters (n, LANES), with k deviations orthonormal in the inner product above.

    h : the largest step wanted, for all lanes or (LANES,); each lane's is the next smaller one that divides its delays.
    history : maps times (n, LANES) <= 0 to values (d, n, LANES); without it the row's own formulas hold.
    Deviations are random sums of cosines on [-tau, 0], drawn from `seed`, the same in every lane; one does not depend
    on how many follow it, nor on other lanes.
    """
    d, count = system.dimension, len(system.parameters)
    parameters = np.asarray(parameters, dtype=float)
    if parameters.shape != (count, LANES):
        raise ValueError(f"{system.id}: a block needs parameters {(count, LANES)}, not {parameters.shape}")
    lags, h = steps_of_delays(system, parameters, h)
    span = lags.max(axis=0)
    if not 0 <= k <= d * min(MODES, int(span.min())):
        raise ValueError(f"{system.id}: {k} deviations asked for; with {span.min()} steps in the shortest history there"
                         f" can be {d * min(MODES, int(span.min()))}")  # fmt: skip
    size = int(span.max()) + 1
    ages = np.arange(size)[:, None] * np.ones(LANES)
    rings = np.zeros((2, size, d, 1 + k, LANES))
    for ring, shift in zip(rings, (0.0, 0.5), strict=True):
        # slot size - 1 is the present, slot 0 the oldest; the middle after the present is not known yet
        used = (ages <= span) if shift == 0.0 else (ages <= span) & (ages > 0)
        time = np.where(used, (shift - ages) * h, 0.0)[::-1]
        ring[:, :, 0] = _past(system, parameters, time, history).transpose(1, 0, 2)
        for j in range(k):
            phase = np.pi * np.where(used, (ages - shift) / span, 0.0)[::-1]
            weights = np.random.default_rng([seed, j]).standard_normal((MODES, d)) / np.arange(1, MODES + 1)[:, None]
            waves = np.cos(np.arange(MODES)[:, None, None] * phase)
            ring[:, :, j + 1] = np.einsum("mc,mni->nci", weights, waves)
    made = DelayBlock(
        system, k, rings[0].ravel(), rings[1].ravel(), np.ascontiguousarray(parameters).ravel(), np.zeros(LANES), h,
        lags.ravel(), span, np.array([size - 1]), *_simpson(span, size), delay_step(system),
    )  # fmt: skip
    _orthonormalise(
        made.nodes, made.middles, made.at_nodes, made.at_middles, made.head, d, k,
        np.ones((k, LANES)), np.zeros((k, LANES), dtype=np.int64),
    )  # fmt: skip
    return made


def steps_of_delays(
    system: DelaySystem, parameters: Array, h: Array | float
) -> tuple[NDArray[np.int64], Array]:  # fmt: skip
    """Delays in steps (delayed names, LANES), and the largest step (LANES,) up to h of which all are multiples."""
    delays = system.delays(parameters)
    wanted = np.broadcast_to(np.asarray(h, dtype=float), LANES)
    if not (np.isfinite(delays) & (delays > 0.0)).all() or not (np.isfinite(wanted) & (wanted > 0.0)).all():
        raise ValueError(f"{system.id}: delays and steps must be finite and above 0")
    lags, steps = np.empty(delays.shape, dtype=np.int64), np.empty(LANES)
    for i in range(LANES):
        longest = delays[:, i].max()
        fewest = max(1, math.ceil(longest / wanted[i] * (1.0 - WHOLE)))
        if fewest > MAX_STEPS_PER_DELAY:
            raise ValueError(f"{system.id}: a step of {wanted[i]:g} makes {fewest} steps of the delay {longest:g};"
                             f" at most {MAX_STEPS_PER_DELAY} are kept")  # fmt: skip
        numbers = np.arange(fewest, MAX_STEPS_PER_DELAY + 1) if len(delays) > 1 else np.array([fewest])
        ratios = delays[:, i, None] / longest * numbers
        fits = (np.abs(ratios - np.rint(ratios)) <= WHOLE * ratios).all(axis=0) & (np.rint(ratios) >= 1).all(axis=0)
        if not fits.any():
            raise ValueError(f"{system.id}: the delays {', '.join(f'{x:g}' for x in delays[:, i])} are no multiples of"
                             " one step; take values in a ratio of small whole numbers")  # fmt: skip
        first = int(np.argmax(fits))
        lags[:, i], steps[i] = np.rint(ratios[:, first]), longest / numbers[first]
    return lags, steps


def delay_run(moving: DelayBlock, records: int, *, steps: int = 1, renormalisations: int = 1) -> Run:
    """Move a block over `records` records of `renormalisations` Gram-Schmidt intervals of `steps` steps each.

    As dynamics.block.run, which says what a Run holds; `states` are present values, `divergence` is NaN, for there is
    no volume in an infinite space. Status: ok, escaped (beyond the escape radius), blew_up (orbit or deviations not
    finite). From record `kept` on, growth and states of an ended lane are filled with zeros, and mean nothing.
    """
    d, k = moving.system.dimension, moving.k
    growth, states = np.zeros((records, k, LANES)), np.zeros((records, d, LANES))
    status, kept = np.zeros(LANES, dtype=np.int64), np.full(LANES, records, dtype=np.int64)
    _run(
        moving.step, moving.nodes, moving.middles, moving.p, moving.t, moving.h, moving.lags, moving.head,
        moving.at_nodes, moving.at_middles, d, k, steps, renormalisations, escape_radius(moving.system.base),
        growth, states, status, kept,
    )  # fmt: skip
    for lane in np.flatnonzero(status):
        growth[kept[lane] :, :, lane] = 0.0
        states[kept[lane] :, :, lane] = 0.0
    interval = moving.h * (steps * renormalisations)
    return Run(growth, states, interval, tuple(STATUSES[s] for s in status), kept, np.full(LANES, np.nan))


def _past(
    system: DelaySystem, parameters: Array, times: Array, history: Callable[[Array], Array] | None
) -> Array:  # fmt: skip
    if history is not None:
        values = np.asarray(history(times), dtype=float)
        if values.shape != (system.dimension, *times.shape):
            raise ValueError(f"{system.id}: the history of times {times.shape} has shape {values.shape};"
                             f" {(system.dimension, *times.shape)} is needed")  # fmt: skip
        if not np.isfinite(values).all():
            raise ValueError(f"{system.id}: the history has values that are not finite")
        return values
    lanes = [dict(zip(system.parameters, column, strict=True)) for column in parameters.T.tolist()]
    return np.stack([system.past(times[:, i], lane) for i, lane in enumerate(lanes)], axis=-1)


def _simpson(span: NDArray[np.int64], size: int) -> tuple[Array, Array]:
    """Weights (size, LANES) by age of the inner product: at nodes, and in the middle of the step that begins there."""
    ages = np.arange(size)[:, None]
    inside = ages <= span
    at_nodes = np.where(inside, np.where((ages == 0) | (ages == span), 1.0, 2.0) / (6.0 * span), 0.0)
    at_nodes[0] += 1.0  # the present value
    return at_nodes, np.where(inside & (ages > 0), 2.0 / (3.0 * span), 0.0)


_F1, _F2, _F3 = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]
_I1, _I2 = types.int64[::1], types.int64[:, ::1]


@kernel(types.void(_F1, _F1, _F2, _F2, _I1, types.int64, types.int64, _F2, _I2))
def _orthonormalise(R, M, at_nodes, at_middles, head, d, k, factor, exponent):  # type: ignore[no-untyped-def]
    """Modified Gram-Schmidt of history segments in every lane; lengths go into `factor` and `exponent` as in block."""
    N = at_nodes.shape[0]
    dot = np.empty(LANES)
    bits = factor.view(np.int64)
    for j in range(1, k + 1):
        for q in range(1, j + 1):  # q = j: the length
            dot[:] = 0.0
            for age in range(N):
                slot = (head[0] - age) % N
                for c in range(d):
                    a, b = ((slot * d + c) * (1 + k) + j) * LANES, ((slot * d + c) * (1 + k) + q) * LANES
                    for i in range(LANES):
                        dot[i] += at_nodes[age, i] * (R[a + i] * R[b + i]) + at_middles[age, i] * (M[a + i] * M[b + i])
            if q < j:
                for x in range(N * d):
                    a, b = (x * (1 + k) + j) * LANES, (x * (1 + k) + q) * LANES
                    for i in range(LANES):
                        R[a + i] -= dot[i] * R[b + i]
                        M[a + i] -= dot[i] * M[b + i]
        for i in range(LANES):
            dot[i] = math.sqrt(dot[i])
            factor[j - 1, i] *= dot[i]
        for i in range(LANES):
            e = ((bits[j - 1, i] >> 52) & 2047) - 1023
            if -1023 < e < 1024:
                exponent[j - 1, i] += e
                bits[j - 1, i] -= e << 52
        for age in range(N):
            slot = (head[0] - age) % N
            for c in range(d):
                a = ((slot * d + c) * (1 + k) + j) * LANES
                for i in range(LANES):
                    # what no step reads any more is cleared, or divisions by small lengths would let it grow; a
                    # deviation that vanished is replaced by a present value, and its factor stays 0
                    lost = 1.0 if age == 0 and c == (j - 1) % d else 0.0
                    R[a + i] = (R[a + i] / dot[i] if dot[i] != 0.0 else lost) if at_nodes[age, i] > 0.0 else 0.0
                    M[a + i] = M[a + i] / dot[i] if at_middles[age, i] > 0.0 and dot[i] != 0.0 else 0.0


@kernel(types.void(DELAY_STEP_TYPE, _F1, _F1, _F1, _F1, _F1, _I1, _I1, _F2, _F2, types.int64, types.int64, types.int64,
                   types.int64, types.float64, _F3, _F3, _I1, _I1))  # fmt: skip
def _run(step, R, M, P, t, h, lags, head, at_nodes, at_middles, d, k, steps, renormalisations, radius, growth, states,
         status, kept):  # type: ignore[no-untyped-def] # fmt: skip
    factor = np.empty((k, LANES))
    exponent = np.empty((k, LANES), dtype=np.int64)
    for r in range(growth.shape[0]):
        factor[:] = 1.0
        exponent[:] = 0
        for _ in range(renormalisations):
            step(R, M, P, t, h, lags, head, k, steps)
            for x in range(R.shape[0]):
                # decay to 0 must not crawl through the denormals, where arithmetic is slow
                if abs(R[x]) < TINY:
                    R[x] = 0.0
                if abs(M[x]) < TINY:
                    M[x] = 0.0
            if k:
                _orthonormalise(R, M, at_nodes, at_middles, head, d, k, factor, exponent)
        for i in range(LANES):
            finite, inside = True, True
            for j in range(k):
                growth[r, j, i] = math.log(factor[j, i]) + exponent[j, i] * LN2
                finite &= growth[r, j, i] < math.inf
            for c in range(d):
                x = R[((head[0] * d + c) * (1 + k)) * LANES + i]
                states[r, c, i] = x
                finite &= math.isfinite(x)
                inside &= abs(x) <= radius
            if status[i] == 0 and not (finite and inside):
                status[i] = 1 if finite else 2
                kept[i] = r
