"""Many blocks of one system moved by one call, in as many threads as asked for: sweeps and ensembles."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numba import types
from numpy.typing import NDArray

from dynamics.block import Array, _frame, _run, escape_radius
from dynamics.codegen import LANES, STEP_TYPE, kernels
from dynamics.kernel import kernel
from dynamics.system import System

T = TypeVar("T")


@dataclass
class Blocks:
    """B blocks in one array each: data (B, size) as laid out in codegen, p (B, n*LANES), t and h (B, LANES)."""

    system: System
    k: int
    data: Array
    p: Array
    t: Array
    h: Array
    periods: Array
    step: Callable[..., None]

    @property
    def states(self) -> Array:
        """The states, (B, d, LANES); a copy."""
        return _shaped(self.data, self.system.dimension, self.k)[:, :, 0].copy()

    @property
    def divergence_integral(self) -> Array:
        """Integral of the divergence along each lane, (B, LANES), gathered while k = d; a view."""
        return self.data[:, -LANES:]


def blocks(
    system: System,
    states: Array,
    parameters: Array,
    k: int,
    *,
    h: Array | float,
    t: Array | float = 0.0,
    periods: Array | float = np.inf,
    seed: int = 0,
    method: str = "dp5",
) -> Blocks:
    """Blocks from states (B, d, LANES) and parameters (B, n, LANES), with the k random deviations that `block` has."""
    count, d, _ = states.shape
    data = np.zeros((count, (d * (1 + k) + 1) * LANES))
    shaped = _shaped(data, d, k)
    shaped[:, :, 0] = states
    if k:
        shaped[:, :, 1:] = _frame(d, seed)[None, :, :k, None]
    flat = np.ascontiguousarray(parameters, dtype=float).reshape(count, -1)
    t, h, periods = (np.array(np.broadcast_to(x, (count, LANES)), dtype=float, order="C") for x in (t, h, periods))
    return Blocks(system, k, data, flat, t, h, periods, kernels(system, k, method).step)


def run_blocks(
    moving: Blocks, records: int, *, steps: int = 1, renormalisations: int = 1, path: Array | None = None
) -> tuple[Array, NDArray[np.int64]]:
    """As `run`, over all blocks, in place: growth and places in STATUSES, (B, LANES).

    `path` (B, records, d, LANES) takes the states at the ends of the records.
    """
    count, d, k = len(moving.data), moving.system.dimension, moving.k
    growth: Array = np.zeros((count, records, k, LANES))
    status: NDArray[np.int64] = np.zeros((count, LANES), dtype=np.int64)
    moving.divergence_integral[:] = 0.0
    _run_blocks(
        moving.step, moving.data, moving.p, moving.t, moving.h, moving.periods, d, k, steps, renormalisations,
        escape_radius(moving.system), growth, np.empty((0, 0, 0, 0)) if path is None else path, status,
    )  # fmt: skip
    return growth, status


def in_threads(work: Callable[[slice], T], count: int, each: int, threads: int) -> Sequence[T]:
    """work(part) for parts of up to `each` of `count` items, in order; kernels let go of Python's lock."""
    parts = [slice(i, min(i + each, count)) for i in range(0, count, each)]
    if threads == 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, parts))


def _shaped(data: Array, d: int, k: int) -> Array:
    return data[:, : d * (1 + k) * LANES].reshape(len(data), d, 1 + k, LANES)


_F2, _F4, _I2, _N = types.float64[:, ::1], types.float64[:, :, :, ::1], types.int64[:, ::1], types.int64


@kernel(types.void(STEP_TYPE, _F2, _F2, _F2, _F2, _F2, _N, _N, _N, _N, types.float64, _F4, _F4, _I2))
def _run_blocks(step, S, P, t, h, periods, d, k, steps, renormalisations, radius, growth, path, status):  # type: ignore[no-untyped-def]
    records = growth.shape[1]
    states = np.empty((records, d, LANES))
    kept = np.empty(LANES, dtype=np.int64)
    for b in range(S.shape[0]):
        kept[:] = records
        _run(step, S[b], P[b], t[b], h[b], periods[b], d, k, steps, renormalisations, radius, growth[b], states,
             status[b], kept)  # fmt: skip
        if path.shape[0] > 0:
            path[b] = states
