"""The parts that games are composed of, each with a name under which templates/games.toml holds its wording."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

Object = Any  # a hashable value: a tuple of numbers, or a pair of a known frame and what is hidden in it
Value = bool | int | str
Arguments = tuple[int, ...]


MOST_THINGS = 16  # of which all subsets are listed


class RecipeError(ValueError):
    """Parts that make no game."""


class TooLargeError(RecipeError):
    """Parts that make a table that is too large to be enumerated, as every larger size does."""


@dataclass(frozen=True)
class Space:
    """The hidden objects of a size. `kind` : what they are, so that only parts that fit are joined.

    `shape` : how an object is written as an answer, see bench.games.writing.
    """

    name: str
    kind: str
    objects: Callable[[int], list[Object]]
    shape: str


@dataclass(frozen=True)
class Probe:
    """A query: every tuple of arguments is one, and reads a value off an object of a size."""

    name: str
    kind: str
    arguments: Callable[[int], list[Arguments]]
    read: Callable[[Object, Arguments, int], Value]


@dataclass(frozen=True)
class Effect:
    """What a hidden cause brings about; `after` is its kind, by which probes and outcomes fit, if it is another one."""

    name: str
    kind: str
    of: Callable[[Object, int], Object]
    after: str = ""

    @property
    def seen(self) -> str:
        """The kind of what it brings about."""
        return self.after or self.kind


@dataclass(frozen=True)
class Figure:
    """A number of an object: of an effect, the outcome that is shown; of a cause, its cost."""

    name: str
    kind: str
    of: Callable[[Object, int], int]


@dataclass(frozen=True)
class Law:
    """What a hidden key makes of an input: a count, which a readout turns into the output."""

    name: str
    kind: str
    of: Callable[[Object, Arguments, int], int]


@dataclass(frozen=True)
class Inputs:
    """The inputs that a law is tried on."""

    name: str
    kind: str
    arguments: Callable[[int], list[Arguments]]


@dataclass(frozen=True)
class Structure:
    """All parts of Set, Sequence, Tree or Graph."""

    name: str
    spaces: Sequence[Space]
    probes: Sequence[Probe]
    effects: Sequence[Effect]
    outcomes: Sequence[Figure]
    costs: Sequence[Figure]
    laws: Sequence[Law]
    inputs: Sequence[Inputs]
    # probes of one game only: the worked example of arXiv 2606.00103, appendix B
    reserved: frozenset[str] = field(default_factory=frozenset)


def reads(name: str, kind: str, arguments: Callable[[int], list[Arguments]], read: Callable[..., Value]) -> Probe:
    """A probe whose reading takes the object and the arguments one by one."""
    return Probe(name, kind, arguments, lambda one, a, _n: read(one, *a))


def reads_pair(name: str, kind: str, arguments: Callable[[int], list[Arguments]], read: Callable[..., Value]) -> Probe:
    """The same of an object that is a pair, which `read` takes apart too."""
    return Probe(name, kind, arguments, lambda one, a, _n: read(*one, *a))


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


READOUTS: dict[str, Callable[[int], Value]] = {
    "value": lambda count: count,
    "parity": lambda count: count % 2 == 1,
    "some": lambda count: count >= 1,
    "two": lambda count: count >= 2,
    "thirds": lambda count: count % 3,
}


def compared(first: int, second: int) -> str:
    """The word for how the first number compares with the second."""
    return "equal" if first == second else "less" if first < second else "more"


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
