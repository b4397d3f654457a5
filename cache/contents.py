"""What the cache holds, and taking out of it."""

import contextlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cache.store import cache_place

PARTS = ("kernels", "results", "pictures", "descriptions")  # nothing else is touched, wherever CHAOSTRUTH_CACHE points
DAY = 86400.0


@dataclass(frozen=True)
class Entry:
    """A file of the cache: its part, its group (a system's id, or sources by digest), size in bytes, age in days."""

    part: str
    group: str
    path: Path
    size: int
    age: float


def entries(system_id: str | None = None, older_than: float = 0.0) -> list[Entry]:
    """The cache's files, those of one system alone if an id is given, which are at least so many days old."""
    return [e for e in _all() if (system_id is None or e.group == system_id) and e.age >= older_than]


def _all() -> Iterator[Entry]:
    now = time.time()
    for part in PARTS:
        folder = cache_place() / part
        for path in sorted(folder.rglob("*")):
            with contextlib.suppress(FileNotFoundError):  # another process was quicker
                if path.is_file():
                    status = path.stat()
                    inside = path.relative_to(folder).parts
                    group = inside[0] if len(inside) > 1 else ""
                    yield Entry(part, group, path, status.st_size, max(now - status.st_mtime, 0.0) / DAY)


def remove(found: Iterable[Entry]) -> None:
    """Remove files, and the folders that become empty; a process that needs one of them makes it again."""
    for entry in found:
        entry.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            entry.path.parent.rmdir()
