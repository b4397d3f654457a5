"""Speed against the peers, all in one run.

    python -m benchmarks.speed [WORD ...]

Prints a table and writes docs/benchmarks.md and docs/benchmarks.json; with words, only the rows whose task or peer has
one of them, and nothing is written. The peers live in .venv-peers, which `python -m benchmarks.environment` makes; a
row whose peer is not there is skipped, and says so.
"""

import statistics
import subprocess
import sys

from rich.console import Console

from benchmarks import limit
from benchmarks.environment import FOLDER, interpreter, pinned
from benchmarks.grid import Comparison, comparisons
from benchmarks.pairs import PAIRS, ROOT, Refused, Side, compared, serving
from benchmarks.table import Outcome, machine, markdown, record, rich_table

DOCS = ROOT / "docs"
WIDTH = 220


def main(words: list[str]) -> None:
    told = Console(stderr=True)
    rows: list[tuple[Comparison, Outcome]] = []
    for row in comparisons():
        if words and not any(word in f"{row.name} {row.peer}" for word in words):
            continue
        outcome = outcome_of(row)
        rows.append((row, outcome))
        told.print(f"{row.name}, {row.peer}: {outcome if isinstance(outcome, str) else f'{outcome.ratio:.3g}'}")
    Console(width=WIDTH).print(rich_table(rows))
    if words:
        return
    about = machine(installed()) | {"limit": peak()}
    (DOCS / "benchmarks.md").write_text(markdown(rows, about, PAIRS), encoding="utf-8")
    (DOCS / "benchmarks.json").write_text(record(rows, about), encoding="utf-8")


def outcome_of(row: Comparison) -> Outcome:
    """What was measured, or why it was not."""
    python = sys.executable if row.of_limit else str(interpreter(FOLDER))
    try:
        return compared(Side(sys.executable, *row.ours), Side(python, *row.theirs), row.share)
    except Refused as reason:
        return str(reason)


def peak() -> str:
    """What the core does in 256-bit multiply-adds, and how many a step needs at least."""
    try:
        with serving(Side(sys.executable, "benchmarks.limit:chains", {})) as (server, _):
            seconds = statistics.median(server.ask(run=10)["seconds"] for _ in range(PAIRS))
    except Refused as reason:
        return str(reason)
    rate = limit.CHAIN_INSTRUCTIONS / seconds / 1e9
    with_one, alone = limit.rk4(limit.lorenz_tangent, 6), limit.rk4(limit.lorenz, 3)
    return (
        f"{rate:.2f} multiply-adds of 256 bits per ns; a step of Lorenz (RK4) needs {with_one} instructions with one "
        f"deviation and {alone} without, an iterate of the logistic map 4 and 2"
    )


def installed() -> dict[str, str]:
    """Those of the pinned packages that the peers' environment has, with their versions."""
    code = (
        "import sys\nfrom importlib.metadata import version, PackageNotFoundError\n"
        "for name in sys.argv[1:]:\n try: print(name, version(name))\n except PackageNotFoundError: pass"
    )
    try:
        done = subprocess.run([interpreter(FOLDER), "-c", code, *pinned()], capture_output=True, text=True, check=False)
    except OSError:
        return {}
    return dict(line.split() for line in done.stdout.splitlines())


if __name__ == "__main__":
    main(sys.argv[1:])
