"""A foreign benchmark's answers beside measured ones: a verdict for every row, and what it rests on.

confirmed : the answer is that of the labels, or follows from rules that hold. contradicted : it is not.
definition : right or wrong by how a word is taken. undecidable : as posed it has no one answer, since the system has
several attractors or a parameter is missing. open : our measurement does not decide it. malformed : it compares equal
numbers, or cannot be read. What is wrong with a row's English, or with the figures it quotes, is told beside.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import binom

from bench.chaosbench import ALIASES, AtValue, Shown, asked, at_value, inference, language, shown
from bench.finding import Finding
from bench.ground_truth import PUBLISHED, REFERENCE, SHIPPED, below, rows
from bench.soundness import inferred
from labeling.labels import Row
from labeling.sets import LEAST_SHARE, STARTS


class CheckoutError(ValueError):
    """A checkout that cannot be read, in one sentence."""


SEVERAL = ("several_attractors", "mixed_phase_space")
CHAOTIC = ("chaotic", "hyperchaotic")
OF_CHAOS = (
    "Chaotic", "PosLyap", "Sensitive", "StrangeAttr", "PointUnpredictable", "HighDimensional", "Multifractal",
    "Mixing", "StrongMixing", "WeakMixing",
)  # fmt: skip
REGIME_OF = {"Periodic": "periodic", "QuasiPeriodic": "quasiperiodic", "FixedPointAttr": "fixed_point"}
ARTEFACT = 0.25  # of K: a quoted value further off than this, beyond our own error, is no reading of the same system
HALF = 0.5  # of K, the published threshold between regular and chaotic
TOLD = 1e-9  # relative, to find a labelled value again
# the smallest share of the starts drawn that says, at 95 %, that a set has 1 % of the box: three of 64
SURE_SHARE = float(binom.ppf(0.95, STARTS, LEAST_SHARE) + 1) / STARTS

# what a word can mean beside what it means to the labels, for answers that differ from ours
READINGS = {
    "Ergodic": "an orbit's own measure is ergodic, a measure on a larger space need not be",
    "StatPredictable": "averages agree over the labelled set, not over the whole space",
    "PointUnpredictable": "a forecast that still names the phase beats the climatological mean",
    "Multifractal": "whether the two dimensions differ `significantly` depends on a limit, 0.5 here",
    "HighDimensional": "the dimension of an energy surface is no attractor's",
    "Mixing": "decay of correlations is seen within a finite run, for a few observables",
}
READINGS |= {"StrongMixing": READINGS["Mixing"], "WeakMixing": READINGS["Mixing"]}


@dataclass(frozen=True)
class Truth:
    """What was measured: reference rows by system, rows at values that were asked about, in a list per system."""

    reference: Mapping[str, Row]
    asked: Mapping[str, list[Row]] = field(default_factory=dict)


def truth_of(folder: Path = SHIPPED) -> Truth:
    """The measured side of an audit, from a ground-truth release."""
    at: dict[str, list[Row]] = {}
    for row in rows(PUBLISHED, folder):
        at.setdefault(row["system_id"], []).append(row)
    return Truth({row["system_id"]: row for row in rows(REFERENCE, folder)}, at)


def audited(questions: pd.DataFrame, truth: Truth) -> Iterator[Finding]:
    """A verdict for every question, in their order; a question's `name` is that of its system, where it is known."""
    pairs = questions[["name", "system_id"]].dropna()
    by_name = dict(zip(pairs["name"], pairs["system_id"], strict=True))
    for row in questions.to_dict("records"):
        notes = tuple(language(row["question"], row["name"], row["type"]))
        finding = judged(row, row["name"], by_name, truth)
        yield replace(finding, notes=(*finding.notes, *notes))


def with_findings(questions: pd.DataFrame, found: Sequence[Finding]) -> pd.DataFrame:
    """The questions with the columns `verdict`, `reason`, `figure` and `notes`."""
    table = questions.copy()
    for column in ("verdict", "reason", "figure"):
        table[column] = [getattr(x, column) for x in found]
    table["notes"] = ["; ".join(x.notes) for x in found]
    return table


def judged(row: Mapping[Any, Any], name: str | None, by_name: Mapping[str, str], truth: Truth) -> Finding:
    """The verdict on one question."""
    question, family, answer = row["question"], row["type"], row["ground_truth"] == "TRUE"
    if family in ("fol_inference", "multi_hop"):
        found = inference(question, name)
        return Finding("malformed", "no known form of an inference") if found is None else inferred(found, answer)
    figures = shown(question) if family in ("indicator_diagnostic", "cross_indicator") else None
    if figures is not None:
        return indicated(row["system_id"], figures, answer, by_name, truth)
    system_id = ALIASES.get(row["system_id"], row["system_id"])
    if system_id not in truth.reference:
        return Finding("open", f"there is no system {system_id} in the ground truth")
    if family == "regime_transition" or (family.startswith("adversarial") and at_value(question)):
        at = at_value(question)
        return Finding("malformed", "states no value") if at is None else valued(system_id, at, answer, truth)
    about = asked(question, name, family)
    if about is None:
        return Finding("malformed", "names no predicate")
    return stated(truth.reference[system_id], about.predicate, answer != about.negated)


def stated(row: Row, predicate: str, claimed: bool) -> Finding:
    """Whether a predicate has the claimed value at a labelled point."""
    measured = row["predicates"][predicate]
    figure = shown_evidence(row, predicate)
    sides = depends(row, predicate)
    if sides:
        return Finding("undecidable", f"depends on the initial condition: {sides}", figure)
    if measured["value"] == "UNDECIDED":
        posed = measured["reason"] in SEVERAL
        return Finding("undecidable" if posed else "open", f"undecided: {measured['reason']}", figure)
    if (measured["value"] == "TRUE") == claimed:
        if predicate == "Bounded" and claimed and (share := _share(row, ("unbounded",))):
            return Finding("definition", f"so is the labelled set; {share:.0%} of starts escape", figure)
        return Finding("confirmed", "", figure)
    if reading := _reading(row, predicate, claimed):
        return Finding("definition", reading, figure)
    return Finding("contradicted", f"{predicate} is {measured['value']} ({measured['basis']})", figure)


def _reading(row: Row, predicate: str, claimed: bool) -> str:
    """How else the word can be taken, where that decides; empty where it does not."""
    measured, chaotic = row["predicates"][predicate], row["regime"] in CHAOTIC
    if predicate == "Conservative" and not claimed and "rho" in str(measured["evidence"].get("fact", "")):
        return "it preserves a weighted volume, not the plain one"
    if predicate == "Ergodic" and not claimed and not chaotic:
        return READINGS["Ergodic"]
    if predicate in ("PointUnpredictable", "Multifractal") and claimed and chaotic:
        return READINGS[predicate]
    if predicate == "HighDimensional" and row["predicates"]["Conservative"]["value"] == "TRUE" and chaotic:
        return READINGS[predicate]
    return READINGS.get(predicate, "") if measured["basis"] == "proxy" else ""


def depends(row: Row, predicate: str) -> str:
    """The regimes, with their shares, of sets on which a predicate has different values; empty where it has one.

    The labelled set counts whatever its share. An escape is no other attractor here: which starts escape says nothing
    of the set that a question is about.
    """
    values: dict[bool, list[str]] = {}
    own = {"regime": row["regime"], "share": 1.0}
    met = any(a["regime"] == row["regime"] and (a["share"] or 0.0) >= SURE_SHARE for a in row["attractors"])
    for a in row["attractors"] if met else [own, *row["attractors"]]:
        if a["regime"] in ("undecided", "unbounded", "stochastic") or (a["share"] or 0.0) < SURE_SHARE:
            continue
        if predicate in OF_CHAOS:
            value = a["regime"] in CHAOTIC
        elif predicate == "HyperChaotic":
            value = a["regime"] == "hyperchaotic"
        elif predicate in REGIME_OF:
            value = a["regime"] == REGIME_OF[predicate]
        else:
            return ""
        share = "from the stated start" if a is own else f"{a['share']:.0%}"
        values.setdefault(value, []).append(f"{a['regime'].replace('_', ' ')} {share}")
    return ", ".join(x for part in values.values() for x in part) if len(values) == 2 else ""


def _share(row: Row, regimes: tuple[str, ...]) -> float:
    found = sum(a["share"] or 0.0 for a in row["attractors"] if a["regime"] in regimes)
    return found if found >= SURE_SHARE else 0.0


def valued(system_id: str, at: AtValue, answer: bool, truth: Truth) -> Finding:
    """Whether a regime holds at a value, by the label there."""
    value = below(at.value) if at.wanted == "chaos below" else at.value
    row = _labelled_at(truth.asked.get(system_id, []), at.parameter, value)
    if row is None:
        return Finding("open", f"{at.parameter} = {value:g} is no point of the ground truth")
    others = ", ".join(f"{k} = {v:g}" for k, v in row["params"].items() if k != at.parameter)
    note = (f"states no {others}",) if others else ()
    if at.wanted in ("chaotic", "chaos below"):
        finding = stated(row, "Chaotic", answer)
    elif at.wanted == "periodic":
        finding = stated(row, "Periodic", answer)
        if finding.verdict == "contradicted" and answer and row["regime"] == "fixed_point":
            figure = shown_evidence(row, "FixedPointAttr")
            is_map = row["predicates"]["DiscreteTime"]["value"] == "TRUE"
            finding = Finding("definition", "a fixed point of a map has period 1", figure) if is_map else Finding(
                "contradicted", "the attractor is an equilibrium", figure
            )  # fmt: skip
    else:
        finding = _resting(row, answer)
    return replace(finding, figure=f"{at.parameter} = {value:g}: {finding.figure}", notes=note)


def _labelled_at(found: Sequence[Row], parameter: str, value: float) -> Row | None:
    for row in found:
        if math.isclose(row["params"].get(parameter, math.nan), value, rel_tol=TOLD, abs_tol=TOLD):
            return row
    return None


def _resting(row: Row, answer: bool) -> Finding:
    figure = shown_evidence(row, "FixedPointAttr")
    if row["regime"] == "undecided":
        return Finding("open", f"undecided: {row['reason']}", figure)
    rests = "fixed_point" in {row["regime"], *(a["regime"] for a in row["attractors"])}
    if not rests and row["stability"] == "neutral" and answer:
        return Finding("definition", "a centre is stable, and attracts nothing", figure)
    return Finding("confirmed" if rests == answer else "contradicted", "" if rests == answer else
                   f"{'an' if rests else 'no'} equilibrium attracts", figure)  # fmt: skip


def indicated(system_id: str, about: Shown, answer: bool, by_name: Mapping[str, str], truth: Truth) -> Finding:
    """An answer about indicator values: right by the labels, and whether the values are those of the system."""
    ids = [system_id if name is None else by_name.get(name, "") for name, _, _ in about.values]
    if missing := [name for (name, _, _), i in zip(about.values, ids, strict=True) if i not in truth.reference]:
        return Finding("open", f"there is no system {missing[0]} in the ground truth")
    found = [truth.reference[i] for i in ids]
    notes = tuple(note for row, (_, indicator, value) in zip(found, about.values, strict=True)
                  if (note := artefact(row, indicator, value)))  # fmt: skip
    figure = "; ".join(measured(row, indicator) for row, (_, indicator, _) in zip(found, about.values, strict=True))
    if len(found) == 2 and about.values[0][2] == about.values[1][2] and about.wanted in ("more chaotic", "higher"):
        return Finding("malformed", "compares two equal values", figure, notes)
    if about.wanted in ("chaotic", "regular"):
        finding = stated(found[0], "Chaotic", answer == (about.wanted == "chaotic"))
        return replace(finding, figure=f"{finding.figure}; {figure}", notes=notes)
    if about.wanted == "more chaotic":
        return replace(_more_chaotic(found, answer), notes=(*notes, *_reversed(about, answer)))
    if about.wanted == "higher":
        a, b = (_k(row) for row in found)
        if a is None or b is None:
            return Finding("undecidable", "one of the systems has no K", figure, notes)
        if abs(a[0] - b[0]) <= a[1] + b[1]:
            return Finding("open", "the two are equal within their errors", figure, notes)
        right = (a[0] > b[0]) == answer
        return Finding("confirmed" if right else "contradicted", "" if right else "the measured order is the other",
                       figure, notes)  # fmt: skip
    return replace(_consistent(found[0], about, answer), notes=notes)


def _consistent(row: Row, about: Shown, answer: bool) -> Finding:
    (_, indicator, _), given = about.values[0], bool(about.given_chaotic)
    figure, chaotic = measured(row, indicator), row["predicates"]["Chaotic"]
    sides = depends(row, "Chaotic")
    if sides:
        return Finding("undecidable", f"depends on the initial condition: {sides}", figure)
    if chaotic["value"] == "UNDECIDED":
        return Finding("open", f"undecided: {chaotic['reason']}", figure)
    if indicator == "zero_one_k":
        k = _k(row)
        if k is None:
            return Finding("undecidable", f"K has no value: {row['indicators'][indicator]['status']}", figure)
        agrees = (k[0] > HALF) == given
    else:  # a verdict of chaos stands only where the slope is half the exponent
        agrees = (chaotic["value"] == "TRUE") == given
    if agrees == answer:
        return Finding("confirmed", "", figure)
    return Finding("contradicted", "the measured value " + ("agrees" if agrees else "does not agree"), figure)


def _k(row: Row) -> tuple[float, float] | None:
    """K and its error; 0 of a set whose section is a point, where the test has nothing to look at. None with noise."""
    own = row["indicators"]["zero_one_k"]
    if own["value"] is not None:
        return own["value"], own["error"] or 0.0
    return (0.0, 0.0) if row["regime"] in ("fixed_point", "periodic") else None


def _more_chaotic(found: list[Row], answer: bool) -> Finding:
    figure = "; ".join(f"{row['system_id']}: {shown_evidence(row, 'Chaotic')}" for row in found)
    for row in found:
        if sides := depends(row, "Chaotic"):
            return Finding("undecidable", f"{row['system_id']} depends on the initial condition: {sides}", figure)
        if row["predicates"]["Chaotic"]["value"] == "UNDECIDED":
            return Finding("open", f"{row['system_id']} is undecided", figure)
    first, second = (row["predicates"]["Chaotic"]["value"] == "TRUE" for row in found)
    if first == second:
        return Finding("definition", "both are chaotic" if first else "neither is chaotic", figure)
    if first == answer:
        return Finding("confirmed", "", figure)
    return Finding("contradicted", "it is the other that is chaotic", figure)


def _reversed(about: Shown, answer: bool) -> tuple[str, ...]:
    a, b = (value for _, _, value in about.values)
    return ("prints the order against its answer",) if (a > b) != answer and a != b else ()


def artefact(row: Row, indicator: str, value: float) -> str:
    """What is wrong with a quoted value of K or MEGNO; empty where it is one that the system can have."""
    own = row["indicators"].get(indicator)
    if indicator == "zero_one_k" and own is not None and own["value"] is not None:
        if abs(own["value"] - value) > ARTEFACT + (own["error"] or 0.0):
            return f"quotes K = {value:g} of {row['system_id']}, measured {own['value']:.2f}"
    elif indicator == "zero_one_k" and own is not None and own["status"] == "not_applicable":
        return f"quotes K = {value:g} of {row['system_id']}, which has noise"
    slope = row["indicators"]["megno_slope"]
    if indicator == "megno" and value < 2.0 and slope["value"] is not None and slope["value"] > slope["error"]:
        return f"quotes MEGNO = {value:g} of {row['system_id']}, where it grows by {slope['value']:.3g} per unit"
    return ""


def shown_evidence(row: Row, predicate: str) -> str:
    """The figure behind a predicate, in a few words."""
    measured, indicators = row["predicates"][predicate], row["indicators"]
    regime = row["regime"].replace("_", " ")
    if row["regime"] == "periodic":
        length = row["period"] if row["period"] is not None else row["period_time"]
        regime += f" of period {length:g}" if length is not None else ""
    if fact := measured["evidence"].get("fact"):
        return str(fact) if measured["basis"] == "exact" else f"{regime}: {fact}"
    if predicate in ("HyperChaotic", "Dissipative", "Conservative"):
        spectrum = indicators["lyapunov_spectrum"]
        if spectrum["value"] is not None:
            return f"{regime}, exponents " + ", ".join(f"{x:.4g}" for x in spectrum["value"][:4])
    if predicate in ("HighDimensional", "Multifractal", "StrangeAttr"):
        dimension = indicators["kaplan_yorke_dimension"]
        if dimension["value"] is not None:
            second = indicators["correlation_dimension"]["value"]
            other = f", D_2 = {second:.3f}" if second is not None and predicate == "Multifractal" else ""
            return f"{regime}, D_KY = {dimension['value']:.3f}{other}"
    largest = indicators["lyapunov_max"]
    if largest["value"] is None:
        return regime
    return f"{regime}, largest exponent {largest['value']:.4g} +- {largest['error']:.2g}"


def measured(row: Row, indicator: str) -> str:
    """An indicator's measured value in a few words."""
    own = row["indicators"][indicator]
    said = own["status"] if own["value"] is None else f"{own['value']:.3g}"
    if indicator == "megno" and (slope := row["indicators"]["megno_slope"])["value"] is not None:
        said += f", slope {slope['value']:.3g}"
    return f"{row['system_id']}: {indicator} measured {said}"


def systems(assignments: Mapping[str, Mapping[str, bool]], truth: Truth) -> pd.DataFrame:
    """The stated truth values of systems beside ours: one row for each system and predicate."""
    found = []
    for system_id, values in assignments.items():
        for predicate, claimed in values.items():
            if system_id not in truth.reference:
                finding = Finding("open", "there is no such system in the ground truth")
            else:
                finding = stated(truth.reference[system_id], predicate, claimed)
            found.append((system_id, predicate, "TRUE" if claimed else "FALSE", finding.verdict, finding.reason,
                          finding.figure))  # fmt: skip
    return pd.DataFrame(found, columns=["system_id", "predicate", "stated", "verdict", "reason", "figure"])


def assignments(checkout: Path) -> dict[str, dict[str, bool]]:
    """The truth values that a checkout's systems/*.json state, and those in folders there; empty where it has none."""
    found = {}
    for path in sorted((checkout / "systems").rglob("*.json")):
        try:
            data = json.loads(path.read_bytes())
        except (ValueError, RecursionError) as error:
            raise CheckoutError(f"{path} is not JSON: {error}") from None
        if isinstance(data, dict) and "truth_assignment" in data:
            claimed = data["truth_assignment"]
            if not (isinstance(claimed, dict) and all(isinstance(value, bool) for value in claimed.values())):
                raise CheckoutError(f"{path}: truth_assignment is no object of true and false")
            found[str(data.get("system_id", path.stem))] = claimed
    return found
