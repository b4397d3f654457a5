"""Delay equations, noise and fields as rows: read, labelled, and decided by methods of their own."""

import math
import re

import numpy as np
import pytest

from dynamics.codegen import LANES
from dynamics.fields import divergence
from dynamics.lanes import History, moved, placed, present
from dynamics.registry import system
from dynamics.rows import any_row
from dynamics.system import RowError
from labeling.gathering import gathered, reference_start, swept_start
from labeling.points import judged_versions, label
from labeling.predicates import PROCEDURES
from labeling.regimes import regime
from labeling.settings import Settings
from labeling.study import Study
from labeling.workers import Workers

NOISY = {"kind": "sde", "state": {"x": 0.5}, "rule": ["-x"], "noise": ["s"], "parameters": {"s": 0.3}}
KS, SG = ({"kind": "pde", "rule": f"spatial:{name}"} for name in ("kuramoto_sivashinsky", "sine_gordon"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            {**KS, "rule": "spatial:heat"},
            "the rule is 'spatial:heat'; a row of kind 'pde' names one of spatial:",
        ),
        ({**KS, "parameters": {"L": -1.0}}, "the length L is -1; it must be above 0"),
        ({**KS, "parameters": {"N": 3}}, "a field has one, its length L"),
        ({**KS, "box": {}}, "the key 'box' is not read in a row of kind 'pde'"),
        ({**NOISY, "noise": ["s", "s"]}, "the noise has 2 terms, the state has 1 variables"),
        ({**NOISY, "kind": "ode"}, "the key 'noise' is not read in a row of kind 'ode'"),
        ({**NOISY, "noise": ["q"]}, "'q' is not defined"),
    ],
)
def test_rows_refused(row, said):
    with pytest.raises(RowError, match=re.escape(said)):
        any_row("mine", row)


def test_a_start_of_a_delay_equation_is_a_constant_past():
    s = system("mackey_glass").with_values({"tau": 20.0}, {"x": 0.7})
    assert (s.history, s.state, s.parameters["tau"]) == ({"x": "0.7"}, {"x": 0.7}, 20.0)
    ramp = any_row("ramp", {
        "kind": "dde", "state": {"x": "a*t + 1"}, "parameters": {"a": 2.0, "tau": 1.0},
        "delayed": {"z": {"of": "x", "by": "tau"}}, "rule": ["-z"],
    })  # fmt: skip
    assert ramp.with_values({"a": 3.0}).history == {"x": "a*t + 1"}
    with pytest.raises(RowError, match="no parameter 'tua'"):
        ramp.with_values({"tua": 1.0})


def test_a_past_is_taken_up_where_it_ended():
    """x' = -x(t - 1) moved for a time and on equals the same moved at once, to the order of the spline."""
    s = any_row("linear", {
        "kind": "dde", "state": {"x": "cos(t)"}, "parameters": {"a": 1.0, "tau": 1.0},
        "delayed": {"z": {"of": "x", "by": "tau"}}, "rule": ["-a*z"],
    })  # fmt: skip
    parameters = np.array([[1.0] * LANES, [1.0] * LANES])
    times = np.linspace(-1.0, 0.0, 201)[:, None] * np.ones(LANES)
    start = History.through(times, np.cos(times)[:, None, :])
    whole = placed(s, start, parameters, h=0.02)
    moved(whole, 1, steps=300)
    first = placed(s, start, parameters, h=0.02)
    moved(first, 1, steps=150)
    second = placed(s, present(first), parameters, h=0.02)
    moved(second, 1, steps=150)
    assert second.states == pytest.approx(whole.states, abs=1e-7)
    assert np.abs(whole.states - first.states).min() > 1e-2
    with pytest.raises(ValueError, match="starts from a history"):
        placed(s, np.ones((1, LANES)), parameters, h=0.02)


def test_lanes_of_one_orbit_share_a_step():
    """Their growth is pooled over one interval, though a pilot on each lane alone would give them different steps."""
    s, brief = system("dysts_scrolldelay"), Settings(transient_flow=200.0)
    apart = [s.with_values({}, {"x": s.state["x"] * (1 + 1e-6 * i)}) for i in range(LANES)]
    alone = swept_start(apart, brief).h
    assert len(set(alone)) > 1
    assert set(reference_start(s, brief).h) == {alone.min()}


def test_an_ornstein_uhlenbeck_process_is_labelled():
    row = label(system("stochastic_ou"))
    values = {name: p["value"] for name, p in row["predicates"].items()}
    assert row["regime"] == "stochastic"
    true = {"Random", "PointUnpredictable", "StatPredictable", "Dissipative", "Ergodic", "Mixing", "WeakMixing",
            "StrongMixing", "ContinuousTime", "Autonomous"}  # fmt: skip
    assert {name for name, value in values.items() if value == "TRUE"} == true
    assert set(values.values()) == {"TRUE", "FALSE"}
    assert row["predicates"]["Bounded"]["basis"] == "exact"  # Gaussian noise on a line
    largest = row["indicators"]["lyapunov_max"]
    assert largest["value"] == pytest.approx(-1.0, rel=0.01)  # -theta, exactly
    assert abs(largest["value"] + 1.0) <= largest["error"]
    for name in ("zero_one_k", "megno", "correlation_dimension", "kaplan_yorke_dimension"):
        assert (row["indicators"][name]["value"], row["indicators"][name]["status"]) == (None, "not_applicable")


def test_without_amplitude_noise_is_none():
    s = any_row("quiet", {**NOISY, "parameters": {"s": 0.0}})
    settings = Settings(escalations=0)
    [point] = judged_versions([s], settings, Workers(), rows=True)
    assert point.row is not None
    values = {name: p["value"] for name, p in point.row["predicates"].items()}
    assert point.verdict.regime == "fixed_point"
    assert (values["Random"], values["Deterministic"], values["Bounded"]) == ("FALSE", "TRUE", "TRUE")


def test_mackey_glass_over_its_delay():
    """Rest until the Hopf bifurcation at tau = 4.70820 (reference/), cycles after it, chaos at 17 and a torus never."""
    s = system("mackey_glass")
    points = judged_versions([s.with_values({"tau": tau}) for tau in (4.0, 6.0, 10.0, 17.0)], Settings(), Workers())
    assert [p.verdict.regime for p in points] == ["fixed_point", "periodic", "periodic", "chaotic"]
    assert [p.verdict.stability for p in points] == ["attracting", "attracting", "attracting", None]
    assert points[0].end["x"] == pytest.approx(1.0, abs=1e-9)  # beta/(1 + 1) = gamma
    for point, tau in zip(points[1:3], (6.0, 10.0), strict=True):
        assert 2 * tau < point.verdict.period_time < 4 * tau  # negative feedback (Mallet-Paret & Nussbaum 1986)


def test_structure_of_delays_and_fields():
    for system_id, dissipative in (("mackey_glass", True), ("kuramoto_sivashinsky", True), ("sine_gordon", False)):
        s = system(system_id)
        study = Study(None, None, Settings(), PROCEDURES)  # type: ignore[arg-type]
        object.__setattr__(study, "e", type("OnlySystem", (), {"system": s})())
        names = (
            "Dissipative",
            "Conservative",
            "HighDimSystem",
            "DelaySystem",
            "ContinuousTime",
            "Autonomous",
            "Random",
        )
        facts = {name: study.predicate(name) for name in names}
        assert all(p.basis == "exact" and p.evidence["fact"] for p in facts.values())
        assert facts["Dissipative"].value is dissipative
        assert facts["Conservative"].value is not dissipative
        assert facts["HighDimSystem"].value
        assert facts["DelaySystem"].value is (s.kind == "dde")
        assert facts["ContinuousTime"].value
        assert facts["Autonomous"].value
        assert not facts["Random"].value
    assert divergence(system("kuramoto_sivashinsky")) < 0


@pytest.mark.slow
def test_mackey_glass_is_labelled():
    row = label(system("mackey_glass"))
    exponents = row["indicators"]["lyapunov_spectrum"]["value"]
    assert row["regime"] == "chaotic"
    assert abs(exponents[1]) < 1e-3 * max(map(abs, exponents))
    # D_KY = 2.132 in reference/values.csv
    assert row["indicators"]["kaplan_yorke_dimension"]["value"] == pytest.approx(2.132, rel=0.01)
    assert row["attractors"][0]["regime"] == "chaotic"
    values = {name: p["value"] for name, p in row["predicates"].items()}
    assert [values[n] for n in ("Chaotic", "StrangeAttr", "Sensitive", "DelaySystem")] == ["TRUE"] * 4
    assert [values[n] for n in ("HyperChaotic", "HighDimensional", "Conservative")] == ["FALSE"] * 3


@pytest.mark.slow
@pytest.mark.parametrize(("system_id", "least"), [("dysts_ikedadelay", 2), ("dysts_vossdelay", 2)])
def test_delays_of_dysts_are_chaotic(system_id, least):
    s = system(system_id)
    e = gathered(reference_start(s, Settings(), 4), Settings())[0]
    assert regime(e).is_chaotic
    assert int((np.array(e.spectrum.value) > 3 * np.array(e.spectrum.error)).sum()) >= least
    assert np.abs(np.array(e.spectrum.value)).min() < 0.02 * max(np.abs(np.array(e.spectrum.value)))


@pytest.mark.slow
def test_the_mackey_glass_system_of_dysts_is_on_a_cycle():
    """docs/dysts.md: at the package's own parameters the exponent is 0, and the orbit repeats after T = 191.6."""
    row = label(system("dysts_mackeyglass"))
    assert row["regime"] == "periodic"
    assert row["period_time"] == pytest.approx(191.65, abs=0.1)


@pytest.mark.slow
def test_fields_are_labelled():
    ks, sg = label(system("kuramoto_sivashinsky")), label(system("sine_gordon"))
    # at the benchmark's L = 32 a chaotic transient ends on a steady state; its translations are as steady
    assert (ks["regime"], ks["stability"]) == ("fixed_point", "neutral")
    assert ks["predicates"]["Chaotic"]["value"] == "FALSE"
    assert (sg["regime"], sg["stability"]) == ("periodic", "neutral")
    assert sg["period_time"] == pytest.approx(2 * math.pi / 0.8, rel=1e-4)  # of the breather of frequency 0.8


@pytest.mark.slow
def test_kuramoto_sivashinsky_of_length_22_is_chaotic():
    """lambda_1 = 0.043 (Cvitanovic, Davidchack & Siminos 2010, SIAM J. Appl. Dyn. Syst. 9:1)."""
    s = system("kuramoto_sivashinsky").with_values({"L": 22.0})
    e = gathered(reference_start(s, Settings(), 16), Settings())[0]
    assert regime(e).is_chaotic
    assert e.largest.number == pytest.approx(0.043, abs=float(e.largest.evidence["error_999"]) + 0.002)
