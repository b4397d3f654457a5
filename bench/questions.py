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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from bench.conditions import Measurement
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
    own: Mapping[str, System]
    asked: Sequence[str] = ASKED
    numbers: Mapping[tuple[str, str], Sequence[Measurement]] = field(
        default_factory=dict
    )  # of points, if they are known

    def system(self, system_id: str) -> System:
        """A system of the list, or one of the user's own."""
        return self.own.get(system_id) or system(system_id)


def world(
    points: pd.DataFrame,
    brackets: Sequence[dict[str, Any]],
    lang: str = "en",
    own: Sequence[System] = (),
    asked: Sequence[str] = ASKED,
    numbers: Mapping[tuple[str, str], Sequence[Measurement]] | None = None,
) -> World:
    """The points of sweeps of systems that a question can state, with what pairs are matched on.

    numbers : of points, what bench.diagnostics measured.
    own : systems of a user's file (dynamics.registry.systems_in_file), which questions name by their equations.

    Left out are variants, whose equations a name does not say, systems of more than LARGEST variables, and points in
    windows between grid points, whose digits would tell. Of points with a column `fresh` those are asked about.
    """
    found = instances(points, brackets)
    mine = {s.id: s for s in own}
    known = {i: s for i in found["system_id"].unique() if askable(s := mine.get(i) or system(i))}
    found = found[found["system_id"].isin(known)].copy()
    ranges = found.groupby(["system_id", "sweep"])["value"]
    found["width"] = ranges.transform("max") - ranges.transform("min")
    if "fresh" in found:  # the others say what the ranges are
        found = found[found["fresh"]].copy()
    standard = [known[i].parameters[name] for i, name in zip(found["system_id"], found["sweep"], strict=True)]
    found["distance"] = (found["value"] - np.array(standard)).abs() / found["width"]
    found["printed"] = [len(printed(value)) for value in found["value"]]
    found["past"] = [known[i].kind == "dde" for i in found["system_id"]]
    usual = found.groupby(["system_id", "sweep"])["printed"].transform("median")
    found = found[found["printed"] <= usual].copy()
    found["place"] = places(found)
    found["cluster"] = [f"block{_block(c):02d}" for c in found["equation_class"]]
    said = language(lang)
    named = {s.id: said.equations(s) for s in own}
    said = replace(said, names={**said.names, **named})
    return World(found.reset_index(drop=True), brackets, said, mine, asked, numbers or {})


def askable(s: System) -> bool:
    """Whether a question can state the system by its name, its parameters and its start."""
    return s.variant_of is None and s.kind in KINDS and s.dimension <= LARGEST


def _block(name: str) -> int:
    """The block of an equation class; that of a user's own system is dealt by its name alone."""
    return blocks()[name] if name in blocks() else int(hashlib.sha256(name.encode()).hexdigest(), 16) % BLOCKS


@cache
def blocks() -> dict[str, int]:
    """The block of each equation class, dealt once by a digest of its name."""
    classes = sorted(set(equation_classes().values()), key=lambda name: hashlib.sha256(name.encode()).digest())
    return {name: n % BLOCKS for n, name in enumerate(classes)}


def claims(w: World, predicate: str, *, anywhere: bool = False) -> pd.DataFrame:
    """The points at which a predicate is decided, of systems where it takes both values; clear of brackets, or all."""
    table = w.points[w.points[predicate].isin(["TRUE", "FALSE"])]
    table = (table if anywhere else table[~(table["margin"] < CLEAR)]).copy()
    table["truth"] = table[predicate] == "TRUE"
    both = table.groupby("system_id")["truth"].transform("nunique") == 2
    table = table[both].copy()
    part = (table["value"] * FACTS / table["width"]).round().astype(int).astype(str)
    table["fact"] = table["equation_class"] + "|" + predicate + "|" + table["sweep"] + "|" + part
    table["predicate"] = predicate
    return table.drop_duplicates("fact")


def pairs(w: World, count: int, seed: int) -> list[tuple[Any, Any]]:
    """About `count` pairs of points, a predicate TRUE at the one and FALSE at the other, spread over predicates."""
    return paired(_tables(w), count, seed)


def paired(tables: Mapping[str, pd.DataFrame], count: int, seed: int) -> list[tuple[Any, Any]]:
    """About `count` pairs of a TRUE and a FALSE claim of one system, spread over the tables, each balanced in itself.

    tables : of what is asked, its claims with `system_id`, `place` and `truth`. No system gives more pairs to one of
    them than are needed for the count.
    """
    chosen: dict[str, pd.DataFrame] = {}
    growing, share = {name: table for name, table in tables.items() if len(table)}, 2
    while growing:
        more = {name: balanced(table, share, seed) for name, table in growing.items()}
        growing = {name: growing[name] for name, table in more.items() if len(table) > len(chosen.get(name, ()))}
        chosen |= more
        if sum(map(len, chosen.values())) // 2 >= count or share > 4 * MOST_OF_SYSTEM:
            break
        share *= 2
    found: list[tuple[Any, Any]] = []
    for table in chosen.values():
        rows = table.sort_values(["pair", "truth"], ascending=[True, False]).itertuples(index=False)
        found += zip(rows, rows, strict=True)  # a TRUE one, then its partner
    order = np.random.default_rng(seed).permutation(len(found))
    return [found[i] for i in order[:count]]


@lru_cache(maxsize=4)
def _tables(w: World) -> dict[str, pd.DataFrame]:
    tables = {name: claims(w, name) for name in w.asked}
    return {name: table for name, table in tables.items() if len(table)}


def item(w: World, point: Any, frame: Frame, family: str, **more: Any) -> Item:
    """One question about a predicate of one point, with everything but what makes it a row of a set."""
    subject = w.language.system_at(point.system_id, stated(point), json.loads(point.initial_condition), point.past)
    basis = json.loads(point.predicates)[point.predicate]["basis"]
    return record(w, point, frame, family, w.language.asked(frame, point.predicate, subject), basis, **more)


def stated(point: Any) -> dict[str, float]:
    """The parameters of a point that a question states: not the energy that the start says already."""
    params: dict[str, float] = json.loads(point.params)
    return {name: value for name, value in params.items() if name != ENERGY or point.sweep == ENERGY}


def record(w: World, claim: Any, frame: Frame, family: str, question: str, basis: str, **more: Any) -> Item:
    """The fields of a question about one system, in their order; `claim` is a point, or says as much as one."""
    truth = bool(claim.truth) != frame.negates
    return {
        "question": question, "ground_truth": "TRUE" if truth else "FALSE",
        "type": family, "system_id": claim.system_id, "template": frame.form, "params": stated(claim),
        "predicate": claim.predicate, "cluster": claim.cluster, "fact": claim.fact, "group": None, "pair": None,
        "role": None, "gold3": None, "negates": "question" if frame.negates else None,
        "polarity": "negative" if frame.negates else "positive", "form": frame.form, "hops": None,
        "systems": [claim.system_id], "margin": None if np.isnan(claim.margin) else float(claim.margin), "premises": [],
        "context": None, "axioms": None, "book": "closed", "lang": w.language.name,
        "evidence": {"regime": claim.regime, "basis": basis, "initial_condition": json.loads(claim.initial_condition),
                     "position": float(claim.position)},
    } | more  # fmt: skip


def atomic(w: World, count: int, seed: int, family: str = "atomic", uses: Counter[str] | None = None) -> list[Item]:
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
            found += [item(w, point, frame, family, pair=f"{true.fact}~{false.fact}") for point in (true, false)]
    return found[:count]


def extended(w: World, count: int, seed: int) -> list[Item]:
    """Atomic questions about the maps of dysts and the user's own systems, balanced among these alone."""
    joined = w.points["system_id"].str.startswith("dysts_map_") | w.points["system_id"].isin(list(w.own))
    return atomic(replace(w, points=w.points[joined]), count, seed, "extended_systems")


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
