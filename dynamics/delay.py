"""Delay equations in lanes: histories in a ring, moved by the method of steps, and deviations of whole histories.

A deviation is a pair (v(t), v on [t - tau, t]) in R^d x L2, tau the longest delay of its lane. Gram-Schmidt uses

    <v, w> = v(t) . w(t) + (1/tau) * integral over [t - tau, t] of v . w ds,

by Simpson's rule on nodes and middles, so that everything a later step reads is weighed (Farmer 1982, Physica D 4:366;
Breda & Van Vleck 2014, Numer. Math. 126:225). Growth rates do not depend on the inner product.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynamics.block import Array
from dynamics.codegen import LANES
from dynamics.delay_code import delay_step
from dynamics.delay_frame import orthonormalise
from dynamics.delay_system import DelaySystem

MODES = 32  # cosines of which a deviation is made at first
MAX_STEPS_PER_DELAY = 100_000
FINER = 20  # times smaller than wanted a step may become, for several delays to be multiples of it
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
            for m in range(MODES):
                ring[:, :, j + 1] += weights[m, :, None] * np.cos(m * phase)[:, None]
    made = DelayBlock(
        system, k, rings[0].ravel(), rings[1].ravel(), np.ascontiguousarray(parameters).ravel(), np.zeros(LANES), h,
        lags.ravel(), span, np.array([size - 1]), *_simpson(span, size), delay_step(system),
    )  # fmt: skip
    orthonormalise(
        made.nodes, made.middles, made.at_nodes, made.at_middles, made.head, d, k,
        np.ones((k, LANES)), np.zeros((k, LANES), dtype=np.int64),
    )  # fmt: skip
    return made


def steps_of_delays(system: DelaySystem, parameters: Array, h: Array | float) -> tuple[NDArray[np.int64], Array]:
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
        numbers = np.arange(fewest, min(FINER * fewest, MAX_STEPS_PER_DELAY) + 1)
        ratios = delays[:, i, None] / longest * numbers
        fits = (np.abs(ratios - np.rint(ratios)) <= WHOLE * ratios).all(axis=0) & (np.rint(ratios) >= 1).all(axis=0)
        if not fits.any():
            raise ValueError(f"{system.id}: the delays {', '.join(f'{x:g}' for x in delays[:, i])} are no multiples of"
                             f" one step of at most {wanted[i]:g} and not {FINER} times smaller; take values in a ratio"
                             " of small whole numbers")  # fmt: skip
        first = int(np.argmax(fits))
        lags[:, i], steps[i] = np.rint(ratios[:, first]), longest / numbers[first]
    return lags, steps


def _past(system: DelaySystem, parameters: Array, times: Array, history: Callable[[Array], Array] | None) -> Array:
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
