"""Questions that show indicators and ask about the motion, or what a single one of them can show.

Every question has a partner in the same words with the other answer. Truths about the motion are the labels; truths
about figures follow from the figures as printed and from the rules of bench.conditions.
"""

import json

import numpy as np

from bench.conditions import Measurement, Name, says_chaos
from bench.questions import Item, World, item
from bench.rendering import Frame
from bench.report_items import (
    Known,
    Made,
    Measured,
    alternating,
    asked,
    balanced_pairs,
    evenly,
    meetings,
    mixed,
    pair_name,
    sides,
)  # fmt: skip
from bench.reports import Composer, fit, swappable, told_evidence, unfit
from dynamics.registry import system

DIAGNOSTIC, ATOMIC = "indicator_diagnostic", "atomic"
PREDICATES = ("Chaotic", "PosLyap")
ALONE: tuple[Name, ...] = ("zero_one_k", "megno_slope")  # the exponent is never shown alone


def indicator_diagnostic(w: World, count: int, seed: int) -> list[Item]:
    """Reports on unnamed systems, single figures, and what a proper measurement of a named system would give."""
    known = sides(w)
    kinds = (_motions, _alone, _motions, _expected)
    return mixed([kind(w, known, np.random.default_rng([seed, n])) for n, kind in enumerate(kinds)], count)


def atomic_with_data(w: World, count: int, seed: int) -> list[Item]:
    """A predicate of one point of a named system, with a report on it."""
    known = sides(w)
    made = [_named(w, known, predicate, np.random.default_rng([seed, n])) for n, predicate in enumerate(PREDICATES)]
    return mixed(made, count)


def _motions(w: World, known: Known, rng: np.random.Generator) -> Made:
    """Is the motion chaotic? Several figures, of which one that decides counts."""
    composer, frames = Composer(rng), alternating(w, "motion", rng)
    for both in meetings(known, rng):
        shown = composer.pair(both[0].numbers, both[1].numbers)
        if not shown:
            continue
        frame = next(frames)
        true, false = (
            asked(w, one, frame, side, bool(one.point.truth), frame.text, family=DIAGNOSTIC, template="motion",
                  pair=pair_name(*both))
            for one, side in zip(both, zip(*shown, strict=True), strict=True)
        )  # fmt: skip
        yield true, false


def _named(w: World, known: Known, predicate: str, rng: np.random.Generator) -> Made:
    """The question of the family atomic, with a report."""
    composer = Composer(rng)
    halves = [[f for f in w.language.frames if f.negates == negates] for negates in (False, True)]
    for n, both in enumerate(balanced_pairs(w, known, predicate, rng)):
        shown = composer.pair(both[0].numbers, both[1].numbers)
        if not shown:
            continue
        frame = halves[n % 2][int(rng.integers(len(halves[n % 2])))]
        true, false = (
            asked(w, one, frame, side, bool(one.point.truth), item(w, one.point, frame, ATOMIC)["question"],
                  family=ATOMIC, name="here", pair=pair_name(*both))
            for one, side in zip(both, zip(*shown, strict=True), strict=True)
        )  # fmt: skip
        yield true, false


def _alone(w: World, known: Known, rng: np.random.Generator) -> Made:
    """Does one figure show a claim? FALSE where it does not count, and where it says the opposite, in equal parts."""
    frames = alternating(w, "alone", rng)
    for n, (chaotic, regular) in enumerate(meetings(known, rng)):
        claimed, name = n // 2 % 2 == 0, ALONE[n // 4 % 2]
        one, other = (chaotic, regular) if claimed else (regular, chaotic)
        good = [m for m in fit(one.numbers, name) if says_chaos(m) == claimed]
        if n % 2:
            pairs = [(m, b, other) for m in good for b in fit(other.numbers, name)
                     if b.settings == m.settings and says_chaos(b) != claimed]  # fmt: skip
        else:
            pairs = [(m, b, whose) for m in good for whose in (one, other) for b in unfit(whose.numbers, name)
                     if says_chaos(b) == claimed and swappable(m, b)]  # fmt: skip
        if not pairs:
            continue
        first, second, whose = evenly(pairs, rng)
        frame = next(frames)
        question = frame.text.format(claim=w.language.report["claims"]["chaotic" if claimed else "regular"])
        true, false = (
            asked(w, which, frame, [m], truth, question, family=DIAGNOSTIC, template="alone",
                  pair=pair_name(one, other))
            for which, m, truth in ((one, first, True), (whose, second, False))
        )  # fmt: skip
        yield true, false


def _expected(w: World, known: Known, rng: np.random.Generator) -> Made:
    """What would a proper measurement give? Named systems at stated parameters, no figures."""
    for n, both in enumerate(balanced_pairs(w, known, "Chaotic", rng)):
        name, form = ALONE[n % 2], ("above", "below")[n // 2 % 2]
        true, false = ({m.settings: m for m in fit(one.numbers, name)} for one in both)
        common = [key for key in true if key in false and says_chaos(true[key]) and not says_chaos(false[key])]
        if common:
            frame = Frame(form, "", negates=form == "below")
            first, second = (
                _foretold(w, one, frame, side[common[-1]]) | {"pair": pair_name(*both)}
                for one, side in zip(both, (true, false), strict=True)
            )
            yield first, second


def _foretold(w: World, one: Measured, frame: Frame, m: Measurement) -> Item:
    report, point = w.language.report, one.point
    made = item(w, point, frame, DIAGNOSTIC, template=f"expected_{m.indicator}")
    subject = w.language.system_at(point.system_id, made["params"], json.loads(point.initial_condition), point.past)
    words = report["expected"][m.indicator]
    made["question"] = report["expected_frame"]["text"].format(
        s=subject, turn=report["turns"][system(point.system_id).kind], Ask=words[frame.form],
        conditions=words["conditions"].format(length=m.length, step=f"{m.step or 1.0:.2f}"),
    )  # fmt: skip
    made["evidence"] |= {"measurements": told_evidence([m])}
    return made
