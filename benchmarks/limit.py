"""The limit that arithmetic sets: what a core can do in 256-bit fused multiply-adds, and how many a sweep needs.

The first is measured here, by chains of multiply-adds that do not wait for one another: 64 numbers are sixteen
registers of four, enough for two units with a latency of four cycles each. The second is counted, by sending numbers
that remember through the formulas: a product that goes into a sum costs nothing beside it. Loads, stores,
renormalisation and the choice of a step are left out; so is the deviation in the transient, which a code may leave out
too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

CHAINS = 64
ROUNDS = 2_000_000
LANES_OF_REGISTER = 4
CHAIN_INSTRUCTIONS = ROUNDS * CHAINS / LANES_OF_REGISTER


def chains() -> Callable[[], float]:
    """The call that makes CHAIN_INSTRUCTIONS multiply-adds of four lanes; RuntimeError if it makes none."""
    import numpy as np
    from numba import njit, types

    signature = types.void(types.float64[::1], types.float64, types.float64, types.int64)

    @njit(signature, error_model="numpy", fastmath={"contract"})
    def run(s: Any, a: float, b: float, n: int) -> None:
        for _ in range(n):
            for i in range(CHAINS):
                s[i] = s[i] * a + b

    assembly = "".join(run.inspect_asm().values()).splitlines()
    if not any("vfmadd" in line and "ymm" in line for line in assembly):
        raise RuntimeError("the compiler makes no 256-bit multiply-adds here")
    s = np.linspace(0.0, 1.0, CHAINS)

    def call() -> float:
        run(s, 0.999999, 1e-7, ROUNDS)
        return float(s.sum())

    return call


# --- Counting


class Count:
    """How many instructions there were so far."""

    def __init__(self) -> None:
        self.total = 0

    def number(self) -> Number:
        return Number(self, False)


class Number:
    """Remembers whether it is a product that no sum has taken up yet."""

    def __init__(self, count: Count, product: bool) -> None:
        self.count, self.product = count, product

    def __mul__(self, other: Number | float) -> Number:
        self.count.total += 1
        return Number(self.count, True)

    def __add__(self, other: Number | float) -> Number:
        for one in (self, other):
            if isinstance(one, Number) and one.product:
                one.product = False
                return Number(self.count, False)
        self.count.total += 1
        return Number(self.count, False)

    __rmul__ = __mul__
    __radd__ = __sub__ = __rsub__ = __add__


Rule = Callable[[list[Number]], list[Number]]


def rk4(rule: Rule, dimension: int) -> int:
    """Instructions of a classical Runge-Kutta step of `dimension` numbers; h/2, h/6 and h/3 are known before."""
    count = Count()
    u = [count.number() for _ in range(dimension)]
    slopes: list[list[Number]] = []
    for stage in range(4):
        at = u if stage == 0 else [x + k * 0.5 for x, k in zip(u, slopes[-1], strict=True)]
        slopes.append(rule(at))
    for stage in slopes:
        u = [x + k * 0.5 for x, k in zip(u, stage, strict=True)]
    return count.total


def lorenz(u: Sequence[Number]) -> list[Number]:
    x, y, z = u
    return [10.0 * (y - x), x * (28.0 - z) - y, x * y - 2.0 * z]


def lorenz_tangent(u: Sequence[Number]) -> list[Number]:
    x, y, z, a, b, c = u
    shared = 28.0 - z
    return [
        10.0 * (y - x), x * shared - y, x * y - 2.0 * z,
        10.0 * (b - a), a * shared - b - x * c, a * y + x * b - 2.0 * c,
    ]  # fmt: skip


def lorenz_sweep(points: int, length: float, transient: float, step: float) -> float:
    """Instructions of four lanes for the largest exponent over `points` parameters."""
    lane = rk4(lorenz_tangent, 6) * length / step + rk4(lorenz, 3) * transient / step
    return points * lane / LANES_OF_REGISTER


def logistic_sweep(points: int, length: int, transient: int) -> float:
    """Two for the map, x - x*x times r, and two more for the factor r - 2r*x and the product of those."""
    return points * (4 * length + 2 * transient) / LANES_OF_REGISTER
