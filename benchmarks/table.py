"""Results as rows for people and for programs."""

import json
import math
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.grid import Comparison
from benchmarks.pairs import Measured

Outcome = Measured | str  # or why there is none
HEAD = ("task", "peer", "ratio", "range", "goal", "value: ours", "theirs", "trusted", "equal", "first use, s: ours",
        "theirs")  # fmt: skip


def agrees(row: Comparison, got: Measured) -> bool:
    """Whether both values are as near to what is trusted, or to each other, as the row asks."""
    ours, theirs = by_name(got.value_ours), by_name(got.value_theirs)
    known = row.trusted or {name: ours[name] for name in ours}
    return all(abs(side[x] - known[x]) <= row.within for x in known for side in (ours, theirs) if x in side)


def reached(row: Comparison, got: Measured) -> bool:
    return row.goal is None or got.ratio >= row.goal


def by_name(value: Any) -> dict[str, float]:
    return value if isinstance(value, dict) else {"": value}


def cells(row: Comparison, outcome: Outcome) -> list[str]:
    """One row of the table, in the order of HEAD."""
    goal = "" if row.goal is None else f"≥ {figure(row.goal, row)}"
    if isinstance(outcome, str):
        return [row.name, peer(row), "skipped", "", goal, outcome, *[""] * (len(HEAD) - 6)]
    low, high = outcome.spread
    mark = "" if reached(row, outcome) else " (missed)"
    values = ["", "", "", ""]
    if not row.of_limit:
        sides = (outcome.value_ours, outcome.value_theirs, row.trusted)
        values = [*(listed(by_name(x), row.within) for x in sides), "yes" if agrees(row, outcome) else "no"]
    return [
        row.name, peer(row), figure(outcome.ratio, row) + mark, f"{figure(low, row)}–{figure(high, row)}", goal,
        *values,
        f"{outcome.first_ours:.1f}", "" if row.of_limit else f"{outcome.first_theirs:.1f}",
    ]  # fmt: skip


def peer(row: Comparison) -> str:
    parts = [row.note] if row.note else []
    if row.share < 1.0 and not row.of_limit:
        parts.append(f"{row.share:.3g} of the work, scaled up")
    return f"{row.peer} ({'; '.join(parts)})" if parts else row.peer


def figure(ratio: float, row: Comparison) -> str:
    if row.of_limit:
        return f"{100 * ratio:.0f} %"
    return f"{ratio:,.0f}" if ratio >= 99.5 else f"{ratio:.3g}"


def listed(values: dict[str, float], within: float) -> str:
    places = 13 if within < 1e-9 else 5
    return ", ".join(f"{name} {value:.{places}f}".strip() for name, value in values.items())


def rich_table(rows: list[tuple[Comparison, Outcome]]) -> Table:
    table = Table(*HEAD, title="ratio of CPU times, theirs to ours")
    for row, outcome in rows:
        table.add_row(*cells(row, outcome))
    return table


def markdown(rows: list[tuple[Comparison, Outcome]], machine: dict[str, str], pairs: int) -> str:
    about = "\n".join(f"- {name}: {value}" for name, value in machine.items())
    lines = ["| " + " | ".join(cells) + " |" for cells in (HEAD, ["---"] * len(HEAD), *(cells(*row) for row in rows))]
    return HEADING.format(pairs=pairs, about=about) + "\n".join(lines) + "\n"


def record(rows: list[tuple[Comparison, Outcome]], machine: dict[str, str]) -> str:
    """The same as JSON."""
    return json.dumps({"machine": machine, "rows": [entry(*row) for row in rows]}, indent=1, ensure_ascii=False) + "\n"


def entry(row: Comparison, outcome: Outcome) -> dict[str, Any]:
    told: dict[str, Any] = {"task": row.name, "peer": row.peer, "goal": row.goal, "note": row.note}
    if isinstance(outcome, str):
        return told | {"skipped": outcome}
    return told | {
        "ratio": outcome.ratio,
        "ratios": list(outcome.ratios),
        "reached": reached(row, outcome),
        "first_use_seconds": [outcome.first_ours, outcome.first_theirs],
        "values": [outcome.value_ours, outcome.value_theirs],
        "trusted": row.trusted,
        "equal": None if math.isinf(row.within) else agrees(row, outcome),
    }


def machine(peers: dict[str, str]) -> dict[str, str]:
    """Where and with what this was measured."""
    ours = {name: version(name) for name in ("numpy", "scipy", "numba", "llvmlite")}
    return {
        "processor": processor(),
        "threads": "1 on each side, both on the same core",
        "Python": platform.python_version(),
        "ours": ", ".join(f"{name} {v}" for name, v in ours.items()),
        "peers": ", ".join(f"{name} {v}" for name, v in peers.items()),
        "date": date.today().isoformat(),
    }


def processor() -> str:
    info = Path("/proc/cpuinfo")
    found = {}
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())
    name = found.get("model name") or platform.processor() or platform.machine()
    kinds = [kind for kind in ("avx2", "fma", "avx512f") if kind in found.get("flags", "").split()]
    return f"{name}, {', '.join(kinds)}" if kinds else name


HEADING = """\
# Speed, against the peers

Made by `make benchmark`; not to be edited. Every row is a task that our public function and a peer's do in turn, each
in a process of its own, under its own environment, on one thread: ours, theirs, ours, theirs, {pairs} pairs after a
first call. *Ratio* is the peer's CPU time over ours, the median over the pairs, with their *range*. *Equal* says
whether both values are as near to the trusted one (or, where none is known, to each other) as the row's tolerance in
`benchmarks/grid.py` asks. *First use* is CPU time for import, preparation, compilation and one call, from an empty
cache of compiled code on our side; it is in no ratio. Rows *of the limit* give the share that our sweep reaches of
what the core can do in 256-bit multiply-adds, measured in the same pairs (`benchmarks/limit.py` counts the
instructions that the task needs).

{about}

"""
