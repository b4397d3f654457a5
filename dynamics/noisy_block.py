"""Lanes of one system with noise, and the run that measures them."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynamics.block import STATUSES, TINY, Run, escape_radius
from dynamics.deviates import checked_lanes, checked_seed, normals
from dynamics.noise import Method, NoisySystem, noise_step

Array = NDArray[np.float64]
MAX_STEPS = 2**62  # counted in fine ones


@dataclass
class NoisyBlock:
    """Lanes of any number W: `data` as laid out in codegen, `p` (n, W) flat, and `t`, `h` (W,).

    `lanes` (W,) number the lanes among all that share the seed: a lane's path depends on seed, number and step, not on
    the block it is dealt to. `done` counts steps since time began; `fine` is the number of deviates in one increment.
    """

    system: NoisySystem
    k: int
    data: Array
    p: Array
    t: Array
    h: Array
    seed: np.uint64
    lanes: NDArray[np.int64]
    fine: int
    done: int
    method: Method
    step: Callable[..., None]

    @property
    def states(self) -> Array:
        """The state of every lane, (d, W); a copy."""
        return self._shaped[:, 0].copy()

    @property
    def deviations(self) -> Array:
        """The deviation vectors of every lane, (d, k, W); a view."""
        return self._shaped[:, 1:]

    @property
    def _shaped(self) -> Array:
        return self.data.reshape(self.system.drift.dimension, 1 + self.k, len(self.t))

    def advance(self, steps: int) -> None:
        """Move every lane by `steps` steps of its own h."""
        if (self.done + steps) * self.fine > MAX_STEPS:
            raise ValueError(f"{self.system.id}: the noise has no step beyond {MAX_STEPS}")
        self.step(self.data, self.p, self.t, self.h, steps, self.seed, self.lanes, self.done, self.fine)
        self.done += steps


def noisy_block(
    system: NoisySystem,
    states: ArrayLike,
    k: int = 0,
    *,
    h: ArrayLike,
    seed: int,
    method: Method = "milstein",
    parameters: ArrayLike | None = None,
    lanes: ArrayLike | None = None,
    fine: int = 1,
    t: ArrayLike = 0.0,
) -> NoisyBlock:
    """A block from states (d, W) and parameters (n, W) or the row's own, with k = 0 or 1 deviation, drawn from `seed`.

    h : time of a step, one or (W,). lanes : numbers of the lanes; 0 .. W - 1 if not given. fine : deviates summed in
    an increment: h and fine both doubled is the same Brownian path at half the resolution.
    Raises ValueError for shapes that do not fit, and RowError for a method that the noise does not allow.
    """
    start = np.array(states, dtype=float)
    d = system.drift.dimension
    if start.ndim != 2 or len(start) != d or not start.size:
        raise ValueError(f"{system.id}: a block needs states {(d, 'W')}, not {start.shape}")
    width = start.shape[1]
    own = np.repeat(np.array([*system.drift.parameters.values()], dtype=float)[:, None], width, axis=1)
    given = own if parameters is None else np.array(parameters, dtype=float)
    if given.shape != own.shape:
        raise ValueError(f"{system.id}: a block needs parameters {own.shape}, not {given.shape}")
    numbers = checked_lanes(np.arange(width) if lanes is None else lanes)
    if len(numbers) != width:
        raise ValueError(f"{system.id}: {len(numbers)} numbers for {width} lanes")
    if k not in (0, 1):
        raise ValueError(f"{system.id}: {k} deviations asked for; with noise there is one, or none")
    if system.drift.discrete and (fine != 1 or np.any(np.asarray(h) != 1.0)):
        raise ValueError(f"{system.id}: a map moves by whole iterates; h and fine are 1")
    if fine < 1:
        raise ValueError(f"{system.id}: an increment of {fine} deviates; at least 1 is needed")
    steps = np.broadcast_to(np.asarray(h, dtype=float), width).copy()
    if not (np.isfinite(steps).all() and (steps > 0).all()):
        raise ValueError(f"{system.id}: a step must be a time above 0")
    moving = NoisyBlock(
        system, k, np.zeros(d * (1 + k) * width), given.ravel(), np.broadcast_to(np.asarray(t, float), width).copy(),
        steps, checked_seed(seed), numbers, fine, 0, method, noise_step(system, k, method),
    )  # fmt: skip
    moving._shaped[:, 0] = start
    if k:
        vector = np.random.default_rng(seed).standard_normal(d)
        moving.deviations[:, 0] = (vector / np.linalg.norm(vector))[:, None]
    return moving


def noisy_run(moving: NoisyBlock, records: int, *, steps: int = 1) -> Run:
    """Move a block over `records` records of `steps` steps, as block.run does; the deviation is rescaled at each.

    A lane that ends keeps its last state and a growth of 0 from `kept` on: no NaN is in a result. A deviation that
    vanishes has the growth minus infinity, as that of a superstable orbit. `divergence` is not measured, and NaN.
    """
    d, width, radius = moving.system.drift.dimension, len(moving.t), escape_radius(moving.system.drift)
    growth, states = np.zeros((records, moving.k, width)), np.empty((records, d, width))
    status, kept = np.zeros(width, dtype=np.int64), np.full(width, records, dtype=np.int64)
    last = moving.states
    for r in range(records):
        moving.advance(steps)
        now = moving.states
        largest = np.abs(now).max(axis=0)
        ended = ~(largest <= radius)
        if moving.k:
            length, growth[r] = _rescaled(moving.deviations)
            ended |= ~np.isfinite(length)
        fresh = ended & (status == 0)
        status[fresh] = np.where(np.isfinite(largest[fresh]) & (largest[fresh] > radius), 1, 2)
        kept[fresh] = r
        growth[r][:, status > 0] = 0.0
        states[r] = last = np.where(status > 0, last, now)
    return Run(growth, states, moving.h * steps, tuple(STATUSES[s] for s in status), kept, np.full(width, np.nan))


def _rescaled(deviations: Array) -> tuple[Array, Array]:
    """The lengths (W,) of deviations (d, 1, W), which are made 1, and their logarithms (1, W)."""
    largest = np.abs(deviations).max(axis=(0, 1))
    scale = np.where(largest > 0, largest, 1.0)  # so that squares neither over- nor underflow
    with np.errstate(invalid="ignore", divide="ignore"):
        length = scale * np.sqrt(((deviations / scale) ** 2).sum(axis=(0, 1)))
        logarithm = np.log(length)
    usable = np.isfinite(length) & (length > 0)
    deviations[..., usable] /= length[usable]
    deviations[..., ~usable] = 0.0
    deviations[0, :, ~usable] = 1.0
    deviations[np.abs(deviations) < TINY] = 0.0
    return length, logarithm[None]


def brownian_path(seed: int, lanes: ArrayLike, steps: int, components: int, h: float) -> Array:
    """W at the end of every step of h, (steps, components, lanes): the path that a block with fine = 1 follows."""
    return np.cumsum(normals(seed, lanes, steps, components), axis=0) * math.sqrt(h)
