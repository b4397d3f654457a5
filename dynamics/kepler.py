"""Kepler's equation E - e sin E = M as a function of equations: kepler(M, e) is the one E that solves it, 0 <= e < 1.

E has no closed form, but the equation itself, differentiated, gives its derivatives: dE/dM = 1/(1 - e cos E) and
dE/de = sin E/(1 - e cos E). A rule that holds E has an exact Jacobian, therefore, and stays as short as it is written,
where the steps of an iteration, inserted into each other, would soon be more than bounds.MAX_SIZE.
"""

from typing import Any

import numpy as np
import sympy as sp


def eccentric_anomaly(mean: Any, eccentricity: Any) -> np.ndarray:
    """The solutions for numbers or arrays of them, in double precision; NaN where the eccentricity is not in [0, 1).

    For M in [0, pi] the equation's left side is convex in E up to pi, where it is not below M, so that Newton's steps
    from pi descend to the solution: they end where rounding stops them.
    """
    mean, eccentricity = np.broadcast_arrays(np.asarray(mean, float), np.asarray(eccentricity, float))
    known = (eccentricity >= 0.0) & (eccentricity < 1.0) & np.isfinite(mean)
    shape, whole = np.where(known, eccentricity, 0.0), np.where(known, mean, 0.0)
    turns = np.rint(whole / (2 * np.pi)) * (2 * np.pi)
    target = np.minimum(np.abs(whole - turns), np.pi)
    e, descends = np.full(mean.shape, np.pi), True
    while descends:
        lower = e - (e - shape * np.sin(e) - target) / (1.0 - shape * np.cos(e))
        descends = bool((lower < e).any())
        e = np.minimum(lower, e)
    return np.where(known, np.copysign(e, whole - turns) + turns, np.nan)


class kepler(sp.Function):
    """kepler(M, e) as SymPy knows it: real, with its derivatives, and with a value at numbers."""

    nargs = 2
    _imp_ = staticmethod(eccentric_anomaly)  # where SymPy's lambdify looks for it

    @classmethod
    def eval(cls, mean: sp.Expr, eccentricity: sp.Expr) -> sp.Expr | None:
        """M itself where e or M is 0, nothing where a number for e is not in [0, 1)."""
        if eccentricity.is_number and not 0 <= eccentricity < 1:
            return sp.nan
        return mean if mean.is_zero or eccentricity.is_zero else None

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """The derivative by M (1) or e (2)."""
        slope = 1 - self.args[1] * sp.cos(self)
        return (sp.S.One if argindex == 1 else sp.sin(self)) / slope

    def _eval_is_real(self) -> bool | None:
        return True if all(argument.is_extended_real for argument in self.args) else None

    def _eval_evalf(self, prec: int) -> sp.Expr | None:
        mean, eccentricity = (argument._eval_evalf(prec) for argument in self.args)
        if not (isinstance(mean, sp.Float) and isinstance(eccentricity, sp.Float)):
            return None
        e = sp.Float(eccentric_anomaly(float(mean), float(eccentricity)), precision=prec)
        for _ in range(prec.bit_length()):  # each of Newton's steps doubles the digits
            e -= (e - eccentricity * sp.sin(e) - mean) / (1 - eccentricity * sp.cos(e))
        return e
