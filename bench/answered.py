"""Answers beside their questions: what was asked, what was answered, and how well one does without knowing anything."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bench import baselines
from bench.answers import ERROR, INVALID, Answer, parsed
from bench.care import CODES, care, standing
from bench.cuc import cuc, pairs
from bench.elicitation import belief
from bench.predictions_file import Predictions

CHEAP = ("predicate", "form")  # baselines that need no fit
ALWAYS = {"always TRUE": 1, "always FALSE": 0}
KEPT = ("id", "type", "split", "book", "hops", "margin", "group", "fact", "pair", "role", "gold3", "truth", "predicate",
        "unit")  # fmt: skip
NAMED = 5  # ids that a message names
MOST_ERRORS = 0.01  # share of failures of the provider, beyond which a run does not count
MOST_CUT = 0.02  # share of truncated replies, beyond which a warning is due


@dataclass(frozen=True)
class Answered:
    """One model's answers to a set of questions.

    table : a row per question and epoch: KEPT, code (bench.care.CODES), reason, belief (P(TRUE), or null) with
        belief_lo, belief_hi and off
    counts : how many are missing, unknown, failed, cut off
    """

    table: pd.DataFrame
    counts: dict[str, Any]

    @property
    def warnings(self) -> list[str]:
        """What should be known before the figures are believed."""
        counts, told = self.counts, []
        if counts["unknown"]:
            told.append(f"{counts['unknown']} replies are to no question that is scored: {_few(counts['unknown_ids'])}")
        if counts["missing"]:
            told.append(f"{counts['missing']} of {counts['questions']} questions have no reply: "
                        f"{_few(counts['missing_ids'])}{self._hint}")  # fmt: skip
        if counts["error_rate"] > MOST_ERRORS:
            told.append(f"the provider failed on {counts['errors']} questions, over 1 %: this run does not count")
        if counts["truncated_rate"] > MOST_CUT:
            told.append(f"{counts['truncated_rate']:.1%} of the replies are truncated, over 2 %: allow more tokens")
        if counts["logprob_faults"]:
            told.append(f"{counts['logprob_faults']} log-probabilities cannot be used: {counts['logprob_fault']}")
        return told

    @property
    def _hint(self) -> str:
        """How to score the splits that were answered, where whole splits were left out."""
        there = {*self.table["split"].dropna()}
        said = {*self.table.loc[self.table["code"] != CODES[None], "split"].dropna()}
        return f"; --split {','.join(sorted(said))} scores what was asked alone" if said < there and said else ""


def _few(ids: Sequence[str]) -> str:
    return ", ".join(ids) + (", .." if len(ids) == NAMED else "")


def questions_to_score(questions: pd.DataFrame) -> pd.DataFrame:
    """The questions with what scores and baselines look at (bench.baselines.described); `unit` numbers the clusters."""
    made = baselines.described(questions)
    made["unit"] = pd.factorize(made["cluster"])[0]
    for key in KEPT:
        if key not in made:
            made[key] = None
    made["predicate"] = made["asked"]
    made["margin"] = pd.to_numeric(made["margin"], errors="coerce")
    return made


def answered(questions: pd.DataFrame, said: Predictions, parser: Callable[..., Answer] = parsed) -> Answered:
    """A model's replies, parsed, beside the questions (of `questions_to_score`)."""
    replies = said.table
    known = replies["id"].isin(questions["id"])
    unknown = replies.loc[~known, "id"].tolist()
    replies = replies[known]
    given = [*zip(replies["response"], replies["finish_reason"], replies["error"], strict=True)]
    known_answers = {reply: parser(*reply) for reply in dict.fromkeys(given)}  # most replies are one word
    answers = [known_answers[reply] for reply in given]
    made = pd.DataFrame({"id": replies["id"], "epoch": replies["epoch"], "reason": [a.reason for a in answers],
                         "code": [CODES[a.value] for a in answers]})  # fmt: skip
    found = [belief(row["top"]) if isinstance(row, dict) else None for row in replies["logprobs"]]
    faults = [x for x in found if isinstance(x, str)]
    made["belief"] = [None if x is None or isinstance(x, str) else (x.lo + x.hi) / 2 for x in found]
    made["belief_lo"] = [None if x is None or isinstance(x, str) else x.lo for x in found]
    made["belief_hi"] = [None if x is None or isinstance(x, str) else x.hi for x in found]
    made["off"] = [None if x is None or isinstance(x, str) else x.off for x in found]
    table = questions[[*KEPT]].merge(made, how="left", on="id")
    table["code"] = table["code"].fillna(CODES[None]).astype(int)
    missing = table.loc[table["code"] == CODES[None], "id"].tolist()
    errors, cut = int((made["code"] == CODES[ERROR]).sum()), int((made["reason"] == "truncated").sum())
    counts = {
        "questions": len(questions), "replies": len(made), "missing": len(missing), "missing_ids": missing[:NAMED],
        "unknown": len(unknown), "unknown_ids": unknown[:NAMED], "errors": errors,
        "error_rate": errors / len(made) if len(made) else 0.0, "invalid": int((made["code"] == CODES[INVALID]).sum()),
        "truncated_rate": cut / len(made) if len(made) else 0.0, "logprob_faults": len(faults),
        "logprob_fault": faults[0] if faults else None,
    }  # fmt: skip
    return Answered(table, counts)


def baseline_tables(questions: pd.DataFrame, every: bool = False, seed: int = 0) -> dict[str, pd.DataFrame]:
    """What baselines answer to the questions, as tables like those of models; why one cannot is a text in its reason.

    The default ones only count; `every` fits the others too, which takes minutes on a large set.
    """
    made: dict[str, pd.DataFrame] = {}
    plain = questions[["id", "type", "group", "fact", "truth", "unit"]]
    for name, value in ALWAYS.items():
        made[name] = plain.assign(code=value)
    for name in baselines.PREDICTORS if every else CHEAP:
        parts = []
        for _, rows in questions.groupby("type", sort=True):
            said = baselines.answers(name, rows.reset_index(drop=True), seed)
            if isinstance(said, str):
                continue
            parts.append(plain.loc[rows.index[~np.isnan(said)]].assign(code=said[~np.isnan(said)].astype(int)))
        if parts:
            made[name] = pd.concat(parts)
    return made


def scores(questions: pd.DataFrame, found: Answered, how: str = "ours", every: bool = False) -> dict[str, Any]:
    """The scores of a model (scores.json) with the baselines beside it, which are asked what it was asked."""
    items, had = pairs(found.table)
    answered_ids = found.table.loc[found.table["code"] != CODES[None], "id"]
    beside = baseline_tables(questions[questions["id"].isin(answered_ids)], every)
    return found.counts | care(found.table, how) | {
        "baselines": {name: standing(table, how) for name, table in beside.items()},
        "pairs": cuc(items, had) if had["asked"] else None,
    }  # fmt: skip
