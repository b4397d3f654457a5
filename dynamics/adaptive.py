"""Adaptive Runge-Kutta over lanes: every lane has its own time and step, and none disturbs another's orbit.

The step is chosen from the error of the state alone, so an orbit is the same with and without deviations.
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import types
from numpy.typing import NDArray

from dynamics.block import STATUSES, TINY, Array, Block, RunStatus, escape_radius
from dynamics.codegen import LANES, RULE_TYPE
from dynamics.kernel import kernel
from dynamics.tableaux import DP5, DP5_DENSE, DP5_ERROR

MAX_ATTEMPTS = 400_000  # steps tried by a lane before the run is called stalled
STALLED = STATUSES.index("stalled")
SMALLEST_STEP = 1e-13  # relative to the time reached: below, time no longer moves


@dataclass(frozen=True)
class AdaptiveRun:
    """Where each lane ended, the smallest step it accepted, and the states at the asked times.

    samples (n, d, LANES): state at start + (m + 1)*every, by the pair's own interpolant; NaN after a lane has ended.
    `unfinished` (LANES,): the lane stalled for no other reason than that its steps are many.
    """

    status: tuple[RunStatus, ...]
    smallest_step: Array
    samples: Array
    unfinished: NDArray[np.bool_]


def adaptive_run(
    moving: Block,
    duration: Array | float,
    *,
    rtol: float = 1e-9,
    atol: Array | float = 1e-9,
    samples: int = 0,
) -> AdaptiveRun:
    """Integrate every lane of a flow over `duration` by Dormand-Prince 5(4), in place.

    `atol` is a scalar or one value per state variable. With `samples` = n the state is returned at n equal times, the
    last of them the end. A lane that leaves every bound, blows up or cannot step on ends with a status; no NaN enters
    its last state.
    """
    if moving.kernels.rule is None:
        raise ValueError(f"{moving.system.id} is a map; it is iterated, not integrated")
    d = moving.system.dimension
    end = moving.t + np.broadcast_to(np.asarray(duration, dtype=float), LANES)
    out = np.full((samples, d, LANES), np.nan)
    status = np.zeros(LANES, dtype=np.int64)
    smallest = np.full(LANES, np.inf)
    tolerance = np.broadcast_to(np.asarray(atol, dtype=float), d).copy()
    _adaptive(
        moving.kernels.rule, moving.data, moving.p, moving.t, moving.h, d, moving.k, end, DP5.a, DP5.b, DP5.c,
        DP5_ERROR, DP5_DENSE, rtol, tolerance, escape_radius(moving.system), out, status, smallest,
    )  # fmt: skip
    small = moving.h < SMALLEST_STEP * np.maximum(np.abs(moving.t), 1e-3)
    return AdaptiveRun(tuple(STATUSES[s] for s in status), smallest, out, (status == STALLED) & ~small)


_F1, _F2, _F3, _I1 = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1], types.int64[::1]
_N, _X = types.int64, types.float64


@kernel(types.void(_F1, _F1, _F2, _F1, _N, _F1, _N))
def _combine(out, S, slope, weights, count, step, size):  # type: ignore[no-untyped-def]
    for at in range(0, size, LANES):
        for i in range(LANES):
            out[at + i] = 0.0
        for s in range(count):
            w = weights[s]
            if w != 0.0:
                for i in range(LANES):
                    out[at + i] += w * slope[s, at + i]
        for i in range(LANES):
            out[at + i] = S[at + i] + step[i] * out[at + i]


@kernel(types.void(_F1, _F1, _F2, _F2, _F3, _I1, _N, _N, _N, _X, _X, _X, _X))
def _accept(S, new, slope, dense, samples, taken, i, d, k, t, step, start, end):  # type: ignore[no-untyped-def]
    """Write the samples that lie in this step, then move lane i to its end."""
    n = samples.shape[0]
    while taken[i] < n:
        moment = start + (end - start) * (taken[i] + 1) / n
        x = (moment - t) / step
        if x > 1.0 + 1e-12:
            break
        for j in range(d):
            at = j * (1 + k) * LANES + i
            total = 0.0
            for s in range(dense.shape[0]):
                weight = 0.0
                for q in range(dense.shape[1] - 1, -1, -1):
                    weight = (weight + dense[s, q]) * x
                total += weight * slope[s, at]
            samples[taken[i], j, i] = S[at] + step * total
        taken[i] += 1
    for j in range(d * (1 + k)):
        x = new[j * LANES + i]
        S[j * LANES + i] = 0.0 if abs(x) < TINY else x


@kernel(types.void(RULE_TYPE, _F1, _F1, _F1, _F1, _N, _N, _F1, _F2, _F1, _F1, _F1, _F2, _X, _F1, _X, _F3, _I1, _F1))
def _adaptive(  # type: ignore[no-untyped-def]
    rule, S, P, t, h, d, k, end, a, b, c, e, dense, rtol, atol, radius, samples, status, smallest
):
    stages = b.shape[0]
    size = d * (1 + k) * LANES
    slope = np.zeros((stages + 1, S.shape[0]))
    stage, new = S.copy(), S.copy()
    step, time = np.zeros(LANES), np.zeros(LANES)
    start = t.copy()
    taken = np.zeros(LANES, dtype=np.int64)
    for _ in range(MAX_ATTEMPTS):
        active = 0
        for i in range(LANES):
            step[i] = 0.0
            if status[i] == 0 and t[i] < end[i]:
                active += 1
                step[i] = min(h[i], end[i] - t[i])
        if active == 0:
            return
        rule(slope[0], S, P, t)
        for s in range(1, stages):
            _combine(stage, S, slope, a[s], s, step, size)
            for i in range(LANES):
                time[i] = t[i] + c[s] * step[i]
            rule(slope[s], stage, P, time)
        _combine(new, S, slope, b, stages, step, size)
        for i in range(LANES):
            time[i] = t[i] + step[i]
        rule(slope[stages], new, P, time)
        for i in range(LANES):
            if step[i] == 0.0:
                continue
            total = 0.0
            for j in range(d):
                at = j * (1 + k) * LANES + i
                error = 0.0
                for s in range(stages + 1):
                    error += e[s] * slope[s, at]
                total += (step[i] * error / (atol[j] + rtol * max(abs(S[at]), abs(new[at])))) ** 2
            norm = math.sqrt(total / d)
            if norm <= 1.0:
                _accept(S, new, slope, dense, samples, taken, i, d, k, t[i], step[i], start[i], end[i])
                whole = step[i] == h[i]
                t[i] = end[i] if step[i] == end[i] - t[i] else t[i] + step[i]
                if whole:
                    smallest[i] = min(smallest[i], step[i])
                    h[i] *= 5.0 if norm == 0.0 else min(5.0, max(0.2, 0.9 * norm**-0.2))
                for j in range(d):
                    if not abs(S[j * (1 + k) * LANES + i]) <= radius:
                        status[i] = 1
            else:
                h[i] = step[i] * (max(0.2, 0.9 * norm**-0.2) if math.isfinite(norm) else 0.2)
                if h[i] < SMALLEST_STEP * max(abs(t[i]), 1e-3):
                    status[i] = 3
    for i in range(LANES):
        if status[i] == 0 and t[i] < end[i]:
            status[i] = 3
