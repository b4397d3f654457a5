"""A certificate proved again from its own line, without the registry and without looking for the orbit.

The line is a stranger's: its equations are read as mathematics by dynamics/equations.py, its sizes are bounded, and
what is malformed is answered by a sentence. The proof alone refuses an orbit that is off by more than the radius,
parameters at which the orbit or its multipliers are others, and multipliers outside their enclosures; a change that
leaves the statement true (a wider radius, more bits, a parameter that nothing depends on) is the checksum's to refuse.
"""

import re
import sys
from collections.abc import Mapping
from typing import Any

from flint import acb, arb, ctx

from dynamics.system import RowError, System, system_from_row
from labeling.balls import NoEnclosureError
from labeling.certificates import BITS, LONGEST, MOST, checksum, circle_text, equations_of, proof
from labeling.decimals import ball
from labeling.proofs import Equations, Spectrum, UnprovedError

SHAPE: dict[str, type | tuple[type, ...]] = {
    "system_id": str, "params": dict, "set": str, "orbit": list, "radius": str, "bits": int,
    "multipliers": (list, type(None)), "unstable": (int, type(None)), "stability": (str, type(None)),
    "period": (int, type(None)), "turns": list, "kind": str, "state": list, "rule": list, "let": dict, "circle": dict,
    "sha256": str,
}  # fmt: skip
DECIMAL = re.compile(r"-?\d{1,1500}(\.\d{1,1500})?(e-?\d{1,3})?", re.ASCII)
MOST_TURNS = 10**6


class _MalformedError(ValueError):
    """A line that is no certificate."""


def recheck(row: Any) -> list[str]:
    """What fails of a certificate, one sentence each; empty if all of it holds.

    Certificates are parsed JSON objects, as in certificates.jsonl; any other value is answered by a sentence too.
    """
    try:
        _require_shape(row)
        failures = [] if checksum(row) == row["sha256"] else ["the sha256 is not that of the content"]
    except (_MalformedError, ValueError, TypeError, RecursionError) as error:
        return [f"the certificate is malformed: {error}"]
    try:
        system = _system(row)
        with ctx.workprec(row["bits"]):
            equations = equations_of(system, row["turns"], len(row["orbit"]))
            centre = [[ball(x) for x in point] for point in row["orbit"]]
            _, found = proof(equations, centre, ball(row["radius"]))
            return failures + _claims(row, equations, found)
    except (_MalformedError, RowError, RecursionError) as error:
        return [*failures, f"the certificate is malformed: {error}"]
    except (UnprovedError, NoEnclosureError) as error:
        return [*failures, f"the proof fails: {error}"]


def _require_shape(row: Any) -> None:
    _require(isinstance(row, dict), "it is not a JSON object")
    for key in [*SHAPE, *row]:
        _require(key in row and key in SHAPE, f"the field {key!r} is {'unknown' if key in row else 'missing'}")
        value = row[key]
        typed = isinstance(value, SHAPE[key]) and not isinstance(value, bool)
        _require(typed, f"{key} is of the wrong type ({type(value).__name__})")
    d, count = len(row["state"]), len(row["orbit"])
    _require(BITS[0] <= row["bits"] <= BITS[-1], f"bits is {row['bits']}; from {BITS[0]} to {BITS[-1]} are checked")
    _require(1 <= d <= MOST and 1 <= count <= LONGEST, f"the orbit has {count} points of {d} variables")
    _require(_lists(row["orbit"], d, _is_decimal), f"orbit is not a list of points of {d} decimals")
    _require(_is_decimal(row["radius"]) and not row["radius"].startswith("-"), "radius is not a positive decimal")
    _require(_lists(row["multipliers"] or [], 3, _is_decimal), "multipliers are not [re, im, radius] in decimals")
    turned = row["kind"] == "map" and bool(row["circle"])
    _require(len(row["turns"]) == (count if turned else 0), "turns are not one list for each point on a circle")
    _require(_lists(row["turns"], d, _is_turn), f"turns are not lists of {d} whole numbers")
    texts = [*row["state"], *row["rule"], *row["params"], *(x for key in ("let", "circle") for x in row[key].items())]
    texts = [part for text in texts for part in (text if isinstance(text, tuple) else (text,))]
    _require(all(isinstance(text, str) for text in texts), "state, rule, params, let or circle hold what is not text")
    _require(len(set(row["state"])) == d, "a name in state stands twice")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise _MalformedError(otherwise)


def _lists(value: list[Any], length: int, holds: Any) -> bool:
    return all(isinstance(part, list) and len(part) == length and all(map(holds, part)) for part in value)


def _is_decimal(value: Any) -> bool:
    return isinstance(value, str) and DECIMAL.fullmatch(value) is not None


def _is_turn(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST_TURNS


def _system(row: Mapping[str, Any]) -> System:
    for name, value in row["params"].items():
        typed = isinstance(value, (int, float)) and not isinstance(value, bool)
        _require(typed and abs(value) <= sys.float_info.max, f"parameter {name} is not a number below 1e308")
    table = {
        "kind": row["kind"],
        "state": dict.fromkeys(row["state"], 0.0),
        "parameters": row["params"],
        "rule": row["rule"],
        "let": row["let"],
        "circle": row["circle"],
    }
    return system_from_row(row["system_id"], table)


def _claims(row: Mapping[str, Any], equations: Equations, found: Spectrum) -> list[str]:
    """Sentences on what the line says of a proved orbit beyond what was proved."""
    count, flow = len(row["orbit"]), equations.system.kind == "ode"
    kind = "equilibrium" if flow else "fixed_point" if count == 1 else "cycle"
    proved = {
        "set": kind,
        "period": None if flow else count,
        "unstable": found.unstable,
        "stability": found.stability,
    }
    out = [
        f"{key} is {row[key]!r}, and {value!r} is what is proved" for key, value in proved.items() if row[key] != value
    ]
    if row["circle"] != circle_text(equations.system):
        out.append("the circumferences are not written as the rule reads them")
    if flow and count != 1:
        out.append("the orbit of an equilibrium has more than one point")
    if row["multipliers"] is not None and not _enclosed(row["multipliers"], found.multipliers):
        out.append("the multipliers are not proved to lie in their enclosures")
    return out


def _enclosed(stated: list[list[str]], proved: list[acb] | None) -> bool:
    """Whether every proved multiplier lies within a stated enclosure of its own."""
    if proved is None or len(stated) != len(proved):
        return False
    left = [(ball(real), ball(imaginary), ball(radius)) for real, imaginary, radius in stated]
    for value in proved:
        for i, (real, imaginary, radius) in enumerate(left):
            if _within(value.real - real, radius) and _within(value.imag - imaginary, radius):
                del left[i]
                break
        else:
            return False
    return True


def _within(distance: arb, radius: arb) -> bool:
    return bool(abs(distance) <= radius)
