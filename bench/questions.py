"""Questions about regimes: a labelled point, a predicate, a frame around both; every answer has its counterpart.

A question is about one point of a sweep: a system at stated parameters, from a stated state. Only predicates that take
both values among a system's points are asked of it, so what equations or names give away is asked of none:
Deterministic, Random, the two kinds of time, DelaySystem, Forced, Autonomous and HighDimSystem are left out for that
reason. Points are chosen in pairs (bench.pairs); both members of a pair are asked in the same frame, and their answers
differ.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from bench.instances import equation_classes, instances
from bench.pairs import balanced, places
from bench.rendering import Frame, Language, language, printed
from dynamics.energy import ENERGY
from dynamics.registry import system
from dynamics.system import System
from labeling.predicate import NAMES

STRUCTURAL = (
    "Deterministic", "Random", "ContinuousTime", "DiscreteTime", "DelaySystem", "Forced", "Autonomous", "HighDimSystem",
)  # fmt: skip
ASKED = tuple(name for name in NAMES if name not in STRUCTURAL)
OPEN_BOOK = tuple(name for name in ASKED if name not in ("Conservative", "Dissipative"))  # which damping decides
BLOCKS = 80  # of equation classes: the unit of splits, cross-fits and bootstraps
CLEAR = 0.01  # margin from which on a point is no near miss
FACTS = 100  # parts of a range within which a predicate is one fact
REPEATS = 3  # rows outside groups that ask one fact
MOST_OF_SYSTEM = 64  # points of a system and predicate, from which on more are not looked for
LARGEST = 8  # variables of a state that a question can print
KINDS = ("map", "ode", "dde")
Item = dict[str, Any]


@dataclass(frozen=True, eq=False)
class World:
    """What questions are made from: the points that can be asked about, the brackets between them, the predicates."""

    points: pd.DataFrame
    brackets: Sequence[dict[str, Any]]
    language: Language
    asked: Sequence[str] = ASKED


def world(
    points: pd.DataFrame, brackets: Sequence[dict[str, Any]], lang: str = "en", asked: Sequence[str] = ASKED
) -> World:
    """The points of sweeps of systems that a question can state, with what pairs are matched on.

    Left out are variants, whose equations a name does not say, systems of more than LARGEST variables, and points in
    windows between grid points, whose digits would tell. Of points with a column `fresh` those are asked about.
    """
    found = instances(points, brackets)
    known = {i: s for i in found["system_id"].unique() if askable(s := system(i))}
    found = found[found["system_id"].isin(known)].copy()
    ranges = found.groupby(["system_id", "sweep"])["value"]
    found["width"] = ranges.transform("max") - ranges.transform("min")
    if "fresh" in found:  # the others say what the ranges are
        found = found[found["fresh"]].copy()
    own = [known[i].parameters[name] for i, name in zip(found["system_id"], found["sweep"], strict=True)]
    found["distance"] = (found["value"] - np.array(own)).abs() / found["width"]
    found["printed"] = [len(printed(value)) for value in found["value"]]
    found["past"] = [known[i].kind == "dde" for i in found["system_id"]]
    usual = found.groupby(["system_id", "sweep"])["printed"].transform("median")
    found = found[found["printed"] <= usual].copy()
    found["place"] = places(found)
    found["cluster"] = [f"block{blocks()[c]:02d}" for c in found["equation_class"]]
    return World(found.reset_index(drop=True), brackets, language(lang), asked)


def askable(s: System) -> bool:
    """Whether a question can state the system by its name, its parameters and its start."""
    return s.variant_of is None and s.kind in KINDS and s.dimension <= LARGEST


@cache
def blocks() -> dict[str, int]:
    """The block of each equation class, dealt once by a digest of its name."""
    classes = sorted(set(equation_classes().values()), key=lambda name: hashlib.sha256(name.encode()).digest())
    return {name: n % BLOCKS for n, name in enumerate(classes)}


def claims(w: World, predicate: str, *, near: bool = False) -> pd.DataFrame:
    """The points at which a predicate is decided, of systems where it takes both values; clear of brackets, or near."""
    table = w.points[w.points[predicate].isin(["TRUE", "FALSE"])]
    table = table[(table["margin"] < CLEAR) if near else ~(table["margin"] < CLEAR)].copy()
    table["truth"] = table[predicate] == "TRUE"
    both = table.groupby("system_id")["truth"].transform("nunique") == 2
    table = table[both].copy()
    part = (table["value"] * FACTS / table["width"]).round().astype(int).astype(str)
    table["fact"] = table["equation_class"] + "|" + predicate + "|" + table["sweep"] + "|" + part
    table["predicate"] = predicate
    return table.drop_duplicates("fact")


def pairs(w: World, count: int, seed: int) -> list[tuple[Any, Any]]:
    """About `count` pairs of points, one where a predicate is TRUE and one where it is FALSE, spread over predicates.

    No system gives more pairs to a predicate than are needed for that; there may be fewer than `count`.
    """
    share = 2
    while len(found := _pairs_of(w, share, seed)) < count and share <= MOST_OF_SYSTEM:
        share *= 4
    order = np.random.default_rng(seed).permutation(len(found))
    return [found[i] for i in order[:count]]


@lru_cache(maxsize=16)
def _pairs_of(w: World, share: int, seed: int) -> list[tuple[Any, Any]]:
    """The pairs of all predicates, with at most `share` points of one system and predicate."""
    found: list[tuple[Any, Any]] = []
    for table in _tables(w).values():
        rows = balanced(table, share, seed).sort_values(["pair", "truth"], ascending=[True, False])
        points = list(rows.itertuples(index=False))
        found += zip(points[::2], points[1::2], strict=True)
    return found


@lru_cache(maxsize=4)
def _tables(w: World) -> dict[str, pd.DataFrame]:
    tables = {name: claims(w, name) for name in w.asked}
    return {name: table for name, table in tables.items() if len(table)}


def item(w: World, point: Any, frame: Frame, family: str, **more: Any) -> Item:
    """One question about one point, with everything but what makes it a row of a set."""
    params, start = json.loads(point.params), json.loads(point.initial_condition)
    if point.sweep != ENERGY:  # which the start says already
        params.pop(ENERGY, None)
    subject = w.language.system_at(point.system_id, params, start, point.past)
    truth = bool(point.truth) != frame.negates
    measured = json.loads(point.predicates)[point.predicate]
    return {
        "question": w.language.asked(frame, point.predicate, subject), "ground_truth": "TRUE" if truth else "FALSE",
        "type": family, "system_id": point.system_id, "template": frame.form, "params": params,
        "predicate": point.predicate, "cluster": point.cluster, "fact": point.fact, "group": None, "pair": None,
        "role": None, "gold3": None, "negates": "question" if frame.negates else None,
        "polarity": "negative" if frame.negates else "positive", "form": frame.form, "hops": None,
        "systems": [point.system_id], "margin": None if np.isnan(point.margin) else float(point.margin), "premises": [],
        "context": None, "axioms": None, "book": "closed", "lang": w.language.name,
        "evidence": {"regime": point.regime, "basis": measured["basis"], "initial_condition": start,
                     "position": float(point.position)},
    } | more  # fmt: skip


def atomic(w: World, count: int, seed: int, uses: Counter[str] | None = None) -> list[Item]:
    """One predicate of one point, in all frames; half of the questions are denials.

    uses : how many rows ask a fact already; no fact is asked by more than REPEATS.
    """
    rng = np.random.default_rng(seed)
    uses = Counter() if uses is None else uses
    frames = [[f for f in w.language.frames if f.negates == negates] for negates in (False, True)]
    found: list[Item] = []
    chosen = pairs(w, -(-count // 2), seed)
    first = rng.integers(len(w.language.frames), size=len(chosen))
    for turn in range(REPEATS):
        for n, (true, false) in enumerate(chosen):
            side = frames[(n + turn) % 2]
            frame = side[(int(first[n]) + turn // 2) % len(side)]
            if len(found) >= count or max(uses[true.fact], uses[false.fact]) >= REPEATS:
                continue
            uses.update((true.fact, false.fact))
            found += [item(w, point, frame, "atomic", pair=f"{true.fact}~{false.fact}") for point in (true, false)]
    return found[:count]


def paraphrases(w: World, count: int, seed: int) -> list[Item]:
    """Groups of four: a question in two affirmative and two negative paraphrases."""
    rng = np.random.default_rng(seed)
    sides = [[f for f in w.language.paraphrases if f.negates == negates] for negates in (False, True)]
    found: list[Item] = []
    for true, false in pairs(w, -(-count // 8), seed):
        frames = [side[i] for side in sides for i in rng.permutation(len(side))[:2]]
        for point in (true, false):
            group = f"paraphrase|{point.fact}"
            found += [item(w, point, frame, "consistency_paraphrase", group=group) for frame in frames]
    return found[:count]


def perturbations(w: World, count: int, seed: int) -> list[Item]:
    """Groups of four: a question, its denial, one with a sentence that bears on nothing, and the other of the pair."""
    rng = np.random.default_rng(seed)
    plain, denial = (next(f for f in w.language.frames if f.form == form) for form in ("statement", "denial"))
    found: list[Item] = []
    for n, (true, false) in enumerate(pairs(w, -(-count // 4), seed)):
        point, other = (true, false) if n % 2 == 0 else (false, true)
        group = f"perturbation|{point.fact}"
        extra = w.language.distractors[int(rng.integers(len(w.language.distractors)))]
        sentence = extra.format(n=int(rng.integers(2, 10)))
        rows = [item(w, point, plain, "perturbation", group=group, template="plain"),
                item(w, point, denial, "perturbation", group=group, template="negation"),
                item(w, point, plain, "perturbation", group=group, template="distractor"),
                item(w, other, plain, "perturbation", group=group, template="value")]  # fmt: skip
        rows[2]["question"] = w.language.joined(sentence, rows[2]["question"])
        found += rows
    return found[:count]


def misleading(w: World, count: int, seed: int) -> list[Item]:
    """A premise that sounds as if it settled the matter, the same one under both answers."""
    rng = np.random.default_rng(seed)
    found: list[Item] = []
    for true, false in pairs(w, -(-count // 2), seed):
        frame = w.language.frames[int(rng.integers(len(w.language.frames)))]
        lure = w.language.lures[int(rng.integers(len(w.language.lures)))]
        for point in (true, false):
            row = item(w, point, frame, "adversarial_misleading", pair=f"{true.fact}~{false.fact}")
            subject = w.language.system_at(
                point.system_id, row["params"], json.loads(point.initial_condition), point.past
            )
            row["question"] = w.language.joined(lure.format(s=subject), row["question"])
            row["premises"] = [lure]
            found.append(row)
    return found[:count]
