"""Runge-Kutta methods as arrays: a method is a table, an order and a citation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853, RK45


@dataclass(frozen=True)
class Tableau:
    """Stage weights A (s, s), solution weights b (s,) and nodes c (s,) of an explicit method of the stated order."""

    name: str
    order: int
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    c: NDArray[np.float64]
    citation: str

    @property
    def stages(self) -> int:
        """Number of evaluations of the rule per step."""
        return len(self.b)


RK4 = Tableau(
    "rk4",
    4,
    np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0]], dtype=float),
    np.array([1, 2, 2, 1]) / 6,
    np.array([0, 0.5, 0.5, 1]),
    "Kutta 1901, Z. Math. Phys. 46:435",
)

# SciPy keeps the published coefficients; `error` weighs the stages and the rule at the new point, `dense` gives the
# quartic interpolant of Shampine 1986 (Math. Comp. 46:135).
DP5 = Tableau(
    "dp5",
    5,
    np.hstack([RK45.A, np.zeros((6, 1))]),
    RK45.B,
    RK45.C,
    "Dormand & Prince 1980, J. Comput. Appl. Math. 6:19, RK5(4)7M",
)
DP5_ERROR: NDArray[np.float64] = RK45.E
DP5_DENSE: NDArray[np.float64] = RK45.P

RK8 = Tableau(
    "dop853",
    8,
    DOP853.A,
    DOP853.B,
    DOP853.C,
    "Hairer, Norsett & Wanner 1993, Solving Ordinary Differential Equations I, section II.5: DOP853",
)

TABLEAUX = {tableau.name: tableau for tableau in (RK4, DP5, RK8)}
