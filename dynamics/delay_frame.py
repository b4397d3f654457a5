"""Gram-Schmidt for deviations that are history segments, in lanes."""

import math

import numpy as np
from numba import types

from dynamics.codegen import LANES
from dynamics.kernel import kernel

_F1, _F2 = types.float64[::1], types.float64[:, ::1]
_I1, _I2 = types.int64[::1], types.int64[:, ::1]


@kernel(types.void(_F1, _F1, _F2, _F2, _I1, types.int64, types.int64, _F2, _I2))
def orthonormalise(R, M, at_nodes, at_middles, head, d, k, factor, exponent):  # type: ignore[no-untyped-def]
    """Modified Gram-Schmidt of history segments in every lane; lengths go into `factor` and `exponent` as in block.

    R, M : rings as in delay_code, flat; at_nodes, at_middles : (N, LANES), weights of the inner product by age in
    steps, 0 where nothing is read any more; head : (1,), slot of the present; factor, exponent : (k, LANES).
    """
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
