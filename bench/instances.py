"""Labelled points as instances of questions: where each stands in its range, its equation class, and matched sets.

A set is matched on position if the points where a predicate is TRUE are spread over their ranges as those are where it
is FALSE: then "a large value is chaotic" is worth nothing, whoever learns it.
"""

import json
from collections.abc import Sequence

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import matthews_corrcoef
from sklearn.model_selection import GroupKFold
from sklearn.tree import DecisionTreeClassifier

from bench.ground_truth import PUBLISHED, REFERENCE
from dynamics.listing import summaries
from dynamics.variants import variant_rows

BINS = 16  # of the range, within each of which TRUE and FALSE are made equally frequent
FOLDS = 5


def equation_classes() -> dict[str, str]:
    """The class of every system and variant, named after its first member: twins, and variants of one system."""
    listed = summaries()
    alike = nx.Graph((row["system_id"], row["same_as"] or row["system_id"]) for row in listed)
    alike.add_edges_from((variant, stated["variant_of"]) for variant, stated in variant_rows().items())
    order = {row["system_id"]: n for n, row in enumerate(listed)}
    groups = nx.connected_components(alike)
    return {x: first for group in groups for first in [min(group & order.keys(), key=order.__getitem__)] for x in group}


def instances(points: pd.DataFrame, brackets: Sequence[dict[str, object]] = ()) -> pd.DataFrame:
    """The points of sweeps: `value`, `position` in [0, 1] of its range, `equation_class`, and the predicates.

    `margin` is the distance to the nearest bracket over the width of the range, 0 inside one; NaN where the sweep has
    none.
    """
    swept = points[~points["sweep"].isin([REFERENCE, PUBLISHED])].copy()
    pairs = zip(swept["params"], swept["sweep"], strict=True)
    swept["value"] = [json.loads(params)[name] for params, name in pairs]
    ranges = swept.groupby(["system_id", "sweep"])["value"]
    lo, width = ranges.transform("min"), ranges.transform("max") - ranges.transform("min")
    swept["position"] = (swept["value"] - lo) / width
    classes = equation_classes()
    swept["equation_class"] = [classes.get(system_id, system_id) for system_id in swept["system_id"]]
    between: dict[tuple[object, object], list[tuple[float, float]]] = {}
    for b in brackets:
        ends = float(str(b["lo"])), float(str(b["hi"]))
        between.setdefault((b["system_id"], b["parameter"]), []).append(ends)
    swept["margin"] = [
        min(max(a - value, value - b, 0.0) for a, b in between[key]) / w
        if (key := (system_id, name)) in between
        else np.nan
        for system_id, name, value, w in zip(swept["system_id"], swept["sweep"], swept["value"], width, strict=True)
    ]
    return swept.reset_index(drop=True)


def matched(found: pd.DataFrame, predicate: str, seed: int = 0) -> pd.DataFrame:
    """As many instances as there can be of which, in every part of the range, as many are TRUE as FALSE.

    Which ones are left out is drawn by the seed, the same whatever the order of rows.
    """
    decided = found[found[predicate].isin(["TRUE", "FALSE"])].sort_values(["system_id", "sweep", "value"])
    part = np.minimum((decided["position"] * BINS).astype(int), BINS - 1)
    kept = []
    for _, rows in decided.groupby(part):
        fewest = rows[predicate].value_counts().reindex(["TRUE", "FALSE"], fill_value=0).min()
        kept += [side.sample(fewest, random_state=seed) for _, side in rows.groupby(predicate)]
    return pd.concat(kept).sort_index() if kept else decided


def position_rule(found: pd.DataFrame, predicate: str) -> float:
    """The MCC of "position in the range > t" (or < t), with t learnt on other equation classes than it is used on."""
    decided = found[found[predicate].isin(["TRUE", "FALSE"])]
    x, y = decided[["position"]].to_numpy(), (decided[predicate] == "TRUE").to_numpy()
    said: NDArray[np.bool_] = np.zeros(len(y), dtype=bool)
    for learn, use in GroupKFold(FOLDS).split(x, y, decided["equation_class"]):
        stump = DecisionTreeClassifier(max_depth=1, class_weight="balanced", random_state=0).fit(x[learn], y[learn])
        said[use] = stump.predict(x[use])
    return float(matthews_corrcoef(y, said))
