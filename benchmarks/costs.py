"""CPU time and peak memory of each command: `python -m benchmarks.costs` writes the table of docs/scale.md.

Every command runs in a process of its own, with one job, and anew (`--no-cache` where it keeps results). Status 1 if
one takes more memory than its bound.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.pages import put

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "scale.md"
MAIN = "from cli.main import main; main()"
ANEW = ["--jobs", "1", "--no-cache"]
SMALL, USUAL, LARGE = 400, 800, 2000  # bounds in MB of resident memory
COMMANDS: list[tuple[list[str], int]] = [
    (["systems"], SMALL),
    (["cache"], SMALL),
    (["axioms"], SMALL),
    (["axioms", "--check"], LARGE),
    (["label", "henon", *ANEW], USUAL),
    (["label", "lorenz63", *ANEW], USUAL),
    (["label", "mackey_glass", *ANEW], USUAL),
    (["label", "logistic_r4", "--param", "r=3.4:3.5:128", *ANEW], USUAL),
    (["label", "--recheck", "out/certificates.jsonl"], USUAL),
    (["indicators", "series.csv"], USUAL),
    (["audit", "questions.jsonl"], LARGE),
    (["score", "replies.jsonl", "--dataset", "questions.jsonl"], USUAL),
    (["compare", "replies.jsonl", "others.jsonl", "--dataset", "questions.jsonl"], USUAL),
    (["leaderboard", "models", "--dataset", "questions.jsonl"], USUAL),
    (["baselines", "questions.jsonl"], USUAL),
    (["play", "--game", "set-deductive-01", "--player", "greedy"], USUAL),
    (["play", "--list"], USUAL),
    (["generate", "--family", "atomic=200", "--out", "set"], LARGE),
]


def inputs(folder: Path) -> None:
    """A series of 10^5 values, 1,000 questions on two systems, and replies to them."""
    np.savetxt(folder / "series.csv", np.random.default_rng(0).normal(size=100_000))
    rows = [
        {"id": str(n), "question": f"Is the {name} {what}? ({n})", "ground_truth": "TRUE" if n % 2 else "FALSE",
         "type": "atomic", "system_id": system}
        for n in range(1000)
        for system, name in [[("lorenz63", "Lorenz system"), ("henon", "Henon map")][n % 2]]
        for what in [("chaotic", "periodic", "dissipative")[n % 3]]
    ]  # fmt: skip
    replies = [{"id": row["id"], "response": "TRUE"} for row in rows]
    (folder / "models").mkdir()
    for name, lines in (("questions", rows), ("replies", replies), ("others", replies[:900]), ("models/a", replies)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def cost(arguments: list[str], folder: Path) -> tuple[int, float, float]:
    """Status, seconds of CPU, and peak of resident memory in MB."""
    with (folder / "said").open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, *arguments], cwd=folder, stdout=said, stderr=said,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> int:
    """Measure, write the table, and say by the status whether all stayed within their bounds."""
    table = ["| command | CPU s | peak MB | bound MB |", "|---|---:|---:|---:|"]
    beyond = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs(folder)
        for arguments, bound in COMMANDS:
            begun = time.time()
            status, cpu, peak = cost(arguments, folder)
            shown = " ".join(arg for arg in arguments if arg not in ANEW)
            if status not in (0, 1):
                print(f"{shown}: status {status}\n{(folder / 'said').read_text()[-2000:]}")
                return 1
            beyond += peak > bound
            table.append(f"| `bench {shown}` | {cpu:.1f} | {peak:.0f} | {bound} |")
            print(f"{table[-1]} {time.time() - begun:.0f} s", flush=True)
    put(PAGE, table)
    return 1 if beyond else 0


if __name__ == "__main__":
    raise SystemExit(main())
