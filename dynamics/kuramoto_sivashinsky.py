"""Kuramoto-Sivashinsky on a circle of length L: u_t = -u u_x - u_xx - u_xxxx, in Fourier modes, by ETDRK4.

The state is the real and imaginary parts of the modes 1..M, a1 b1 a2 b2 .., with

    u(x) = sum over m of 2 Re((a_m + i b_m) exp(i q_m x)),   q_m = 2 pi m / L.

The mean of u is conserved and can be moved to 0 by u(x, t) -> c + u(x - c t, t); it is no part of the state, so no
rounding can turn it into a zero exponent of its own. The product u u_x is formed on N = 3 M + 1 points, the fewest on
which no mode up to M is touched by aliasing (the 2/3 rule: N = 64 for M = 21).

For N of a hundred or less, over lanes, plain sums beat a fast Fourier transform: a transform is 2 M N / 2 vector
operations without a call or a shuffle, while an FFT library moves one lane at a time.
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
LENGTH = 32.0  # the benchmark's; L = 22 with M = 21 is that of Cvitanovic, Davidchack & Siminos 2010
MODES = 31  # 94 points; the last mode is 1e-8 of the largest at L = 32, and 2e-5 with M = 21
STEP = 0.1
TRANSIENT = 3000.0  # at L = 32 a chaotic transient of up to 2,000 comes before a steady state
CONTOUR = 32  # points on the upper half of the unit circle about h lambda
NAME = "kuramoto_sivashinsky"


def kuramoto_sivashinsky(length: float = LENGTH, modes: int = MODES) -> System:
    """The row: parameter L, state a1 b1 .. aM bM, from u = cos y (1 + sin y), y = 2 pi x/L (Kassam & Trefethen 2005).

    That start is neither odd nor even, so it lies in no invariant subspace.
    """
    if modes < 2:
        raise ValueError(f"{modes} mode(s) are too few; at least 2 are needed for a quadratic term")
    names = [f"{part}{m}" for m in range(1, modes + 1) for part in "ab"]
    start = dict.fromkeys(names, 0.0) | {"a1": 0.5, "b2": -0.25}
    return System(
        NAME, "pde", start, {"L": length}, (f"spatial:{NAME}",), {}, {}, dict.fromkeys(names, (-1.0, 1.0)), (),
        "Kuramoto-Sivashinsky equation", "Kassam & Trefethen 2005, SIAM J. Sci. Comput. 26:1214", transient=TRANSIENT,
    )  # fmt: skip


def divergence(length: float, modes: int) -> float:
    """The rate at which volume in the space of the modes grows, everywhere: the nonlinear term has no divergence."""
    return float(2 * rates(length, modes).sum())


def field_values(states: Array) -> Array:
    """u at the N points x = j L/N, (N, lanes), from modes (2 M, lanes)."""
    points = 3 * len(states) // 2 + 1
    modes = np.zeros((points // 2 + 1, states.shape[1]), dtype=complex)
    modes[1 : len(states) // 2 + 1] = states[0::2] + 1j * states[1::2]
    return np.fft.irfft(modes, points, axis=0) * points


def field_modes(values: Array, modes: int = MODES) -> Array:
    """Modes (2 M, lanes) of u given at equally spaced points (n, lanes); the mean and what is finer are left out."""
    found = np.fft.rfft(values, axis=0)[1 : modes + 1] / len(values)
    if len(found) < modes or len(values) < 2 * modes + 1:
        raise ValueError(f"{len(values)} points do not resolve {modes} modes; at least {2 * modes + 1} are needed")
    states = np.empty((2 * modes, values.shape[1]))
    states[0::2], states[1::2] = found.real, found.imag
    return states


def rates(length: float, modes: int = MODES) -> Array:
    """The linear growth rates q^2 - q^4 of the modes 1..M, (M,)."""
    q = 2 * np.pi * np.arange(1, modes + 1) / length
    return q**2 - q**4


_F2 = types.float64[:, ::1]


@kernel(types.void(types.float64, types.float64, _F2, types.int64))
def coefficients(rate, h, out, i):  # type: ignore[no-untyped-def]
    """The six numbers of an ETDRK4 step for one mode into out[:, i]: exp(z), exp(z/2), Q, f1, f2, f3 with z = h rate.

    Cox & Matthews 2002, J. Comput. Phys. 176:430, Eqs. 26-29, whose closed forms cancel near z = 0; they are means
    over a circle about z (Kassam & Trefethen 2005, Sec. 3; real parts, since z is real and half the circle will do).
    """
    z = h * rate
    Q, f1, f2, f3 = 0.0, 0.0, 0.0, 0.0
    for j in range(CONTOUR):
        angle = math.pi * (j + 0.5) / CONTOUR
        r = complex(z + math.cos(angle), math.sin(angle))
        size = math.exp(r.real)
        e = complex(size * math.cos(r.imag), size * math.sin(r.imag))
        root = math.exp(r.real / 2)
        half = complex(root * math.cos(r.imag / 2), root * math.sin(r.imag / 2))
        Q += ((half - 1.0) / r).real
        cube = r * r * r
        f1 += ((-4.0 - r + e * (4.0 - 3.0 * r + r * r)) / cube).real
        f2 += ((2.0 + r + e * (r - 2.0)) / cube).real
        f3 += ((-4.0 - 3.0 * r - r * r + e * (4.0 - r)) / cube).real
    out[0, i], out[1, i] = math.exp(z), math.exp(z / 2)
    out[2, i], out[3, i] = h * Q / CONTOUR, h * f1 / CONTOUR
    out[4, i], out[5, i] = h * f2 / CONTOUR, h * f3 / CONTOUR


@cache
def step_kernel(modes: int) -> Callable[..., None]:
    """step(S, P, t, h, n) for this number of modes and any number of deviations, laid out as in codegen; P holds L."""
    M, N = modes, 3 * modes + 1
    D, HALF, W = 2 * modes, (3 * modes + 1) // 2 + 1, LANES
    angles = 2 * np.pi * (np.outer(np.arange(HALF), np.arange(1, M + 1)) % N) / N
    COS, SIN = np.cos(angles), np.sin(angles)
    policy: dict[str, Any] = {"group": NAME, "source": f"{SOURCES} {modes} modes"}  # what the closures below hold

    @kernel(types.void(types.float64[::1], types.int64, types.int64, _F2), **policy)
    def to_points(S, column, width, u):  # type: ignore[no-untyped-def]
        """A column of modes as values on the points; j and N - j share the cosine sum and the sine sum."""
        even, odd = np.empty(W), np.empty(W)
        for j in range(HALF):
            even[:] = 0.0
            odd[:] = 0.0
            for m in range(M):
                c, s = 2.0 * COS[j, m], 2.0 * SIN[j, m]
                a, b = (2 * m * width + column) * W, ((2 * m + 1) * width + column) * W
                for i in range(W):
                    even[i] += c * S[a + i]
                    odd[i] -= s * S[b + i]
            mirror = (N - j) % N
            for i in range(W):
                u[mirror, i] = even[i] - odd[i]
                u[j, i] = even[i] + odd[i]

    @kernel(types.void(_F2, _F2, _F2, types.float64, types.float64[::1], types.int64, types.int64), **policy)
    def convected(u, v, q, factor, out, column, width):  # type: ignore[no-untyped-def]
        """Modes of -factor d/dx (u v) into a column; q (M, W) are the wave numbers."""
        plus, minus, x, y = np.empty((HALF, W)), np.empty((HALF, W)), np.empty(W), np.empty(W)
        for j in range(HALF):
            mirror = (N - j) % N
            once = 0.5 if mirror == j else 1.0
            for i in range(W):
                here, there = u[j, i] * v[j, i], u[mirror, i] * v[mirror, i]
                plus[j, i] = once * (here + there)
                minus[j, i] = here - there
        for m in range(M):
            x[:] = 0.0
            y[:] = 0.0
            for j in range(HALF):
                c, s = COS[j, m], SIN[j, m]
                for i in range(W):
                    x[i] += c * plus[j, i]
                    y[i] -= s * minus[j, i]
            a, b = (2 * m * width + column) * W, ((2 * m + 1) * width + column) * W
            for i in range(W):
                scale = factor * q[m, i] / N
                out[a + i] = scale * y[i]
                out[b + i] = -scale * x[i]

    @kernel(types.void(types.float64[::1], types.float64[::1], types.int64, _F2, _F2, _F2), **policy)
    def nonlinear(out, S, width, q, u, v):  # type: ignore[no-untyped-def]
        """-u u_x of the state and -(u v)_x of every deviation v."""
        to_points(S, 0, width, u)
        convected(u, u, q, 0.5, out, 0, width)
        for j in range(1, width):
            to_points(S, j, width, v)
            convected(u, v, q, 1.0, out, j, width)

    @kernel(STEP_SIGNATURE, **policy)
    def step(S, P, t, h, n):  # type: ignore[no-untyped-def]
        width = (S.shape[0] // W - 1) // D
        size = D * width * W
        q, trace = np.empty((M, W)), np.zeros(W)
        table = np.empty((M, 6, W))
        for i in range(W):
            for m in range(M):
                q[m, i] = 2.0 * math.pi * (m + 1) / P[i]
                rate = q[m, i] ** 2 - q[m, i] ** 4
                trace[i] += 2.0 * rate
                if i > 0 and P[i] == P[0] and h[i] == h[0]:  # as a rule all lanes share them
                    for e in range(6):
                        table[m, e, i] = table[m, e, 0]
                else:
                    coefficients(rate, h[i], table[m], i)
        u, v = np.empty((N, W)), np.empty((N, W))
        n0, na, nb, nc = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
        a, b = np.empty(size), np.empty(size)
        rows = 2 * width  # of one mode: real and imaginary part of every column
        for _ in range(n):
            nonlinear(n0, S, width, q, u, v)
            for m in range(M):
                for r in range(m * rows, (m + 1) * rows):
                    for i in range(W):
                        a[r * W + i] = table[m, 1, i] * S[r * W + i] + table[m, 2, i] * n0[r * W + i]
            nonlinear(na, a, width, q, u, v)
            for m in range(M):
                for r in range(m * rows, (m + 1) * rows):
                    for i in range(W):
                        b[r * W + i] = table[m, 1, i] * S[r * W + i] + table[m, 2, i] * na[r * W + i]
            nonlinear(nb, b, width, q, u, v)
            for m in range(M):
                for r in range(m * rows, (m + 1) * rows):
                    for i in range(W):
                        e = r * W + i
                        b[e] = table[m, 1, i] * a[e] + table[m, 2, i] * (2.0 * nb[e] - n0[e])
            nonlinear(nc, b, width, q, u, v)
            for m in range(M):
                for r in range(m * rows, (m + 1) * rows):
                    for i in range(W):
                        e = r * W + i
                        S[e] = (table[m, 0, i] * S[e] + table[m, 3, i] * n0[e]
                                + 2.0 * table[m, 4, i] * (na[e] + nb[e]) + table[m, 5, i] * nc[e])  # fmt: skip
            for i in range(W):
                if width == D + 1:
                    # the quadratic term has no divergence at mean 0: mode m meets itself only through the mean
                    S[size + i] += h[i] * trace[i]
                t[i] += h[i]

    return cast(Callable[..., None], step)
