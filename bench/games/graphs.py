"""Graphs on the vertices 1 to n in a known frame: which of its edges are there, or which vertices are lit.

An object is a pair: the edges of the frame, and those that are there (kind edges) or the lit vertices (kind lights).
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations

from bench.games.choices import each, few_places, pairs, placed, subsets, windows
from bench.games.parts import Arguments, Effect, Figure, Law, Object, Probe, Space, Structure, Value, reads_pair

KEPT = 100_000  # of the walks in graphs that are remembered

Edges = tuple[tuple[int, int], ...]
Graph = tuple[Edges, Edges]
Lights = tuple[Edges, tuple[int, ...]]


def _path(n: int) -> Edges:
    return tuple((i, i + 1) for i in range(1, n))


FRAMES: dict[str, Callable[[int], Edges]] = {
    "path": _path,
    "cycle": lambda n: tuple(sorted((*_path(n), (1, n)))),
    "star": lambda n: tuple((1, i) for i in range(2, n + 1)),
    "fan": lambda n: (*((1, i) for i in range(2, n + 1)), *((i, i + 1) for i in range(2, n))),
    "ladder": lambda n: tuple((i, j) for i, j in pairs(n) if j - i == 2 or (j - i == 1 and i % 2)),
    "braced": lambda n: tuple((i, j) for i, j in pairs(n) if j - i <= 2),
}


@lru_cache(KEPT)
def neighbours(edges: Edges, v: int) -> frozenset[int]:
    """The vertices that share an edge with v."""
    return frozenset(a + b - v for a, b in edges if v in (a, b))


@lru_cache(KEPT)
def steps(edges: Edges, v: int) -> dict[int, int]:
    """The vertices that can be reached from v, each with the least number of edges to it."""
    found, front = {v: 0}, [v]
    for a in front:
        for b in sorted(neighbours(edges, a) - found.keys()):
            found[b] = found[a] + 1
            front.append(b)
    return found


@lru_cache(KEPT)
def _components(edges: Edges, n: int) -> int:
    return len({frozenset(steps(edges, v)) for v in range(1, n + 1)})


def _edge_sets(name: str, kept: Callable[[Edges, int], bool]) -> list[Space]:
    def objects(frame: str) -> Callable[[int], list[Object]]:
        return lambda n: [(FRAMES[frame](n), e) for e in subsets(FRAMES[frame](n)) if kept(e, n)]

    return [Space(f"{name}/{frame}", "edges", objects(frame), "edges") for frame in FRAMES]


def _matching(edges: Edges, _n: int) -> bool:
    ends = [v for e in edges for v in e]
    return len(ends) == len(set(ends))


def _forest(edges: Edges, n: int) -> bool:
    return len(edges) == n - _components(edges, n)


def _no_isolated(edges: Edges, n: int) -> bool:
    return len({v for e in edges for v in e}) == n


def _apart(edges: Edges, lit: tuple[int, ...]) -> bool:
    return not any(a in lit and b in lit for a, b in edges)


def _together(edges: Edges, lit: tuple[int, ...]) -> bool:
    inside = tuple(e for e in edges if e[0] in lit and e[1] in lit)
    return bool(lit) and set(lit) <= steps(inside, lit[0]).keys()


def _edges(name: str, arguments: Callable[[int], list[Arguments]], read: Callable[..., Value]) -> Probe:
    return Probe(name, "edges", arguments, lambda g, a, _n: read(g[1], *a))


def _lit_near(edges: Edges, lit: tuple[int, ...], v: int) -> int:
    return len(neighbours(edges, v) & set(lit))


def _nearest(edges: Edges, lit: tuple[int, ...], v: int) -> int:
    return min((d for u, d in steps(edges, v).items() if u in lit), default=0)


def _within(edges: Edges, a: int, b: int) -> int:
    return sum(a <= u and v <= b for u, v in edges)


def _spread(name: str, rule: Callable[[int, int], bool]) -> Effect:
    """After a step a vertex is lit if the rule says so of itself (0 or 1) and the number of its lit neighbours."""

    def after(g: Lights, n: int) -> Lights:
        edges, lit = g
        return edges, tuple(v for v in range(1, n + 1) if rule(int(v in lit), _lit_near(edges, lit, v)))

    return Effect(name, "lights", after)


def _closed(g: Graph, n: int) -> Graph:
    """An edge wherever there is a path."""
    return g[0], tuple((u, v) for u, v in pairs(n) if v in steps(g[1], u))


def _two_steps(g: Graph, n: int) -> Graph:
    """An edge wherever there is a path of one edge or two."""
    return g[0], tuple((u, v) for u, v in pairs(n) if steps(g[1], u).get(v, 9) <= 2)


def _dead_ends(g: Graph, _n: int) -> Graph:
    """Only edges between vertices of which neither is a dead end are left."""
    return g[0], tuple(e for e in g[1] if all(len(neighbours(g[1], v)) > 1 for v in e))


def _bypassed(g: Graph, n: int) -> Graph:
    """An edge between the two neighbours of every vertex that has exactly two."""
    added = [tuple(sorted(m)) for v in range(1, n + 1) if len(m := neighbours(g[1], v)) == 2]
    return g[0], tuple(sorted({*g[1], *added}))  # type: ignore[arg-type]


def _pendant(g: Graph, _n: int) -> Graph:
    """Only edges at a dead end are left."""
    return g[0], tuple(e for e in g[1] if any(len(neighbours(g[1], v)) == 1 for v in e))


def _crossing(edges: Edges, some: Arguments) -> int:
    return sum((u in some) != (v in some) for u, v in edges)


def _reached(edges: Edges, some: Arguments) -> int:
    return len({v for u in some for v in steps(edges, u)})


def _lit_between(edges: Edges, lit: tuple[int, ...], u: int, v: int) -> int:
    d = steps(edges, u)
    return sum(d[w] + steps(edges, v)[w] == d[v] for w in lit)


def _inside(edges: Edges, some: Arguments) -> int:
    return sum(tuple(sorted(e)) in edges for e in combinations(some, 2))


GRAPHS = Structure(
    name="graph",
    spaces=[
        *_edge_sets("any_edges", lambda e, n: True),
        *_edge_sets("matching", _matching),
        *_edge_sets("forest", _forest),
        *_edge_sets("connected", lambda e, n: _components(e, n) == 1),
        *_edge_sets("covering", _no_isolated),
        *_edge_sets("even_edges", lambda e, n: len(e) % 2 == 0),
        *placed("any_lights", "lights", FRAMES, lambda e, lit: True),
        *placed("apart", "lights", FRAMES, _apart),
        *placed("together", "lights", FRAMES, _together),
        *placed("two_lights", "lights", FRAMES, lambda e, lit: len(lit) == 2, 2),
        *placed("three_lights", "lights", FRAMES, lambda e, lit: len(lit) == 3, 3),
        *placed("odd_lights", "lights", FRAMES, lambda e, lit: len(lit) % 2 == 1),
    ],
    probes=[
        _edges("edge", pairs, lambda e, u, v: (u, v) in e),
        _edges("degree", each, lambda e, v: len(neighbours(e, v))),
        _edges("odd_degree", each, lambda e, v: len(neighbours(e, v)) % 2 == 1),
        _edges("isolated", each, lambda e, v: not neighbours(e, v)),
        _edges("dead_end", each, lambda e, v: len(neighbours(e, v)) == 1),
        _edges("reachable", pairs, lambda e, u, v: v in steps(e, u)),
        _edges("steps", pairs, lambda e, u, v: steps(e, u).get(v, 0)),
        _edges("component", each, lambda e, v: len(steps(e, v))),
        _edges("edges_within", windows, _within),
        _edges("edges_up_to", each, lambda e, v: _within(e, 1, v)),
        _edges("even_up_to", each, lambda e, v: _within(e, 1, v) % 2 == 0),
        _edges("first_neighbour", each, lambda e, v: min(neighbours(e, v), default=0)),
        _edges("common", pairs, lambda e, u, v: len(neighbours(e, u) & neighbours(e, v))),
        _edges("farthest", each, lambda e, v: max(steps(e, v).values())),
        reads_pair("lit", "lights", each, lambda e, m, v: v in m),
        reads_pair("lit_near", "lights", each, _lit_near),
        reads_pair("odd_near", "lights", each, lambda e, m, v: _lit_near(e, m, v) % 2 == 1),
        reads_pair("any_near", "lights", each, lambda e, m, v: _lit_near(e, m, v) > 0),
        reads_pair("nearest", "lights", each, _nearest),
        reads_pair("lit_up_to", "lights", each, lambda e, m, v: sum(u <= v for u in m)),
        reads_pair("odd_up_to", "lights", each, lambda e, m, v: sum(u <= v for u in m) % 2 == 1),
        reads_pair("differ", "lights", pairs, lambda e, m, u, v: (u in m) != (v in m)),
        reads_pair("within_two", "lights", each, lambda e, m, v: any(steps(e, v).get(u, 9) <= 2 for u in m)),
        reads_pair("lit_in", "lights", windows, lambda e, m, a, b: sum(a <= v <= b for v in m)),
        reads_pair("lit_at_distance", "lights", each, lambda e, m, d: sum(steps(e, 1).get(v, 0) == d for v in m)),
        reads_pair("lit_between", "lights", pairs, _lit_between),
    ],
    effects=[
        _spread("spread", lambda own, near: own + near > 0),
        _spread("pass_on", lambda own, near: near > 0),
        _spread("crowd", lambda own, near: own == 1 or near >= 2),
        _spread("only_crowd", lambda own, near: near >= 2),
        _spread("switch", lambda own, near: (own + near) % 2 == 1),
        _spread("odd_neighbours", lambda own, near: near % 2 == 1),
        _spread("one_neighbour", lambda own, near: near == 1),
        _spread("survive", lambda own, near: own == 1 and near >= 1),
        _spread("lonely", lambda own, near: own == 1 and near == 0),
        Effect("closed", "edges", _closed),
        Effect("two_steps", "edges", _two_steps),
        Effect("no_dead_ends", "edges", _dead_ends),
        Effect("bypassed", "edges", _bypassed),
        Effect("pendant", "edges", _pendant),
    ],
    outcomes=[
        Figure("lights", "lights", lambda g, n: len(g[1])),
        Figure("first_lit", "lights", lambda g, n: int(1 in g[1])),
        Figure("last_lit", "lights", lambda g, n: int(n in g[1])),
        Figure("lights_parity", "lights", lambda g, n: len(g[1]) % 2),
        Figure("components", "edges", lambda g, n: _components(g[1], n)),
        Figure("edges", "edges", lambda g, n: len(g[1])),
        Figure("first_degree", "edges", lambda g, n: len(neighbours(g[1], 1))),
        Figure("edges_parity", "edges", lambda g, n: len(g[1]) % 2),
    ],
    costs=[
        Figure("lights", "lights", lambda g, n: len(g[1])),
        Figure("light_labels", "lights", lambda g, n: sum(g[1])),
        Figure("light_degrees", "lights", lambda g, n: sum(len(neighbours(g[0], v)) for v in g[1])),
        Figure("edges", "edges", lambda g, n: len(g[1])),
        Figure("edge_labels", "edges", lambda g, n: sum(u + v for u, v in g[1])),
        Figure("edge_lengths", "edges", lambda g, n: sum(v - u for u, v in g[1])),
    ],
    laws=[
        Law("crossing", "edges", lambda g, a, n: _crossing(g[1], a)),
        Law("reached", "edges", lambda g, a, n: _reached(g[1], a)),
        Law("degrees", "edges", lambda g, a, n: sum(len(neighbours(g[1], v)) for v in a)),
        Law("inside", "edges", lambda g, a, n: _inside(g[1], a)),
        Law("steps", "edges", lambda g, a, n: steps(g[1], a[0]).get(a[-1], 0)),
        Law("parts", "edges", lambda g, a, n: len({min(steps(g[1], v)) for v in a})),
        Law("near", "edges", lambda g, a, n: len({u for v in a for u in neighbours(g[1], v)})),
        Law("lit_among", "lights", lambda g, a, n: len(set(a) & set(g[1]))),
        Law("lit_near", "lights", lambda g, a, n: len({u for v in a for u in neighbours(g[0], v)} & set(g[1]))),
        Law("lit_around", "lights", lambda g, a, n: len({u for v in a for u in {v, *neighbours(g[0], v)}} & set(g[1]))),
        Law("lit_touching", "lights", lambda g, a, n: sum(_lit_near(g[0], g[1], v) for v in a)),
        Law("lit_between", "lights", lambda g, a, n: _lit_between(g[0], g[1], a[0], a[-1])),
        Law("dark_touching", "lights", lambda g, a, n: sum(len(neighbours(g[0], v) - set(g[1])) for v in a)),
    ],
    inputs=few_places(("edges", "lights"), ("one_or_two", "two", "up_to_three")),
)
