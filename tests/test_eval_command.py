"""bench eval, against a server on this machine: models that are not there, keys, faults, a kill and going on."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from openai_server import serving, stats

from bench.models import ModelError, model_called, redacted

EXTRA = pytest.mark.skipif(find_spec("inspect_ai") is None, reason="pip install 'chaostruth[eval]'")
KEY = "sk-made-up-0123456789"
COMMAND = [sys.executable, "-c", "from cli.main import main; main()", "eval"]


def surroundings(folder: Path, **more: str) -> dict[str, str]:
    """Without keys but those that are given; Inspect keeps its files in the folder."""
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return clean | {"XDG_DATA_HOME": str(folder / "xdg"), "XDG_CACHE_HOME": str(folder / "xdg"), "NO_COLOR": "1"} | more


def bench_eval(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, "--dataset", str(folder / "questions.jsonl"), *arguments], capture_output=True,
                          text=True, timeout=900, check=False, env=surroundings(folder, **more))  # fmt: skip


def questions(folder: Path, count: int) -> None:
    rows = [{
        "id": f"q{n}", "question": f"Is the Lorenz system at rho = {n} chaotic?", "system_id": "lorenz63",
        "ground_truth": ("TRUE", "FALSE")[n % 2], "type": ("atomic", "multi_hop")[n // 2 % 2],
        "cluster": f"block{n % 25:02d}", "predicate": "Chaotic", "split": "test",
    } for n in range(count)]  # fmt: skip
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


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
@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "keys", "plan", "told"), [
    (["--model", "gpt-4o"], {}, {}, "PROVIDER/NAME is needed"),
    (["--model", "opnai/gpt-4o"], {}, {}, "opnai"),
    (["--model", "openai/gpt-4o"], {}, {}, "OPENAI_API_KEY"),
    (["--model", "local/x", "--base-url", "127.0.0.1"], {}, {}, "an address such as http://"),
    (["--model", "local/x", "--base-url", "http://127.0.0.1:9/v1"], {}, {}, "cannot be reached"),
    (["--model", "local/y", "--base-url"], {}, {"model": "x"}, "knows no such model"),
    (["--model", "local/x", "--base-url"], {"LOCAL_API_KEY": KEY}, {"key": "another"}, "refuses the key"),
    (["--model", "local/x", "--logprobs", "--base-url"], {}, {"no_logprobs": "left out"}, "gives no log-prob"),
    (["--model", "local/x", "--logprobs", "--base-url"], {}, {"no_logprobs": "refused"}, "refuses log-prob"),
])  # fmt: skip
def test_a_model_that_cannot_be_asked_is_one_sentence_and_status_2(tmp_path, arguments, keys, plan, told):
    questions(tmp_path, 4)
    with serving(**plan) as url:
        given = [*arguments, url] if arguments[-1] == "--base-url" else arguments
        done = bench_eval(tmp_path, *given, "--out", str(tmp_path / "run"), **keys)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.startswith("bench: ")
    assert done.stderr.count("\n") == 1
    assert KEY not in done.stderr + done.stdout
    assert not (tmp_path / "run").exists()


@EXTRA
@pytest.mark.slow
def test_a_key_is_in_no_file_and_no_message_even_if_the_server_repeats_it(tmp_path):
    questions(tmp_path, 20)
    with serving(key=KEY, **{"429": 300, "broken": 100}) as url:
        done = bench_eval(tmp_path, "--model", "local/x", "--base-url", url, "--out", str(tmp_path / "run"),
                          LOCAL_API_KEY=KEY)  # fmt: skip
        assert stats(url)["befell"]
    assert done.returncode == 0, done.stderr
    assert KEY not in done.stdout + done.stderr
    found = contents(tmp_path / "run")
    assert b"Is the Lorenz system" in found
    assert KEY.encode() not in found


@EXTRA
def test_faults_change_no_score(tmp_path):
    """The slow test below at a size that the fast tests have time for."""
    faulty(tmp_path, 60, {"429": 50, "500": 20, "broken": 30})


@EXTRA
@pytest.mark.slow
def test_two_thousand_items_come_through_429_500_timeouts_and_broken_json(tmp_path):
    faulty(tmp_path, 2000, {"429": 50, "500": 20, "hang": 10, "broken": 10, "hang_seconds": 30})


def faulty(folder: Path, count: int, plan: dict[str, int]) -> None:
    """A run among faults against one without: the same replies and scores, each question answered once."""
    questions(folder, count)
    for name, own in (("calm", {}), ("faulty", plan)):
        with serving(odd=20, **own) as url:
            done = bench_eval(folder, "--model", "local/x", "--base-url", url, "--out", str(folder / name),
                              "--timeout", "15", "--json", "--max-connections", "20")  # fmt: skip
            seen = stats(url)
        assert done.returncode == 0, done.stderr
        assert set(seen["answered"].values()) == {1}
        assert seen["most_at_once"] <= 20
    assert set(seen["befell"]) == {fault for fault in plan if fault != "hang_seconds"}
    assert [row["attempts"] for row in replies(folder / "faulty")] == [
        row["attempts"] for row in replies(folder / "calm")
    ]
    assert Counter(row["id"] for row in replies(folder / "faulty")) == {f"q{n}": 1 for n in range(count)}
    assert any(len(row["attempts"]) == 2 for row in replies(folder / "calm"))
    assert (folder / "faulty" / "scores.json").read_bytes() == (folder / "calm" / "scores.json").read_bytes()


@EXTRA
@pytest.mark.slow
def test_cac_11_a_killed_run_goes_on_with_other_connections_and_loses_nothing(tmp_path):
    questions(tmp_path, 400)
    run = tmp_path / "run"
    with serving(delay=0.05) as url:
        given = ["--model", "local/x", "--base-url", url]
        first = subprocess.Popen([*COMMAND, "--dataset", str(tmp_path / "questions.jsonl"), *given, "--out", str(run),
                                  "--max-connections", "8"], env=surroundings(tmp_path))  # fmt: skip
        file = run / "predictions.jsonl"
        while first.poll() is None and not (file.exists() and file.read_bytes().count(b"\n") > 120):
            time.sleep(0.05)
        first.send_signal(signal.SIGKILL)
        first.wait()
        kept = file.read_bytes().count(b"\n")
        assert 120 < kept < 400
        done = bench_eval(tmp_path, *given, "--out", str(run), "--resume", "--max-connections", "3")
        assert done.returncode == 0, done.stderr
        calls = sum(stats(url)["asked"].values()) - 2  # one question before each of both
        whole = bench_eval(tmp_path, *given, "--out", str(tmp_path / "whole"))
        assert whole.returncode == 0, whole.stderr
    assert 400 <= calls <= 400 + 8
    assert replies(run) == replies(tmp_path / "whole")
    assert (run / "scores.json").read_bytes() == (tmp_path / "whole" / "scores.json").read_bytes()
