"""A game at a difficulty in the words of a domain: its rules, and what a reply means."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any

from bench.games.catalogue import Game, Instance, games
from bench.games.grammar import Recipe, Table, table
from bench.games.parts import Arguments
from bench.games.writing import read_answer

MOST_CHARACTERS = 20_000  # of a reply
PLAIN = "plain"
_TAG = re.compile(r"<([a-z_]{1,40})>([^<>]*)</\1>")
_OPEN = re.compile(r"<([a-z_]{1,40})>")


@cache
def wording() -> dict[str, Any]:
    """templates/games.toml."""
    loaded: dict[str, Any] = tomllib.loads((files("bench") / "templates" / "games.toml").read_text(encoding="utf-8"))
    return loaded


def domains() -> list[str]:
    """The five domains that a game can be reworded into."""
    return [name for name in wording()["domains"] if name != PLAIN]


@dataclass(frozen=True)
class Query:
    """A reply that asks the query of this index."""

    index: int


@dataclass(frozen=True)
class Submission:
    """A reply that submits an answer, as it would be written in the plain domain."""

    answer: str


@dataclass(frozen=True)
class Told:
    """A game at a difficulty in the words of a domain. It holds no hidden state."""

    game: Game
    difficulty: int
    domain: str

    @property
    def recipe(self) -> Recipe:
        """What the game is composed of."""
        return self.game.recipe

    @property
    def claims(self) -> Instance:
        """What the catalogue says of it."""
        return self.game.instances[self.difficulty - 1]

    @property
    def id(self) -> str:
        """Game and difficulty."""
        return f"{self.recipe.id}-d{self.difficulty}"

    @cached_property
    def table(self) -> Table:
        """Its table of hidden states by queries."""
        return _table(self.recipe, self.claims.n)

    @cached_property
    def query_texts(self) -> tuple[str, ...]:
        """Every query as it is asked."""
        return tuple(self._tagged(f"{self._verb}_{tag}", self._labelled(a)) for tag, a in self.table.queries)

    @cached_property
    def answer_texts(self) -> tuple[str, ...]:
        """Every possible answer as it is submitted."""
        return tuple(self.submission(answer) for answer in self.table.answers)

    def submission(self, answer: str) -> str:
        """A plain answer as it is submitted."""
        written = re.sub(r"[0-9]+", rf"{self._prefix}\g<0>", answer) if self._prefixes_answers else answer
        return self._tagged(self.recipe.tag, written)

    def parse(self, reply: str) -> Query | Submission | None:
        """What a reply does; None if it is not exactly one tag of the game with content of the right form."""
        if len(reply) > MOST_CHARACTERS:
            return None
        actions = {self.recipe.tag, *(name for name, _ in self._queries)}
        if sum(name in actions for name in _OPEN.findall(reply)) != 1:
            return None
        found = [match for match in _TAG.finditer(reply) if match[1] in actions]
        if len(found) != 1:
            return None
        name, content = found[0][1], re.sub(r"[ \t\r\n]+", "", found[0][2])
        if name == self.recipe.tag:
            answer = read_answer(self.table.shape, self._unlabelled(content) if self._prefixes_answers else content)
            return None if answer is None else Submission(answer)
        index = self._queries.get((name, content))
        return None if index is None else Query(index)

    def observation(self, code: int) -> str:
        """The reply to a query."""
        return str(wording()["rules"]["observation"]).format(text=self.table.observations[code])

    @cached_property
    def rules(self) -> str:
        """All that a player is told at first."""
        return "\n".join(_rules(self))

    def said(self, role: str, name: str) -> str:
        """The wording of a part, such as the probe `member`, in the words of the domain."""
        first, _, frame = name.partition("/")
        words = self._words
        if frame:
            words["frame"] = str(self._phrases["frame"][frame]).format_map(words)
        return str(self._phrases[role][first]).format_map(words)

    def worded(self, text: str) -> str:
        """A text with the words of the domain."""
        return text.format_map(self._words)

    @property
    def _phrases(self) -> dict[str, Any]:
        return dict(wording()[self.recipe.structure])

    @property
    def _words(self) -> dict[str, str]:
        n = self.claims.n
        return wording()["domains"][self.domain][self.recipe.structure] | {"n": str(n), "half": str(n // 2)}

    @property
    def _verb(self) -> str:
        return str(wording()["domains"][self.domain]["tag"])

    @cached_property
    def _prefix(self) -> str:
        return "" if self.recipe.structure == "sequence" else str(wording()["domains"][self.domain]["prefix"])

    @cached_property
    def _prefixes_answers(self) -> bool:
        return bool(self._prefix) and self.table.shape != "outputs"

    @cached_property
    def _queries(self) -> dict[tuple[str, str], int]:
        pairs = ((f"{self._verb}_{tag}", self._labelled(a)) for tag, a in self.table.queries)
        return {pair: i for i, pair in enumerate(pairs)}

    def _labelled(self, arguments: Arguments) -> str:
        return ",".join(f"{self._prefix}{x}" for x in arguments)

    def _unlabelled(self, text: str) -> str:
        """Without the prefixes; a number that has none spoils the text."""
        return re.sub(rf"({self._prefix})?[0-9]+", lambda m: m[0][len(self._prefix) :] if m[1] else "?", text)

    @staticmethod
    def _tagged(name: str, content: str) -> str:
        return f"<{name}>{content}</{name}>"


@lru_cache(16)
def _table(recipe: Recipe, n: int) -> Table:
    return table(recipe, n)


@lru_cache(64)
def told(game: str, difficulty: int, domain: str = PLAIN) -> Told:
    """A game of the catalogue at a difficulty, in a domain's words."""
    return Told(games()[game], difficulty, domain)


def _rules(game: Told) -> list[str]:
    """The rules, line by line."""
    text, made = wording()["rules"], game.table
    lines = [text["title"], *_what_is_hidden(game), text["likely"], text["queries"]]
    for name in dict.fromkeys(tag for tag, _ in made.queries):
        arguments = [a for tag, a in made.queries if tag == name]
        names = "input" if name == "try" else ",".join(("x", "y")[: len(arguments[0])])
        example = game._tagged(f"{game._verb}_{name}", names)
        meaning = text["try"] if name == "try" else game.said("probe", name)
        valid = "; ".join(game._labelled(a) for a in arguments) if arguments[0] else text["no_arguments"]
        lines.append(text["query"].format(example=example, meaning=meaning, valid=valid))
    shape = game.worded(wording()["shapes"][made.shape])
    example = game._tagged(game.recipe.tag, "...")
    lines.append(text["answer"].format(example=example, shape=shape, answers=len(made.answers)))
    if made.unseen:
        lines.append(text["unseen"].format(unseen="; ".join(game._labelled(a) for a in made.unseen)))
    if game._prefix:
        where = "prefix" if game._prefixes_answers else "prefix_queries"
        lines.append(text[where].format(prefix=game._prefix))
    lines.append(text["limits"].format(t_max=game.claims.t_max, characters=MOST_CHARACTERS))
    return lines


def _what_is_hidden(game: Told) -> list[str]:
    text, recipe = wording()["rules"], game.recipe
    space = game.said("space", recipe.space)
    if recipe.mode == "deductive":
        return [text["deductive"].format(space=space)]
    if recipe.mode == "inductive":
        laws = [
            text["law"].format(letter="abc"[i], law=wording()["readouts"][readout].format(law=game.said("law", law)))
            for i, (law, readout) in enumerate(recipe.laws)
        ]
        end = text["inductive_end"].format(inputs=game.said("inputs", recipe.inputs))
        heading = text["one_law"] if len(laws) == 1 else text["several_laws"]
        return [text["inductive"].format(space=space), heading, *laws, end]
    effect, outcome = game.said("effect", recipe.effect), game.said("outcome", recipe.outcome)
    told_of = text["abductive"].format(space=space, effect=effect, outcome=outcome, shown=game.table.shown)
    return [told_of, text["cost"].format(cost=game.said("cost", recipe.cost))]
