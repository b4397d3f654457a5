"""The folder of one run of a model: its settings, its replies as they come, and going on where it was stopped.

Each reply is appended to predictions.jsonl when it comes, so that a killed run loses nothing but what it was waiting
for. What a run is about stands in settings.json: replies of other models, prompts, decodings or data never mix.
"""

import json
import os
from collections.abc import Iterator, Mapping
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
        self.places: dict[Key, tuple[int, int]] = {}  # where in the file each reply begins, and its length
        self.failures: set[Key] = set()
        self._end = 0
        for row, length in _rows(self.path):
            self._keep(row, length)
        write_whole(folder / SETTINGS, (json.dumps(settings, indent=1, ensure_ascii=False) + "\n").encode())
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        os.ftruncate(self._file, self._end)  # a line that was cut off

    @property
    def path(self) -> Path:
        """The file of replies."""
        return self.folder / PREDICTIONS

    def left(self, keys: list[Key]) -> list[Key]:
        """Those without a reply; where the provider failed there is none."""
        return [key for key in keys if key not in self.places or key in self.failures]

    def record(self, row: Row) -> None:
        """Keep one reply, or that there is none."""
        line = (json.dumps(row, ensure_ascii=False) + "\n").encode(errors="replace")
        os.write(self._file, line)  # one write: a line is there wholly, or is the last one
        self._keep(row, len(line))

    def finish(self, keys: list[Key]) -> None:
        """Write the replies in the order of the keys, those to others behind them, each once."""
        order = {key: n for n, key in enumerate(keys)}
        places = sorted(self.places.items(), key=lambda pair: (order.get(pair[0], len(order)), pair[0]))
        write_whole(self.path, (os.pread(self._file, length, start) for _, (start, length) in places))
        os.close(self._file)

    def _keep(self, row: Row, length: int) -> None:
        key = row["id"], row["epoch"]
        self.places[key] = self._end, length
        self._end += length
        self.failures.discard(key)
        if row["attempts"][-1]["error"]:
            self.failures.add(key)


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


def _rows(path: Path) -> Iterator[tuple[Row, int]]:
    """Each whole line and its length; what has no line end was cut off."""
    if not path.exists():
        return
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                return
            try:
                row = json.loads(line)
                hash((row["id"], row["epoch"])), row["attempts"][-1]["error"]
            except (ValueError, TypeError, LookupError, RecursionError) as error:
                told = f"{path} is damaged ({shown(str(error))}); a run can go on only with whole lines"
                raise RunError(told) from None
            yield row, len(line)
