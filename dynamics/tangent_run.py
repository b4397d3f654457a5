"""One pass that keeps every deviation's own length beside the growth of the Gram-Schmidt directions.

After an interval the deviations are W = Q R, R upper triangular, and the next interval starts from Q. The product P of
all R carries the vectors that the pass began with: w_j(t) = Q(t) P e_j, so |w_j| is the length of column j of P, and
the volume of w_1 .. w_k is the product of the first k entries of its diagonal (Benettin, Galgani, Giorgilli & Strelcyn
1980, Meccanica 15:9, Eqs. 9-11). Columns are kept at length 1, with the logarithms of their lengths apart.
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import types

from dynamics.block import LN2, STATUSES, TINY, Array, Block, Run, escape_radius, look, tidy
from dynamics.codegen import LANES, STEP_TYPE
from dynamics.kernel import kernel


@dataclass(frozen=True)
class TangentRun(Run):
    """A Run, and the deviations that it began with.

    lengths (records, k, LANES): ln of their lengths at the end of a record, from 0 at the start; loss (LANES,): the
    largest factor by which a Gram-Schmidt shortened a vector that did not vanish, which magnifies rounding as much.
    """

    lengths: Array
    loss: Array


def tangent_run(moving: Block, records: int, *, steps: int = 1, between: int = 1) -> TangentRun:
    """Move a block over `records` records of `steps` steps, with a Gram-Schmidt at most every `between` steps.

    As block.run, in place; growth and states are bit for bit its own where the Gram-Schmidts are. The deviations must
    be orthonormal at the start, as `block` makes them. A record ends with a Gram-Schmidt, so that `between` above
    `steps` means `steps`. Where a Gram-Schmidt direction vanishes its growth is minus infinity, and so is the length of
    a deviation that does. Raises ValueError without deviations.
    """
    d, k = moving.system.dimension, moving.k
    if k == 0 or min(records, steps, between) < 1:
        raise ValueError(f"{moving.system.id}: {k} deviations, {records} records of {steps} steps, {between} between"
                         " Gram-Schmidts; each must be at least 1")  # fmt: skip
    growth, lengths = np.zeros((records, k, LANES)), np.zeros((records, k, LANES))
    states, loss = np.zeros((records, d, LANES)), np.ones(LANES)
    status, kept = np.zeros(LANES, dtype=np.int64), np.full(LANES, records, dtype=np.int64)
    moving.divergence_integral[:] = 0.0
    _tangent_run(
        moving.kernels.step, moving.data, moving.p, moving.t, moving.h, moving.periods, d, k, steps, between,
        escape_radius(moving.system), growth, lengths, states, loss, status, kept,
    )  # fmt: skip
    interval = moving.h * steps
    measured = not moving.system.discrete and k == d
    mean = moving.divergence_integral / (interval * records) if measured else np.full(LANES, np.nan)
    return TangentRun(growth, states, interval, tuple(STATUSES[s] for s in status), kept, mean, lengths, loss)


_F1, _F2, _F3 = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]
_I1, _I2 = types.int64[::1], types.int64[:, ::1]


@kernel(types.void(_F1, types.int64, types.int64, _F3, _F1))
def _factorise(S, d, k, R, loss):  # type: ignore[no-untyped-def]
    """Modified Gram-Schmidt in every lane, as in block, with R (k, k, LANES) kept."""
    for j in range(k):
        for q in range(j + 1):
            R[q, j] = 0.0
            for c in range(d):
                a, b = (c * (1 + k) + j + 1) * LANES, (c * (1 + k) + q + 1) * LANES
                for i in range(LANES):
                    R[q, j, i] += S[a + i] * S[b + i]
            if q < j:
                for c in range(d):
                    a, b = (c * (1 + k) + j + 1) * LANES, (c * (1 + k) + q + 1) * LANES
                    for i in range(LANES):
                        S[a + i] -= R[q, j, i] * S[b + i]
        for i in range(LANES):
            R[j, j, i] = math.sqrt(R[j, j, i])
            square = 0.0
            for q in range(j + 1):
                square += R[q, j, i] * R[q, j, i]
            if R[j, j, i] > 0.0:
                loss[i] = max(loss[i], math.sqrt(square) / R[j, j, i])
        for c in range(d):
            a = (c * (1 + k) + j + 1) * LANES
            for i in range(LANES):
                # a deviation that vanished (superstable orbit) is replaced by a unit vector; its factor stays 0
                x = S[a + i] / R[j, j, i] if R[j, j, i] != 0.0 else (1.0 if c == j else 0.0)
                S[a + i] = 0.0 if abs(x) < TINY else x


@kernel(types.void(_F3, _F3, types.int64, _F2, _F2))
def _carry(R, C, k, diagonal, length):  # type: ignore[no-untyped-def]
    """C becomes R C with columns of length 1; `diagonal` and `length` (k, LANES) are multiplied by R's and theirs."""
    for j in range(k):
        for q in range(j + 1):  # row q needs rows from q on, which are still the old ones
            for i in range(LANES):
                C[q, j, i] *= R[q, q, i]
            for m in range(q + 1, j + 1):
                for i in range(LANES):
                    C[q, j, i] += R[q, m, i] * C[m, j, i]
        for i in range(LANES):
            square = 0.0
            for q in range(j + 1):
                square += C[q, j, i] * C[q, j, i]
            norm = math.sqrt(square)
            diagonal[j, i] *= R[j, j, i]
            length[j, i] *= norm
            for q in range(j + 1):
                x = C[q, j, i] / norm if norm != 0.0 else 0.0
                C[q, j, i] = 0.0 if abs(x) < TINY else x


@kernel(types.void(_F2, _I2))
def _split(factor, exponent):  # type: ignore[no-untyped-def]
    """Move the exponent bits of factors out, so that products never over- or underflow and need few logarithms."""
    bits = factor.view(np.int64)
    for j in range(factor.shape[0]):
        for i in range(LANES):
            e = ((bits[j, i] >> 52) & 2047) - 1023
            if -1023 < e < 1024:
                exponent[j, i] += e
                bits[j, i] -= e << 52


@kernel(types.void(STEP_TYPE, _F1, _F1, _F1, _F1, _F1, types.int64, types.int64, types.int64, types.int64,
                   types.float64, _F3, _F3, _F3, _F1, _I1, _I1))  # fmt: skip
def _tangent_run(step, S, P, t, h, periods, d, k, steps, between, radius, growth, lengths, states, loss, status, kept):  # type: ignore[no-untyped-def]
    R, C = np.zeros((k, k, LANES)), np.zeros((k, k, LANES))
    diagonal, length = np.empty((k, LANES)), np.ones((k, LANES))
    of_diagonal, of_length = np.empty((k, LANES), dtype=np.int64), np.zeros((k, LANES), dtype=np.int64)
    for j in range(k):
        C[j, j] = 1.0
    for r in range(growth.shape[0]):
        diagonal[:] = 1.0
        of_diagonal[:] = 0
        left = steps
        while left > 0:
            step(S, P, t, h, min(between, left))
            left -= between
            tidy(S, t, periods, d, k)
            _factorise(S, d, k, R, loss)
            _carry(R, C, k, diagonal, length)
            _split(diagonal, of_diagonal)
            _split(length, of_length)
        for j in range(k):
            for i in range(LANES):
                growth[r, j, i] = math.log(diagonal[j, i]) + of_diagonal[j, i] * LN2
                lengths[r, j, i] = math.log(length[j, i]) + of_length[j, i] * LN2
        look(S, d, k, radius, r, states, status, kept)
