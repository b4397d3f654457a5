"""A grid over one parameter: every point labelled, neighbours compared, thresholds bracketed."""

from dataclasses import dataclass

from dynamics.system import Sweep, System
from labeling.labels import Row, attractor
from labeling.points import Point, judged_points
from labeling.settings import Settings
from labeling.thresholds import Bracket, thresholds
from labeling.windows import resolutions, windows
from labeling.workers import Workers


@dataclass(frozen=True)
class SweepResult:
    """All points of a sweep in order, and the brackets between them.

    Beside the grid's, the points hold one or more of every narrower window that was found; see labeling.windows.
    """

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
    points += windows(system, sweep, points, settings, workers)
    points.sort(key=lambda p: p.params[sweep.parameter])
    brackets, known = thresholds(system, sweep, points, settings, workers)
    for n, point in enumerate(points):
        if point.row is not None:
            point.row["attractors"] = [
                attractor(other.version, other.verdict, known.share(n, other)) for other in known.lists[n]
            ]
    return SweepResult(system, sweep, points, brackets)


def sweep_row(result: SweepResult, provenance: Row) -> Row:
    """One row of sweeps.jsonl: the grid, the windows found beside it, and the smallest it would have seen."""
    s, sweep = result.system, result.sweep
    anywhere, at_dips = resolutions(sweep)
    grid = {*sweep.values}
    return {
        "system_id": s.id,
        "parameter": sweep.parameter,
        "params": {name: value for name, value in s.parameters.items() if name != sweep.parameter},
        "lo": sweep.lo,
        "hi": sweep.hi,
        "points": sweep.points,
        "in_windows": [x for p in result.points if (x := p.params[sweep.parameter]) not in grid],
        "smallest_window": anywhere,
        "smallest_window_at_dips": at_dips,
        "brackets": len(result.brackets),
        "provenance": provenance,
    }


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
