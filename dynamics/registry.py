"""The rows by id, curated ones and those of the package dysts, and a user's own file of rows."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from dynamics.dysts import dysts_row
from dynamics.listing import curated_ids as curated_ids
from dynamics.listing import curated_rows as curated_rows
from dynamics.listing import dysts_ids as dysts_ids
from dynamics.listing import overlay
from dynamics.listing import summaries as summaries
from dynamics.listing import system_ids as system_ids
from dynamics.nearest import did_you_mean, shown
from dynamics.rows import any_row
from dynamics.system import RowError, System
from dynamics.variants import variant_row, variant_rows

MAX_FILE = 1_000_000  # bytes of a file of rows


class UnknownSystemError(LookupError):
    """No system has this id; the message suggests the nearest ones."""


def variant_ids() -> list[str]:
    """The ids of the variants: noise, forcing, a delay or a coupled copy added to systems of the list."""
    return list(variant_rows())


@cache
def system(system_id: str) -> System:
    """The system with this id; raises UnknownSystemError with the nearest ids where there is none."""
    if system_id in variant_rows():
        stated = variant_rows()[system_id]
        return any_row(system_id, variant_row(stated, _row(stated["variant_of"])))
    return any_row(system_id, _row(system_id))


def _row(system_id: str) -> dict[str, Any]:
    """The row of a system of the list."""
    if system_id in curated_rows():
        return curated_rows()[system_id]
    if system_id not in overlay():
        hint = did_you_mean(system_id, [*system_ids(), *variant_ids()]) or "; `bench systems` lists them all."
        raise UnknownSystemError(f"there is no system {shown(system_id)}{hint}")
    return dysts_row(system_id)


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
        return [any_row(name, row) for name, row in rows.items()]
    except RowError as error:
        raise RowError(f"{path}: {error}") from None


def _text(path: Path) -> str:
    if not path.exists():
        near = did_you_mean(path.stem, [*(p.stem for p in path.parent.glob("*.toml")), *system_ids()])
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
