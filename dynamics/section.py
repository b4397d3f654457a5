"""A flow seen once per turn: the local maxima of one variable, which are a Poincare section of their own."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from dynamics.block import Array, Block
from dynamics.codegen import STEP_TYPE
from dynamics.kernel import kernel
from dynamics.run_alone import Alone


def local_maxima(moving: Block | Alone, component: NDArray[np.int64], steps: int, capacity: int) -> list[Array]:
    """The first `capacity` local maxima of variable component[i] in every lane i over `steps` steps, in place.

    It ends earlier where every lane has as many.

    Values come from the parabola through the three steps around a maximum, whose error is of fourth order in the step.
    """
    lanes, k = len(moving.t), moving.k
    values = np.zeros((lanes, capacity))
    count = np.zeros(lanes, dtype=np.int64)
    _maxima(
        moving.step, moving.data, moving.p, moving.t, moving.h, moving.periods, k, component, steps, values, count
    )  # fmt: skip
    return [values[i, : count[i]].copy() for i in range(lanes)]


_F1, _F2, _I1, _N = types.float64[::1], types.float64[:, ::1], types.int64[::1], types.int64


@kernel(types.void(STEP_TYPE, _F1, _F1, _F1, _F1, _F1, _N, _I1, _N, _F2, _I1))
def _maxima(step, S, P, t, h, periods, k, component, steps, values, count):  # type: ignore[no-untyped-def]
    lanes = t.size
    before, now = np.empty(lanes), np.empty(lanes)
    for i in range(lanes):
        now[i] = S[component[i] * (1 + k) * lanes + i]
        before[i] = np.inf
    for m in range(steps):
        if m % 4096 == 0 and count.min() >= values.shape[1]:
            break
        step(S, P, t, h, 1)
        for i in range(lanes):
            if t[i] >= periods[i]:
                t[i] -= periods[i]
            x = S[component[i] * (1 + k) * lanes + i]
            if now[i] > before[i] and now[i] >= x and count[i] < values.shape[1]:
                bend = before[i] - 2.0 * now[i] + x
                values[i, count[i]] = now[i] - (before[i] - x) ** 2 / (8.0 * bend)
                count[i] += 1
            before[i] = now[i]
            now[i] = x
