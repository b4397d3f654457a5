"""Coherence under commitment: what a model believes of a statement and of its negation, asked apart (arXiv 2606.21083).

c = p(phi) + p(not phi), v_neg = max(0, c - 1); TRUE where p(phi) is at least tau and at least p(not phi) + delta, FALSE
the other way round, else UNCERTAIN. More commitment is not better in itself: whoever is always right has E[c] equal to
the share of items that are decided, and no violation. So a point (tau, delta) compares no models; curves do.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from bench.care import calibration_error, parts
from bench.intervals import ACCURACY, Floats, Interval, clustered_interval

TAU, DELTA = 0.5, 0.1
TAUS, DELTAS = np.linspace(0.3, 0.9, 13), np.linspace(0.0, 0.3, 7)
OFFSETS = np.linspace(-4.0, 4.0, 17)
SAMPLES = 10  # of one question, from which on their share is a probability
CONTRADICTING = 0.10  # E[v_neg]
SHARP = 0.005  # within which both ends of what is censored must agree for a figure
ENTAILED, REFUTED, NEITHER, NOT_ENTAILED = "entailed", "refuted", "neither", "not_entailed"
TARGETS = {ENTAILED: (1.0, 0.0), REFUTED: (0.0, 1.0), NEITHER: (0.0, 0.0), NOT_ENTAILED: (0.0, np.nan)}
TRUE, FALSE, UNCERTAIN = 1, -1, 0
NEGATION = 'the other question of the pair ("is ruled out", or "It is not the case that ..")'


def pairs(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Both beliefs about each pair of phi and not phi in a table of answers, and how they were had.

    (pairs): gold3, unit, phi_lo, phi_hi, not_lo, not_hi, off. Without log-probabilities a belief is the share of TRUE
    among SAMPLES replies or more.
    """
    rows = table[table["pair"].notna() & table["role"].isin(["phi", "not_phi"]) & table["gold3"].isin(TARGETS)]
    how = "log-probabilities of the answer's first token" if rows["belief"].notna().any() else "samples"
    if how == "samples":
        rows = _sampled(rows)
    rows = rows.drop_duplicates(["pair", "role"])
    asked = rows["pair"].nunique()
    rows = rows[rows["belief"].notna()]
    sides = {role: rows[rows["role"] == role].set_index("pair") for role in ("phi", "not_phi")}
    both = sides["phi"].join(sides["not_phi"], how="inner", rsuffix="_not")
    made = pd.DataFrame({
        "gold3": both["gold3"], "unit": both["unit"], "phi_lo": both["belief_lo"], "phi_hi": both["belief_hi"],
        "not_lo": both["belief_lo_not"], "not_hi": both["belief_hi_not"],
        "off": (both["off"].astype(float) + both["off_not"].astype(float)) / 2,
    })  # fmt: skip
    wide = (made["phi_hi"] > made["phi_lo"]) | (made["not_hi"] > made["not_lo"])
    return made, {"elicitation": how, "negation": NEGATION, "asked": asked, "left_out": asked - len(made),
                  "censored": int(wide.sum()),
                  "off_answer_mass": float(made["off"].mean()) if len(made) else None}  # fmt: skip


def _sampled(rows: pd.DataFrame) -> pd.DataFrame:
    valid = rows[rows["code"] >= 0]
    said = valid.groupby("id")["code"].agg(["mean", "size"])
    share = rows["id"].map(said["mean"].where(said["size"] >= SAMPLES))
    return rows.assign(belief=share, belief_lo=share, belief_hi=share, off=np.nan)


def decision(phi: Floats, negated: Floats, tau: float = TAU, delta: float = DELTA) -> Floats:
    """TRUE, FALSE or UNCERTAIN for each pair of beliefs; a tie is UNCERTAIN."""
    says = (phi >= tau) & (phi >= negated + delta) & (phi > negated)
    denies = (negated >= tau) & (negated >= phi + delta) & (negated > phi)
    return np.where(says, TRUE, np.where(denies, FALSE, UNCERTAIN)).astype(float)


def right(decided: Floats, gold: pd.Series) -> Floats:
    """Whether each decision is the gold one; where the gold is only "not entailed", any but TRUE is."""
    wanted = gold.map({ENTAILED: TRUE, REFUTED: FALSE, NEITHER: UNCERTAIN, NOT_ENTAILED: np.nan}).to_numpy(dtype=float)
    return np.where(np.isnan(wanted), decided != TRUE, decided == wanted).astype(float)


def figures(
    phi: Floats, negated: Floats, gold: pd.Series, unit: Any, tau: float = TAU, delta: float = DELTA
) -> dict[str, Interval]:
    """The figures of pairs of beliefs, each (n,), with intervals over clusters."""
    c = phi + negated
    decided = decision(phi, negated, tau, delta)
    hit, covered = right(decided, gold), decided != UNCERTAIN
    targets = np.array([TARGETS[x] for x in gold]).reshape(-1, 2)
    misses = (np.stack([phi, negated], axis=-1) - targets) ** 2
    known = ~np.isnan(misses)
    codes, sure = pd.factorize(unit)[0], np.maximum(phi, negated)
    made = {
        "commitment": _mean(c, codes, 2.0), "negation_violation": _mean(np.maximum(0.0, c - 1), codes),
        "violating_share": _mean(c > 1, codes), "coverage": _mean(covered, codes), "accuracy": _mean(hit, codes),
        "accuracy_covered": _mean(hit[covered], codes[covered]),
        "brier": _mean(np.nansum(misses, axis=1) / known.sum(axis=1), codes),
    }  # fmt: skip
    if covered.any():
        hits = hit[covered] == 1.0
        made["ece"] = calibration_error(sure[covered], hits, codes[covered])[0]
        made["ece_equal_width"] = calibration_error(sure[covered], hits, codes[covered], equal_width=True)[0]
    return made


def _mean(values: Any, unit: Any, most: float = 1.0) -> Interval:
    """The mean of values from 0 to `most`."""
    values = np.asarray(values, dtype=float) / most
    if not len(values):
        return Interval(None, None, None, 0, 0, "none", "nothing is decided")
    sums = np.bincount(unit, values).astype(float)
    found = clustered_interval(parts(sums, np.bincount(unit).astype(float) - sums), ACCURACY)
    value, lo, hi = (None if x is None else x * most for x in (found.value, found.lo, found.hi))
    return replace(found, value=value, lo=lo, hi=hi, n=len(values))


def cuc(items: pd.DataFrame, had: Mapping[str, Any], tau: float = TAU, delta: float = DELTA) -> dict[str, Any]:
    """All scores of pairs (see `pairs`), as they stand under `pairs` in scores.json."""
    if items.empty:
        return dict(had) | {"overall": None, "reason": "no pair of phi and not phi has both beliefs"}
    ends = [(items[f"phi_{end}"].to_numpy(dtype=float), items[f"not_{end}"].to_numpy(dtype=float))
            for end in ("lo", "hi")]  # fmt: skip
    gold, unit = items["gold3"], items["unit"].to_numpy()
    overall = _either(*(figures(p, q, gold, unit, tau, delta) for p, q in ends))
    phi, negated = ((ends[0][i] + ends[1][i]) / 2 for i in (0, 1))
    by_gold = {}
    for name in gold.unique():
        at = (gold == name).to_numpy()
        found = figures(phi[at], negated[at], gold[at], unit[at], tau, delta)
        by_gold[str(name)] = {key: asdict(one) for key, one in found.items()}
    decided = decision(phi, negated, tau, delta)
    covered, sure = decided != UNCERTAIN, np.maximum(phi, negated)
    bins = [] if not covered.any() else calibration_error(
        sure[covered], right(decided, gold)[covered] == 1.0, pd.factorize(unit)[0][covered]
    )[1]  # fmt: skip
    return dict(had) | {
        "n": len(items), "tau": tau, "delta": delta, "overall": {key: asdict(found) for key, found in overall.items()},
        "gold": by_gold, "verdict": verdict(overall, gold), "baselines": trivial(gold, unit, tau, delta),
        "bins": bins,
        "curves": {"tau_delta": _sweep(phi, negated, gold), "offset": _offsets(phi, negated, gold, tau, delta),
                   "risk_coverage": risk_coverage(phi, negated, gold)},
    }  # fmt: skip


def _either(one: Mapping[str, Interval], two: Mapping[str, Interval]) -> dict[str, Interval]:
    """Figures with what is censored at its least and at its most: null where the two differ, with both as the ends."""
    made = {}
    for key in one:
        a, b = one[key], two.get(key, one[key])
        if a.value is None or b.value is None or a == b:
            made[key] = a
            continue
        ends = [x for x in (a.value, b.value, a.lo, b.lo, a.hi, b.hi) if x is not None]
        sharp = abs(a.value - b.value) <= SHARP
        told = f"tokens that were not returned leave it between {a.value:.3g} and {b.value:.3g}"
        made[key] = replace(a, value=(a.value + b.value) / 2 if sharp else None, lo=min(ends), hi=max(ends),
                            reason=a.reason if sharp else told)  # fmt: skip
    return made


def verdict(found: Mapping[str, Interval], gold: pd.Series) -> list[str]:
    """`abstaining` with a coverage under half the decided share, `contradicting` with E[v_neg] over .10; or neither."""
    decided = float(gold.isin([ENTAILED, REFUTED]).mean())
    coverage, violation = found["coverage"].value, found["negation_violation"].value
    made = ["abstaining"] if coverage is not None and coverage < decided / 2 else []
    return made + (["contradicting"] if violation is not None and violation > CONTRADICTING else [])


def best(named: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The model with the least excess risk among those that neither abstain nor contradict; null if there is none."""
    fit = {name: one["curves"]["risk_coverage"]["excess"] for name, one in named.items() if not one["verdict"]}
    return min(fit, key=lambda name: (fit[name], name)) if fit else None


def trivial(gold: pd.Series, unit: Any, tau: float = TAU, delta: float = DELTA) -> dict[str, dict[str, Any]]:
    """The oracle, which knows every answer, and players that know nothing."""
    targets = np.nan_to_num(np.array([TARGETS[x] for x in gold]).reshape(-1, 2))
    n = len(gold)
    players = {"oracle": targets, "always UNCERTAIN": np.zeros((n, 2)), "always TRUE": np.tile([1.0, 0.0], (n, 1)),
               "always FALSE": np.tile([0.0, 1.0], (n, 1)), "YES to both": np.ones((n, 2))}  # fmt: skip
    made = {}
    for name, p in players.items():
        found = figures(p[:, 0], p[:, 1], gold, unit, tau, delta)
        made[name] = {"overall": {key: asdict(one) for key, one in found.items()}, "verdict": verdict(found, gold)}
    return made


def _point(phi: Floats, negated: Floats, gold: pd.Series, tau: float, delta: float) -> dict[str, Any]:
    decided = decision(phi, negated, tau, delta)
    hit, covered = right(decided, gold), decided != UNCERTAIN
    return {"coverage": float(covered.mean()), "accuracy": float(hit.mean()),
            "accuracy_covered": float(hit[covered].mean()) if covered.any() else None}  # fmt: skip


def _sweep(phi: Floats, negated: Floats, gold: pd.Series) -> list[dict[str, Any]]:
    return [{"tau": round(float(tau), 3), "delta": round(float(delta), 3)} | _point(phi, negated, gold, tau, delta)
            for tau in TAUS for delta in DELTAS]  # fmt: skip


def _offsets(phi: Floats, negated: Floats, gold: pd.Series, tau: float, delta: float) -> list[dict[str, Any]]:
    """Where a model stands when b is added to the logit of YES in both queries."""
    made = []
    for b in OFFSETS:
        p, q = (expit(logit(x) + b) for x in (phi, negated))
        made.append({"offset": float(b), "commitment": float((p + q).mean()),
                     "negation_violation": float(np.maximum(0.0, p + q - 1).mean())}
                    | _point(p, q, gold, tau, delta))  # fmt: skip
    return made


def risk_coverage(phi: Floats, negated: Floats, gold: pd.Series) -> dict[str, Any]:
    """Risk of the larger belief against coverage, surest first, and its area over that of the best order.

    Geifman, Uziel & El-Yaniv 2019, ICLR (arXiv 1805.08206): the excess over the area that the same errors have
    if all come last. Equal margins come in no order: each has the mean error of them all.
    """
    margin = np.abs(phi - negated)
    wrong = 1.0 - right(np.sign(phi - negated), gold)
    shared = pd.Series(wrong).groupby(np.round(margin, 12)).transform("mean").to_numpy()
    order, count = np.argsort(-np.round(margin, 12), kind="stable"), np.arange(1, len(wrong) + 1)
    risk, least = np.cumsum(shared[order]) / count, np.cumsum(np.sort(wrong)) / count
    at = np.unique(np.linspace(0, len(risk) - 1, 101).astype(int))
    return {"area": float(risk.mean()), "excess": float(risk.mean() - least.mean()),
            "coverage": (count[at] / len(risk)).tolist(), "risk": risk[at].tolist()}  # fmt: skip
