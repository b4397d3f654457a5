"""The 78 published axioms and the repaired ones as data, and what follows: violations, proofs, clashes.

A literal is a predicate, "Chaotic", or its negation, "~Chaotic". An axiom p -> q, or p -/- q which is p -> ~q, is a
clause of two literals, so the 54 literals with one arrow per clause and direction make a graph in which to follow is
to reach, and premises clash where one of them reaches the negation of another (or of itself): 2-SAT, after Aspvall,
Plass & Tarjan 1979, Inf. Process. Lett. 8:121. Functions reason with the published axioms unless `among` gives others.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import networkx as nx

from dynamics.nearest import shown
from labeling.predicate import NAMES

STATUSES = ("definition", "theorem", "convention", "depends on definition", "needs one attractor", "refuted")
VALUES = ("TRUE", "FALSE", "UNDECIDED")


@dataclass(frozen=True)
class Axiom:
    """One edge.

    id : "Chaotic->Mixing" for an implication, which may start at a negation, "~Random->Deterministic";
        "Ergodic-/-Periodic" for an exclusion.
    text : what it claims.
    status, reason, source : one of STATUSES, why, and the literature that it rests on.
    counterexample : a system of which it is false; None for what is true by definition, theorem or convention.
    change : of a repaired edge, how it differs from the published ones and why; None where it does not.
    """

    id: str
    text: str
    status: str
    reason: str
    source: str
    counterexample: str | None = None
    change: str | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"(~?\w+->|\w+-/-)\w+", self.id):
            raise ValueError(f"{self.id!r} is no axiom; write Chaotic->Mixing or Ergodic-/-Periodic")
        if self.status not in STATUSES:
            raise ValueError(f"{self.id}: the status is {self.status!r}, not one of {', '.join(STATUSES)}")
        _checked((self.premise, self.conclusion))

    @property
    def premise(self) -> str:
        """The literal on the left."""
        return re.split("->|-/-", self.id)[0]

    @property
    def conclusion(self) -> str:
        """The literal that follows from the premise: the predicate on the right, negated for an exclusion."""
        right = re.split("->|-/-", self.id)[1]
        return negation(right) if self.excludes else right

    @property
    def excludes(self) -> bool:
        """Whether it is an exclusion."""
        return "-/-" in self.id


class Step(NamedTuple):
    """One step of a proof: the literal that holds, the id of the axiom applied, the literal that follows."""

    literal: str
    axiom: str
    conclusion: str


class Clash(NamedTuple):
    """Premises of which no fewer clash, and the proof from the first to the negation of the last.

    For a premise and its own negation the proof has no steps.
    """

    premises: tuple[str, ...]
    proof: list[Step]


def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((files("labeling") / name).read_text(encoding="utf-8"))


@cache
def published() -> tuple[Axiom, ...]:
    """The axioms of axioms.toml, in its order."""
    data = _data("axioms.toml")
    examples = data["counterexamples"]
    return tuple(
        Axiom(**row | ({"counterexample": examples[row["counterexample"]]} if "counterexample" in row else {}))
        for row in data["axiom"]
    )


@cache
def repaired() -> tuple[Axiom, ...]:
    """The axioms of axioms-repaired.toml: true of every labelled set, and none implied by the others."""
    return tuple(Axiom(**row) for row in _data("axioms-repaired.toml")["axiom"])


def removed() -> dict[str, str]:
    """Published axioms that do not follow from the repaired ones, and why each was removed."""
    return dict(_data("axioms-repaired.toml")["removed"])


def negation(literal: str) -> str:
    """The literal that holds where this one does not."""
    return literal.removeprefix("~") if literal.startswith("~") else f"~{literal}"


def literal_graph(among: Iterable[Axiom] | None = None) -> nx.DiGraph:
    """The 54 literals with an edge p -> q where an axiom, or its contrapositive, lets q follow from p.

    The edge's `axioms` are the ids that do, the one that says it in this direction first.
    """
    return _graph(published() if among is None else tuple(among))


def violations(values: Mapping[str, str], among: Iterable[Axiom] | None = None) -> list[str]:
    """Ids of the axioms that values contradict.

    values : predicate -> TRUE, FALSE or UNDECIDED; one that is missing is UNDECIDED.
    """
    return [axiom.id for axiom, premise, conclusion in _decided(values, among) if premise and not conclusion]


def tested(values: Mapping[str, str], among: Iterable[Axiom] | None = None) -> list[str]:  # noqa: PT028, no test
    """Ids of the axioms that values test: both sides are decided, and one alone predicts the other.

    p -> q predicts nothing where p is FALSE and q TRUE, and p -/- q nothing where both are FALSE.
    """
    return [axiom.id for axiom, premise, conclusion in _decided(values, among) if premise or not conclusion]


def entailment(premises: Iterable[str], goal: str, among: Iterable[Axiom] | None = None) -> list[Step] | None:
    """The shortest proof of a literal from literals, the first premise's among equals; None if it does not follow.

    It starts at a premise, or, where the goal holds whatever the premises are, at its negation. A premise is its own
    proof, without steps. From premises that clash everything follows, so they raise ValueError.
    """
    graph, given = _question(premises, among)
    (goal,) = _checked((goal,))
    paths = [path for start in [*given, negation(goal)] if (path := _path(graph, start, goal)) is not None]
    return _steps(graph, min(paths, key=len)) if paths else None


def consequences(premises: Iterable[str], among: Iterable[Axiom] | None = None) -> list[str]:
    """The literals that follow from literals, these left out, in the order of the predicates.

    Premises that clash raise ValueError.
    """
    graph, given = _question(premises, among)
    reached = {literal for start in given for literal in nx.descendants(graph, start)}
    forced = {literal for literal in graph if nx.has_path(graph, negation(literal), literal)}
    return [literal for literal in graph if literal in (reached | forced) - set(given)]


def clash(premises: Iterable[str], among: Iterable[Axiom] | None = None) -> Clash | None:
    """The fewest premises that cannot hold together, those with the shortest proof first; None if all can."""
    graph, given = literal_graph(among), list(dict.fromkeys(_checked(premises)))
    for size in (1, 2):  # more than two premises never clash without two of them: every clause has two literals
        chosen_paths = [(chosen, _path(graph, chosen[0], negation(chosen[-1]))) for chosen in combinations(given, size)]
        found = [(chosen, path) for chosen, path in chosen_paths if path is not None]
        if found:
            chosen, path = min(found, key=lambda pair: len(pair[1]))
            return Clash(chosen, _steps(graph, path))
    return None


def longest_chains(among: Iterable[Axiom] | None = None) -> list[list[Step]]:
    """The proofs with the most steps in which no literal comes twice, contrapositives included."""
    graph = literal_graph(among)
    paths = [path for start in graph for path in nx.all_simple_paths(graph, start, list(graph))]
    most = max(map(len, paths), default=1)
    return [_steps(graph, path) for path in paths if len(path) == most > 1]


@cache
def _graph(axioms: tuple[Axiom, ...]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(literal for name in NAMES for literal in (name, negation(name)))
    direct = [(axiom.premise, axiom.conclusion, axiom.id) for axiom in axioms]
    for p, q, axiom_id in direct + [(negation(q), negation(p), axiom_id) for p, q, axiom_id in direct]:
        known = graph.edges[p, q]["axioms"] if graph.has_edge(p, q) else ()
        graph.add_edge(p, q, axioms=(*known, axiom_id))
    return nx.freeze(graph)


def _decided(values: Mapping[str, str], among: Iterable[Axiom] | None) -> Iterator[tuple[Axiom, bool, bool]]:
    """The axioms with both sides decided, and whether premise and conclusion hold."""
    holds: dict[str, bool] = {}
    for name, value in values.items():
        _require_predicate(name)
        if value not in VALUES:
            raise ValueError(f"{name} is {value!r}, not one of {', '.join(VALUES)}")
        if value != "UNDECIDED":
            holds |= {name: value == "TRUE", negation(name): value == "FALSE"}
    for axiom in published() if among is None else among:
        if axiom.premise in holds and axiom.conclusion in holds:
            yield axiom, holds[axiom.premise], holds[axiom.conclusion]


def _question(premises: Iterable[str], among: Iterable[Axiom] | None) -> tuple[nx.DiGraph, list[str]]:
    given, axioms = _checked(premises), None if among is None else tuple(among)
    if (found := clash(given, axioms)) is not None:
        raise ValueError(f"the premises clash, so that everything follows from them: {', '.join(found.premises)}")
    return literal_graph(axioms), given


def _path(graph: nx.DiGraph, start: str, goal: str) -> list[str] | None:
    return nx.shortest_path(graph, start, goal) if nx.has_path(graph, start, goal) else None


def _steps(graph: nx.DiGraph, path: list[str]) -> list[Step]:
    return [Step(p, graph.edges[p, q]["axioms"][0], q) for p, q in pairwise(path)]


def _checked(literals: Iterable[str]) -> list[str]:
    literals = list(literals)
    for literal in literals:
        _require_predicate(literal.removeprefix("~"))
    return literals


def _require_predicate(name: str) -> None:
    known = {known.lower(): known for known in NAMES}
    if name not in known.values():
        near = [known[key] for key in difflib.get_close_matches(name[:100].lower(), known, n=3, cutoff=0.5)]
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known.values())}."
        raise ValueError(f"there is no predicate {shown(name)}; {hint}")
