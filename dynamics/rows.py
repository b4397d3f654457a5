"""Rows of every kind, read by what each kind is read by."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from dynamics.system import System, system_from_row

# modules by name: two of them hold kernels, which a list of what there is need not wait for
READERS = {"dde": ("delay_system", "delay_row"), "sde": ("noise", "noise_row"), "pde": ("fields", "field_row")}


def any_row(system_id: str, row: Mapping[str, Any]) -> System:
    """The system that a TOML table of any kind describes; raises RowError with one sentence that says what is wrong."""
    kind = "sde" if row.get("kind") == "map" and "noise" in row else row.get("kind")
    if not isinstance(kind, str) or kind not in READERS:
        return system_from_row(system_id, row)
    module, name = READERS[kind]
    made: System = getattr(import_module(f"dynamics.{module}"), name)(system_id, row)
    return made
