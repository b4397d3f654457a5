"""Results of long work, kept under what they depend on: what is found is right, or it is made again.

An entry is a sealed file of its own that holds a compressed pickle. It is written by temporary name and rename, so two
processes can share a cache, and one that is killed leaves whole entries only.
"""

import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from cache.key import key
from cache.store import DamagedError, cache_place, read_sealed, say_once, unkept, write_sealed

SUFFIX = ".bin"
MISSING = object()
Result = TypeVar("Result")
UNREADABLE = (
    DamagedError, zlib.error, pickle.UnpicklingError, EOFError, ImportError, AttributeError, LookupError, TypeError,
    ValueError, MemoryError,
)  # fmt: skip  # what reading an entry may raise that is damaged, or of code that is no more


class Results:
    """The results of one identity (code, libraries, machine) in one part of the cache.

    identity : whatever decides results beside a function's arguments; other identities' entries are never met.
    part : the folder within the cache.
    fresh : look up nothing, and store everything anew.
    """

    def __init__(self, identity: str, part: str = "results", fresh: bool = False) -> None:
        self.identity, self.part, self.fresh = identity, part, fresh

    def path(self, group: str, *values: Any) -> Path:
        """Where the result that depends on these values lies, whether it is there or not."""
        return cache_place() / self.part / group / f"{key(self.identity, *values)}{SUFFIX}"

    def found(self, path: Path) -> Any:
        """The result at a path, or MISSING where there is none; a damaged one is reported in a line, and MISSING."""
        if self.fresh:
            return MISSING
        result, trouble = kept(path)
        if trouble:
            say_once(trouble)
        return result

    def of(self, group: str, function: Callable[..., Result], *arguments: Any) -> Result:
        """A function's result, looked up or made here and kept."""
        path = self.path(group, function, arguments)
        found = self.found(path)
        if found is not MISSING:
            return found
        result = function(*arguments)
        if trouble := keep(path, result):
            say_once(trouble)
        return result


def kept(path: Path) -> tuple[Any, str | None]:
    """The result at a path or MISSING, and what was wrong with it."""
    try:
        content = read_sealed(path)
        return (MISSING, None) if content is None else (pickle.loads(zlib.decompress(content)), None)
    except OSError as error:
        return MISSING, f"cached results cannot be read in {cache_place()}: {error.strerror}; they are made again"
    except UNREADABLE:
        return MISSING, f"the cached result {path} is damaged; it is made again"


def keep(path: Path, result: Any) -> str | None:
    """Store a result; returns what hindered it, if anything did: a full disk or a read-only folder stops no work."""
    content = zlib.compress(pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL), level=1)
    try:
        write_sealed(path, content)
    except OSError as error:
        return unkept(error)
    return None
