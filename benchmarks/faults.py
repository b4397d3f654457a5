"""What a labelling run survives: `python -m benchmarks.faults`, which writes the table of docs/faults.md.

Each fault is done to a real run with a cache of its own. It is survived if the run, or the next one of the same
command, ends in the bytes of a run that nothing disturbed, and nobody is shown a trace.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.pages import put

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "faults.md"
BENCH = [sys.executable, "-c", "from cli.main import main; main()"]
RUN = ["label", "logistic_r4", "--param", "r=3.4:3.5:128"]
KILLS = 20
DAMAGED = 20
DECADE = 10 * 365 * 86400


class Place:
    """A folder with a cache that holds machine code only, and the output of a run that nothing disturbed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.whole = folder / "undisturbed"
        assert run(self.whole / "cache", self.whole / "out")[0] == 0
        self.right = written(self.whole / "out")

    def cache(self, name: str, part: str = "kernels") -> Path:
        """A cache of its own for one fault, with machine code alone or with results too."""
        place = self.folder / name / "cache"
        for one in ("kernels", "results", "pictures")[: 1 if part == "kernels" else 3]:
            shutil.copytree(self.whole / "cache" / one, place / one, dirs_exist_ok=True)
        return place

    def ends_right(self, cache: Path) -> bool:
        """Whether the command ends now, without a trace and in the right bytes."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            status, said = run(cache, Path(out))
            return status == 0 and "Traceback" not in said and written(Path(out)) == self.right


def begun(cache: Path, out: Path, jobs: int = 1) -> subprocess.Popen[str]:
    """A run in a group of processes of its own."""
    return subprocess.Popen(
        [*BENCH, *RUN, "--jobs", str(jobs), "--out", str(out)], cwd=ROOT, text=True, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ | {"CHAOSTRUTH_CACHE": str(cache)},
    )  # fmt: skip


def run(cache: Path, out: Path, jobs: int = 1) -> tuple[int, str]:
    """Status and messages of a run from its beginning to its end."""
    process = begun(cache, out, jobs)
    said = process.communicate()[1]
    return process.returncode, said


def written(out: Path) -> dict[str, bytes]:
    """All files but that of times and machine."""
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != "run.json"}


def results(cache: Path) -> list[Path]:
    """The files of finished pieces."""
    return sorted((cache / "results").rglob("*.bin"))


def workers_of(process: int) -> list[int]:
    """The processes that work for a run, by Linux's own list."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in children if b"popen_loky" in Path(f"/proc/{child}/cmdline").read_bytes()]


def killed(place: Place, chance: random.Random) -> Iterator[bool]:
    """kill -9 of all processes of a run, at a random moment after one more piece was finished."""
    cache = place.cache("killed")
    total = len(results(place.whole / "cache"))
    for n in range(KILLS):
        process, before = begun(cache, place.folder / "killed" / "out", jobs=1 + n % 2), len(results(cache))
        wanted = min(total - 1, before + chance.randrange(0, 1 + 2 * total // KILLS))
        while process.poll() is None and len(results(cache)) < wanted:
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.5))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        said = process.communicate()[1]
        yield len(results(cache)) >= before and "Traceback" not in said
    yield place.ends_right(cache)


def worker_killed(place: Place, chance: random.Random) -> Iterator[bool]:
    """kill -9 of one of two processes that work for a run; the run itself must end right."""
    for n in range(3):
        cache, out = place.cache(f"worker{n}"), place.folder / f"worker{n}" / "out"
        process = begun(cache, out, jobs=2)
        while process.poll() is None and len(results(cache)) < 2 + 5 * n:
            time.sleep(0.002)
        workers = workers_of(process.pid) if process.poll() is None else []
        if workers:
            os.kill(chance.choice(workers), signal.SIGKILL)
        said = process.communicate()[1]
        yield bool(workers) and process.returncode == 0 and "Traceback" not in said and written(out) == place.right


def two_at_once(place: Place, _: random.Random) -> Iterator[bool]:
    """Two runs that share a cache from the start."""
    cache = place.cache("two")
    outs = [place.folder / "two" / name for name in "ab"]
    both = [begun(cache, out) for out in outs]
    for process, out in zip(both, outs, strict=True):
        said = process.communicate()[1]
        yield process.returncode == 0 and not said.count("damaged") and written(out) == place.right
    yield place.ends_right(cache)


def damaged(place: Place, chance: random.Random) -> Iterator[bool]:
    """Entries that are cut off, or have one bit changed; each is told of, and made again."""
    cache = place.cache("damaged", "all")
    chosen = chance.sample(sorted([*cache.rglob("*.bin")]), DAMAGED)
    for n, path in enumerate(chosen):
        content = bytearray(path.read_bytes())
        if n % 2:
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        else:
            del content[chance.randrange(len(content)) :]
        path.write_bytes(content)
    status, _ = run(cache, place.folder / "damaged" / "out")
    right = status == 0 and written(place.folder / "damaged" / "out") == place.right
    yield from (right for _ in chosen)


def other_clock(place: Place, _: random.Random) -> Iterator[bool]:
    """Entries from ten years ahead and from 1970: a clock that was changed."""
    for stamp in (time.time() + DECADE, 0.0):
        cache = place.cache(f"clock{stamp:.0f}", "all")
        for path in cache.rglob("*"):
            os.utime(path, (stamp, stamp))
        yield place.ends_right(cache)


def full_disk(place: Place, _: random.Random) -> Iterator[bool]:
    """A disk that is full after some results; then one that takes no file of the output."""
    need = sum(path.stat().st_size for path in (place.whole / "cache" / "kernels").rglob("*.bin"))
    with disk(place.folder / "full", need + 200_000) as folder:
        shutil.copytree(place.whole / "cache" / "kernels", folder / "kernels")
        status, said = run(folder, place.folder / "beside")
        yield status == 0 and said.count("nothing can be kept") == 1 and written(place.folder / "beside") == place.right
    with disk(place.folder / "small", 16_384) as folder:
        status, said = run(place.whole / "cache", folder / "out")
        yield status == 2 and "No space left" in said and "Traceback" not in said


def read_only(place: Place, _: random.Random) -> Iterator[bool]:
    """A cache that cannot be written to: with machine code alone, and empty."""
    for name, filled in (("readonly", True), ("readonly_empty", False)):
        with disk(place.folder / name, 50_000_000) as folder:
            if filled:
                shutil.copytree(place.whole / "cache" / "kernels", folder / "kernels")
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
            status, said = run(folder, place.folder / f"{name}_out")
            told = said.count("nothing can be kept") == 1 and "Traceback" not in said
            yield status == 0 and told and written(place.folder / f"{name}_out") == place.right


@contextmanager
def disk(folder: Path, size: int) -> Iterator[Path]:
    """A disk of so many bytes in memory; mounting it needs the rights of root."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


Fault = Callable[[Place, random.Random], Iterator[bool]]
FAULTS: dict[str, Fault] = {
    "kill -9 at a random moment; a last run ends it": killed,
    "two processes on one cache": two_at_once,
    "entries cut off, or with a bit changed": damaged,
    "entries from the future, and from 1970": other_clock,
}
ON_LINUX: dict[str, Fault] = {"one of two worker processes killed": worker_killed}
AS_ROOT: dict[str, Fault] = {"full disk: cache, output": full_disk, "read-only cache": read_only}


def main() -> int:
    """Try all faults, write the table, and say by the status whether anything was lost."""
    linux = sys.platform == "linux"
    faults = FAULTS | (ON_LINUX if linux else {}) | (AS_ROOT if linux and os.geteuid() == 0 else {})
    table = ["| fault | tried | survived | lost |", "|---|---:|---:|---:|"]
    lost = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        for name, fault in faults.items():
            found = [*fault(place, random.Random(0))]
            lost += found.count(False)
            table.append(f"| {name} | {len(found)} | {found.count(True)} | {found.count(False)} |")
            print(table[-1], flush=True)
    put(PAGE, table)
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
