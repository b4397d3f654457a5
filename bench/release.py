"""The files of a labelling run: rows as JSON lines and Parquet, thresholds, pictures, and what made them."""

import json
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from bench.report.orbit_diagram import diagram, orbit_diagram
from bench.report.regime_map import regime_map, regimes_of
from cache.results import Results
from cache.store import write_whole
from labeling.labels import Row
from labeling.provenance import provenance
from labeling.settings import Settings
from labeling.sweeps import MapResult, SweepResult, sweep_row
from labeling.thresholds import threshold_row

SMALLEST, QUICK = 19, 6  # levels of zstd: for what is kept in the project, and for what is made again in a minute


def json_lines(rows: Iterable[Row]) -> bytes:
    """One JSON object a line, keys in the rows' order, floats that round-trip; NaN and infinity are refused."""
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()


def write_labels(folder: Path, rows: Iterable[Row]) -> None:
    """labels.jsonl: one row per reference point."""
    write_whole(folder / "labels.jsonl", json_lines(public(row) for row in rows))


def write_certificates(folder: Path, rows: Iterable[Row], results: Iterable[SweepResult]) -> None:
    """certificates.jsonl: what is proved about the sets of reference points and of sweeps, each once."""
    proofs = certificates([*rows, *(p.row for r in results for p in r.points if p.row is not None)])
    write_whole(folder / "certificates.jsonl", json_lines(proofs))


def certificates(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The certificates of rows, each once, in their order."""
    return [*{c["sha256"]: c for row in rows for c in row["certificates"]}.values()]


def public(row: Row) -> Row:
    """A row as it stands in labels.jsonl: of its certificates the checksums alone, by which to find them."""
    return row | {"certificates": [c["sha256"] for c in row["certificates"]]}


def write_thresholds(folder: Path, results: Iterable[SweepResult], settings: Settings) -> None:
    """thresholds.jsonl: one row per bracket."""
    rows = [threshold_row(r.system, bracket, provenance(settings)) for r in results for bracket in r.brackets]
    write_whole(folder / "thresholds.jsonl", json_lines(rows))


def write_sweeps(folder: Path, results: Iterable[SweepResult], settings: Settings) -> None:
    """sweeps.jsonl: one row per sweep, with the smallest window that it would have seen."""
    write_whole(folder / "sweeps.jsonl", json_lines(sweep_row(r, provenance(settings)) for r in results))


def write_sweep(folder: Path, result: SweepResult, pictures: Results) -> None:
    """sweeps/<system>__<parameter>.parquet with the columns of labels.jsonl, and the sweep's picture beside it."""
    stem = f"{result.system.id}__{result.sweep.parameter}"
    rows = [public(p.row) for p in result.points if p.row is not None]
    write_whole(folder / "sweeps" / f"{stem}.parquet", parquet(rows))
    write_whole(folder / "sweeps" / f"{stem}.png", pictures.of(result.system.id, orbit_diagram, diagram(result)))


def write_map(folder: Path, result: MapResult, pictures: Results) -> None:
    """sweeps/<system>__<first>__<second>.parquet with the columns of labels.jsonl, and the map's picture beside it."""
    stem = f"{result.system.id}__{result.first.parameter}__{result.second.parameter}"
    rows = [public(p.row) for p in result.points if p.row is not None]
    write_whole(folder / "sweeps" / f"{stem}.parquet", parquet(rows))
    write_whole(folder / "sweeps" / f"{stem}.png", pictures.of(result.system.id, regime_map, regimes_of(result)))


def parquet(rows: Iterable[Row]) -> bytes:
    """Rows as Parquet: nested values as JSON text, predicate values and indicators also in columns of their own."""
    return packed(pd.DataFrame([flat(row) for row in rows]))


def packed(table: pd.DataFrame, level: int = SMALLEST) -> bytes:
    """A table as Parquet, as small as it gets unless a lower `level` of zstd is given."""
    buffer = BytesIO()
    table.to_parquet(buffer, index=False, compression="zstd", compression_level=level)
    return buffer.getvalue()


def flat(row: Row) -> dict[str, Any]:
    """A row of a table: nested values as JSON text, predicate values and indicators beside it as columns."""
    flat: dict[str, Any] = {
        key: json.dumps(value, ensure_ascii=False, allow_nan=False) if isinstance(value, (dict, list)) else value
        for key, value in row.items()
    }
    flat["period"] = None if row["period"] is None else float(row["period"])
    flat |= {name: predicate["value"] for name, predicate in row["predicates"].items()}
    for name, figures in row["indicators"].items():
        if not isinstance(figures["value"], list):
            flat |= {f"{name}_{part}": figures[part] for part in ("value", "error", "status")}
    return flat
