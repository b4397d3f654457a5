"""The plots of a system's page, from its orbits and from the labels along its sweeps."""

from collections.abc import Mapping, Sequence

import numpy as np

from bench.report.orbits import Diagram, Growing, Portrait
from bench.report.page import Html
from bench.report.plots import Layer, Panel, bars, columns, dots, key, line, panel, plot, rule, spans
from dynamics.block import Array
from dynamics.system import System
from labeling.labels import Row

PANELS = 3  # variables of a portrait, the widest
NAMES = {"lyapunov_max": "largest Lyapunov exponent", "zero_one_k": "K of the 0-1 test", "megno_slope": "MEGNO slope",
         "permutation_entropy": "permutation entropy"}  # fmt: skip
TALL, FLAT = 360, 220  # pixels of an orbit diagram and of what stands below it


def portrait(system: System, seen: Portrait, regime: str) -> Html:
    """The orbit in phase space: the widest variables, the first of them against each of the others."""
    path = _on_circles(system, seen.path)
    if not len(path):
        return Html("<p>The orbit leaves every bound at once; there is nothing to draw.</p>")
    what = "The way from the stated initial condition" if seen.from_start else "The orbit after its transient"
    caption = f"{what}: {len(path)} states{'' if system.discrete else f', {seen.interval:.4g} of time apart'}."
    if len(seen.strobed):
        caption += " Large dots: once a forcing period."
    return plot(_portrait_panels(system, seen, path, regime, what), caption)


def _portrait_panels(system: System, seen: Portrait, path: Array, regime: str, what: str) -> list[Panel]:
    names = list(system.state)
    if len(names) == 1:
        return [_of_one_variable(system, seen, path[:, 0], regime, what)]
    widest = sorted(np.argsort(-np.ptp(path, axis=0), kind="stable")[:PANELS].tolist())
    strobed = _on_circles(system, seen.strobed)
    panels = []
    for other in widest[1:]:
        x, y = widest[0], other
        layers = [_drawn(system, path[:, x], path[:, y], regime, seen.from_start)]
        if len(strobed):
            layers.append(dots(strobed[:, x], strobed[:, y], "ink", 3.0))
        panels.append(panel(names[x], names[y], layers, f"{what} of {system.name}: {names[y]} against {names[x]}."))
    return panels


def _of_one_variable(system: System, seen: Portrait, x: Array, regime: str, what: str) -> Panel:
    (name,) = system.state
    if seen.lag:
        layers = [line(x[: -seen.lag], x[seen.lag :], regime)]
        return panel(f"{name}(t − {seen.lag * seen.interval:.4g})", f"{name}(t)", layers,
                     f"{what} of {system.name}: {name} against its value one delay earlier.")  # fmt: skip
    if system.discrete:
        layers = [dots(x[:-1], x[1:], regime, 2.5)]
        return panel(
            f"{name}, now", f"{name}, next", layers, f"{what} of {system.name}: each iterate by the one before."
        )
    layers = [line(seen.interval * np.arange(len(x)), x, regime)]
    return panel("t", name, layers, f"{what} of {system.name}: {name} over time.")


def _drawn(system: System, x: Array, y: Array, regime: str, from_start: bool) -> Layer:
    if system.discrete:
        return dots(x, y, regime, 3.0 if from_start else 1.4)
    return line(x, y, regime, 0.8)


def _on_circles(system: System, path: Array) -> Array:
    """The path with angles taken back onto their circles, and torn where one crosses the seam."""
    out = np.array(path, dtype=float)
    torn = np.zeros(max(len(out) - 1, 0), dtype=bool)
    for c, name in enumerate(system.state):
        if name in system.circle and len(out):
            out[:, c] = np.mod(out[:, c], system.circle[name])
            torn |= np.abs(np.diff(out[:, c])) > system.circle[name] / 2
    if system.discrete:
        return out
    return np.insert(out, np.flatnonzero(torn) + 1, np.nan, axis=0)


def convergence(growing: Mapping[str, Growing], row: Row, regime: str) -> Html:
    """The indicators over ever longer beginnings of a run, with the label's value and half-width behind them."""
    panels = []
    for name, seen in growing.items():
        n, value, error = seen.points.T
        layers = [bars(np.log10(n), value, value - error, value + error, regime)]
        label = row["indicators"][name]
        if isinstance(label["value"], float):
            layers.insert(0, rule(label["value"], "ink", label["error"] or 0.0))
        told = f"{NAMES[name]} over {n[0]:.4g} to {n[-1]:.4g} {seen.unit}: from {value[0]:.4g} ± {error[0]:.2g} to " \
               f"{value[-1]:.4g} ± {error[-1]:.2g}."  # fmt: skip
        panels.append(panel(seen.unit, NAMES[name], layers, told, logx=True))
    caption = (
        "Ever longer beginnings of one run, with half-widths at 95 %. Behind them, the value and half-width of the "
        "label, which rests on a longer run."
    )
    return plot(panels, caption)


def diagram(system: System, seen: Diagram, sweep: Row, rows: Sequence[Row], brackets: Sequence[Row]) -> Html:
    """The orbit diagram of a sweep, below it the largest exponent of its labelled points, and all brackets in both."""
    ends, name = [sweep["lo"], sweep["hi"]], seen.parameter
    marks = spans((one["lo"], one["hi"]) for one in brackets)
    where = f"{name} from {sweep['lo']:g} to {sweep['hi']:g}"
    alt = f"Orbit diagram of {system.name}, {where}, with {len(brackets)} brackets."
    orbits = columns(seen.points[:, 0], seen.points[:, 1], "faint")
    above = panel(name, seen.variable, [orbits, marks], alt, xr=ends, height=TALL)
    layers, met = [rule(0.0)], {}
    for regime in dict.fromkeys(row["regime"] for row in rows):
        mine = [row for row in rows if row["regime"] == regime]
        met[regime] = f"{regime.replace('_', ' ')} ({len(mine)})"
        figures = [(row["params"][name], row["indicators"]["lyapunov_max"]) for row in mine]
        known = [(x, f["value"], f["error"] or 0.0) for x, f in figures if f["value"] is not None]
        if known:
            x, y, e = (np.array(part) for part in zip(*known, strict=True))
            layers.append(bars(x, y, y - e, y + e, regime))
    alt = f"Largest Lyapunov exponent of the {len(rows)} labelled points, {where}."
    below = panel(name, "largest exponent", [*layers, marks], alt, xr=ends, height=FLAT)
    caption = f"Grey dots: orbits. Below, the exponent of labelled points: {key(met)}. Vertical bars: brackets."
    return plot([above, below], Html(caption), shared=True)
