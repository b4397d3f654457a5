"""The values that a question prints are those that were labelled, to the last bit, and the label there is its answer.

Values are read from the text alone and looked up in the shipped ground truth; what is asked, and whether it is denied,
is taken from the row.
"""

import json
import re
from collections import Counter, defaultdict

import pytest

from bench.dataset import PRESETS, questions
from bench.diagnostics import by_point, read_diagnostics
from bench.ground_truth import SHIPPED, brackets, points
from bench.questions import world
from dynamics.energy import ENERGY
from labeling.predicate import NAMES

NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
EQUAL = re.compile(rf"(\w+) = {NUMBER}")
ANEW = re.compile(rf"Its parameter (\w+) is (?:raised|lowered) from {NUMBER} to {NUMBER}")
SLOWLY = re.compile(rf"At (\w+) = {NUMBER} it is left to run .+? is (?:raised|lowered) to {NUMBER}")
UNNAMED = re.compile(r"an unnamed (?:map|flow|delay equation)")
MOVES = {  # what the labels at both ends of a span decide
    "begins": lambda a, b: a[0] != "chaotic" == b[0],
    "ends": lambda a, b: a[0] == "chaotic" != b[0],
    "settles": lambda a, b: a[0] != "fixed_point" == b[0],
    "unsettles": lambda a, b: a[0] == "fixed_point" != b[0],
    "alike": lambda a, b: a[0] == b[0],
    "doubles": lambda a, b: a[1] is not None and b[1] == 2 * a[1],
    "halves": lambda a, b: b[1] is not None and a[1] == 2 * b[1],
}
OTHERWISE = ("two_starts", "by", "once", "border", "survives")  # decided by brackets and lists of attractors
FAMILIES = ("atomic", "consistency_paraphrase", "perturbation", "adversarial_misleading", "adversarial_nearmiss",
            "regime_transition", "extended_systems", "indicator_diagnostic")  # fmt: skip
FEW = 6  # one in so many systems, where a few seconds have to do


@pytest.fixture(scope="module")
def labelled():
    """Of each point of the ground truth, by its system and its values and start, the labels that it has.

    The start decides the energy, which is printed where it is swept alone.
    """
    found = defaultdict(list)
    for row in points(SHIPPED).itertuples(index=False):
        if isinstance(row.initial_condition, str):
            values = json.loads(row.params) | json.loads(row.initial_condition)
            found[row.system_id, frozenset(values.items())].append(row)
            if values.pop(ENERGY, None) is not None and row.sweep != ENERGY:
                found[row.system_id, frozenset(values.items())].append(row)
    return found


def stated(text):
    """The values of each point that a text states: of one, or of both ends of a span."""
    text, _, _ = text.partition("A second run of it")
    span = ANEW.search(text) or SLOWLY.search(text)
    own = {name: float(value) for name, value in EQUAL.findall(text[: span.start()] if span else text)}
    return [own | {span[1]: float(end)} for end in span.groups()[1:]] if span else [own]


def motion(row):
    kind = "chaotic" if row.regime == "hyperchaotic" else row.regime
    return kind, None if row.period != row.period else int(row.period)


def answers(asked, ends):
    """What the labels at the ends say, or nothing where brackets decide; ends : the rows of each."""
    if asked in NAMES:
        return {getattr(row, asked) for row in ends[0]} - {"UNDECIDED"}
    if asked in MOVES:
        return {str(bool(MOVES[asked](motion(a), motion(b)))).upper() for a in ends[0] for b in ends[1]}
    if asked.startswith("period~"):
        return {str(motion(row)[1] == int(asked.removeprefix("period~"))).upper() for row in ends[0]}
    assert asked.split("~")[0] in OTHERWISE
    return set()


def checked(sizes, labelled, book="closed", one_in=1):
    """How many rows of each family print labelled values; none prints others, or has another answer.

    one_in : of how many systems one is asked about
    """
    table = points(SHIPPED)
    table = table[table["system_id"].isin(sorted(table["system_id"].unique())[::one_in])]
    made = questions(world(table, brackets(SHIPPED), numbers=by_point(read_diagnostics(SHIPPED))), sizes, 4, book)
    seen = Counter()
    for row in made:
        if not row["params"] or UNNAMED.search(row["question"]):
            continue
        asked = row["question"].removeprefix(row["context"] or "")
        ends = [labelled.get((row["system_id"], frozenset(point.items()))) for point in stated(asked)]
        assert all(ends), row["question"]
        holds = (row["ground_truth"] == "TRUE") != (row["polarity"] == "negative")
        assert answers(row["predicate"], ends) in (set(), {str(holds).upper()}), row["question"]
        seen[row["type"]] += 1
    return seen


def test_printed_values_are_those_that_were_labelled(labelled):
    seen = checked(dict.fromkeys(FAMILIES, 24), labelled, one_in=FEW)
    assert seen.pop("indicator_diagnostic") > 0  # most of them name no system
    assert seen == dict.fromkeys(FAMILIES[:-1], 24)


def test_those_of_an_open_book_are_too(labelled):
    assert checked({"atomic": 64}, labelled, "open", FEW) == {"atomic": 64}


@pytest.mark.slow
def test_printed_values_of_a_whole_set_are_those_that_were_labelled(labelled):
    sizes = {name: n for name, n in PRESETS["v2"].items() if name in FAMILIES}
    seen = checked(sizes, labelled)
    assert seen.pop("indicator_diagnostic") > 0
    assert seen == {name: sizes[name] for name in FAMILIES[:-1]}
