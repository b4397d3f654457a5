"""The repaired axioms: sound, consistent, irredundant; and all reasoning against a SAT solver that shares no code."""

from pathlib import Path

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.logic.inference import satisfiable

from bench.cross_check import cross_check, labelled_sets
from bench.ground_truth import SHIPPED
from labeling import axioms
from labeling.axioms import (
    clash,
    consequences,
    entailment,
    longest_chains,
    negation,
    published,
    removed,
    repaired,
)
from labeling.predicate import NAMES

LITERALS = [literal for name in NAMES for literal in (name, f"~{name}")]
SYSTEMS = {"published": published(), "repaired": repaired()}
BY_ID = {axiom.id: axiom for axiom in repaired()}
SYMBOLS = dict(zip(NAMES, sp.symbols(NAMES), strict=True))


def formula(literal):
    return ~SYMBOLS[literal[1:]] if literal.startswith("~") else SYMBOLS[literal]


THEORY = {
    name: sp.And(*(sp.Or(~formula(a.premise), formula(a.conclusion)) for a in system))
    for name, system in SYSTEMS.items()
}


def possible(name, literals):
    """Whether some assignment of all 27 predicates satisfies the axioms and the literals."""
    return satisfiable(sp.And(THEORY[name], *map(formula, literals))) is not False


# --- the file -------------------------------------------------------------------------------------------------------


def test_statuses_texts_and_changes():
    assert len(BY_ID) == len(repaired())
    before = {axiom.id: axiom.status for axiom in published()}
    for axiom in repaired():
        assert axiom.status in ("definition", "theorem", "convention")
        assert axiom.counterexample is None
        assert all(words.strip() for words in (axiom.text, axiom.reason, axiom.source, axiom.change or "-"))
        assert (axiom.change is None) == (before.get(axiom.id) == axiom.status)


def test_every_published_axiom_is_kept_or_follows_or_is_removed_for_a_reason():
    lost = [a.id for a in published() if entailment([a.premise], a.conclusion, repaired()) is None]
    assert sorted(lost) == sorted(removed())
    assert all(why.strip() for why in removed().values())
    assert {a.id for a in published() if a.status == "refuted"} <= set(removed())


@pytest.mark.parametrize("literal", LITERALS)
def test_every_predicate_can_be_true_and_can_be_false(literal):
    assert clash([literal], repaired()) is None
    assert entailment([], literal, repaired()) is None


@pytest.mark.parametrize("axiom_id", BY_ID)
def test_no_axiom_follows_from_the_others(axiom_id):
    axiom = BY_ID[axiom_id]
    assert entailment([axiom.premise], axiom.conclusion, [a for a in repaired() if a is not axiom]) is None


def test_exactly_one_of_each_pair():
    for one, other in (("Random", "Deterministic"), ("DiscreteTime", "ContinuousTime"), ("Forced", "Autonomous")):
        for literal in (one, other, f"~{one}", f"~{other}"):
            opposite = other if literal.strip("~") == one else one
            goal = opposite if literal.startswith("~") else f"~{opposite}"
            assert entailment([literal], goal, repaired()) is not None
    assert axioms.violations({"Forced": "FALSE", "Autonomous": "FALSE"}, repaired()) == ["~Forced->Autonomous"]
    assert axioms.violations({"Forced": "FALSE", "Autonomous": "FALSE"}) == []
    assert axioms.tested({"Forced": "TRUE", "Autonomous": "FALSE"}, repaired()) == [
        "Forced-/-Autonomous",
        "~Forced->Autonomous",
    ]


def test_what_is_deliberately_absent():
    """Edges that look true, each with a labelled set or a theorem against it."""
    for premise, conclusion in (
        ("Chaotic", "Bounded"), ("Ergodic", "StatPredictable"), ("WeakMixing", "Mixing"),
        ("HyperChaotic", "HighDimSystem"), ("HighDimensional", "HighDimSystem"),
        ("PosLyap", "~QuasiPeriodic"), ("Periodic", "Ergodic"),
        ("Chaotic", "Mixing"), ("Periodic", "~Mixing"),
    ):  # fmt: skip
        assert entailment([premise], conclusion, repaired()) is None


def test_longest_chains_do_not_repeat_a_literal():
    found = longest_chains(repaired())
    assert {len(chain) for chain in found} == {4}
    for chain in found:
        assert len({chain[0].literal, *(step.conclusion for step in chain)}) == 5
        assert [step.conclusion for step in chain[:-1]] == [step.literal for step in chain[1:]]


# --- against a SAT solver -------------------------------------------------------------------------------------------

PREMISES = st.lists(st.sampled_from(LITERALS), min_size=1, max_size=4, unique=True)


@settings(max_examples=60)
@given(st.sampled_from([*SYSTEMS]), PREMISES, st.sampled_from(LITERALS))
def test_entailment_is_that_of_a_sat_solver(name, premises, goal):
    system = SYSTEMS[name]
    if not possible(name, premises):
        with pytest.raises(ValueError, match="clash"):
            entailment(premises, goal, system)
        return
    assert (entailment(premises, goal, system) is not None) == (not possible(name, [*premises, negation(goal)]))


@pytest.mark.parametrize("name", SYSTEMS)
def test_consequences_of_every_literal_are_those_of_a_sat_solver(name):
    """One model of the literal refutes at once every goal that is false in it, so few need a call of their own."""
    for literal in LITERALS:
        found = set(consequences([literal], SYSTEMS[name]))
        unknown = set(LITERALS) - {literal}
        while unknown:
            model = satisfiable(sp.And(THEORY[name], formula(literal), sp.Or(*(~formula(u) for u in unknown))))
            if model is False:
                break
            false = {u for u in unknown if model.get(SYMBOLS[u.strip("~")]) is not None
                     and bool(model[SYMBOLS[u.strip("~")]]) == u.startswith("~")}  # fmt: skip
            assert false
            unknown -= false
        assert found == unknown


@settings(max_examples=60)
@given(st.sampled_from([*SYSTEMS]), PREMISES)
def test_clashes_are_those_of_a_sat_solver_and_minimal(name, premises):
    found = clash(premises, SYSTEMS[name])
    assert (found is None) == possible(name, premises)
    if found is not None:
        assert not possible(name, found.premises)
        assert all(possible(name, set(found.premises) - {left_out}) for left_out in found.premises)
        assert set(found.premises) <= set(premises)


# --- against the labels ---------------------------------------------------------------------------------------------


@pytest.mark.skipif(not (SHIPPED / "points.parquet").is_file(), reason="the release is not there: labeling/release")
def test_no_labelled_set_of_the_release_violates_the_repaired_axioms():
    tallies = cross_check(labelled_sets(), repaired())
    assert {t.axiom.id: t.examples for t in tallies if t.violations} == {}
    assert sum(t.enough for t in tallies) > len(tallies) / 2


# --- the page -------------------------------------------------------------------------------------------------------


def test_the_page_lists_both_systems_as_they_are():
    page = (Path(__file__).parent.parent / "docs" / "axioms.md").read_text(encoding="utf-8")
    for axiom in published():
        fate = "kept" if axiom.id in BY_ID else "removed" if axiom.id in removed() else "follows"
        (line,) = [
            one for one in page.splitlines() if one.startswith(f"| {axiom.id} |") and one.endswith(f"| {fate} |")
        ]
        assert f"| {axiom.status} |" in line
        assert axiom.counterexample is None or f": {axiom.counterexample}\n" in page
    for axiom in repaired():
        assert f"| {axiom.id} | {axiom.status} | {axiom.change or ''} |\n" in page
    for axiom_id, why in removed().items():
        assert f"| {axiom_id} | {why} |\n" in page
