"""bench eval, against a server on this machine: models that are not there, keys, faults, a kill and going on."""

import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openai_server import serving, stats

from bench.models import Decoding, ModelError, model_called, redacted
from bench.prompts import prompts
from bench.runs import Run
from bench.tasks import Asking, Progress, StoppedError, evaluate, origin, ready
from bench.tool_budget import Budget

pytestmark = pytest.mark.filterwarnings("default")  # those of other packages are not ours to mend
EXTRA = pytest.mark.skipif(find_spec("inspect_ai") is None, reason="pip install 'chaostruth[eval]'")
WAIT = 15  # seconds for a call
KEY = "sk-made-up-0123456789"
PROMPT = prompts()["direct"]


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No keys of whoever runs the tests; Inspect keeps its own files with those of the test."""
    for name in os.environ:
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "xdg"))
    yield
    with warnings.catch_warnings():  # Inspect leaves connections open when its event loop ends
        warnings.simplefilter("ignore")
        gc.collect()


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)


def questions(count: int) -> pd.DataFrame:
    rows = [{
        "id": f"q{n}", "question": f"Is the Lorenz system at rho = {n} chaotic?", "system_id": "lorenz63",
        "ground_truth": ("TRUE", "FALSE")[n % 2], "type": ("atomic", "multi_hop")[n // 2 % 2],
        "cluster": f"block{n % 25:02d}", "predicate": "Chaotic", "split": "test",
    } for n in range(count)]  # fmt: skip
    return pd.DataFrame(rows)


def run_of(
    rows: pd.DataFrame, url: str, folder: Path, connections: int = 20, wait: int = 15, epochs: int = 1
) -> Progress:
    """Ask the questions, going on where the folder was left."""
    model, decoding = ready("local/x", url, PROMPT, epochs, False)
    told = origin("local/x", "direct 1", decoding, "0" * 64)
    asking = Asking(model, PROMPT, decoding, "", epochs, connections, WAIT, told)
    return evaluate(rows, asking, Run(folder, told, resume=True), lambda _: None)


def replies(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]


def contents(folder: Path) -> bytes:
    """All that stands in the files of a folder, unpacked."""
    made = b""
    for path in folder.rglob("*"):
        if path.suffix == ".eval":
            import zipfile_zstd  # noqa: F401 - teaches zipfile the compression of Inspect's logs

            with zipfile.ZipFile(path) as log:
                made += b"".join(log.read(name) for name in log.namelist())
        elif path.is_file():
            made += path.read_bytes()
    return made


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.model", None)
    with pytest.raises(ModelError, match=r"pip install 'chaostruth\[eval\]'"):
        model_called("openai/gpt-4o", None)


def test_keys_are_taken_out_of_what_a_provider_says(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", KEY)
    monkeypatch.setenv("OTHER_API_KEY", "none")  # occurs in any text
    assert redacted(f"Incorrect key {KEY}, and none else") == "Incorrect key (hidden), and none else"


@EXTRA
@pytest.mark.parametrize(("name", "url", "keys", "plan", "told"), [
    ("gpt-4o", None, {}, {}, "PROVIDER/NAME is needed"),
    ("opnai/gpt-4o", None, {}, {}, "opnai"),
    ("openai/gpt-4o", None, {}, {}, "OPENAI_API_KEY"),
    ("local/x", "127.0.0.1", {}, {}, "an address such as http://"),
    ("local/x", "http://127.0.0.1:9/v1", {}, {}, "cannot be reached"),
    ("local/y", "", {}, {"model": "x"}, "knows no such model"),
    ("local/x", "", {"LOCAL_API_KEY": KEY}, {"key": "another"}, "refuses the key"),
    ("local/x", "", {}, {"no_logprobs": "left out"}, "gives no log-probabilities; leave out --logprobs"),
    ("local/x", "", {}, {"no_logprobs": "refused"}, "refuses log-probabilities"),
])  # fmt: skip
def test_a_model_that_cannot_be_asked_is_one_sentence(monkeypatch, name, url, keys, plan, told):
    for key, value in keys.items():
        monkeypatch.setenv(key, value)
    with serving(**plan) as own, pytest.raises(ModelError) as found:
        ready(name, own if url == "" else url, PROMPT, 1, demanded=True)
    assert told in str(found.value)
    assert KEY not in str(found.value)
    assert "\n" not in str(found.value)


@EXTRA
def test_log_probabilities_are_left_out_where_none_come():
    for plan in ("left out", "refused"):
        with serving(no_logprobs=plan) as url:
            _, decoding = ready("local/x", url, PROMPT, 1, demanded=False)
        assert not decoding.logprobs
        assert decoding.temperature == 0.0


@EXTRA
def test_a_server_that_is_slow_at_first_is_waited_for_and_one_that_never_answers_is_told(monkeypatch):
    monkeypatch.setattr("bench.models.WAIT", 0.5)
    with serving(delay=2.0) as url:
        _, decoding = ready("local/x", url, PROMPT, 1, demanded=True, wait=60)
        assert decoding.logprobs
        with pytest.raises(ModelError, match="did not answer within 1 s; it takes calls"):
            ready("local/x", url, PROMPT, 1, demanded=True, wait=1)


@EXTRA
def test_the_command_says_what_is_wrong_and_ends_with_status_2(tmp_path):
    questions(4).to_json(tmp_path / "questions.jsonl", orient="records", lines=True)
    done = bench("eval", "--dataset", str(tmp_path / "questions.jsonl"), "--model", "local/x", "--base-url",
                 "http://127.0.0.1:9/v1", "--out", str(tmp_path / "run"))  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("bench: ")
    assert "cannot be reached" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_the_scripted_agent_writes_no_log_and_names_none(tmp_path):
    questions(4).to_json(tmp_path / "questions.jsonl", orient="records", lines=True)
    done = bench("eval", "--dataset", str(tmp_path / "questions.jsonl"), "--model", "agent/lambda1", "--out",
                 str(tmp_path / "run"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "4 asked" in done.stderr
    assert str(tmp_path / "run") in (done.stdout + done.stderr).replace("\n", "")
    assert "inspect view" not in done.stdout + done.stderr
    assert not (tmp_path / "run" / "logs").exists()
    assert "Warning" not in done.stderr  # no family of this set has both answers


@EXTRA
def test_the_log_that_is_named_is_there(tmp_path):
    questions(4).to_json(tmp_path / "questions.jsonl", orient="records", lines=True)
    done = bench("eval", "--dataset", str(tmp_path / "questions.jsonl"), "--model", "mockllm/coin", "--out",
                 str(tmp_path / "run"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"--log-dir {tmp_path / 'run' / 'logs'}" in " ".join((done.stdout + done.stderr).split())
    assert len([*(tmp_path / "run" / "logs").glob("*.eval")]) == 1


@EXTRA
def test_a_key_is_in_no_file_even_if_the_server_repeats_it(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    with serving(key=KEY, **{"429": 300, "broken": 100}) as url:
        run_of(questions(20), url, tmp_path / "run")
        assert stats(url)["befell"]
    found = contents(tmp_path)
    assert b"Is the Lorenz system" in found
    assert KEY.encode() not in found
    assert KEY not in "".join(capfd.readouterr())


@EXTRA
def test_faults_change_no_reply(tmp_path):
    faulty(tmp_path, 60, {"429": 50, "500": 20, "broken": 30})


@EXTRA
@pytest.mark.slow
def test_two_thousand_items_come_through_429_500_timeouts_and_broken_json(tmp_path):
    faulty(tmp_path, 2000, {"429": 50, "500": 20, "hang": 10, "broken": 10, "hang_seconds": 30})


def faulty(folder: Path, count: int, plan: dict[str, int]) -> None:
    """A run among faults against one without: the same rows, each question answered once."""
    rows = questions(count)
    for name, own in (("calm", {}), ("faulty", plan)):
        with serving(odd=20, **own) as url:
            made = run_of(rows, url, folder / name)
            seen = stats(url)
        assert (made.done, made.failures) == (count, 0)
        assert set(seen["answered"].values()) == {1}
        assert seen["most_at_once"] <= 20
    assert set(seen["befell"]) == {fault for fault in plan if fault != "hang_seconds"}
    assert replies(folder / "faulty") == replies(folder / "calm")
    assert [row["id"] for row in replies(folder / "faulty")] == list(rows["id"])
    assert {len(row["attempts"]) for row in replies(folder / "calm")} == {1, 2}


@EXTRA
def test_what_the_provider_fails_on_is_an_error_and_asked_again(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.tasks.RETRIES", 0)
    with serving(always=True, broken=200) as url:
        made = run_of(questions(20), url, tmp_path)
    assert 0 < made.failures < 20
    failed = {row["id"] for row in replies(tmp_path) if row["attempts"][-1]["error"]}
    assert len(failed) == made.failures
    with serving() as url:
        run_of(questions(20), url, tmp_path)
        assert len(stats(url)["asked"]) == len(failed) + 1  # and the one before the run
    assert not any(row["attempts"][-1]["error"] for row in replies(tmp_path))


@EXTRA
def test_cac_10_samples_of_one_question_are_each_asked_for(tmp_path):
    with serving() as url:
        run_of(questions(4), url, tmp_path, epochs=3)
        asked = stats(url)["asked"]
    assert sorted(asked.values()) == [1, 3, 3, 3, 3]
    assert [(row["id"], row["epoch"]) for row in replies(tmp_path)] == [
        (f"q{n}", epoch) for epoch in (1, 2, 3) for n in range(4)
    ]
    assert replies(tmp_path)[0]["decoding"]["temperature"] == 1.0


def interruptible(*arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run_of(*arguments)


@EXTRA
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_cac_11_a_stopped_run_goes_on_with_other_connections_and_loses_nothing(tmp_path, how):
    rows, run = questions(200), tmp_path / "run"
    with serving(delay=0.05) as url:
        first = multiprocessing.get_context("fork").Process(target=interruptible, args=(rows, url, run, 8))
        first.start()
        file = run / "predictions.jsonl"
        while first.is_alive() and not (file.exists() and file.read_bytes().count(b"\n") > 60):
            time.sleep(0.02)
        os.kill(first.pid, how)
        first.join()
        assert first.exitcode != 0
        assert 60 < file.read_bytes().count(b"\n") < 200
        run_of(rows, url, run, 3)
        calls = sum(stats(url)["asked"].values()) - 2  # one before each of both
        run_of(rows, url, tmp_path / "whole")
    assert 200 <= calls <= 200 + 8
    assert replies(run) == replies(tmp_path / "whole")


@EXTRA
def test_a_log_holds_no_more_questions_than_fit_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.tasks.SHARD", 8)
    with serving() as url:
        run_of(questions(20), url, tmp_path)
    assert len([*(tmp_path / "logs").glob("*.eval")]) == 3
    assert [row["id"] for row in replies(tmp_path)] == [f"q{n}" for n in range(20)]


@EXTRA
def test_a_provider_that_is_gone_stops_the_run_which_keeps_what_it_has(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.tasks.MOST_FAILURES", 5)
    with serving() as url:
        run_of(questions(4), url, tmp_path)
    with serving(always=True, broken=1000) as url, pytest.raises(StoppedError, match="5 questions in a row"):
        run_of(questions(40), url, tmp_path)
    assert len([row for row in replies(tmp_path) if not row["attempts"][-1]["error"]]) == 4
    with serving() as url:
        assert run_of(questions(40), url, tmp_path).failures == 0
    assert len(replies(tmp_path)) == 40


@EXTRA
def test_a_model_calls_tools_and_answers_by_what_they_say(tmp_path):
    """Henon's map at 0.9 and 1.4, asked at once; the model says TRUE where the exponent that it is told is above 0."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def play(given: Any, *_: Any) -> Any:
        last = given[-1]
        if last.role == "tool":
            output = ModelOutput.from_content("x", "TRUE" if json.loads(last.text)["value"][0] > 0 else "FALSE")
        else:
            a = 0.9 if "= 0.9" in last.text else 1.4
            output = ModelOutput.for_tool_call("x", "indicator", {"system": "henon", "parameters": {"a": a}, "k": 1})
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    rows = questions(2).assign(question=["Is Henon's map at a = 1.4 chaotic?", "Is Henon's map at a = 0.9 chaotic?"])
    decoding = Decoding(16, None, logprobs=False)
    told = origin("mockllm/x", "direct 1, tools indicator", decoding, "0" * 64)
    model = get_model("mockllm/x", custom_outputs=play, memoize=False)
    asking = Asking(model, PROMPT, decoding, "", 1, 2, WAIT, told, ("indicator",), Budget())
    made = evaluate(rows, asking, Run(tmp_path, told, resume=False), lambda _: None)
    assert (made.failures, made.tokens_in) == (0, 4)
    assert [row["attempts"][-1]["response"] for row in replies(tmp_path)] == ["TRUE", "FALSE"]
    assert replies(tmp_path)[0]["item"]["ground_truth"] == "TRUE"
