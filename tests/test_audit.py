"""A foreign benchmark's questions are read as they are meant, and judged by what was measured."""

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from bench.audit import (
    SURE_SHARE,
    Truth,
    artefact,
    assignments,
    audited,
    depends,
    stated,
    systems,
    truth_of,
    valued,
    with_findings,
)
from bench.chaosbench import ALIASES, Asked, AtValue, Inference, asked, at_value, inference, language, shown
from bench.ground_truth import ASKED, DROPS_BELOW, SHIPPED
from bench.questions_file import read_questions
from bench.report.audit_page import audit_page, kinds_of_notes
from bench.soundness import inferred
from cli.main import app
from labeling.predicate import NAMES

PUBLISHED = Path(__file__).parents[2] / "shared" / "chaosbench_v2"
needs_published = pytest.mark.skipif(not PUBLISHED.exists(), reason="the published benchmark is not here")


# --- Reading


@pytest.mark.parametrize(
    ("question", "name", "family", "predicate", "negated"),
    [
        ("Is the Fog map chaotic?", "Fog map", "atomic", "Chaotic", False),
        ("Is the Fog map NOT quasi-periodic?", "Fog map", "atomic", "QuasiPeriodic", True),
        ("Would it be incorrect to say the Fog is bounded?", "Fog", "atomic", "Bounded", True),
        ("Would it be incorrect to say Fog is not bounded?", "Fog", "perturbation", "Bounded", False),
        ("A system is mixing if a periodic map spreads. Is the Fog such a system?", "Fog", "atomic", "Mixing", False),
        ("Compared to a purely periodic oscillator, is the Fog ergodic?", "Fog", "atomic", "Ergodic", False),
        (
            "Given that the system is chaotic, is the Fog system dissipative?",
            "Fog",
            "adversarial_misleading",
            "Dissipative",
            False,
        ),
        ("Is it false that Chaotic is fog strangeattr?", "Chaotic fog", "perturbation", "StrangeAttr", True),
        (
            "Can Fog a delay differential equation be characterized as system?",
            "Fog",
            "perturbation",
            "DelaySystem",
            False,
        ),
        ("Does the Fog exhibit hyperexhibits chaos?", "Fog", "consistency_paraphrase", "HyperChaotic", False),
        ("The phase space is 4-dimensional. Is Fog random?", "Fog", "perturbation", "Random", False),
        (
            "Is the Forced fog (chaotic regime) autonomous?",
            "Forced fog (chaotic regime)",
            "atomic",
            "Autonomous",
            False,
        ),
    ],
)
def test_what_a_question_asks(question, name, family, predicate, negated):
    assert asked(question, name, family) == Asked(predicate, negated)


def test_a_question_about_no_predicate_asks_none():
    assert asked("Is the Fog nice?", "Fog", "atomic") is None


def test_values_are_read():
    assert at_value("At r=3.5699, is the map chaotic?") == AtValue("r", 3.5699, "chaotic")
    assert at_value("If alpha drops below 9.0, does it persist?") == AtValue("alpha", 9.0, "chaos below")
    assert at_value("Is it in a periodic regime at mu=-0.5?") == AtValue("mu", -0.5, "periodic")
    assert at_value("Is the Fog (r = 4.0) system mixing?") is None


def test_indicator_values_are_read():
    one = shown("The 0-1 test K=0.25 for Fog. Given it is non-chaotic, is this indicator consistent?")
    assert (one.values, one.wanted, one.given_chaotic) == (((None, "zero_one_k", 0.25),), "consistent", False)
    two = shown("System Fog has K=0.10 and system Dew has K=0.90. Does Fog show more chaotic behavior than Dew?")
    assert two.values == (("Fog", "zero_one_k", 0.1), ("Dew", "zero_one_k", 0.9))
    assert shown("The MEGNO value for Fog is -1.50. Is this system in a regular regime?").wanted == "regular"
    assert shown("Is the Fog chaotic?") is None


def test_inferences_are_read():
    said = inference(
        "Given that Fog is chaotic, and chaotic systems must be mixing, does it follow that Fog is ergodic?", "Fog"
    )
    assert said == Inference(("Chaotic",), (("Chaotic", "Mixing"),), "Ergodic", "must")
    said = inference("If Fog is chaotic, which requires being mixing, can it also be periodic?", "Fog")
    assert said == Inference(("Chaotic",), (("Chaotic", "Mixing"),), "Periodic", "can")
    said = inference("Given Fog is not bounded, can it be ergodic?", "Fog")
    assert said == Inference(("~Bounded",), (), "Ergodic", "can")
    said = inference(
        "Is the assignment {Chaotic but not Mixing or Ergodic} logically consistent under the ontology?", None
    )
    assert said.premises == ("Chaotic", "~Mixing", "~Ergodic")


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ("Is Fog poslyap?", "prints an identifier"),
        ("Is it false that Fog is (dysts) mixing?", "cuts the system's name in two"),
        ("Would it be incorrect to say it accurate to say that the Fog (dysts) is mixing is not?", "has the remains"),
        ("Can Fog (dysts) weakly be characterized as mixing?", "cuts the property in two"),
        ("Is the Fog (dysts) quasi-exhibits periodic behavior?", "puts a sentence where a word belongs"),
        ("Does the Fog (dysts) exhibit ergodic?", "exhibits an adjective"),
        ("Is the Fog (dysts) having a strange attractor?", "joins words"),
    ],
)
def test_bad_english_is_told(question, fault):
    found = language(question, "Fog (dysts)", "atomic")
    assert any(told.startswith(fault) for told in found), found


@pytest.mark.parametrize("question", [
    "Is the Fog (dysts) mixing?", "Does the Fog (dysts) exhibit chaotic behavior?",
    "Can Fog (dysts) be characterized as mixing?", "Is it accurate to say that the Fog (dysts) is mixing?",
])  # fmt: skip
def test_good_english_is_let_be(question):
    assert language(question, "Fog (dysts)", "atomic") == []


# --- Judging


def labelled(regime="chaotic", attractors=(), values=None, indicators=None, **more):
    """A made-up row: predicates TRUE where `values` says so, else FALSE."""
    values = {"Chaotic": "TRUE", "PosLyap": "TRUE"} if values is None else values
    empty = {"value": None, "error": None, "status": "not_applicable"}
    names = ("lyapunov_spectrum", "lyapunov_max", "zero_one_k", "megno", "megno_slope", "kaplan_yorke_dimension",
             "correlation_dimension", "permutation_entropy")  # fmt: skip
    predicates = {
        name: {"value": values.get(name, "FALSE"), "basis": "measured", "reason": more.get("reason"), "evidence": {}}
        for name in NAMES
    }
    sets = [{"regime": r, "share": share, "period": None, "period_time": None} for r, share in attractors]
    return {"system_id": "fog", "params": {"a": 1.0}, "regime": regime, "period": None, "period_time": None,
            "stability": None, "reason": more.get("reason"), "attractors": sets, "predicates": predicates,
            "indicators": dict.fromkeys(names, empty) | (indicators or {})}  # fmt: skip


def test_a_claim_is_confirmed_contradicted_or_open():
    row = labelled()
    assert stated(row, "Chaotic", True).verdict == "confirmed"
    assert stated(row, "Chaotic", False).verdict == "contradicted"
    assert (
        stated(labelled("undecided", values={"Chaotic": "UNDECIDED"}, reason="budget"), "Chaotic", True).verdict
        == "open"
    )
    several = labelled("undecided", values={"Chaotic": "UNDECIDED"}, reason="several_attractors")
    assert stated(several, "Chaotic", True).verdict == "undecidable"


def test_what_depends_on_the_initial_condition_is_undecidable_and_never_contradicted():
    row = labelled(attractors=[("chaotic", 0.75), ("fixed_point", 0.25)])
    for claimed in (True, False):
        assert stated(row, "Chaotic", claimed).verdict == "undecidable"
        assert stated(row, "FixedPointAttr", claimed).verdict == "undecidable"
    assert stated(row, "DiscreteTime", False).verdict == "confirmed"  # the equations are one
    assert not depends(labelled(attractors=[("chaotic", 0.75), ("hyperchaotic", 0.25)]), "Chaotic")
    assert depends(labelled(attractors=[("chaotic", 0.75), ("hyperchaotic", 0.25)]), "HyperChaotic")
    assert not depends(labelled(attractors=[("chaotic", 0.5), ("unbounded", 0.5)]), "Chaotic")
    assert depends(
        labelled(attractors=[("undecided", 0.6), ("periodic", 0.4)]), "Chaotic"
    )  # of the set labelled chaotic


def test_a_set_that_one_start_in_64_found_is_too_rare_to_count():
    assert SURE_SHARE * 64 == 3  # P(3 or more of 64 at a share of 1 %) = 0.027, P(2 or more) = 0.135
    assert not depends(labelled(attractors=[("chaotic", 62 / 64), ("periodic", 2 / 64)]), "Chaotic")
    assert depends(labelled(attractors=[("chaotic", 61 / 64), ("periodic", 3 / 64)]), "Chaotic")


def test_what_a_word_can_mean_is_no_contradiction():
    cycle = labelled("periodic", values={"Ergodic": "TRUE", "Periodic": "TRUE"})
    assert stated(cycle, "Ergodic", False).verdict == "definition"
    assert stated(labelled(), "Multifractal", True).verdict == "definition"
    assert stated(cycle, "Multifractal", True).verdict == "contradicted"  # a cycle has no two dimensions to differ


def test_a_regime_at_a_value_is_that_of_the_label_there():
    truth = Truth({}, {"fog": [labelled("fixed_point", values={"FixedPointAttr": "TRUE"})]})
    at = AtValue("a", 1.0, "periodic")
    assert valued("fog", at, True, truth).verdict == "contradicted"
    assert valued("fog", AtValue("a", 1.0, "stable fixed point"), True, truth).verdict == "confirmed"
    assert valued("fog", AtValue("a", 2.0, "chaotic"), True, truth).verdict == "open"
    of_map = labelled("fixed_point", values={"FixedPointAttr": "TRUE", "DiscreteTime": "TRUE"})
    assert valued("fog", at, True, Truth({}, {"fog": [of_map]})).verdict == "definition"  # a cycle of period 1


def test_quoted_values_that_the_system_cannot_have_are_artefacts():
    row = labelled(indicators={"zero_one_k": {"value": 0.98, "error": 0.01, "status": "ok"},
                               "megno_slope": {"value": 0.45, "error": 0.01, "status": "ok"}})  # fmt: skip
    assert artefact(row, "zero_one_k", 0.02)
    assert not artefact(row, "zero_one_k", 0.95)
    assert artefact(row, "megno", 1.4)
    assert not artefact(row, "megno", 14.0)


def test_an_inference_is_as_sound_as_its_weakest_rule():
    must = inferred(Inference(("Ergodic",), (), "Bounded", "must"), True)
    assert (must.verdict, "Ergodic->Bounded" in must.reason) == ("contradicted", True)
    assert inferred(Inference(("Chaotic",), (), "Deterministic", "must"), True).verdict == "confirmed"
    rules = (("Chaotic", "Mixing"), ("Mixing", "Ergodic"))
    assert inferred(Inference(("Chaotic",), rules, "Ergodic", "must"), True).verdict == "confirmed"  # as stated
    unstated = inferred(Inference(("Chaotic",), (("Chaotic", "Ergodic"),), "Bounded", "must"), True)
    assert unstated.verdict == "definition"
    assert inferred(Inference(("Chaotic",), (), "Random", "can"), False).verdict == "confirmed"
    assert inferred(Inference(("Chaotic",), (), "Random", "can"), True).verdict == "contradicted"
    assert inferred(Inference(("Chaotic", "Random"), (), "", "consistent"), False).verdict == "confirmed"
    assert inferred(Inference(("Chaotic", "Random"), (), "", "consistent"), True).verdict == "contradicted"


# --- Whole sets


def question(**more):
    return {"id": "q1", "question": "Is the Fog chaotic?", "ground_truth": "TRUE", "type": "atomic", "system_id": "fog",
            "name": "Fog"} | more  # fmt: skip


def test_every_row_gets_a_verdict_and_its_page_escapes_what_it_shows():
    rows = [question(), question(id="q2", ground_truth="FALSE"), question(id="q3", system_id="dew"),
            question(id="q4", question="Is the <b>Fog</b> nice?")]  # fmt: skip
    found = list(audited(pd.DataFrame(rows), Truth({"fog": labelled()})))
    assert [x.verdict for x in found] == ["confirmed", "contradicted", "open", "malformed"]
    table = pd.DataFrame(rows).assign(verdict=[x.verdict for x in found], reason="<i>", figure="", notes="prints <b>")
    page = audit_page(
        "<script>", table, systems({"fog": {"Chaotic": False}}, Truth({"fog": labelled()})), "bench audit x"
    )
    assert "<h1>&lt;script&gt;</h1>" in page
    assert "<title>&lt;script&gt;</title>" in page
    assert "<b>Fog" not in page


def test_wrong_input_is_told(tmp_path):
    run = CliRunner().invoke
    assert "no such file" in run(app, ["audit", str(tmp_path / "none")]).output
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    result = run(app, ["audit", str(empty)])
    assert "empty.jsonl: this file is empty" in result.output
    broken = tmp_path / "broken.jsonl"
    broken.write_text(json.dumps(question()) + "\n{oh\n" + json.dumps(question(id="q2")) + "\n")
    questions, faults = read_questions(broken)
    assert len(questions) == 2
    assert [fault.line for fault in faults] == [2]


@needs_published
def test_every_question_of_the_published_set_is_read_as_its_answer_was_made():
    """Answers to questions about one predicate were copied from the systems' truth values: reading gives them back."""
    questions, faults = read_questions(PUBLISHED)
    assert faults == []
    assert len(questions) == 40_886
    values = assignments(PUBLISHED)
    assert len(values) == 165
    wrong = []
    for row in questions.to_dict("records"):
        family, text, name = row["type"], row["question"], row["name"]
        if family in ("fol_inference", "multi_hop"):
            wrong += [] if inference(text, name) else [text]
        elif family in ("indicator_diagnostic", "cross_indicator"):
            wrong += [] if shown(text) else [text]
        elif family == "regime_transition" or (family.startswith("adversarial") and at_value(text)):
            at, (parameter, known) = at_value(text), *ASKED[ALIASES.get(row["system_id"], row["system_id"])].items()
            below = DROPS_BELOW.get(ALIASES.get(row["system_id"], row["system_id"]), ())
            values_known = below if at.wanted == "chaos below" else known
            wrong += [] if at.parameter == parameter and at.value in values_known else [text]
        else:
            about = asked(text, name, family)
            right = about and (values[row["system_id"]][about.predicate] != about.negated) == (
                row["ground_truth"] == "TRUE"
            )
            wrong += [] if right else [text]
    assert wrong == []


@pytest.fixture(scope="module")
def audit_of_published():
    if not (PUBLISHED.exists() and (SHIPPED / "points.parquet").exists()):
        pytest.skip("the published benchmark or the ground truth is not here")
    questions, _ = read_questions(PUBLISHED)
    truth = truth_of()
    return with_findings(questions, list(audited(questions, truth))), systems(assignments(PUBLISHED), truth)


# question, verdict, part of the figure: what a slow recomputation by hand found as well
@pytest.mark.parametrize(
    ("question", "verdict", "figure"),
    [
        ("At a=1.4, is the Henon map chaotic?", "contradicted", "largest exponent 0.41"),
        ("At a=1.2652, is the Henon map chaotic?", "contradicted", "periodic of period 70, largest exponent -0.03"),
        ("If r drops below 4.0, does logistic map chaos persist?", "contradicted", "chaotic"),
        ("Does the logistic map have a stable fixed point at r=0?", "contradicted", "fixed point"),
        ("Is the Lorenz system in a periodic regime at rho=8.1281?", "contradicted", "fixed point"),
        ("Is the Chua's circuit in a periodic regime at alpha=0?", "contradicted", "fixed point"),
        ("At alpha=9, is the Chua's circuit chaotic?", "contradicted", "fixed point"),
        ("If rho drops below 24.74, does Lorenz system chaos persist?", "undecidable", "24.4926"),
        ("The 0-1 test K=0.25 for Baker's map. Given it is chaotic, is this indicator consistent?", "", "zero_one_k"),
        (
            "The MEGNO for Arnold's cat map is 1.92. Does this agree with it being chaotic?",
            "contradicted",
            "slope 0.48",
        ),
    ],
)
def test_known_errors_are_found_with_their_figure(audit_of_published, question, verdict, figure):
    (row,) = audit_of_published[0][audit_of_published[0]["question"] == question].to_dict("records")
    assert figure in row["figure"]
    assert not verdict or row["verdict"] == verdict


def test_totals_are_those_of_a_recount_by_hand(audit_of_published):
    """Rows with printed ties and reversed orders: 168 and 78 by an independent count."""
    rows, stated = audit_of_published
    notes = kinds_of_notes(rows)
    assert ((rows["type"] == "indicator_diagnostic") & (rows["verdict"] == "malformed")).sum() == 168
    assert notes["prints the order against its answer"] == 78
    assert notes["a near miss without a value"] == 465
    wrong = rows[rows["verdict"].isin(["contradicted", "undecidable"])].groupby("type").size()
    # within a fifth of the recount: 410 rows that rest on a false axiom, 88 adversarial, 24 of 67
    assert wrong["fol_inference"] == pytest.approx(410, rel=0.2)
    assert wrong["adversarial_misleading"] + wrong["adversarial_nearmiss"] == pytest.approx(88, rel=0.2)
    assert wrong["cross_indicator"] == pytest.approx(24, rel=0.2)
    assert set(stated[stated["verdict"] == "contradicted"]["system_id"]) >= {
        "oregonator", "dysts_mackeyglass", "dysts_panxuzhou", "lorenz84", "rikitake_dynamo", "mackey_glass", "lorenz96",
    }  # fmt: skip


def test_coexistence_is_never_called_a_contradiction(audit_of_published):
    _, stated = audit_of_published
    for system_id in ("dysts_henonheiles", "dysts_sprotta", "dysts_nosehoover", "dysts_isothermalchemical"):
        mine = stated[(stated["system_id"] == system_id) & (stated["predicate"] == "Chaotic")]
        assert mine["verdict"].iloc[0] in ("undecidable", "open")
