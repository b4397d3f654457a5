"""Rest and periodicity of orbits that no formula moves, by the return of the whole orbit to itself.

Delay equations and fields have no Newton here. A cycle is said to be one where the orbit, over all of its last stretch,
is after one period where it was, so closely that no torus or weak chaos would be, and no less closely than before.
"""

import numpy as np
from scipy.interpolate import CubicSpline

from labeling.evidence import Evidence
from labeling.other_kinds import maxima_of
from labeling.verdict import Stability, Verdict

MOST_TURNS = 64  # maxima of the widest variable within a period
ALIKE = 1e-4  # of the extent: largest distance, over one stretch, between an orbit and itself a period later
NEARER = 1.5  # times the distance of the stretch before it, which it must not exceed
SETTLED = 1e-9  # of the extent, below which distances are those of the spline and of rounding
STRETCH = 4  # periods, or the longest delay if that is longer
REST = 1e-6  # of the size of the state, over the series' last tenth


def returning(e: Evidence) -> Verdict | None:
    """The rest or cycle of an orbit of a delay equation or field; None where it does not return.

    Attracting where the exponents that belong to neither time nor a symmetry are below 0, else neutral.
    """
    tail = e.series[-max(8, len(e.series) // 10) :]
    if np.ptp(tail, axis=0).max() <= REST * e.scale:
        return Verdict("fixed_point", None, None, _stability(e, neutral=0), evidence={"point": tail[-1].tolist()})
    widest = int(np.argmax(e.extent))
    turns = maxima_of(e.series[:, widest])
    curve = CubicSpline(np.arange(len(e.series)), e.series)
    for m in range(1, min(MOST_TURNS, len(turns) // (2 * STRETCH + 2)) + 1):
        period = float(turns[-1] - turns[-1 - m])
        stretch = max(STRETCH * period, e.system.longest_delay / e.series_step)
        if turns[-1] < 2 * stretch + 2 * period:
            break
        last, before = (_distance(e, curve, end, period, stretch) for end in (turns[-1], turns[-1] - stretch - period))
        if last <= ALIKE and last <= max(NEARER * before, SETTLED):
            time = period * e.series_step
            evidence = {"returns_within": last, "returned_within": before, "turns": m, "section_points": m}
            return Verdict("periodic", None, time, _stability(e, neutral=1), evidence=evidence)
    return None


def _distance(e: Evidence, curve: CubicSpline, end: float, period: float, stretch: float) -> float:
    """The largest distance between the orbit up to `end` and itself one period earlier, in extents."""
    times = np.linspace(end - stretch, end, 2 * int(stretch) + 8)
    return float(np.abs(curve(times) - curve(times - period)).max() / max(float(e.extent.max()), 1e-300))


def _stability(e: Evidence, neutral: int) -> Stability:
    """Attracting if, beyond `neutral` zero exponents of its own, all are below 0 by their intervals."""
    if e.spectrum.value is None:
        return "neutral"
    values, halves = (np.atleast_1d(np.asarray(x, dtype=float))
                      for x in (e.spectrum.value, e.spectrum.evidence["error_999"]))  # fmt: skip
    rest = [v + h < 0.0 for v, h in zip(values[neutral:], halves[neutral:], strict=True)]
    return "attracting" if rest and all(rest) else "neutral"
