"""Models on the same questions: differences that hold together, ranks, items, and what is not mixed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import matthews_corrcoef

from bench.comparison import MixedError, check_same, compared, items, shared


def model(skill: float, rng: np.random.Generator, clusters: int = 40, each: int = 30) -> pd.DataFrame:
    """Answers to one set of questions in two families, right with a share about `skill` that clusters differ in."""
    unit = np.repeat(np.arange(clusters), each)
    truth = np.tile(np.arange(each) % 2 == 0, clusters)
    share = np.clip(skill + 0.15 * rng.standard_normal(clusters), 0, 1)[unit]
    code = np.where(rng.random(len(unit)) < share, truth, ~truth).astype(int)
    family = np.where(np.arange(len(unit)) % 3 == 0, "a", "b")
    return pd.DataFrame({"id": np.arange(len(unit)).astype(str), "type": family, "unit": unit, "truth": truth,
                         "code": code})  # fmt: skip


def test_ranks_and_differences_are_those_of_the_answers() -> None:
    rng = np.random.default_rng(0)
    tables = {f"m{k}": model(skill, rng) for k, skill in enumerate((0.6, 0.9, 0.61))}
    made = compared(tables, rounds=1000)
    assert {name: one["rank"] for name, one in made["mcc"]["ranks"].items()}["m1"] == 1
    assert made["mcc"]["ranks"]["m1"]["hi"] == 1
    assert {made["mcc"]["ranks"][name]["lo"] for name in ("m0", "m2")} <= {2, 3}
    for row in made["mcc"]["differences"]:
        a, b = tables[row["a"]], tables[row["b"]]
        expected = matthews_corrcoef(a["truth"], a["code"]) - matthews_corrcoef(b["truth"], b["code"])
        assert row["difference"] == pytest.approx(expected)
        assert row["differ"] or "m1" not in (row["a"], row["b"])
        assert row["lo"] < row["difference"] < row["hi"]
    assert {"a", "b", "note"} == set(made["exploratory"])
    assert compared(tables, rounds=1000) == made


def test_the_same_answers_do_not_differ() -> None:
    one = model(0.7, np.random.default_rng(1))
    made = compared({"x": one, "y": one.copy()}, rounds=200)
    (row,) = made["mcc"]["differences"]
    assert (row["difference"], row["differ"]) == (0.0, False)


def test_all_differences_hold_together_as_often_as_they_say() -> None:
    """Of four equal models in 25 clusters all six intervals hold 0 in 95 % of 200 samples, within 3 errors of .015."""
    rng = np.random.default_rng(2)
    held = []
    for _ in range(200):
        made = compared({f"m{k}": model(0.7, rng, 25, 20) for k in range(4)}, rounds=300)
        held.append(not any(row["differ"] for row in made["mcc"]["differences"]))
    assert np.mean(held) == pytest.approx(0.95, abs=0.046)


def test_only_questions_that_all_answered_count() -> None:
    one = model(0.7, np.random.default_rng(3))
    two = one.copy()
    two.loc[:9, "code"] = -1
    assert {name: len(table) for name, table in shared({"x": one, "y": two}).items()} == {"x": 1190, "y": 1190}
    with pytest.raises(MixedError, match="no question"):
        shared({"x": one[:5], "y": one[5:]})


def test_data_sets_and_prompts_are_not_mixed() -> None:
    check_same({"x": {"dataset_sha256": "d", "prompt": "v2"}, "y": {"prompt": "v2"}, "z": {}}, "d")
    with pytest.raises(MixedError, match="x answered the data set other, not d"):
        check_same({"x": {"dataset_sha256": "other"}}, "d")
    with pytest.raises(MixedError, match="x: v2, y: cot"):
        check_same({"x": {"prompt": "v2"}, "y": {"prompt": "cot"}}, "d")


def test_an_item_tells_good_models_from_bad_ones() -> None:
    """Four questions, four models of rising skill; the last question is right for the bad ones only."""
    right = np.array([[1, 0, 0, 1], [1, 1, 0, 1], [1, 1, 1, 0], [1, 1, 1, 0]])
    truth = np.array([True, False, True, False])
    tables = {f"m{k}": pd.DataFrame({"id": [*"abcd"], "type": "f", "truth": truth, "code":
              np.where(row == 1, truth, ~truth).astype(int)}) for k, row in enumerate(right)}  # fmt: skip
    made = items(tables)
    assert [row["right"] for row in made["rows"]] == [1.0, 0.75, 0.5, 0.5]
    assert made["rows"][0]["discrimination"] is None
    rest = right.sum(axis=1) - right[:, 2]
    assert made["rows"][2]["discrimination"] == pytest.approx(np.corrcoef(right[:, 2], rest)[0, 1])
    assert made["rows"][3]["discrimination"] < 0
    assert made["reason"] == "an item-response model needs 20 models; there are 4"
