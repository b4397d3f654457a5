"""Players that stand beside every model: one that guesses at once, a random, a greedy, an optimal one, and a person."""

import random
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bench.games.episode import Player
from bench.games.necessity import REMOVE, covering
from bench.games.solving import MOST_EXACT, Codes, best_query, decided, least_costs
from bench.games.telling import Query, Told, wording

Conversation = Sequence[Mapping[str, str]]
Evidence = list[tuple[int, int]]  # queries with the codes of what was observed


class NotComputableError(ValueError):
    """The optimal player does not know this game, which has too many states."""


def evidence(game: Told, messages: Conversation, revises: bool = True) -> Evidence:
    """What a conversation shows of a game, corrections counted unless `revises` is off; after its rules only."""
    start = max(i for i, message in enumerate(messages) if game.rules in message["content"])
    asked: list[int] = []
    seen: dict[int, int] = {}  # by the number of the query
    codes = {text: code for code, text in enumerate(game.table.observations)}
    indices = {text: i for i, text in enumerate(game.query_texts)}
    for message in messages[start:]:
        if message["role"] == "assistant":
            action = game.parse(message["content"])
            if isinstance(action, Query):
                asked.append(action.index)
            continue
        for line in message["content"].splitlines():
            if match := _form("observation").fullmatch(line):
                seen[len(asked)] = codes[match["text"]]
            elif match := _form("correction").fullmatch(line):
                if revises:
                    seen[int(match["number"])] = codes[match["text"]]
            elif (match := _form("line", "necessity").fullmatch(line)) and match["query"] in indices:
                asked.append(indices[match["query"]])
                seen[len(asked)] = codes[match["text"]]
    return [(asked[number - 1], code) for number, code in sorted(seen.items())]


def _form(name: str, section: str = "rules") -> re.Pattern[str]:
    """A wording with its gaps as groups."""
    parts = re.split(r"\{([a-z]+)\}", wording()[section][name])
    pattern = "".join(f"(?P<{part}>.*?)" if i % 2 else re.escape(part) for i, part in enumerate(parts))
    return re.compile(pattern)


def possible(game: Told, known: Evidence) -> Codes:
    """The states that agree with the evidence; where none does, with as much of it as can be had in order."""
    left = np.arange(len(game.table.puzzle.answers))
    for query, code in known:
        agreeing = left[game.table.puzzle.table[left, query] == code]
        left = agreeing if len(agreeing) else left
    return left


class Solver:
    """A player that knows the table: it asks until one answer is left, and then submits it."""

    def __init__(self, game: Told, choice: Callable[[Told, Codes], int], revises: bool = True) -> None:
        self.game, self.choice, self.revises = game, choice, revises

    def reply(self, messages: Conversation) -> str:
        """The next query, the answer, or the observations that are not needed."""
        game, last = self.game, messages[-1]["content"]
        known = evidence(game, messages, self.revises)
        left = possible(game, known)
        if last.endswith(wording()["necessity"]["prune"]):
            kept = covering(game.table.puzzle, int(left[0]), [query for query, _ in known])
            others = [str(i) for i, (query, _) in enumerate(known, 1) if query not in kept]
            return f"<{REMOVE}>{','.join(others) or 'none'}</{REMOVE}>"
        if decided(game.table.puzzle, left) or wording()["necessity"]["solve"] in last:
            return game.answer_texts[game.table.puzzle.answers[left[0]]]
        return game.query_texts[self.choice(game, left)]


def greedy(game: Told, _seed: int) -> Player:
    """Asks what tells most about the answer on average."""
    return Solver(game, lambda one, left: best_query(one.table.puzzle, left))


def optimal(game: Told, _seed: int) -> Player:
    """Asks what leads to the answer in the least mean number of turns; of small games only."""
    puzzle = game.table.puzzle
    columns, answers, weights = puzzle.reduced
    if len(answers) > MOST_EXACT:
        raise NotComputableError(f"{game.id} has {len(answers)} states; the optimal player knows up to {MOST_EXACT}")
    costs = least_costs(columns, answers, weights)
    rows = np.unique(puzzle.table, axis=0, return_inverse=True)[1].reshape(-1)

    def choice(_game: Told, left: Codes) -> int:
        def after(query: int) -> float:
            seen = puzzle.table[left, query]
            parts = [left[seen == code] for code in np.unique(seen)]
            return np.inf if len(parts) == 1 else sum(float(costs[(1 << np.unique(rows[p])).sum()]) for p in parts)

        return min(range(puzzle.table.shape[1]), key=after)

    return Solver(game, choice)


class Guesser:
    """Asks so many different random queries and submits at random what is still possible."""

    def __init__(self, game: Told, seed: int, queries: int) -> None:
        self.game, self.queries = game, queries
        self.rng = random.Random(f"{game.id}/{seed}/{queries}")
        self.chosen = self.rng.sample(range(len(game.query_texts)), min(queries, len(game.query_texts)))

    def reply(self, messages: Conversation) -> str:
        """The next of the queries, then the answer."""
        known = evidence(self.game, messages)
        if len(known) < len(self.chosen):
            return self.game.query_texts[self.chosen[len(known)]]
        left = possible(self.game, known)
        puzzle = self.game.table.puzzle
        state = self.rng.choices(left.tolist(), puzzle.weights[left].tolist())[0]
        return self.game.answer_texts[puzzle.answers[state]]


class Person:
    """A person at the terminal, who reads what is new and types a reply."""

    def __init__(self, say: Callable[[str], None], ask: Callable[[], str]) -> None:
        self.say, self.ask, self.seen = say, ask, 0

    def reply(self, messages: Conversation) -> str:
        """What is typed."""
        for message in messages[self.seen :]:
            if message["role"] == "user":
                self.say(message["content"])
        self.seen = len(messages)
        return self.ask()


PLAYERS: dict[str, Callable[[Told, int], Player]] = {
    "guess": lambda game, seed: Guesser(game, seed, 0),
    "random": lambda game, seed: Guesser(game, seed, 2),
    "greedy": greedy,
    "optimal": optimal,
}
