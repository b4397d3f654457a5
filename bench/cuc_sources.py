"""Pairs of a statement and its negation from files that a user has: FOLIO (v0.0 and later) and LogiQA 2.0.

FOLIO: Han et al., arXiv 2209.00840, github Yale-LILY/FOLIO; its licence is CC BY-SA 4.0. LogiQA 2.0: Liu et al. 2023,
IEEE/ACM TASLP 31:2947, github csitfun/LogiQA2.0, CC BY-NC-SA 4.0. Nothing of either comes with this package.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from bench.questions_file import Fault, json_lines, questions_frame, told_once

PROMPT = """Premises:
{premises}
Statement: {statement}
Question: Is the statement logically entailed by the premises? Answer YES or NO.
Answer:"""
NEGATED = "It is not the case that {statement}"
FOLIO = {"true": "entailed", "false": "refuted", "uncertain": "neither", "unknown": "neither"}
LOGIQA = {"entailed": "entailed", "not entailed": "not_entailed"}


def is_source(path: Path) -> bool:
    """Whether the first line of a file is one of FOLIO or LogiQA 2.0."""
    if not path.is_file():
        return False
    first = next((row for _, row in json_lines(path)), None)
    return isinstance(first, dict) and "conclusion" in first and "label" in first


def read_pairs(path: Path) -> tuple[pd.DataFrame, list[Fault]]:
    """Two questions for each row of a file, in the form of bench.questions_file.read_questions.

    Rows with the same premises are one cluster. The id is that of the premises and statement, with phi or not_phi.
    """
    rows: list[dict[str, Any]] = []
    wrong: list[Fault] = []
    count = 0
    seen: set[str] = set()
    for n, line in json_lines(path):
        count += 1
        made = line if isinstance(line, str) else _pair(line)
        if isinstance(made, str):
            wrong.append(Fault(str(path), n, made))
        elif made[0]["id"] in seen:
            wrong.append(Fault(str(path), n, "its premises and statement occur before; this line is left out"))
        else:
            seen.add(made[0]["id"])
            rows += [row | {"file": str(path), "line": n} for row in made]
    return questions_frame(rows, {}), told_once(path, wrong, count)


def _pair(row: Mapping[str, Any]) -> list[dict[str, Any]] | str:
    label = str(row.get("label", "")).strip().lower()
    if "premises" in row:
        source, gold, given = "folio", FOLIO.get(label), row["premises"]
        premises = given if isinstance(given, list) else str(given).split("\n")
    else:
        source, gold = "logiqa2", LOGIQA.get(label)
        premises = [*_listed(row.get("major_premise")), *_listed(row.get("minor_premise"))]
    statement = row.get("conclusion")
    if gold is None:
        return f"label is {row.get('label')!r}; {source} has {', '.join(FOLIO if source == 'folio' else LOGIQA)}"
    if not isinstance(statement, str) or not statement.strip() or not premises:
        return "premises and a conclusion are needed"
    premises, statement = [str(p).strip() for p in premises], statement.strip()
    story, item = (_digest(text) for text in ([*premises], [*premises, statement]))
    made = []
    for role, holds in (("phi", "entailed"), ("not_phi", "refuted")):
        text = statement if role == "phi" else NEGATED.format(statement=statement[:1].lower() + statement[1:])
        made.append({
            "id": f"{source}-{item}-{role}",
            "question": PROMPT.format(premises="\n".join(premises), statement=text),
            "ground_truth": "TRUE" if gold == holds else "FALSE", "type": source, "system_id": None, "template": role,
            "cluster": f"{source}-{story}", "pair": f"{source}-{item}", "role": role, "gold3": gold,
            "negates": "hypothesis" if role == "not_phi" else None, "premises": premises,
        })  # fmt: skip
    return made


def _listed(part: Any) -> list[str]:
    return [str(x) for x in part] if isinstance(part, list) else [part] if isinstance(part, str) and part else []


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256(json.dumps([*texts], ensure_ascii=False).encode()).hexdigest()[:12]
