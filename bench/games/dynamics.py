"""Games over dynamics: what is hidden is a labelled point of the ground-truth release, or where a threshold lies.

The release says what is right, and that the answer can be found.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench.games.catalogue import LEAST_TURNS
from bench.ground_truth import PUBLISHED, REFERENCE, SHIPPED, brackets, points
from dynamics.registry import curated_ids

INDICATORS = ("lyapunov_max", "zero_one_k", "permutation_entropy", "megno_slope", "kaplan_yorke_dimension")
COSTS = {"regime": 10, "indicator": 5, "orbit": 1}  # units of simulated time, as the rules say
CELLS = 32  # of a range, each as wide as the tolerance
NARROW = 4  # times as wide as a bracket the tolerance is at least
MOST_POINTS = 16  # in the list of a game
PREDICATES = 4  # asked at once


Measurement = tuple[float | None, float, str]  # value, half-width and status of an indicator


@dataclass(frozen=True)
class Candidate:
    """A point of the release."""

    system_id: str
    params: tuple[tuple[str, float], ...]
    start: tuple[tuple[str, float], ...]
    regime: str
    predicates: tuple[tuple[str, str], ...]
    indicators: tuple[Measurement, ...]


@dataclass(frozen=True)
class DynamicsGame:
    """A game over dynamics: candidates with their answers, or a threshold in a range.

    `asked` : threshold, regime, predicates or system. `bracket` : of the threshold, with the range around it.
    """

    id: str
    asked: str
    candidates: tuple[Candidate, ...] = ()
    answers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    parameter: str = ""
    range: tuple[float, float] = (0.0, 0.0)
    bracket: tuple[float, float] = (0.0, 0.0)
    sides: tuple[str, str] = ("", "")

    @property
    def tolerance(self) -> float:
        """The greatest width of an interval that is an answer."""
        return (self.range[1] - self.range[0]) / CELLS

    @property
    def n_answers(self) -> int:
        """How many answers there are; of a threshold, intervals side by side."""
        return CELLS if self.asked == "threshold" else len(set(self.answers))

    @property
    def optimal(self) -> tuple[float, float]:
        """Bounds of the least mean number of turns: bisection halves a range; a list needs all indicators at most."""
        return (1 + np.log2(CELLS),) * 2 if self.asked == "threshold" else (2.0, 1.0 + len(INDICATORS))

    @cached_property
    def difficulty(self) -> int:
        """1 to 5: how many queries the reference player needs at worst, if it measures what the release holds."""
        if self.asked == "threshold":
            return CELLS.bit_length() - 1
        return max(map(self._indicators_needed, self.candidates))

    def _indicators_needed(self, hidden: Candidate) -> int:
        left = list(zip(self.candidates, self.answers, strict=True))
        for i in range(len(INDICATORS)):
            left = [(one, answer) for one, answer in left if agree(one.indicators[i], hidden.indicators[i])]
            if len({answer for _, answer in left}) == 1:
                return i + 1
        return len(INDICATORS)

    @property
    def t_max(self) -> int:
        """The number of turns."""
        return max(LEAST_TURNS, 2 * int(self.optimal[1]))

    @property
    def budget(self) -> int:
        """Units of simulated time: twice what the reference player needs."""
        return 2 * int(self.optimal[1]) * COSTS["regime" if self.asked == "threshold" else "indicator"]


@cache
def dynamics_games(folder: Path = SHIPPED) -> dict[str, DynamicsGame]:
    """All games that a release holds, by their ids."""
    table = points(folder)
    swept = table[~table["sweep"].isin([REFERENCE, PUBLISHED])]
    between = brackets(folder)
    found: list[DynamicsGame] = []
    for (name, parameter), rows in swept.groupby(["system_id", "sweep"]):
        mine = [b for b in between if (b["system_id"], b["parameter"]) == (name, parameter)]
        found += _thresholds(str(name), str(parameter), rows, mine)
        some = [_candidate(row) for row in rows.to_dict("records")]
        found += _lists(f"{name}-{parameter}", some, ("regime", "predicates"))
    small = (table["DelaySystem"] == "FALSE") & (table["HighDimSystem"] == "FALSE") & (table["Random"] == "FALSE")
    curated = table[(table["sweep"] == REFERENCE) & table["system_id"].isin(curated_ids()) & small]
    named = [_candidate(row) for row in curated.to_dict("records")]
    for start in range(0, len(named), MOST_POINTS):
        found += _lists(
            f"list-{start // MOST_POINTS + 1}", named[start : start + MOST_POINTS], ("system", "predicates")
        )
    return {game.id: game for game in found}


def _candidate(row: Mapping[Any, Any]) -> Candidate:
    names = [name for name in json.loads(row["predicates"]) if row[name] in ("TRUE", "FALSE")]
    figures = [(row[f"{i}_value"], row[f"{i}_error"], str(row[f"{i}_status"])) for i in INDICATORS]
    return Candidate(
        row["system_id"],
        tuple(json.loads(row["params"]).items()),
        tuple((json.loads(row["initial_condition"]) if isinstance(row["initial_condition"], str) else {}).items()),
        row["regime"],
        tuple((name, row[name]) for name in names),
        tuple((None, 0.0, s) if pd.isna(v) else (float(v), float(e) if e == e else 0.0, s) for v, e, s in figures),
    )


def _thresholds(
    name: str, parameter: str, rows: pd.DataFrame, mine: Sequence[Mapping[str, Any]]
) -> Iterable[DynamicsGame]:
    """A game for every bracket with points of one regime up to it and of another one from it on, and no other near."""
    values = sorted((json.loads(p)[parameter], r) for p, r in zip(rows["params"], rows["regime"], strict=True))
    for number, b in enumerate(sorted(mine, key=lambda b: (b["lo"], b["hi"])), 1):
        others = [(o["lo"], o["hi"]) for o in mine if o is not b]
        below = [(v, r) for v, r in values if v < b["lo"]]
        above = [(v, r) for v, r in values if v > b["hi"]]
        if not below or not above or "undecided" in (sides := (below[-1][1], above[0][1])) or sides[0] == sides[1]:
            continue
        lo = _farthest(below[::-1], b["lo"], others)
        hi = _farthest(above, b["hi"], others)
        if not (lo < b["lo"] and b["hi"] < hi):  # another bracket lies between this one and the nearest point
            continue
        for part in (0, 1, 2):  # of a third of the tolerance, so that bisection does not end up inside the bracket
            game = DynamicsGame(
                f"dynamics-threshold-{name}-{parameter}-{number}", "threshold", parameter=parameter,
                range=(lo + part * (hi - lo) / (3 * CELLS), hi), bracket=(b["lo"], b["hi"]), sides=sides, names=(name,),
            )  # fmt: skip
            first, last = ((end - game.range[0]) // game.tolerance for end in game.bracket)
            alone = game.range[0] < b["lo"] and b["hi"] < hi
            if alone and first == last and game.tolerance >= NARROW * (b["hi"] - b["lo"]):
                yield game
                break


def _farthest(away: Sequence[tuple[float, str]], edge: float, others: Sequence[tuple[float, float]]) -> float:
    """The last point on one side of a bracket up to which the regime stays and no other bracket begins."""
    last = edge
    for value, regime in away:
        near, far = min(edge, value), max(edge, value)
        if regime != away[0][1] or any(a <= far and z >= near for a, z in others):
            break
        last = value
    return last


def _lists(name: str, every: Sequence[Candidate], kinds: Sequence[str]) -> Iterable[DynamicsGame]:
    for asked in kinds:
        names = _asked_predicates(every) if asked == "predicates" else ()
        some = [c for c in every if c.regime != "undecided" and {n for n, _ in c.predicates} >= set(names)]
        chosen: list[Candidate] = []
        for one in _spread(some):
            mine = _answer(one, asked, names, 0)
            if all(_told_apart(one, c) or (asked != "system" and _answer(c, asked, names, 0) == mine) for c in chosen):
                chosen.append(one)
        answers = tuple(_answer(c, asked, names, i) for i, c in enumerate(chosen, 1))
        if len(set(answers)) >= (4 if asked != "regime" else 2) and (asked != "predicates" or len(names) == PREDICATES):
            yield DynamicsGame(f"dynamics-{asked}-{name}", asked, tuple(chosen), answers, tuple(names))


def _spread(some: Sequence[Candidate]) -> list[Candidate]:
    """At most so many as a list holds, evenly over all."""
    if len(some) <= MOST_POINTS:
        return list(some)
    places = np.linspace(0, len(some) - 1, MOST_POINTS).round().astype(int)
    return [some[i] for i in places]


def _answer(one: Candidate, asked: str, names: Sequence[str], number: int) -> str:
    if asked == "predicates":
        held = dict(one.predicates)
        return ",".join("yes" if held[name] == "TRUE" else "no" for name in names)
    return one.regime if asked == "regime" else str(number)


def _asked_predicates(every: Sequence[Candidate]) -> tuple[str, ...]:
    """Those that are true about as often as false; the first of several that always agree."""
    known = [dict(c.predicates) for c in every if c.regime != "undecided"]
    columns: dict[tuple[str | None, ...], str] = {}
    for name in sorted({name for row in known for name in row}):
        columns.setdefault(tuple(row.get(name) for row in known), name)

    def imbalance(column: tuple[str | None, ...]) -> int:
        counts = Counter(column)
        return abs(counts["TRUE"] - counts["FALSE"]) + 2 * counts[None]

    mixed = [c for c in columns if {"TRUE", "FALSE"} <= set(c)]
    return tuple(columns[c] for c in sorted(mixed, key=lambda c: (imbalance(c), columns[c]))[:PREDICATES])


def _told_apart(a: Candidate, b: Candidate) -> bool:
    return not all(map(agree, a.indicators, b.indicators))


def agree(one: Measurement, other: Measurement) -> bool:
    """Whether two measurements of an indicator can be of one point: within both half-widths, or without a value."""
    (v, e, _), (w, f, _) = one, other
    return v is w is None or (v is not None and w is not None and abs(v - w) <= e + f)
