"""Labelled sets against axioms: how many sets test each edge, and which violate it.

A set tests an edge where both sides are decided and one predicts the other. Labels are never bent to fit an axiom: a
violation is a finding about the axiom, or about the label.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pyarrow import ArrowException

from bench.ground_truth import SHIPPED, NoReleaseError, points
from dynamics.nearest import shown
from labeling.axioms import VALUES, Axiom, tested, violations
from labeling.predicate import NAMES

FEWEST = 50  # sets that must test an edge before it is called tested
EXAMPLES = 3


class LabelsError(ValueError):
    """What is wrong with a file of labels, in one sentence."""


class LabelledSet(NamedTuple):
    """A labelled set: its system, and as JSON text its parameters, start and predicates; the values of the 27."""

    system_id: str
    params: str
    initial_condition: str
    values: tuple[str, ...]
    predicates: str

    @property
    def row(self) -> dict[str, Any]:
        """What tells the set from others, and its predicates with their evidence."""
        return {"system_id": self.system_id} | {
            key: json.loads(getattr(self, key)) for key in ("params", "initial_condition", "predicates")
        }


@dataclass(frozen=True)
class Tally:
    """What the sets say of an edge: how many test it, how many violate it, and some of these, of different systems."""

    axiom: Axiom
    tested: int
    violations: int
    examples: tuple[LabelledSet, ...]

    @property
    def enough(self) -> bool:
        """Whether enough sets test the edge to call it tested."""
        return self.tested >= FEWEST


def cross_check(sets: Iterable[LabelledSet], axioms: Sequence[Axiom]) -> list[Tally]:
    """The tally of every axiom. Rows that label one set with the same values count as one."""
    alike: dict[tuple[str, ...], list[LabelledSet]] = defaultdict(list)
    for one in {s[:4]: s for s in sets}.values():
        alike[one.values].append(one)
    tests: dict[str, int] = defaultdict(int)
    against: dict[str, list[LabelledSet]] = defaultdict(list)
    for values, some in alike.items():
        decided = dict(zip(NAMES, values, strict=True))
        for axiom_id in tested(decided, axioms):
            tests[axiom_id] += len(some)
        for axiom_id in violations(decided, axioms):
            against[axiom_id] += some
    return [Tally(a, tests[a.id], len(against[a.id]), _examples(against[a.id])) for a in axioms]


def _examples(found: list[LabelledSet]) -> tuple[LabelledSet, ...]:
    """The first set of each of up to EXAMPLES systems."""
    first: dict[str, LabelledSet] = {}
    for one in found:
        first.setdefault(one.system_id, one)
    return tuple(first.values())[:EXAMPLES]


def labelled_sets(path: Path = SHIPPED) -> list[LabelledSet]:
    """The labelled sets of labels.jsonl, of a sweep's Parquet, or of a folder: a release or a run of `bench label`."""
    if path == SHIPPED or path.is_dir():
        sets = _of_folder(path)
    elif path.suffix == ".parquet":
        sets = _of_table(_table(path), path)
    else:
        sets = [*_of_lines(path)]
    if not sets:
        raise LabelsError(f"{path} holds no labelled rows; `bench label` writes them")
    return sets


def _of_folder(folder: Path) -> list[LabelledSet]:
    if folder == SHIPPED or (folder / "points.parquet").is_file():
        return _of_table(points(folder), folder / "points.parquet")
    parts = [*folder.glob("labels.jsonl"), *sorted(folder.glob("sweeps/*.parquet"))]
    if not parts:
        raise NoReleaseError(f"there is no points.parquet, no labels.jsonl and no sweeps/*.parquet in {folder}")
    return [s for part in parts for s in labelled_sets(part)]


def _of_lines(path: Path) -> Iterator[LabelledSet]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise LabelsError(f"{path} is no text; labels.jsonl, or a .parquet of a sweep, is needed") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield _labelled(json.loads(line))
            except json.JSONDecodeError as error:
                raise LabelsError(f"{path}, line {number}: it is not JSON: {error.msg}") from None
            except (LabelsError, RecursionError) as error:
                raise LabelsError(f"{path}, line {number}: {error}") from None


def _labelled(row: Any) -> LabelledSet:
    needed = {"system_id": str, "params": dict, "predicates": dict}
    for key, kind in needed.items():
        if not (isinstance(row, dict) and isinstance(row.get(key), kind)):
            raise LabelsError(f"it is no labelled row, which has system_id, params and predicates; {key} is missing")
    values = {}
    for name, predicate in row["predicates"].items():
        if not (isinstance(predicate, dict) and predicate.get("value") in VALUES):
            raise LabelsError(f"{shown(name)} has no value, which is one of {', '.join(VALUES)}")
        values[name] = predicate["value"]
    return _set(row["system_id"], _text(row["params"]), _text(row.get("initial_condition")), values,
                _text(row["predicates"]))  # fmt: skip


def _set(system_id: str, params: str, start: str, values: dict[str, str], predicates: str) -> LabelledSet:
    try:
        tested(values, ())  # refuses what is no predicate
    except ValueError as error:
        raise LabelsError(str(error)) from None
    return LabelledSet(system_id, params, start, tuple(values.get(name, "UNDECIDED") for name in NAMES), predicates)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _table(path: Path) -> pd.DataFrame:
    with path.open("rb") as file:  # a file that cannot be opened is a fault of its own
        try:
            return pd.read_parquet(file)
        except (ValueError, OSError, ArrowException) as error:
            raise LabelsError(f"{path} is no Parquet file: {shown(str(error))}") from None


def _of_table(table: pd.DataFrame, path: Path) -> list[LabelledSet]:
    columns = ["system_id", "params", "initial_condition", "predicates"]
    missing = [name for name in [*columns, *NAMES] if name not in table]
    if missing:
        raise LabelsError(f"{path} is no table of labelled rows: it has no column {missing[0]}")
    strange = [name for name in NAMES if not table[name].isin(VALUES).all()]
    if strange:
        raise LabelsError(f"{path}: {strange[0]} has values other than {', '.join(VALUES)}")
    table = table.astype(object).where(table.notna(), "null")  # the label of a system has no start
    values = zip(*(table[name] for name in NAMES), strict=True)
    rows = zip(*(table[name] for name in columns), values, strict=True)
    return [LabelledSet(sid, params, start, given, predicates) for sid, params, start, predicates, given in rows]
