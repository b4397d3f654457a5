"""Questions about two figures: which one counts, whether either does, and which of two exponents is the larger.

Every question has a partner in the same words with the other answer, and truths follow from the figures as printed and
from bench.conditions.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from bench.conditions import DECIDING, Measurement, Name, says_chaos, valid
from bench.questions import Item, World
from bench.rendering import Frame
from bench.report_items import (
    PASSES,
    Known,
    Made,
    Measured,
    alternating,
    asked,
    each_point,
    evenly,
    meetings,
    mixed,
    pair_name,
    sides,
)  # fmt: skip
from bench.reports import alike, fit, swappable, unfit

CROSS = "cross_indicator"
DISAGREEING: tuple[Name, ...] = ("zero_one_k", "megno_slope")  # a wide interval of an exponent contradicts nothing
EXPONENT: Name = "lyapunov_max"
CLEARLY = 0.002  # by which printed intervals are apart, or overlap

Run = tuple[Measured, Measurement]


def cross_indicator(w: World, count: int, seed: int) -> list[Item]:
    """Two figures that disagree, two that may both not count, and the exponents of two runs."""
    known = sides(w)
    kinds = (_believed, _decided, _larger, _apart)
    return mixed([kind(w, known, np.random.default_rng([seed, n])) for n, kind in enumerate(kinds)], count)


def _believed(w: World, known: Known, rng: np.random.Generator) -> Made:
    """Which of two figures that disagree counts? The same two in either order."""
    frames = alternating(w, "believed", rng)
    for one in each_point(known, rng):
        truth = bool(one.point.truth)
        pairs = [(g, b) for name, other in permutations(DISAGREEING) for g in fit(one.numbers, name)
                 if says_chaos(g) == truth for b in unfit(one.numbers, other) if says_chaos(b) != truth]  # fmt: skip
        if not pairs:
            continue
        good, bad = evenly(pairs, rng)
        frame = next(frames)
        first, second = (
            asked(w, one, frame, shown, valid(shown[0]), frame.text, family=CROSS, template="believed",
                  pair=pair_name(one))
            for shown in ((good, bad), (bad, good))
        )  # fmt: skip
        yield first, second


def _decided(w: World, known: Known, rng: np.random.Generator) -> Made:
    """Does either of two figures count? In one item one does, in the other one of nearly its value does not."""
    frames = alternating(w, "decided", rng)
    for both in meetings(known, rng):
        one, other = (both[int(i)] for i in rng.integers(2, size=2))
        pairs = []
        for name, rest in permutations(DECIDING, 2):
            swaps = [(g, b) for g in fit(one.numbers, name) for b in unfit(other.numbers, name) if swappable(g, b)]
            shared = [(a, b) for a in unfit(one.numbers, rest) for b in unfit(other.numbers, rest) if alike(a, b)]
            if swaps and shared:
                pairs.append((*evenly(swaps, rng), *evenly(shared, rng)))
        if not pairs:
            continue
        good, bad, mine, theirs = evenly(pairs, rng)
        frame, order = next(frames), 1 - 2 * int(rng.integers(2))
        true, false = (
            asked(w, which, frame, shown[::order], truth, frame.text, family=CROSS, template="decided",
                  pair=pair_name(one, other))
            for which, shown, truth in ((one, (good, mine), True), (other, (bad, theirs), False))
        )  # fmt: skip
        yield true, false


def _larger(w: World, known: Known, rng: np.random.Generator) -> Made:
    """Which of two runs has the larger exponent? One run meets a smaller and a larger one, in the same place."""
    frames = alternating(w, "larger", rng)
    for n, (low, middle, high) in enumerate(_triples(known, rng)):
        if _apart_by(low[1], middle[1]) and _apart_by(middle[1], high[1]):
            runs = [(middle, low), (middle, high)] if n // 2 % 2 else [(high, middle), (low, middle)]
            yield _compared(w, runs, next(frames), "larger")


def _apart(w: World, known: Known, rng: np.random.Generator) -> Made:
    """Do the intervals of two runs decide which exponent is larger? One run meets one apart from it, and one not."""
    frames = alternating(w, "apart", rng)
    for n, one in enumerate(each_point(known, rng)):
        mine = fit(one.numbers, EXPONENT)
        if not mine:
            continue
        y = mine[int(rng.integers(len(mine)))]
        points = [m for side in known[str(one.point.system_id)] for m in side if m is not one]
        others = [(m, x) for m in points for x in fit(m.numbers, EXPONENT) if x.length == y.length]
        clear = [(m, x) for m, x in others if _apart_by(x, y) or _apart_by(y, x)]
        vague = [(m, x) for m, x in others if _overlap(x, y)]
        brief = [(m, x) for m in points for x in unfit(m.numbers, EXPONENT)
                 if x.transient == y.transient and _overlap(x, y)]  # fmt: skip
        pool = (vague if n % 3 else brief) or vague or brief
        if clear and pool:
            two = [clear[int(rng.integers(len(clear)))], pool[int(rng.integers(len(pool)))]]
            yield _compared(w, [((one, y), x) if n // 2 % 2 else (x, (one, y)) for x in two], next(frames), "apart")


def _compared(w: World, runs: Sequence[tuple[Run, Run]], frame: Frame, template: str) -> tuple[Item, Item]:
    """TRUE of the first two runs, FALSE of the other two."""
    made = []
    everyone = [one for two in runs for one, _ in two]
    for two, truth in zip(runs, (True, False), strict=True):
        row = asked(w, two[0][0], frame, [m for _, m in two], truth, frame.text, about="runs",
                    runs=("first", "second"), family=CROSS, template=template, pair=pair_name(*everyone))  # fmt: skip
        row["evidence"] |= {"params": [json.loads(one.point.params) for one, _ in two]}
        made.append(row)
    return made[0], made[1]


def _triples(known: Known, rng: np.random.Generator) -> Iterator[Sequence[Run]]:
    """Three points of a system whose exponents were measured alike, from the lowest to the highest."""
    for _ in range(PASSES):
        for both in known.values():
            each = [(m, found[0]) for side in both for m in side if (found := fit(m.numbers, EXPONENT))]
            order = [each[i] for i in rng.permutation(len(each))]
            for three in zip(order[::3], order[1::3], order[2::3], strict=False):
                if len({m.length for _, m in three}) == 1:
                    yield sorted(three, key=lambda pair: pair[1].value)


def _interval(m: Measurement) -> tuple[float, float]:
    """The interval as printed."""
    value, half = round(m.value, 3), round(m.error or 0.0, 3)
    return value - half, value + half


def _apart_by(low: Measurement, high: Measurement) -> bool:
    return _interval(low)[1] + CLEARLY < _interval(high)[0]


def _overlap(a: Measurement, b: Measurement) -> bool:
    (a_lo, a_hi), (b_lo, b_hi) = _interval(a), _interval(b)
    return min(a_hi, b_hi) - max(a_lo, b_lo) >= CLEARLY
