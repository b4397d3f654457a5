"""A sweep as a picture: orbit diagram, largest Lyapunov exponent below it, brackets marked in both."""

import io
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cache.key import key, source_digest
from cache.results import Results
from dynamics.block import Array
from labeling.sweeps import SweepResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "fixed_point": "#3b6fb6",
    "periodic": "#2a9d6f",
    "quasiperiodic": "#8a5fbf",
    "chaotic": "#c8452f",
    "hyperchaotic": "#7a1f12",
    "unbounded": "#555555",
    "stochastic": "#b07d2b",
    "undecided": "#e0a800",
}
DPI = 110
POINTS_WIDE = 650  # typographic points across the axes
FINE = 2.5  # points between neighbours of a grid, below which an orbit is drawn pixel by pixel
WIDTH = 0.6  # of the spacing: what a point of an orbit takes up on a coarser grid


def pictures(fresh: bool = False) -> Results:
    """Where pictures are kept: drawing takes longer than all else of a run that only reads what it knows."""
    identity = key(source_digest([Path(str(files("bench.report")))]), version("matplotlib"), version("numpy"))
    return Results(identity, "pictures", fresh)


@dataclass(frozen=True)
class Diagram:
    """What is drawn of a sweep: points of orbits, and exponents with their errors, by regime; brackets; texts.

    orbits : for each regime its grid points (m,), and (parameter, value) of every point of an orbit, (n, 2).
    exponents : (parameter, exponent, error) of the grid points that have one, (m, 3), and their regimes.
    """

    orbits: dict[str, tuple[Array, Array]]
    exponents: Array
    regimes: list[str]
    brackets: list[tuple[float, float]]
    ends: tuple[float, float]
    parameter: str
    variable: str
    title: str


def diagram(result: SweepResult) -> Diagram:
    """What is drawn of a sweep."""
    name, sweep = result.sweep.parameter, result.sweep
    orbits: dict[str, tuple[Array, Array]] = {}
    for regime in dict.fromkeys(p.verdict.regime for p in result.points):
        group = [p for p in result.points if p.verdict.regime == regime]
        x = np.concatenate([np.full(len(p.orbit), p.params[name]) for p in group])
        places = np.array([p.params[name] for p in group])
        orbits[regime] = places, np.column_stack([x, np.concatenate([p.orbit for p in group])])
    figures = [(p, p.row["indicators"]["lyapunov_max"]) for p in result.points if p.row is not None]
    known = [(p, f) for p, f in figures if f["value"] is not None]
    variable = next(iter(result.system.state))
    return Diagram(
        orbits,
        np.array([(p.params[name], f["value"], f["error"]) for p, f in known]).reshape(-1, 3),
        [p.verdict.regime for p, _ in known],
        [(bracket.lo, bracket.hi) for bracket in result.brackets],
        (sweep.lo, sweep.hi),
        name,
        f"{variable}, local maxima" if not result.system.discrete else variable,
        f"{result.system.name}: {name} from {sweep.lo:g} to {sweep.hi:g}",
    )


def orbit_diagram(drawn: Diagram) -> bytes:
    """The PNG of a sweep: colours are regimes, grey bars are brackets."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(10, 7), sharex=True, height_ratios=(2, 1), layout="constrained"
        )
        spacing = POINTS_WIDE / sum(len(places) for places, _ in drawn.orbits.values())
        for regime, (places, points) in drawn.orbits.items():
            mark = {"marker": "_", "markersize": WIDTH * spacing} if spacing > FINE else {"marker": ","}
            above.plot(points[:, 0], points[:, 1], color=COLOURS[regime], alpha=0.6, linestyle="", **mark)
            label = f"{regime.replace('_', ' ')} ({len(places)})"
            foot = above.get_xaxis_transform()  # a strip of regimes, which shows those without an orbit too
            above.plot(places, np.full(len(places), 0.012), "s", color=COLOURS[regime], label=label, markersize=3,
                       markeredgewidth=0, transform=foot)  # fmt: skip
        _exponents(below, drawn)
        for axis in (above, below):
            for lo, hi in drawn.brackets:
                axis.axvspan(lo, hi, color="black", alpha=0.35, linewidth=0.6)
        above.set_ylabel(drawn.variable)
        above.set_title(drawn.title)
        above.legend(loc="upper left", fontsize=8, framealpha=0.9, markerscale=2)
        below.set_ylabel("largest Lyapunov exponent")
        count = len(drawn.brackets)
        below.set_xlabel(f"{drawn.parameter}   ({count} {'bracket' if count == 1 else 'brackets'} marked)")
        below.set_xlim(*drawn.ends)
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=DPI, format="png", metadata={"Software": None})
        plt.close(figure)
    return buffer.getvalue()


def _exponents(axis: "Axes", drawn: Diagram) -> None:
    x, y, error = drawn.exponents.T
    axis.axhline(0.0, color="black", linewidth=0.6)
    axis.fill_between(x, y - error, y + error, color="#888888", alpha=0.4, linewidth=0)
    axis.scatter(x, y, s=3, c=[COLOURS[regime] for regime in drawn.regimes])
    if len(y):
        low = max(float(y.min()), -2 * max(float(y.max()), 0.1))
        axis.set_ylim(low - 0.05 * (float(y.max()) - low + 0.1), float(y.max()) + 0.05 * (float(y.max()) - low + 0.1))
