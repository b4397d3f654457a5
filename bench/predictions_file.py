"""Reading what models replied: JSON lines, CSV, our full form, logs of Inspect, samples of lm-evaluation-harness."""

import csv
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from bench.elicitation import answer_position
from bench.questions_file import Fault, json_lines, told_once
from dynamics.nearest import shown

COLUMNS = ("id", "epoch", "response", "finish_reason", "error", "logprobs")
SAME = ("model", "prompt", "dataset_sha256")  # of all rows of a file

Row = dict[str, Any]


@dataclass(frozen=True)
class Predictions:
    """The replies of one file, a row each; what could not be read; and what the file says of its origin.

    table : id, epoch, response, finish_reason, error, logprobs (null, or position and top: (token, log-probability))
    items : by id the row of the question with its gold answer, where the file carries it and it is asked for
    """

    path: Path
    table: pd.DataFrame
    faults: list[Fault]
    origin: dict[str, str]
    items: dict[str, Row] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model's, else the file's."""
        return self.origin.get("model", self.path.stem)


def read_predictions(path: Path, items: bool = True) -> Predictions:
    """The replies of a file of any form, told by its name's end and its first keys; without `items` it needs less."""
    if not path.is_file():
        fault = Fault(str(path), None, "there is no such file; replies as .jsonl, .csv, .json or .eval are needed")
        return Predictions(path, _table([]), [fault], {})
    kinds = {".csv": _csv_rows, ".eval": _inspect_zip, ".json": _inspect_json}
    kept = _Kept(path, items)
    try:
        for n, raw in kinds.get(path.suffix.lower(), _json_rows)(path):
            kept.take(n, raw)
    except (_UnreadableError, csv.Error) as error:
        return Predictions(path, _table([]), [Fault(str(path), None, str(error))], {})
    for name, values in kept.same.items():
        if len(values) > 1:
            told = f"the rows name {len(values)} different values of {name}; a file holds the replies of one run"
            return Predictions(path, _table([]), [Fault(str(path), None, told)], {})
    origin = {name: str(json.loads(*values)) for name, values in kept.same.items() if values}
    return Predictions(path, _table(kept.rows), told_once(path, kept.wrong, kept.count), origin, kept.items)


class _Kept:
    """What is kept of the rows of a file, which are let go one by one: with their questions they are large."""

    def __init__(self, path: Path, with_items: bool) -> None:
        self.path, self.with_items, self.count = path, with_items, 0
        self.rows: list[Row] = []
        self.wrong: list[Fault] = []
        self.items: dict[str, Row] = {}
        self.same: dict[str, set[str]] = {name: set() for name in SAME}
        self._seen: dict[tuple[str, int], int] = {}

    def take(self, n: int, raw: Row | str) -> None:
        """The row of line n, or what is wrong with it."""
        self.count += 1
        row = raw if isinstance(raw, str) else _checked(raw)
        if isinstance(row, str):
            self.wrong.append(Fault(str(self.path), n, row))
            return
        key = row["id"], row["epoch"]
        if key in self._seen:
            again = f"the id {shown(row['id'])} has an answer in line {self._seen[key]} already; this line is left out"
            self.wrong.append(Fault(str(self.path), n, again))
            return
        self._seen[key] = n
        self.rows.append({name: row.get(name) for name in COLUMNS})
        for name in SAME:
            if row.get(name):
                self.same[name].add(json.dumps(row[name], sort_keys=True))
        if self.with_items and isinstance(row.get("item"), dict):
            self.items[row["id"]] = row["item"]


class _UnreadableError(ValueError):
    pass


def _table(rows: Sequence[Row]) -> pd.DataFrame:
    return pd.DataFrame({key: pd.Series([row.get(key) for row in rows], dtype=object) for key in COLUMNS})


def _checked(row: Row) -> Row | str:
    """A row with an id that is a text, an epoch, and a response that is a text or null; or what is wrong."""
    if "id" not in row:
        return "a reply has the keys id and response; this has no id"
    if isinstance(row["id"], bool) or not isinstance(row["id"], (str, int)):
        return f"id is {shown(json.dumps(row['id']))}; a text is needed"
    if "response" not in row and not row.get("error"):
        return "a reply has the keys id and response; this has no response"
    response = row.get("response")
    if not isinstance(response, str | None):
        return f"response is {shown(json.dumps(response))}; a text or null is needed"
    logprobs = row.get("logprobs")
    if isinstance(logprobs, list):  # of one position
        logprobs = {"position": 0, "top": logprobs}
    if isinstance(logprobs, dict) and "top" not in logprobs:  # token: log-probability
        logprobs = {"position": 0, "top": [*logprobs.items()]}
    pairs = logprobs["top"] if isinstance(logprobs, dict) else []
    if not (logprobs is None or isinstance(logprobs, dict)) or not (
        isinstance(pairs, list) and all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs)
    ):
        return "logprobs is neither null nor pairs of a token and its log-probability"
    epoch = row.get("epoch") or 1
    if not isinstance(epoch, int):
        return f"epoch is {shown(json.dumps(epoch))}; a whole number is needed"
    return row | {"id": str(row["id"]), "epoch": epoch, "response": response, "logprobs": logprobs}


def _json_rows(path: Path) -> Iterator[tuple[int, Row | str]]:
    for n, row in json_lines(path):
        if isinstance(row, str):
            yield n, row
        elif "attempts" in row:
            yield n, _full(row)
        elif "doc" in row and "resps" in row:
            yield n, _shaped("lm-evaluation-harness", _harness, row)
        else:
            yield n, row


def _shaped(writer: str, read: Callable[..., Row | str], *parts: Any) -> Row | str:
    """A row of another program's form, or that its values are not of the kinds which that program writes."""
    try:
        return read(*parts)
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        return f"this sample is not as {writer} writes it ({type(error).__name__}: {shown(str(error))})"


def _full(row: Row) -> Row | str:
    """Of a row in the full form the last attempt counts."""
    tries = row["attempts"]
    if not isinstance(tries, list) or not tries or not isinstance(tries[-1], dict):
        return "attempts holds no reply; a list of objects with response, finish_reason and error is needed"
    return row | {key: tries[-1].get(key) for key in ("response", "finish_reason", "error")}


def _harness(row: Row) -> Row | str:
    """A sample of lm-evaluation-harness: a generated text, or the log-probability of each choice as a whole."""
    doc = row["doc"]
    if not isinstance(doc, dict) or "id" not in doc:
        return "the doc of this sample has no id, so that it belongs to no question"
    first = row["resps"][0][0] if row["resps"] and row["resps"][0] else None
    if isinstance(first, str) or first is None:
        chosen = row.get("filtered_resps") or [first]
        return {"id": doc["id"], "response": chosen[0] if isinstance(chosen[0], str) else first, "item": doc}
    asked: Any = row.get("arguments")
    calls: Any = [[*call.values()] for call in asked.values()] if isinstance(asked, dict) else asked
    try:
        pairs = [(str(call[1]).strip(), float(reply[0][0])) for call, reply in zip(calls, row["resps"], strict=True)]
    except (TypeError, ValueError, IndexError, KeyError):
        return "the arguments and resps of this sample do not belong together"
    return {"id": doc["id"], "response": max(pairs, key=lambda pair: pair[1])[0], "logprobs": pairs,
            "item": doc}  # fmt: skip


def _csv_rows(path: Path) -> Iterator[tuple[int, Row | str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _UnreadableError(f"byte {error.start + 1} is not UTF-8") from None
    rows = csv.DictReader(io.StringIO(text, newline=""))
    for raw in rows:
        row: Row = {key: value for key, value in raw.items() if key is not None}
        if row.get("logprobs"):
            try:
                row["logprobs"] = json.loads(row["logprobs"])
            except (ValueError, RecursionError):
                yield rows.line_num, f"logprobs is {shown(row['logprobs'])}, not JSON"
                continue
        row |= {key: row.get(key) or None for key in ("logprobs", "error", "finish_reason")}
        if str(row.get("epoch") or "").isdecimal():
            row["epoch"] = int(row["epoch"])
        yield rows.line_num, row


def _inspect_json(path: Path) -> Iterator[tuple[int, Row | str]]:
    log = _loaded(path.read_bytes(), path.name)
    if not isinstance(log.get("samples"), list):
        raise _UnreadableError("this JSON is no log of Inspect: it has no samples")
    for n, sample in enumerate(log["samples"], 1):
        yield n, _shaped("Inspect", _inspect, sample, log.get("eval"))


def _inspect_zip(path: Path) -> Iterator[tuple[int, Row | str]]:
    with suppress(ImportError):
        import zipfile_zstd  # noqa: F401 - comes with Inspect, and teaches zipfile the compression of its logs
    try:
        with zipfile.ZipFile(path) as log:
            names = sorted(name for name in log.namelist() if name.startswith("samples/") and name.endswith(".json"))
            head = next((name for name in ("header.json", "_journal/start.json") if name in log.namelist()), None)
            run = _loaded(log.read(head), head).get("eval") if head else None
            for n, name in enumerate(names, 1):
                yield n, _shaped("Inspect", _inspect, _loaded(log.read(name), name), run)
    except RuntimeError:  # of zipfile: a compression that it does not know, or a password
        raise _UnreadableError(
            "it cannot be unpacked here; `pip install 'chaostruth[eval]'` or `inspect log convert --to json` helps"
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, struct.error):
        raise _UnreadableError("this is no log of Inspect: it is not a zip file, or a damaged one") from None


def _loaded(content: bytes, name: str) -> Row:
    try:
        row = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _UnreadableError(f"{name} is not JSON ({error})") from None
    if not isinstance(row, dict):
        raise _UnreadableError(f"{name} is a JSON {type(row).__name__}, not an object")
    return row


def _inspect(sample: Row, run: Any) -> Row | str:
    """A sample of an Inspect log; the log-probabilities are those of its first sampled token that spells an answer."""
    run = run if isinstance(run, dict) else {}
    said = (run.get("metadata") or {}) | (run.get("task_args") or {})
    row: Row = {"id": sample.get("id"), "epoch": sample.get("epoch"), "model": run.get("model"),
                "prompt": said.get("prompt"), "dataset_sha256": said.get("dataset_sha256"),
                "item": _inspect_item(sample, run)}  # fmt: skip
    output = sample.get("output") or {}
    error = sample.get("error") or output.get("error")
    if error:
        return row | {"error": str(error.get("message", error)) if isinstance(error, dict) else str(error)}
    choice = (output.get("choices") or [{}])[0]
    content = (choice.get("message") or {}).get("content")
    if isinstance(content, list):  # reasoning and text apart
        content = "".join(part.get("text", "") for part in content if part.get("type") == "text")
    tokens = (choice.get("logprobs") or {}).get("content") or []
    at = answer_position(str(token.get("token")) for token in tokens)
    top = [] if at is None else [[x["token"], x["logprob"]] for x in tokens[at].get("top_logprobs") or []]
    return row | {"response": content, "finish_reason": choice.get("stop_reason"),
                  "logprobs": {"position": at, "top": top} if tokens else None}  # fmt: skip


def _inspect_item(sample: Row, run: Row) -> Row:
    """The question of a sample: its input, its target, and what its metadata says; its family is at least the task."""
    asked = sample.get("input")
    if isinstance(asked, list):  # of messages
        asked = next((one.get("content") for one in reversed(asked) if one.get("role") == "user"), None)
    known = {key: value for key, value in (sample.get("metadata") or {}).items() if value is not None}
    return {"question": asked, "ground_truth": sample.get("target"), "type": run.get("task") or "task"} | known
