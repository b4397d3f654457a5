"""A set of questions: families by their sizes, in one book and one language; the same seed gives the same rows."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from bench import logic
from bench.cross_questions import cross_indicator
from bench.indicator_questions import atomic_with_data, indicator_diagnostic
from bench.instances import equation_classes
from bench.near_misses import near_misses
from bench.questions import (
    ASKED,
    CLEAR,
    OPEN_BOOK,
    REPEATS,
    Item,
    World,
    atomic,
    blocks,
    extended,
    misleading,
    paraphrases,
    perturbations,
)
from bench.rendering import printed
from bench.transitions import transitions
from cache.key import source_digest
from dynamics.registry import system_ids
from dynamics.typeset import definitions, equations

Maker = Callable[[World, int, int], list[Item]]
Told = Callable[[str, int], None]

CANARY = "chaostruth-canary-6f1d2c0e-94b7-4b8e-a3f5-2f7c1e90d1aa"
BOOKS = {"closed": ASKED, "open": OPEN_BOOK, "data": ASKED}  # and the predicates that each asks about
SPLITS = (("train", 32), ("dev", 8), ("test", 36), ("held_out", 4))  # blocks of each
NEAR = "near_threshold"  # of test: what lies so close to a bracket that its digits matter
KEYS = (
    "id", "question", "ground_truth", "type", "system_id", "template", "params", "predicate", "cluster", "fact",
    "group", "pair", "role", "gold3", "negates", "polarity", "form", "hops", "systems", "split", "margin", "premises",
    "context", "axioms", "book", "lang", "evidence", "provenance", "canary",
)  # fmt: skip


class TooFewError(ValueError):
    """A family cannot be made as large as asked."""


def inferences(w: World, count: int, seed: int, family: str) -> list[Item]:
    """Items about what follows, with the fields that those about points have."""
    names = {system_id: w.language.name_of(system_id) for system_id in system_ids()}
    classes, block = equation_classes(), blocks()
    empty = {"params": None, "fact": None, "margin": None, "context": None, "book": "closed"}
    made = {"fol_inference": logic.fol_inference, "multi_hop": logic.multi_hop}[family]
    return [
        empty | row | {"cluster": f"block{block[classes[row['system_id']]]:02d}"}
        for row in made(count, seed, names, lang=w.language.name)
    ]


# in the order in which they are made: atomic asks what the others leave
FAMILIES: dict[str, Maker] = {
    "multi_hop": partial(inferences, family="multi_hop"),
    "fol_inference": partial(inferences, family="fol_inference"),
    "consistency_paraphrase": paraphrases,
    "perturbation": perturbations,
    "adversarial_misleading": misleading,
    "adversarial_nearmiss": near_misses,
    "regime_transition": transitions,
    "extended_systems": extended,
    "indicator_diagnostic": indicator_diagnostic,
    "cross_indicator": cross_indicator,
    "atomic": atomic,
}
DATA_BOOK: dict[str, Maker] = {"atomic": atomic_with_data}  # the one family about points that shows figures of them
GROUPED = ("multi_hop", "fol_inference", "consistency_paraphrase", "perturbation", "adversarial_nearmiss")
INFERENCES = ("multi_hop", "fol_inference")  # which say nothing about a point
OF_FIGURES = ("indicator_diagnostic", "cross_indicator")  # which ask what figures show
PRESETS: dict[str, dict[str, int]] = {
    # of ChaosBench-Logic v2 (arXiv 2605.24305, table 1)
    "v2": {
        "atomic": 25_307, "multi_hop": 6_000, "consistency_paraphrase": 4_139, "perturbation": 1_994,
        "fol_inference": 1_758, "indicator_diagnostic": 530, "adversarial_misleading": 500, "adversarial_nearmiss": 478,
        "regime_transition": 68, "cross_indicator": 67, "extended_systems": 45,
    },
    "small": {
        "atomic": 182, "multi_hop": 182, "consistency_paraphrase": 184, "perturbation": 184, "fol_inference": 182,
        "indicator_diagnostic": 182, "adversarial_misleading": 182, "adversarial_nearmiss": 182,
        "regime_transition": 180, "cross_indicator": 180, "extended_systems": 180,
    },
}  # fmt: skip


def questions(
    w: World, sizes: Mapping[str, int], seed: int, book: str = "closed", told: Told | None = None
) -> list[Item]:
    """The rows of all families, in an order that tells nothing; all fields but what `finished` adds.

    told : is called with the name of each family before it is made, and how many rows there are.
    TooFewError says of which family there are fewer than asked, and how many there are.
    """
    uses: Counter[str] = Counter()
    rows: list[Item] = []
    for family, make in (FAMILIES | DATA_BOOK if book == "data" else FAMILIES).items():
        if not (count := sizes.get(family, 0)):
            continue
        if told is not None:
            told(family, len(rows))
        if make is atomic:
            made = atomic(w, count, seed, uses=uses)
        elif family in GROUPED:
            made = make(w, count, seed)
        else:
            made = _within(make(w, count + count // 2, seed), uses, count)
        if len(made) < count:
            raise TooFewError(f"{family}: {count} rows are asked and {len(made)} can be made from this ground truth")
        rows += made
    if book == "open":
        rows = [_with_equations(row, w) for row in rows]
    return [rows[n] for n in np.random.default_rng(seed).permutation(len(rows))]


def _within(rows: Sequence[Item], uses: Counter[str], count: int) -> list[Item]:
    """The first `count` rows, pairs whole, that leave no fact asked more than REPEATS times."""
    found: list[Item] = []
    for _, pair in groupby(rows, key=lambda row: row["pair"]):
        both = list(pair)
        facts = Counter(row["fact"] for row in both)
        if len(found) < count and all(uses[fact] + n <= REPEATS for fact, n in facts.items()):
            uses.update(facts)
            found += both
    return found[:count]


def _with_equations(row: Item, w: World) -> Item:
    """The row with its system's equations before the question; an inference needs none."""
    if row["type"] in INFERENCES or row["book"] == "data" or row["system_id"] in w.own:  # whose names are equations
        return row
    s = w.system(row["system_id"])
    circles = [w.language.subject["circle"].format(name=x, value=printed(size)) for x, size in s.circle.items()]
    lines = "\n".join([*(one.text for one in [*definitions(s), *equations(s)]), *circles])
    name = w.language.name_of(s.id)
    context = w.language.subject["equations"].format(name=name[:1].upper() + name[1:], lines=lines)
    return row | {"question": f"{context}\n\n{row['question']}", "context": context, "book": "open"}


def made_of(release: Path, seed: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The provenance of a set: version, code of the questions, digest of its ground truth, settings and seed."""
    truth = hashlib.sha256(b"".join((release / name).read_bytes() for name in ("points.parquet", "thresholds.jsonl")))
    code = source_digest([Path(str(files("bench")))])
    return {"version": version("chaostruth"), "code": code, "release": truth.hexdigest()[:16],
            "settings": dict(settings), "seed": seed}  # fmt: skip


def finished(rows: Sequence[Item], provenance: Mapping[str, Any]) -> Iterator[Item]:
    """The rows with id (a digest of content), split, provenance and canary, keys in the order of KEYS."""
    near = {_unit(n, row) for n, row in enumerate(rows) if row["margin"] is not None and row["margin"] < CLEAR}
    for n, row in enumerate(rows):
        content = json.dumps([row["question"], row["ground_truth"], row["type"]], ensure_ascii=False)
        split = split_of(row["cluster"])
        if split == "test" and _unit(n, row) in near:
            split = NEAR
        whole = row | {"id": hashlib.sha256(content.encode()).hexdigest()[:16], "split": split,
                       "provenance": dict(provenance), "canary": CANARY}  # fmt: skip
        yield {key: whole[key] for key in (*KEYS, *(key for key in whole if key not in KEYS))}


def _unit(n: int, row: Item) -> str:
    """What stays together in one split: a group, or a pair, or a row alone."""
    return str(row["group"] or row["pair"] or n)


def split_of(cluster: str) -> str:
    """The split that a block belongs to."""
    at = int(cluster.removeprefix("block"))
    for name, size in SPLITS:
        if at < size:
            return name
        at -= size
    raise ValueError(f"{cluster} is none of the blocks")
