"""The wheel and the source archive: built, looked into, installed in a fresh environment, and tried there.

`python -m benchmarks.wheel [FOLDER]` leaves both archives in FOLDER (dist by default); status 1 if anything fails.
"""

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("dynamics", "indicators", "labeling", "bench", "cli", "cache")
TRIED = (["--help"], ["systems"], ["label", "lorenz63"])
Environment = dict[str, str]


def called(command: list[str], cwd: Path, environment: Environment | None = None) -> str:
    """What a command prints; raises CalledProcessError if it fails."""
    done = subprocess.run(command, cwd=cwd, env=environment, check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout


def tracked() -> set[str]:
    """Every file of the packages that the repository holds."""
    return {*called(["git", "ls-files", *PACKAGES], ROOT).split()}


def environment(folder: Path) -> Path:
    """The Python of a new environment."""
    called([sys.executable, "-m", "venv", str(folder)], ROOT)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def installed(python: Path, *what: str) -> None:
    """Install by pip, with the versions of constraints.txt."""
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    called([*pip, "--constraint", str(ROOT / "constraints.txt"), *what], ROOT)


def built(folder: Path, place: Path) -> Path:
    """The wheel, which is made from the source archive as a distributor would; both lie in `place`."""
    python = environment(folder / "builder")
    installed(python, "build")
    called([str(python), "-m", "build", "--outdir", str(place), str(ROOT)], ROOT)
    return max(place.glob("*.whl"), key=lambda path: path.stat().st_mtime)


def missing(wheel: Path) -> set[str]:
    """Files of the packages that the wheel does not hold."""
    with zipfile.ZipFile(wheel) as archive:
        return tracked() - {*archive.namelist()}


def main() -> int:
    """Build, look, install, try."""
    place = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = built(folder, place)
        if lacking := missing(wheel):
            print(f"{wheel.name} lacks {', '.join(sorted(lacking))}")
            return 1
        python = environment(folder / "fresh")
        installed(python, str(wheel))
        clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        clean["CHAOSTRUTH_CACHE"] = str(folder / "cache")
        for arguments in TRIED:
            said = called([str(python.with_name("bench")), *arguments], folder, clean)
            print(f"$ bench {' '.join(arguments)}: {len(said.splitlines())} lines")
        print(said)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
