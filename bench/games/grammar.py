"""Recipes: which parts a game is composed of; and the tables that they make at a size."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bench.games.graphs import GRAPHS
from bench.games.parts import READOUTS, Arguments, Object, Probe, RecipeError, Space, Structure, TooLargeError, Value
from bench.games.sequences import SEQUENCES
from bench.games.sets import SETS
from bench.games.solving import Codes, Puzzle
from bench.games.trees import TREES
from bench.games.writing import WRITTEN, value_text

STRUCTURES: dict[str, Structure] = {s.name: s for s in (SETS, SEQUENCES, TREES, GRAPHS)}
MODES = ("deductive", "inductive", "abductive")
MOST_UNSEEN = 10  # inputs that an inductive game asks for at the end
MOST_OBJECTS = 2500
MOST_STATES = 1500
MOST_QUERIES = 250
MOST_CELLS = 60_000  # of a table


@dataclass(frozen=True)
class Recipe:
    """A game: parts by their names, and its five sizes.

    deductive: space, probes. inductive: space (of keys), laws as (law, readout), inputs.
    abductive: space (of causes), effect, probes (of the effect), outcome (shown at once), cost.
    """

    id: str
    structure: str
    mode: str
    space: str
    probes: tuple[str, ...] = ()
    laws: tuple[tuple[str, str], ...] = ()
    inputs: str = ""
    effect: str = ""
    outcome: str = ""
    cost: str = ""
    sizes: tuple[int, ...] = ()
    tag: str = "submit"

    @property
    def cell(self) -> str:
        """Structure and mode."""
        return f"{self.structure}-{self.mode}"

    @property
    def rules(self) -> list[str]:
        """The grammar rules that it uses, each as role:name."""
        found = [f"space:{part}" for part in self.space.split("/")] + [f"probe:{name}" for name in self.probes]
        found += [f"law:{law}" for law, _ in self.laws] + [f"readout:{readout}" for _, readout in self.laws]
        others = (("inputs", self.inputs), ("effect", self.effect), ("outcome", self.outcome), ("cost", self.cost))
        return [f"{self.structure} {rule}" for rule in (*found, *(f"{role}:{name}" for role, name in others if name))]


@dataclass(frozen=True)
class Table:
    """A game at a size: queries as (tag, arguments), observations and answers as they are written.

    `shown` : the outcome of an abductive game. `unseen` : the inputs that an inductive one asks for.
    """

    puzzle: Puzzle
    queries: tuple[tuple[str, Arguments], ...]
    observations: tuple[str, ...]
    answers: tuple[str, ...]
    shape: str
    shown: int | None = None
    unseen: tuple[Arguments, ...] = ()


def part(parts: Any, name: str, kind: str | None = None) -> Any:
    """The part of this name, and of this kind if one is given."""
    for one in parts:
        if one.name == name and (kind is None or one.kind == kind):
            return one
    raise RecipeError(f"there is no part {name} of kind {kind}")


@lru_cache(64)
def _objects(structure: str, space: str, n: int) -> tuple[Object, ...]:
    found = part(STRUCTURES[structure].spaces, space).objects(n)
    if len(found) < 2:
        raise RecipeError(f"{space} has {len(found)} objects of size {n}")
    if len(found) > MOST_OBJECTS:
        raise TooLargeError(f"{space} has {len(found)} objects of size {n}")
    return tuple(found)


def table(recipe: Recipe, n: int) -> Table:
    """The table of a recipe at a size; RecipeError or UnidentifiableError where it makes no game."""
    structure = STRUCTURES[recipe.structure]
    space: Space = part(structure.spaces, recipe.space)
    objects = _objects(recipe.structure, recipe.space, n)
    if recipe.mode == "inductive":
        return _inductive(recipe, structure, space, objects, n)
    if recipe.mode == "abductive":
        return _abductive(recipe, structure, space, objects, n)
    probes = [part(structure.probes, name, space.kind) for name in recipe.probes]
    queries, codes, texts = _read(probes, objects, n)
    answers = tuple(WRITTEN[space.shape](o) for o in objects)
    return Table(Puzzle(codes, np.arange(len(objects))), queries, texts, answers, space.shape)


def _read(
    probes: list[Probe], objects: tuple[Object, ...], n: int
) -> tuple[tuple[tuple[str, Arguments], ...], Codes, tuple[str, ...]]:
    """The queries, the (objects, queries) codes of what they read off the objects, and what a code stands for."""
    calls = [(probe, a) for probe in probes for a in probe.arguments(n)]
    _check_size(len(objects), len(calls))
    place = {one: i for i, one in enumerate(dict.fromkeys(objects))}  # an effect may make several causes alike
    codes, texts = _coded([[probe.read(one, a, n) for one in place] for probe, a in calls])
    return tuple((probe.name, a) for probe, a in calls), codes.T[[place[one] for one in objects]], texts


def _check_size(states: int, queries: int) -> None:
    if states > MOST_STATES or queries > MOST_QUERIES or states * queries > MOST_CELLS:
        raise TooLargeError(f"a table of {states} states by {queries} queries is too large")


def _coded(lines: list[list[Value]]) -> tuple[Codes, tuple[str, ...]]:
    """Observations as numbers, and what each number stands for. The values of a line are of one type."""
    texts = [{value: value_text(value) for value in set(line)} for line in lines]
    names = sorted({text for some in texts for text in some.values()}, key=lambda text: (len(text), text))
    code = {name: i for i, name in enumerate(names)}
    number = [{value: code[text] for value, text in some.items()} for some in texts]
    codes = [[known[value] for value in line] for known, line in zip(number, lines, strict=True)]
    return np.array(codes, dtype=np.int64), tuple(names)


def _abductive(recipe: Recipe, structure: Structure, space: Space, objects: tuple[Object, ...], n: int) -> Table:
    """Causes that have the commonest outcome; of those that no query tells apart, the cheapest is the answer."""
    effect = part(structure.effects, recipe.effect, space.kind)
    outcome = part(structure.outcomes, recipe.outcome, effect.seen)
    probes = [part(structure.probes, name, effect.seen) for name in recipe.probes]
    cost = part(structure.costs, recipe.cost, space.kind)
    after = {one: effect.of(one, n) for one in objects}
    counts = Counter(outcome.of(after[one], n) for one in objects)
    shown = min(counts, key=lambda value: (-counts[value], value))
    causes = [one for one in objects if outcome.of(after[one], n) == shown]
    causes.sort(key=lambda one: (cost.of(one, n), one))
    if len(causes) < 2:
        raise RecipeError("one cause has the outcome")
    queries, codes, texts = _read(probes, tuple(after[one] for one in causes), n)
    _, first, inverse = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    answers = tuple(WRITTEN[space.shape](causes[i]) for i in np.sort(first))
    return Table(Puzzle(codes, order[inverse]), queries, texts, answers, space.shape, shown)


def _inductive(recipe: Recipe, structure: Structure, space: Space, objects: tuple[Object, ...], n: int) -> Table:
    """Every law with every key; the answer is what the rule makes of inputs that cannot be tried."""
    laws = [(part(structure.laws, law, space.kind), READOUTS[readout]) for law, readout in recipe.laws]
    tried = part(structure.inputs, recipe.inputs, space.kind).arguments(n)
    _check_size(len(laws) * len(objects), len(tried))
    values = [[read(law.of(key, a, n)) for a in tried] for law, read in laws for key in objects]
    codes, texts = _coded(values)
    codes = np.unique(codes, axis=0)
    held = _held_out(codes)
    kept = [i for i in range(len(tried)) if i not in held]
    rows, answers = np.unique(codes[:, held], axis=0, return_inverse=True)
    written = tuple(",".join(texts[code] for code in row) for row in rows)
    queries = tuple(("try", tried[i]) for i in kept)
    puzzle = Puzzle(codes[:, kept], answers.reshape(-1))
    return Table(puzzle, queries, texts, written, "outputs", unseen=tuple(tried[i] for i in held))


def _held_out(codes: Codes) -> list[int]:
    """Inputs to hold out, each telling most rules apart, as long as those that are left determine the rule.

    codes : (rules, inputs) no two rows alike
    """
    small = codes.astype(np.uint16)  # of which unique rows are found sooner
    width = int(codes.max()) + 1
    held: list[int] = []
    refused: set[int] = set()
    label = np.zeros(len(codes), dtype=np.int64)  # of what the inputs that are held out tell apart
    while len(held) < MOST_UNSEEN:
        told = int(label.max()) + 1
        counts = _different(label[:, None] * width + codes)
        counts[[*held, *refused]] = 0
        best = None
        for i in np.argsort(-counts, kind="stable").tolist():
            if counts[i] <= told:
                break
            kept = np.delete(small, [*held, i], axis=1)
            if kept.shape[1] and len(np.unique(kept, axis=0)) == len(codes):
                best = i
                break
            refused.add(i)
        if best is None:
            break
        held.append(best)
        label = np.unique(label * width + codes[:, best], return_inverse=True)[1]
    if not held:
        raise RecipeError("no input can be held out")
    return held


def _different(keys: Codes) -> Codes:
    """How many different values each column has."""
    ordered = np.sort(keys, axis=0)
    return np.asarray(1 + (ordered[1:] != ordered[:-1]).sum(axis=0))
