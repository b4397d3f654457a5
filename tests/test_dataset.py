"""Sets of questions: sizes, splits, ids, books; and what a set is refused for."""

import copy
import json
import re
from collections import Counter

import pytest

from bench.dataset import (
    BOOKS,
    CANARY,
    FAMILIES,
    KEYS,
    NEAR,
    PRESETS,
    SPLITS,
    TooFewError,
    finished,
    questions,
    split_of,
)
from bench.questions import BLOCKS, REPEATS, blocks, world
from bench.refusals import RefusedSetError, check, faults, spelling
from dynamics.registry import system

SIZES = {"atomic": 24, "consistency_paraphrase": 8, "perturbation": 8, "adversarial_misleading": 4,
         "fol_inference": 144, "multi_hop": 24}  # fmt: skip


@pytest.fixture(scope="module")
def rows(made_up):
    return list(finished(questions(world(made_up, []), SIZES, seed=1), {"seed": 1}))


def test_presets_have_the_published_sizes():
    """Table 1 of arXiv 2605.24305: 40,886 rows, of which 25,307 are atomic."""
    assert sum(PRESETS["v2"].values()) == 40_886
    assert sum(PRESETS["small"].values()) == 2_000
    assert PRESETS["v2"].keys() == PRESETS["small"].keys()
    assert max(PRESETS["small"].values()) - min(PRESETS["small"].values()) <= 4


def test_a_set_has_the_sizes_asked_for_and_the_fields_in_their_order(rows):
    assert Counter(row["type"] for row in rows) == SIZES
    assert all(tuple(row)[: len(KEYS)] == KEYS for row in rows)
    assert all(row["canary"] == CANARY and row["provenance"] == {"seed": 1} for row in rows)
    assert {row["ground_truth"] for row in rows} == {"TRUE", "FALSE"}


def test_ids_are_digests_and_the_same_seed_gives_the_same_rows(made_up, rows):
    again = list(finished(questions(world(made_up, []), SIZES, seed=1), {"seed": 1}))
    other = list(finished(questions(world(made_up, []), SIZES, seed=2), {"seed": 2}))
    assert again == rows
    assert len({row["id"] for row in rows}) == len(rows)
    assert [row["id"] for row in other] != [row["id"] for row in rows]


def test_a_family_that_cannot_be_so_large_says_how_large_it_can_be(made_up):
    with pytest.raises(TooFewError, match=r"^atomic: 5000 rows are asked and \d+ can be made from this ground truth$"):
        questions(world(made_up, []), {"atomic": 5000}, seed=1)


def test_no_fact_is_asked_too_often(made_up):
    sizes = {"atomic": 40, "adversarial_misleading": 20}
    uses = Counter(row["fact"] for row in questions(world(made_up, []), sizes, seed=1))
    assert max(uses.values()) == REPEATS


def test_every_class_has_a_block_and_every_block_a_split():
    assert set(blocks().values()) == set(range(BLOCKS))
    assert sum(size for _, size in SPLITS) == BLOCKS
    splits = [split_of(f"block{n:02d}") for n in range(BLOCKS)]
    assert splits.count("test") >= 30
    with pytest.raises(ValueError, match="none of the blocks"):
        split_of("block80")


def test_what_lies_near_a_threshold_is_a_split_of_its_own_and_pairs_stay_together(rows):
    loose = [{key: value for key, value in row.items() if key not in ("id", "split")} for row in rows]
    tested = [row for row in loose if split_of(row["cluster"]) == "test" and row["pair"] and row["type"] == "atomic"]
    pair = tested[0]["pair"]
    tested[0]["margin"] = 0.005
    again = list(finished(loose, {"seed": 1}))
    assert {row["split"] for row in again if row["pair"] == pair and row["type"] == "atomic"} == {NEAR}
    assert {row["split"] for row in rows} >= {"train", "test"}


def test_an_open_book_has_the_equations_and_asks_nothing_that_damping_decides(made_up):
    w = world(made_up, [], asked=BOOKS["open"])
    rows = questions(w, SIZES, seed=1, book="open")
    assert "Conservative" in BOOKS["closed"]
    assert not {"Conservative", "Dissipative"} & set(BOOKS["open"])
    for row in rows:
        if row["type"] in ("fol_inference", "multi_hop"):
            assert row["book"] == "closed"
        else:
            assert row["book"] == "open"
            assert row["question"].startswith(row["context"])
            assert all(re.search(rf"\b{name}\b", row["context"]) for name in system(row["system_id"]).parameters)


def test_a_set_that_was_made_is_not_refused(rows):
    check(rows)


def altered(rows, change, number=0, **wanted):
    """The rows with a change made to one of those that have the wanted values, and to its id."""
    made = copy.deepcopy(rows)
    some = [row for row in made if all(row[key] == value for key, value in wanted.items())]
    change(some[number], some)
    return made


def refuted(row):
    row["ground_truth"] = "FALSE" if row["ground_truth"] == "TRUE" else "TRUE"


@pytest.mark.parametrize(("change", "wanted", "sentence"), [
    (lambda row, some: refuted(row), {"type": "perturbation", "template": "plain"}, "say different things about one"),
    (lambda row, some: row.update(id=some[1]["id"]), {}, "stand there twice"),
    (lambda row, some: some[1].update(question=row["question"].replace("Consider ", "consider  "),
                                      ground_truth="FALSE" if row["ground_truth"] == "TRUE" else "TRUE"),
     {"type": "atomic", "form": "direct"}, "differ in spelling alone"),
    (lambda row, some: row.update(question=row["question"] + " The answer is yes."), {}, "quote an answer"),
    (lambda row, some: row.update(question="TRUE? " + row["question"]), {"type": "atomic"}, "quote an answer"),
    (lambda row, some: [one.update(fact="x") for one in some[:4]], {"type": "atomic"}, "asked by 4 rows outside"),
    (lambda row, some: row.update(cluster="block00"), {"type": "perturbation", "system_id": "henon"}, "lies in more"),
    (lambda row, some: row.update(split="dev"), {"type": "consistency_paraphrase"}, "lies in more than one split"),
    (lambda row, some: row.update(gold3="neither"), {"type": "fol_inference", "role": "phi", "gold3": "entailed"},
     "draw different conclusions"),
])  # fmt: skip
def test_a_set_with_a_fault_is_refused(rows, change, wanted, sentence):
    with pytest.raises(RefusedSetError, match=f"^this set is refused: .*{sentence}"):
        check(altered(rows, change, **wanted))


def test_spelling_keeps_numbers_and_signs():
    assert spelling("Is r = 3.5, x = -1?") == spelling("is R=3.5 x=-1")
    assert spelling("r = 3.5") != spelling("r = 35")
    assert spelling("x = -1") != spelling("x = 1")


def test_every_family_of_the_presets_can_be_made():
    assert set(FAMILIES) == set(PRESETS["v2"])


def test_faults_are_sentences(rows):
    made = altered(rows, lambda row, some: row.update(id=some[1]["id"]))
    (sentence,) = faults(made)
    assert json.dumps(sentence)
    assert rows[1]["id"] in sentence
