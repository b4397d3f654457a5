"""CARE: what hides behind one accuracy, for answers of TRUE or FALSE (arXiv 2605.24305; docs/scores.md).

Every figure is a function of four counts per cluster, so that each has its interval. Invalid answers are treated in two
ways: left out, and counted as the opposite of gold; with the latter goes what was asked and not answered at all. Where
the provider failed nothing was answered: that is left out of both, and counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bench.answers import ERROR, FALSE, INVALID, TRUE
from bench.intervals import ACCURACY, MCC, Floats, Interval, Statistic, clustered_interval, confusion, mcc, share

CONSISTENCY = ("consistency_paraphrase", "perturbation")
SLICES = ("split", "predicate", "book", "hops")
PUBLISHED_TRUE = 0.495  # share of TRUE in the published set, as the paper rounds it
LIMITS = {"pc": 0.10, "ar": 0.30, "cv": 0.005, "ic": 0.30}
BINS = 10
CODES = {TRUE: 1, FALSE: 0, INVALID: -1, ERROR: -2, None: -3}  # of an answer; null is no reply
ANSWERED = 0  # least code of a valid answer
CAME = -1  # least code of a reply
NO_TRUE, NO_FALSE = "no gold answer is TRUE", "no gold answer is FALSE"

Bools = NDArray[np.bool_]


def _tpr(c: Floats) -> Floats:
    return share(c[..., 0], c[..., 0] + c[..., 3])


def _tnr(c: Floats) -> Floats:
    return share(c[..., 2], c[..., 2] + c[..., 1])


def _predicted(c: Floats) -> Floats:
    return share(c[..., 0] + c[..., 1], c.sum(axis=-1))


def _gold(c: Floats) -> Floats:
    return share(c[..., 0] + c[..., 3], c.sum(axis=-1))


def _mean_mcc(c: Floats) -> Floats:
    """Over the families that have one; NaN where none has."""
    found = mcc(c)
    there = ~np.isnan(found)
    return share(np.where(there, found, 0.0).sum(axis=-1), there.sum(axis=-1))


TPR = Statistic(_tpr, 0.0, NO_TRUE)
TNR = Statistic(_tnr, 0.0, NO_FALSE)
BALANCED = Statistic(lambda c: (_tpr(c) + _tnr(c)) / 2, 0.0, MCC.undefined)
PREDICTED = Statistic(_predicted, 0.0, ACCURACY.undefined)
GOLD = Statistic(_gold, 0.0, ACCURACY.undefined)
CALIBRATION = Statistic(lambda c: _predicted(c) - _gold(c), -1.0, ACCURACY.undefined)
RECALL_GAP = Statistic(lambda c: _tpr(c) - _tnr(c), -1.0, MCC.undefined)
MACRO = Statistic(_mean_mcc, -1.0, MCC.undefined)  # of (.., families, 4)

VALID = {"accuracy": ACCURACY, "balanced_accuracy": BALANCED, "mcc": MCC, "tpr": TPR, "tnr": TNR,
         "predicted_true": PREDICTED, "true_rate": GOLD, "calibration": CALIBRATION,
         "recall_gap": RECALL_GAP}  # fmt: skip
STRICT = {"accuracy_strict": ACCURACY, "mcc_strict": MCC, "tpr_strict": TPR, "tnr_strict": TNR}


def figures(valid: Floats, strict: Floats, invalid: Floats) -> dict[str, Interval]:
    """The figures of one set of answers.

    valid, strict : (clusters, 4) without invalid answers, and with them as the opposite of gold
    invalid : (clusters, 4) as of `parts`: how many of those that came are invalid
    """
    made = {name: clustered_interval(valid, statistic) for name, statistic in VALID.items()}
    made |= {name: clustered_interval(strict, statistic) for name, statistic in STRICT.items()}
    return made | {"invalid_rate": clustered_interval(invalid, ACCURACY)}


def parts(some: Floats, others: Floats) -> Floats:
    """(clusters, 4) of which the accuracy is the share of `some` among both."""
    return np.stack([some, others, 0 * some, 0 * some], axis=-1)


def flags(found: Mapping[str, Interval], consistency: Interval, care: str = "ours") -> dict[str, str | None]:
    """pc, ar, cv and ic: on, off, uncertain where the limit lies inside the interval, or null without a figure.

    care : "v2" has pc against the published share of TRUE, 49.5 %, instead of the data set's own
    """
    prior, middle = (found["predicted_true"], PUBLISHED_TRUE) if care == "v2" else (found["calibration"], 0.0)
    return {
        "pc": _flag(prior, middle - LIMITS["pc"], middle + LIMITS["pc"]),
        "ar": _flag(found["recall_gap"], -LIMITS["ar"], LIMITS["ar"]),
        "cv": _flag(found["invalid_rate"], -1.0, LIMITS["cv"]),
        "ic": _flag(consistency, LIMITS["ic"], 2.0),
    }


def _flag(found: Interval, lo: float, hi: float) -> str | None:
    """Whether a figure is outside lo .. hi."""
    if found.value is None:
        return None
    if found.lo is not None and found.hi is not None and any(found.lo < limit < found.hi for limit in (lo, hi)):
        return "uncertain"
    return "off" if lo <= round(found.value, 12) <= hi else "on"


def care(table: pd.DataFrame, how: str = "ours") -> dict[str, Any]:
    """The scores of a table of answers (bench.answered), as they stand in scores.json."""
    valid = table[table["code"] >= ANSWERED]
    counts = confusion(valid["truth"], valid["code"] == 1, np.zeros(len(valid))).sum(axis=0)
    beliefs, bins = _probabilities(table)
    made = standing(table, how)
    made["overall"] |= {name: asdict(found) for name, found in beliefs.items()}
    return made | {
        "by": {key: {name: _dicts(found) for name, found in _each(table, key).items()} for key in SLICES},
        "confusion": dict(zip(("tp", "fp", "tn", "fn"), counts.astype(int).tolist(), strict=True)),
        "invalid_policy": "figures leave invalid answers out; those named _strict count them, and what was not "
        "answered, as the opposite of gold",
        "invalid_reasons": table.loc[table["code"] == CODES[INVALID], "reason"].value_counts().to_dict(),
        "curves": {"margin": _curve(table)},
        "bins": bins,
    }


def standing(table: pd.DataFrame, how: str = "ours") -> dict[str, Any]:
    """What stands in a table of models: the overall figures, each family's, and the flags."""
    overall, families = _figures(table), _each(table, "type")
    consistency = _consistency(table)
    overall["macro_family_mcc"] = _macro(table, [*families])
    return {
        "overall": _dicts(overall | consistency),
        "families": {name: _dicts(found) for name, found in families.items()},
        "flags": flags(overall, consistency["consistency_pooled"], how),
    }


def _dicts(named: Mapping[str, Interval]) -> dict[str, Any]:
    return {name: asdict(found) for name, found in named.items()}


def _each(table: pd.DataFrame, key: str) -> dict[str, dict[str, Interval]]:
    """The figures of the rows of each value of a column."""
    slim = table[["truth", "code", "unit"]]
    return {str(name): _figures(rows) for name, rows in slim.groupby(table[key], sort=True)}


def _figures(rows: pd.DataFrame) -> dict[str, Interval]:
    """The figures of some rows, each counted under its cluster."""
    truth, code, unit = (rows[key].to_numpy() for key in ("truth", "code", "unit"))
    valid, asked, came = code >= ANSWERED, code != CODES[ERROR], (code >= CAME)
    strict = np.where(valid, code == 1, ~truth)
    return figures(
        confusion(truth[valid], strict[valid], unit[valid]), confusion(truth[asked], strict[asked], unit[asked]),
        confusion(~valid[came], np.ones(came.sum()), unit[came]),
    )  # fmt: skip


def by_family(rows: pd.DataFrame, families: Sequence[str]) -> Floats:
    """(clusters, families, 4) counts of the valid answers; the clusters are those of all rows, in order."""
    size = (int(rows["unit"].max()) + 1 if len(rows) else 0) * len(families)
    valid = rows[(rows["code"] >= ANSWERED) & rows["type"].isin(families)]
    cell = valid["unit"].to_numpy() * len(families) + pd.Index(families).get_indexer(pd.Index(valid["type"]))
    said, true = valid["code"].to_numpy() == 1, valid["truth"].to_numpy()
    kinds = (true & said, ~true & said, ~true & ~said, true & ~said)
    counts = np.stack([np.bincount(cell, kind, size) for kind in kinds], axis=-1).astype(float)
    return counts.reshape(-1, len(families), 4)


def _macro(rows: pd.DataFrame, families: Sequence[str]) -> Interval:
    """The mean MCC of the families that have both golds; the reason says how many do not."""
    counts = by_family(rows, families)
    both = ~np.isnan(mcc(counts.sum(axis=0)))
    if not both.any():
        return Interval(None, None, None, int(counts.sum()), len(counts), "none", MCC.undefined)
    found = clustered_interval(counts[:, both], MACRO)
    out = [name for name, is_in in zip(families, both, strict=True) if not is_in]
    told = f"without {len(out)} families that lack one gold answer: {', '.join(out)}" if out else None
    return replace(found, reason="; ".join(filter(None, (found.reason, told))) or None)


def _consistency(table: pd.DataFrame) -> dict[str, Interval]:
    rows = table[table["type"].isin(CONSISTENCY)]
    counts = by_family(rows, CONSISTENCY)
    there = [i for i in range(len(CONSISTENCY)) if counts[:, i].sum() > 0]
    pooled = clustered_interval(counts.sum(axis=1))
    mean = clustered_interval(counts[:, there], MACRO) if there else pooled
    return {"consistency_pooled": pooled, "consistency_mean": mean, "flip_rate": flip_rate(rows)}


def flip_rate(rows: pd.DataFrame) -> Interval:
    """The share of pairs within a group and fact that disagree, once polarity is taken out; an invalid one disagrees.

    Two answers about one fact agree if both are right or both are wrong. Groups in which all gold answers are the same
    are left out: an answerer that always says the same would agree with itself.
    """
    grouped = rows[rows["group"].notna() & (rows["code"] >= CAME)]
    if grouped.empty:
        return Interval(None, None, None, 0, 0, "none", "the questions have no groups")
    right = (grouped["code"] == 1) == grouped["truth"]
    valid = grouped["code"] >= ANSWERED
    same = [grouped["unit"], grouped["group"], grouped["fact"].astype(str)]
    sums = pd.DataFrame({"n": 1, "right": right & valid, "wrong": ~right & valid}).groupby(same).sum()
    sums = sums[grouped["truth"].groupby(same).nunique() == 2]
    pairs, agree = sums["n"] * (sums["n"] - 1) / 2, sum(sums[k] * (sums[k] - 1) / 2 for k in ("right", "wrong"))
    if sums.empty:
        return Interval(None, None, None, 0, 0, "none", "no group has both gold answers")
    of = pd.DataFrame({"differ": pairs - agree, "agree": agree}).groupby(level=0).sum()
    return clustered_interval(parts(of["differ"].to_numpy(dtype=float), of["agree"].to_numpy(dtype=float)), ACCURACY)


def _probabilities(table: pd.DataFrame) -> tuple[dict[str, Interval], list[dict[str, Any]]]:
    """Brier score and calibration error of P(TRUE) where it is known, and its bins of equal mass."""
    rows = table[table["belief"].notna()]
    if rows.empty:
        none = Interval(None, None, None, 0, 0, "none", "there are no log-probabilities")
        return {"brier": none, "ece": none}, []
    p, truth = rows["belief"].to_numpy(dtype=float), rows["truth"].to_numpy()
    codes, names = pd.factorize(rows["unit"])
    missed = np.bincount(codes, (p - truth) ** 2, len(names)).astype(float)
    brier = clustered_interval(parts(missed, np.bincount(codes).astype(float) - missed), ACCURACY)
    sure = np.maximum(p, 1 - p)
    ece, bins = calibration_error(sure, (p >= 0.5) == truth, codes)
    return {"brier": brier, "ece": ece}, bins


def calibration_error(
    confidence: Floats, right: Bools, cluster: NDArray[np.intp], equal_width: bool = False
) -> tuple[Interval, list[dict[str, Any]]]:
    """Expected calibration error (Guo et al. 2017, ICML) over ten bins of equal mass, or of equal width.

    The bins stay where they are when a cluster is left out. A perfectly calibrated model has a positive error by chance
    alone, about sqrt(bins/n), and the interval does not take that off.
    """
    if equal_width:
        place = np.clip((confidence * BINS).astype(int), 0, BINS - 1)
    else:
        edges = np.unique(np.quantile(confidence, np.linspace(0, 1, BINS + 1)[1:-1]))
        place = np.searchsorted(edges, confidence, side="right")
    clusters = int(cluster.max()) + 1
    cell, size = cluster * BINS + place, clusters * BINS
    values = (np.ones(len(place)), confidence, right.astype(float))
    tallies = np.stack([np.bincount(cell, x, size) for x in values], axis=-1).astype(float)
    sums = tallies.reshape(clusters, BINS, 3)

    def error(c: Floats) -> Floats:
        return np.asarray(np.abs(c[..., 1] - c[..., 2]).sum(axis=-1) / c[..., 0].sum(axis=-1))

    total = sums.sum(axis=0)
    bins = [{"n": int(n), "confidence": c / n, "accuracy": r / n} for n, c, r in total.tolist() if n]
    value = float(error(total))
    found = Interval(value, None, None, len(place), clusters, "none", "too few clusters, or nothing is wrong")
    if clusters > 1 and 0.0 < value < 1.0:
        found = replace(clustered_interval(sums, Statistic(error, 0.0, "there are no answers")), n=len(place))
    return found, bins


def _curve(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Accuracy and MCC against the distance to the threshold, in ten bins of equal mass."""
    rows = table[table["margin"].notna()]
    if rows["margin"].nunique() < 2:
        return []
    places = pd.qcut(rows["margin"].astype(float), BINS, duplicates="drop")
    made = []
    for place, some in rows.groupby(places, observed=True):
        found = _figures(some)
        made.append({"lo": float(place.left), "hi": float(place.right), "margin": float(some["margin"].mean())}
                    | {name: asdict(found[name]) for name in ("accuracy", "mcc", "accuracy_strict")})  # fmt: skip
    return made
