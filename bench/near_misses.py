"""Near misses: the two sides of one transition, at neighbouring labelled values that look alike.

A near miss is a pair of neighbours of a sweep with a bracket between them, one of them within a hundredth of the range
of it; a predicate is TRUE at the one and FALSE at the other, and both are asked in the same words. The lure is that the
two numbers differ in their last digits alone. Of the pairs in one part of the range, with ends as far from the
system's own value and as long when printed, as many have TRUE above as have it below: so neither the position nor a
digit tells which is which.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bench.pairs import places
from bench.questions import CLEAR, Item, World, claims, item

NEXT = 1.5 / 31  # of the range: neighbours on a grid of 32 values, and no farther


def near_misses(w: World, count: int, seed: int) -> list[Item]:
    """Groups of two: a predicate on either side of a transition, in the same frame; half are denials."""
    rng = np.random.default_rng(seed)
    frames = [[f for f in w.language.frames if f.negates == negates] for negates in (False, True)]
    found: list[Item] = []
    for n, (one, other) in enumerate(_chosen({name: sides(w, name) for name in w.asked}, -(-count // 2), rng)):
        frame = frames[n % 2][int(rng.integers(len(frames[n % 2])))]
        both = {"group": f"nearmiss|{one.fact}~{other.fact}", "pair": f"{one.fact}~{other.fact}"}
        found += [item(w, point, frame, "adversarial_nearmiss", **both) for point in (one, other)]
    return found[:count]


def sides(w: World, predicate: str) -> pd.DataFrame:
    """Both sides of every transition: rows of the claims, in order of value, with `pair`, `up` and `place` of the pair.

    `up` says whether the predicate is TRUE at the larger of the two values.
    """
    table = claims(w, predicate, anywhere=True)
    table = table.sort_values(["system_id", "sweep", "value"], ignore_index=True)
    after = table.shift(-1)
    neighbours = (table["system_id"] == after["system_id"]) & (table["sweep"] == after["sweep"])
    neighbours &= (after["value"] - table["value"]) < NEXT * table["width"]
    near = np.minimum(table["margin"], after["margin"]) < CLEAR
    low = np.flatnonzero(
        neighbours & near & (table["truth"] != after["truth"]) & np.array(_bracketed(w, table, after), dtype=bool)
    )
    pairs = [table.iloc[low + n].assign(pair=low) for n in (0, 1)]
    one, other = (rows.reset_index(drop=True) for rows in pairs)
    middle = one[["system_id", "sweep"]].assign(
        position=(one["position"] + other["position"]) / 2,
        distance=(one["distance"] + other["distance"]) / 2,
        printed=one["printed"] + other["printed"],
    )
    place = (places(middle) * 3 + np.sign(other["printed"] - one["printed"]) + 1).to_numpy()
    return pd.concat([rows.assign(up=pairs[1]["truth"].to_numpy(), place=place) for rows in pairs])


def _bracketed(w: World, table: pd.DataFrame, after: pd.DataFrame) -> list[bool]:
    """Whether a bracket lies between each value and the next."""
    at: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for b in w.brackets:
        at.setdefault((b["system_id"], b["parameter"]), []).append(b)
    ends = zip(table["system_id"], table["sweep"], table["value"], after["value"], strict=True)
    return [any(lo <= b["lo"] and b["hi"] <= hi for b in at.get((i, name), ())) for i, name, lo, hi in ends]


def _chosen(tables: Mapping[str, pd.DataFrame], count: int, rng: np.random.Generator) -> list[tuple[Any, Any]]:
    """`count` pairs, of every predicate and place as many with TRUE above as with TRUE below, in a drawn order."""
    found: list[tuple[Any, Any]] = []
    for table in tables.values():
        of_pair: dict[Any, list[Any]] = {}
        for row in table.itertuples(index=False):
            of_pair.setdefault(row.pair, []).append(row)
        both = {pair: tuple(of_pair[pair]) for pair in sorted(of_pair)}
        for _, there in table.drop_duplicates("pair").groupby("place", sort=True):
            ways = [rng.permutation(there.loc[there["up"] == up, "pair"]) for up in (True, False)]
            found += [(both[a], both[b]) for a, b in zip(*ways, strict=False)]
    order = rng.permutation(len(found))
    return [pair for i in order for pair in found[i]][:count]
