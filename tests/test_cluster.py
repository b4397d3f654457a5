"""A cluster of two processes on this machine: the bytes of a local run, whatever becomes of a worker."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BENCH = [sys.executable, "-c", "from cli.main import main; main()"]
RUN = ["label", "logistic_r4", "--param", "r=3.4:3.5:128"]
NO_DASK = importlib.util.find_spec("distributed") is None
needs_dask = pytest.mark.skipif(NO_DASK, reason="the extra [dask] is not installed")


@dataclass(frozen=True)
class Local:
    address: str
    workers: list[subprocess.Popen[bytes]]
    cache: Path


def bench(cache: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*BENCH, *arguments], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=os.environ | {"CHAOSTRUTH_CACHE": str(cache)})  # fmt: skip


def said(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, err = process.communicate(timeout=600)
    return process.returncode, err


def written(out: Path) -> dict[str, bytes]:
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != "run.json"}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Local]:
    """A scheduler and two workers, whose cache is not that of the one who asks."""
    file, cache = tmp_path / "scheduler.json", tmp_path / "workers"
    dask, there = [sys.executable, "-m", "dask"], os.environ | {"CHAOSTRUTH_CACHE": str(cache)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": ROOT}
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)],
        **quiet,  # type: ignore[call-overload]
    )
    workers = []
    try:
        while not file.exists() or not file.read_text():
            assert scheduler.poll() is None
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
        workers = [subprocess.Popen([*dask, "worker", address, *options], env=there, **quiet) for _ in range(2)]
        from distributed import Client

        with Client(address) as client:
            client.wait_for_workers(2, timeout=120)
        yield Local(address, workers, cache)
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def results(cache: Path) -> int:
    return sum(1 for _ in (cache / "results").rglob("*.bin"))


@pytest.mark.slow
@needs_dask
@pytest.mark.parametrize("lost", [False, True])
def test_bytes_are_those_of_a_local_run(lost: bool, cluster: Local, tmp_path: Path) -> None:
    assert said(bench(tmp_path / "here", *RUN, "--jobs", "1", "--out", str(tmp_path / "local")))[0] == 0
    reaching = ["--backend", "dask", "--address", cluster.address]
    process = bench(tmp_path / "there", *RUN, *reaching, "--out", str(tmp_path / "far"))
    if lost:
        while results(cluster.cache) < 5 and process.poll() is None:
            time.sleep(0.005)
        assert process.poll() is None
        cluster.workers[0].send_signal(signal.SIGKILL)
    status, err = said(process)
    assert status == 0, err
    assert "Traceback" not in err
    assert written(tmp_path / "far") == written(tmp_path / "local")
    assert results(tmp_path / "there") == results(tmp_path / "here")
    assert results(cluster.cache) > 0


@pytest.mark.parametrize(("options", "told"), [
    (["--backend", "slurm", "--address", "a:1"], "dask and ray are"),
    (["--backend", "dask"], "needs the --address"),
    (["--address", "a:1"], "--backend dask or ray which kind"),
    (["--backend", "dask", "--address", "a:1", "--jobs", "2"], "give one of them"),
    pytest.param(["--backend", "dask", "--address", "a:1"], "pip install 'chaostruth[dask]'",
                 marks=pytest.mark.skipif(not NO_DASK, reason="the extra [dask] is installed")),
    pytest.param(["--backend", "dask", "--address", "127.0.0.1"], "not of the form HOST:PORT", marks=needs_dask),
    pytest.param(["--backend", "dask", "--address", "127.0.0.1:9"], "no dask cluster answers", marks=needs_dask),
])  # fmt: skip
def test_what_cannot_be_reached_is_one_sentence(options: list[str], told: str, tmp_path: Path) -> None:
    status, err = said(bench(tmp_path, "label", "henon", *options, "--out", str(tmp_path / "out")))
    assert status == 2
    assert told in err
    assert err.startswith("bench: ")
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()
