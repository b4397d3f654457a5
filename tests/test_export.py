"""A set's files: what is written is read back as it was, by us and by others' readers."""

import importlib.util
import json
import warnings

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


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_task_for_lm_evaluation_harness_finds_the_rows(rows, folder):
    pytest.importorskip("datasets")
    found = module_of(folder / "lm_eval_data.py").splits()
    assert sum(len(split) for split in found.values()) == len(rows)
    assert "test" in found


def test_lm_evaluation_harness_lists_and_runs_the_task(rows, folder, tmp_path, monkeypatch):
    """Its dummy model draws a log-probability for each choice, and is right where that of the answer is larger."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    pytest.importorskip("lm_eval")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own imports
        from lm_eval import simple_evaluate
        from lm_eval.tasks import TaskManager

        manager = TaskManager(include_path=str(folder), include_defaults=False)
        assert list(manager.all_tasks) == ["chaostruth"]
        made = simple_evaluate("dummy", tasks=["chaostruth"], task_manager=manager, bootstrap_iters=0)
    samples = {one["doc"]["id"]: one for one in made["samples"]["chaostruth"]}
    tested = {row["id"]: row for row in rows if row["split"] == "test"}
    assert samples.keys() == tested.keys()
    for name, one in samples.items():
        (prompt, first), (_, second) = one["arguments"]
        assert prompt == f"Question: {tested[name]['question']}\nAnswer (TRUE or FALSE):"
        assert (first, second) == (" TRUE", " FALSE")
        assert one["target"] == tested[name]["ground_truth"]
        (for_true, _), (for_false, _) = one["filtered_resps"]
        assert one["acc"] == ((for_true > for_false) == (one["target"] == "TRUE"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of a stream that it leaves open
def test_inspect_runs_the_task(rows, folder, tmp_path):
    """A model that always says TRUE is right where the answer is TRUE."""
    pytest.importorskip("inspect_ai")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from inspect_ai import eval as run
        from inspect_ai.model import ModelOutput, ModelUsage, get_model

        def says(*_):
            output = ModelOutput.from_content("x", "TRUE")
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
            return output

        task = module_of(folder / "inspect_task.py").chaostruth(split="test", family="atomic")
        model = get_model("mockllm/x", custom_outputs=says, memoize=False)
        (log,) = run(task, model=model, display="none", log_dir=str(tmp_path))
    tested = [row for row in rows if (row["split"], row["type"]) == ("test", "atomic")]
    assert (log.status, {one.id for one in log.samples}) == ("success", {row["id"] for row in tested})
    right = sum(row["ground_truth"] == "TRUE" for row in tested) / len(tested)
    assert log.results.scores[0].metrics["accuracy"].value == pytest.approx(right)


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
