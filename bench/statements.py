"""Premises and rules under which a goal follows, is ruled out, or is left open, and that look the same in all three.

Three systems share one list of rules and have a set of premises each: from the first set the goal follows, from the
second its negation, from the third neither. Question and answer depend on which system has which set, so no word, rule
or count of the text tells the answer. Nor does the asked system's own set without the direction of the rules: let a
and c be the premises that lead to the goal g and to its negation, and let b and d be as far from g as these, b on g's
side and d on the other, each by a chain with one rule turned round. The sets are {a, d}, {b, c} and {b, d}; whoever
follows rules both ways finds g and its negation, equally near, from each. If a is affirmed then b is, and if c is then
d. One step from a goal there are no such four premises; there one that no rule mentions evens out the negated ones.

Every rule is an axiom, and the axioms alone hold few balanced chains, none of three steps. Longer ones pass through
links, premises "if system A is mixing, then the Lorenz system is bounded", from the systems above to another one.
Whether the goal follows then depends on which of the three the links start at.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from typing import NamedTuple, TypeVar

import networkx as nx
import numpy as np

from labeling.axioms import Axiom, literal_graph, negation, published, repaired
from labeling.predicate import NAMES

T = TypeVar("T")
Chains = tuple[tuple[str, ...], ...]
AXIOMS = {"published": published, "repaired": repaired}
GOLDS = ("entailed", "refuted", "neither")


class Atom(NamedTuple):
    """A literal of a system: 0 is the one asked about."""

    system: int
    literal: str

    @property
    def negation(self) -> "Atom":
        """What holds where it does not."""
        return Atom(self.system, negation(self.literal))


class Shape(NamedTuple):
    """Steps of a chain: by rules on the first system, then, after a link each, by rules on the following ones."""

    first: int
    then: tuple[int, ...] = ()

    @property
    def hops(self) -> int:
        """The steps of the proof, links included."""
        return self.first + sum(1 + steps for steps in self.then)


class Rule(NamedTuple):
    """An axiom as stated: from a literal on the left to one on the right."""

    axiom: str
    premise: str
    conclusion: str


class Step(NamedTuple):
    """One step of a proof; the rule is the id of an axiom, or "link"."""

    atom: Atom
    rule: str
    conclusion: Atom


@dataclass(frozen=True)
class Statements:
    """What an item states; the order is that of the text."""

    goal: Atom
    gold: str
    premises: tuple[Atom, ...]
    links: tuple[tuple[Atom, Atom], ...]
    rules: tuple[Rule, ...]

    @property
    def systems(self) -> list[int]:
        """Those that premises speak of, the one asked about first."""
        named = {atom.system for atom in self.premises} | {atom.system for link in self.links for atom in link}
        return sorted(named | {self.goal.system})

    @property
    def arrows(self) -> dict[Atom, dict[Atom, str]]:
        """What follows in one step from each atom, and by which rule."""
        stated = [
            (Atom(n, rule.premise), Atom(n, rule.conclusion), rule.axiom) for n in self.systems for rule in self.rules
        ] + [(start, end, "link") for start, end in self.links]
        found: dict[Atom, dict[Atom, str]] = {}
        for start, end, rule in stated:
            found.setdefault(start, {}).setdefault(end, rule)
            found.setdefault(end.negation, {}).setdefault(start.negation, rule)
        return found

    def proof(self, wanted: Atom) -> list[Step] | None:
        """The shortest proof of an atom from the premises; None if it does not follow from them."""
        arrows = self.arrows
        reached = _reached(arrows, self.premises)
        if wanted not in reached:
            return None
        steps: list[Step] = []
        while (before := reached[wanted]) is not None:
            steps.insert(0, Step(before, arrows[before][wanted], wanted))
            wanted = before
        return steps

    def model(self, wanted: Atom) -> list[Atom]:
        """Atoms, one of each pair, that satisfy all that is stated and among which the wanted one is."""
        arrows = self.arrows
        holds = dict.fromkeys(_reached(arrows, [*self.premises, wanted]))
        words = {Atom(n, name.removeprefix("~")) for n in self.systems for r in self.rules for name in r[1:]}
        words |= {Atom(atom.system, atom.literal.removeprefix("~")) for atom in [*holds, *arrows]}
        for atom in sorted(words):
            if atom not in holds and atom.negation not in holds:
                follows = _reached(arrows, [atom.negation])
                holds |= dict.fromkeys(_reached(arrows, [atom]) if atom in follows else follows)
        return sorted(holds, key=lambda atom: (atom.system, atom.literal.removeprefix("~")))


def statements(rng: np.random.Generator, axioms: str, shape: Shape, negative: bool, gold: str) -> Statements:
    """Statements drawn at random, in which neither words nor rules depend on what they say about the goal.

    axioms : "published" or "repaired".
    negative : whether the goal is the negation of a predicate.
    gold : what they decide about it, one of GOLDS.
    """
    while True:
        if (drawn := _draft(rng, axioms, shape, negative)) is not None:
            return drawn.dealt(rng, gold)


@cache
def goals(axioms: str, shape: Shape) -> list[str]:
    """The predicates that goals of a shape can have."""
    if shape.then:
        ends = _chains(axioms, shape.then[-1])
        return [name for name in NAMES if name in ends and f"~{name}" in ends]
    return [name for name in NAMES if _between(axioms, shape.first, name)]


@dataclass(frozen=True)
class _Draft:
    """Statements before it is drawn which set of premises is whose; `links` start at a system still to be chosen."""

    goal: Atom
    sets: Mapping[str, tuple[str, ...]]
    start: Sequence[str]
    links: Sequence[tuple[Atom, Atom]]
    rules: Sequence[Rule]
    hops: int

    def dealt(self, rng: np.random.Generator, gold: str) -> Statements:
        """Statements of which the system that matters has the set for this gold."""
        here, first = (0, 1) if not self.links else (1, 1)
        others = [first, first + 1] if not self.links else [2, 3]
        rest = [GOLDS[n] for n in rng.permutation(3) if GOLDS[n] != gold]
        owners = {gold: here} | dict(zip(rest, others, strict=True))
        systems = sorted({*owners.values(), *(atom.system for link in self.links for atom in link)} - {0})
        renamed = {0: 0} | {old: int(new) for old, new in zip(systems, rng.permutation(systems), strict=True)}
        premises = []
        for n in rng.permutation(3):
            chosen = self.sets[GOLDS[n]]
            premises += [Atom(renamed[owners[GOLDS[n]]], chosen[m]) for m in rng.permutation(len(chosen))]
        links = [(Atom(renamed[a.system], a.literal), Atom(renamed[b.system], b.literal)) for a, b in self.links]
        return Statements(
            self.goal,
            gold,
            tuple(premises),
            tuple(links[n] for n in rng.permutation(len(links))),
            tuple(self.rules[n] for n in rng.permutation(len(self.rules))),
        )

    @property
    def sound(self) -> bool:
        """Whether each set decides what it should in as many steps as it should, none clashes, and all look alike."""
        wanted = {"entailed": self.goal, "refuted": self.goal.negation}
        given = {gold: [Atom(self.first, literal) for literal in literals] for gold, literals in self.sets.items()}
        arrows = Statements(self.goal, "", tuple(given["neither"]), tuple(self.links), tuple(self.rules)).arrows
        if any(atom.negation in _reached(arrows, [atom]) for atom in arrows):
            return False
        both: dict[Atom, dict[Atom, None]] = {}
        for start, ends in arrows.items():
            for end in ends:
                both.setdefault(start, {})[end] = both.setdefault(end, {})[start] = None
        near = {atom: _reached(both, [atom]) for pair in given.values() for atom in pair[:2]}
        for gold, atoms in given.items():
            reached = _reached(arrows, atoms)
            if any(atom.negation in reached for atom in reached):
                return False
            told = {atom: _distance(reached, atom) for atom in (self.goal, self.goal.negation) if atom in reached}
            if told != ({wanted[gold]: self.hops} if gold in wanted else {}):
                return False
            sides = [[_distance(near[atom], end) for end in (self.goal, self.goal.negation)] for atom in atoms[:2]]
            if any(one == other for one, other in sides):
                return False
            if sorted((min(side), side.index(min(side))) for side in sides) != [(self.hops, 0), (self.hops, 1)]:
                return False
        return True

    @property
    def first(self) -> int:
        """The system that the premises in question are about."""
        return 1 if self.links else 0


def _draft(rng: np.random.Generator, axioms: str, shape: Shape, negative: bool) -> _Draft | None:
    """A draft, or None where what was drawn does not fit together."""
    names = goals(axioms, shape)
    name = names[rng.integers(len(names))]
    goal = f"~{name}" if negative else name
    ends, chains, links = [goal, negation(goal)], [], []
    source = _linked_source(rng, axioms, shape.first) if shape.then else _source(rng, axioms, shape.first, goal)
    start = [source[0][-1], source[2][-1]]
    for n, steps in reversed(list(enumerate(shape.then, 1))):
        tails = [_one(rng, _chains(axioms, steps)[end]) for end in ends]
        chains += tails
        ends = [_one(rng, [*_chains(axioms, shape.then[n - 2])]) for _ in tails] if n > 1 else start
        here, there = (1 if n == 1 else n + 2), (0 if n == len(shape.then) else n + 3)
        links += [(Atom(here, end), Atom(there, tail[0])) for end, tail in zip(ends, tails, strict=True)]
    a, b, c, d = (chain[0] for chain in source)
    chains += source
    for literal in (a, b, c, d):
        beside = _beside(rng, axioms, literal, chains, fires=literal in (b, d))
        if beside is not None:
            chains.append(beside)
        elif links:
            return None
    rules = _rules(rng, axioms, chains)
    sets: dict[str, tuple[str, ...]] = {"entailed": (a, d), "refuted": (b, c), "neither": (b, d)}
    minus = {gold: sum(literal.startswith("~") for literal in literals) for gold, literals in sets.items()}
    most = max(minus.values())
    if most - min(minus.values()) > 1:
        return None
    if len({*minus.values()}) > 1:
        said = {literal.removeprefix("~") for chain in chains for literal in chain}
        said |= {atom.literal.removeprefix("~") for link in links for atom in link} | {name}
        unsaid = [word for word in NAMES if word not in said]
        if not unsaid:
            return None
        extra = unsaid[rng.integers(len(unsaid))]
        sets = {gold: (*pair, extra if minus[gold] == most else f"~{extra}") for gold, pair in sets.items()}
    drawn = _Draft(Atom(0, goal), sets, ends, links, rules, shape.hops)
    return drawn if drawn.sound else None


def _one(rng: np.random.Generator, among: Sequence[T]) -> T:
    return among[int(rng.integers(len(among)))]


def _word(literal: str) -> str:
    return literal.removeprefix("~")


def _linked_source(rng: np.random.Generator, axioms: str, steps: int) -> Chains:
    """Whole and turned chain to one literal and to another, whose premises fit."""
    sides = _sides(axioms, steps)
    ends = [*sides]
    while True:
        one, other = (_one(rng, sides[_one(rng, ends)]) for _ in range(2))
        if _word(one[0][-1]) != _word(other[0][-1]) and _fit(one + other) and _signs(one, other) == 2:
            return one + other


def _source(rng: np.random.Generator, axioms: str, steps: int, goal: str) -> Chains:
    """Whole and turned chain to a goal and to its negation, whose premises fit."""
    found = _between(axioms, steps, _word(goal))
    one, other = found[rng.integers(len(found))]
    return one + other if goal == one[0][-1] else other + one


@cache
def _between(axioms: str, steps: int, name: str) -> list[tuple[Chains, Chains]]:
    sides = _sides(axioms, steps)
    pairs = product(sides.get(name, []), sides.get(f"~{name}", []))
    fitting = [(one, other) for one, other in pairs if _fit(one + other)]
    most = max((_signs(*pair) for pair in fitting), default=0)
    return [pair for pair in fitting if _signs(*pair) == most]


def _signs(*sides: Chains) -> int:
    """On how many sides the premises are both affirmed or both negated."""
    return sum(whole[0].startswith("~") == turned[0].startswith("~") for whole, turned in sides)


def _fit(chains: Chains) -> bool:
    """Whether the premises have predicates of their own."""
    premises = {_word(chain[0]) for chain in chains}
    return len(premises - {_word(literal) for chain in chains for literal in chain[1:]}) == len(chains)


@cache
def _sides(axioms: str, steps: int) -> dict[str, list[Chains]]:
    """By their last literal, a chain and one with a turned step whose premises fit."""
    turned = _turned(axioms, steps)
    found: dict[str, list[Chains]] = {
        end: [(whole, wrong) for whole in chains for wrong in turned.get(end, []) if _fit((whole, wrong))]
        for end, chains in _chains(axioms, steps).items()
    }
    return {end: pairs for end, pairs in found.items() if pairs}


@cache
def _chains(axioms: str, steps: int) -> dict[str, list[tuple[str, ...]]]:
    """By their last literal, the chains of so many steps in which each literal follows from the one before."""
    graph = _graph(axioms)
    found: list[tuple[str, ...]] = [(literal,) for literal in graph]
    for _ in range(steps):
        found = [(first, *chain) for chain in found for first in graph.predecessors(chain[0]) if _fresh(first, chain)]
    return _by_end(found)


@cache
def _turned(axioms: str, steps: int) -> dict[str, list[tuple[str, ...]]]:
    """The same with one step the wrong way round: the second if there are three, else the first."""
    graph = _graph(axioms)
    found: list[tuple[str, ...]] = [(literal,) for literal in graph]
    for step in reversed(range(steps)):
        wrong = step == (1 if steps > 2 else 0)
        found = [
            (first, *chain)
            for chain in found
            for first in (graph.successors(chain[0]) if wrong else graph.predecessors(chain[0]))
            if _fresh(first, chain) and not (wrong and graph.has_edge(first, chain[0]))
        ]
    return _by_end(found)


def _by_end(chains: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for chain in chains:
        found.setdefault(chain[-1], []).append(chain)
    return found


def _fresh(literal: str, chain: Sequence[str]) -> bool:
    return literal not in chain and negation(literal) not in chain


def _beside(
    rng: np.random.Generator, axioms: str, literal: str, chains: Sequence[Sequence[str]], fires: bool
) -> tuple[str, str] | None:
    """A step from a premise, or to it, to or from a literal that no chain has; None if there is none."""
    graph = _graph(axioms)
    said = {word.removeprefix("~") for chain in chains for word in chain}
    after = [(literal, end) for end in graph.successors(literal) if end.removeprefix("~") not in said]
    before = [(start, literal) for start in graph.predecessors(literal) if start.removeprefix("~") not in said]
    among = (after or before) if fires else (before or after)
    return among[rng.integers(len(among))] if among else None


def _rules(rng: np.random.Generator, axioms: str, chains: Sequence[Sequence[str]]) -> list[Rule]:
    """The axioms of all steps, each clause once, by one of the axioms that state it."""
    graph, stated, rules = _graph(axioms), _axioms_by_id(axioms), {}
    for start, end in (step for chain in chains for step in pairwise(chain)):
        p, q = (start, end) if graph.has_edge(start, end) else (end, start)
        clause = frozenset((negation(p), q))
        if clause not in rules:
            ids = graph.edges[p, q]["axioms"]
            chosen = stated[ids[rng.integers(len(ids))]]
            rules[clause] = Rule(chosen.id, chosen.premise, chosen.conclusion)
    return list(rules.values())


@cache
def _axioms_by_id(axioms: str) -> dict[str, Axiom]:
    return {axiom.id: axiom for axiom in AXIOMS[axioms]()}


@cache
def _graph(axioms: str) -> nx.DiGraph:
    return literal_graph(AXIOMS[axioms]())


def _reached(arrows: Mapping[Atom, Iterable[Atom]], given: Iterable[Atom]) -> dict[Atom, Atom | None]:
    """What follows from atoms, the nearest first, and what each was reached from."""
    before: dict[Atom, Atom | None] = dict.fromkeys(given)
    queue = list(before)
    for atom in queue:
        for end in arrows.get(atom, ()):
            if end not in before:
                before[end] = atom
                queue.append(end)
    return before


def _distance(reached: Mapping[Atom, Atom | None], atom: Atom) -> float:
    if atom not in reached:
        return np.inf
    steps, before = 0, reached[atom]
    while before is not None:
        steps, before = steps + 1, reached[before]
    return steps
