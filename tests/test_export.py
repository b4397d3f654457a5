"""A set's files: what is written is read back as it was, by us and by others' readers."""

import importlib.util
import json

import pandas as pd
import pytest

from bench.baselines import Result
from bench.dataset import finished, questions
from bench.export import as_columns, card, write_set
from bench.intervals import Interval
from bench.questions import world
from bench.questions_file import read_questions


@pytest.fixture(scope="module")
def rows(made_up):
    made = {"release": "abc", "version": "0", "seed": 3}
    return list(finished(questions(world(made_up, []), {"atomic": 24, "fol_inference": 24}, seed=3), made))


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    place = tmp_path_factory.mktemp("set")
    write_set(place, rows, "bench generate --seed 3")
    return place


def test_lines_are_read_back_as_they_were(rows, folder):
    frame, faults = read_questions(folder / "questions.jsonl")
    assert faults == []
    assert list(frame["id"]) == [row["id"] for row in rows]
    assert list(frame["params"]) == [row["params"] for row in rows]


def test_dat_01_and_dat_04_answers_and_ids_come_back_as_texts(rows):
    """DAT-01: YAML makes booleans of answers; DAT-04: a table makes numbers of ids and holes of words."""
    odd = [row | {"id": i, "predicate": p} for row, i, p in zip(rows, ("007", "1e5", "3.10"), ("NO", "NA", "None"),
                                                                strict=False)]  # fmt: skip
    table = as_columns(pd.DataFrame(odd))
    assert list(table["id"]) == ["007", "1e5", "3.10"]
    assert list(table["predicate"]) == ["NO", "NA", "None"]
    assert set(table["ground_truth"]) <= {"TRUE", "FALSE"}


def test_dat_02_line_separators_within_a_question_break_no_record(rows, tmp_path):
    odd = [row | {"question": f"{row['question']}\u2028{n}\u0085"} for n, row in enumerate(rows)]
    write_set(tmp_path, odd, "")
    frame, faults = read_questions(tmp_path)
    assert faults == []
    assert list(frame["question"]) == [row["question"] for row in odd]


def test_the_same_rows_are_the_same_bytes(rows, folder, tmp_path):
    write_set(tmp_path, rows, "bench generate --seed 3")
    names = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    assert len(names) >= 7
    assert all((folder / name).read_bytes() == (tmp_path / name).read_bytes() for name in names)


def test_hugging_face_reads_the_folder(rows, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    read = datasets.load_dataset(str(folder), cache_dir=str(tmp_path))
    there = {row["id"]: row for split in read.values() for row in split}
    assert set(there) == {row["id"] for row in rows}
    for row in rows:
        one = there[row["id"]]
        assert (one["question"], one["ground_truth"], one["margin"]) == (
            row["question"],
            row["ground_truth"],
            row["margin"],
        )
        assert row["params"] is None or json.loads(one["params"]) == row["params"]


def test_the_task_for_lm_evaluation_harness_finds_the_rows(rows, folder):
    spec = importlib.util.spec_from_file_location("lm_eval_data", folder / "lm_eval_data.py")
    pytest.importorskip("datasets")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.splits()
    assert sum(len(split) for split in found.values()) == len(rows)
    assert "test" in found


def test_the_card_counts_what_is_there(rows):
    text = card(pd.DataFrame(rows), "bench generate --seed 3")
    assert "48 questions" in text
    assert "| atomic | 24 | 0.500 |" in text
    assert "path: data/test.parquet" in text
    assert rows[0]["canary"] in text
    nothing = Interval(None, None, None, 60, 0, "none", "no name")
    found = [
        Result("atomic", "form", "mcc", Interval(0.01, -0.02, 0.04, 60, 25, "jackknife"), 0.1, over=False),
        Result("atomic", "usual answer", "mcc", nothing, 0.15, over=False),
    ]
    told = card(pd.DataFrame(rows), "", found)
    assert "| family | rows | clusters | form | usual answer |" in told
    assert "| atomic | 60 | 25 | 0.010 [-0.020, 0.040] | - |" in told
