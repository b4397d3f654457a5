"""Stretches of a sweep between two labelled points: what was labelled at the ends, and what was bracketed between.

A span is walked upwards and downwards, so each is there twice. It is the unit of questions about transitions
(bench.transitions); everything that such a question is matched on is a column here.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from bench.pairs import places
from dynamics.energy import ENERGY

STEPS = (1, 2, 4)  # labelled points from one end of a span to the other
SIZES = 8  # classes of width, each twice as wide as the one before
SETTLED = ("fixed_point", "periodic", "quasiperiodic", "chaotic", "hyperchaotic")  # regimes of a bounded motion
CHAOS = ("chaotic", "hyperchaotic")
OF_ENDS = ("value", "regime", "period", "period_time", "kind", "attractors")
KEPT = ("system_id", "sweep", "params", "initial_condition", "past", "regime", "period", "period_time", "attractors",
        "value", "width", "position", "distance", "printed", "margin", "equation_class", "cluster")  # fmt: skip


def settled(points: pd.DataFrame) -> pd.DataFrame:
    """The points that have an attractor to speak of, with `kind`, their regime with all chaos as one.

    Neutral cycles and orbits of volume-preserving systems, beside each of which lies another, are none.
    """
    found = points[points["regime"].isin(SETTLED) & (points["stability"] != "neutral") & (points["sweep"] != ENERGY)]
    found = found.loc[found["Conservative"] != "TRUE", [*KEPT]]
    return found.assign(kind=found["regime"].replace(dict.fromkeys(CHAOS, "chaotic")))


def spans(points: pd.DataFrame, brackets: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Every span of STEPS points, walked either way.

    points : as bench.questions.world has them. A span has the columns of the point where it starts, `a_...` and `b_...`
    for what was labelled at its start and its end, `moved`, `between`: (kind, direction) of the brackets strictly
    inside, and `cut`: whether a bracket reaches over an end.
    """
    found = []
    for (_, sweep), rows in settled(points).sort_values("value").groupby(["system_id", "sweep"], sort=True):
        system_id = rows["system_id"].iloc[0]
        mine = [b for b in brackets if (b["system_id"], b["parameter"]) == (system_id, sweep)]
        for step in STEPS:
            found.append(_stepped(rows.reset_index(drop=True), step, mine))
    if not found:
        return pd.DataFrame()
    table = pd.concat(found, ignore_index=True)
    table["place"] = (places(table) * SIZES + table["size"]) * 2 + (table["moved"] == "lowered")
    return table


def _stepped(rows: pd.DataFrame, step: int, brackets: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """The spans of one sweep that are so many points long."""
    low = np.arange(max(len(rows) - step, 0))
    a, b = rows.iloc[low].reset_index(drop=True), rows.iloc[low + step].reset_index(drop=True)
    ends = list(zip(a["value"], b["value"], strict=True))
    common: dict[str, Any] = {
        "position": (a["position"] + b["position"]) / 2, "distance": (a["distance"] + b["distance"]) / 2,
        "printed": a["printed"] + b["printed"], "margin": np.minimum(a["margin"], b["margin"]),
        "size": np.clip(-np.log2((b["value"] - a["value"]) / a["width"]).round(), 0, SIZES - 1).astype(int),
        "between": [tuple((x["kind"], x["direction"]) for x in brackets if lo < x["lo"] and x["hi"] < hi)
                    for lo, hi in ends],
        "cut": np.array([any(x["lo"] <= end <= x["hi"] for x in brackets for end in span) for span in ends], bool),
    }  # fmt: skip
    walks = []
    for first, second, moved in ((a, b, "raised"), (b, a, "lowered")):
        at_ends = {f"{end}_{name}": t[name] for end, t in (("a", first), ("b", second)) for name in OF_ENDS}
        walks.append(first.assign(**at_ends, **common, moved=moved))
    return pd.concat(walks)
