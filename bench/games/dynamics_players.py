"""Players of games over dynamics: one that guesses at once, a random one, and the reference player."""

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from bench.games.dynamics import CELLS, INDICATORS, DynamicsGame, agree
from bench.games.episode import Player
from bench.rendering import printed

Conversation = Sequence[Mapping[str, str]]


def observed(messages: Conversation) -> list[tuple[str, str]]:
    """What the tags of the queries held, and what was observed."""
    asked = [m["content"].partition(">")[2].partition("<")[0] for m in messages if m["role"] == "assistant"]
    seen = [m["content"].removeprefix("Observation: ") for m in messages[1:] if m["role"] == "user"]
    return list(zip(asked, seen, strict=True))


def bracket(game: DynamicsGame, known: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """Between which values the threshold lies."""
    lo, hi = game.range
    for text, regime in known:
        value = float(text)
        lo, hi = (max(lo, value), hi) if regime == game.sides[0] else (lo, min(hi, value))
    return lo, hi


def possible(game: DynamicsGame, known: Sequence[tuple[str, str]]) -> list[str]:
    """The different answers of the candidates that agree with all indicators that were observed."""
    left = [
        answer
        for one, answer in zip(game.candidates, game.answers, strict=True)
        if all(agree(one.indicators[INDICATORS.index(name)], _read(text)) for name, text in known)
    ]
    return sorted(set(left or game.answers))


def _read(text: str) -> tuple[float | None, float, str]:
    value, plus_minus, error = text.partition(" ± ")
    return (float(value), float(error), "") if plus_minus else (None, 0.0, text)


def _interval(lo: float, hi: float) -> str:
    return f"<submit>{printed(lo)},{printed(hi)}</submit>"


class Reference:
    """Bisection of a range; of a list, one indicator after another until one answer is left."""

    def __init__(self, game: DynamicsGame, seed: int = 0) -> None:
        self.game = game

    def reply(self, messages: Conversation) -> str:
        """The next query, or the answer."""
        known = observed(messages)
        if self.game.asked == "threshold":
            lo, hi = bracket(self.game, known)
            if hi - lo <= self.game.tolerance * (1 + 1e-9):
                return _interval(lo, hi)
            return f"<query_regime>{printed((lo + hi) / 2)}</query_regime>"
        left = possible(self.game, known)
        if len(left) == 1 or len(known) == len(INDICATORS):
            return f"<submit>{left[0]}</submit>"
        return f"<query_indicator>{INDICATORS[len(known)]}</query_indicator>"


class Guesser:
    """Asks so many different random queries and submits at random what is still possible."""

    def __init__(self, game: DynamicsGame, seed: int, queries: int) -> None:
        self.game = game
        self.rng = random.Random(f"{game.id}/{seed}/{queries}")
        chosen = self.rng.sample(range(1, CELLS) if game.asked == "threshold" else range(len(INDICATORS)), queries)
        self.queries = [self._query(i) for i in chosen]

    def _query(self, i: int) -> str:
        if self.game.asked != "threshold":
            return f"<query_indicator>{INDICATORS[i]}</query_indicator>"
        return f"<query_regime>{printed(self._edge(i))}</query_regime>"

    def _edge(self, i: int) -> float:
        """Where the i-th of the intervals side by side ends."""
        lo, hi = self.game.range
        return lo + i * (hi - lo) / CELLS

    def reply(self, messages: Conversation) -> str:
        """The next of the queries, then the answer."""
        known = observed(messages)
        if len(known) < len(self.queries):
            return self.queries[len(known)]
        if self.game.asked != "threshold":
            return f"<submit>{self.rng.choice(possible(self.game, known))}</submit>"
        lo, hi = bracket(self.game, known)
        edges = [self._edge(i) for i in range(CELLS)] + [self.game.range[1]]
        left = [(a, b) for a, b in pairwise(edges) if lo <= a and b <= hi]
        return _interval(*self.rng.choice(left))


DYNAMICS_PLAYERS: dict[str, Callable[[DynamicsGame, int], Player]] = {
    "guess": lambda game, seed: Guesser(game, seed, 0),
    "random": lambda game, seed: Guesser(game, seed, 2),
    "reference": Reference,
}
