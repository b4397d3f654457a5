"""A grid over one parameter: every point labelled, neighbours compared, thresholds bracketed."""

from dataclasses import dataclass

from dynamics.system import Sweep, System
from labeling.points import Point, judged_points
from labeling.settings import Settings
from labeling.thresholds import Bracket, thresholds
from labeling.workers import Workers


@dataclass(frozen=True)
class SweepResult:
    """All points of a sweep in order, and the brackets between them."""

    system: System
    sweep: Sweep
    points: list[Point]
    brackets: list[Bracket]


def swept(
    system: System, sweep: Sweep, settings: Settings | None = None, workers: Workers | None = None
) -> SweepResult:
    """Label every point of a grid and bracket what changes between neighbours.

    The result is the same bit for bit for any number of processes.
    """
    settings, workers = settings or Settings(), workers or Workers()
    points = judged_points(system, [{sweep.parameter: value} for value in sweep.values], settings, workers)
    brackets, known = thresholds(system, sweep, points, settings, workers)
    for point, others in zip(points, known.lists, strict=True):
        if point.row is not None:
            point.row["attractors"] = [other.attractor for other in others]
    return SweepResult(system, sweep, points, brackets)


@dataclass(frozen=True)
class MapResult:
    """All points of a grid over two parameters, the first one's values in order for each value of the second."""

    system: System
    first: Sweep
    second: Sweep
    points: list[Point]


def mapped(
    system: System, first: Sweep, second: Sweep, settings: Settings | None = None, workers: Workers | None = None
) -> MapResult:
    """Label every point of a grid over two parameters: a map of regimes, without brackets.

    The result is the same bit for bit for any number of processes.
    """
    values = [{first.parameter: a, second.parameter: b} for b in second.values for a in first.values]
    points = judged_points(system, values, settings or Settings(), workers or Workers())
    return MapResult(system, first, second, points)
