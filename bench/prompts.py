"""What a model is asked: prompts as versioned data (prompts.toml), which questions, with what in front or left out."""

import hashlib
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import pandas as pd

from bench import wording
from bench.questions_file import in_splits
from bench.rendering import language

SAID = 200  # characters of a reply that a second question repeats, as published
ABLATIONS = ("name", "params", "premises")
VALUE = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
LISTED = re.compile(r"^[ \t]*- .*\n?", re.MULTILINE)  # premises, rules and figures are listed


class PromptError(ValueError):
    """What cannot be asked, in one sentence."""


@dataclass(frozen=True)
class Prompt:
    """One way to ask, with its decoding; the texts as in prompts.toml."""

    name: str
    version: int
    text: str
    shot: str
    tokens: int
    reasoning_tokens: int
    again: str | None = None
    words: tuple[str, str] = ("TRUE", "FALSE")
    pairs: bool = False

    def asked(self, question: str, shots: str = "") -> str:
        """The whole text for one question."""
        return self.text.strip().replace("{shots}", shots).replace("{question}", question)

    def asked_again(self, text: str, said: str) -> str:
        """The text after an invalid reply."""
        return f"{text}\n\n{(self.again or '').strip().replace('{said}', said[:SAID])}"

    def most_tokens(self, model: str) -> int:
        """How many tokens a model may reply."""
        return self.reasoning_tokens if re.search(_data()["reasoning"], model, re.IGNORECASE) else self.tokens

    def called(self, shots: int, ablate: str | None, tools: str = "") -> str:
        """The name under which replies are kept: those to unlike prompts are not compared."""
        parts = (shots, f"{shots} shots"), (ablate, f"without {ablate}"), (tools, f"tools {tools}")
        return ", ".join([f"{self.name} {self.version}", *(told for given, told in parts if given)])


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((files("bench") / "prompts.toml").read_text("utf-8"))


def temperature(epochs: int) -> float:
    """Of one reply to each question, or of samples."""
    return 0.0 if epochs == 1 else float(_data()["sampling_temperature"])


def prompts() -> dict[str, Prompt]:
    """All prompts by name."""
    tables = {name: row for name, row in _data().items() if isinstance(row, dict)}
    return {name: Prompt(name, **row | {"words": tuple(row.get("words", ("TRUE", "FALSE")))})
            for name, row in tables.items()}  # fmt: skip


def asked_questions(
    questions: pd.DataFrame, prompt: Prompt, families: list[str], limit: int | None, shots: int, ablate: str | None,
    splits: Collection[str] = (),
) -> pd.DataFrame:  # fmt: skip
    """The rows (of bench.answered.questions_to_score) to ask, in the order in which they are asked.

    `question` is what is left of it where something is ablated. The order is that of a digest of each pair or group: so
    a limit draws from all families, holds pairs together, and is part of every larger one. With shots, which come from
    the split train, no row of that split is asked. Raises PromptError, and SplitError of a split that no row is of.
    """
    rows = in_splits(questions, splits)
    known = sorted(set(rows["type"]))
    for name in families:
        if name not in known:
            raise PromptError(f"--families {name}: this data set has {', '.join(known)}")
    if families:
        rows = rows[rows["type"].isin(families)]
    if prompt.pairs:
        rows = rows[_column(rows, "pair").notna() & _column(rows, "role").isin(["phi", "not_phi"])]
        if rows.empty:
            raise PromptError(f"--prompt {prompt.name} asks statements and their negations; these rows hold none")
    if shots:
        rows = rows[_column(rows, "split") != "train"]
    if ablate:
        rows = ablated(rows, ablate)
    if rows.empty:
        raise PromptError("no row of the data set is left to ask")
    keys = _column(rows, "pair").where(_column(rows, "pair").notna(), _column(rows, "group"))
    keys = keys.where(keys.notna(), rows["id"]).astype(str)
    order = keys.map({key: hashlib.sha256(key.encode()).hexdigest() for key in keys.unique()})
    rows = rows.assign(_order=order).sort_values(["_order", "id"], kind="stable").drop(columns="_order")
    return rows if limit is None else rows.head(limit)


def shots_text(questions: pd.DataFrame, prompt: Prompt, count: int) -> str:
    """The examples in front of every question: rows of the split train, TRUE and FALSE by turns, a cluster each."""
    if not count:
        return ""
    rows = questions[_column(questions, "split") == "train"]
    order = [hashlib.sha256(f"shot {row}".encode()).hexdigest() for row in rows["id"]]
    rows = rows.assign(_order=order).sort_values("_order").drop_duplicates("cluster")
    true, false = (rows[rows["ground_truth"] == truth].to_dict("records") for truth in ("TRUE", "FALSE"))
    if min(len(true), len(false)) < (count + 1) // 2:
        raise PromptError(f"--shots {count}: the split train has too few clusters for that, or there is no such split")
    chosen = [(true, false)[i % 2][i // 2] for i in range(count)]
    return "".join(
        prompt.shot.replace("{answer}", prompt.words[row["ground_truth"] != "TRUE"])
        .replace("{question}", row["question"]) for row in chosen
    )  # fmt: skip


def ablated(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """Those rows that have a name, parameters or premises, with "the system", "?", or nothing in their place."""
    if what not in ABLATIONS:
        raise PromptError(f"--ablate {what}: there are {', '.join(ABLATIONS)}")
    if what == "premises":
        texts = [_without_premises(*row) for row in zip(rows["question"], _column(rows, "premises"), strict=True)]
    elif what == "params":
        texts = [_without_values(*row) for row in zip(rows["question"], _column(rows, "params"), strict=True)]
    else:
        texts = [_unnamed(row) for row in rows.to_dict("records")]
    changed = [text != plain for text, plain in zip(texts, rows["question"], strict=True)]
    return rows.assign(question=texts)[changed]


def _unnamed(row: Mapping[Any, Any]) -> str:
    listed = row.get("systems")
    ids = [*wording.systems_of(row["system_id"]), *(listed if isinstance(listed, list) else [])]
    names = {language(row.get("lang") or "en").name_of(one) for one in ids} | {row["name"] or ""} - {""}
    text = str(row["question"])
    for name in sorted(names, key=len, reverse=True):
        bare = re.escape(re.sub(r"^(the|a) ", "", name))
        text = re.sub(rf"(?:\b(?:the|a)\s+)?(?<!\w){bare}(?!\w)(?:\s+(?:system|map)\b)?", "the system", text,
                      flags=re.IGNORECASE)  # fmt: skip
    return re.sub(r"(^|[.?!] )the system", r"\1The system", text)


def _without_values(text: str, params: Any) -> str:
    for name in params if isinstance(params, dict) else ():
        text = re.sub(rf"(?<!\w)({re.escape(name)}\s*=\s*){VALUE}", r"\1?", text)
    return text


def _without_premises(text: str, premises: Any) -> str:
    for part in premises if isinstance(premises, list) else ():  # of logical questions they are formulas, and listed
        text = text.replace(f"{part} ", "") if " " in part else text
    return LISTED.sub("", text).strip()


def _column(rows: pd.DataFrame, name: str) -> pd.Series:
    return rows[name] if name in rows else pd.Series(None, index=rows.index, dtype=object)
