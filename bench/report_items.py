"""Items that show a report: which points meet, under which frame, and the record of what was shown."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from bench.conditions import SOURCES, Measurement, flaws
from bench.pairs import balanced
from bench.questions import MOST_OF_SYSTEM, REPEATS, Item, World, claims, record
from bench.rendering import Frame
from bench.reports import told, told_evidence
from dynamics.registry import system

PASSES = 4 * REPEATS  # over all points, of which some give no pair

Made = Iterator[tuple[Item, Item]]


@dataclass(frozen=True)
class Measured:
    """A labelled point and its numbers."""

    point: Any
    numbers: Sequence[Measurement]


Known = Mapping[str, tuple[list[Measured], ...]]  # of each system the chaotic points, and the regular ones


def sides(w: World) -> dict[str, tuple[list[Measured], ...]]:
    """The chaotic and the regular points of each system that numbers are known of."""
    found: dict[str, tuple[list[Measured], ...]] = {}
    for point in claims(w, "Chaotic").sort_values(["system_id", "sweep", "value"]).itertuples(index=False):
        if known := w.numbers.get((str(point.system_id), str(point.params))):
            both = found.setdefault(str(point.system_id), ([], []))
            both[0 if point.truth else 1].append(Measured(point, known))
    return {system_id: both for system_id, both in found.items() if all(both)}


def mixed(kinds: Sequence[Made], count: int) -> list[Item]:
    """Pairs of each kind in turn, no fact more than REPEATS times."""
    found: list[Item] = []
    uses: Counter[str] = Counter()
    seen: set[str] = set()
    for turn in zip_longest(*kinds):
        if len(found) >= count:
            break
        for pair in turn:
            if pair is None or len(found) >= count:
                continue
            facts = Counter(row["fact"] for row in pair)
            texts = {row["question"] for row in pair}
            if len(texts) < 2 or texts & seen or any(uses[fact] + n > REPEATS for fact, n in facts.items()):
                continue
            uses.update(facts)
            seen |= texts
            found += pair
    return found[:count]


def meetings(known: Known, rng: np.random.Generator) -> Iterator[tuple[Any, Any]]:
    """Chaotic and regular points of one system, each point as often as the others, all systems in turn."""
    for _ in range(PASSES):
        rounds = []
        for both in known.values():
            orders = [rng.permutation(len(side)) for side in both]
            rounds.append([(both[0][i], both[1][j]) for i, j in zip(*orders, strict=False)])
        for turn in zip_longest(*rounds):
            yield from (pair for pair in turn if pair is not None)


def each_point(known: Known, rng: np.random.Generator) -> Iterator[Measured]:
    """Chaotic and regular points in turn."""
    for pair in meetings(known, rng):
        yield from pair


def alternating(w: World, name: str, rng: np.random.Generator) -> Iterator[Frame]:
    """Frames drawn evenly, affirmative and negating ones in turn."""
    frames = [Frame(**row) for row in w.language.report[name]]
    halves = [[f for f in frames if f.negates == negates] for negates in (False, True)]
    while True:
        for half in halves:
            yield half[int(rng.integers(len(half)))]


def asked(
    w: World, one: Measured, frame: Frame, shown: Sequence[Measurement], truth: bool, question: str,
    *, name: str = "", about: str = "about", runs: Sequence[str] = (), **more: Any,
) -> Item:  # fmt: skip
    """A question under a report on `name` (an unnamed system if not given, of which the record alone says which).

    runs : what stands before each line, for figures of several runs. more : fields of the record.
    """
    report, kind = w.language.report, system(one.point.system_id).kind
    lines = [told(report, m) for m in shown]
    if runs:
        lines = [report[run].format(text=line) for run, line in zip(runs, lines, strict=True)]
    heading = report[about].format(name=report["names"][name or kind], turn=report["turns"][kind],
                                   series=report["series"][kind])  # fmt: skip
    context = "\n".join([heading, *(report["line"].format(text=line) for line in lines), report["counts"]])
    answer = "TRUE" if truth != frame.negates else "FALSE"
    basis = json.loads(one.point.predicates)[one.point.predicate]["basis"]
    made = record(w, one.point, frame, more.pop("family"), f"{context}\n{question}", basis, ground_truth=answer,
                  book="data", context=context)  # fmt: skip
    if not name:  # what figures of an unnamed run show is no fact that one could know of the system
        made["evidence"] |= {"params": made["params"]}
        made |= {"params": {}, "fact": f"{made['fact']}|{made['type']}"}
    rules = sorted({flaw for m in shown for flaw in flaws(m)})
    made["evidence"] |= {"measurements": told_evidence(shown), "rules": {rule: SOURCES[rule] for rule in rules}}
    return made | more


def evenly(pairs: Sequence[tuple[Any, ...]], rng: np.random.Generator) -> tuple[Any, ...]:
    """One of the pairs, each combination of indicators and flaws as likely as another."""
    kinds: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for pair in pairs:
        parts = [m for m in pair if isinstance(m, Measurement)]
        kinds.setdefault(tuple((m.indicator, *flaws(m)) for m in parts), []).append(pair)
    chosen = [*kinds.values()][int(rng.integers(len(kinds)))]
    return chosen[int(rng.integers(len(chosen)))]


def balanced_pairs(
    w: World, known: Known, predicate: str, rng: np.random.Generator
) -> Iterator[tuple[Measured, Measured]]:
    """Points where a predicate is TRUE and where it is FALSE, balanced as those of the family atomic are."""
    numbers = {key_of(m.point): m.numbers for both in known.values() for side in both for m in side}
    table = claims(w, predicate)
    table = table[[key in numbers for key in zip(table["system_id"], table["params"], strict=True)]]
    for _ in range(REPEATS):
        chosen = balanced(table, MOST_OF_SYSTEM, int(rng.integers(2**31)))
        for _, rows in chosen.groupby("pair", sort=True):
            true, false = rows.sort_values("truth", ascending=False).itertuples(index=False)
            yield Measured(true, numbers[key_of(true)]), Measured(false, numbers[key_of(false)])


def key_of(point: Any) -> tuple[str, str]:
    """By which the numbers of a point are known."""
    return str(point.system_id), str(point.params)


def pair_name(*points: Measured) -> str:
    """The name that the two items of a pair share."""
    return "~".join(dict.fromkeys(str(one.point.fact) for one in points))
