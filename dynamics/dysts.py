"""The systems of the package dysts (Gilpin 2021, arXiv:2110.05266) as rows, traced when they are asked for.

Equations, parameters and starts are the installed package's own. What a row needs besides stands in the overlay,
systems/dysts.toml (sampling boxes, circles, twins) and dysts_sweeps.toml. The package takes seconds to import, so ids
come from the overlay alone.
"""

import importlib
import json
import warnings
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from dynamics.listing import overlay as overlay
from dynamics.notation import equations
from dynamics.tracing import traced, without_clocks

MODULES = {"ode": "dysts.flows", "dde": "dysts.flows", "map": "dysts.maps"}
STATED = ("box", "circle", "conserved", "same_as", "transient", "sweep")  # keys that the overlay has of a row
USUAL = 400.0  # time that is dropped unless a row says otherwise
TURNS = 50.0  # of the dominant period, which are dropped where that is more
METADATA = {"dysts.flows": "chaotic_attractors.json", "dysts.maps": "discrete_maps.json"}


def dysts_row(system_id: str) -> dict[str, Any]:
    """The row of one system of dysts, with what the overlay states about it."""
    return row_of(overlay()[system_id])


def row_of(stated: Mapping[str, Any]) -> dict[str, Any]:
    """The row of the class `stated["class"]`: kind ode or map, or dde with `delayed` where the past acts.

    A clock among the variables becomes explicit time. Raises TracingError where the rule is no formula.
    """
    name, kind = stated["class"], stated["kind"]
    module, metadata = package(MODULES[kind])
    about = metadata[name]
    found = traced(getattr(module, name), about["initial_conditions"], about["parameters"], kind)
    if kind == "ode":
        found = without_clocks(found)
    let, rule = equations(found.rule, [*found.state, *found.parameters, *found.delayed])
    row = {
        "kind": kind,
        "state": found.state,
        "parameters": found.parameters,
        "let": let,
        "rule": rule,
        "name": f"{name} (dysts)",
        "citation": _citation(name, about["citation"]),
        **{key: stated[key] for key in STATED if key in stated},
    }
    if kind == "ode" and "transient" not in stated:
        row |= _transient(about.get("period"))
    if found.delayed:
        row["delayed"] = {past: {"of": x, "by": by} for past, (x, by) in found.delayed.items()}
    return row


@cache
def package(module: str) -> tuple[Any, dict[str, Any]]:
    """A module of dysts, imported now if it has to be, and the metadata of its classes by name."""
    with warnings.catch_warnings():  # of packages that dysts imports, about each other
        warnings.simplefilter("ignore")
        imported = importlib.import_module(module)
    text = (files("dysts") / "data" / METADATA[module]).read_text(encoding="utf-8")
    return imported, json.loads(text)


def _transient(period: float | None) -> dict[str, float]:
    """A longer transient for a flow much slower than most, by the package's dominant period."""
    long = TURNS * (period or 0.0)
    return {"transient": long} if long > USUAL else {}


def _citation(name: str, stated: str) -> str:
    source = stated.strip(" .\n")
    package = f"class {name} of dysts {version('dysts')} (Gilpin 2021, arXiv:2110.05266)"
    return f"{source}; as in {package}" if source else f"{package}, which cites no source"
