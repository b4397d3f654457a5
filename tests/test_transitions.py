"""Questions about transitions and near misses: balanced by design, and decided by labelled points and brackets."""

import json
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.dataset import finished
from bench.near_misses import near_misses
from bench.questions import extended, world
from bench.rendering import LANGUAGES, language, printed
from bench.spans import spans
from bench.transitions import KINDS, point_claims, span_claims, transitions
from dynamics.registry import system, systems_in_file
from labeling.predicate import NAMES

SWEEPS = (("logistic_r4", "r"), ("henon", "a"), ("ikeda_map", "u"), ("circle_map_quasiperiodic", "K"),
          ("dysts_map_ricker", "a"), ("dysts_map_svensson", "b"))  # fmt: skip
CASCADE = [("fixed_point", 1)] * 8 + [("periodic", 2)] * 8 + [("periodic", 4)] * 6 + [("chaotic", None)] * 10

UP = [("periodic", 2)] * 14 + [("chaotic", None)] * 18
DOWN = [("chaotic", None)] * 14 + [("periodic", 2)] * 18


def point(system_id, sweep, value, regime, period, s=None):
    s = s or system(system_id)
    holds = {"Chaotic": "chaotic", "Periodic": "periodic", "FixedPointAttr": "fixed_point"}
    values = dict.fromkeys(NAMES, "UNDECIDED") | {n: str(regime == r).upper() for n, r in holds.items()}
    known = {"regime": regime, "period": period, "period_time": None}
    return {"system_id": system_id, "sweep": sweep, "params": json.dumps(s.parameters | {sweep: value}),
            "initial_condition": json.dumps(s.state), "stability": "attracting",
            "attractors": json.dumps([known | {"initial_condition": s.state}]),
            "predicates": json.dumps({name: {"value": v, "basis": "measured"} for name, v in values.items()})} \
        | values | known  # fmt: skip


def sweep_of(system_id, sweep, regimes, s=None):
    """32 points of a made-up sweep, and the brackets where neighbours differ."""
    own = (s or system(system_id)).parameters[sweep]
    values = [round(own - 0.789 + n * 0.05, 3) for n in range(len(regimes))]  # of one printed length
    rows = [point(system_id, sweep, x, *found, s) for x, found in zip(values, regimes, strict=True)]
    brackets = []
    for n, (a, b) in enumerate(pairwise(regimes)):
        if a != b:
            kind = "accumulation" if "chaotic" in (a[0], b[0]) else "period_doubling"
            lo = values[n] + 0.01
            brackets.append({"system_id": system_id, "parameter": sweep, "kind": kind, "direction": "both", "lo": lo,
                             "hi": lo + 1e-6})  # fmt: skip
    return rows, brackets


@pytest.fixture(scope="module")
def made_up():
    """Cascades upwards and downwards, in as many sweeps of either."""
    rows, brackets = [], []
    for n, (system_id, sweep) in enumerate(SWEEPS):
        more = sweep_of(system_id, sweep, CASCADE if n % 2 == 0 else CASCADE[::-1])
        rows, brackets = rows + more[0], brackets + more[1]
    return pd.DataFrame(rows), brackets


@pytest.fixture(scope="module")
def items(made_up):
    return pd.DataFrame(transitions(world(*made_up), 2000, seed=1))


def test_answers_are_equal_for_every_system_of_all_that_is_asked(items):
    assert len(items) > 300
    truth = items.assign(holds=(items["ground_truth"] == "TRUE") ^ (items["polarity"] == "negative"))
    for key in (["predicate"], ["predicate", "system_id"], ["predicate", "polarity", "pair"]):
        assert (truth.groupby(key)["holds"].mean() == 0.5).all()
        assert (truth.groupby(key)["ground_truth"].apply(lambda x: (x == "TRUE").mean()) == 0.5).all()
    assert {"begins", "ends", "settles", "unsettles", "alike", "doubles", "halves", "by~doubling", "period~2"} <= {
        *items["predicate"]
    }


def test_answers_are_equal_in_every_place_a_span_can_have(made_up):
    from bench.pairs import balanced

    w = world(*made_up)
    for asked, table in (point_claims(w) | span_claims(w)).items():
        found = balanced(table, 64)
        assert (found.groupby("place")["truth"].mean() == 0.5).all(), asked


def test_partners_are_asked_in_the_same_words(items):
    words = items["question"].str.replace(r"-?\d+(\.\d+)?(e-?\d+)?", "#", regex=True)
    words = words.str.replace("raised|lowered", "moved", regex=True)
    assert (words.groupby(items["pair"]).nunique() <= 2).all()  # two forms where a pair of facts is asked twice
    assert (items.groupby("pair")["ground_truth"].nunique() == 2).all()


def test_every_answer_follows_from_the_labels_of_the_printed_values(made_up, items):
    """Derived again, from the text of the question and the table of points alone."""
    table, _ = made_up
    label = {(row.system_id, row.sweep, printed(json.loads(row.params)[row.sweep])): (row.regime, row.period)
             for row in table.itertuples(index=False)}  # fmt: skip
    holds = {
        "begins": lambda a, b: a[0] != "chaotic" == b[0], "ends": lambda a, b: a[0] == "chaotic" != b[0],
        "settles": lambda a, b: a[0] != "fixed_point" == b[0], "unsettles": lambda a, b: a[0] == "fixed_point" != b[0],
        "alike": lambda a, b: a[0] == b[0], "doubles": lambda a, b: b[1] == 2 * a[1],
        "halves": lambda a, b: a[1] == 2 * b[1], "by~doubling": lambda a, b: a[1] in (2 * b[1], b[1] / 2),
    }  # fmt: skip
    sweep = dict(SWEEPS)
    seen = Counter()
    for row in items.itertuples(index=False):
        moved = re.search(r"parameter (\w+) is (raised|lowered) from (\S+) to (\S+?),? and", row.question)
        if moved is None or row.predicate not in holds:
            continue
        name, way, first, second = moved.groups()
        assert name == sweep[row.system_id]
        assert (float(first) < float(second)) == (way == "raised")
        truth = bool(holds[row.predicate](label[row.system_id, name, first], label[row.system_id, name, second]))
        assert row.ground_truth == str(truth != ("wrong" in row.question or "false" in row.question)).upper()
        seen[row.predicate] += 1
    assert set(seen) == set(holds)


def test_a_period_is_that_of_the_labelled_cycle(made_up, items):
    table = made_up[0].set_index(["system_id", "params"])
    asked = items[items["predicate"].str.startswith("period~")]
    assert len(asked)
    for row in asked.itertuples(index=False):
        period = int(re.search(r"exactly (\d+) iterates", row.question).group(1))
        labelled = table.loc[(row.system_id, json.dumps(row.params)), "period"]
        assert row.ground_truth == str((labelled == period) != (row.polarity == "negative")).upper()


def test_no_fact_is_asked_more_than_three_times(items):
    same = items["fact"].map(lambda fact: tuple(sorted(fact.replace("ends", "begins").split(">"))))
    assert items["fact"].value_counts().max() <= 3
    assert len(same)
    assert not items["question"].duplicated().any()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_both_languages_ask_the_same_claims(made_up, lang):
    found = transitions(world(*made_up, lang), 100, seed=3)
    english = transitions(world(*made_up), 100, seed=3)
    assert [(x["fact"], x["ground_truth"]) for x in found] == [(x["fact"], x["ground_truth"]) for x in english]
    assert not any("{" in x["question"] for x in found)


def test_languages_have_the_same_claims():
    one, other = (language(name) for name in LANGUAGES)
    assert [(f.form, f.negates) for f in one.claims] == [(f.form, f.negates) for f in other.claims]
    for key in ("leads", "moved", "unit", "kinds", "asked"):
        assert set(one.transitions[key]) == set(other.transitions[key])
    assert set(one.transitions["kinds"]) == set(KINDS)


def test_the_seed_alone_decides_the_rows(made_up):
    rows = [list(finished(transitions(world(*made_up), 60, seed), {})) for seed in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]


def bifurcation(between, a=("fixed_point", 1), b=("periodic", 2), cut=False):
    """What is decided of one span of the logistic map with these brackets in it."""
    rows, _ = sweep_of("logistic_r4", "r", [a] * 16 + [b] * 16)
    lo, hi = (json.loads(rows[n]["params"])["r"] for n in (15, 16))
    at = np.linspace(lo, hi, len(between) + 2)[1:-1] if not cut else [hi]
    brackets = [{"system_id": "logistic_r4", "parameter": "r", "kind": k, "direction": "both", "lo": x, "hi": x}
                for k, x in zip(between, at, strict=True)]  # fmt: skip
    w = world(pd.DataFrame(rows), brackets)
    found = span_claims(w)["by~doubling"]
    found = found[(found["a_value"] == lo) & (found["b_value"] == hi)]
    return list(found["truth"])


def test_a_kind_is_claimed_only_of_one_whole_known_bracket():
    assert bifurcation(["period_doubling"]) == [True]
    assert bifurcation(["unclassified"]) == []
    assert bifurcation(["period_doubling", "unclassified"]) == []
    assert bifurcation([]) == []  # the labels differ, and nothing tells why
    assert bifurcation(["period_doubling"], cut=True) == []
    assert bifurcation(["period_doubling"], b=("periodic", 3)) == []
    assert bifurcation(["period_doubling"], b=("chaotic", None)) == []
    assert bifurcation(["fold"], b=("periodic", 3)) in ([False], [])


def test_a_sweep_with_fewer_settled_points_than_a_span_has_none(made_up):
    """One point on an attractor, all others unbounded: claims about the other sweeps stay what they are."""
    few, no_bracket = sweep_of("henon", "b", [("periodic", 2)] + [("unbounded", None)] * 3)
    table, brackets = made_up
    w = world(pd.concat([table, pd.DataFrame(few)], ignore_index=True), brackets + no_bracket)
    assert {name: len(t) for name, t in span_claims(w).items()} == {
        name: len(t) for name, t in span_claims(world(*made_up)).items()
    }


def test_neutral_cycles_are_no_attractors(made_up):
    table, brackets = made_up
    assert len(spans(world(table.assign(stability="neutral"), brackets).points, brackets)) == 0


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from([("fixed_point", 1), ("periodic", 2), ("chaotic", None)]), min_size=32, max_size=32))
def test_whatever_the_sweep_both_answers_of_a_system_are_equal(regimes):
    parts = [sweep_of("logistic_r4", "r", regimes), sweep_of("henon", "a", regimes[::-1])]
    w = world(pd.DataFrame(parts[0][0] + parts[1][0]), parts[0][1] + parts[1][1])
    found = pd.DataFrame(transitions(w, 10**6, seed=0), columns=["system_id", "predicate", "ground_truth"])
    assert (
        found.groupby(["system_id", "predicate"])["ground_truth"].apply(lambda x: (x == "TRUE").mean()) == 0.5
    ).all()


def test_near_misses_are_the_two_sides_of_one_bracket():
    parts = [sweep_of(*SWEEPS[n], (UP, DOWN)[n % 2]) for n in range(6)]
    table, brackets = pd.DataFrame([row for rows, _ in parts for row in rows]), [b for _, more in parts for b in more]
    found = pd.DataFrame(near_misses(world(table, brackets), 100, seed=1))
    assert len(found) >= 4
    above = Counter()
    for _, rows in found.groupby("group"):
        one, other = rows.itertuples(index=False)
        assert {one.ground_truth, other.ground_truth} == {"TRUE", "FALSE"}
        name = dict(SWEEPS)[one.system_id]
        lo, hi = sorted((one.params[name], other.params[name]))
        inside = [b for b in brackets if b["system_id"] == one.system_id and lo < b["lo"] and b["hi"] < hi]
        assert inside
        assert min(one.margin, other.margin) < 0.01
        top = one if one.params[name] == hi else other
        above[one.predicate, (top.ground_truth == "TRUE") != (top.polarity == "negative")] += 1
    assert all(above[predicate, True] == above[predicate, False] for predicate, _ in above)


def test_systems_of_a_user_join_the_maps_of_dysts(made_up, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[my_map]\nkind = "map"\nstate = { x = 0.3 }\nparameters = { r = 3.5 }\nrule = ["r*x*(1 - x)"]\n')
    (mine,) = systems_in_file(file)
    rows, brackets = sweep_of("my_map", "r", CASCADE, mine)
    w = world(pd.concat([made_up[0], pd.DataFrame(rows)]), made_up[1] + brackets, own=[mine])
    found = extended(w, 500, seed=1)
    assert {row["system_id"] for row in found} == {"dysts_map_ricker", "dysts_map_svensson", "my_map"}
    assert {row["type"] for row in found} == {"extended_systems"}
    text = next(row["question"] for row in found if row["system_id"] == "my_map")
    assert "the map x -> r*x*(1 - x) with r = " in text
    assert Counter(row["ground_truth"] for row in found if row["system_id"] == "my_map")["TRUE"] > 0
