"""Fresh values: parameters that the release has not, drawn by a seed and labelled on demand, so no set is a look-up.

A draw takes some sweeps, and of each a few values at about 1 % of the range from each other: at random, and those on
both sides of some of its brackets, which are near misses. Brackets and ranges are those of the release.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bench.ground_truth import PUBLISHED, REFERENCE
from bench.questions import askable
from bench.release import flat, public
from dynamics.registry import system
from dynamics.sweep import Sweep
from dynamics.system import System
from labeling.labels import Row
from labeling.points import judged_points
from labeling.settings import Settings
from labeling.workers import Workers

SWEEPS = 64  # of one draw
MAPS = 20  # of these at least are of maps, which the published benchmark has hardly any of
VALUES = {True: 16, False: 8}  # of each, if it is of a map (which cost little) and if not
BESIDE = 3  # brackets of each with a value on both sides
FINE = 101  # values of a sweep from which is drawn
BOTH = 0.2  # of the points of a sweep: less often a regime would not be met among the values


def fresh_points(
    points: pd.DataFrame, brackets: Sequence[Mapping[str, Any]], seed: int, workers: Workers
) -> pd.DataFrame:
    """The release's points and fresh ones, which have `fresh`: labelled at values that the seed draws."""
    rng = np.random.default_rng(seed)
    swept = points[~points["sweep"].isin([REFERENCE, PUBLISHED])]
    known = {i: s for i in swept["system_id"].unique() if askable(s := system(i))}
    both = [
        (known[str(system_id)], str(name), [json.loads(params)[name] for params in some["params"]])
        for (system_id, name), some in swept.groupby(["system_id", "sweep"])
        if system_id in known and BOTH <= (some["Chaotic"] == "TRUE").mean() <= 1 - BOTH
    ]
    order = rng.permutation(len(both)).tolist()
    maps = [n for n in order if both[n][0].discrete][:MAPS]
    tasks = []
    for n in sorted(maps + [n for n in order if n not in maps][: SWEEPS - len(maps)]):
        s, name, there = both[n]
        fine = Sweep(name, min(there), max(there), FINE, short=True)
        ends = [(b["lo"], b["hi"]) for b in brackets if (b["system_id"], b["parameter"]) == (s.id, name)]
        tasks.append((s, name, drawn(fine, there, ends, rng, VALUES[s.discrete]), Settings()))
    made = [row for rows in workers.each(labelled, tasks, "sweeps") for row in rows]
    return pd.concat([points.assign(fresh=False), pd.DataFrame(made).assign(fresh=True)], ignore_index=True)


def drawn(
    fine: Sweep, taken: Sequence[float], brackets: Sequence[tuple[float, float]], rng: np.random.Generator, count: int
) -> tuple[float, ...]:
    """`count` random ones of a fine grid, shifted by a part of its spacing, and those around some random brackets."""
    shifted = replace(fine, lo=fine.lo + rng.random() * fine.spacing)
    grid = [x for x in shifted.rounded(shifted.values) if fine.lo <= x <= fine.hi and x not in taken]
    chosen = set(rng.permutation(len(grid))[:count].tolist())
    for b in rng.permutation(len(brackets))[:BESIDE]:
        lo, hi = brackets[b]
        below, above = [n for n, x in enumerate(grid) if x < lo], [n for n, x in enumerate(grid) if x > hi]
        chosen |= {*below[-1:], *above[:1]}
    return tuple(grid[n] for n in sorted(chosen))


def labelled(s: System, parameter: str, values: Sequence[float], settings: Settings) -> list[Row]:
    """The rows of a release's table at values of one parameter."""
    points = judged_points(s, [{parameter: value} for value in values], settings, Workers())
    return [flat(public(point.row)) | {"sweep": parameter} for point in points if point.row is not None]
