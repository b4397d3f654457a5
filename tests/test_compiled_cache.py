"""Machine code that was kept is that of the kernels as they stand, or it is made again."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cache.store import read_sealed
from dynamics.block import block, run
from dynamics.codegen import LANES
from dynamics.registry import system
from labeling.workers import Workers

ROOT = Path(__file__).parent.parent


def probe(program: str, cache: Path, root: Path = ROOT, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"CHAOSTRUTH_CACHE": str(cache)} | environment,
    )  # fmt: skip


def answer(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return out, said


def kernels_in(cache: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (cache / "kernels").rglob("*.bin")}


FAR = '''"""A constant and a kernel that others use."""

from dynamics.kernel import kernel

LIMIT = 3


@kernel("i8()")
def far():
    return 1
'''
NEAR = '''"""A kernel that uses them."""

from dynamics.far import LIMIT, far
from dynamics.kernel import kernel


@kernel("i8()")
def near():
    return 10 * far() + LIMIT
'''
BOTH = "from dynamics.near import near; print(near())"


def test_cac_01_an_edited_kernel_serves_no_old_result(tmp_path: Path) -> None:
    """Neither through a callee nor through a global in another file, be the file as long and as old as before."""
    for package in ("dynamics", "indicators", "cache"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    far, cache = tmp_path / "dynamics" / "far.py", tmp_path / "cached"
    (tmp_path / "dynamics" / "near.py").write_text(NEAR)
    for text, right in (
        (FAR, "13"), (FAR, "13"), (FAR.replace("return 1", "return 2"), "23"), (FAR.replace("= 3", "= 4"), "14"),
        (FAR, "13"),
    ):  # fmt: skip
        far.write_text(text)
        os.utime(far, (1.7e9, 1.7e9))
        # Python's own bytecode would be stale here; what is asked is whether machine code is
        assert answer(probe(BOTH, cache, tmp_path, PYTHONDONTWRITEBYTECODE="1")) == (right + "\n", "")
    assert len(kernels_in(cache)) == 3 * 2  # three versions of two kernels: the first was read again twice


OWN = """
import numpy as np
from cache.store import read_sealed
from dynamics.block import block, run
from dynamics.codegen import LANES
from dynamics.registry import system
moving = block(system("logistic_r4"), np.full((1, LANES), 0.3), np.full((1, LANES), 3.9), 1)
print(run(moving, 30).growth[-1, 0, 0].hex())
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A cache with kernels of ours and a generated one, and what they answer."""
    cache = tmp_path_factory.mktemp("compiled")
    out, said = answer(probe(OWN, cache))
    assert said == ""
    assert {path.parent.name[0] for path in kernels_in(cache)} == {"@", "l"}
    return cache, out


@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped"])
def test_cac_02_a_damaged_kernel_is_compiled_again_and_reported(
    compiled: tuple[Path, str], tmp_path: Path, damage: str
) -> None:
    cache, rng = tmp_path / "cache", np.random.default_rng(1)
    shutil.copytree(compiled[0], cache)
    whole = kernels_in(cache)
    assert len(whole) >= 3
    for path, content in whole.items():
        at = int(rng.integers(len(content)))
        flipped = content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :]
        path.write_bytes({"truncated": content[:50], "empty": b"", "flipped": flipped}[damage])
    out, said = answer(probe(OWN, cache))
    assert out == compiled[1]
    assert sorted(said.splitlines()) == sorted(
        f"the compiled kernel {path} is damaged; it is compiled again" for path in whole
    )
    assert kernels_in(cache).keys() == whole.keys()
    assert all(read_sealed(path) for path in whole)


def test_kernels_are_read_where_they_are_whole(compiled: tuple[Path, str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in kernels_in(compiled[0])}
    assert answer(probe(OWN, compiled[0])) == (compiled[1], "")
    assert {path: path.stat().st_mtime_ns for path in kernels_in(compiled[0])} == before


def test_two_processes_compile_at_once(compiled: tuple[Path, str], tmp_path: Path) -> None:
    both = [probe(OWN, tmp_path) for _ in range(2)]
    assert [answer(process) for process in both] == [(compiled[1], "")] * 2
    assert {path.name for path in kernels_in(tmp_path)} == {path.name for path in kernels_in(compiled[0])}
    assert not [*tmp_path.rglob("*.tmp")]


def test_a_folder_that_cannot_be_written_to_costs_one_message(compiled: tuple[Path, str], tmp_path: Path) -> None:
    (tmp_path / "kernels").write_text("a file where the folder should be")
    out, said = answer(probe(OWN, tmp_path))
    assert out == compiled[1]
    (line,) = said.splitlines()
    assert f"nothing can be kept in {tmp_path}" in line


def test_machine_code_of_former_sources_goes_after_some_days(tmp_path: Path) -> None:
    for name, days in (("@long ago", 20), ("@lately", 2), ("henon", 20)):
        (tmp_path / "kernels" / name).mkdir(parents=True)
        (tmp_path / "kernels" / name / "x.bin").touch()
        os.utime(tmp_path / "kernels" / name, (time.time() - days * 86400,) * 2)
    program = "from dynamics.kernel import kernel; print(kernel('i8()')(lambda: 7)())"
    assert answer(probe(program, tmp_path)) == ("7\n", "")
    left = {path.name for path in (tmp_path / "kernels").iterdir()}
    assert {"@lately", "henon"} < left
    assert "@long ago" not in left
    assert len(left) == 3


def test_cac_05_a_kernel_in_the_parent_does_no_harm_to_workers() -> None:
    """Workers are processes of their own, never forks of one that has run a kernel."""
    here = _orbit(0.3)
    found = list(Workers(2).each(_orbit, [(0.3,), (0.3,), (0.31,)], ""))
    assert [value for value, _ in found[:2]] == [here[0]] * 2
    assert found[2][0] != here[0]
    parents = {pid for _, pid in found}
    assert os.getpid() not in parents


def _orbit(x: float) -> tuple[str, int]:
    moving = block(system("henon"), np.full((2, LANES), x), np.tile([[1.4], [0.3]], LANES), 0)
    return run(moving, 30).states[-1, 0, 0].hex(), os.getpid()


DIVERGING = """
import numpy as np
from cache.store import read_sealed
from dynamics.block import block, escape_radius, run
from dynamics.codegen import LANES
from dynamics.registry import system
with np.errstate(all="ignore"):
    for k in (0, 1):
        for steps in (1, 5000):
            moving = block(system("logistic_r4"), np.full((1, LANES), 0.3), np.full((1, LANES), 4.2), k)
            made = run(moving, 30, steps=steps)
            print(made.status[0], made.kept[0])
x, n, radius = 0.3, 0, escape_radius(system("logistic_r4"))
while abs(x) <= radius:
    x, n = 4.2 * x * (1 - x), n + 1
print(n - 1)
"""


def test_cac_08_a_blow_up_stays_visible_with_and_without_the_compiler(compiled: tuple[Path, str]) -> None:
    """x -> 4.2 x (1 - x) from 0.3 leaves the unit interval, and within 5,000 iterates the range of numbers."""
    for flag in ("0", "1"):
        out, _ = answer(probe(DIVERGING, compiled[0], NUMBA_DISABLE_JIT=flag))
        *found, before = out.splitlines()
        assert found == [f"escaped {before}", "blew_up 0"] * 2
