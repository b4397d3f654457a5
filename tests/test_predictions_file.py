"""Replies in all their forms, and what is told of lines that are none."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bench.predictions_file import read_predictions


def jsonl(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_lines_of_id_and_response(tmp_path: Path) -> None:
    rows = [{"id": "1", "response": "TRUE", "logprobs": {"TRUE": -0.1, "FALSE": -2.4}}, {"id": 2, "response": None},
            {"id": "1", "response": "FALSE"}, "{", {"response": "TRUE"}, {"id": "3"}, {"id": "4", "response": 5},
            {"id": "5", "response": "no", "logprobs": "x"}, {"id": [], "response": ""}]  # fmt: skip
    found = read_predictions(jsonl(tmp_path / "a.jsonl", rows))
    assert found.table["id"].tolist() == ["1", "2"]
    assert found.table["logprobs"].iloc[0]["top"] == [("TRUE", -0.1), ("FALSE", -2.4)]
    told = ["already; this line is left out", "not JSON", "no id", "no response", "response is", "logprobs is neither",
            "id is"]  # fmt: skip
    assert [fault.line for fault in found.faults] == [3, 4, 5, 6, 7, 8, 9]
    for fault, part in zip(found.faults, told, strict=True):
        assert part in fault.sentence


def test_comma_separated_values(tmp_path: Path) -> None:
    text = '\ufeffid,response,logprobs\n1,"TRUE, as\nit is","[[""TRUE"", -0.2]]"\n2,,\n3,NO,{\n'
    (tmp_path / "a.csv").write_text(text)
    found = read_predictions(tmp_path / "a.csv")
    assert found.table["response"].tolist() == ["TRUE, as\nit is", ""]
    assert found.table["logprobs"].iloc[0] == {"position": 0, "top": [["TRUE", -0.2]]}
    assert "not JSON" in found.faults[0].sentence
    (tmp_path / "b.csv").write_bytes(b"id,response\n1,\xff\n")
    assert "not UTF-8" in read_predictions(tmp_path / "b.csv").faults[0].sentence


def test_the_full_form_counts_its_last_attempt(tmp_path: Path) -> None:
    row = {"id": "1", "epoch": 2, "model": "m", "prompt": "v2", "dataset_sha256": "abc", "decoding": {}, "attempts": [
        {"response": "Hm", "finish_reason": "stop", "error": None},
        {"response": "TRUE", "finish_reason": "length", "error": None}]}  # fmt: skip
    found = read_predictions(jsonl(tmp_path / "a.jsonl", [row, row | {"id": "2", "attempts": []}]))
    assert found.table[["id", "epoch", "response", "finish_reason"]].to_numpy().tolist() == [["1", 2, "TRUE", "length"]]
    assert found.origin == {"model": "m", "prompt": "v2", "dataset_sha256": "abc"}
    assert found.name == "m"
    mixed = read_predictions(jsonl(tmp_path / "b.jsonl", [row, row | {"id": "2", "model": "other"}]))
    assert mixed.table.empty
    assert "2 different values of model" in mixed.faults[0].sentence


def sample(i: str, tokens: list[str]) -> dict[str, Any]:
    others = [{"token": " Yes", "logprob": -2.5}]
    content = [{"token": t, "logprob": -0.1, "top_logprobs": [{"token": t, "logprob": -0.1}, *others]} for t in tokens]
    message = {"content": [{"type": "reasoning", "reasoning": "yes?"}, {"type": "text", "text": "No"}]}
    return {"id": i, "epoch": 1, "output": {"model": "m", "choices": [
        {"message": message, "stop_reason": "max_tokens", "logprobs": {"content": content}}]}}  # fmt: skip


@pytest.mark.parametrize("form", [".json", ".eval"])
def test_logs_of_inspect(form: str, tmp_path: Path) -> None:
    head = {"eval": {"model": "openai/m", "task_args": {"prompt": "v2"}}}
    samples = [sample("1", ["**", " No"]), {"id": "2", "epoch": 1, "error": {"message": "timeout"}}]
    path = tmp_path / f"log{form}"
    if form == ".json":
        path.write_text(json.dumps(head | {"samples": samples}))
    else:
        with zipfile.ZipFile(path, "w") as log:
            log.writestr("header.json", json.dumps(head))
            for one in samples:
                log.writestr(f"samples/{one['id']}_epoch_1.json", json.dumps(one))
    found = read_predictions(path)
    assert found.faults == []
    assert found.origin == {"model": "openai/m", "prompt": "v2"}
    assert found.table["response"].tolist() == ["No", None]
    assert found.table["error"].tolist() == [None, "timeout"]
    assert found.table["finish_reason"].iloc[0] == "max_tokens"
    assert found.table["logprobs"].iloc[0] == {"position": 1, "top": [[" No", -0.1], [" Yes", -2.5]]}


def test_met_19_choices_of_several_tokens_are_compared_by_their_sum(tmp_path: Path) -> None:
    """lm-evaluation-harness gives the log-likelihood of a choice as a whole: -0.70 against -1.20 - 0.02."""
    calls = {f"gen_args_{i}": {"arg_0": "Is it", "arg_1": choice} for i, choice in enumerate((" YES", " NO"))}
    row = {"doc_id": 0, "doc": {"id": "7"}, "arguments": calls, "resps": [[["-0.7", "False"]], [["-1.22", "False"]]]}
    text = {"doc": {"id": "8"}, "arguments": [["Is it", {}]], "resps": [["No."]], "filtered_resps": ["No"]}
    found = read_predictions(jsonl(tmp_path / "samples_x.jsonl", [row, text, {"doc": {}, "resps": []}]))
    assert found.table[["id", "response"]].to_numpy().tolist() == [["7", "YES"], ["8", "No"]]
    assert found.table["logprobs"].iloc[0]["top"] == [("YES", -0.7), ("NO", -1.22)]
    assert "no id" in found.faults[0].sentence


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [("a.jsonl", b"", "empty"), ("a.eval", b"PK", "not a zip file"), ("a.json", b"[]", "not an object"),
     ("a.json", b"{}", "no log of Inspect"), ("a.csv", b"", "empty"), ("none", None, "no such file")],
)  # fmt: skip
def test_a_file_without_replies_is_one_sentence(name: str, content: bytes | None, told: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    found = read_predictions(tmp_path / name)
    assert found.table.empty
    assert told in str(found.faults[0])
