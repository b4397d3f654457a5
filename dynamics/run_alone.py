"""One orbit, where sixteen lanes would be many times the work; of many variables with its deviations.

The deviations stand side by side in the rows of one array (d, 1 + k), column 0 the state, and loops run over them.
"""

import math

import numpy as np
from numba import types

from dynamics.block import TINY, Array, _frame, escape_radius
from dynamics.codegen import STEP_TYPE, kernels
from dynamics.kernel import kernel
from dynamics.system import System


class Alone:
    """One lane: state (d,), parameters (n,), k random orthonormal deviations, moved in place by fixed steps h.

    `period` is the forcing period by which time may be taken back.
    """

    def __init__(self, system: System, state: Array, parameters: Array, k: int, *, h: float, t: float = 0.0,
                 period: float = math.inf, seed: int = 0, method: str = "dp5") -> None:  # fmt: skip
        d = system.dimension
        self.system, self.k = system, k
        self.data = np.zeros(d * (1 + k) + 1)
        shaped = self.data[:-1].reshape(d, 1 + k)
        shaped[:, 0] = state
        shaped[:, 1:] = _frame(d, seed)[:, :k]
        self.p, self.t, self.h = np.array(parameters, dtype=float), np.array([t]), np.array([h])
        self.periods = np.array([period])
        self.step = kernels(system, k, method, lanes=1).step

    @property
    def state(self) -> Array:
        """The state (d,); a copy."""
        return self.data[: -1 : 1 + self.k].copy()

    def advance(self, steps: int) -> None:
        """Move by `steps` iterations or steps of h."""
        self.step(self.data, self.p, self.t, self.h, steps)

    def run(self, records: int, *, steps: int, renormalisations: int) -> tuple[Array, float]:
        """Growth (records, k) as block.run's, and the mean divergence of a flow with k = d; NaN where it blew up."""
        growth = np.zeros((records, self.k))
        self.data[-1] = 0.0
        fine = _run_alone(
            self.step, self.data, self.p, self.t, self.h, self.system.dimension, self.k, steps, renormalisations,
            escape_radius(self.system), growth,
        )  # fmt: skip
        mean = self.data[-1] / (records * renormalisations * steps * self.h[0])
        return (growth if fine else np.full_like(growth, np.nan)), float(mean)


_F1, _F2, _N = types.float64[::1], types.float64[:, ::1], types.int64


@kernel(types.void(_F1, _N, _N, _F1, _F1), fastmath=frozenset({"contract", "reassoc", "nsz"}))
def _orthonormalise_alone(S, d, k, length, dot):  # type: ignore[no-untyped-def]
    """Modified Gram-Schmidt by rows: of each column in turn, what later ones have of it is taken away from all."""
    for q in range(k):
        square = 0.0
        for c in range(d):
            x = S[c * (1 + k) + q + 1]
            square += x * x
        length[q] = math.sqrt(square)
        for c in range(d):
            # a deviation that vanished (superstable orbit) is replaced by a unit vector; its length stays 0
            S[c * (1 + k) + q + 1] = (
                S[c * (1 + k) + q + 1] / length[q] if length[q] != 0.0 else (1.0 if c == q else 0.0)
            )
        rest = k - q - 1
        dot[:rest] = 0.0
        for c in range(d):
            x, at = S[c * (1 + k) + q + 1], c * (1 + k) + q + 2
            for j in range(rest):
                dot[j] += x * S[at + j]
        for c in range(d):
            x, at = S[c * (1 + k) + q + 1], c * (1 + k) + q + 2
            for j in range(rest):
                S[at + j] -= x * dot[j]


@kernel(types.boolean(STEP_TYPE, _F1, _F1, _F1, _F1, _N, _N, _N, _N, types.float64, _F2))
def _run_alone(step, S, P, t, h, d, k, steps, renormalisations, radius, growth):  # type: ignore[no-untyped-def]
    length, dot = np.empty(max(k, 1)), np.empty(max(k, 1))
    for r in range(growth.shape[0]):
        for _ in range(renormalisations):
            step(S, P, t, h, steps)
            for e in range(S.size - 1):
                if abs(S[e]) < TINY:
                    S[e] = 0.0
            if k:
                _orthonormalise_alone(S, d, k, length, dot)
            for j in range(k):
                growth[r, j] += math.log(length[j])
        for c in range(d):
            if not abs(S[c * (1 + k)]) <= radius:
                return False
    return True
