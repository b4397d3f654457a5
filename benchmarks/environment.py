"""Makes the environment that the peers live in.

    python -m benchmarks.environment

A peer that cannot be installed, for this Python or at all, is told and left out.
"""

import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.pairs import ROOT

FOLDER = ROOT / ".venv-peers"
LIST = Path(__file__).parent / "peers.txt"


def main() -> None:
    if not interpreter(FOLDER).exists():
        venv.create(FOLDER, with_pip=True)
    if install(["--requirement", str(LIST)]):
        return
    for name, number in pinned().items():
        if not install([f"{name}=={number}"]):
            print(f"{name} {number} cannot be installed here; its comparisons will be skipped", file=sys.stderr)


def install(what: list[str]) -> bool:
    pip = [str(interpreter(FOLDER)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return subprocess.run([*pip, *what], check=False).returncode == 0


def interpreter(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def pinned() -> dict[str, str]:
    """The packages of the list, with their versions."""
    lines = [line.partition("#")[0].strip() for line in LIST.read_text(encoding="utf-8").splitlines()]
    return dict(line.split("==") for line in lines if line)


if __name__ == "__main__":
    main()
