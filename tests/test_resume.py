"""A labelling run that is killed goes on where it was, and ends in the same bytes."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BENCH = [sys.executable, "-c", "from cli.main import main; main()"]
RUN = ["label", "logistic_r4", "--param", "r=3.4:3.5:128"]  # one flip, at 1 + sqrt 6

Stamps = dict[Path, tuple[int, int]]


def start(cache: Path, out: Path, *options: str, jobs: int = 1) -> subprocess.Popen[str]:
    """The run in a group of processes of its own, which a terminal's Ctrl-C reaches as a whole."""
    return subprocess.Popen(
        [*BENCH, *RUN, "--jobs", str(jobs), "--out", str(out), *options], cwd=ROOT, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"CHAOSTRUTH_CACHE": str(cache)},
    )  # fmt: skip


def finished(process: subprocess.Popen[str]) -> str:
    """What a run said on stderr, which must end well."""
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return said


def written(out: Path) -> dict[str, bytes]:
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != "run.json"}


def entries(cache: Path, part: str = "results") -> Stamps:
    found = {path: path.stat() for path in (cache / part).rglob("*.bin")}
    return {path: (status.st_mtime_ns, status.st_ino) for path, status in found.items()}


def stop(process: subprocess.Popen[str], cache: Path, count: int, number: signal.Signals) -> None:
    """Send a signal to all processes of a run when it has kept so many entries, or at once if it is done before."""
    while process.poll() is None and len(entries(cache)) < count:
        time.sleep(0.002)
    if process.poll() is None:
        os.killpg(process.pid, number)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The cache and the output of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("first")
    assert "kept" not in finished(start(folder / "cache", folder / "out"))
    return folder / "cache", folder / "out"


@pytest.fixture
def cache(first: tuple[Path, Path], tmp_path: Path) -> Path:
    """A cache that has machine code and nothing else, which saves each test a compilation."""
    shutil.copytree(first[0] / "kernels", tmp_path / "cache" / "kernels")
    return tmp_path / "cache"


def test_a_second_run_only_reads(first: tuple[Path, Path], tmp_path: Path) -> None:
    before = [entries(first[0], part) for part in ("kernels", "results", "pictures")]
    assert min(map(len, before)) > 0
    said = finished(start(first[0], tmp_path / "out", jobs=2))
    assert "(1 kept)" in said
    assert written(tmp_path / "out") == written(first[1])
    assert [entries(first[0], part) for part in ("kernels", "results", "pictures")] == before


@pytest.mark.slow
def test_without_the_cache_everything_is_made_anew_and_kept(first: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(first[0], tmp_path / "cache")
    before = entries(tmp_path / "cache")
    assert "kept)" not in finished(start(tmp_path / "cache", tmp_path / "out", "--no-cache"))
    after = entries(tmp_path / "cache")
    assert after.keys() == before.keys()
    assert all(after[path] != before[path] for path in before)
    assert written(tmp_path / "out") == written(first[1])


@pytest.mark.parametrize("times", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_a_killed_run_makes_no_piece_twice(times: int, first: tuple[Path, Path], cache: Path, tmp_path: Path) -> None:
    chance, total, killed = random.Random(0), len(entries(first[0])), 0
    for n, moment in enumerate(sorted(chance.sample(range(1, total), times))):
        before = entries(cache)
        run = start(cache, tmp_path / "out", jobs=1 + n % 2)
        stop(run, cache, moment, signal.SIGKILL)
        run.communicate(timeout=60)
        killed += run.returncode == -signal.SIGKILL
        assert before.items() <= entries(cache).items()
    assert killed >= times - 2  # one or the other may have been quicker than its signal
    before = entries(cache)
    finished(start(cache, tmp_path / "out"))
    assert before.items() <= entries(cache).items()
    assert {p.relative_to(cache) for p in entries(cache)} == {p.relative_to(first[0]) for p in entries(first[0])}
    assert written(tmp_path / "out") == written(first[1])


def test_ctrl_c_is_one_line_and_status_2_and_the_next_run_goes_on(
    first: tuple[Path, Path], cache: Path, tmp_path: Path
) -> None:
    run = start(cache, tmp_path / "out", jobs=2)
    stop(run, cache, 2, signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 2
    assert [line for line in said.splitlines() if "stopped" in line] == [
        "stopped; what was finished is kept, and the same command goes on from there"
    ]
    assert "Traceback" not in said
    before = entries(cache)
    assert len(before) >= 2
    finished(start(cache, tmp_path / "out"))
    assert before.items() <= entries(cache).items()
    assert written(tmp_path / "out") == written(first[1])


def test_two_runs_share_a_cache(first: tuple[Path, Path], cache: Path, tmp_path: Path) -> None:
    runs = [start(cache, tmp_path / name, jobs=1) for name in ("a", "b")]
    for run, name in zip(runs, ("a", "b"), strict=True):
        said = finished(run)
        assert "damaged" not in said
        assert "cannot" not in said
        assert written(tmp_path / name) == written(first[1])
    assert not [*cache.rglob("*.tmp")]


@pytest.mark.slow
def test_cac_04_damaged_entries_are_made_again_and_reported(first: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(first[0], tmp_path / "cache")
    chosen = sorted(entries(tmp_path / "cache"))[::5] + sorted(entries(tmp_path / "cache", "pictures"))
    for n, path in enumerate(chosen):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2] if n % 2 else whole[:-1] + bytes([whole[-1] ^ 1]))
    said = finished(start(tmp_path / "cache", tmp_path / "out"))
    for path in chosen:
        assert len([line for line in said.splitlines() if f"the cached result {path} is damaged" in line]) == 1
    assert written(tmp_path / "out") == written(first[1])


def test_results_that_cannot_be_kept_cost_one_message(first: tuple[Path, Path], cache: Path, tmp_path: Path) -> None:
    for part in ("results", "pictures"):
        (cache / part).write_text("a file where the folder should be")
    said = finished(start(cache, tmp_path / "out", jobs=2))
    assert len([line for line in said.splitlines() if "nothing can be kept" in line]) == 1
    assert "Traceback" not in said
    assert written(tmp_path / "out") == written(first[1])
