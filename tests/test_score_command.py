"""bench score, compare and leaderboard: real files in, tables, JSON and pages out; bad input is told."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.published import beside, published
from bench.questions_file import digest

PUBLISHED = Path(__file__).parents[2] / "shared" / "chaosbench_v2"


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from cli.main import main; main()", *arguments],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of 400 questions with clusters and pairs, and the replies of two models."""
    place, rng = tmp_path_factory.mktemp("scored"), np.random.default_rng(0)
    questions: list[dict[str, Any]] = []
    for i in range(200):
        gold3 = ("entailed", "refuted", "neither")[i % 3]
        for role, holds in (("phi", "entailed"), ("not_phi", "refuted")):
            questions.append({
                "id": f"q{i}{role}", "question": f"Is the Lorenz system at rho={i} chaotic?", "system_id": "lorenz63",
                "ground_truth": "TRUE" if gold3 == holds else "FALSE", "type": ("atomic", "multi_hop")[i % 2],
                "cluster": f"block{i % 25:02d}", "pair": f"p{i}", "role": role, "gold3": gold3, "margin": i / 200,
                "predicate": "Chaotic", "split": "test", "book": "closed",
            })  # fmt: skip
    written(place / "questions.jsonl", questions)
    (place / "runs").mkdir()
    sha = digest(place / "questions.jsonl")
    for name, skill in (("good", 0.9), ("poor", 0.6)):
        rows = []
        for question in questions:
            right = rng.random() < skill
            answer = question["ground_truth"] if right else {"TRUE": "FALSE", "FALSE": "TRUE"}[question["ground_truth"]]
            p = 0.8 if answer == "TRUE" else 0.3
            rows.append({"id": question["id"], "response": answer, "model": name, "prompt": "v2", "dataset_sha256": sha,
                         "logprobs": [["TRUE", np.log(p)], ["FALSE", np.log(1 - p)]]})  # fmt: skip
        written(place / "runs" / f"{name}.jsonl", rows)
    return place


def test_a_model_is_scored_beside_baselines(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = bench("score", str(folder / "runs/good.jsonl"), "--dataset", str(folder / "questions.jsonl"), "--json",
                 "--html", str(page))  # fmt: skip
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert set(made["baselines"]) >= {"always TRUE", "always FALSE", "predicate", "form"}
    assert made["overall"]["mcc"].keys() == {"value", "lo", "hi", "n", "n_clusters", "interval", "reason"}
    assert made["overall"]["mcc"]["n_clusters"] == 25
    assert {"families", "confusion", "invalid_policy", "flags", "curves", "bins", "baselines", "pairs",
            "dataset_sha256"} <= made.keys()  # fmt: skip
    assert made["pairs"]["n"] == 200
    assert set(made["pairs"]["baselines"]) == {
        "oracle",
        "always UNCERTAIN",
        "always TRUE",
        "always FALSE",
        "YES to both",
    }
    assert len(made["curves"]["margin"]) == 10
    text = page.read_text(encoding="utf-8")
    assert "(always TRUE)" in text
    assert "http" not in text
    table = bench("score", str(folder / "runs/good.jsonl"), "--dataset", str(folder / "questions.jsonl"))
    assert "(always FALSE)" in table.stdout
    assert "pairs by log-probabilities" in table.stdout


def test_models_stand_beside_the_atlas(folder: Path, tmp_path: Path) -> None:
    words = ("--predictions", str(folder / "runs"), "--dataset", str(folder / "questions.jsonl"))
    done = bench("report", str(tmp_path), "logistic_r4", *words, "--jobs", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pages"] == 3
    assert 'href="models/index.html"' in (tmp_path / "index.html").read_text(encoding="utf-8")
    text = (tmp_path / "models/index.html").read_text(encoding="utf-8")
    plots = [json.loads(part.split("</script>")[0]) for part in text.split('<script type="application/json">')[1:]]
    assert [len(plot["panels"]) for plot in plots] == [2, 2, 2, 3]  # calibration, margins of both models, coherence
    commitment = plots[3]["panels"][1]["layers"]
    assert [layer["kind"] for layer in commitment] == ["line", "line", *["dots"] * 5]
    # the oracle commits where the answer is decided, to two thirds of the pairs, and never to both sides
    assert (commitment[2]["x"]["lo"], commitment[2]["y"]["lo"]) == (pytest.approx(133 / 200, abs=0.01), 0.0)
    assert text.count("flag-") >= 4 * 6
    assert 'class="heat"' in text
    bad = bench("report", str(tmp_path), "logistic_r4", *words[:2])
    assert (bad.returncode, "given together" in bad.stderr) == (2, True)


def test_models_are_compared_and_ranked(folder: Path) -> None:
    done = bench("leaderboard", str(folder / "runs"), "--dataset", str(folder / "questions.jsonl"), "--json")
    made = json.loads(done.stdout)
    assert [*made["models"]] == ["good", "poor"]
    assert made["comparison"]["mcc"]["ranks"]["good"]["hi"] == 1
    assert made["comparison"]["mcc"]["differences"][0]["differ"]
    assert made["published"] == {}  # this is not the published set
    files = [str(folder / "runs" / f"{name}.jsonl") for name in ("good", "poor")]
    done = bench("compare", *files, "--dataset", str(folder / "questions.jsonl"))
    assert "good - poor: MCC +" in done.stdout


def test_what_is_wrong_with_replies_is_told(folder: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (folder / "runs/good.jsonl").read_text().splitlines()]
    rows[0]["id"] = "nobody"
    rows[1]["logprobs"] = [["TRUE", float("nan")]]
    rows[2]["logprobs"] = [["TRUE", 0.4]]
    path = written(tmp_path / "a.jsonl", [*rows[:300], rows[299]])
    done = bench("score", str(path), "--dataset", str(folder / "questions.jsonl"), "--json")
    made = json.loads(done.stdout)
    assert "has an answer in line 300 already" in done.stderr
    assert (made["unknown"], made["unknown_ids"], made["missing"], made["logprob_faults"]) == (1, ["nobody"], 101, 2)
    assert any("1 replies are to no question that is scored: nobody" in note for note in made["notes"])
    assert any("101 of 400 questions have no reply" in note for note in made["notes"])
    assert made["overall"]["mcc_strict"]["value"] < made["overall"]["mcc"]["value"]
    failed = [row | {"response": None, "error": "HTTP 429"} if i < 10 else row for i, row in enumerate(rows)]
    done = bench("score", str(written(tmp_path / "b.jsonl", failed)), "--dataset", str(folder / "questions.jsonl"))
    assert done.returncode == 1
    assert "over 1 %" in done.stdout


@pytest.mark.parametrize(
    ("rows", "more", "told"),
    [
        ([], [], "this file is empty"),
        ([{"id": "x", "response": "TRUE"}], [], "none of its 1 ids is a question of the data set, such as x"),
        ([{"id": "q0phi", "response": "TRUE", "dataset_sha256": "0" * 64}], [], "answered the data set 000000000000"),
        ([{"id": "q0phi", "response": "TRUE"}], ["--parser", "v3"], "there are default and v2"),
        ([{"id": "q0phi", "response": "TRUE"}], ["--care", "v3"], "there are ours and v2"),
    ],
)
def test_wrong_use_is_one_sentence_and_status_2(
    rows: list[Any], more: list[str], told: str, folder: Path, tmp_path: Path
) -> None:
    done = bench("score", str(written(tmp_path / "a.jsonl", rows)), "--dataset", str(folder / "questions.jsonl"), *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr.replace("\n", " ")


def test_one_gold_only_is_a_null_with_its_reason(folder: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    data = written(tmp_path / "q.jsonl", [row | {"ground_truth": "TRUE"} for row in rows])
    replies = written(tmp_path / "a.jsonl", [{"id": row["id"], "response": "yes"} for row in rows])
    made = json.loads(bench("score", str(replies), "--dataset", str(data), "--json").stdout)
    assert made["overall"]["mcc"]["value"] is None
    assert made["overall"]["mcc"]["reason"] == "all gold answers are the same"
    assert "there are no log-probabilities" in made["overall"]["brier"]["reason"]


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published benchmark is not here")
def test_the_published_set_is_known_by_its_digest() -> None:
    assert digest(PUBLISHED) == published()["dataset_sha256"]
    assert beside(digest(PUBLISHED))["LLaMA-3.1-8B"]["mcc"] == 0.24
    assert beside("other") == {}


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published benchmark is not here")
def test_40886_answers_take_5_seconds_and_14_models_20(tmp_path: Path) -> None:
    """Start and reading included; CPU time, which other work on the machine changes least."""
    rows = [json.loads(line) for file in (PUBLISHED / "data").glob("*.jsonl") for line in file.read_text().splitlines()]
    rng = np.random.default_rng(0)
    for k in range(14):
        right = rng.random(len(rows)) < 0.55 + 0.02 * k
        written(tmp_path / f"m{k}.jsonl", [{"id": row["id"], "response": str((row["ground_truth"] == "TRUE") == bool(r)
                ).upper()} for row, r in zip(rows, right, strict=True)])  # fmt: skip
    for arguments, most in ((["score", str(tmp_path / "m5.jsonl")], 5.0), (["leaderboard", str(tmp_path)], 20.0)):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = bench(*arguments, "--dataset", str(PUBLISHED))
        assert done.returncode == 0, done.stderr
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < most


def test_replies_that_carry_their_questions_need_no_data_set(folder: Path, tmp_path: Path) -> None:
    items = {row["id"]: row for row in map(json.loads, (folder / "questions.jsonl").read_text().splitlines())}
    rows = [json.loads(line) for line in (folder / "runs/good.jsonl").read_text().splitlines()]
    carried = written(tmp_path / "a.jsonl", [row | {"item": items[row["id"]]} for row in rows])
    done = bench("score", str(carried), "--json")
    asked = bench("score", str(folder / "runs/good.jsonl"), "--dataset", str(folder / "questions.jsonl"), "--json")
    assert json.loads(done.stdout) == json.loads(asked.stdout)
    done = bench("score", str(folder / "runs/good.jsonl"))
    assert done.returncode == 2
    assert "without --dataset there is nothing to compare with" in done.stderr.replace("\n", " ")


def test_replies_to_one_split_are_scored_on_it(folder: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    parts = [row | {"split": "dev" if row["cluster"] < "block10" else "test"} for row in rows]
    dataset = str(written(tmp_path / "questions.jsonl", parts))
    asked = {row["id"] for row in parts if row["split"] == "dev"}
    said = [json.loads(line) for line in (folder / "runs/good.jsonl").read_text().splitlines()]
    plain = [{"id": row["id"], "response": row["response"]} for row in said if row["id"] in asked]
    replies = str(written(tmp_path / "dev.jsonl", plain))
    whole = json.loads(bench("score", replies, "--dataset", dataset, "--json").stdout)
    assert whole["missing"] == len(parts) - len(asked)
    assert any("--split dev scores what was asked alone" in note for note in whole["notes"])
    part = json.loads(bench("score", replies, "--dataset", dataset, "--split", "dev", "--json").stdout)
    assert (part["missing"], part["questions"], part["replies"]) == (0, len(asked), len(asked))
    assert part["overall"]["mcc"] == whole["overall"]["mcc"]  # what was not asked is in no MCC
    done = bench("score", replies, "--dataset", dataset, "--split", "trian")
    assert done.returncode == 2
    assert "--split 'trian': this data set has dev, test" in done.stderr.replace("\n", " ")
