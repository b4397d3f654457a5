"""Games over dynamics: what is hidden is a labelled point of the ground-truth release, or where a threshold lies.

Queries are measurements, which cost simulated time; the release says what is right, and that the answer can be found.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from bench.games.episode import FAILURE, FORMAT_ERROR, SUCCESS, Player, Row, algorithm
from bench.games.telling import MOST_CHARACTERS, wording
from bench.games.wrappers import Message
from bench.ground_truth import PUBLISHED, REFERENCE, SHIPPED, brackets, points
from bench.rendering import language, printed
from dynamics.registry import curated_ids, system

INDICATORS = ("lyapunov_max", "zero_one_k", "permutation_entropy", "megno_slope", "kaplan_yorke_dimension")
COSTS = {"regime": 10, "indicator": 5, "orbit": 1}  # units of simulated time, as the rules say
CELLS = 32  # of a range, each as wide as the tolerance
NARROW = 4  # times as wide as a bracket the tolerance is at least
MOST_POINTS = 16  # in the list of a game
PREDICATES = 4  # asked at once
LEAST_TURNS = 8
SHOWN = 12  # states of an orbit


@dataclass(frozen=True)
class Candidate:
    """A point of the release. `indicators` : value and half-width, or None with a status."""

    system_id: str
    params: tuple[tuple[str, float], ...]
    start: tuple[tuple[str, float], ...]
    regime: str
    predicates: tuple[tuple[str, str], ...]
    indicators: tuple[tuple[float | None, float, str], ...]


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

    @property
    def t_max(self) -> int:
        """The number of turns."""
        return max(LEAST_TURNS, 2 * int(self.optimal[1]))

    @property
    def budget(self) -> int:
        """Units of simulated time: twice what the reference player needs."""
        return 2 * int(self.optimal[1]) * COSTS["regime" if self.asked == "threshold" else "indicator"]


class Laboratory(Protocol):
    """Where measurements are made."""

    def measured(self, system_id: str, params: Mapping[str, float], start: Mapping[str, float]) -> Row:
        """`regime`, `indicators` as in labels.jsonl, and `orbit`, a list of states, of a system at a point."""


class OwnLaboratory:
    """The project's own simulation; what was measured once in the same code is kept in the cache."""

    def measured(self, system_id: str, params: Mapping[str, float], start: Mapping[str, float]) -> Row:
        """The point labelled as one of a sweep is."""
        from cache.results import Results
        from labeling.provenance import identity
        from labeling.workers import Workers

        (found,) = Workers(1, None, Results(identity())).each(_measured, [(system_id, dict(params), dict(start))], "")
        return found


def _measured(system_id: str, params: dict[str, float], start: dict[str, float]) -> Row:
    from labeling.points import judged_versions
    from labeling.settings import Settings
    from labeling.workers import Workers

    version = system(system_id).with_values(params, start)
    (point,) = judged_versions([version], Settings(), Workers(), rows=True)
    assert point.row is not None
    orbit = np.asarray(point.orbit).reshape(len(point.orbit), -1)[:SHOWN].tolist()
    return {"regime": point.verdict.regime, "indicators": point.row["indicators"], "orbit": orbit}


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
    """Whether an indicator differs by more than both half-widths, or has a value for one only."""
    for (v, e, _), (w, f, _) in zip(a.indicators, b.indicators, strict=True):
        if (v is None) != (w is None) or (v is not None and w is not None and abs(v - w) > e + f):
            return True
    return False


def dynamics_rules(game: DynamicsGame) -> str:
    """All that a player is told at first."""
    text = wording()["dynamics"]
    words: dict[str, object] = {
        "t_max": game.t_max,
        "budget": game.budget,
        "characters": MOST_CHARACTERS,
        "shown": SHOWN,
        **COSTS,
    }
    if game.asked == "threshold":
        named = language("en").name_of(game.names[0])
        fixed = {k: v for k, v in system(game.names[0]).parameters.items() if k != game.parameter}
        lo, hi = map(printed, game.range)
        words |= {
            "system": named, "parameter": game.parameter, "lo": lo, "hi": hi, "tolerance": printed(game.tolerance),
            "fixed": ", ".join(f"{k} = {printed(v)}" for k, v in fixed.items()) or "none", "below": game.sides[0],
            "above": game.sides[1],
        }  # fmt: skip
    else:
        words["listed"] = "\n".join(f"{i}. {_named(c)}" for i, c in enumerate(game.candidates, 1))
        words["indicators"] = ", ".join(INDICATORS)
        answers = ", ".join(sorted(set(game.answers))) if game.asked == "regime" else ", ".join(game.names)
        words["asked"] = text["asked"][game.asked].format(answers=answers)
    kind = "threshold" if game.asked == "threshold" else "list"
    return "\n".join([wording()["rules"]["title"], text[kind].format(**words), text["limits"].format(**words)])


def _named(one: Candidate) -> str:
    return language("en").system_at(
        one.system_id, dict(one.params), dict(one.start), bool(system(one.system_id).history)
    )


_ACTION = re.compile(r"<(submit|query_orbit|query_indicator|query_regime)>([^<>]*)</\1>")
_OPENED = re.compile(r"<(submit|query_orbit|query_indicator|query_regime)>")
_NUMBER = re.compile(r"[-+]?[0-9]{1,12}(\.[0-9]{1,25})?(e[-+]?[0-9]{1,2})?")


def parsed(game: DynamicsGame, reply: str) -> tuple[str, str] | None:
    """The tag and the content of a reply; None if it is not exactly one of the game's with content of its form."""
    found = list(_ACTION.finditer(reply)) if len(reply) <= MOST_CHARACTERS else []
    if len(found) != 1 or len(_OPENED.findall(reply)) != 1:
        return None
    tag, content = found[0][1], re.sub(r"[ \t\r\n]+", "", found[0][2])
    numbers = content.split(",")
    in_range = all(_NUMBER.fullmatch(x) and game.range[0] <= float(x) <= game.range[1] for x in numbers)
    forms = {
        "query_regime": game.asked == "threshold" and len(numbers) == 1 and in_range,
        "query_indicator": game.asked != "threshold" and content in INDICATORS,
        "query_orbit": game.asked != "threshold" and not content,
        "submit": len(numbers) == 2 and in_range if game.asked == "threshold" else bool(
            re.fullmatch(r"[a-z_0-9]+(,[a-z_0-9]+)*", content.lower())),
    }  # fmt: skip
    return (tag, content.lower() if tag == "submit" else content) if forms[tag] else None


def dynamics_episode(
    game: DynamicsGame, player: Player, name: str, seed: int = 0, laboratory: Laboratory | None = None
) -> Row:
    """An episode as a line of episodes.jsonl. A query that the budget does not cover ends it as a timeout does."""
    laboratory = laboratory or OwnLaboratory()
    hidden = _hidden(game, seed)
    messages = [Message(0, "user", "rules", dynamics_rules(game))]
    spent = 0

    def act(turn: int, reply: str) -> str | None:
        nonlocal spent
        action = parsed(game, reply)
        kind = "malformed" if action is None else "submission" if action[0] == "submit" else "query"
        messages.append(Message(turn, "assistant", kind, reply))
        if action is None:
            return FORMAT_ERROR
        tag, content = action
        if tag == "submit":
            return SUCCESS if _is_right(game, hidden, content) else FAILURE
        spent += COSTS[tag.removeprefix("query_")]
        if spent > game.budget:
            return "Timeout"
        messages.append(Message(turn, "user", "observation", _observed(game, hidden, tag, content, laboratory)))
        return None

    status, turns = algorithm(player, messages, game.t_max, act)
    turns = game.t_max if status == "Timeout" else turns
    return {
        "id": f"{game.id}-s{seed}-clean-{name}", "game": game.id,
        "hash": hashlib.sha256(repr(game).encode()).hexdigest()[:16], "cell": f"dynamics-{game.asked}",
        "difficulty": 1, "seed": seed, "wrapper": "clean", "control_of": None, "player": name, "status": status,
        "turns": turns, "t_max": game.t_max, "n_answers": game.n_answers,
        "optimal": {"lo": game.optimal[0], "hi": game.optimal[1]}, "spent": spent, "budget": game.budget,
        "premature": False, "bits": [], "messages": [asdict(m) for m in messages],
    }  # fmt: skip


def _hidden(game: DynamicsGame, seed: int) -> int:
    """The hidden candidate: each answer as likely, and each candidate behind it."""
    if game.asked == "threshold":
        return 0
    rng = np.random.default_rng([*game.id.encode(), seed])
    answer = rng.choice(sorted(set(game.answers)))
    return int(rng.choice([i for i, one in enumerate(game.answers) if one == answer]))


def _is_right(game: DynamicsGame, hidden: int, content: str) -> bool:
    if game.asked != "threshold":
        return content == game.answers[hidden]
    lo, hi = map(float, content.split(","))
    return lo <= game.bracket[0] and game.bracket[1] <= hi and hi - lo <= game.tolerance * (1 + 1e-9)


def _observed(game: DynamicsGame, hidden: int, tag: str, content: str, laboratory: Laboratory) -> str:
    if tag == "query_regime":
        found = laboratory.measured(game.names[0], {game.parameter: float(content)}, {})
        text = str(found["regime"])
    else:
        one = game.candidates[hidden]
        found = laboratory.measured(one.system_id, dict(one.params), dict(one.start))
        if tag == "query_orbit":
            text = "; ".join(",".join(f"{x:.5g}" for x in state) for state in found["orbit"][:SHOWN])
        else:
            figure = found["indicators"][content]
            text = figure["status"] if figure["value"] is None else f"{figure['value']!r} ± {figure['error'] or 0.0!r}"
    return str(wording()["rules"]["observation"]).format(text=text)
