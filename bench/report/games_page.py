"""Played games as a page: a ranking of players, and success at each difficulty."""

from collections.abc import Sequence
from typing import Any

from bench.games.episode import Row
from bench.games.metrics import Figures, by, figures
from bench.intervals import Interval
from bench.report.page import Html, page, table
from bench.report.plots import Layer, bars, key, line, panel, plot

SERIES = 8  # colours of report.css
HEAD = ("player", "wrapper", "episodes", "success %", "mean turns of successes", "efficiency", "above chance", "turns",
        "relative efficiency", "regret, bits", "premature")  # fmt: skip


def games_page(rows: Sequence[Row], folder: str) -> str:
    """The page of some episodes; every figure is recomputed from them."""
    parts = [
        "<h1>Games</h1>",
        f"<p>{len(rows)} episodes. Not comparable with arXiv 2606.00103, whose games are not published. 95 % intervals "
        "over games.</p>",
        table(HEAD, map(_row, figures(rows)), caption="Players"),
        "<h2>By difficulty</h2>",
        _curve(by(rows, "difficulty")),
    ]
    for cell, found in by(rows, "cell").items():
        parts.append(table(HEAD, map(_row, found), caption=cell))
    return page("Games", parts, folder, {"All systems": f"{folder}index.html"})


def _row(one: Figures) -> list[Any]:
    none = "-"
    return [one.player, one.wrapper, one.n, round(one.success_rate, 2),
            none if one.avg_turns is None else round(one.avg_turns, 2),
            none if one.efficiency is None else round(one.efficiency, 2), _shown(one.corrected),
            none if one.turns.value is None else round(one.turns.value, 2),
            f"{_number(one.relative_lo)} .. {_number(one.relative_hi)}", _number(one.regret),
            one.premature]  # fmt: skip


def _curve(found: dict[str, list[Figures]]) -> Html:
    """Success corrected for chance against difficulty."""
    players = list(dict.fromkeys(one.player for some in found.values() for one in some if one.wrapper == "clean"))
    layers: list[Layer] = []
    colours: dict[str, str] = {}
    for n, player in enumerate(players):
        known = [(float(level), one.corrected) for level, some in found.items() for one in some
                 if (one.player, one.wrapper) == (player, "clean") and one.corrected.value is not None]  # fmt: skip
        colour = f"s{n % SERIES}"
        colours.setdefault(colour, player)
        for level, one in known:
            value = one.value or 0.0
            ends = (value if one.lo is None else one.lo, value if one.hi is None else one.hi)
            layers.append(bars([level], [value], [ends[0]], [ends[1]], colour))
        layers.append(line([level for level, _ in known], [one.value or 0.0 for _, one in known], colour))
    told = "Success above chance at each difficulty, of every player without a wrapper."
    return plot([panel("difficulty", "success above chance", layers, told)], key(colours))


def _number(found: Interval) -> str:
    return "-" if found.value is None else f"{found.value:.3f}"


def _shown(found: Interval) -> str:
    interval = "" if found.lo is None else f" [{found.lo:.3f}, {found.hi:.3f}]"
    return _number(found) + interval
