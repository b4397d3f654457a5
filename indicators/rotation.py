"""How fast an orbit turns on a circle."""

import numpy as np
from numpy.typing import ArrayLike

from indicators.estimate import Estimate
from indicators.series import checked_series


def rotation_number(advance: ArrayLike, circumference: float) -> Estimate:
    """Mean of the advances (N,) of an angle per iterate, in turns: the rotation number of a map of the circle.

    The mean is taken with the bump weight exp(-1/(t (1 - t))), t in (0, 1), with which it converges faster than any
    power of N on a quasi-periodic orbit (Das, Saiki, Sander & Yorke 2017, Nonlinearity 30:4111, section 1.2). An
    advance is the rule's own, not taken back to one turn. The half-width is the change of the mean when the second half
    alone is taken, and at least rounding. Raises ValueError for fewer than 16 advances.
    """
    turns = checked_series(advance, 16) / circumference
    if not circumference > 0:
        raise ValueError(f"the circumference is {circumference}; it must be above 0")
    whole, half = _weighted(turns), _weighted(turns[len(turns) // 2 :])
    return Estimate(whole, max(abs(whole - half), 1e-16 * float(np.abs(turns).max())), "ok", {"values": len(turns)})


def _weighted(values: np.ndarray) -> float:
    t = (np.arange(len(values)) + 1) / (len(values) + 1)
    weight = np.exp(-1.0 / (t * (1.0 - t)))
    return float((weight * values).sum() / weight.sum())
