"""The list of systems, from the files of rows alone: nothing is parsed or traced, and SymPy is not imported."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

FUNCTIONS = {"spatial:kuramoto_sivashinsky": ["u"], "spatial:sine_gordon": ["u", "v"]}  # of space, of each field


@cache
def overlay() -> dict[str, dict[str, Any]]:
    """What is stated here about each system of dysts, by id."""
    rows, sweeps = (
        tomllib.loads((files("dynamics") / "systems" / name).read_text(encoding="utf-8"))
        for name in ("dysts.toml", "dysts_sweeps.toml")
    )
    return {system_id: row | sweeps.get(system_id, {}) for system_id, row in rows.items()}


@cache
def curated_rows() -> dict[str, dict[str, Any]]:
    """The shipped rows, by id, as they stand in the TOML file."""
    return tomllib.loads((files("dynamics") / "systems" / "curated.toml").read_text(encoding="utf-8"))


def curated_ids() -> list[str]:
    """The ids of the rows written here, which have sweeps and are labelled in minutes."""
    return list(curated_rows())


def dysts_ids() -> list[str]:
    """The ids of the systems of dysts; neither imports nor traces anything."""
    return list(overlay())


def system_ids() -> list[str]:
    """The ids of all systems: the curated ones first, then those of dysts."""
    return [*curated_ids(), *dysts_ids()]


def summaries() -> list[dict[str, Any]]:
    """Id, kind, variables, name and twin of every system, from the files alone: nothing is parsed or traced.

    The variables of a field are its functions of space, not the numbers that stand for them.
    """
    rows = []
    for system_id, row in [*curated_rows().items(), *((i, overlay()[i]) for i in dysts_ids())]:
        name = row.get("name") or f"{row['class']} (dysts)"
        variables = _variables(row)
        same_as = row.get("same_as") if row.get("same_as") in system_ids() else None
        rows.append({"system_id": system_id, "kind": row["kind"], "variables": variables, "dimension": len(variables),
                     "name": name, "same_as": same_as})  # fmt: skip
    return rows


def _variables(row: dict[str, Any]) -> list[str]:
    if row["kind"] == "pde":
        return FUNCTIONS[row["rule"]]
    names = list(row["state"] if "state" in row else row["box"])
    return [f"{x}{i}" for i in range(row["parameters"][row["lattice"]]) for x in names] if "lattice" in row else names
