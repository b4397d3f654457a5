"""What an episode is wrapped in: other words, noise, another game before it, or an observation that is wrong at first.

Every wrapper leaves what is hidden, and what the true observations tell, as they are.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench.games.catalogue import drawn_state, games
from bench.games.lies import lie, open_queries
from bench.games.solving import best_query, decided
from bench.games.telling import PLAIN, Told, domains, told, wording

NOISE_LINES = 3  # irrelevant sentences in the rules


@dataclass(frozen=True)
class Message:
    """A message of an episode, as it stands in episodes.jsonl."""

    turn: int
    role: str
    kind: str
    content: str


@dataclass
class Wrapper:
    """The clean episode, which the others differ from."""

    name: str
    domain: str = PLAIN

    def opening(self, game: Told, rng: random.Random) -> list[Message]:
        """What stands before the first reply."""
        return [Message(0, "user", "rules", game.rules)]

    def response(self, game: Told, turn: int, asked: Sequence[int], state: int, rng: random.Random) -> list[Message]:
        """What the last of the queries asked is answered."""
        code = int(game.table.puzzle.table[state, asked[-1]])
        return [Message(turn, "user", "observation", game.observation(code))]

    def is_premature(self, asked: Sequence[int]) -> bool:
        """Whether a submission after these queries comes too early to say anything about revision."""
        return False


class RuleNoise(Wrapper):
    """Sentences that say nothing of the game after the rules."""

    def opening(self, game: Told, rng: random.Random) -> list[Message]:
        """The rules, then the noise."""
        noise = "\n".join(rng.sample(wording()["noise"]["rules"], NOISE_LINES))
        return [*super().opening(game, rng), Message(0, "user", "noise", noise)]


class ReplyNoise(Wrapper):
    """Empty phrases or meaningless characters before or after every observation."""

    def response(self, game: Told, turn: int, asked: Sequence[int], state: int, rng: random.Random) -> list[Message]:
        """The observation and noise, in either order."""
        noise = Message(turn, "user", "noise", rng.choice(wording()["noise"]["replies"]))
        true = super().response(game, turn, asked, state, rng)
        return [noise, *true] if rng.random() < 0.5 else [*true, noise]


class History(Wrapper):
    """The whole transcript of another game before the rules."""

    def opening(self, game: Told, rng: random.Random) -> list[Message]:
        """Another game as the greedy player plays it, then the rules."""
        other = told(rng.choice([name for name in games() if name != game.recipe.id]), rng.choice((1, 2)))
        text = wording()["rules"]
        messages = [Message(0, "user", "history", f"{text['history_start']}\n\n{other.rules}")]
        state = drawn_state(other.recipe.id, other.difficulty, rng.randrange(2**31), other.table)
        puzzle = other.table.puzzle
        left = np.arange(len(puzzle.answers))
        while not decided(puzzle, left):
            query = best_query(puzzle, left)
            code = int(puzzle.table[state, query])
            left = left[puzzle.table[left, query] == code]
            messages.append(Message(0, "assistant", "history", other.query_texts[query]))
            messages.append(Message(0, "user", "history", other.observation(code)))
        messages.append(Message(0, "assistant", "history", other.answer_texts[puzzle.answers[state]]))
        messages.append(Message(0, "user", "history", text["history_end"]))
        return [*messages, *super().opening(game, rng)]


@dataclass
class Revision(Wrapper):
    """The second open query is answered wrongly, and corrected at once when the next reply asks a query.

    Open is a query whose observation does not follow from those before it. With `control` it is answered rightly, and
    the right answer is said again in that place.
    """

    control: bool = False
    _settled: bool = field(default=False, init=False)

    def response(self, game: Told, turn: int, asked: Sequence[int], state: int, rng: random.Random) -> list[Message]:
        """The observation, the false one at the second open query, and before the next one what was true."""
        true = super().response(game, turn, asked, state, rng)
        if self._settled:
            return true
        puzzle = game.table.puzzle
        first_two = open_queries(puzzle, state, asked)[:2]
        if len(first_two) < 2:
            return true
        first, second = first_two
        if second == len(asked) - 1:
            return true if self.control else [self._false(game, turn, state, asked[first], asked[second])]
        self._settled = True
        kind, form = ("observation", "reminder") if self.control else ("correction", "correction")
        text = game.table.observations[int(puzzle.table[state, asked[second]])]
        said = wording()["rules"][form].format(number=second + 1, query=game.query_texts[asked[second]], text=text)
        return [Message(turn, "user", kind, said), *true]

    @staticmethod
    def _false(game: Told, turn: int, state: int, first: int, second: int) -> Message:
        code = lie(game.table.puzzle, state, first, second)
        if code is None:
            raise ValueError(f"{game.id} has no wrong observation that can be told here")
        return Message(turn, "user", "false", game.observation(code))

    def is_premature(self, asked: Sequence[int]) -> bool:
        """Whether what was true has not been said yet."""
        return not self._settled


def wrapper(how: str, game: str, seed: int) -> Wrapper:
    """A fresh wrapper by its name: clean, isomorphic (or the name of a domain), rule_noise, and so on."""
    if how in domains():
        return Wrapper(how, how)
    if how == "isomorphic":
        return Wrapper(how, random.Random(f"{game}/{seed}").choice(domains()))
    made: dict[str, Callable[[str], Wrapper]] = {
        "clean": Wrapper, "rule_noise": RuleNoise, "reply_noise": ReplyNoise, "history": History,
        "counterfactual": Revision, "control": lambda name: Revision(name, control=True),
    }  # fmt: skip
    return made[how](how)


WRAPPERS = ("clean", "isomorphic", "rule_noise", "reply_noise", "history", "counterfactual", "control", "necessity")
