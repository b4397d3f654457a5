"""Choices among the numbers 1 to n: arguments of queries, inputs of laws, and sets of places in what is known."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import combinations
from typing import Any

from bench.games.parts import Arguments, Inputs, Object, Space, TooLargeError

MOST_THINGS = 16  # of which all subsets are listed


def nothing(_n: int) -> list[Arguments]:
    """The arguments of a query that has none."""
    return [()]


def each(n: int) -> list[Arguments]:
    """1 to n."""
    return [(x,) for x in range(1, n + 1)]


def inner(n: int) -> list[Arguments]:
    """1 to n - 1."""
    return each(n - 1)


def pairs(n: int) -> list[Arguments]:
    """All x < y up to n."""
    return list(combinations(range(1, n + 1), 2))


def windows(n: int) -> list[Arguments]:
    """First and last of two or three neighbours among 1 to n."""
    return [(a, a + width) for width in (1, 2) for a in range(1, n + 1 - width)]


def small(top: int) -> Callable[[int], list[Arguments]]:
    """2 to `top`, whatever the size."""
    return lambda _n: [(x,) for x in range(2, top + 1)]


def up_to(most: int) -> Callable[[int], list[Arguments]]:
    """All sets of one to `most` of the numbers 1 to n."""
    return lambda n: [c for k in range(1, most + 1) for c in combinations(range(1, n + 1), k)]


def subsets(things: Iterable[Hashable]) -> list[tuple[Any, ...]]:
    """All subsets of things, smallest first, each in their order."""
    things = list(things)
    if len(things) > MOST_THINGS:
        raise TooLargeError(f"{len(things)} things have too many subsets")
    return [c for k in range(len(things) + 1) for c in combinations(things, k)]


def placed(
    name: str,
    kind: str,
    frames: Mapping[str, Callable[[int], Object]],
    kept: Callable[[Any, Arguments], bool],
    most: int | None = None,
) -> list[Space]:
    """For every known frame the sets of its places 1 to n, of at most so many, that hold a condition."""

    def objects(frame: Callable[[int], Object]) -> Callable[[int], list[Object]]:
        def listed(n: int) -> list[Object]:
            sets = subsets(range(1, n + 1)) if most is None else up_to(most)(n)
            known = frame(n)
            return [(known, places) for places in sets if kept(known, places)]

        return listed

    return [Space(f"{name}/{frame}", kind, objects(made), kind) for frame, made in frames.items()]


def few_places(kinds: Iterable[str], names: tuple[str, str, str]) -> list[Inputs]:
    """One or two places, exactly two, and one to three of them, as inputs under these names."""
    made = list(zip(names, (up_to(2), pairs, up_to(3)), strict=True))
    return [Inputs(name, kind, arguments) for kind in kinds for name, arguments in made]
