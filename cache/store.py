"""Where computed things are kept, and how a file is written so that nobody ever reads half of it."""

import contextlib
import os
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

FOLDER_VARIABLE = "CHAOSTRUTH_CACHE"


def cache_folder(part: str) -> Path:
    """The folder of one part of the cache, made if need be; CHAOSTRUTH_CACHE moves the whole cache elsewhere."""
    override = os.environ.get(FOLDER_VARIABLE)
    folder = (Path(override) if override else user_cache_path("chaostruth")) / part
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_whole(path: Path, content: bytes) -> None:
    """Write a file by temporary name and rename, so that a reader or a crash sees the old content or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=path.name, suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
