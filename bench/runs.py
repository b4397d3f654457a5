"""The folder of one run of a model: its settings, its replies as they come, and going on where it was stopped.

Each reply is appended to predictions.jsonl when it comes, so that a killed run loses nothing but what it was waiting
for. What a run is about stands in settings.json: replies of other models, prompts, decodings or data never mix.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cache.store import write_whole
from dynamics.nearest import shown

MOST = 60  # characters of a setting that a message repeats
SETTINGS, PREDICTIONS, LOGS = "settings.json", "predictions.jsonl", "logs"

ITEM = ("question", "ground_truth", "type", "system_id", "systems", "name", "predicate", "cluster", "fact", "group",
        "pair", "role", "gold3", "split", "book", "hops", "margin", "lang")  # fmt: skip

Row = dict[str, Any]
Key = tuple[str, int]


class RunError(ValueError):
    """A folder that cannot take this run, in one sentence."""


def item_of(question: Mapping[Any, Any]) -> Row:
    """What a reply's row says of its question, so that it can be scored without the data set."""
    found = {key: question.get(key) for key in ITEM}
    return {key: None if value is None or value != value else value for key, value in found.items()}  # NaN


class Run:
    """A folder that takes replies.

    settings : that of every row stands in it, and --resume needs to be the same
    """

    def __init__(self, folder: Path, settings: Row, resume: bool) -> None:
        self.folder, self.settings = folder, settings
        kept = _settings(folder)
        if kept is not None and not resume:
            raise RunError(f"{folder} holds a run already; --resume goes on with it, and --out names another folder")
        wanted = json.loads(json.dumps(settings))
        if kept is not None and kept != wanted:
            unlike = sorted(key for key in {*kept, *wanted} if kept.get(key) != wanted.get(key))
            told = ", ".join(f"{key[:MOST]} {json.dumps(kept.get(key))[:MOST]}" for key in unlike[:3])
            raise RunError(f"{folder} holds a run with another {told}; --out names another folder")
        self.lines: dict[Key, bytes] = {}
        self.failures: set[Key] = set()
        for row in _rows(folder / PREDICTIONS):
            self._keep(row)
        write_whole(folder / SETTINGS, (json.dumps(settings, indent=1, ensure_ascii=False) + "\n").encode())
        write_whole(self.path, b"".join(self.lines.values()))  # without a line that was cut off
        self._stream = os.open(self.path, os.O_WRONLY | os.O_APPEND)

    @property
    def path(self) -> Path:
        """The file of replies."""
        return self.folder / PREDICTIONS

    def left(self, keys: list[Key]) -> list[Key]:
        """Those without a reply; where the provider failed there is none."""
        return [key for key in keys if key not in self.lines or key in self.failures]

    def record(self, row: Row) -> None:
        """Keep one reply, or that there is none."""
        os.write(self._stream, self._keep(row))  # one write: a line is there wholly, or is the last one

    def finish(self, keys: list[Key]) -> None:
        """Write the replies in the order of the keys, those to others behind them, each once."""
        os.close(self._stream)
        order = {key: n for n, key in enumerate(keys)}
        sorted_keys = sorted(self.lines, key=lambda key: (order.get(key, len(order)), key))
        write_whole(self.path, b"".join(self.lines[key] for key in sorted_keys))

    def _keep(self, row: Row) -> bytes:
        key = row["id"], row["epoch"]
        line = (json.dumps(row, ensure_ascii=False) + "\n").encode(errors="replace")
        self.lines[key] = line
        self.failures.discard(key)
        if row["attempts"][-1]["error"]:
            self.failures.add(key)
        return line


def _settings(folder: Path) -> Row | None:
    try:
        found = json.loads((folder / SETTINGS).read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise RunError(f"{folder / SETTINGS} is damaged; --out names another folder")
    return found


def _rows(path: Path) -> list[Row]:
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []  # what has no line end was cut off
    try:
        rows = [json.loads(line) for line in lines]
        for row in rows:
            hash((row["id"], row["epoch"])), row["attempts"][-1]["error"]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise RunError(f"{path} is damaged ({shown(str(error))}); a run can go on only with whole lines") from None
    return rows
