"""Options of the command line, checked wholly before any work begins."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dynamics.nearest import shown

if TYPE_CHECKING:
    from dynamics.system import Sweep, System
    from labeling.workers import Workers

    Grid = tuple[System, Sweep] | tuple[System, Sweep, Sweep]  # a sweep, or a map over two parameters

MAX_DIGITS = 18  # of a whole number on the command line


class UsageError(ValueError):
    """Wrong use of an option, in one sentence."""


def fault_of(error: OSError) -> str:
    """What the operating system refused, and where, without its number."""
    return f"{error.strerror or error}{f': {shown(str(error.filename))}' if error.filename else ''}"


def chosen_systems(
    names: list[str], assign: list[str], start: str | None, every: bool = False, variants: bool = False
) -> "list[System]":
    """The systems by their ids or files (none: the curated ones), with the values and the start that are given."""
    from dynamics.codegen import check_size
    from dynamics.registry import curated_ids, system_ids, variant_ids

    if every and (names or assign or start):
        raise UsageError("--all labels every system at its own parameters; leave out ids, --set and --start")
    wanted = [*(system_ids() if every else names or curated_ids()), *(variant_ids() if variants else [])]
    systems = [s for name in wanted for s in named(name)]
    ids = [s.id for s in systems]
    for name in ids:
        if ids.count(name) > 1:
            raise UsageError(f"{name} is given more than once; files are named after ids, so each may stand once")
    values = _values(assign, "--set")
    state = _values(start.split(","), "--start") if start is not None else {}
    if values or state:
        systems = [s.with_values(values, state) for s in systems]
    for s in systems:
        missing = [name for name in s.state if name not in state]
        if state and missing:
            raise UsageError(
                f"--start gives no value of {', '.join(missing)}; {s.id} needs one of each of its variables"
            )
        s.check_start()
        if s.has_formula:
            check_size(s)
    return systems


def chosen_grids(systems: "list[System]", params: list[str], count: int | None = None) -> "list[Grid]":
    """Each system with the grid of --param, or the two of a map, or else with those of its row; one at least.

    `count` points at short decimals are taken of each sweep of a row, if it is given, instead of those of the row.
    """
    if params:
        given = [_grid(param) for param in params]
        if len(given) > 2 or len({grid.parameter for grid in given}) < len(given):
            raise UsageError("--param is given once for a sweep, or twice for a map over two different parameters")
        for s in systems:
            s.with_values({grid.parameter: grid.lo for grid in given})
        return [(s, given[0]) if len(given) == 1 else (s, given[0], given[1]) for s in systems]
    grids: list[Grid] = [
        (s, grid if count is None else replace(grid, points=count, short=True)) for s in systems for grid in s.sweeps
    ]
    if not grids:
        raise UsageError(
            f"{', '.join(s.id for s in systems)} has no sweep in its row; give one by --param NAME=LO:HI:N"
        )
    return grids


def named(name: str) -> "list[System]":
    """The system with this id, or those of a TOML file."""
    from dynamics.registry import UnknownSystemError, system, system_ids, systems_in_file, variant_ids

    if name.endswith(".toml"):
        return systems_in_file(Path(name))
    if name not in [*system_ids(), *variant_ids()] and Path(name).exists():
        raise UnknownSystemError(f"{name} is no id and no file whose name ends in .toml; one of them is needed")
    return [system(name)]


@contextmanager
def chosen_workers(jobs: int | None, backend: str | None, address: str | None) -> "Iterator[Callable[..., Workers]]":
    """Who does the work, as what makes Workers of a progress and results: processes of this machine, or a cluster."""
    from labeling.cluster import EXAMPLES, connected
    from labeling.workers import Workers

    if backend is not None and backend not in EXAMPLES:
        raise UsageError(f"--backend {shown(backend)} is not known; {' and '.join(EXAMPLES)} are")
    if backend and not address:
        raise UsageError(f"--backend {backend} needs the --address of a cluster that runs, such as {EXAMPLES[backend]}")
    if address and not backend:
        raise UsageError("--address says where a cluster is, and --backend dask or ray which kind; give both")
    if backend and jobs:
        raise UsageError("--jobs is about processes of this machine, and --backend about others; give one of them")
    with connected(backend, address) if backend and address else nullcontext() as cluster:
        yield partial(Workers, jobs or os.cpu_count() or 1, cluster=cluster)


def writable(out: Path) -> None:
    """Make a folder for results, or say why that cannot be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {out} cannot be made: {error.strerror}") from None
    if not os.access(out, os.W_OK):
        raise UsageError(f"the folder {out} cannot be written to")


def _values(pairs: list[str], option: str) -> dict[str, float]:
    from dynamics.equations import number

    values: dict[str, float] = {}
    for text in pairs:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise UsageError(f"{option}: {shown(text)} is not of the form NAME=VALUE, such as rho=28 or beta=8/3")
        if name in values:
            raise UsageError(f"{option} gives {name[:60]} twice; one value is needed")
        values[name] = number(value, f"{option} {name[:60]}")
    return values


def _grid(param: str) -> "Sweep":
    from dynamics.equations import number
    from dynamics.system import Sweep

    name, _, grid = param.partition("=")
    parts = [part.strip() for part in grid.split(":")]
    if not name.strip() or len(parts) != 3 or not all(parts):
        raise UsageError(f"--param: {shown(param)} is not of the form NAME=LO:HI:N, such as rho=0:200:401")
    if not (parts[2].isascii() and parts[2].isdigit() and len(parts[2]) <= MAX_DIGITS):
        raise UsageError(f"--param: {shown(parts[2])} is not a number of points; a whole number such as 401 is needed")
    lo, hi = number(parts[0], "--param LO"), number(parts[1], "--param HI")
    return Sweep(name.strip(), lo, hi, int(parts[2]))
