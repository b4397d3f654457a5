"""The rows by id, and a user's own file of rows."""

import difflib
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from dynamics.system import RowError, System, system_from_row


class UnknownSystemError(LookupError):
    """No system has this id; the message suggests the nearest ones."""


@cache
def curated_rows() -> dict[str, dict[str, Any]]:
    """The shipped rows, by id, as they stand in the TOML file."""
    return tomllib.loads((files("dynamics") / "systems" / "curated.toml").read_text(encoding="utf-8"))


def system_ids() -> list[str]:
    """The ids of all systems that are shipped."""
    return list(curated_rows())


@cache
def system(system_id: str) -> System:
    """The system with this id; raises UnknownSystemError with the nearest ids where there is none."""
    rows = curated_rows()
    if system_id not in rows:
        near = difflib.get_close_matches(system_id, rows, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "`bench systems` lists them all."
        raise UnknownSystemError(f"there is no system {system_id!r}; {hint}")
    return system_from_row(system_id, rows[system_id])


def systems_in_file(path: Path) -> list[System]:
    """The systems that a user's TOML file describes: tables as in curated.toml, or one row without a table name."""
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RowError(f"{path} is not valid TOML: {error}") from None
    if isinstance(rows.get("kind"), str):
        rows = {path.stem: rows}
    if not rows:
        raise RowError(f"{path} describes no system; give a table such as [my_map] with kind, state and rule")
    for name, row in rows.items():
        if not isinstance(row, dict):
            raise RowError(f"{path}: {name} stands outside a table; write it below a heading such as [my_map]")
    return [system_from_row(name, row) for name, row in rows.items()]
