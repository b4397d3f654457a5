"""On which side the cycle of a Hopf bifurcation lies: the first Lyapunov coefficient."""

from typing import Literal

import numpy as np
import sympy as sp

from dynamics.block import Array
from dynamics.equations import symbol
from dynamics.system import System

DEGENERATE = 1e-6  # of the size of its terms, below which the coefficient counts as zero


def hopf_kind(
    system: System, point: Array
) -> Literal["hopf_supercritical", "hopf_subcritical", "hopf_degenerate", "unclassified"]:
    """The kind of Hopf bifurcation of an equilibrium (d,) with a pair of eigenvalues near +- i omega.

    l1 = Re[<p, C(q, q, q*)> - 2 <p, B(q, A^-1 B(q, q*))> + <p, B(q*, (2 i w - A)^-1 B(q, q))>] / 2 w, with A q = i w q,
    A^T p = -i w p, <p, q> = 1 (Kuznetsov 2004, Elements of Applied Bifurcation Theory, Eq. 3.20 and section 5.4).
    Negative: a stable cycle is born (supercritical); positive: an unstable one shrinks upon the equilibrium.
    """
    a, quadratic, cubic = _derivatives(system, point)
    values, right = np.linalg.eig(a)
    pair = [i for i in range(len(values)) if values[i].imag > 1e-9 * np.abs(values).max()]
    if not pair:
        return "unclassified"
    i = min(pair, key=lambda n: abs(values[n].real))
    omega = float(values[i].imag)
    q = right[:, i] / np.linalg.norm(right[:, i])
    left_values, left = np.linalg.eig(a.T)
    p = left[:, int(np.argmin(np.abs(left_values + 1j * omega)))]
    p = p / np.conj(np.vdot(p, q))

    def b(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(np.einsum("ijk,j,k->i", quadratic, x, y))

    third = np.vdot(p, np.einsum("ijkl,j,k,l->i", cubic, q, q, q.conj()))
    slow = -2 * np.vdot(p, b(q, np.linalg.solve(a, b(q, q.conj()))))
    fast = np.vdot(p, b(q.conj(), np.linalg.solve(2j * omega * np.eye(len(a)) - a, b(q, q))))
    size = abs(third) + abs(slow) + abs(fast)
    total = (third + slow + fast).real
    if abs(total) <= DEGENERATE * max(size, np.abs(a).max()):
        return "hopf_degenerate"
    return "hopf_supercritical" if total < 0 else "hopf_subcritical"


def _derivatives(system: System, point: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    here = {symbol(n): v for n, v in system.parameters.items()} | dict(zip(system.variables, point, strict=True))
    x, d = system.variables, system.dimension
    a, b, c = np.zeros((d, d)), np.zeros((d,) * 3), np.zeros((d,) * 4)
    for i in range(d):
        for j in range(d):
            first = system.jacobian[i, j]
            a[i, j] = float(first.subs(here))
            for k in range(d):
                second = sp.diff(first, x[k])
                b[i, j, k] = float(second.subs(here))
                for m in range(d):
                    c[i, j, k, m] = float(sp.diff(second, x[m]).subs(here))
    return a, b, c
