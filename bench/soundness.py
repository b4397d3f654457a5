"""Whether an answer to an inference follows: from what the question states, and from axioms that hold besides."""

from functools import cache

import networkx as nx

from bench.chaosbench import Inference
from bench.finding import Finding
from labeling.axioms import Axiom, clash, literal_graph, negation, published


def inferred(about: Inference, answer: bool) -> Finding:
    """Whether an answer follows from what is stated, and from which of the published axioms besides."""
    if about.kind == "consistent":
        found = clash(about.premises)
        right = (found is None) == answer
        figure = "" if found is None else " and ".join(found.premises) + " clash"
        return Finding("confirmed" if right else "contradicted", "under the published axioms", figure)
    start = about.premises[0]
    if about.kind == "definite":
        decided = _path("published", start, about.goal, about.rules) or _path(
            "published", start, negation(about.goal), about.rules
        )
        right = (decided is None) != answer
        return Finding("confirmed" if right else "contradicted", "" if right else "something follows", _said(decided))
    goal = about.goal if about.kind == "must" else negation(about.goal)
    follows = answer if about.kind == "must" else not answer
    for name in ("sound", "by definition", "published"):
        path = _path(name, start, goal, about.rules)
        if path is not None:
            break
    if path is None:
        return Finding("contradicted" if follows else "confirmed", "it does not follow" if follows else "")
    if not follows:
        return Finding("contradicted", "it follows", _said(path))
    weakest = next((a for a in path if a is not None and a.status in ("refuted", "depends on definition")), None)
    if weakest is None:
        return Finding("confirmed", "", _said(path))
    if weakest.status == "refuted" and not about.rules:
        return Finding("contradicted", f"rests on {weakest.id}, which is refuted", weakest.counterexample or "")

    why = "is refuted" if weakest.status == "refuted" else "depends on a definition"
    return Finding("definition", f"rests on {weakest.id}, which {why}", weakest.counterexample or "")


def _said(path: list[Axiom | None] | None) -> str:
    return "" if path is None else ", ".join(a.id if a is not None else "a stated rule" for a in path)


@cache
def _axioms(name: str) -> tuple[Axiom, ...]:
    left_out = {"sound": ("refuted", "depends on definition"), "by definition": ("refuted",), "published": ()}[name]
    return tuple(a for a in published() if a.status not in left_out)


@cache
def _path(name: str, start: str, goal: str, rules: tuple[tuple[str, str], ...]) -> list[Axiom | None] | None:
    """The axioms of the shortest proof from start to goal, None for a rule that is stated; None where there is none."""
    among = _axioms(name)
    by_id = {a.id: a for a in among}
    graph = nx.DiGraph(literal_graph(among))
    for p, q in rules:
        graph.add_edge(p, q, axioms=())
        graph.add_edge(negation(q), negation(p), axioms=())
    if not nx.has_path(graph, start, goal):
        return None
    steps = nx.utils.pairwise(nx.shortest_path(graph, start, goal))
    return [by_id[ids[0]] if (ids := graph.edges[p, q]["axioms"]) else None for p, q in steps]
