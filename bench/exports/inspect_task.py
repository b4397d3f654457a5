"""Inspect task of this folder: `inspect eval inspect_task.py --model PROVIDER/NAME -T split=test -T family=atomic`."""

import json
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import accuracy, grouped, match
from inspect_ai.solver import generate, system_message

ROLE = "Answer the question about a dynamical system with exactly one word: TRUE or FALSE."


@task
def chaostruth(split: str = "test", family: str | None = None) -> Task:
    """All questions of a split, or those of one of its families."""
    text = (Path(__file__).parent / "questions.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.split("\n") if line]
    samples = [
        Sample(input=row["question"], target=row["ground_truth"], id=row["id"],
               metadata={key: row[key] for key in ("type", "cluster", "group", "pair", "role", "gold3")})
        for row in rows
        if row["split"] == split and family in (None, row["type"])
    ]  # fmt: skip
    return Task(
        dataset=MemoryDataset(samples, name=f"chaostruth_{split}"),
        solver=[system_message(ROLE), generate()],
        scorer=match(location="any"),
        metrics=[accuracy(), grouped(accuracy(), "type", all=False)],
    )
