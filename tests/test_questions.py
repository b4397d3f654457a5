"""Questions state what was labelled, digit for digit, and every answer has its counterpart in the same words."""

import re

import pandas as pd
import pytest

from bench.questions import (
    ASKED,
    atomic,
    misleading,
    paraphrases,
    perturbations,
    world,
)  # fmt: skip
from bench.rendering import LANGUAGES, language, printed
from dynamics.registry import system
from labeling.predicate import NAMES


@pytest.mark.parametrize("lang", LANGUAGES)
def test_answers_come_in_pairs_of_the_same_words(made_up, lang):
    items = atomic(world(made_up, [], lang), 20, seed=1)
    assert len(items) == 20
    for first, second in zip(items[::2], items[1::2], strict=True):
        assert {first["ground_truth"], second["ground_truth"]} == {"TRUE", "FALSE"}
        assert first["system_id"] == second["system_id"]
        words = [re.sub(r"[\d.]+", "#", item["question"]) for item in (first, second)]
        assert words[0] == words[1]
    assert {item["polarity"] for item in items} == {"positive", "negative"}


def test_dat_05_and_dat_08_a_question_prints_the_parameters_that_were_labelled(made_up):
    """DAT-05: rounding r = 1 + sqrt 8 to 3.829 leaves the window's edge. DAT-08: names that there are not."""
    for item in atomic(world(made_up, []), 20, seed=2):
        stated = dict(re.findall(r"(\w+) = (-?[\d.]+(?:e-?\d+)?)(?=[, ])", item["question"]))
        for name, value in item["params"].items():
            assert float(stated[name]) == value
        assert set(stated) == set(item["params"]) | set(system(item["system_id"]).state)
    assert float(printed(1 + 8**0.5)) == 1 + 8**0.5
    assert printed(10.0) == "10"


def test_a_past_is_stated_as_one(made_up):
    flow = made_up[made_up["system_id"] != "henon"].assign(sweep=lambda t: t["sweep"])
    found = world(flow, [])
    assert found.points[found.points["system_id"] == "mackey_glass"]["past"].all()
    text = found.language.system_at("mackey_glass", {"tau": 17.0}, {"x": 0.9}, past=True)
    assert text == "the Mackey-Glass equation with tau = 17, started at x = 0.9 for all times up to 0"


def test_paraphrases_are_groups_of_both_polarities(made_up):
    items = pd.DataFrame(paraphrases(world(made_up, []), 16, seed=1))
    for _, group in items.groupby("group"):
        assert len(group) == 4
        assert (group["polarity"] == "negative").sum() == 2
        assert (group["ground_truth"] == "TRUE").sum() == 2
        assert group["fact"].nunique() == 1


def test_perturbations_are_groups_in_which_half_of_the_answers_change(made_up):
    items = pd.DataFrame(perturbations(world(made_up, []), 16, seed=1))
    assert not items["question"].duplicated().any()
    for _, group in items.groupby("group"):
        assert list(group["template"]) == ["plain", "negation", "distractor", "value"]
        plain, negation, distractor, value = group["ground_truth"]
        assert plain == distractor != negation
        assert plain != value
    assert (items["ground_truth"] == "TRUE").mean() == 0.5


def test_a_lure_stands_before_both_answers(made_up):
    items = misleading(world(made_up, []), 12, seed=1)
    for first, second in zip(items[::2], items[1::2], strict=True):
        assert first["premises"] == second["premises"]
        assert first["ground_truth"] != second["ground_truth"]


def test_languages_say_the_same_things():
    one, other = (language(name) for name in LANGUAGES)
    assert set(one.predicates) == set(other.predicates) == set(NAMES)
    assert [(f.form, f.negates) for f in one.frames] == [(f.form, f.negates) for f in other.frames]
    assert set(one.names) == set(other.names)
    assert len(one.distractors) == len(other.distractors)
    with pytest.raises(ValueError, match="there are some in en, zh"):
        language("xx")


def test_no_name_says_a_regime():
    said = re.compile(r"chaotic|regime|limit cycle|periodic|hyperchaos|r = ", re.IGNORECASE)
    assert [name for name in language("en").names.values() if said.search(name)] == []


def test_predicates_that_equations_give_away_are_not_asked(made_up):
    assert len(ASKED) == 19
    assert {item["predicate"] for item in atomic(world(made_up, []), 20, seed=3)} == {"Chaotic"}
