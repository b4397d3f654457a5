"""The folder of a run: replies are kept when they come, and a run goes on where it was stopped."""

import json

import pytest

from bench.predictions_file import read_predictions
from bench.runs import Run, RunError

SETTINGS = {"model": "a/b", "prompt": "direct 1", "decoding": {"temperature": 0.0}, "dataset_sha256": "d"}
KEYS = [(f"q{n}", 1) for n in range(5)]


def reply(name, said="TRUE", epoch=1, error=None):
    attempt = {"response": None if error else said, "finish_reason": "stop", "error": error}
    return {"id": name, "epoch": epoch, "attempts": [attempt], "logprobs": None} | SETTINGS


def test_what_was_recorded_is_there_after_a_kill(tmp_path):
    run = Run(tmp_path, SETTINGS, resume=False)
    run.record(reply("q3"))
    run.record(reply("q1"))
    with run.path.open("ab") as stream:  # the kill came in the middle of a line
        stream.write(b'{"id": "q2", "epo')
    again = Run(tmp_path, SETTINGS, resume=True)
    assert again.left(KEYS) == [("q0", 1), ("q2", 1), ("q4", 1)]
    for name in ("q4", "q0", "q2"):
        again.record(reply(name))
    again.finish(KEYS)
    said = read_predictions(again.path)
    assert list(said.table["id"]) == ["q0", "q1", "q2", "q3", "q4"]
    assert not said.faults
    assert said.origin == {"model": "a/b", "prompt": "direct 1", "dataset_sha256": "d"}


def test_a_failure_of_the_provider_is_asked_again_and_replaced(tmp_path):
    run = Run(tmp_path, SETTINGS, resume=False)
    run.record(reply("q0", error="the server is gone"))
    run.record(reply("q1", said=""))
    assert run.left(KEYS[:2]) == [("q0", 1)]
    again = Run(tmp_path, SETTINGS, resume=True)
    assert again.left(KEYS[:2]) == [("q0", 1)]
    again.record(reply("q0"))
    again.finish(KEYS)
    rows = [json.loads(line) for line in again.path.read_text().splitlines()]
    assert [row["attempts"][-1]["error"] for row in rows] == [None, None]


def test_epochs_do_not_mix(tmp_path):
    run = Run(tmp_path, SETTINGS, resume=False)
    run.record(reply("q0", "TRUE", 1))
    run.record(reply("q0", "FALSE", 2))
    assert run.left([("q0", 1), ("q0", 2), ("q0", 3)]) == [("q0", 3)]
    run.finish([("q0", 1), ("q0", 2), ("q0", 3)])
    assert list(read_predictions(run.path).table["response"]) == ["TRUE", "FALSE"]


@pytest.mark.parametrize(("key", "value"), [
    ("model", "a/c"), ("prompt", "cot 1"), ("dataset_sha256", "e"), ("decoding", {"temperature": 0.7}),
])  # fmt: skip
def test_cac_10_replies_of_one_run_never_serve_another(tmp_path, key, value):
    run = Run(tmp_path, SETTINGS, resume=False)
    run.record(reply("q0"))
    with pytest.raises(RunError, match=f"another {key}"):
        Run(tmp_path, SETTINGS | {key: value}, resume=True)
    assert Run(tmp_path / "other", SETTINGS | {key: value}, resume=True).left(KEYS) == KEYS


def test_a_folder_with_a_run_is_not_begun_anew(tmp_path):
    Run(tmp_path, SETTINGS, resume=False)
    with pytest.raises(RunError, match="--resume goes on"):
        Run(tmp_path, SETTINGS, resume=False)


def test_a_reply_that_came_twice_counts_as_it_came_last_and_is_written_once(tmp_path):
    run = Run(tmp_path, SETTINGS, resume=False)
    run.record(reply("q1", error="the server is gone"))
    run.record(reply("q0", "ja \u662f"))  # more bytes than characters
    run.record(reply("q1", "FALSE"))
    again = Run(tmp_path, SETTINGS, resume=True)
    assert again.left(KEYS[:2]) == []
    again.finish(KEYS[:2])
    assert list(read_predictions(again.path).table["response"]) == ["ja \u662f", "FALSE"]
    assert again.path.read_bytes().count(b"\n") == 2
