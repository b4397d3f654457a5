"""Running a block of delay systems: steps, Gram-Schmidt, records and how each lane ended."""

import math

import numpy as np
from numba import types

from dynamics.block import LN2, STATUSES, TINY, Run, escape_radius
from dynamics.codegen import LANES
from dynamics.delay import DelayBlock
from dynamics.delay_code import DELAY_STEP_TYPE
from dynamics.delay_frame import orthonormalise
from dynamics.kernel import kernel


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


_F1, _F2, _F3 = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]
_I1 = types.int64[::1]


@kernel(types.void(DELAY_STEP_TYPE, _F1, _F1, _F1, _F1, _F1, _I1, _I1, _F2, _F2, types.int64, types.int64, types.int64,
                   types.int64, types.float64, _F3, _F3, _I1, _I1))  # fmt: skip
def _run(step, R, M, P, t, h, lags, head, wn, wm, d, k, steps, renormalisations, radius, growth, states, status, kept):  # type: ignore[no-untyped-def]
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
                orthonormalise(R, M, wn, wm, head, d, k, factor, exponent)
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
