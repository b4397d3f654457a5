"""The ground-truth release: every labelled point and every bracket of all systems, as files that later stages load.

points.parquet has the columns of labels.jsonl, and `sweep`: the parameter along which a point was met, or `reference`,
or `published` (a value that ChaosBench-Logic v2 asks about). thresholds.jsonl and certificates.parquet belong to it.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyarrow import ArrowException

from bench.release import certificates, flat, json_lines, packed, public
from cache.store import write_whole
from dynamics.nearest import shown
from dynamics.registry import system
from dynamics.system import System
from labeling.labels import Row
from labeling.points import CLOSER, judged_points, label
from labeling.provenance import provenance
from labeling.settings import Settings
from labeling.sweeps import SweepResult, sweep_row
from labeling.thresholds import threshold_row
from labeling.workers import Workers

SHIPPED = Path(str(files("labeling"))) / "release"
REFERENCE, PUBLISHED = "reference", "published"
MADE_BY = "bench label --all --variants --sweep --points 32 --release"
MADE_WITHOUT_SWEEPS = "bench label --all --variants --release"
ROUNDING = 1e-9  # relative, beside the half-widths, of numbers that are the same

# what ChaosBench-Logic v2 (arXiv 2605.24305, its files regime_transition and adversarial) asks about, as it states it
ASKED: dict[str, dict[str, Sequence[float]]] = {
    "chua_circuit": {"alpha": (0.0, 4.4462, 8.31, 8.82, 9.0, 9.18, 12.0, 15.6)},
    "duffing_chaotic": {"gamma": (0.0, 0.0775, 0.2402, 0.2744, 0.28, 0.2856, 0.3017, 0.35)},
    "henon": {"a": (0.0, 0.1511, 0.3675, 0.816, 1.0388, 1.06, 1.2652, 1.4, 1.428)},
    "logistic_r4": {"r": (0.0, 0.6829, 3.449, 3.4812, 3.544, 3.5699, 3.7099, 4.0)},
    "lorenz63": {"rho": (0.0, 0.4173, 8.1281, 13.926, 24.06, 24.5412, 24.74, 25.9687, 28.0)},
    "rossler": {"a": (0.0, 0.0678, 0.15, 0.281, 0.2867, 0.2924, 0.3268, 0.35)},
    "vdp": {"mu": (0.0, 0.01, 3.3766, 5.0)},
}
# values of which it asks whether chaos persists where the parameter drops below them
DROPS_BELOW: dict[str, Sequence[float]] = {
    "chua_circuit": (9.0, 12.0, 15.6),
    "duffing_chaotic": (0.28, 0.35),
    "henon": (1.06,),
    "logistic_r4": (3.5699, 4.0),
    "lorenz63": (24.06, 24.74, 28.0),
    "rossler": (0.2867, 0.35),
}
DROP = 0.01  # relative, of the point that stands for "below"


class NoReleaseError(LookupError):
    """There is no release where one was looked for, or a damaged one."""


def published(system: System) -> list[System]:
    """The system at the values that the published benchmark asks about, and just below where it asks for a drop."""
    if system.id not in ASKED:
        return []
    (name, asked), *_ = ASKED[system.id].items()
    return [system.with_values({name: x}) for x in (*asked, *(below(x) for x in DROPS_BELOW.get(system.id, ())))]


def below(value: float) -> float:
    """The point that stands for a parameter that has dropped below a value."""
    return (1 - DROP) * value


def write_release(
    folder: Path, rows: Iterable[Row], results: Sequence[SweepResult], asked: Iterable[Row], settings: Settings
) -> None:
    """points.parquet, thresholds.jsonl, sweeps.jsonl, certificates.parquet and the card README.md.

    A release that the folder holds already keeps what it has of other systems and sweeps, in front of the new.
    """
    met = [(row, REFERENCE) for row in rows]
    met += [(p.row, r.sweep.parameter) for r in results for p in r.points if p.row is not None]
    met += [(row, PUBLISHED) for row in asked]
    lines = [flat(public(row)) | {"sweep": sweep} for row, sweep in met]
    again = {(line["system_id"], line["sweep"]) for line in lines}
    proved = certificates(row for row, _ in met)
    between = [threshold_row(r.system, bracket, provenance(settings)) for r in results for bracket in r.brackets]
    grids = [sweep_row(r, provenance(settings)) for r in results]
    if held(folder):
        kept = [
            r for r in points(folder).astype(object).to_dict("records") if (r["system_id"], r["sweep"]) not in again
        ]
        lines = [*({str(key): _none(value) for key, value in row.items()} for row in kept), *lines]
        needed = {checksum for line in lines for checksum in json.loads(line["certificates"])}
        proved = [*{c["sha256"]: c for c in [*proofs(folder), *proved] if c["sha256"] in needed}.values()]
        between = [*(r for r in brackets(folder) if (r["system_id"], r["parameter"]) not in again), *between]
        grids = [*(r for r in sweeps(folder) if (r["system_id"], r["parameter"]) not in again), *grids]
    table = pd.DataFrame(lines)
    texts = pd.DataFrame({"sha256": [c["sha256"] for c in proved], "certificate": [json.dumps(c) for c in proved]})
    write_whole(folder / "points.parquet", packed(table))
    write_whole(folder / "certificates.parquet", packed(texts))
    write_whole(folder / "thresholds.jsonl", json_lines(between))
    write_whole(folder / "sweeps.jsonl", json_lines(grids))
    write_whole(folder / "README.md", card(table, len(grids), len(between), len(proved)).encode())


def held(folder: Path) -> bool:
    """Whether a folder holds a release; raises NoReleaseError where that is damaged or lacks a file."""
    if not (folder / "points.parquet").is_file():
        return False
    for read in (points, brackets, sweeps, proofs):
        read(folder)
    return True


def rows(sweep: str, folder: Path = SHIPPED) -> list[Row]:
    """The rows met along a sweep, or the `reference` or `published` ones, nested values read."""
    table = points(folder)
    return [_unflattened(row) for row in table[table["sweep"] == sweep].astype(object).to_dict("records")]


def all_rows(folder: Path, system_ids: Collection[str]) -> Iterator[Row]:
    """Every row of some systems, nested values read, with `sweep`."""
    table = points(folder)
    for row in table[table["system_id"].isin(system_ids)].astype(object).to_dict("records"):
        yield _unflattened(row)


def sweeps(folder: Path = SHIPPED) -> list[dict[str, Any]]:
    """All rows about sweeps of a release: range, windows, and the smallest that it would have seen."""
    return _lines(folder / "sweeps.jsonl")


def points(folder: Path = SHIPPED) -> pd.DataFrame:
    """All labelled points of a release, nested values as JSON text."""
    return _table(folder / "points.parquet")


def brackets(folder: Path = SHIPPED) -> list[dict[str, Any]]:
    """All threshold rows of a release."""
    return _lines(folder / "thresholds.jsonl")


def proofs(folder: Path = SHIPPED) -> list[dict[str, Any]]:
    """All certificates of a release."""
    path = folder / "certificates.parquet"
    try:
        return [json.loads(text) for text in _table(path)["certificate"]]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise NoReleaseError(f"{path} is damaged: {shown(str(error))}") from None


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in _there(path).read_text("utf-8").splitlines()]
    except (ValueError, RecursionError) as error:
        raise NoReleaseError(f"{path} is damaged: {shown(str(error))}") from None


def _table(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(_there(path))
    except (ValueError, OSError, ArrowException) as error:
        raise NoReleaseError(f"{path} is damaged: {shown(str(error))}") from None


def _there(path: Path) -> Path:
    if not path.is_file():
        raise NoReleaseError(f"there is no {path.name} in {path.parent}; `{MADE_BY} {path.parent}` makes a release")
    return path


def card(table: pd.DataFrame, sweeps: int, thresholds: int, certificates: int) -> str:
    """The release's README: what it holds, in figures."""
    made = json.loads(table["provenance"].iloc[0])
    command = MADE_BY if (~table["sweep"].isin([REFERENCE, PUBLISHED])).any() else MADE_WITHOUT_SWEEPS
    counts = table["regime"].value_counts()
    chaotic = table["Chaotic"].value_counts()
    decided = int(chaotic.get("TRUE", 0) + chaotic.get("FALSE", 0))
    regimes = "\n".join(f"| {regime} | {count} |" for regime, count in counts.items())
    return f"""\
# Ground truth of Chaostruth

{len(table)} labelled points of {table["system_id"].nunique()} systems and variants, {sweeps} sweeps,
{thresholds} brackets, {certificates} certificates. Version {made["version"]}, seed {made["seed"]}.
Chaotic is decided at {decided} points, TRUE at {int(chaotic.get("TRUE", 0))} of them.

- `points.parquet`: a row per point, with the columns of `labels.jsonl` and `sweep`, the parameter along which the point
  was met, `reference` or `published`. Nested values are JSON text.
- `thresholds.jsonl`: a row per bracket.
- `sweeps.jsonl`: a row per sweep, with its range and the smallest window that it would have seen.
- `certificates.parquet`: `sha256` and the certificate's line, which `bench label --recheck` proves again.

| regime | points |
|---|---:|
{regimes}

Made by `{command} DIR`.
`bench label --verify N --release DIR` recomputes N of its points and compares.
Data licence: CC BY 4.0. Authors: the Chaostruth authors.
"""


@dataclass(frozen=True)
class Comparison:
    """A row labelled again: whether it is the same to the last bit, and what differs by more than its error bars."""

    identical: bool
    beyond: tuple[str, ...]


def drawn(count: int, seed: int, folder: Path = SHIPPED) -> list[Row]:
    """Random rows of a release, nested values read."""
    table = points(folder)
    chosen = table.sample(min(count, len(table)), random_state=seed).sort_index()
    try:
        return [_unflattened(row) for row in chosen.astype(object).to_dict("records")]
    except (ValueError, RecursionError) as error:
        raise NoReleaseError(f"{folder / 'points.parquet'} is damaged: {shown(str(error))}") from None


def recomputed(row: Row) -> Comparison:
    """A row of a release labelled anew, and compared.

    Provenance is left out, and of points of a sweep the attractors that were carried to them from others. On another
    processor rounding differs, so there numbers may differ within the sum of their half-widths; regimes, periods and
    predicates must be the same.
    """
    made, s = row["provenance"], system(row["system_id"])
    settings = Settings(**made["settings"], seed=made["seed"])
    if row["sweep"] in (REFERENCE, PUBLISHED):  # whose provenance has the settings that `label` raised
        settings = replace(settings, dimension_points=settings.dimension_points // CLOSER)
        return compared(row, public(label(s.with_values(row["params"]), settings)), ["provenance"])
    (point,) = judged_points(s, [{row["sweep"]: row["params"][row["sweep"]]}], settings, Workers())
    assert point.row is not None
    return compared(row, public(point.row), ["provenance", "attractors"])


def compared(row: Row, again: Row, left_out: Sequence[str] = ()) -> Comparison:
    """Two labels of one point: the same keys are looked at, but those left out."""
    keys = [key for key in again if key not in left_out]
    if all(row[key] == again[key] for key in keys):
        return Comparison(True, ())
    beyond = [f"{key} was {row[key]} and is {again[key]}" for key in ("regime", "period") if row[key] != again[key]]
    for name, predicate in again["predicates"].items():
        if row["predicates"][name]["value"] != predicate["value"]:
            beyond.append(f"{name} was {row['predicates'][name]['value']} and is {predicate['value']}")
    for name, figures in again["indicators"].items():
        old = row["indicators"][name]
        if _apart(old, figures):
            beyond.append(f"{name} was {_shown(old)} and is {_shown(figures)}")
    return Comparison(False, tuple(beyond))


def _apart(old: Row, new: Row) -> bool:
    if (old["value"] is None) != (new["value"] is None):
        return True
    if new["value"] is None:
        return bool(old["status"] != new["status"])
    a, b, e, f = (
        np.atleast_1d(np.array(x, dtype=float)) for x in (old["value"], new["value"], old["error"], new["error"])
    )
    return a.shape != b.shape or bool((np.abs(a - b) > e + f + ROUNDING * (np.abs(a) + np.abs(b))).any())


def _shown(figures: Row) -> str:
    return str(figures["status"]) if figures["value"] is None else f"{figures['value']} +- {figures['error']}"


def _unflattened(row: Mapping[Any, Any]) -> Row:
    """A row of a table as it stood in labels.jsonl, with `sweep`."""
    return {key: json.loads(value) if isinstance(value, str) and value[:1] in ("{", "[") else _none(value)
            for key, value in row.items()}  # fmt: skip


def _none(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value
