"""Necessity judgment: solve from all observations, name those that are not needed, solve again from what is left."""

import re
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from bench.games.catalogue import drawn_state
from bench.games.episode import FAILURE, FORMAT_ERROR, SUCCESS, Player, Row, opened, said
from bench.games.solving import Codes, Puzzle
from bench.games.telling import Submission, Told, told, wording
from bench.games.wrappers import Message

REMOVE = "remove"
_REMOVAL = re.compile(rf"<{REMOVE}>([^<>]*)</{REMOVE}>")


def _others_ruled_out(puzzle: Puzzle, state: int) -> Codes:
    """(states with another answer, queries): 1 where a query's observation rules the state out."""
    others = puzzle.answers != puzzle.answers[state]
    return np.asarray(puzzle.table[others] != puzzle.table[state], dtype=np.int64)


def is_sufficient(puzzle: Puzzle, state: int, kept: list[int]) -> bool:
    """Whether the observations of the kept queries leave the true answer only."""
    return bool(_others_ruled_out(puzzle, state)[:, kept].any(axis=1).all())


def minimum(puzzle: Puzzle, state: int) -> int:
    """The least number of observations that leave the true answer only: the least set cover, as a linear program."""
    ruled_out = np.unique(_others_ruled_out(puzzle, state), axis=0)
    found = milp(
        np.ones(ruled_out.shape[1]), integrality=np.ones(ruled_out.shape[1]), bounds=Bounds(0, 1),
        constraints=LinearConstraint(ruled_out, lb=1),
    )  # fmt: skip
    return round(float(found.fun))


def covering(puzzle: Puzzle, state: int, queries: list[int]) -> list[int]:
    """Queries, one after another what rules out most, whose observations leave the true answer only."""
    open_states = _others_ruled_out(puzzle, state)
    kept: list[int] = []
    while len(open_states):
        best = max(queries, key=lambda query: (int(open_states[:, query].sum()), -query))
        if not open_states[:, best].any():
            break
        kept.append(best)
        open_states = open_states[open_states[:, best] == 0]
    return kept


def judged(game: str, difficulty: int, player: Player, name: str, seed: int = 0) -> Row:
    """The three turns as a line of episodes.jsonl; `status` is that of the first solution.

    The second solution is asked for in a fresh conversation, in which only what was kept is said.
    """
    one = told(game, difficulty)
    state = drawn_state(game, difficulty, seed, one.table)
    text, queries = wording()["necessity"], list(range(len(one.query_texts)))
    first = [Message(0, "user", "rules", one.rules), Message(0, "user", "observation", _pool(one, state, queries))]
    first += [Message(0, "user", "rules", text["solve"])]
    first += [_answer(player, first, 1)]
    status = _status(one, state, first[-1].content)
    row = opened(one, seed, "necessity", name) | {"status": status, "turns": 1}
    first += [Message(2, "user", "rules", text["prune"])]
    first += [_answer(player, first, 2)]
    removed = _removed(first[-1].content, len(queries))
    if removed is None:
        second, found = [], {"pool": len(queries), "kept": None, "sufficient": None, "status": FORMAT_ERROR}
    else:
        kept = [query for query in queries if query + 1 not in removed]
        second = [Message(3, "user", "rules", one.rules)]
        second += [Message(3, "user", "observation", _pool(one, state, kept, text["pruned"]))]
        second += [Message(3, "user", "rules", text["solve"])]
        second += [_answer(player, second, 3)]
        found = {
            "pool": len(queries), "kept": len(kept), "sufficient": is_sufficient(one.table.puzzle, state, kept),
            "status": _status(one, state, second[-1].content),
        }  # fmt: skip
    found["minimum"] = minimum(one.table.puzzle, state)
    rest: dict[str, Any] = {"premature": False, "bits": [], "messages": [asdict(m) for m in (*first, *second)]}
    return row | {"necessity": found} | rest


def _answer(player: Player, messages: list[Message], turn: int) -> Message:
    return Message(turn, "assistant", "submission", said(player, messages))


def _pool(game: Told, state: int, queries: list[int], heading: str | None = None) -> str:
    """Observations by the numbers that they have in the whole pool."""
    text, puzzle = wording()["necessity"], game.table.puzzle
    lines = [
        text["line"].format(
            number=query + 1, query=game.query_texts[query], text=game.table.observations[puzzle.table[state, query]]
        )
        for query in queries
    ]
    return "\n".join([heading or text["pool"], *lines])


def _status(game: Told, state: int, reply: str) -> str:
    action = game.parse(reply)
    if not isinstance(action, Submission):
        return FORMAT_ERROR
    return SUCCESS if action.answer == game.table.answers[game.table.puzzle.answers[state]] else FAILURE


def _removed(reply: str, pool: int) -> set[int] | None:
    """The numbers that a reply removes; None if it is not one tag with numbers of the pool, or none."""
    found = _REMOVAL.findall(reply)
    if len(found) != 1:
        return None
    text = re.sub(r"[ \t\r\n]+", "", found[0])
    if text == "none":
        return set()
    if not re.fullmatch(r"[0-9]{1,4}(,[0-9]{1,4})*", text):
        return None
    numbers = {int(number) for number in text.split(",")}
    return numbers if max(numbers) <= pool and min(numbers) >= 1 else None
