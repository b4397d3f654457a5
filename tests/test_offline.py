"""Nothing but models and clusters is reached through the network; and the command line is there at once."""

import ast
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
OURS = ("dynamics", "indicators", "labeling", "bench", "cli", "cache")
BLOCKED = """
import sys
def refuse(event, args):
    inet = event in ("socket.connect", "socket.bind", "socket.sendto") and isinstance(args[1], tuple)
    if inet or event in ("socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        raise SystemExit("NETWORK " + event)
sys.addaudithook(refuse)
"""
MAIN = "from cli.main import main; main()"
NETWORK = {"socket", "ssl", "http", "urllib", "requests", "httpx", "aiohttp", "ftplib", "openai", "distributed", "ray",
           "inspect_ai", "huggingface_hub", "boto3"}  # fmt: skip
ALLOWED = {  # eval, and play with a model; --backend; a task that runs inside of Inspect
    "bench/models.py", "bench/tasks.py", "bench/tool_calls.py", "labeling/cluster.py", "bench/exports/inspect_task.py",
}  # fmt: skip
COMMANDS = [
    ["--help"], ["--version"], ["systems"], ["systems", "henon", "dysts_lorenz"], ["axioms"],
    ["axioms", "--prove", "Chaotic, ~Bounded"], ["cache"], ["play", "--list"],
    ["play", "--game", "set-deductive-01", "--player", "greedy"], ["label", "logistic_r2_8", "--jobs", "1"],
    ["label", "--recheck", "out/certificates.jsonl"], ["indicators", "series.csv"],
    ["audit", "questions.jsonl"], ["score", "replies.jsonl", "--dataset", "questions.jsonl"],
]  # fmt: skip


def python(code: str, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("offline")
    np.savetxt(place / "series.csv", np.random.default_rng(0).normal(size=500))
    rows = [{"id": str(i), "question": f"Is the Lorenz system {what}?", "ground_truth": "TRUE", "type": "atomic",
             "system_id": "lorenz63"} for i, what in enumerate(("chaotic", "dissipative"))]  # fmt: skip
    (place / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "replies.jsonl").write_text('{"id": "0", "response": "TRUE"}\n{"id": "1", "response": "FALSE"}\n')
    return place


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_reach_nothing(command: list[str], folder: Path) -> None:
    done = python(BLOCKED + MAIN, *command, cwd=folder)
    assert "NETWORK" not in done.stderr
    assert done.returncode in (0, 1), done.stderr  # 1: findings
    assert "Traceback" not in done.stderr


def test_the_block_holds() -> None:
    done = python(BLOCKED + "import socket; socket.create_connection(('127.0.0.1', 9))")
    assert done.stderr.startswith("NETWORK")


def test_only_the_modules_for_models_and_clusters_know_the_network() -> None:
    found = set()
    for path in (path for package in OURS for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in NETWORK for name in names):
                found.add(path.relative_to(ROOT).as_posix())
    assert found <= ALLOWED
    assert "labeling/cluster.py" in found


@pytest.mark.parametrize(("code", "arguments", "limit"), [("import cli.main", [], 0.5), (MAIN, ["--help"], 0.7)])
def test_the_command_line_is_there_at_once(code: str, arguments: list[str], limit: float) -> None:
    """In seconds of CPU, which other programs on the machine do not change; the best of three."""
    taken = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert python(code, *arguments).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(taken) < limit


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    heavy = ("numpy", "pandas", "sympy", "numba", "scipy", "sklearn", "joblib", "matplotlib", "pyarrow")
    done = python(f"import sys, cli.main; print([name for name in {heavy} if name in sys.modules])")
    assert done.stdout.strip() == "[]"
