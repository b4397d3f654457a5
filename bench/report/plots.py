"""Plots as data, which report.js draws and lets one zoom into: panels, and layers of dots, lines, bars and spans."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bench.report.page import Html, shown

STEPS = 9_999  # in which the range of long columns of numbers is told, as finely as a screen zoomed some times
MARGIN = 0.04  # of the range, around what is drawn
Panel = dict[str, Any]


@dataclass(frozen=True)
class Layer:
    """What report.js draws, and all numbers along x and y that the axes must hold."""

    data: dict[str, Any]
    x: Sequence[float]
    y: Sequence[float]


def packed(values: ArrayLike) -> dict[str, Any]:
    """Numbers in whole steps above the least of them; what is not finite is null."""
    x = np.asarray(values, dtype=float)
    fine = np.isfinite(x)
    lo, hi = _ends(x)
    step = (hi - lo) / STEPS or 1.0
    whole = np.rint((np.where(fine, x, lo) - lo) / step).astype(int).tolist()
    return {"lo": lo, "step": step, "n": [n if ok else None for n, ok in zip(whole, fine, strict=True)]}


def dots(x: ArrayLike, y: ArrayLike, colour: str, size: float = 1.4) -> Layer:
    """Points."""
    return Layer({"kind": "dots", "x": packed(x), "y": packed(y), "colour": colour, "size": size}, _ends(x), _ends(y))


def line(x: ArrayLike, y: ArrayLike, colour: str, width: float = 1.0) -> Layer:
    """A line, broken where a value is NaN."""
    data = {"kind": "line", "x": packed(x), "y": packed(y), "colour": colour, "width": width}
    return Layer(data, _ends(x), _ends(y))


def columns(x: ArrayLike, y: ArrayLike, colour: str) -> Layer:
    """Many points above each of few values of x; what falls on one place is told once."""
    x, whole = np.asarray(x, dtype=float), packed(y)
    places, at = np.unique(x, return_inverse=True)
    n = np.array(whole["n"], dtype=int)
    above = [np.unique(n[at == i]).tolist() for i in range(len(places))]
    data = {"kind": "columns", "x": _plain(places), "y": above, "lo": whole["lo"], "step": whole["step"]}
    return Layer(data | {"colour": colour}, _ends(x), _ends(y))


def bars(x: ArrayLike, y: ArrayLike, lo: ArrayLike, hi: ArrayLike, colour: str) -> Layer:
    """Points with their intervals."""
    down, up = (np.abs(np.asarray(y) - np.asarray(end)) for end in (lo, hi))
    data = {"kind": "bars", "x": _plain(x), "y": _plain(y), "down": _plain(down), "up": _plain(up), "colour": colour}
    return Layer(data, _ends(x), _ends(np.array([lo, hi])))


def spans(pairs: Iterable[tuple[float, float]], colour: str = "ink") -> Layer:
    """Ranges of x over the whole height; one that is too narrow to see is widened."""
    return Layer({"kind": "spans", "x": [list(pair) for pair in pairs], "colour": colour}, (), ())


def rule(y: float, colour: str = "faint", error: float = 0.0) -> Layer:
    """A level, and how far it is uncertain."""
    return Layer({"kind": "rule", "y": y, "error": error, "colour": colour}, (), (y - error, y + error))


def panel(
    x: str, y: str, layers: Sequence[Layer], alt: str, *, xr: Sequence[float] = (), yr: Sequence[float] = (),
    logx: bool = False, height: int | None = None,
) -> Panel:  # fmt: skip
    """Axes with layers; ranges that are not given are those of what is drawn. `logx` : x is the decimal logarithm."""
    across = list(xr) or _range([v for layer in layers for v in layer.x])
    up = list(yr) or _range([v for layer in layers for v in layer.y])
    made: Panel = {"x": x, "y": y, "alt": alt, "logx": logx, "xr": across, "yr": up}
    made["layers"] = [layer.data for layer in layers]
    return made if height is None else made | {"height": height}


def plot(panels: Sequence[Panel], caption: Any, *, shared: bool = False) -> Html:
    """A figure; `shared` : its panels stand one above the other and zoom along x together."""
    data = json.dumps({"shared": shared, "panels": panels}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    texts = " ".join(one["alt"] for one in panels)
    return Html(
        f'<figure class="plot{"" if shared else " grid"}"><script type="application/json">{in_script(data)}</script>'
        f"<noscript><p>{escape(texts)}</p></noscript><figcaption>{shown(caption)}</figcaption></figure>\n"
    )


def key(colours: Mapping[str, str]) -> Html:
    """What colours stand for: colour -> text."""
    parts = "".join(f'<i style="color:var(--{escape(c)})">● {escape(text)}</i>' for c, text in colours.items())
    return Html(f'<span class="key">{parts}</span>')


def in_script(data: str) -> str:
    """JSON that ends no script element, whatever its texts are."""
    return data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _plain(values: ArrayLike) -> list[float]:
    return [float(f"{x:.9g}") for x in np.asarray(values, dtype=float).tolist()]


def _ends(values: ArrayLike) -> tuple[float, float]:
    """The least and the largest of the finite numbers; 0 and 0 if there are none."""
    x = np.asarray(values, dtype=float)
    x = x[np.isfinite(x)]
    return (float(x.min()), float(x.max())) if x.size else (0.0, 0.0)


def _range(values: Sequence[float]) -> list[float]:
    """The ends of an axis, some room apart even where all that is drawn is one value."""
    lo, hi = _ends(values)
    room = MARGIN * (hi - lo) if hi - lo > 1e-9 * max(abs(lo), abs(hi)) else max(0.5 * abs(lo), 0.5)
    return [lo - room, hi + room]
