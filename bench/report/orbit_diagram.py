"""A sweep as a picture: orbit diagram, largest Lyapunov exponent below it, brackets marked in both."""

import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from labeling.sweeps import SweepResult

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


def orbit_diagram(result: SweepResult) -> bytes:
    """The PNG of a sweep: colours are regimes, grey bars are brackets."""
    name = result.sweep.parameter
    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(10, 7), sharex=True, height_ratios=(2, 1), layout="constrained"
        )
        for regime in dict.fromkeys(p.verdict.regime for p in result.points):
            group = [p for p in result.points if p.verdict.regime == regime]
            x = np.concatenate([np.full(len(p.orbit), p.params[name]) for p in group])
            above.plot(x, np.concatenate([p.orbit for p in group]), ",", color=COLOURS[regime], alpha=0.6)
            above.plot([], [], "s", color=COLOURS[regime], label=f"{regime.replace('_', ' ')} ({len(group)})")
        _exponents(below, result)
        for axis in (above, below):
            for bracket in result.brackets:
                axis.axvspan(bracket.lo, bracket.hi, color="black", alpha=0.35, linewidth=0.6)
        variable = next(iter(result.system.state))
        above.set_ylabel(f"{variable}, local maxima" if result.system.kind == "ode" else variable)
        above.set_title(f"{result.system.name}: {name} from {result.sweep.lo:g} to {result.sweep.hi:g}")
        above.legend(loc="upper left", fontsize=8, framealpha=0.9)
        below.set_ylabel("largest Lyapunov exponent")
        below.set_xlabel(f"{name}   ({len(result.brackets)} brackets marked)")
        below.set_xlim(result.sweep.lo, result.sweep.hi)
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=DPI, format="png", metadata={"Software": None})
        plt.close(figure)
    return buffer.getvalue()


def _exponents(axis: Axes, result: SweepResult) -> None:
    name = result.sweep.parameter
    figures = [(p, p.row["indicators"]["lyapunov_max"]) for p in result.points if p.row is not None]
    known = [(p, f) for p, f in figures if f["value"] is not None]
    x = np.array([p.params[name] for p, _ in known])
    y = np.array([f["value"] for _, f in known])
    error = np.array([f["error"] for _, f in known])
    axis.axhline(0.0, color="black", linewidth=0.6)
    axis.fill_between(x, y - error, y + error, color="#888888", alpha=0.4, linewidth=0)
    axis.scatter(x, y, s=3, c=[COLOURS[p.verdict.regime] for p, _ in known])
    if len(y):
        low = max(float(y.min()), -2 * max(float(y.max()), 0.1))
        axis.set_ylim(low - 0.05 * (float(y.max()) - low + 0.1), float(y.max()) + 0.05 * (float(y.max()) - low + 0.1))
