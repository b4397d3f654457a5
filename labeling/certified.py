"""Certificates of the equilibria and map cycles that a label rests on, and what they change in its row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynamics.cycles import cycle_points
from dynamics.system import System
from labeling.certificates import Certificate, certificate
from labeling.predicate import CONFIDENCE
from labeling.verdict import Verdict

CERTIFIED = {"fixed_point": "FixedPointAttr", "periodic": "Periodic"}


def certified(system: System, verdict: Verdict) -> Certificate | None:
    """The certificate of the equilibrium, fixed point or map cycle of a verdict, where one can be had.

    It proves that the orbit exists, alone near there, with its least period and stability; that the stated initial
    condition leads to it stays a measurement.
    """
    cycle = verdict.cycle
    if cycle is None or (system.kind == "ode" and verdict.regime != "fixed_point"):
        return None
    point = np.array(cycle.point)
    points = point if verdict.regime == "fixed_point" else cycle_points(
        system, cycle, np.array([*system.parameters.values()]), int(cycle.period)
    )  # fmt: skip
    return certificate(system, points)[0]


def with_certificates(row: dict[str, Any], labelled: Certificate | None, others: Sequence[Certificate]) -> None:
    """Put certificates into a row: all under `certificates`, and the labelled set's as the basis of its predicate."""
    distinct: dict[Any, Certificate] = {}
    for found in ([labelled] if labelled else []) + list(others):
        points = sorted(tuple(round(float(x), 9) for x in point) for point in found.orbit)
        distinct.setdefault((found.set, points[0]), found)  # one cycle may be met at any of its points
    row["certificates"] = [found.row for found in distinct.values()]
    name = CERTIFIED.get(row["regime"])
    if labelled is None or name is None or row["predicates"][name]["value"] != "TRUE":
        return
    if labelled.stability is None or labelled.stability != row["stability"]:
        return
    entry = row["predicates"][name]
    entry["basis"], entry["confidence"] = "certified", CONFIDENCE["certified"]
    entry["evidence"] |= {
        "certificate": labelled.row["sha256"], "reached": "measured: the stated initial condition leads there",
    }  # fmt: skip
