"""The games that are played: composed once out of the grammar, kept as data, and proved again by anyone."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

import numpy as np

from bench.games.grammar import Recipe, Table, table
from bench.games.lies import revisable_states
from bench.games.parts import RecipeError
from bench.games.solving import UnidentifiableError, fingerprint, greedy_turns, optimal_turns, random_success
from bench.games.writing import read_answer

DIFFICULTIES = (1, 2, 3, 4, 5)
FEWEST_ANSWERS = (5, 16, 28, 44, 64)
LEAST_TURNS = 8  # T_max of every game
MOST_GREEDY_TURNS = 16  # of a game that is kept
LEAST_GREEDY_MEAN = 4.0  # at the greatest size
FINGERPRINTED = 2  # sizes at which no two games have the same table
WORKED_EXAMPLE = "set-deductive-01"  # arXiv 2606.00103, appendix B


@dataclass(frozen=True)
class Instance:
    """What is claimed of a game at a difficulty.

    `greedy` : worst and mean turns of the greedy player. `optimal` : bounds of the least mean number of turns.
    `random` : success probability of the random player. `revisable` : hidden states of the counterfactual probe.
    `hash` : of the whole table.
    """

    n: int
    states: int
    queries: int
    answers: int
    t_max: int
    greedy: tuple[int, float]
    optimal: tuple[float, float]
    random: float
    revisable: tuple[int, ...]
    hash: str
    fingerprint: str


@dataclass(frozen=True)
class Game:
    """A recipe with what is claimed of it at the five difficulties."""

    recipe: Recipe
    instances: tuple[Instance, ...]


def table_hash(made: Table) -> str:
    """A digest of everything that a table holds."""
    whole = [made.queries, made.observations, made.answers, made.shape, made.shown, made.unseen]
    whole += [made.puzzle.table.tolist(), made.puzzle.answers.tolist()]
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()[:16]


def proved(recipe: Recipe, difficulty: int) -> Instance:
    """An instance with every figure found by enumeration; UnidentifiableError if it cannot always be won."""
    made = table(recipe, recipe.sizes[difficulty - 1])
    puzzle = made.puzzle
    if [read_answer(made.shape, answer) for answer in made.answers] != list(made.answers):
        raise RecipeError("an answer is not read as it is written")
    if len(set(made.answers)) < puzzle.n_answers:
        raise RecipeError("two answers are written alike")
    turns = greedy_turns(puzzle)
    mean, worst = float(turns @ puzzle.weights), int(turns.max())
    lo, hi = optimal_turns(puzzle, mean)
    return Instance(
        n=recipe.sizes[difficulty - 1],
        states=len(puzzle.answers),
        queries=len(made.queries),
        answers=puzzle.n_answers,
        t_max=max(LEAST_TURNS, 2 * worst),
        greedy=(worst, round(mean, 6)),
        optimal=(round(lo, 6), round(hi, 6)),
        random=round(random_success(puzzle), 6),
        revisable=tuple(revisable_states(puzzle)),
        hash=table_hash(made),
        fingerprint=fingerprint(puzzle) if difficulty <= FINGERPRINTED else "",
    )


def fault(recipe: Recipe, instances: Sequence[Instance]) -> str | None:
    """What of the rules for games the instances of one do not hold; None if they hold all."""
    answers = [one.answers for one in instances]
    if any(b <= a for a, b in pairwise(answers)):
        return "the answers do not become more with every difficulty"
    example = recipe.id == WORKED_EXAMPLE
    if any(a < least for a, least in zip(answers[example:], FEWEST_ANSWERS[example:], strict=False)):
        return "there are too few answers"
    if recipe.mode == "abductive" and any(one.states == one.answers for one in instances):
        return "every cause can be told apart, so that no cost matters"
    if max(one.greedy[0] for one in instances) > MOST_GREEDY_TURNS:
        return "the greedy player takes too long"
    if instances[-1].greedy[1] < max(LEAST_GREEDY_MEAN, instances[0].greedy[1]):
        return "the greatest size is too easy"
    if instances[-1].random >= instances[0].random:
        return "chance does not fall"
    return None


@cache
def games() -> dict[str, Game]:
    """All games by their ids, as they are kept."""
    lines = (files("bench.games") / "catalogue.jsonl").read_text(encoding="utf-8").splitlines()
    return {game.recipe.id: game for game in map(_read_game, lines)}


def _read_game(line: str) -> Game:
    row = json.loads(line)
    instances = tuple(
        Instance(**one | {key: tuple(one[key]) for key in ("greedy", "optimal", "revisable")})
        for one in row.pop("instances")
    )
    lists = {key: tuple(row[key]) for key in ("probes", "sizes")} | {"laws": tuple(map(tuple, row["laws"]))}
    return Game(Recipe(**row | lists), instances)


def game_line(game: Game) -> str:
    """A game as a line of the catalogue."""
    return json.dumps(asdict(game.recipe) | {"instances": [asdict(one) for one in game.instances]})


def largest_share() -> tuple[str, float]:
    """The grammar rule that most games use, and the share of them."""
    used = Counter(rule for game in games().values() for rule in set(game.recipe.rules))
    ((rule, count),) = used.most_common(1)
    return rule, count / len(games())


def verified(game: Game) -> list[str]:
    """Everything that a proof anew of a game finds to be otherwise than the catalogue says."""
    found: list[Instance] = []
    for difficulty, claimed in zip(DIFFICULTIES, game.instances, strict=True):
        try:
            one = proved(game.recipe, difficulty)
        except (RecipeError, UnidentifiableError) as error:
            return [f"{game.recipe.id} at difficulty {difficulty}: {error}"]
        found.append(one)
        if one != claimed:
            return [f"{game.recipe.id} at difficulty {difficulty}: the catalogue says {claimed}, and it is {one}"]
    trouble = fault(game.recipe, found)
    return [] if trouble is None else [f"{game.recipe.id}: {trouble}"]


def repeated() -> list[str]:
    """Games that another game of the catalogue equals at one of the two smallest sizes; there should be none."""
    met: dict[tuple[int, str], str] = {}
    found = []
    for game in games().values():
        for size, one in enumerate(game.instances[:FINGERPRINTED]):
            other = met.setdefault((size, one.fingerprint), game.recipe.id)
            if other != game.recipe.id:
                found.append(f"{game.recipe.id} has the table of {other} at difficulty {size + 1}")
    return found


def drawn_state(game: str, difficulty: int, seed: int, made: Table) -> int:
    """The hidden state of an episode: an answer, each as likely, and one of the states behind it."""
    digest = hashlib.sha256(f"{game}/{difficulty}/{seed}".encode()).digest()
    rng = np.random.default_rng(list(digest))
    return int(rng.choice(len(made.puzzle.answers), p=made.puzzle.weights))
