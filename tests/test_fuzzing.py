"""Files that are damaged, cut off or filled with something else: a value comes back, or one sentence, never a trace."""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from certified import LOGISTIC, certified
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.answers import PARSERS
from bench.audit import assignments
from bench.cross_check import labelled_sets
from bench.cuc_sources import is_source, read_pairs
from bench.games.episodes_file import read_episodes, replayed
from bench.games.playing import played_by
from bench.ground_truth import SHIPPED, brackets, drawn, points, proofs
from bench.predictions_file import read_predictions
from bench.questions_file import digest, read_questions
from bench.runs import Run
from cli.recheck import recheck_file
from cli.series_file import read_series
from dynamics.registry import systems_in_file

EXAMPLES = 40
ROW = b"""kind = "ode"
state = { x = 1.0, y = 0.0 }
parameters = { a = 1.7, b = "8/3" }
rule = ["y", "a*sin(t) - b*x"]
circle = { x = "2*pi" }
box = { x = [0, 1] }
[[sweep]]
parameter = "a"
lo = 1
hi = 2
points = 5
"""
SAMPLE = {
    "id": "1",
    "epoch": 1,
    "output": {
        "choices": [
            {
                "message": {"content": [{"type": "text", "text": "No"}]},
                "stop_reason": "stop",
                "logprobs": {
                    "content": [{"token": "No", "logprob": -0.1, "top_logprobs": [{"token": "No", "logprob": -0.1}]}]
                },
            }
        ]
    },
}
LOG = {"eval": {"model": "openai/m", "task_args": {"prompt": "v2"}, "metadata": {}}, "samples": [SAMPLE]}
HARNESS = {"doc": {"id": "7"}, "arguments": {"gen_args_0": {"arg_0": "Is it", "arg_1": " YES"}},
           "resps": [[["-0.7", "False"]]], "filtered_resps": ["YES"]}  # fmt: skip
REPLY = {"id": "8", "epoch": 1, "attempts": [{"response": "TRUE", "finish_reason": "stop", "error": None}],
         "logprobs": {"position": 0, "top": [["TRUE", -0.1]], "k": 5}, "model": "m", "prompt": "v2"}  # fmt: skip
QUESTION = {"id": "q1", "question": "Is the Lorenz system chaotic?", "ground_truth": "TRUE", "type": "atomic",
            "system_id": "lorenz63", "template": "a"}  # fmt: skip
LABEL = {"system_id": "henon", "params": {"a": 1.4}, "initial_condition": {"x": 0.1}, "predicates":
         {"Chaotic": {"value": "TRUE", "basis": "measured"}}}  # fmt: skip
STORY = {"premises": ["All cats purr.", "Tom is a cat."], "conclusion": "Tom purrs.", "label": "True"}
EPISODE = played_by("greedy", "set-deductive-01", 1, "clean", 0)
PROOF = certified(LOGISTIC.with_values({"r": 3.2}), [0.7994554904673701], [0.5130445095326298]).row


def lines(*rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def zipped(content: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as log:
        for name, value in content.items():
            log.writestr(name, json.dumps(value))
    return stream.getvalue()


def saved(series: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, series)
    return stream.getvalue()


def parquet(table: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    table.to_parquet(stream)
    return stream.getvalue()


def checked_reply(path: Path) -> list[str]:
    return [str(fault) for fault in read_predictions(path).faults]


def checked_questions(path: Path) -> list[str]:
    digest(path)
    found = (read_pairs if is_source(path) else read_questions)(path)
    return [str(fault) for fault in found[1]]


def checked_episodes(path: Path) -> list[str]:
    return [said for row in read_episodes(path) if (said := replayed(row))]


def in_folder(read: Callable[[Path], Any]) -> Callable[[Path], list[str]]:
    def check(path: Path) -> list[str]:
        read(path.parent)
        return []

    return check


def alone(read: Callable[[Path], Any]) -> Callable[[Path], list[str]]:
    def check(path: Path) -> list[str]:
        read(path)
        return []

    return check


@dataclass(frozen=True)
class Reader:
    """The name that a file has, its right content, and a function that reads it and returns what it says is wrong."""

    file: str
    content: bytes
    check: Callable[[Path], list[str]]


RELEASED = points(SHIPPED).iloc[:3]
READERS = {
    "series as text": Reader("a.csv", b"t,x\n" + b"".join(b"%d,%f\n" % (i, i / 7) for i in range(9)),
                             alone(lambda path: read_series(str(path), "x"))),
    "series as an array": Reader("a.npy", saved(np.linspace(0, 1, 9)),
                                 alone(lambda path: read_series(str(path), None))),
    "systems": Reader("mine.toml", ROW, alone(systems_in_file)),
    "replies": Reader("a.jsonl", lines({"id": "1", "response": "TRUE"}, REPLY, HARNESS), checked_reply),
    "replies in cells": Reader("a.csv", b'id,epoch,response,logprobs\n1,1,TRUE,"[[""TRUE"", -0.2]]"\n2,1,NO,\n',
                               checked_reply),
    "log of Inspect": Reader("a.json", json.dumps(LOG).encode(), checked_reply),
    "packed log of Inspect": Reader("a.eval", zipped({"header.json": LOG, "samples/1.json": SAMPLE}), checked_reply),
    "questions": Reader("a.jsonl", lines(QUESTION, QUESTION | {"id": "q2"}), checked_questions),
    "FOLIO": Reader("a.jsonl", lines(STORY), checked_questions),
    "checkout of a benchmark": Reader("systems/a.json", json.dumps(
        {"system_id": "henon", "name": "Henon", "truth_assignment": {"Chaotic": True}}).encode(),
        alone(lambda path: assignments(path.parent.parent))),
    "labels": Reader("labels.jsonl", lines(LABEL), alone(labelled_sets)),
    "a sweep's labels": Reader("a.parquet", parquet(RELEASED), alone(labelled_sets)),
    "points of a release": Reader("points.parquet", parquet(RELEASED), in_folder(lambda folder: drawn(2, 0, folder))),
    "brackets of a release": Reader("thresholds.jsonl", lines(brackets(SHIPPED)[0]), in_folder(brackets)),
    "certificates of a release": Reader("certificates.parquet", parquet(
        pd.DataFrame({"sha256": [PROOF["sha256"]], "certificate": [json.dumps(PROOF)]})), in_folder(proofs)),
    "certificates": Reader("certificates.jsonl", lines(PROOF), alone(recheck_file)),
    "episodes": Reader("episodes.jsonl", lines(EPISODE), checked_episodes),
    "settings of a run": Reader("settings.json", json.dumps({"model": "m"}).encode(),
                                in_folder(lambda folder: Run(folder, {"model": "m"}, resume=True))),
    "replies of a run": Reader("predictions.jsonl", lines(REPLY),
                               in_folder(lambda folder: Run(folder, {"model": "m"}, resume=True))),
}  # fmt: skip

scalar = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["", "TRUE", 10**400, -1, 0, 1, 2**63, 1e308, "9" * 5000, "\ud800", "NaN", [], {}, [[]], [None]]),
)  # fmt: skip
value = st.recursive(
    scalar,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def replaced(whole: Any, data: st.DataObject) -> Any:
    """A JSON value with one part of it, at any depth, left out or made something else."""
    if isinstance(whole, (dict, list)) and whole and data.draw(st.integers(0, 9)):
        at = data.draw(st.sampled_from([*whole] if isinstance(whole, dict) else [*range(len(whole))]))
        copy: Any = dict(whole) if isinstance(whole, dict) else list(whole)
        if data.draw(st.integers(0, 9)):
            copy[at] = replaced(whole[at], data)
        else:
            del copy[at]
        return copy
    return data.draw(value)


def damaged(content: bytes, data: st.DataObject) -> bytes:
    """The content cut off, with a stretch of it changed, or none of it."""
    how = data.draw(st.sampled_from(["cut", "flip", "splice", "other", "twice"]))
    at = data.draw(st.integers(0, len(content) - 1))
    if how == "cut":
        return content[:at]
    if how == "flip":
        return content[:at] + bytes([content[at] ^ data.draw(st.integers(1, 255))]) + content[at + 1 :]
    if how == "splice":
        to = data.draw(st.integers(at, min(len(content), at + 20)))
        return content[:at] + data.draw(st.binary(max_size=20)) + content[to:]
    return content + content[at:] if how == "twice" else data.draw(st.binary(max_size=200))


def of_json(content: bytes, data: st.DataObject) -> bytes:
    """Lines of JSON with one value changed, as a file that somebody's program wrote may have."""
    rows = [json.loads(line) for line in content.decode().splitlines()]
    at = data.draw(st.integers(0, len(rows) - 1))
    rows[at] = replaced(rows[at], data)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read(reader: Reader, folder: Path, content: bytes) -> None:
    """Read a content; all that is said is one sentence each, and what is raised is an answer and no fault."""
    path = folder / reader.file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    try:
        said = reader.check(path)
    except Exception as error:
        if not is_answer(error):
            raise
        said = [str(error)]
    finally:
        for file in folder.rglob("*"):
            if file.is_file():
                file.unlink()
    for sentence in said:
        assert 10 < len(sentence) < 1500, sentence
        assert "\n" not in sentence, sentence


def is_answer(error: Exception) -> bool:
    """Whether a command answers this by one sentence and status 2."""
    return type(error).__module__.split(".")[0] in ("bench", "cli", "dynamics", "labeling")


QUIET = settings(
    max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.mark.parametrize("name", READERS)
def test_the_right_content_is_read(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    path = tmp_path / reader.file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(reader.content)
    assert reader.check(path) == []


@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
@QUIET
def test_damaged_files(name: str, tmp_path: Path, data: st.DataObject) -> None:
    read(READERS[name], tmp_path, damaged(READERS[name].content, data))


@pytest.mark.parametrize("name", [name for name, one in READERS.items() if one.content[:1] == b"{"])
@given(data=st.data())
@QUIET
def test_other_values(name: str, tmp_path: Path, data: st.DataObject) -> None:
    read(READERS[name], tmp_path, of_json(READERS[name].content, data))


@given(data=st.data())
@QUIET
def test_other_values_in_a_packed_log(tmp_path: Path, data: st.DataObject) -> None:
    head, sample = replaced(LOG, data), replaced(SAMPLE, data)
    reader = READERS["packed log of Inspect"]
    read(reader, tmp_path, zipped({"header.json": head, "samples/1.json": sample}))


@pytest.mark.parametrize("name", ["points of a release", "certificates of a release", "a sweep's labels"])
@given(data=st.data())
@QUIET
def test_other_cells(name: str, tmp_path: Path, data: st.DataObject) -> None:
    table = pd.read_parquet(io.BytesIO(READERS[name].content)).astype(object)
    column = data.draw(st.sampled_from([*table.columns]))
    if data.draw(st.booleans()):
        table = table.drop(columns=column)
    else:
        table[column] = data.draw(st.sampled_from([None, "", "{", "{}", "[]", "x", 1, 1.5]))
    read(READERS[name], tmp_path, parquet(table))


@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000])
@pytest.mark.parametrize("name", READERS)
def test_nesting_without_end(name: str, deep: bytes, tmp_path: Path) -> None:
    read(READERS[name], tmp_path, deep)


PARTS = ["TRUE", "false", "not ", "**", "\\boxed{", "}", '{"answer": ', '"', "Answer:", "\n", "是", "否", "Yes", "no"]


@pytest.mark.parametrize("parser", PARSERS)
@given(
    st.text(max_size=200) | st.lists(st.sampled_from(PARTS), max_size=12).map("".join),
    st.sampled_from([None, "stop", "length"]),
    st.none() | st.text(max_size=9),
)
@settings(max_examples=400)
def test_answers(parser: str, text: str, finish: str | None, error: str | None) -> None:
    assert PARSERS[parser](text, finish, error).value in ("TRUE", "FALSE", "INVALID", "ERROR")


def test_the_net_lets_a_fault_through(tmp_path: Path) -> None:
    def fails(_: Path) -> list[str]:
        return [{}["none"]]

    with pytest.raises(KeyError):
        read(Reader("a", b"", fails), tmp_path, b"x")
    with pytest.raises(AssertionError):
        read(Reader("a", b"", lambda _: ["two\nlines of a message"]), tmp_path, b"x")
