"""The published axioms, and reasoning with them against the enumeration of all truth assignments."""

import tomllib
from collections import Counter
from itertools import chain, combinations, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling import axioms
from labeling.axioms import Axiom, clash, consequences, entailment, literal_graph, longest_chains, negation, published
from labeling.predicate import NAMES

LITERALS = [literal for name in NAMES for literal in (name, f"~{name}")]
BY_ID = {axiom.id: axiom for axiom in published()}
FIVE = NAMES[:5]


def axiom(axiom_id: str) -> Axiom:
    return Axiom(axiom_id, "", "definition", "", "")


def holds(literal, world):
    return world[literal.removeprefix("~")] != literal.startswith("~")


def worlds(names, given_axioms, premises=()):
    """The truth assignments in which axioms and premises hold, all 2^n tried."""
    for values in product((False, True), repeat=len(names)):
        world = dict(zip(names, values, strict=True))
        lawful = all(not holds(a.premise, world) or holds(a.conclusion, world) for a in given_axioms)
        if lawful and all(holds(literal, world) for literal in premises):
            yield world


def propagated(given_axioms, premises):
    """Literal -> after how many rounds of unit propagation over the clauses it is known."""
    clauses = [{negation(a.premise), a.conclusion} for a in given_axioms]
    known = dict.fromkeys(premises, 0)
    for depth in range(1, len(LITERALS)):
        units = {last for c in clauses for last in c if all(negation(other) in known for other in c - {last})}
        known |= dict.fromkeys(units - set(known), depth)
    return known


def is_proof(steps, start, goal):
    """Whether steps lead from start to goal, each by the clause of the axiom that it names."""
    ends = [start, *(step.conclusion for step in steps)]
    joined = [step.literal for step in steps] == ends[:-1] and ends[-1] == goal
    return joined and all(
        {negation(s.literal), s.conclusion} == {negation(BY_ID[s.axiom].premise), BY_ID[s.axiom].conclusion}
        for s in steps
    )


# --- the file -------------------------------------------------------------------------------------------------------


def test_counts_are_those_of_the_paper():
    assert (len(published()), sum(not a.excludes for a in published()), len(BY_ID)) == (78, 31, 78)
    pairs = Counter(frozenset(a.id.split("-/-")) for a in published() if a.excludes)
    assert Counter(pairs.values()) == {1: 17, 2: 15}  # exclusions published in one direction, and in both


def test_every_name_is_one_of_the_27_and_none_is_its_own_axiom():
    assert len(NAMES) == len(set(NAMES)) == 27
    used = [(a.premise, a.conclusion.removeprefix("~")) for a in published()]
    assert set(chain.from_iterable(used)) == set(NAMES) - {"HighDimensional", "Multifractal", "HighDimSystem"}
    assert all(left != right for left, right in used)
    for left, right in used:
        assert f"{left}->{right}" in BY_ID or f"{left}-/-{right}" in BY_ID


def test_some_edges_are_there_and_some_are_not():
    """The edges that PAPERS names as first, last and deliberately absent."""
    for there in ("Chaotic->Deterministic", "WeakMixing->Ergodic", "Chaotic-/-Random", "WeakMixing-/-QuasiPeriodic"):
        assert there in BY_ID
    for absent in ("Chaotic->StrangeAttr", "Chaotic->Dissipative", "Chaotic->StrongMixing", "Chaotic->Bounded",
                   "FixedPointAttr->Bounded", "ContinuousTime->Deterministic", "Periodic-/-Mixing"):  # fmt: skip
        assert absent not in BY_ID
    assert Counter(a.premise for a in published() if not a.excludes) == {
        "Chaotic": 6, "QuasiPeriodic": 2, "Periodic": 2, "FixedPointAttr": 1, "PosLyap": 1, "Sensitive": 1,
        "PointUnpredictable": 1, "StatPredictable": 1, "StrangeAttr": 2, "Dissipative": 1, "Mixing": 1, "Ergodic": 1,
        "HyperChaotic": 5, "Conservative": 2, "DelaySystem": 1, "StrongMixing": 2, "WeakMixing": 1,
    }  # fmt: skip


@pytest.mark.parametrize("axiom_id", BY_ID)
def test_status_reason_source_and_counterexample_belong_together(axiom_id):
    a = BY_ID[axiom_id]
    always_true = a.status in ("definition", "theorem", "convention")
    assert (a.counterexample is None) == always_true
    assert all(words.strip() for words in (a.text, a.reason, a.source, a.counterexample or "-"))
    mirror = BY_ID.get("-/-".join(reversed(a.id.split("-/-"))))
    assert mirror is None or (mirror.status, mirror.counterexample) == (a.status, a.counterexample)


def test_every_counterexample_is_used():
    data = tomllib.loads((Path(axioms.__file__).parent / "axioms.toml").read_text(encoding="utf-8"))
    assert {row["counterexample"] for row in data["axiom"] if "counterexample" in row} == set(data["counterexamples"])


def test_a_malformed_axiom_is_refused():
    for malformed in ("Chaotic=>Mixing", "~Chaotic-/-Mixing", "Chaotic->~Mixing", "~~Chaotic->Mixing"):
        with pytest.raises(ValueError, match="no axiom"):
            axiom(malformed)
    with pytest.raises(ValueError, match="did you mean Mixing"):
        axiom("Chaotic->Mixin")
    with pytest.raises(ValueError, match="status"):
        Axiom("Chaotic->Mixing", "", "true", "", "")


# --- the graph ------------------------------------------------------------------------------------------------------


def test_every_edge_has_its_contrapositive_and_remembers_its_axioms():
    graph = literal_graph()
    assert set(graph) == set(LITERALS)
    assert graph.number_of_edges() == 2 * (31 + 32)
    for p, q, ids in graph.edges(data="axioms"):
        assert set(graph.edges[negation(q), negation(p)]["axioms"]) == set(ids)
        assert all(is_proof([axioms.Step(p, axiom_id, q)], p, q) for axiom_id in ids)
    assert sum(len(ids) for *_, ids in graph.edges(data="axioms")) == 2 * 78
    assert graph.edges["Chaotic", "~Random"]["axioms"] == ("Chaotic-/-Random", "Random-/-Chaotic")
    assert graph.edges["Random", "~Chaotic"]["axioms"] == ("Random-/-Chaotic", "Chaotic-/-Random")


@pytest.mark.parametrize("name", NAMES)
def test_every_predicate_can_be_true_and_can_be_false(name):
    assert clash([name]) is None
    assert clash([f"~{name}"]) is None
    assert entailment([], name) is None
    assert entailment([], f"~{name}") is None


def test_longest_chains():
    chains = [[c[0].literal, *(step.conclusion for step in c)] for c in longest_chains()]
    down = ["HyperChaotic", "Chaotic", "PosLyap", "Sensitive", "PointUnpredictable", "Bounded"]
    assert sorted(chains) == sorted([down, [negation(literal) for literal in reversed(down)]])
    assert all(is_proof(c, c[0].literal, c[-1].conclusion) for c in longest_chains())
    circle = longest_chains([axiom("Mixing->Ergodic"), axiom("Ergodic->Mixing"), axiom("~Mixing->Random")])
    assert {(c[0].literal, c[-1].conclusion) for c in circle} == {("~Ergodic", "Random"), ("~Random", "Ergodic")}
    assert {len(c) for c in circle} == {2}
    assert longest_chains([]) == []


# --- proofs ---------------------------------------------------------------------------------------------------------


def test_entailment_of_known_cases():
    assert entailment(["StrongMixing"], "Bounded") == [
        ("StrongMixing", "StrongMixing->Ergodic", "Ergodic"), ("Ergodic", "Ergodic->Bounded", "Bounded")
    ]  # fmt: skip
    assert entailment(["~Mixing"], "~HyperChaotic") == [
        ("~Mixing", "Chaotic->Mixing", "~Chaotic"), ("~Chaotic", "HyperChaotic->Chaotic", "~HyperChaotic")
    ]  # fmt: skip
    assert entailment(["Periodic"], "~Mixing") == [("Periodic", "Mixing-/-Periodic", "~Mixing")]
    assert entailment(["~Random"], "Deterministic") is None
    for premises in (["Mixing", "Ergodic"], ["Ergodic", "Mixing"]):
        assert entailment(premises, "Bounded") == [("Ergodic", "Ergodic->Bounded", "Bounded")]
    assert entailment(["Bounded"], "Bounded") == []
    assert entailment(["Chaotic"], "StrangeAttr") is None


@given(st.lists(st.sampled_from(LITERALS), max_size=4), st.sampled_from(LITERALS))
def test_published_entailment_is_unit_propagation(premises, goal):
    known = propagated(published(), premises)
    if any(negation(literal) in known for literal in known):
        with pytest.raises(ValueError, match="clash"):
            entailment(premises, goal)
        with pytest.raises(ValueError, match="clash"):
            consequences(premises)
        return
    proof = entailment(premises, goal)
    assert (proof is not None) == (goal in known)
    if proof is not None:
        assert len(proof) == known[goal]
        assert any(is_proof(proof, premise, goal) for premise in premises)
    assert consequences(premises) == [literal for literal in LITERALS if literal in set(known) - set(premises)]


@pytest.mark.parametrize("system", [published(), axioms.repaired()], ids=["published", "repaired"])
@given(names=st.lists(st.sampled_from(NAMES), min_size=2, max_size=7, unique=True), data=st.data())
def test_axioms_on_some_predicates_against_all_assignments(system, names, data):
    among = [a for a in system if {a.premise.removeprefix("~"), a.conclusion.removeprefix("~")} <= set(names)]
    _agrees_with_all_assignments(names, among, data)


EDGES = st.tuples(st.sampled_from(FIVE), st.sampled_from(["->", "-/-"]), st.sampled_from(FIVE))
FROM_NEGATION = st.tuples(st.sampled_from([f"~{name}" for name in FIVE]), st.just("->"), st.sampled_from(FIVE))


@given(
    st.lists((EDGES | FROM_NEGATION).filter(lambda e: e[0].strip("~") != e[2]).map("".join).map(axiom), max_size=9),
    st.data(),
)
def test_any_axioms_against_all_assignments(among, data):
    """Also those that force a predicate, such as A -> B with A -/- B, and those that go round in a circle."""
    _agrees_with_all_assignments(FIVE, among, data)


def _agrees_with_all_assignments(names, among, data):
    literals = [literal for literal in LITERALS if literal.removeprefix("~") in names]
    premises = data.draw(st.lists(st.sampled_from(literals), max_size=4, unique=True))
    possible = list(worlds(names, among, premises))
    found = clash(premises, among)
    assert (found is None) == bool(possible)
    if found is not None:
        chosen, proof = found
        assert set(chosen) <= set(premises)
        assert not any(worlds(names, among, chosen))
        assert all(any(worlds(names, among, set(chosen) - {left_out})) for left_out in chosen)
        smallest = min(k for k in range(5) for c in combinations(premises, k) if not any(worlds(names, among, c)))
        assert len(chosen) == smallest
        ends = [chosen[0], *(step.conclusion for step in proof)]
        assert ends[-1] == negation(chosen[-1])
        return
    follows = {literal for literal in literals if all(holds(literal, world) for world in possible)}
    assert {literal for literal in literals if entailment(premises, literal, among) is not None} == follows
    assert set(consequences(premises, among)) == follows - set(premises)


@given(st.lists(st.sampled_from(LITERALS), max_size=5))
def test_a_clash_of_the_published_axioms_is_proved_and_minimal(premises):
    known = propagated(published(), premises)
    found = clash(premises)
    assert (found is not None) == any(negation(literal) in known for literal in known)
    if found is not None:
        assert is_proof(found.proof, found.premises[0], negation(found.premises[-1]))
        for kept in found.premises:
            assert clash([kept]) is None
        lengths = [
            propagated(published(), [p])[negation(q)]
            for p, q in combinations(dict.fromkeys(premises), 2)
            if negation(q) in propagated(published(), [p])
        ]
        assert len(found.proof) == min(lengths)


def test_clashes_of_known_cases():
    assert clash(["Bounded", "HyperChaotic", "Random", "Ergodic"]) == (
        ("HyperChaotic", "Random"),
        [("HyperChaotic", "HyperChaotic->Chaotic", "Chaotic"), ("Chaotic", "Chaotic-/-Random", "~Random")],
    )
    assert clash(["Forced", "~Forced", "Chaotic"]) == (("Forced", "~Forced"), [])
    forced = [axiom("Chaotic->Mixing"), axiom("Chaotic-/-Mixing")]
    assert clash(["Ergodic", "~Ergodic", "Chaotic"], forced).premises == ("Chaotic",)
    refuted = entailment([], "~Chaotic", forced)
    assert (refuted[0].literal, refuted[-1].conclusion) == ("Chaotic", "~Chaotic")
    assert {step.axiom for step in refuted} == {"Chaotic->Mixing", "Chaotic-/-Mixing"}


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [("Chaotik", "did you mean Chaotic"), ("~bounded", "did you mean Bounded"), ("~~Mixing", "did you mean Mixing"),
     ("POSLYAP", "did you mean PosLyap"),
     ("Zzz", "there are Chaotic, Deterministic")],
)  # fmt: skip
def test_unknown_names_are_answered_with_the_nearest(wrong, hint):
    for question in (clash, consequences, lambda p: entailment(p, "Bounded"), lambda p: entailment([], p[0])):
        with pytest.raises(ValueError, match=hint):
            question(["Ergodic", wrong][::-1])
    for question in (axioms.violations, axioms.tested):
        with pytest.raises(ValueError, match=hint):
            question({wrong: "TRUE"})


# --- values of a row ------------------------------------------------------------------------------------------------


def test_planted_violations_are_found():
    chaos = {"Chaotic": "TRUE", "Mixing": "FALSE", "Periodic": "FALSE"}
    assert axioms.violations(chaos) == ["Chaotic->Mixing"]
    assert axioms.violations(chaos | {"Mixing": "UNDECIDED"}) == []
    assert axioms.violations({"Ergodic": "TRUE", "Periodic": "TRUE"}) == ["Ergodic-/-Periodic"]
    assert axioms.violations({"Forced": "TRUE", "Autonomous": "TRUE"}) == ["Forced-/-Autonomous", "Autonomous-/-Forced"]
    assert axioms.violations({"Forced": "FALSE", "Autonomous": "FALSE"}) == []
    assert axioms.violations(dict.fromkeys(NAMES, "FALSE")) == []
    everything = axioms.violations(dict.fromkeys(NAMES, "TRUE"))
    assert everything == [axiom_id for axiom_id, a in BY_ID.items() if a.excludes]


def test_what_is_tested():
    def tested(left, right):
        return [
            axiom_id
            for axiom_id in axioms.tested({"Chaotic": left, "Mixing": right, "Periodic": right})
            if axiom_id in ("Chaotic->Mixing", "Chaotic-/-Periodic")
        ]

    both, implication, exclusion = (
        ["Chaotic->Mixing", "Chaotic-/-Periodic"],
        ["Chaotic->Mixing"],
        ["Chaotic-/-Periodic"],
    )
    assert tested("TRUE", "TRUE") == tested("TRUE", "FALSE") == both
    assert tested("FALSE", "FALSE") == implication
    assert tested("FALSE", "TRUE") == exclusion
    assert tested("UNDECIDED", "FALSE") == tested("TRUE", "UNDECIDED") == []


VALUES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(axioms.VALUES))


@given(VALUES)
def test_values_are_violated_where_the_truth_table_is_false(values):
    def clause(a):
        right = values.get(a.conclusion.removeprefix("~"), "UNDECIDED")
        return values.get(a.premise, "UNDECIDED"), right, a.excludes

    broken = {("TRUE", "FALSE", False), ("TRUE", "TRUE", True)}
    idle = {("FALSE", "TRUE", False), ("FALSE", "FALSE", True)}
    decided = [a for a in published() if "UNDECIDED" not in clause(a)]
    assert axioms.violations(values) == [a.id for a in decided if clause(a) in broken]
    assert axioms.tested(values) == [a.id for a in decided if clause(a) not in idle]


@given(VALUES)
def test_violated_values_clash_and_clashing_values_need_not_be_violated(values):
    literals = [name if value == "TRUE" else f"~{name}" for name, value in values.items() if value != "UNDECIDED"]
    if axioms.violations(values):
        assert len(clash(literals).proof) == 1
    elif (found := clash(literals)) is not None:
        assert len(found.proof) > 1


def test_a_value_that_is_no_value_is_refused():
    with pytest.raises(ValueError, match="Chaotic is 'true'"):
        axioms.violations({"Chaotic": "true"})
    with pytest.raises(ValueError, match="no predicate '~Chaotic'"):
        axioms.violations({"~Chaotic": "TRUE"})
