"""episodes.jsonl: written, read with a clear sentence for what is wrong, and played again."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.games.catalogue import DIFFICULTIES, games
from bench.games.dynamics import DynamicsGame
from bench.games.dynamics_episode import dynamics_episode
from bench.games.episode import NotPlayableError, Recorded, Row, episode
from bench.games.necessity import judged
from bench.games.telling import domains
from bench.games.wrappers import WRAPPERS
from cache.store import write_whole

NEEDED = {
    "id": str, "game": str, "hash": str, "cell": str, "difficulty": int, "seed": int, "wrapper": str, "player": str,
    "status": str, "turns": int, "t_max": int, "n_answers": int, "optimal": dict, "premature": bool, "bits": list,
    "messages": list,
}  # fmt: skip


class EpisodesError(ValueError):
    """A file of episodes cannot be used, in one sentence."""


def write_episodes(path: Path, rows: Sequence[Row]) -> None:
    """One episode a line."""
    write_whole(path, "".join(f"{json.dumps(row)}\n" for row in rows).encode())


def read_episodes(path: Path) -> list[Row]:
    """The episodes of a file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise EpisodesError(f"{path} cannot be read: {error}") from None
    rows = [_row(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise EpisodesError(f"{path} has no episode")
    return rows


def _row(line: str, where: str) -> Row:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise EpisodesError(f"{where} is not JSON") from None
    if not isinstance(row, dict):
        raise EpisodesError(f"{where} is not an object")
    for field, kind in NEEDED.items():
        if not isinstance(row.get(field), kind):
            raise EpisodesError(f"{where} has no {field} of the right kind")
    return row


def replayed(row: Row, over: DynamicsGame | None = None) -> str | None:
    """What is otherwise when the replies of an episode are given again; None if nothing is.

    over : its game, if that is one over dynamics
    """
    if over is not None:
        return _compared(row, dynamics_episode(over, Recorded(row), row["player"], row["seed"]))
    if row["game"] not in games() or row["difficulty"] not in DIFFICULTIES:
        return f"{row['id']}: there is no game {row['game']} at difficulty {row['difficulty']}"
    if row["wrapper"] not in (*WRAPPERS, *domains()):
        return f"{row['id']}: there is no wrapper {row['wrapper']}"
    if games()[row["game"]].instances[row["difficulty"] - 1].hash != row["hash"]:
        return f"{row['id']}: the game has changed since"
    play = (row["game"], row["difficulty"], Recorded(row), row["player"], row["seed"])
    try:
        again = judged(*play) if row["wrapper"] == "necessity" else episode(*play, row["wrapper"])
    except NotPlayableError as error:
        return f"{row['id']}: {error}"
    return _compared(row, again)


def _compared(row: Row, again: Row) -> str | None:
    again = json.loads(json.dumps(again))
    different = [field for field in again if again[field] != row.get(field)]
    return f"{row['id']}: {', '.join(different)} came out otherwise" if different else None
