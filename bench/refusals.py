"""Why a set of questions must not be written: what is wrong with it, in sentences that name the rows.

A set is refused if two of its rows contradict each other, if rows that differ in nothing but spelling have different
answers, if a question quotes its answer, if a fact is asked too often, or if what belongs together lies in two splits.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

import pandas as pd

from bench.dataset import INFERENCES, OF_FIGURES
from bench.instances import equation_classes
from bench.questions import CLEAR, REPEATS, Item
from labeling.predicate import NAMES

ANSWER = {"TRUE": re.compile(r"\b(TRUE|True|YES)\b"), "FALSE": re.compile(r"\b(FALSE|False|NO)\b")}
QUOTED = re.compile(r"\b(?:the )?(?:right |correct )?answer (?:is|:)|答案(?:是|：)", re.IGNORECASE)
APART = ("train", "dev", "test", "held_out")  # between which no cluster is shared


class RefusedSetError(ValueError):
    """A set of questions that must not be written."""


def check(rows: Sequence[Item]) -> None:
    """RefusedSetError with the first fault of each kind, if there is any."""
    found = list(faults(rows))
    if found:
        raise RefusedSetError("this set is refused: " + "; ".join(found))


def faults(rows: Sequence[Item]) -> Iterator[str]:
    """A sentence for each kind of fault, with the first rows that show it."""
    table = pd.DataFrame(list(rows)).astype({"group": object, "pair": object, "fact": object})
    table["holds"] = (table["ground_truth"] == "TRUE") ^ (table["negates"] == "question")
    for kind in (_twice, _respelt, _contradictions, _of_one_statement, _quoted, _too_often, _broken):
        yield from kind(table)


def _twice(table: pd.DataFrame) -> Iterator[str]:
    again = table[table["id"].duplicated()]
    if len(again):
        yield f"{len(again)} rows stand there twice, such as {again['id'].iloc[0]}"


def _respelt(table: pd.DataFrame) -> Iterator[str]:
    """Questions that are the same but for case, spaces and punctuation."""
    yield from _differ(table, table["question"].map(spelling), "ground_truth", "differ in spelling alone")


def _contradictions(table: pd.DataFrame) -> Iterator[str]:
    """Rows about one predicate of one point, and those about one fact that are no near misses."""
    about = table[table["predicate"].isin(NAMES) & ~table["type"].isin([*INFERENCES, *OF_FIGURES])]
    starts = about["evidence"].map(lambda evidence: evidence.get("initial_condition"))
    point = about["system_id"] + about["predicate"] + about["params"].map(str) + starts.map(str)
    yield from _differ(about, point, "holds", "say different things about one point")
    clear = about[~(about["margin"].astype(float) < CLEAR)]
    yield from _differ(clear, clear["fact"], "holds", "say different things about one fact")


def _of_one_statement(table: pd.DataFrame) -> Iterator[str]:
    """Items of one set of premises and rules, which has one outcome."""
    logical = table[table["gold3"].notna()]
    if len(logical):
        stated = logical["question"].str.rpartition("\n")[0] + logical["goal"]
        yield from _differ(logical, stated, "gold3", "draw different conclusions from the same statements")


def _differ(table: pd.DataFrame, key: pd.Series, what: str, sentence: str) -> Iterator[str]:
    values = table[what].groupby(key).nunique()
    for shared in values[values > 1].index[:1]:
        ids = table["id"][key == shared]
        yield f"{int((values > 1).sum())} sets of rows {sentence}, such as {ids.iloc[0]} and {ids.iloc[-1]}"


def _quoted(table: pd.DataFrame) -> Iterator[str]:
    says = {answer: table["question"].map(lambda text, p=p: bool(p.search(text))) for answer, p in ANSWER.items()}
    one_sided = says["TRUE"] != says["FALSE"]
    found = table[one_sided | table["question"].map(lambda text: bool(QUOTED.search(text)))]
    if len(found):
        yield f"{len(found)} questions quote an answer, such as {found['id'].iloc[0]}"


def _too_often(table: pd.DataFrame) -> Iterator[str]:
    alone = table[table["group"].isna() & table["fact"].notna()]
    counts = alone["fact"].value_counts()
    if (counts > REPEATS).any():
        yield f"the fact {counts.index[0]} is asked by {counts.iloc[0]} rows outside groups; {REPEATS} are the most"


def _broken(table: pd.DataFrame) -> Iterator[str]:
    """Groups and pairs in two clusters or splits, equation classes in two clusters, clusters in two splits."""
    classes = equation_classes()
    own = table.assign(equation_class=[classes.get(i, i) for i in table["system_id"]],
                       kept=table["split"].where(table["split"].isin(APART), "test"))  # fmt: skip
    for unit, whole in (("group", "cluster"), ("pair", "cluster"), ("group", "split"), ("pair", "split"),
                        ("equation_class", "cluster"), ("cluster", "kept")):  # fmt: skip
        known = own[own[unit].notna()]
        places = known.groupby(unit)[whole].nunique()
        if (places > 1).any():
            torn = places.idxmax()
            yield f"the {unit.replace('_', ' ')} {torn} lies in more than one {whole.replace('kept', 'split')}"


def spelling(text: str) -> str:
    """A text without case, spaces and punctuation, signs and decimal points of numbers excepted."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"(?<!\d)\.|\.(?!\d)|[^\w.+-]|_", "", plain)
