"""Several models on the same questions: differences that hold together, ranks with intervals, and what items tell.

All figures are of the questions that every model answered, and rest on the same draws of clusters.
"""

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, stdtrit

from bench.care import ANSWERED, MACRO, by_family
from bench.intervals import LEVEL, MCC, Floats, Statistic, jackknife
from bench.item_response import item_response

ROUNDS = 10_000
NEEDED = ["id", "type", "unit", "truth", "code"]  # of a table
CHUNK = 500  # draws held at a time
MODELS_FOR_ITEM_RESPONSE = 20


class MixedError(ValueError):
    """Models that may not be compared, in one sentence."""


def check_same(origins: Mapping[str, Mapping[str, str]], dataset: str) -> None:
    """Refuse models that saw different data sets or prompts; dataset is the SHA-256 of the one that is scored."""
    for name, origin in origins.items():
        other = origin.get("dataset_sha256")
        if other not in (None, dataset):
            raise MixedError(
                f"{name} answered the data set {other[:12]}, not {dataset[:12]}; give that one by --dataset"
            )
    prompts = {name: origin["prompt"] for name, origin in origins.items() if "prompt" in origin}
    if len(set(prompts.values())) > 1:
        told = ", ".join(f"{name}: {prompt}" for name, prompt in prompts.items())
        raise MixedError(f"the models were asked with different prompts ({told}); compare those with one prompt")


def shared(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables with the questions alone to which every model gave a valid answer, by id, one epoch of each."""
    slim = {name: table.loc[table["code"] >= ANSWERED, NEEDED] for name, table in tables.items()}
    valid = {name: table.drop_duplicates("id").set_index("id") for name, table in slim.items()}
    ids = sorted(set.intersection(*(set(table.index) for table in valid.values())))
    if not ids:
        raise MixedError("there is no question to which every model gave a valid answer")
    return {name: table.loc[ids].reset_index() for name, table in valid.items()}


def compared(tables: Mapping[str, pd.DataFrame], rounds: int = ROUNDS, seed: int = 0) -> dict[str, Any]:
    """Figures, simultaneous differences over all pairs, and ranks of models by MCC and macro-family MCC.

    A difference has the jackknife's error over clusters; the intervals of all pairs hold together at 95 %, by the 95 %
    quantile of the largest |t| over pairs in draws of clusters (Romano & Wolf 2005, Econometrica 73:1237), taken to
    Student's t with clusters - 1 degrees of freedom. A rank's interval is that of its draws.
    """
    same = shared(tables)
    names = list(same)
    families = sorted(next(iter(same.values()))["type"].unique())
    counts = np.stack([by_family(table, families) for table in same.values()], axis=1)  # clusters, models, families, 4
    counts = counts[counts.sum(axis=(1, 2, 3)) > 0]
    both = ~np.isnan(MCC.of(counts[:, 0].sum(axis=0)))
    made: dict[str, Any] = {"models": names, "n": int(counts[:, 0].sum()), "n_clusters": len(counts)}
    kinds: dict[str, tuple[Floats, Statistic]] = {"mcc": (counts.sum(axis=2), MCC), "macro_family_mcc": (
        counts[:, :, both], MACRO)}  # fmt: skip
    for key, (of, statistic) in kinds.items():
        made[key] = _standings(names, of, statistic.of, rounds, seed)
    made["exploratory"] = {"note": "differences within families are not corrected for their number"} | {
        family: _explored(names, counts[:, :, f]) for f, family in enumerate(families)
    }
    made["items"] = items(same)
    return made


def _standings(
    names: list[str], counts: Floats, statistic: Callable[[Floats], Floats], rounds: int, seed: int
) -> dict[str, Any]:
    """Ranks and pairwise differences of a statistic of (clusters, models, .., 4) counts."""
    clusters, models = counts.shape[:2]
    total = counts.sum(axis=0)
    value = statistic(total)
    if np.isnan(value).any() or clusters < 2:
        why = "all gold answers are the same" if np.isnan(value).any() else "one cluster has no interval"
        return {"reason": why, "values": dict(zip(names, map(_number, value), strict=True))}
    drawn = _drawn(counts, statistic, rounds, seed)
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    without = statistic(total - counts)
    order = (-drawn).argsort(axis=1, kind="stable").argsort(axis=1, kind="stable") + 1
    ends = np.quantile(order, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0, method="nearest")
    rank = (-value).argsort(kind="stable").argsort(kind="stable") + 1
    pairs = [*combinations(range(models), 2)]
    a, b = np.array(pairs).reshape(-1, 2).T
    differences, spread = value[a] - value[b], drawn[:, a] - drawn[:, b]
    scale = spread.std(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        largest = np.nan_to_num(np.abs(spread - differences) / scale).max(axis=1, initial=0.0)
    level = ndtr(np.quantile(largest, LEVEL))  # of one tail
    reach = float(stdtrit(clusters - 1, level)) * np.array(
        [jackknife(without[:, i] - without[:, j])[0] for i, j in pairs]
    )
    rows = [
        {"a": names[i], "b": names[j], "difference": float(d), "lo": float(max(-2.0, d - r)),
         "hi": float(min(2.0, d + r)), "differ": bool(abs(d) > r)}
        for i, j, d, r in zip(a, b, differences, reach, strict=True)
    ]  # fmt: skip
    ranks = {name: {"value": float(value[m]), "rank": int(rank[m]), "lo": int(ends[0, m]), "hi": int(ends[1, m])}
             for m, name in enumerate(names)}  # fmt: skip
    return {"ranks": ranks, "differences": rows, "rounds": len(drawn), "reason": None}


def _explored(names: list[str], counts: Floats) -> dict[str, Any]:
    """MCC of each model in one family, and the differences of all pairs, each with an interval of its own.

    counts : (clusters, models, 4); an end is null where one cluster decides whether there is an MCC at all
    """
    counts = counts[counts.sum(axis=(1, 2)) > 0]
    total = counts.sum(axis=0)
    value, without = MCC.of(total), MCC.of(total - counts)
    rows = []
    for i, j in combinations(range(len(names)), 2) if not np.isnan(value).any() else ():
        difference, (error, freedom) = float(value[i] - value[j]), jackknife(without[:, i] - without[:, j])
        reach = error * float(stdtrit(freedom, (1 + LEVEL) / 2)) if len(counts) > 1 else np.nan
        lo, hi = (_number(np.clip(end, -2.0, 2.0)) if np.isfinite(reach) else None
                  for end in (difference - reach, difference + reach))  # fmt: skip
        rows.append({"a": names[i], "b": names[j], "difference": difference, "lo": lo, "hi": hi})
    return {"values": dict(zip(names, map(_number, value), strict=True)), "differences": rows,
            "n_clusters": len(counts)}  # fmt: skip


def _drawn(counts: Floats, statistic: Callable[[Floats], Floats], rounds: int, seed: int) -> Floats:
    """(rounds, models) of the statistic in draws of clusters with replacement, the same for all models."""
    rng, clusters = np.random.default_rng(seed), len(counts)
    flat, parts = counts.reshape(clusters, -1), []
    for start in range(0, rounds, CHUNK):
        size = min(CHUNK, rounds - start)
        weights = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=size).astype(float)
        with np.errstate(invalid="ignore"):
            parts.append(statistic((weights @ flat).reshape(size, *counts.shape[1:])))
    return np.concatenate(parts)


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def items(same: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Per question the share of models that are right and how well it tells good from bad ones.

    Discrimination is the correlation over models of being right with the share of the other questions that are right
    (item-rest correlation); null where all models answer alike. From MODELS_FOR_ITEM_RESPONSE on the item-response
    model (bench.item_response) adds its discrimination `a`, its difficulty, and abilities of the models.
    """
    first = next(iter(same.values()))
    right = np.stack([(table["code"].to_numpy() == 1) == table["truth"].to_numpy() for table in same.values()]).astype(
        float
    )
    if len(right) < 3:
        return {"reason": "fewer than three models tell nothing about items", "abilities": None, "rows": []}
    models, n = right.shape
    rest = right.sum(axis=1, keepdims=True) - right
    a, b = right - right.mean(axis=0), rest - rest.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (a * b).sum(axis=0) / np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    rows = [{"id": i, "type": family, "right": float(p), "discrimination": _number(d)}
            for i, family, p, d in zip(first["id"], first["type"], right.mean(axis=0), r, strict=True)]  # fmt: skip
    if models < MODELS_FOR_ITEM_RESPONSE:
        reason = f"an item-response model needs {MODELS_FOR_ITEM_RESPONSE} models; there are {models}"
        return {"reason": reason, "abilities": None, "rows": rows, "n": n}
    fit = item_response(right)
    for row, slope, difficulty in zip(rows, fit.discrimination.tolist(), fit.difficulty.tolist(), strict=True):
        row |= {"a": slope, "difficulty": difficulty}
    abilities = {name: {"value": value, "deviation": deviation} for name, value, deviation
                 in zip(same, fit.ability.tolist(), fit.deviation.tolist(), strict=True)}  # fmt: skip
    return {"reason": None, "abilities": abilities, "rows": rows, "n": n}
