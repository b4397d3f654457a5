"""The one compile policy of every numba kernel in the project.

A kernel takes and returns arrays and scalars, allocates nothing in its loop, draws no random number and raises
nothing: it returns a status code. NaN and infinity must survive, because a blow-up has to stay visible; so fast-math
is off, except for the four flags that generated steps ask for (contract, reassoc, nsz, arcp).

Machine code is kept under all that decides it. Numba looks at one function's own bytes; but a constant or a callee in
another file is compiled in as well, so our kernels are kept under the digest of all sources that can hold one.
"""

import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numba import config, njit

from cache.compiled import Compiled, own_folder
from cache.key import source_digest
from cache.store import cache_place

STEP_FASTMATH = frozenset({"contract", "reassoc", "nsz", "arcp"})
HOLDERS = ("dynamics", "indicators")  # the packages that hold kernels
SOURCES = source_digest([Path(__file__).parent.parent / name for name in HOLDERS], (".py",))  # as this process began
VERSIONS = " ".join(
    [platform.python_version(), *(f"{name} {version(name)}" for name in ("numba", "llvmlite", "numpy"))]
)


def kernel(
    *signature: Any, fastmath: frozenset[str] = frozenset(), group: str | None = None, source: str = SOURCES
) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function with the house policy; with a signature it is compiled, or read from disk, at once.

    A generated function says which system it is of (`group`), and the digest of the text that it is written in
    (`source`), on which alone it depends.
    """

    def compiled(function: Any) -> Any:
        policy = {"nogil": True, "error_model": "numpy", "fastmath": set(fastmath)}
        made = njit(**policy)(function)
        if config.DISABLE_JIT:
            return made
        folder = own_folder(source) if group is None else cache_place() / "kernels" / group
        name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        bytecode = function.__code__.co_code.hex()
        made._cache = Compiled(folder, name, repr((source, name, bytecode, sorted(fastmath), VERSIONS)))
        for one in signature:
            made.compile(one)
        if signature:
            made.disable_compile()
        return made

    return compiled


def inlined(function: Any) -> Any:
    """A function of scalars that becomes part of the kernels calling it; its arithmetic is never reordered or fused."""
    return njit(nogil=True, error_model="numpy", fastmath={"nsz"}, forceinline=True)(function)
