"""The files of a set of questions: JSON lines, Parquet by split with a card, and tasks for two evaluation harnesses."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from bench.baselines import Result
from bench.dataset import CANARY, NEAR, SPLITS
from bench.intervals import Interval
from bench.questions import Item
from bench.release import QUICK, json_lines, packed
from cache.store import write_whole

AS_IT_IS = ("inspect_task.py", "lm_eval.yaml", "lm_eval_data.py")
FOLDER = files("bench") / "exports"
NO_FIGURES = "`bench baselines DIR` measures them; this set has not been measured."


def write_set(folder: Path, rows: Sequence[Item], command: str, measured: Sequence[Result] = ()) -> None:
    """questions.jsonl, data/<split>.parquet, the card README.md, inspect_task.py, lm_eval.yaml and lm_eval_data.py.

    command : that makes this set, as the card states it; measured : its baselines, for the card.
    """
    table = pd.DataFrame(list(rows))
    for split in _splits(table):
        some = table[table["split"] == split]
        write_whole(folder / "data" / f"{split}.parquet", packed(as_columns(some), QUICK))
    for name in AS_IT_IS:
        write_whole(folder / name, (FOLDER / name).read_bytes())
    write_whole(folder / "README.md", card(table, command, measured).encode())
    write_whole(folder / "questions.jsonl", json_lines(rows))


def as_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Rows with nested values as JSON text, and numbers as numbers even where all are missing."""
    flat = table.copy()
    for key in flat:
        if flat[key].map(lambda value: isinstance(value, (dict, list))).any():
            flat[key] = [value if value is None else json.dumps(value, ensure_ascii=False) for value in flat[key]]
    return flat.astype({"margin": "Float64", "hops": "Int64"} | {
        key: "string" for key in flat if key not in ("margin", "hops")
    })  # fmt: skip


def card(table: pd.DataFrame, command: str, measured: Sequence[Result] = ()) -> str:
    """The data card: what the set holds, in figures, and how it is read."""
    made: Mapping[str, Any] = table["provenance"].iloc[0]
    splits = _splits(table)
    return (FOLDER / "card.md").read_text("utf-8").format(
        lang=table["lang"].iloc[0], data_files="\n".join(
            f"  - split: {split}\n    path: data/{split}.parquet" for split in splits
        ),
        rows=len(table), systems=table["system_id"].nunique(), book=table["book"].mode().iloc[0],
        facts=table["fact"].nunique(), clusters=table["cluster"].nunique(), release=made["release"],
        version=made["version"], seed=made["seed"], command=command, canary=CANARY,
        families="\n".join(_line(name, some, "fact") for name, some in table.groupby("type")),
        splits="\n".join(_line(split, table[table["split"] == split]) for split in splits),
        baselines=shortcuts(measured) if measured else NO_FIGURES,
    )  # fmt: skip


def shortcuts(found: Sequence[Result]) -> str:
    """A table of baselines for a card: a row for each family, value and 95 % interval of each baseline."""
    kinds = [*dict.fromkeys(result.baseline for result in found)]
    lines = [f"| family | rows | clusters | {' | '.join(kinds)} |", "|---|---:|---:|" + "---|" * len(kinds)]
    for family in dict.fromkeys(result.family for result in found):
        of = {result.baseline: result.found for result in found if result.family == family}
        first = next(iter(of.values()))
        cells = [_with_interval(of[kind]) if kind in of else "" for kind in kinds]
        lines.append(f"| {family} | {first.n} | {first.n_clusters} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _with_interval(one: Interval) -> str:
    if one.value is None:
        return "-"
    return f"{one.value:.3f}" + ("" if one.lo is None or one.hi is None else f" [{one.lo:.3f}, {one.hi:.3f}]")


def _splits(table: pd.DataFrame) -> list[str]:
    return [name for name in (*(name for name, _ in SPLITS), NEAR) if (table["split"] == name).any()]


def _line(name: object, some: pd.DataFrame, *more: str) -> str:
    true = (some["ground_truth"] == "TRUE").mean()
    counts = [len(some), f"{true:.3f}", some["cluster"].nunique(), *(some[key].nunique() for key in more)]
    return f"| {name} | {' | '.join(map(str, counts))} |"
