"""Where computed things are kept, and how a file is written so that nobody ever reads half of it, or one that decayed.

Everything lies at <cache>/<part>/<group>/<entry>: the parts are kernels, results and pictures, a group is the id of the
system that the entry is about.
"""

import contextlib
import hashlib
import logging
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from platformdirs import user_cache_path

FOLDER_VARIABLE = "CHAOSTRUTH_CACHE"
DIGEST = 32  # bytes of SHA-256 before the content of a sealed file

_log = logging.getLogger(__name__)
_said: set[str] = set()


class DamagedError(Exception):
    """A sealed file is not what was written."""


def cache_place() -> Path:
    """The folder of the whole cache, whether it is there or not; CHAOSTRUTH_CACHE moves it elsewhere."""
    override = os.environ.get(FOLDER_VARIABLE)
    return Path(override) if override else user_cache_path("chaostruth")


def cache_folder(part: str) -> Path:
    """The folder of one part of the cache, made if need be."""
    folder = cache_place() / part
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_whole(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file by temporary name and rename, so that a reader or a crash sees the old content or the new one.

    content : whole, or in pieces if it is large
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=path.name, suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines([content] if isinstance(content, bytes) else content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file whole, its checksum first, so that read_sealed can tell whether it is still what was written."""
    write_whole(path, hashlib.sha256(content).digest() + content)


def read_sealed(path: Path) -> bytes | None:
    """The content of a sealed file, or None where there is none; raises DamagedError if it was truncated or changed."""
    try:
        sealed = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if hashlib.sha256(sealed[DIGEST:]).digest() != sealed[:DIGEST]:
        raise DamagedError(f"{path} is not what was written")
    return sealed[DIGEST:]


def unkept(error: OSError) -> str:
    """What is said when nothing can be written, be the disk full or the folder read-only."""
    return f"nothing can be kept in {cache_place()}: {error.strerror}; going on without"


def say_once(trouble: str) -> None:
    """Report what is wrong with the cache in one line, once in a process; it stops no work."""
    if trouble not in _said:
        _said.add(trouble)
        _log.warning("%s", trouble)
