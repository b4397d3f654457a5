"""Algorithm 1 of arXiv 2606.00103: one episode of a player with a game, and how it ended.

A player is anything with `reply(messages) -> str`. It is given copies of the messages so far, and nothing else.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Protocol

import numpy as np

from bench.games.catalogue import drawn_state
from bench.games.solving import Codes, gains
from bench.games.telling import Query, Told, told
from bench.games.wrappers import Message, Wrapper, wrapper

SUCCESS, FAILURE, FORMAT_ERROR, TIMEOUT = "Success", "Failure", "FormatError", "Timeout"
Row = dict[str, Any]


class NotPlayableError(ValueError):
    """A wrapper does not fit a game."""


class Player(Protocol):
    """Whoever answers: a script, a person, a model."""

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The next reply to a conversation of {"role": "user"|"assistant", "content"}."""


@dataclass(frozen=True)
class End:
    """How an episode ended. `bits` : of each query, what it told about the answer and what the best one would have."""

    status: str
    turns: int
    messages: tuple[Message, ...]
    bits: tuple[tuple[float, float], ...]
    premature: bool


def shown(messages: Sequence[Message]) -> list[dict[str, str]]:
    """A fresh copy of the messages as a conversation in which the roles take turns."""
    return [
        {"role": role, "content": "\n\n".join(message.content for message in some)}
        for role, some in groupby(messages, key=lambda message: message.role)
    ]


def said(player: Player, messages: Sequence[Message]) -> str:
    """A player's reply; one that is no text is empty."""
    reply = player.reply(shown(messages))
    return reply if isinstance(reply, str) else ""


def algorithm(
    player: Player, messages: list[Message], t_max: int, act: Callable[[int, str], str | None]
) -> tuple[str, int]:
    """Algorithm 1: status and turns. `act` adds a reply and its response to the messages, and may end the episode.

    The turn that submits counts; there is one submission, and no second try after a reply that is no action.
    """
    for turn in range(1, t_max + 1):
        status = act(turn, said(player, messages))
        if status is not None:
            return status, turn
    return TIMEOUT, t_max


def played(game: Told, player: Player, state: int, how: Wrapper, rng: random.Random) -> End:
    """An episode of a combinatorial game with this hidden state."""
    puzzle = game.table.puzzle
    messages = how.opening(game, rng)
    possible = [np.arange(len(puzzle.answers))]
    asked: list[int] = []
    bits: list[tuple[float, float]] = []

    def act(turn: int, reply: str) -> str | None:
        action = game.parse(reply)
        if action is None:
            messages.append(Message(turn, "assistant", "malformed", reply))
            return FORMAT_ERROR
        if not isinstance(action, Query):
            messages.append(Message(turn, "assistant", "submission", reply))
            return SUCCESS if action.answer == game.table.answers[puzzle.answers[state]] else FAILURE
        messages.append(Message(turn, "assistant", "query", reply))
        left, query = possible[-1], action.index
        asked.append(query)
        bits.append(_told(game, left, query))
        possible.append(left[puzzle.table[left, query] == puzzle.table[state, query]])
        messages.extend(how.response(game, turn, asked, state, rng))
        return None

    status, turns = algorithm(player, messages, game.claims.t_max, act)
    premature = status in (SUCCESS, FAILURE) and how.is_premature(asked)
    return End(status, turns, tuple(messages), tuple(bits), premature)


def _told(game: Told, left: Codes, query: int) -> tuple[float, float]:
    about_answer, _ = gains(game.table.puzzle, left)
    return round(float(about_answer[query]), 6), round(float(about_answer.max()), 6)


def episode(game: str, difficulty: int, player: Player, name: str, seed: int = 0, how: str = "clean") -> Row:
    """An episode as a line of episodes.jsonl. `how` : the name of a wrapper."""
    rng = random.Random(f"{game}/{difficulty}/{seed}/{how}")
    chosen = wrapper(how, game, seed)
    one = told(game, difficulty, chosen.domain)
    state = _state(one, seed, how)
    end = played(one, player, state, chosen, rng)
    probe = episode_id(one, seed, "counterfactual", name) if how == "control" else None
    return opened(one, seed, how, name) | {
        "control_of": probe, "status": end.status, "turns": end.turns, "premature": end.premature,
        "bits": [list(pair) for pair in end.bits], "messages": [asdict(message) for message in end.messages],
    }  # fmt: skip


def _state(game: Told, seed: int, how: str) -> int:
    """The hidden state; of the counterfactual probe and its control one in which a lie can always be told."""
    if how not in ("counterfactual", "control"):
        return drawn_state(game.recipe.id, game.difficulty, seed, game.table)
    states = game.claims.revisable
    if not states:
        raise NotPlayableError(f"{game.id} has no hidden state in which the second observation can always be wrong")
    return states[seed % len(states)]


def episode_id(game: Told, seed: int, how: str, player: str) -> str:
    """The id of an episode."""
    return f"{game.id}-s{seed}-{how}-{player}"


def opened(game: Told, seed: int, how: str, player: str) -> Row:
    """The fields of an episode that are known before it is played, in the order of the file."""
    claims = game.claims
    return {
        "id": episode_id(game, seed, how, player), "game": game.recipe.id, "hash": claims.hash,
        "cell": game.recipe.cell, "difficulty": game.difficulty, "seed": seed, "wrapper": how, "control_of": None,
        "player": player, "status": None, "turns": None, "t_max": claims.t_max, "n_answers": claims.answers,
        "optimal": {"lo": claims.optimal[0], "hi": claims.optimal[1]},
    }  # fmt: skip


class Recorded:
    """A player that says again what was said in an episode."""

    def __init__(self, row: Row) -> None:
        said = [m["content"] for m in row["messages"] if m["role"] == "assistant" and m["kind"] != "history"]
        self._replies: Iterator[str] = iter(said)

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The next reply of the record; empty where it has none."""
        return next(self._replies, "")
