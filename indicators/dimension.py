"""Fractal dimensions of an invariant set."""

import numpy as np

from indicators.estimate import Estimate, without_value


def kaplan_yorke_dimension(spectrum: Estimate) -> Estimate:
    """The Kaplan-Yorke dimension j + (l_1 + .. + l_j)/|l_j+1|, j the largest number of exponents with a sum >= 0.

    Kaplan & Yorke 1979, Lect. Notes Math. 730:204. 0 for a stable fixed point or map cycle, 1 for a limit cycle, d
    where no exponent makes the sum negative (a volume-preserving set). Exponents within their interval of 0 count as 0.
    The half-width is the range of the formula over the exponents' intervals, shifted one after another.
    """
    if spectrum.value is None or spectrum.error is None:
        return without_value("undefined", "no Lyapunov spectrum to take a dimension of")
    values, errors = np.atleast_1d(spectrum.value), np.atleast_1d(spectrum.error)
    centred = np.where(np.abs(values) <= errors, 0.0, values)
    centre = _formula(centred)
    shifts = 0.0
    for i in np.flatnonzero(centred):
        ends = [_formula(centred + sign * errors[i] * (np.arange(len(values)) == i)) for sign in (-1, 1)]
        shifts += max(abs(end - centre) for end in ends) ** 2
    return Estimate(centre, float(np.sqrt(shifts)), spectrum.status, {"exponents": centred.tolist()})


def _formula(exponents: np.ndarray) -> float:
    ordered = np.sort(exponents)[::-1]
    sums = np.cumsum(ordered)
    j = int(np.sum(sums >= -1e-12 * np.abs(ordered).max(initial=1e-300)))
    if j == len(ordered):
        return float(j)
    return float(j + (sums[j - 1] if j else 0.0) / abs(ordered[j]))
