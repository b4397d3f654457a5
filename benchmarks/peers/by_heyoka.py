"""heyoka, which has no exponents of its own, driven as fast as it goes.

State and deviations are one system of a batch of lanes, compiled once and copied for the other batches; between
renormalisations, which are those of all lanes at once, its own compiled loop moves each batch. The intervals of the
grid are the longest with which the sum of its exponents is the mean divergence to 1e-5 (measured: 6e-6 for an interval
of 1 on both flows, 5e-2 for 2 on Rössler's); beyond, what the deviations have shrunk against the largest is lost to a
tolerance that knows only the largest. Batches of 8 are faster here than of 4 or 16, and fast_math, which ours has too,
than without.
"""

import copy
from collections.abc import Callable
from typing import Any

import heyoka
import numpy as np

from benchmarks import inputs
from benchmarks.peers.systems import FLOWS

D = 3


def equations(name: str, k: int) -> list[Any]:
    u = heyoka.make_vars("x", "y", "z")
    f = FLOWS[name](*u, heyoka.par[0])
    rows = list(zip(u, f, strict=True))
    for j in range(k):
        w = heyoka.make_vars(*(f"w{j}{c}" for c in range(D)))
        rows += [
            (w[c], heyoka.sum([heyoka.diff(f[c], x) * y for x, y in zip(u, w, strict=True)])) for c in range(D)
        ]  # fmt: skip
    return rows


def flow(
    name: str, grid: list[float], at: int, k: int, length: float, transient: float, tolerance: float, batch: int,
    interval: float,
) -> Callable[[], Any]:  # fmt: skip
    values = inputs.grid(*grid)
    batches = -(-values.size // batch)
    padded = np.resize(values, batches * batch).reshape(batches, batch)
    first = heyoka.taylor_adaptive_batch(
        equations(name, k), np.ones((D * (1 + k), batch)), tol=tolerance, fast_math=True
    )
    moving = [first, *(copy.deepcopy(first) for _ in range(batches - 1))]
    columns = [slice(b * batch, (b + 1) * batch) for b in range(batches)]
    frame = np.linalg.qr(np.random.default_rng(0).normal(size=(D, D)))[0][:, :k].T.reshape(-1, 1)

    def run() -> dict[str, float]:
        both = np.empty((D * (1 + k), batches * batch))
        total = np.zeros((k, batches * batch))
        for one, p in zip(moving, padded, strict=True):
            one.set_time(0.0)
            one.pars[:] = p
            one.state[:D] = 1.0
            one.state[D:] = frame
        for m in range(round((transient + length) / interval)):
            end = (m + 1) * interval
            for one, column in zip(moving, columns, strict=True):
                one.propagate_until(end)
                both[:, column] = one.state
            logs = orthonormalised(both[D:].reshape(k, D, -1))
            if end > transient + interval / 2:
                total += logs
            for one, column in zip(moving, columns, strict=True):
                one.state[D:] = both[D:, column]
        return inputs.named(total[:, at] / length)

    return run


def orthonormalised(w: Any) -> Any:
    """Gram-Schmidt of the deviations w (k, D, lanes), in place; the logarithms of their growth (k, lanes)."""
    size = np.empty((len(w), w.shape[2]))
    for j, v in enumerate(w):
        for earlier in w[:j]:
            v -= (earlier * v).sum(axis=0) * earlier
        size[j] = np.sqrt((v * v).sum(axis=0))
        v /= size[j]
    return np.log(size)
