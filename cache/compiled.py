"""Numba's machine code on disk, under checksums: a decayed or half-written entry is a miss, and never loaded.

Numba's own files are trusted as they lie there: a truncated index stops the program, flipped bytes reach the linker,
and neither source nor constants of what a function calls are part of the name. Here an entry is one sealed file, named
by all that its machine code depends on.
"""

import contextlib
import multiprocessing
import os
import pickle
import shutil
import time
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from cache.key import key
from cache.results import SUFFIX, UNREADABLE
from cache.store import cache_place, read_sealed, say_once, unkept, write_sealed

KEPT_DAYS = 14  # after its last use, for machine code of sources that are no more


@cache
def own_folder(sources: str) -> Path:
    """Where machine code of our own sources lies; that of sources which nobody has used for long is removed."""
    folder = cache_place() / "kernels" / f"@{sources}"  # no system's id begins like this
    with contextlib.suppress(OSError):  # it serves nothing but the disk
        if folder.exists():
            os.utime(folder)
        else:
            for old in folder.parent.glob("@*"):
                if time.time() - old.stat().st_mtime > KEPT_DAYS * 86400:
                    shutil.rmtree(old, ignore_errors=True)
    return folder


class Compiled(_Cache):  # type: ignore[misc, unused-ignore]
    """What numba asks of a cache, for one function.

    folder : where entries lie.
    name : how they begin.
    identity : all beside signature and processor that decides the machine code (source, policy, versions).
    """

    def __init__(self, folder: Path, name: str, identity: str) -> None:
        self.folder, self.name, self.identity = folder, name, identity
        self.enabled = True

    @property
    def cache_path(self) -> str:
        """The folder, as numba's statistics show it."""
        return str(self.folder)

    def path(self, signature: Any, codegen: Any) -> Path:
        """The file for a signature on the processor that code is generated for."""
        return self.folder / f"{self.name}.{key(self.identity, str(signature), repr(codegen.magic_tuple()))}{SUFFIX}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None where it must be made."""
        target_context.refresh()
        path = self.path(sig, target_context.codegen())
        if not self.enabled:
            return None
        try:
            content = read_sealed(path)
            return None if content is None else CompileResult._rebuild(target_context, *pickle.loads(content))
        except (OSError, RuntimeError, *UNREADABLE):
            say_once(f"the compiled kernel {path} is damaged; it is compiled again")
            with contextlib.suppress(OSError):
                path.unlink()  # so that a worker beside this one need not say it too
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, if it can be kept."""
        if not self.enabled or data.lifted or data.library.has_dynamic_globals:
            return
        try:
            write_sealed(self.path(sig, data.codegen), dumps(data._reduce()))
        except OSError as error:
            if not _in_a_worker():  # the process that gave it the work says so itself
                say_once(unkept(error))

    def enable(self) -> None:
        """Read and write entries."""
        self.enabled = True

    def disable(self) -> None:
        """Neither read nor write entries."""
        self.enabled = False

    def flush(self) -> None:
        """Remove this function's entries."""
        for path in self.folder.glob(f"{self.name}.*{SUFFIX}"):
            path.unlink(missing_ok=True)


def _in_a_worker() -> bool:
    return multiprocessing.current_process().name != "MainProcess"
