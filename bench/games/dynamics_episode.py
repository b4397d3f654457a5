"""An episode of a game over dynamics: its rules, and queries that are measurements and cost simulated time."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Protocol

import numpy as np

from bench.games.dynamics import COSTS, INDICATORS, Candidate, DynamicsGame
from bench.games.episode import FAILURE, FORMAT_ERROR, SUCCESS, TIMEOUT, Player, Row, algorithm
from bench.games.telling import MOST_CHARACTERS, wording
from bench.games.wrappers import Message
from bench.rendering import language, printed
from dynamics.registry import system
from dynamics.typeset import definitions, equations

SHOWN = 12  # states of an orbit


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


@lru_cache(16)
def dynamics_rules(game: DynamicsGame) -> str:
    """All that a player is told at first."""
    text = wording()["dynamics"]
    made, words = ("threshold", _of_a_threshold(game)) if game.asked == "threshold" else ("list", _of_a_list(game))
    numbers = {"t_max": game.t_max, "budget": game.budget, "characters": MOST_CHARACTERS, "shown": SHOWN, **COSTS}
    words |= {name: str(number) for name, number in numbers.items()}
    return "\n".join([wording()["rules"]["title"], text[made].format(**words), text["limits"].format(**words)])


def _of_a_threshold(game: DynamicsGame) -> dict[str, str]:
    (name,), (lo, hi) = game.names, map(printed, game.range)
    fixed = {k: v for k, v in system(name).parameters.items() if k != game.parameter}
    return {
        "equations": _equations(game.names), "parameter": game.parameter, "lo": lo, "hi": hi,
        "tolerance": printed(game.tolerance),
        "fixed": ", ".join(f"{k} = {printed(v)}" for k, v in fixed.items()) or "none",
        "below": game.sides[0], "above": game.sides[1],
    }  # fmt: skip


def _of_a_list(game: DynamicsGame) -> dict[str, str]:
    return {
        "listed": "\n".join(f"{i}. {_named(c)}" for i, c in enumerate(game.candidates, 1)),
        "equations": _equations(dict.fromkeys(c.system_id for c in game.candidates)),
        "indicators": ", ".join(INDICATORS),
        "asked": wording()["dynamics"]["asked"][game.asked].format(answers=_asked(game)),
    }


def _asked(game: DynamicsGame) -> str:
    """The regimes that are possible, or the predicates with what they mean."""
    if game.asked == "regime":
        return ", ".join(sorted(set(game.answers)))
    meanings = language("en").predicates
    return "; ".join(f"{name} ({meanings[name]['means']})" for name in game.names)


def _equations(names: Iterable[str]) -> str:
    """A line for every system."""
    lines = []
    for name in names:
        one = system(name)
        said = language("en").name_of(name)
        said = said[:1].upper() + said[1:]
        lines.append(f"{said}: {'; '.join(part.text for part in [*definitions(one), *equations(one)])}.")
    return "\n".join(dict.fromkeys(lines))  # two systems may have the same ones


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
            return TIMEOUT
        messages.append(Message(turn, "user", "observation", _observed(game, hidden, tag, content, laboratory)))
        return None

    status, turns = algorithm(player, messages, game.t_max, act)
    turns = game.t_max if status == TIMEOUT else turns
    return {
        "id": f"{game.id}-s{seed}-clean-{name}", "game": game.id,
        "hash": hashlib.sha256(repr(game).encode()).hexdigest()[:16], "cell": f"dynamics-{game.asked}",
        "difficulty": game.difficulty, "seed": seed, "wrapper": "clean", "control_of": None, "player": name,
        "status": status, "turns": turns, "t_max": game.t_max, "n_answers": game.n_answers,
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
