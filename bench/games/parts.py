"""The parts that games are composed of, each with a name under which templates/games.toml holds its wording."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Object = Any  # a hashable value: a tuple of numbers, or a pair of a known frame and what is hidden in it
Value = bool | int | str
Arguments = tuple[int, ...]


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
