"""How the catalogue was composed: parts drawn at random into games that are won, that grow, and that are new."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from bench.games.catalogue import (
    DIFFICULTIES,
    FEWEST_ANSWERS,
    FINGERPRINTED,
    WORKED_EXAMPLE,
    Game,
    fault,
    proved,
)
from bench.games.grammar import MODES, STRUCTURES, Recipe, part, table
from bench.games.parts import READOUTS, RecipeError, TooLargeError
from bench.games.solving import UnidentifiableError

PER_CELL = (40, 40, 40, 40, 40, 40, 39, 39, 39, 39, 39, 39)  # 474 games
DRAWN = 46  # per cell, of which those are left out that another cell has too
MOST_SIZE = 24
LONGEST_WAIT = 4  # sizes, after which a game that has not grown is given up

T = TypeVar("T")


def fitting_sizes(recipe: Recipe) -> tuple[int, ...]:
    """The five least sizes with enough answers; RecipeError if there are none that can be enumerated."""
    sizes: list[int] = []
    most = 0
    for n in range(3, MOST_SIZE):
        if n - (sizes[-1] if sizes else 3) > LONGEST_WAIT:
            break
        try:
            puzzle = table(recipe, n).puzzle
        except TooLargeError:
            raise
        except RecipeError:  # of a size that is too small
            continue
        if puzzle.n_answers >= FEWEST_ANSWERS[len(sizes)] and puzzle.n_answers > most:
            most = puzzle.n_answers
            sizes.append(n)
        if len(sizes) == len(FEWEST_ANSWERS):
            return tuple(sizes)
    raise RecipeError("it does not grow enough")


def composed(structure: str, mode: str, seed: int = 0) -> Iterator[Game]:
    """Games of a cell anew: parts drawn at random, the less the more often they were used, no table twice."""
    rng = random.Random(f"{structure}/{mode}/{seed}")
    seen: list[set[str]] = [set() for _ in range(FINGERPRINTED)]
    used: Counter[str] = Counter()
    found = 0
    while found < DRAWN:
        name = f"{structure}-{mode}-{found + 1:02d}"
        try:
            recipe = worked_example() if name == WORKED_EXAMPLE else _drawn(name, structure, mode, used, rng)
            game = _kept(recipe, seen)
        except (RecipeError, UnidentifiableError):
            continue
        if game is not None:
            found += 1
            used.update(recipe.rules)
            yield game


def chosen(games: Iterable[Game]) -> list[Game]:
    """Of games of all cells as many of each as are kept, numbered, none with a table that was met before."""
    seen: list[set[str]] = [set() for _ in range(FINGERPRINTED)]
    count: Counter[str] = Counter()
    wanted = dict(zip((f"{s}-{m}" for s in STRUCTURES for m in MODES), PER_CELL, strict=True))
    kept = []
    for game in games:
        cell, prints = game.recipe.cell, [one.fingerprint for one in game.instances[:FINGERPRINTED]]
        if count[cell] == wanted[cell] or any(p in met for p, met in zip(prints, seen, strict=True)):
            continue
        count[cell] += 1
        for p, met in zip(prints, seen, strict=True):
            met.add(p)
        kept.append(replace(game, recipe=replace(game.recipe, id=f"{cell}-{count[cell]:02d}")))
    return kept


def worked_example() -> Recipe:
    """The hidden number of arXiv 2606.00103, appendix B, with its queries and tag; at difficulty 1 it is one of 4."""
    probes, sizes = ("odd", "greater", "equal"), (4, 16, 32, 60, 100)
    return Recipe(WORKED_EXAMPLE, "set", "deductive", "number", probes, sizes=sizes, tag="answer")


def _kept(recipe: Recipe, seen: list[set[str]]) -> Game | None:
    """The game of a recipe at the sizes that fit, if it is new and holds the rules for games."""
    sized = recipe if recipe.sizes else replace(recipe, sizes=fitting_sizes(recipe))
    smallest = [proved(sized, difficulty) for difficulty in DIFFICULTIES[:FINGERPRINTED]]
    if any(one.fingerprint in met for one, met in zip(smallest, seen, strict=True)):
        return None
    instances = (*smallest, *(proved(sized, difficulty) for difficulty in DIFFICULTIES[FINGERPRINTED:]))
    if fault(sized, instances) is not None:
        return None
    for one, met in zip(smallest, seen, strict=True):
        met.add(one.fingerprint)
    return Game(sized, instances)


def _drawn(name: str, structure: str, mode: str, used: Counter[str], rng: random.Random) -> Recipe:
    parts = STRUCTURES[structure]

    def rare(options: Sequence[T], rule: Callable[[T], list[str]]) -> T:
        weights = [1.0 / (1 + sum(used[f"{structure} {r}"] for r in rule(one))) ** 2 for one in options]
        return rng.choices(options, weights)[0]

    spaces = [s for s in parts.spaces if s.name not in parts.reserved]
    space = rare(spaces, lambda s: [f"space:{p}" for p in s.name.split("/")])

    def one_of(role: str, options: Sequence[Any], kind: str, but: Iterable[str] = ()) -> str:
        fitting = [o for o in options if o.kind == kind and o.name not in but]
        if not fitting:
            raise RecipeError(f"no {role} fits {kind}")
        return str(rare(fitting, lambda o: [f"{role}:{o.name}"]).name)

    if mode == "inductive":
        laws: dict[str, str] = {}
        for _ in range(rng.choice((1, 2, 2, 3))):
            law = one_of("law", parts.laws, space.kind, laws)
            laws[law] = rare(list(READOUTS), lambda r: [f"readout:{r}"])
        inputs = one_of("inputs", parts.inputs, space.kind)
        return Recipe(name, structure, mode, space.name, laws=tuple(sorted(laws.items())), inputs=inputs)
    kind, effect, cost, outcome = space.kind, "", "", ""
    if mode == "abductive":
        effect, cost = one_of("effect", parts.effects, kind), one_of("cost", parts.costs, kind)
        kind = part(parts.effects, effect, kind).seen
        outcome = one_of("outcome", parts.outcomes, kind)
    probes: list[str] = []
    for _ in range(rng.choice((1, 2, 2, 3))):
        probes.append(one_of("probe", parts.probes, kind, probes))
    chosen = tuple(sorted(probes))
    return Recipe(name, structure, mode, space.name, chosen, effect=effect, outcome=outcome, cost=cost)
