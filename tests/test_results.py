"""What is kept of long work is right, or made again; a cache that fails costs a line and nothing else."""

import errno
import logging
import os
import pickle
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cache import contents, results, store
from cache.key import key
from cache.results import MISSING, Results, keep, kept
from cache.store import DamagedError, read_sealed, write_sealed
from dynamics.registry import system
from labeling import workers as workers_module
from labeling.settings import Settings
from labeling.workers import CodeEditedError, Fault, Workers

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHAOSTRUTH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "_said", set())
    return tmp_path / "cache"


@dataclass(frozen=True)
class Pair:
    a: Any
    b: Any


@dataclass(frozen=True)
class Other:
    a: Any
    b: Any


SAMPLE = """
import numpy as np
from cache.key import key
from dynamics.registry import system
from labeling.settings import Settings
text = "ab" * 3
print(key(key, system("lorenz63"), Settings(), {"x": 1.0, "y": [np.arange(3.0), (text, "ababab")]}, -0.0, 1j, None))
"""


def test_a_key_is_the_same_in_every_process() -> None:
    made = {
        subprocess.run(
            [sys.executable, "-c", SAMPLE], cwd=ROOT, capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(made) == 1
    assert len(made.pop().strip()) == 40


def test_a_key_does_not_tell_one_object_from_two_equal_ones() -> None:
    one = [1.5, "two"]
    assert pickle.dumps([one, one]) != pickle.dumps([one, [1.5, "two"]])  # which is why the key is not of a pickle
    assert key([one, one]) == key([one, [1.5, "two"]])
    assert key(system("henon")) == key(pickle.loads(pickle.dumps(system("henon"))))


def test_keys_differ_where_values_or_types_do() -> None:
    values: list[Any] = [
        0.0, -0.0, 0, False, None, "0.0", b"0.0", "", (), [], {}, [()], [[], []], [[[]]], ["a", "b"], ["ab"],
        ["b", "a"], ("a", "b"), {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2, "b": 1}, 1e-300, 1j, np.float64(0.0),
        np.float32(0.0), np.zeros(2), np.zeros((1, 2)), np.zeros((2, 1)), np.zeros(2, dtype=int), Pair(1, 2),
        Pair(2, 1), Other(1, 2), Settings(), Settings(seed=1), key, kept, system("henon"),
        system("henon").with_values({"a": 1.3}),
        system("henon").with_values({}, {"x": 0.2}), "a;str:'b'", ["a", "b", None],
    ]  # fmt: skip
    assert len({key(value) for value in values}) == len(values)
    assert key(1, 2) != key((1, 2))


@pytest.mark.parametrize("value", [object(), {1, 2}, np.array([object()]), Path("a"), Settings, len])
def test_what_has_no_value_of_its_own_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be part of a cache key"):
        key([value])


def test_another_identity_meets_no_entry() -> None:
    path = Results("one").path("henon", 1)
    assert keep(path, "kept") is None
    assert Results("one").found(path) == "kept"
    assert Results("other").path("henon", 1) != path
    assert Results("one").path("henon", 2) != path
    assert Results("one", fresh=True).found(path) is MISSING


def test_cac_04_a_damaged_entry_is_made_again_and_reported_in_a_line(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept_here, rng = Results("code"), np.random.default_rng(0)
    for n in range(60):
        path = kept_here.path("henon", _again, (n,))
        keep(path, ["at first", n, np.arange(50.0)])
        whole = path.read_bytes()
        if n < 20:
            path.write_bytes(whole[: [0, 1, 3, 31, 32, 33, 50, len(whole) - 1][n % 8]])
        else:
            at, bit = int(rng.integers(len(whole))), int(rng.integers(8))
            path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << bit)]) + whole[at + 1 :])
        caplog.clear()
        assert kept_here.of("henon", _again, n) == ["again", n]
        (record,) = caplog.records
        assert f"{path} is damaged; it is made again" in record.message
        assert "\n" not in record.message
        assert kept_here.found(path) == ["again", n]


def _again(n: int) -> list[Any]:
    return ["again", n]


@pytest.mark.parametrize("content", [b"", b"no zlib", zlib.compress(b"no pickle"), zlib.compress(b"cgone\nGone\n.")])
def test_an_entry_that_cannot_be_read_is_made_again(content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = Results("code").path("henon", 1)
    write_sealed(path, content)  # whole, but not of this code
    assert Results("code").found(path) is MISSING
    assert len(caplog.records) == 1


def test_a_sealed_file_is_its_content_or_damaged(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    assert read_sealed(path) is None
    write_sealed(path, b"content")
    assert read_sealed(path) == b"content"
    assert read_sealed(path / "below a file") is None
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(DamagedError):
        read_sealed(path)


WRITER = """
import sys
from pathlib import Path
from cache.results import keep
for n in range(200):
    assert keep(Path(sys.argv[1]), [int(sys.argv[2])] * 20000) is None
"""


def test_cac_04_writers_at_once_leave_whole_entries_only(place: Path) -> None:
    path = Results("code").path("henon", "shared")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(n)], cwd=ROOT) for n in range(3)]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        result, trouble = kept(path)
        assert trouble is None
        if result is not MISSING:
            assert len(result) == 20000
            seen |= set(result)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert seen <= {0, 1, 2}
    assert [e.path for e in contents.entries()] == [path]  # no temporary file is left


def _counted(log: str, n: int) -> int:
    with Path(log).open("a") as stream:
        stream.write(f"{n}\n")
    return n * n


def counts(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_pieces_are_looked_up_first_and_come_in_order(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    log = tmp_path / "log"
    workers = Workers(1, lambda *told_: told.append(told_), Results("code"))
    tasks = [(str(log), n) for n in range(6)]
    assert list(workers.each(_counted, tasks[1:4:2], "squares")) == [1, 9]
    assert list(workers.each(_counted, tasks, "squares")) == [0, 1, 4, 9, 16, 25]
    assert counts(log) == 6
    assert told[-1] == (6, 6, "squares (2 kept)")
    assert list(Workers(2, None, Results("code")).each(_counted, tasks, "squares")) == [0, 1, 4, 9, 16, 25]
    assert counts(log) == 6
    assert list(Workers(1, None, Results("other code")).each(_counted, tasks, "squares")) == [0, 1, 4, 9, 16, 25]
    assert counts(log) == 12
    assert list(Workers(1, None, Results("code", fresh=True)).each(_counted, tasks, "")) == [0, 1, 4, 9, 16, 25]
    assert counts(log) == 18
    assert list(Workers().each(_counted, tasks, "")) == [0, 1, 4, 9, 16, 25]  # nothing is kept unless asked for
    assert counts(log) == 24


def test_a_piece_is_kept_as_soon_as_it_is_ready(tmp_path: Path) -> None:
    pieces: Iterator[int] = Workers(1, None, Results("code")).each(_counted, [(str(tmp_path / "l"), 2)] * 1, "")
    assert contents.entries() == []
    assert next(pieces) == 4
    assert len(contents.entries()) == 1


def test_entries_lie_under_the_system_that_they_are_about(place: Path) -> None:
    henon = system("henon")
    list(Workers(1, None, Results("code")).each(_name, [([henon], 1), (henon, 2)], ""))
    assert {(e.part, e.group) for e in contents.entries()} == {("results", "henon")}
    assert len(contents.entries("henon")) == 2


def _name(anything: Any, n: int) -> int:
    return n


def test_code_edited_during_a_run_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["old", "new"])
    monkeypatch.setattr(workers_module, "code_digest", lambda: next(answers))
    with pytest.raises(CodeEditedError, match="run the command again"):
        list(Workers(1, None, Results("code")).each(_name, [(1, 2)], ""))
    assert contents.entries() == []


def test_a_full_disk_costs_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    workers = Workers(1, None, Results("code"))
    assert list(workers.each(_counted, [(str(tmp_path / "l"), n) for n in range(5)], "")) == [0, 1, 4, 9, 16]
    (record,) = caplog.records
    assert "No space left on device" in record.message
    assert contents.entries() == []  # nor is half of anything left


def test_a_disk_that_is_full_costs_one_message(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = tmp_path / "cache" / "results"
    place.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no small file system can be mounted here")
    try:
        pieces = Workers(1, None, Results("code")).each(_noise, [(n,) for n in range(20)], "")
        assert [len(piece) for piece in pieces] == [8000] * 20
        again = Workers(1, None, Results("code")).each(_noise, [(n,) for n in range(20)], "")
        assert [piece[0] for piece in again] == [_noise(n)[0] for n in range(20)]
    finally:
        subprocess.run(["umount", str(place)], check=True)
    (record,) = caplog.records
    assert "No space left on device" in record.message


def _noise(n: int) -> bytes:
    return np.random.default_rng(n).bytes(8000)


def test_a_cache_that_cannot_be_written_to_costs_one_message(
    place: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place.write_text("a file where the folder should be")
    workers = Workers(1, None, Results("code"))
    for _ in range(2):
        assert list(workers.each(_counted, [(str(tmp_path / "l"), n) for n in range(3)], "")) == [0, 1, 4]
    (record,) = caplog.records
    assert f"nothing can be kept in {place}" in record.message


def test_an_entry_that_may_not_be_read_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(_: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(results, "read_sealed", refused)
    pieces = Workers(1, None, Results("code")).each(_counted, [(str(tmp_path / "l"), n) for n in range(3)], "")
    assert list(pieces) == [0, 1, 4]
    assert [r.message.split(":")[-1] for r in caplog.records] == [" Permission denied; they are made again"]


def test_contents_are_listed_and_removed(place: Path) -> None:
    for group, n in (("henon", 1), ("henon", 2), ("vdp", 1)):
        keep(Results("code").path(group, n), n)
    keep(Results("code", "pictures").path("henon", 1), b"png")
    (place / "something else").mkdir()
    (place / "something else" / "file").write_text("not ours")
    old = Results("code").path("henon", 1)
    os.utime(old, (1e9, 1e9))
    assert [e.path for e in contents.entries(older_than=30)] == [old]
    assert {e.part for e in contents.entries("henon")} == {"pictures", "results"}
    contents.remove(contents.entries("henon"))
    assert [e.group for e in contents.entries()] == ["vdp"]
    contents.remove(contents.entries())
    assert sorted(p.name for p in place.rglob("*") if p.is_file()) == ["file"]


def test_messages_are_warnings_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    store.say_once("one")
    store.say_once("two")
    store.say_once("one")
    assert [(r.levelno, r.message) for r in caplog.records] == [(logging.WARNING, "one"), (logging.WARNING, "two")]


def halved(n: int) -> int:
    if n % 2:
        raise ZeroDivisionError(f"{n} has no half")
    return n // 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_piece_that_fails_leaves_the_others(jobs: int) -> None:
    faults: list[Fault] = []
    found = Workers(jobs, results=Results("x")).each(halved, [(2,), (3,), (4,)], "halves", faults)
    assert list(found) == [1, 2]
    assert [fault.trace.splitlines()[-1] for fault in faults] == ["ZeroDivisionError: 3 has no half"]
    with pytest.raises(ZeroDivisionError):
        list(Workers(jobs, results=Results("x")).each(halved, [(2,), (3,)], "halves"))
