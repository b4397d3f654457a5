"""Parameters r of the logistic map r x (1 - x) at which the orbit of the critical point 1/2 is known exactly.

Where it lands on a repelling fixed point or 2-cycle, the map has an absolutely continuous invariant measure of positive
exponent (Misiurewicz 1981, Publ. Math. IHES 53:17); where it returns to 1/2, that cycle attracts almost every start
(Singer 1978, SIAM J. Appl. Math. 35:260). Both are roots of polynomials in r.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

LOWEST, HIGHEST = 3.6, 4.0
GRID = 2**19  # places where signs are compared; iterate 8 has its closest roots 1e-4 apart
CLOSEST = 1e-12  # roots this close are one

Function = Callable[[float], float]


def misiurewicz(longest: int) -> list[float]:
    """All r in (3.6, 4] whose iterate f^k(1/2), 2 <= k <= longest, is the first to lie on a fixed point or 2-cycle.

    The first to land on a point is the image of its other preimage, 1 minus the point's own predecessor on the cycle:
    so the roots of f^(k-1)(1/2) = 1/r, for the fixed point 1 - 1/r, and of the like for the cycle are sought, which
    shorter landings do not share. The fixed point 0 is met through 1 at r = 4 alone. At r > 3.45 all of these repel.
    """
    targets: list[Function] = [lambda r: 1 / r, lambda r: 1 - two_cycle(r)[0], lambda r: 1 - two_cycle(r)[1]]
    found = [HIGHEST] if longest >= 2 else []
    for target in targets:
        for k in range(2, longest + 1):
            found += roots(lambda r, k=k, target=target: iterate(r, k - 1) - target(r))  # type: ignore[misc]
    return distinct(found)


def superstable(period: int) -> list[float]:
    """All r in (3.6, 4) at which 1/2 lies on a cycle of this least period."""
    found = roots(lambda r: iterate(r, period) - 0.5)
    shorter = [q for q in range(1, period) if period % q == 0]
    return distinct([r for r in found if all(abs(iterate(r, q) - 0.5) > 1e-6 for q in shorter)])


def iterate(r: float, k: int) -> float:
    """f^k(1/2); r may be an array."""
    x = 0.5 + 0.0 * r
    for _ in range(k):
        x = r * x * (1 - x)
    return x


def two_cycle(r: float) -> tuple[float, float]:
    """The two points of the cycle of period 2, which exists for r > 3; r may be an array."""
    apart = np.sqrt((r - 3) * (r + 1))
    return (1 + r + apart) / (2 * r), (1 + r - apart) / (2 * r)


def roots(g: Function) -> list[float]:
    """Sign changes of a continuous function between LOWEST and HIGHEST, to the last digits."""
    grid = np.linspace(LOWEST, HIGHEST, GRID + 1)
    signs = np.sign(g(grid))  # type: ignore[arg-type]
    changes = np.flatnonzero(signs[:-1] * signs[1:] < 0)
    at = [float(brentq(g, grid[i], grid[i + 1], xtol=1e-15, rtol=1e-15)) for i in changes]
    return at + [float(r) for r in grid[signs == 0]]


def distinct(found: list[float]) -> list[float]:
    """The roots in ascending order, each once."""
    out: list[float] = []
    for r in sorted(found):
        if not out or r - out[-1] > CLOSEST:
            out.append(r)
    return out
