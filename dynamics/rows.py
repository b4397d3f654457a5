"""Rows of every kind, read by what each kind is read by."""

from collections.abc import Callable, Mapping
from typing import Any

from dynamics.delay_system import delay_row
from dynamics.fields import field_row
from dynamics.noise import noise_row
from dynamics.system import System, system_from_row

READERS: dict[str, Callable[[str, Mapping[str, Any]], System]] = {"dde": delay_row, "sde": noise_row, "pde": field_row}


def any_row(system_id: str, row: Mapping[str, Any]) -> System:
    """The system that a TOML table of any kind describes; raises RowError with one sentence that says what is wrong."""
    kind = row.get("kind")
    return READERS.get(kind if isinstance(kind, str) else "", system_from_row)(system_id, row)
