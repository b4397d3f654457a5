"""Windows narrower than a grid: sought where the largest exponent of chaos dips."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynamics.codegen import LANES
from dynamics.system import Sweep, System
from labeling.points import Point, judged_points
from labeling.settings import Settings
from labeling.workers import Workers

SPARSE = 16  # grid points to each dip that is looked at, the deepest first
DEEP = 0.05  # relative depth below the lower of its neighbours from which on a point is a dip
ORDERED = ("fixed_point", "periodic", "quasiperiodic")


def dips(points: Sequence[Point]) -> list[int]:
    """Grid points, in order, at which the exponent lies below those of both neighbours; all three are chaotic."""
    exponents = [_exponent(p) for p in points]
    depths = {
        i: (nearest - exponents[i]) / nearest
        for i in range(1, len(points) - 1)
        if (nearest := min(exponents[i - 1], exponents[i + 1])) > exponents[i] > 0.0
    }
    deepest = sorted((i for i in depths if depths[i] >= DEEP), key=lambda i: -depths[i])
    return sorted(deepest[: max(1, len(points) // SPARSE)])


def _exponent(point: Point) -> float:
    """The largest exponent of chaos; 0 of all else."""
    if not point.verdict.is_chaotic or point.row is None:
        return 0.0
    return float(point.row["indicators"]["lyapunov_max"]["value"] or 0.0)


def windows(system: System, sweep: Sweep, points: Sequence[Point], settings: Settings, workers: Workers) -> list[Point]:
    """Points in windows between grid points: LANES values about each dip are looked at briefly.

    Of volume-preserving systems and of noise, where order among chaos is no window, and of systems without a formula,
    whose points take seconds each, there are none.
    """
    if system.preserves_volume or system.noisy or not system.has_formula:
        return []
    grid = sweep.values
    about = [
        sweep.rounded(np.linspace(grid[i - 1], grid[i + 1], LANES + 2)[1:-1].tolist(), LANES) for i in dips(points)
    ]
    values = [{sweep.parameter: x} for part in about for x in part if x not in grid]
    brief = replace(settings, escalations=0)
    seen = judged_points(system, values, brief, workers, what="windows", rows=False)
    inside = [x for x, p in zip(values, seen, strict=True) if p.verdict.regime in ORDERED]
    found = judged_points(system, inside, settings, workers, what="windows, labels")
    return [p for p in found if p.verdict.regime in ORDERED]


def resolutions(sweep: Sweep) -> tuple[float, float]:
    """The narrowest window that no choice of the grid's place would have missed: anywhere, and about a dip."""
    return sweep.spacing, 2 * sweep.spacing / (LANES + 1)
