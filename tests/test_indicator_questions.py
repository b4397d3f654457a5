"""Reports are alike but for the answer, what counts decides, and a reader of the text alone finds it."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import matthews_corrcoef

from bench.conditions import DECIDING, Measurement, says_chaos, valid, verdict
from bench.cross_questions import cross_indicator
from bench.dataset import finished
from bench.indicator_questions import atomic_with_data, indicator_diagnostic
from bench.questions import REPEATS, world
from bench.rendering import LANGUAGES
from dynamics.registry import system
from labeling.predicate import NAMES

FAMILIES = (indicator_diagnostic, cross_indicator, atomic_with_data)
SYSTEMS = (("logistic_r4", "r", True), ("henon", "a", False), ("mackey_glass", "tau", True), ("rossler", "c", False))
REPORTS = ("motion", "alone", "believed", "decided", "larger", "apart")
TURNS = r"from turn (?P<begin>\d+) to turn (?P<end>\d+)"
LINES = {
    "zero_one_k": rf"K of the 0-1 test is (?P<value>\S+): {TURNS} at a step of (?P<step>\S+) turns, "
    r"with a noise level of (?P<noise>[\d.]+)\.",
    "permutation_entropy": rf"The normalised permutation entropy of order 5 is (?P<value>\S+): {TURNS} at a step ",
    "lyapunov_max": r"The largest Lyapunov exponent is (?P<value>\S+) per turn, with a 95 % half-width of "
    rf"(?P<error>\S+): {TURNS}, with a noise level of (?P<noise>[\d.]+)\.",
    "megno_slope": rf"The slope of the mean MEGNO is (?P<value>\S+) per turn: {TURNS}, "
    r"with a noise level of (?P<noise>\S+) and growth weighted by t\^(?P<weight>\d)\.",
}


@pytest.fixture(scope="module")
def points():
    """Made-up sweeps with as many chaotic as regular points."""
    rows = []
    for system_id, sweep, up in SYSTEMS:
        s = system(system_id)
        for n in range(32):
            value, chaotic = s.parameters[sweep] - 1.0 + n * 0.0625, (n // 2 % 2 == 0) == up
            values = dict.fromkeys(NAMES, "UNDECIDED")
            values |= dict.fromkeys(("Chaotic", "PosLyap"), "TRUE" if chaotic else "FALSE")
            predicates = {name: {"value": v, "basis": "measured"} for name, v in values.items()}
            rows.append({"system_id": system_id, "sweep": sweep, "params": json.dumps(s.parameters | {sweep: value}),
                         "initial_condition": json.dumps(s.state), "regime": "chaotic" if chaotic else "periodic",
                         "predicates": json.dumps(predicates)} | values)  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def numbers(points):
    """Made-up numbers of each point: those that count are right, the others are whatever they are."""
    rng = np.random.default_rng(0)
    found = {}
    for row in points.itertuples(index=False):
        chaotic, discrete = row.regime == "chaotic", system(row.system_id).discrete
        step, dropped = (1.0, 1000) if discrete else (0.25, 100)
        rate = float(rng.uniform(0.2, 0.9)) if chaotic else float(-rng.uniform(0.0, 0.02))
        mine = []
        k, entropy = (rng.uniform(0.95, 1.0), 0.8) if chaotic else (rng.uniform(-0.05, 0.05), 0.3)
        for length in (1000, 2000):
            mine.append(Measurement("zero_one_k", float(k), 0.01, "ok", step, length, dropped))
            mine.append(Measurement("permutation_entropy", entropy, 0.01, "ok", step, length, dropped))
        for fine in (-0.01, 0.0, 0.01):
            mine.append(Measurement("zero_one_k", fine, None, "not_converged", 0.02, 2000, dropped))
        for noise in (0.5, 1.0):
            mine += [Measurement("zero_one_k", 0.99, 0.01, "ok", step, 1000, dropped, noise),
                     Measurement("permutation_entropy", 0.9, 0.01, "ok", step, 1000, dropped, noise)]  # fmt: skip
        for length in (200, 800):
            mine += [Measurement("lyapunov_max", rate, 0.02, "ok", None, length, dropped),
                     Measurement("megno_slope", rate / 2, 0.01, "ok", None, length, dropped)]  # fmt: skip
        for short in (-0.2, 0.0, 0.35, 0.6, 0.9):
            mine += [Measurement("lyapunov_max", short, 0.3, "not_converged", None, 8, dropped),
                     Measurement("megno_slope", short / 2, 0.3, "ok", None, 8, dropped)]  # fmt: skip
        mine.append(Measurement("megno_slope", 0.001, None, "not_converged", None, 200, dropped, weight=0))
        for noise in (3.0, 9.0):
            seen = math.log(noise) + rng.uniform(0.0, 0.01)
            mine += [Measurement("lyapunov_max", seen, 0.01, "ok", None, 200, dropped, noise),
                     Measurement("megno_slope", seen / 2, 0.01, "ok", None, 200, dropped, noise)]  # fmt: skip
        found[row.system_id, row.params] = mine
    return found


def read(question: str) -> list[dict[str, object]]:
    """The figures of a question, from its text."""
    found = []
    for line in question.splitlines():
        for name, pattern in LINES.items():
            if match := re.search(pattern, line):
                found.append({"name": name} | {key: float(value) for key, value in match.groupdict().items()})
    return found


def counts(f: dict) -> bool:
    """Whether a figure counts, by rules written again from docs/indicator_questions.md."""
    if f["name"] == "permutation_entropy" or f["begin"] < 50 or f["noise"] > 0.01:
        return False
    if f["name"] == "zero_one_k":
        return f["step"] >= 0.1 and (f["end"] - f["begin"]) / f["step"] >= 1000
    return f["end"] - f["begin"] >= 200 and f.get("weight", 1) == 1


def chaos(f: dict) -> bool:
    if f["name"] == "zero_one_k":
        return f["value"] > 0.5
    rate = f["value"] * (2 if f["name"] == "megno_slope" else 1)
    length = f["end"] - f["begin"]
    return rate > math.log(length) / length and f["value"] > f.get("error", 0)


def solved(question: str) -> bool:
    """The answer, from the English text alone."""
    figures, asked = read(question), question.splitlines()[-1]
    counting = [chaos(f) for f in figures if counts(f)]
    if "greater of the two" in asked or "intervals of" in asked:
        one, other = ((f["value"] - f["error"], f["value"] + f["error"]) for f in figures)
        apart = one[0] > other[1] or other[0] > one[1]
        if "intervals of" in asked:
            return apart != ("leave it open" in asked)
        return (one > other) == ("run 1" in asked)
    if "two estimates disagree" in asked:
        return counts(figures[0]) == bool(re.search(r"first one to be believed|of the second one", asked))
    if "the two estimates" in asked:
        return bool(counting) != ("leave it open" in asked)
    if "this estimate" in asked:
        shown = counting == [not re.search("motion is regular", asked)]
        return shown != bool(re.search("fail to show|more than this", asked, re.IGNORECASE))
    (says,) = set(counting)
    denied = r"motion regular|be rejected|is not chaotic|has no positive|wrong to say"
    return says != bool(re.search(denied, asked))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_partners_have_the_same_words_and_the_other_answer(points, numbers, family, lang):
    items = family(world(points, [], lang, numbers=numbers), 60, seed=1)
    assert len(items) == 60
    for one, other in zip(items[::2], items[1::2], strict=True):
        assert {one["ground_truth"], other["ground_truth"]} == {"TRUE", "FALSE"}
        assert one["pair"] == other["pair"]
        assert one["system_id"] == other["system_id"]
        digit = r"\d" if one["template"] in REPORTS else r"[\d.]+"  # reports have as many digits too
        lines = [re.sub(digit, "#", row["question"]).replace("+", "-").splitlines() for row in (one, other)]
        if one["template"] == "believed":
            lines = [sorted(text) for text in lines]
        assert lines[0] == lines[1]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_reader_of_the_text_finds_the_answer(points, numbers, family):
    items = [row for row in family(world(points, [], numbers=numbers), 120, seed=2) if row["book"] == "data"]
    assert len(items) > 40
    wrong = [row["question"] for row in items if solved(row["question"]) != (row["ground_truth"] == "TRUE")]
    assert wrong == []


@pytest.mark.parametrize("family", [indicator_diagnostic, atomic_with_data])
def test_no_number_alone_decides_and_those_that_count_do(points, numbers, family):
    items = [row for row in family(world(points, [], numbers=numbers), 400, seed=3)
             if len(row["evidence"].get("measurements", [])) > 1]  # fmt: skip
    assert len(items) > 40
    truth = np.array([row["evidence"]["regime"] == "chaotic" for row in items])
    fields = Measurement.__dataclass_fields__
    shown = [[Measurement(**{key: m[key] for key in fields}) for m in row["evidence"]["measurements"]] for row in items]
    assert [verdict(numbers_) for numbers_ in shown] == truth.tolist()
    for name in DECIDING:
        known = [(m, t) for numbers_, t in zip(shown, truth, strict=True) for m in numbers_ if m.indicator == name]
        share = np.mean([valid(m) for m, _ in known])
        assert 0.3 < share < 0.6
        agree = np.mean([says_chaos(m) == t for m, t in known if not valid(m)])
        assert agree == pytest.approx(0.5, abs=0.02)
        values, truths = np.array([m.value for m, _ in known]), np.array([t for _, t in known])
        best = max(abs(matthews_corrcoef(truths, values > cut)) for cut in np.unique(values)[:-1])
        assert best <= 0.5
    assert all(sum(valid(m) and m.indicator in DECIDING for m in numbers_) == 1 for numbers_ in shown)
    assert all({m.indicator for m in numbers_} != {"lyapunov_max"} for numbers_ in shown)


def test_every_form_is_half_true_in_both_polarities(points, numbers):
    for family in FAMILIES:
        items = pd.DataFrame(family(world(points, [], numbers=numbers), 200, seed=4))
        assert set(items["polarity"]) == {"positive", "negative"}
        for _, rows in items.groupby(["template", "form"]):
            assert (rows["ground_truth"] == "TRUE").mean() == 0.5
        assert items["fact"].value_counts().max() <= REPEATS
        assert not items["question"].duplicated().any()


def test_an_unnamed_system_is_named_in_the_record_alone(points, numbers):
    items = cross_indicator(world(points, [], numbers=numbers), 40, seed=1)
    assert all(row["params"] == {} and row["evidence"]["params"] for row in items)
    assert not any(re.search("logistic|Hénon|Mackey|Rössler", row["question"]) for row in items)
    assert all(row["question"].startswith(row["context"]) for row in items)


def test_the_same_seed_gives_the_same_rows(points, numbers):
    w = world(points, [], numbers=numbers)
    for family in FAMILIES:
        rows = [json.dumps([*finished(family(w, 40, seed), {})]) for seed in (1, 1, 2)]
        assert rows[0] == rows[1] != rows[2]
