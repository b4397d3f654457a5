"""The one compile policy of every numba kernel in the project.

A kernel takes and returns arrays and scalars, allocates nothing in its loop, draws no random number and raises
nothing: it returns a status code. NaN and infinity must survive, because a blow-up has to stay visible; so fast-math
is off, except for the four flags that generated steps ask for (contract, reassoc, nsz, arcp).
"""

from collections.abc import Callable
from typing import Any

from numba import njit

STEP_FASTMATH = frozenset({"contract", "reassoc", "nsz", "arcp"})


def kernel(*signature: Any, fastmath: frozenset[str] = frozenset()) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function with the house policy; with a signature it is compiled, or read from disk, at once."""
    return njit(*signature, cache=True, nogil=True, error_model="numpy", fastmath=set(fastmath))
