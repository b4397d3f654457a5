"""Reading questions: JSON lines of the ChaosBench-Logic schema or of ours, with what is wrong told line by line."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dynamics.nearest import shown

NEEDED = ("id", "question", "ground_truth", "type")  # of which each is a text
KNOWN = (*NEEDED, "system_id", "template", "name")
UNSCORED = ("provenance", "canary", "goal", "links", "rules", "axioms", "evidence")  # for readers of the data set
SHARED = ("ground_truth", "type", "system_id", "template", "name", "file", "book", "lang", "split", "cluster", "gold3",
          "predicate", "polarity", "form", "role", "negates", "context")  # fmt: skip
ANSWERS = ("TRUE", "FALSE")


class SplitError(ValueError):
    """A split that the questions do not have, in one sentence."""


def in_splits(questions: pd.DataFrame, names: Collection[str]) -> pd.DataFrame:
    """The rows of some splits; all, where none is named. Raises SplitError for one that no row is of."""
    if not names:
        return questions
    known = sorted(set(questions["split"].dropna())) if "split" in questions else []
    for name in names:
        if name not in known:
            there = f"this data set has {', '.join(known)}" if known else "the rows of this data set have no splits"
            raise SplitError(f"--split {shown(name)}: {there}")
    return questions[questions["split"].isin(names)]


@dataclass(frozen=True)
class Fault:
    """What is wrong with a file (`line` is null) or with one of its lines, in one sentence."""

    path: str
    line: int | None
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}{'' if self.line is None else f', line {self.line}'}: {self.sentence}"


def read_questions(path: Path, without: Collection[str] = ()) -> tuple[pd.DataFrame, list[Fault]]:
    """All questions of a file, or of a folder's data/*.jsonl, else its *.jsonl; and what could not be read.

    without : keys that are left out, for large sets are read into memory whole

    The frame has every key that occurs as a column (at least id, question, ground_truth, type, system_id, template,
    name), and `file` and `line`. `name` is the system's, by the row, else by the systems/*.json of a checkout.
    """
    if not path.exists():
        return questions_frame([], {}), [
            Fault(str(path), None, "there is no such file or folder; a .jsonl of questions is needed")
        ]
    files = _files(path)
    if not files:
        return questions_frame([], {}), [
            Fault(str(path), None, "this folder has no .jsonl file, nor has a folder data in it")
        ]
    faults: list[Fault] = []
    seen: dict[str, str] = {}
    rows = (row for file in files for row in _read(file, faults, seen, without))
    return questions_frame(rows, _names(path)), faults


def questions_within(path: Path, items: Mapping[str, dict[str, Any]]) -> tuple[pd.DataFrame, list[Fault]]:
    """The questions that a file of replies carries itself (Predictions.items), as `read_questions` returns them."""
    checked = {name: _row(item | {"id": name}) for name, item in items.items()}
    rows = [row | {"file": str(path), "line": n} for n, row in enumerate(checked.values(), 1) if isinstance(row, dict)]
    if rows:
        return questions_frame(rows, {}), []
    why = next((told for told in checked.values() if isinstance(told, str)), "its rows carry no gold answers")
    return questions_frame([], {}), [
        Fault(str(path), None, f"without --dataset there is nothing to compare with: {why}")
    ]


def digest(path: Path) -> str:
    """The SHA-256 of a file of questions; of a folder as the published benchmark's manifest has it.

    That is of the sorted lines "path:SHA-256:lines" of its files, with paths from the folder on.
    """
    if path.is_file():
        return _sha256(path)[0]
    each = ((file.relative_to(path).as_posix(), *_sha256(file)) for file in _files(path))
    return hashlib.sha256("".join(sorted(f"{name}:{sha}:{lines}\n" for name, sha, lines in each)).encode()).hexdigest()


def _sha256(file: Path) -> tuple[str, int]:
    """A file's SHA-256 and its lines that are not blank, without having it in memory whole."""
    made, lines = hashlib.sha256(), 0
    with file.open("rb") as stream:
        for line in stream:
            made.update(line)
            lines += bool(line.strip())
    return made.hexdigest(), lines


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted((path / "data").glob("*.jsonl")) or sorted(path.glob("*.jsonl"))


def _read(
    file: Path, faults: list[Fault], seen: dict[str, str], without: Collection[str]
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """A file's questions; in the end its faults are added."""
    wrong: list[Fault] = []
    count = 0
    for n, line in json_lines(file):
        count += 1
        row = line if isinstance(line, str) else _row(line)
        if isinstance(row, str):
            wrong.append(Fault(str(file), n, row))
        elif row["id"] in seen:
            told = f"the id {shown(row['id'])} is that of {seen[row['id']]} too; this line is left out"
            wrong.append(Fault(str(file), n, told))
        else:
            seen[row["id"]] = f"{file.name}, line {n}"
            yield {key: value for key, value in row.items() if key not in without} | {"file": str(file), "line": n}
    faults += told_once(file, wrong, count)


def json_lines(file: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Number and object of each line that is not blank, or what is wrong with it."""
    with file.open("rb") as lines:
        for n, line in enumerate(lines, 1):
            text = (line.removeprefix(b"\xef\xbb\xbf") if n == 1 else line).removesuffix(b"\n")
            if text.strip():
                yield n, _object(text)


def told_once(file: Path, wrong: list[Fault], lines: int) -> list[Fault]:
    """The faults of a file's lines; one that holds for each of them is told once, and so is that there are none."""
    if not lines:
        return [Fault(str(file), None, "this file is empty; a JSON object a line is needed")]
    if len(wrong) == lines > 1 and len({fault.sentence for fault in wrong}) == 1:
        return [Fault(str(file), None, f"{wrong[0].sentence}; this holds for each of its {lines} lines")]
    return wrong


def _object(line: bytes) -> dict[str, Any] | str:
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} is not UTF-8"
    except (ValueError, RecursionError) as error:
        return f"this is not JSON ({error})"
    return row if isinstance(row, dict) else f"this is a JSON {type(row).__name__}, not an object"


def _row(row: dict[str, Any]) -> dict[str, Any] | str:
    """A question, or what is wrong with it."""
    missing = [key for key in NEEDED if key not in row]
    if missing:
        return f"a question has the keys {', '.join(NEEDED)}; this has no {', no '.join(missing)}"
    for key in NEEDED:
        if not isinstance(row[key], str) or not row[key].strip():
            return f"{key} is {shown(json.dumps(row[key]))}; a text is needed"
    if row["ground_truth"] not in ANSWERS:
        return f"ground_truth is {shown(row['ground_truth'])}; TRUE or FALSE is needed"
    if not isinstance(row.get("system_id"), str | None):
        return f"system_id is {shown(json.dumps(row['system_id']))}; a text or null is needed"
    return row


def _names(path: Path) -> dict[str, str]:
    """The systems' names in a checkout of ChaosBench-Logic that the path is, or lies in the data folder of."""
    places = [path / "systems", path.parent / "systems", path.parent.parent / "systems"]
    place = next((place for place in places if place.is_dir()), None)
    names: dict[str, str] = {}
    for file in sorted(place.rglob("*.json")) if place else []:
        try:
            row = json.loads(file.read_bytes())
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and isinstance(row.get("system_id"), str) and isinstance(row.get("name"), str):
            names[row["system_id"]] = row["name"]
    return names


def questions_frame(rows: Iterable[dict[str, Any]], names: dict[str, str]) -> pd.DataFrame:
    """Rows as the frame that `read_questions` returns; of a long file no more than a row at a time is kept as such."""
    columns: dict[str, list[Any]] = {key: [] for key in KNOWN}
    known: dict[str, str] = {}  # words that stand in many rows are kept once
    count = 0
    for row in rows:
        for key, value in row.items():
            column = columns.setdefault(key, [])
            column += [None] * (count - len(column))
            column.append(known.setdefault(value, value) if isinstance(value, str) and key in SHARED else value)
        count += 1
    for column in columns.values():
        column += [None] * (count - len(column))
    columns |= {key: columns.pop(key, []) for key in ("file", "line")}  # in the end
    frame = pd.DataFrame({key: pd.Series(column, dtype=object) for key, column in columns.items()})
    frame["line"] = frame["line"].astype(int)
    frame["name"] = [name if isinstance(name, str) else _name(system_id, names)
                     for name, system_id in zip(frame["name"], frame["system_id"], strict=True)]  # fmt: skip
    return frame


def _name(system_id: str | None, names: dict[str, str]) -> str | None:
    return names.get(system_id) if system_id is not None else None
