"""Sine-Gordon on a circle of length L: u_tt - u_xx + sin u = 0, spectral in space and symplectic in time.

The state is u and v = u_t at N equally spaced points, u1 .. uN v1 .. vN. The second derivative is that of the
trigonometric interpolant, a symmetric circulant matrix D2, so the N points are a Hamiltonian system of their own,

    H = L/N sum (v^2/2 - u D2 u/2 + 1 - cos u),

for which a composition of leapfrogs is symplectic: H oscillates by O(h^order) and does not drift.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
from numba import types
from numpy.typing import NDArray

from dynamics.codegen import LANES, STEP_SIGNATURE
from dynamics.kernel import SOURCES, kernel
from dynamics.system import System

Array = NDArray[np.float64]
LENGTH = 40.0
POINTS = 128
STEP = 0.1
FREQUENCY = 0.8  # of the breather that the row starts from: 1.2e-5 high where its tails meet
NAME = "sine_gordon"
_S = 1 / (4 - 4 ** (1 / 3))
COMPOSITIONS: dict[int, tuple[float, ...]] = {  # order: leapfrogs, in units of the step
    2: (1.0,),  # Stoermer-Verlet
    4: (_S, _S, 1 - 4 * _S, _S, _S),  # Suzuki 1990, Phys. Lett. A 146:319
}
ORDER = 4


def sine_gordon(length: float = LENGTH, points: int = POINTS, frequency: float = FREQUENCY) -> System:
    """The row: parameter L, state u1 .. uN v1 .. vN, from a breather in the middle at its widest swing."""
    if points < 4 or points % 2:
        raise ValueError(f"{points} points; an even number of at least 4 is needed")
    names = [f"{part}{j}" for part in "uv" for j in range(1, points + 1)]
    u = breather(grid(length, points) - length / 2, 0.0, frequency)
    start = dict(zip(names, [*u.tolist(), *[0.0] * points], strict=True))
    box = dict.fromkeys(names, (-2 * math.pi, 2 * math.pi))
    return System(
        NAME, "pde", start, {"L": length}, (f"spatial:{NAME}",), {}, {}, box, (), "Sine-Gordon equation",
        "Ablowitz, Kaup, Newell & Segur 1973, Phys. Rev. Lett. 30:1262", transient=0.0,
    )  # fmt: skip


def grid(length: float, points: int) -> Array:
    """The points x = j L/N, (N,)."""
    return np.linspace(0.0, length, points, endpoint=False)


def breather(x: Array, t: float, frequency: float) -> Array:
    """4 atan(e cos(w t) / (w cosh(e x))) with e = sqrt(1 - w^2), 0 < w < 1: exact on the infinite line.

    On a circle it is exact but for the height of its tails where they meet, of order exp(-e L/2).
    """
    if not 0.0 < frequency < 1.0:
        raise ValueError(f"a breather's frequency is {frequency}; it must be above 0 and below 1")
    decay = math.sqrt(1 - frequency**2)
    height = decay * math.cos(frequency * t) / frequency
    return np.asarray(4 * np.arctan(height / np.cosh(decay * x)), dtype=np.float64)


def energy(states: Array, length: float) -> Array:
    """H of every lane, (lanes,), for states (2 N, lanes): what the discretised flow conserves exactly."""
    n = len(states) // 2
    u, v = states[:n], states[n:]
    modes = np.abs(np.fft.rfft(u, axis=0)) ** 2 * (2 * np.pi / length * np.arange(n // 2 + 1)[:, None]) ** 2
    weight = np.full(n // 2 + 1, 2.0)
    weight[[0, -1]] = 1.0
    strain = (weight[:, None] * modes).sum(axis=0) / n  # sum of u_x^2, by Parseval
    return np.asarray((np.sum(v**2 / 2 + 1 - np.cos(u), axis=0) + strain / 2) * length / n)


def longest_step(length: float, points: int, order: int = ORDER) -> float:
    """The step from which the fastest wave, of frequency sqrt(1 + (pi N/L)^2), is unstable in the largest leapfrog."""
    return 2 / math.sqrt(1 + (math.pi * points / length) ** 2) / max(map(abs, COMPOSITIONS[order]))


@cache
def step_kernel(points: int, order: int = ORDER) -> Callable[..., None]:
    """step(S, P, t, h, n) for this number of points and any number of deviations, laid out as in codegen; P holds L."""
    N, D, W, HALF = points, 2 * points, LANES, points // 2
    WEIGHTS = np.array(COMPOSITIONS[order])
    # second derivative of the periodic sinc, times (L/2 pi)^2 (Trefethen 2000, Spectral Methods in MATLAB, Eq. 3.12)
    s = np.arange(1, HALF + 1)
    D2 = np.concatenate([[-(N**2 + 2) / 12], -((-1.0) ** s) / (2 * np.sin(np.pi * s / N) ** 2)])
    policy: dict[str, Any] = {
        "group": NAME,
        "source": f"{SOURCES} {points} points, order {order}",
    }  # what the closures below hold

    @kernel(types.void(types.float64[::1], types.float64[::1], types.float64[::1], types.int64), **policy)
    def kick(S, scale, weight, width):  # type: ignore[no-untyped-def]
        """v += weight (u_xx - sin u), and its derivative for the deviations, which reads the state's u."""
        total, slope = np.empty(W), np.empty(W)
        for x in range(N):
            here = x * width * W
            for column in range(width):
                a = here + column * W
                for i in range(W):
                    total[i] = D2[0] * S[a + i]
                for r in range(1, HALF):
                    left, right = (((x + N - r) % N) * width + column) * W, (((x + r) % N) * width + column) * W
                    c = D2[r]
                    for i in range(W):
                        total[i] += c * (S[left + i] + S[right + i])
                left = (((x + HALF) % N) * width + column) * W
                out = ((N + x) * width + column) * W
                if column == 0:
                    for i in range(W):
                        slope[i] = math.cos(S[a + i]) if width > 1 else 0.0
                        force = scale[i] * (total[i] + D2[HALF] * S[left + i]) - math.sin(S[a + i])
                        S[out + i] += weight[i] * force
                else:
                    for i in range(W):
                        force = scale[i] * (total[i] + D2[HALF] * S[left + i]) - slope[i] * S[a + i]
                        S[out + i] += weight[i] * force

    @kernel(types.void(types.float64[::1], types.float64[::1], types.int64), **policy)
    def drift(S, weight, width):  # type: ignore[no-untyped-def]
        for r in range(N * width):
            for i in range(W):
                S[r * W + i] += weight[i] * S[(r + N * width) * W + i]

    @kernel(STEP_SIGNATURE, **policy)
    def step(S, P, t, h, n):  # type: ignore[no-untyped-def]
        width = (S.shape[0] // W - 1) // D
        scale, weight = np.empty(W), np.empty(W)
        for i in range(W):
            scale[i] = (2.0 * math.pi / P[i]) ** 2
        for _ in range(n):
            for s in range(WEIGHTS.shape[0] + 1):
                # half a drift, kick, half a drift; the half drifts of neighbours are one
                before = WEIGHTS[s - 1] if s > 0 else 0.0
                after = WEIGHTS[s] if s < WEIGHTS.shape[0] else 0.0
                for i in range(W):
                    weight[i] = h[i] * (before + after) / 2
                drift(S, weight, width)
                if s < WEIGHTS.shape[0]:
                    for i in range(W):
                        weight[i] = h[i] * after
                    kick(S, scale, weight, width)
            for i in range(W):
                t[i] += h[i]  # the divergence is 0, so nothing is gathered

    return cast(Callable[..., None], step)
