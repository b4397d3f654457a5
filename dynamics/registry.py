"""The rows by id, and a user's own file of rows."""

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from dynamics.nearest import did_you_mean, shown
from dynamics.system import RowError, System, system_from_row

MAX_FILE = 1_000_000  # bytes of a file of rows


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
        hint = did_you_mean(system_id, rows) or "; `bench systems` lists them all."
        raise UnknownSystemError(f"there is no system {shown(system_id)}{hint}")
    return system_from_row(system_id, rows[system_id])


def systems_in_file(path: Path) -> list[System]:
    """The systems that a user's TOML file describes: tables as in curated.toml, or one row without a table name."""
    rows = _tables(path, _text(path))
    if isinstance(rows.get("kind"), str):
        rows = {path.stem: rows}
    if not rows:
        raise RowError(f"{path} describes no system; give a table such as [my_map] with kind, state and rule")
    for name, row in rows.items():
        if not isinstance(row, dict):
            raise RowError(f"{path}: {shown(name)} stands outside a table; write it below a heading such as [my_map]")
    try:
        return [system_from_row(name, row) for name, row in rows.items()]
    except RowError as error:
        raise RowError(f"{path}: {error}") from None


def _text(path: Path) -> str:
    if not path.exists():
        near = did_you_mean(path.stem, [*(p.stem for p in path.parent.glob("*.toml")), *curated_rows()])
        raise UnknownSystemError(f"there is no file {shown(str(path))}{near}")
    if not path.is_file():
        what = "a folder" if path.is_dir() else "no ordinary file"
        raise UnknownSystemError(f"{path} is {what}; a TOML file, or the id of a system, is needed")
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_FILE + 1)
    except OSError as error:
        raise UnknownSystemError(f"{path} cannot be read: {error.strerror}") from None
    if len(content) > MAX_FILE:
        raise RowError(f"{path} has more than {MAX_FILE} bytes, which no file of systems needs; divide it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RowError(f"{path} is not valid TOML: byte {error.start} is not UTF-8; save it as UTF-8") from None


def _tables(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise RowError(f"{path} is not valid TOML for a system: arrays or tables are nested too deep") from None
    except ValueError as error:  # of which TOMLDecodeError is one; a number of 5000 digits is another
        end = f"(at line {text.count(chr(10)) + 1}, the end of the file)"
        why = str(error).replace("(at end of document)", end).partition("; use sys.")[0]
        raise RowError(f"{path} is not valid TOML: {why}") from None
