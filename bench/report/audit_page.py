"""The audit as a page: totals, then every finding with its figure, most telling first."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd

from bench.finding import VERDICTS
from bench.report.page import Html, page, table

SHOWN = 40  # rows of a table of findings, beyond which the CSV has the rest
EXAMPLES = 2  # of each kind of fault in the English

MEANINGS = {
    "confirmed": "the answer is that of the labels, or follows from rules that hold",
    "contradicted": "it is not; the figure shows it",
    "definition": "right or wrong by how a word is taken, which the question leaves open",
    "undecidable": "as posed it has no one answer: several attractors coexist, or a parameter is missing",
    "open": "our own measurement does not decide it",
    "malformed": "it compares equal numbers, or cannot be read",
}


def audit_page(
    title: str, questions: pd.DataFrame, systems: pd.DataFrame, made_by: str, shortcuts: Sequence[dict[str, Any]] = (),
    folder: str | None = None,
) -> str:  # fmt: skip
    """The page of an audit, from its tables (see bench.audit), and the rows of its baselines (see bench.baselines).

    folder : where the shared files of a report are; a page that stands alone holds them (bench.report.page).
    """
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{len(questions)} questions. Made by <code>{escape(made_by)}</code>; "
        "<code>questions.csv</code> and <code>systems.csv</code> beside this page have every row.</p>",
        "<h2>Verdicts by family</h2>",
        _counts(questions),
        "<dl>" + "".join(f"<dt><b>{name}</b></dt><dd>{escape(text)}</dd>" for name, text in MEANINGS.items()) + "</dl>",
    ]
    if len(systems):
        wrong = systems[systems["verdict"] == "contradicted"]
        several = systems[systems["verdict"] == "undecidable"]
        parts += [
            "<h2>Truth values of systems</h2>",
            f"<p>{len(wrong)} of {len(systems)} stated values are contradicted, in "
            f"{wrong['system_id'].nunique()} of {systems['system_id'].nunique()} systems; {len(several)} depend on the "
            f"initial condition, in {several['system_id'].nunique()}.</p>",
            _table(wrong, ["system_id", "predicate", "stated", "reason", "figure"], len(wrong)),
            "<h3>Those that depend on the initial condition</h3>",
            _table(several.drop_duplicates("system_id"), ["system_id", "reason"], len(several)),
        ]
    for family in ("regime_transition", "adversarial_nearmiss", "cross_indicator", "indicator_diagnostic"):
        found = questions[(questions["type"] == family) & questions["verdict"].isin(["contradicted", "undecidable"])]
        if family == "adversarial_nearmiss":
            found = found[found["figure"].str.contains(" = ", regex=False)]
        if len(found):
            parts += [
                f"<h2>{family}</h2>",
                _table(found, ["question", "ground_truth", "verdict", "reason", "figure"], SHOWN),
            ]
    inferences = questions[questions["reason"].str.startswith("rests on")]
    if len(inferences):
        first = inferences.drop_duplicates(["type", "reason"]).copy()
        sizes = inferences.groupby(["type", "reason"]).size()
        first["rows"] = [sizes[key] for key in zip(first["type"], first["reason"], strict=True)]
        first = first.sort_values("rows", ascending=False)
        parts += [
            "<h2>Rules that answers rest on</h2>",
            _table(first, ["type", "reason", "rows", "figure"], len(first)),
        ]
    if shortcuts:
        parts += ["<h2>Shortcuts</h2>", "<p>MCC of answers that were learnt on other systems, by family.</p>",
                  _shortcuts(shortcuts)]  # fmt: skip
    parts += ["<h2>What else is wrong with rows</h2>", _notes(questions)]
    return page(title, parts, folder, {} if folder is None else {"All systems": f"{folder}index.html"})


def totals(questions: pd.DataFrame) -> pd.DataFrame:
    """How many rows of each family have each verdict."""
    counts = questions.groupby(["type", "verdict"]).size().unstack(fill_value=0)
    return counts.reindex(columns=list(VERDICTS), fill_value=0)


def kinds_of_notes(questions: pd.DataFrame) -> Counter[str]:
    """How many rows have each kind of note; quoted values are counted by their indicator."""
    return Counter(note.split(" = ")[0] for notes in questions["notes"] for note in notes.split("; ") if note)


def _shortcuts(rows: Sequence[dict[str, Any]]) -> str:
    figures = pd.DataFrame([row for row in rows if row["metric"] == "mcc"])
    wide = figures.pivot(index="family", columns="baseline", values="value").reindex(
        columns=figures["baseline"].unique()
    )
    shown = [[str(family), *("" if pd.isna(x) else format(x, ".3f") for x in row)]
            for family, row in zip(wide.index, wide.to_numpy().tolist(), strict=True)]  # fmt: skip
    return table(["family", *wide.columns], shown)


def _counts(questions: pd.DataFrame) -> str:
    counts = totals(questions)
    counts.loc["all"] = counts.sum()
    rows = [[str(family), *row] for family, row in zip(counts.index, counts.to_numpy().tolist(), strict=True)]
    return table(["family", *counts.columns], rows)


def _table(found: pd.DataFrame, columns: Sequence[str], most: int) -> str:
    rows = found[list(columns)].head(most).astype(str).to_numpy().tolist()
    more = f"<p>{len(found) - most} more in the CSV.</p>" if len(found) > most else ""
    return table([name.replace("_", " ") for name in columns], rows) + more


def _notes(questions: pd.DataFrame) -> str:
    rows = []
    for note, count in kinds_of_notes(questions).most_common():
        having = questions[questions["notes"].str.contains(note, regex=False)]
        examples = "<br>".join(escape(text) for text in having["question"].head(EXAMPLES))
        rows.append([note, count, Html(examples)])
    return table(["what", "rows", "examples"], rows)
