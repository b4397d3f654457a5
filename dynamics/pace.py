"""Fixed steps for many lanes of a flow at which the local error of states and deviations stays below a tolerance."""

import numpy as np

from dynamics.block import Array
from dynamics.codegen import LANES
from dynamics.settle import slope
from dynamics.sweep_run import Blocks, blocks, run_blocks
from dynamics.system import System
from dynamics.tableaux import TABLEAUX

PROBES = 64  # states of the path at which the error of a step is measured
FIRST = 0.1  # of the inverse of the Jacobian's norm: the step that a search begins with
SAFETY = 0.8
CHANGE = (0.1, 8.0)  # by which a step is changed at most
EARLY = 0.1  # of the transient, from which the first probes are taken


def paced(
    system: System,
    states: Array,
    parameters: Array,
    periods: Array,
    k: int,
    *,
    transient: float,
    tolerance: float,
    method: str,
) -> tuple[Array, Array, Array]:
    """States (1, d, LANES), times and steps (1, LANES) of one block after a transient, dropped at those steps.

    The local error of a step h is what two steps h/2 differ by from it (Hairer, Norsett & Wanner 1993, section II.4),
    in the maximum norm, relative to the state's norm and to each deviation's. Taken at PROBES states of the path, it
    decides h once near the beginning and once more, to shorten it, on what the transient has passed.
    """
    jacobian = slope(system, states[0], parameters[0])[1]
    norm = np.sqrt((np.where(np.isfinite(jacobian), jacobian, 0.0) ** 2).sum(axis=(0, 1)))
    h = (FIRST / np.maximum(norm, FIRST / transient))[None]
    moving = blocks(system, states, parameters, 0, h=h, periods=periods, method=method)
    path = _path(moving, EARLY * transient)
    for _ in range(2):
        h = h * np.clip(_change(system, path, parameters, k, h, tolerance, method), *CHANGE)
    following = blocks(system, moving.states, parameters, 0, h=h, t=moving.t, periods=periods, method=method)
    path = _path(following, transient)
    h = h * np.clip(_change(system, path, parameters, k, h, tolerance, method), CHANGE[0], 1.0)
    return following.states, following.t, h


def _path(moving: Blocks, duration: float) -> Array:
    steps = max(1, int(np.ceil(duration / float(moving.h.min()) / PROBES)))
    path = np.empty((1, PROBES, moving.system.dimension, LANES))
    run_blocks(moving, PROBES, steps=steps, path=path)
    return path[0]


def _change(system: System, path: Array, parameters: Array, k: int, h: Array, tolerance: float, method: str) -> Array:
    """The factor (1, LANES) by which h may grow, or has to shrink, for the largest error along a path (n, d, LANES)."""
    order = TABLEAUX[method].order
    same = np.broadcast_to(parameters, (len(path), *parameters.shape[1:]))
    ends = []
    for n in (1, 2):
        trial = blocks(system, path, same, k, h=h / n, method=method)
        for one in range(len(path)):
            trial.step(trial.data[one], trial.p[one], trial.t[one], trial.h[one], n)
        ends.append(trial.data[:, :-LANES].reshape(len(path), system.dimension, 1 + k, LANES))
    apart = np.abs(ends[0] - ends[1]).max(axis=1)
    size = np.maximum(np.abs(ends[1]).max(axis=1), 1e-300)
    error = (apart / size).max(axis=1) / (1.0 - 2.0**-order)
    worst = np.where(np.isfinite(error), error, 0.0).max(axis=0)
    return SAFETY * (tolerance / np.maximum(worst, 1e-30))[None] ** (1.0 / (order + 1))
