"""Trees on the nodes 1 to n with root 1: hidden shapes, and nodes that are marked in a tree that is known.

A shape is the tuple of the parents of 2 to n. Marks are a pair: the shape of the known tree, and the marked nodes.
"""

from collections.abc import Callable
from functools import lru_cache

from bench.games.choices import each, few_places, pairs, placed
from bench.games.parts import Arguments, Effect, Figure, Law, Object, Space, Structure, compared, reads, reads_pair

KEPT = 100_000  # of the walks in trees that are remembered

Shape = tuple[int, ...]
Marks = tuple[Shape, tuple[int, ...]]


def _frame(above: Callable[[int], int]) -> Callable[[int], Shape]:
    """The tree of each size in which `above` is the parent of a node."""
    return lambda n: tuple(above(i) for i in range(2, n + 1))


FRAMES = {
    "binary": _frame(lambda i: i // 2),
    "ternary": _frame(lambda i: (i + 1) // 3),
    "comb": _frame(lambda i: max(1, i - 2) if i % 2 else i - 1),
    "forked": _frame(lambda i: max(1, i - 2)),
}


@lru_cache(KEPT)
def line(shape: Shape, i: int) -> list[int]:
    """The nodes from i up to the root."""
    found = [i]
    while found[-1] != 1:
        found.append(shape[found[-1] - 2])
    return found


@lru_cache(KEPT)
def _depth(shape: Shape, i: int) -> int:
    return len(line(shape, i)) - 1


@lru_cache(KEPT)
def _below(shape: Shape, i: int) -> list[int]:
    return [j for j in range(1, len(shape) + 2) if i in line(shape, j)]


def _children(shape: Shape, i: int) -> list[int]:
    return [j for j, parent in enumerate(shape, 2) if parent == i]


@lru_cache(KEPT)
def _meeting(shape: Shape, i: int, j: int) -> int:
    up = line(shape, j)
    return next(k for k in line(shape, i) if k in up)


@lru_cache(KEPT)
def _path(shape: Shape, i: int, j: int) -> list[int]:
    top = line(shape, _meeting(shape, i, j))
    return [k for k in {*line(shape, i), *line(shape, j)} if k not in top[1:]]


def _grown(name: str, choices: Callable[[int, Shape], set[int]]) -> Space:
    """Shapes in which each node in turn hangs below one of the choices that the nodes before it leave."""

    def objects(n: int) -> list[Object]:
        shapes: list[Shape] = [()]
        for i in range(2, n + 1):
            shapes = [(*s, p) for s in shapes for p in sorted(choices(i, s))]
        return shapes

    return Space(name, "shape", objects, "parents")


def _separate(shape: Shape, marks: tuple[int, ...]) -> bool:
    return not any(j in line(shape, i)[1:] for i in marks for j in marks)


def _rooted(shape: Shape, marks: tuple[int, ...]) -> bool:
    return 1 in marks and all(i == 1 or shape[i - 2] in marks for i in marks)


def _leaves(shape: Shape, marks: tuple[int, ...]) -> bool:
    return not set(marks) & set(shape)


def _nodes_below(n: int) -> list[Arguments]:
    return [(i,) for i in range(2, n + 1)]


def _count_below(shape: Shape, marks: tuple[int, ...], i: int) -> int:
    return sum(i in line(shape, j) for j in marks)


def _count_above(shape: Shape, marks: tuple[int, ...], i: int) -> int:
    return sum(j in marks for j in line(shape, i))


def _on_path(shape: Shape, marks: tuple[int, ...], i: int, j: int) -> int:
    return len(set(_path(shape, i, j)) & set(marks))


def _nearest(shape: Shape, marks: tuple[int, ...], i: int) -> int:
    return min((len(_path(shape, i, j)) - 1 for j in marks), default=0)


def _moved(name: str, of: Callable[[Shape, int], list[int]]) -> Effect:
    """Every marked node marks others."""

    def after(tree: Marks, _n: int) -> Marks:
        return tree[0], tuple(sorted({j for i in tree[1] for j in of(tree[0], i)}))

    return Effect(name, "marks", after)


def _height(shape: Shape) -> int:
    return max(_depth(shape, i) for i in range(1, len(shape) + 2))


def _lifted(shape: Shape, _n: int) -> Shape:
    return tuple(p if p == 1 else shape[p - 2] for p in shape)


def _trimmed(shape: Shape, _n: int) -> Shape:
    """Leaves hang below the root afterwards, and what has children stays."""
    return tuple(p if i in shape else 1 for i, p in enumerate(shape, 2))


def _eldest(shape: Shape, _n: int) -> Shape:
    """A node hangs below its eldest elder sibling's place: all but the first child of a node move to the root."""
    return tuple(p if i == min(_children(shape, p)) else 1 for i, p in enumerate(shape, 2))


TREES = Structure(
    name="tree",
    spaces=[
        _grown("last_two", lambda i, s: {i - 1, max(1, i - 2)}),
        _grown("last_or_root", lambda i, s: {i - 1, 1}),
        _grown("last_or_half", lambda i, s: {i - 1, i // 2}),
        _grown("below_or_beside", lambda i, s: {i - 1, s[-1] if s else 1}),
        _grown("last_or_third", lambda i, s: {i - 1, max(1, i - 3)}),
        _grown("up_the_line", lambda i, s: set(line(s, i - 1)[:3])),
        *placed("subset", "marks", FRAMES, lambda s, m: True),
        *placed("separate", "marks", FRAMES, _separate),
        *placed("rooted", "marks", FRAMES, _rooted),
        *placed("leaves", "marks", FRAMES, _leaves),
        *placed("one_or_two", "marks", FRAMES, lambda s, m: True, 2),
        *placed("two", "marks", FRAMES, lambda s, m: len(m) == 2, 2),
        *placed("three", "marks", FRAMES, lambda s, m: len(m) == 3, 3),
    ],
    probes=[
        reads("parent", "shape", _nodes_below, lambda s, i: s[i - 2]),
        reads("ancestor", "shape", pairs, lambda s, i, j: i in line(s, j)),
        reads("depth", "shape", _nodes_below, _depth),
        reads("even_depth", "shape", _nodes_below, lambda s, i: _depth(s, i) % 2 == 0),
        reads("meeting", "shape", pairs, _meeting),
        reads("children", "shape", each, lambda s, i: len(_children(s, i))),
        reads("leaf", "shape", each, lambda s, i: i not in s),
        reads("size", "shape", each, lambda s, i: len(_below(s, i))),
        reads(
            "siblings", "shape", lambda n: [(i, j) for i, j in pairs(n) if i > 1], lambda s, i, j: s[i - 2] == s[j - 2]
        ),
        reads("distance", "shape", pairs, lambda s, i, j: len(_path(s, i, j)) - 1),
        reads("deeper", "shape", pairs, lambda s, i, j: compared(_depth(s, i), _depth(s, j))),
        reads("leaves_below", "shape", each, lambda s, i: sum(j not in s for j in _below(s, i))),
        reads("at_depth", "shape", each, lambda s, d: sum(_depth(s, j) == d for j in range(1, len(s) + 2))),
        reads_pair("marked", "marks", each, lambda s, m, i: i in m),
        reads_pair("any_below", "marks", each, lambda s, m, i: _count_below(s, m, i) > 0),
        reads_pair("count_below", "marks", each, _count_below),
        reads_pair("odd_below", "marks", each, lambda s, m, i: _count_below(s, m, i) % 2 == 1),
        reads_pair("count_above", "marks", each, _count_above),
        reads_pair("any_above", "marks", each, lambda s, m, i: _count_above(s, m, i) > 0),
        reads_pair("nearest", "marks", each, _nearest),
        reads_pair("on_path", "marks", pairs, _on_path),
        reads_pair("path_even", "marks", pairs, lambda s, m, i, j: _on_path(s, m, i, j) % 2 == 0),
        reads_pair(
            "more_below", "marks", pairs, lambda s, m, i, j: compared(_count_below(s, m, i), _count_below(s, m, j))
        ),
        reads_pair("marked_children", "marks", each, lambda s, m, i: sum(j in m for j in _children(s, i))),
        reads_pair("marked_at_depth", "marks", each, lambda s, m, d: sum(_depth(s, i) == d - 1 for i in m)),
        reads_pair("up_to", "marks", each, lambda s, m, i: sum(j <= i for j in m)),
    ],
    effects=[
        _moved("down", _below),
        _moved("up", line),
        _moved("to_children", lambda s, i: [i, *_children(s, i)]),
        _moved("to_parent", lambda s, i: line(s, i)[:2]),
        _moved("to_siblings", lambda s, i: _children(s, s[i - 2]) if i > 1 else [1]),
        _moved("around", lambda s, i: [*line(s, i)[:2], *_children(s, i)]),
        _moved("to_leaves", lambda s, i: [j for j in _below(s, i) if j not in s]),
        _moved("to_branch", lambda s, i: line(s, i)[-2:][:1] if i > 1 else [1]),
        Effect("grandparents", "shape", _lifted),
        Effect("trimmed", "shape", _trimmed),
        Effect("eldest", "shape", _eldest),
    ],
    outcomes=[
        Figure("count", "marks", lambda t, n: len(t[1])),
        Figure("root", "marks", lambda t, n: int(1 in t[1])),
        Figure("count_parity", "marks", lambda t, n: len(t[1]) % 2),
        Figure("last", "marks", lambda t, n: int(n in t[1])),
        Figure("leaves", "shape", lambda s, n: len(set(range(1, n + 1)) - set(s))),
        Figure("height", "shape", lambda s, n: _height(s)),
        Figure("root_children", "shape", lambda s, n: s.count(1)),
    ],
    costs=[
        Figure("fewest", "marks", lambda t, n: len(t[1])),
        Figure("shallow", "marks", lambda t, n: sum(1 + _depth(t[0], i) for i in t[1])),
        Figure("labels", "marks", lambda t, n: sum(t[1])),
        Figure("deep", "marks", lambda t, n: sum(n - _depth(t[0], i) for i in t[1])),
        Figure("depths", "shape", lambda s, n: sum(_depth(s, i) for i in range(2, n + 1))),
        Figure("height", "shape", lambda s, n: _height(s)),
        Figure("leaves", "shape", lambda s, n: len(set(range(1, n + 1)) - set(s))),
    ],
    laws=[
        Law("marks_between", "marks", lambda t, a, n: _on_path(t[0], t[1], a[0], a[-1])),
        Law("marks_above", "marks", lambda t, a, n: len({j for i in a for j in line(t[0], i)} & set(t[1]))),
        Law("marks_below", "marks", lambda t, a, n: len({j for i in a for j in _below(t[0], i)} & set(t[1]))),
        Law("common_above", "marks", lambda t, a, n: _count_above(t[0], t[1], _meeting(t[0], a[0], a[-1]))),
        Law("marks_among", "marks", lambda t, a, n: len(set(a) & set(t[1]))),
        Law("marked_parents", "marks", lambda t, a, n: sum(i > 1 and t[0][i - 2] in t[1] for i in a)),
        Law("distance", "shape", lambda s, a, n: len(_path(s, a[0], a[-1])) - 1),
        Law("meeting_depth", "shape", lambda s, a, n: _depth(s, _meeting(s, a[0], a[-1]))),
        Law("total_depth", "shape", lambda s, a, n: sum(_depth(s, i) for i in a)),
        Law("covered", "shape", lambda s, a, n: len({j for i in a for j in _below(s, i)})),
        Law("lines", "shape", lambda s, a, n: len({j for i in a for j in line(s, i)})),
        Law("leaves_among", "shape", lambda s, a, n: sum(i not in s for i in a)),
        Law("children_of", "shape", lambda s, a, n: sum(s.count(i) for i in a)),
    ],
    inputs=few_places(("shape", "marks"), ("nodes_up_to_two", "two_nodes", "nodes_up_to_three")),
)
