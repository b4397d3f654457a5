"""Regimes over two parameters as a picture."""

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.report.orbit_diagram import COLOURS, DPI
from labeling.sweeps import MapResult


@dataclass(frozen=True)
class Map:
    """What is drawn: regimes (n, m) as places in COLOURS, rows are values of the second parameter; ends; texts."""

    regimes: NDArray[np.int64]
    ends: tuple[float, float, float, float]
    parameters: tuple[str, str]
    title: str


def regimes_of(result: MapResult) -> Map:
    """What is drawn of a map."""
    a, b, names = result.first, result.second, [*COLOURS]
    places = np.array([names.index(p.verdict.regime) for p in result.points]).reshape(b.points, a.points)
    half = [0.5 * (s.hi - s.lo) / (s.points - 1) for s in (a, b)]
    ends = (a.lo - half[0], a.hi + half[0], b.lo - half[1], b.hi + half[1])
    return Map(places, ends, (a.parameter, b.parameter), f"{result.system.name}: regimes")


def regime_map(drawn: Map) -> bytes:
    """The PNG of a map: colours are regimes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    with plt.rc_context({"font.size": 9}):
        figure, axis = plt.subplots(figsize=(8, 6), layout="constrained")
        axis.imshow(
            drawn.regimes, origin="lower", extent=drawn.ends, aspect="auto", interpolation="nearest",
            cmap=ListedColormap([*COLOURS.values()]), vmin=-0.5, vmax=len(COLOURS) - 0.5,
        )  # fmt: skip
        for place, (regime, colour) in enumerate(COLOURS.items()):
            if count := int((drawn.regimes == place).sum()):
                axis.plot([], [], "s", color=colour, label=f"{regime.replace('_', ' ')} ({count})")
        axis.set_xlabel(drawn.parameters[0])
        axis.set_ylabel(drawn.parameters[1])
        axis.set_title(drawn.title)
        figure.legend(loc="outside lower center", ncols=4, fontsize=8, frameon=False)
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=DPI, format="png", metadata={"Software": None})
        plt.close(figure)
    return buffer.getvalue()
