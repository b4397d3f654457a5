"""Variants of rows: noise, forcing, a delay or a coupled copy added to a system, stated in systems/variants.toml.

    [vdp__coupled]
    variant_of = "vdp"
    parameters = { k_c = 0.5 }                # beside those of the base
    plus = { x = "A_f*cos(w_f*t)" }           # added to the rule of these variables
    coupled = { x = "k_c" }                   # a second copy, drawn to the first in these variables and it to the copy
    noise, delayed, sweep, transient, box     # as in any row

A copy's names end in _2. Two flows are coupled by k (x_2 - x), two maps by k (f(x_2) - f(x)) (Kaneko 1984, Prog. Theor.
Phys. 72:480), on a circle of circumference L by k L/(2 pi) sin(2 pi (x_2 - x)/L). What is
conserved of the base is not of its variant, so neither that nor a density is taken over.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from tomllib import loads
from typing import Any

from dynamics.equations import RowError

ADDED = ("noise", "delayed", "sweep", "transient", "box")  # keys of a variant that stand as in any row
TAKEN = ("let", "circle", "box", "transient", "citation")  # keys of the base that a variant has too
ELSEWHERE = 0.37  # of the box: where a copy starts, off the first one's start


@cache
def variant_rows() -> dict[str, dict[str, Any]]:
    """What is stated of each variant, by id."""
    return loads((files("dynamics") / "systems" / "variants.toml").read_text(encoding="utf-8"))


def variant_row(stated: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """The whole row of a variant of a base row."""
    row: dict[str, Any] = {key: base[key] for key in TAKEN if key in base}
    row |= {"state": base["state"], "rule": [*base["rule"]], "variant_of": stated["variant_of"]}
    own, added = base.get("parameters", {}), stated.get("parameters", {})
    if twice := own.keys() & added.keys():
        raise RowError(f"{min(twice)} is a parameter of {stated['variant_of']} already; its variant needs another name")
    row["parameters"] = {**own, **added}
    noisy = "sde" if base["kind"] == "ode" else base["kind"]
    row["kind"] = noisy if "noise" in stated else "dde" if "delayed" in stated else base["kind"]
    names = [*base["state"]]
    for name, term in stated.get("plus", {}).items():
        row["rule"][names.index(name)] += f" + {term}"
    if "coupled" in stated:
        row |= _doubled(row, stated["coupled"])
    row["name"] = f"{base['name']}, {_word(stated)}"
    return row | {key: stated[key] for key in ADDED if key in stated}


def _word(stated: Mapping[str, Any]) -> str:
    """What was added, in a word."""
    if "coupled" in stated:
        return "coupled with a copy"
    return "with noise" if "noise" in stated else "with delay" if "delayed" in stated else "forced"


def _doubled(row: Mapping[str, Any], coupled: Mapping[str, str]) -> dict[str, Any]:
    """State, rule and what else doubles where a copy is joined to a system."""
    names, let, box = [*row["state"]], row.get("let", {}), row["box"]
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, [*names, *let]))})\b")

    def copy(text: str) -> str:
        return pattern.sub(r"\1_2", text)

    first, second = row["rule"], [copy(text) for text in row["rule"]]

    def drawn(x: str, f: str, other: str, mine: str, its: str) -> str:
        if x not in coupled:
            return f
        if x in row.get("circle", {}):
            length = row["circle"][x]
            return f"{f} + {coupled[x]}*({length})/(2*pi)*sin(2*pi*({its} - {mine})/({length}))"
        gap = f"({other}) - ({f})" if row["kind"] == "map" else f"{its} - {mine}"
        return f"{f} + {coupled[x]}*({gap})"

    pairs = [*zip(names, first, second, strict=True)]
    rule = [drawn(x, f, g, x, f"{x}_2") for x, f, g in pairs] + [drawn(x, g, f, f"{x}_2", x) for x, f, g in pairs]
    out: dict[str, Any] = {
        "state": {**row["state"], **{f"{x}_2": _elsewhere(box[x]) for x in names}},
        "rule": rule,
        "box": {**box, **{f"{x}_2": box[x] for x in names}},
    }
    if let:
        out["let"] = {**let, **{f"{name}_2": copy(text) for name, text in let.items()}}
    if circle := row.get("circle"):
        out["circle"] = {**circle, **{f"{x}_2": length for x, length in circle.items()}}
    return out


def _elsewhere(bounds: Any) -> str:
    lo, hi = bounds
    return f"({lo}) + {ELSEWHERE}*(({hi}) - ({lo}))"
