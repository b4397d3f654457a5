"""Tools within a budget, and the agent that decides by Lyapunov exponents, on systems whose exponents are known."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from bench.intervals import confusion, mcc
from bench.tool_agent import answer, decidable
from bench.tool_budget import Budget, ToolError, named_tools
from bench.tools import Tools

BOTH = ("simulate", "indicator")


def called(name, /, **arguments):
    return json.loads(Tools(BOTH, Budget()).called(name, arguments))


def test_the_exponent_of_the_logistic_map_is_ln_2_within_its_interval():
    found = called("indicator", system="the logistic map", parameters={"r": 4.0}, start={"x": 0.3}, k=1)
    assert found["status"] in ("ok", "not_converged")
    assert abs(found["value"][0] - math.log(2)) <= 2 * found["error"][0]
    assert found["calls_left"] == Budget().calls - 1


def test_states_of_a_cycle_repeat():
    """The 2-cycle of the logistic map at r = 3.2: x = (r + 1 -+ sqrt((r - 3)(r + 1)))/(2 r)."""
    found = called("simulate", system="logistic_r4", parameters={"r": 3.2}, start={"x": 0.3}, length=4, states=4)
    root = math.sqrt(0.2 * 4.2)
    assert sorted(x for (x,) in found["states"][:2]) == pytest.approx([(4.2 - root) / 6.4, (4.2 + root) / 6.4], 1e-5)
    assert found["states"][:2] == found["states"][2:]
    assert np.diff(found["times"]) == pytest.approx(1.0)


@pytest.mark.parametrize(("name", "arguments", "told"), [
    ("simulate", {"system": "lorenz36"}, "there is no system 'lorenz36'"),
    ("indicator", {"system": "henon", "parameters": {"c": 1}}, "henon has no parameter"),
    ("indicator", {"system": "henon", "parameters": [1]}, "an object of names and numbers is needed"),
    ("indicator", {"system": "henon", "name": "label"}, "there is no indicator 'label'"),
    ("indicator", {"system": "henon", "length": 1e9}, "at most 3000000 are made"),
    ("indicator", {"system": "henon", "length": -1}, "must be above 0"),
    ("simulate", {"system": "henon", "states": 10_000}, "from 1 to 200"),
    ("label", {"system": "henon"}, "there is no tool"),
])  # fmt: skip
def test_a_wrong_call_is_answered_with_what_is_wrong(name, arguments, told):
    assert told in json.loads(Tools(BOTH, Budget()).called(name, arguments))["error"]


def test_a_delay_equation_has_exponents_too():
    """Mackey-Glass: chaos beyond tau = 16.8, at rest at x = 1 below 4.53 (Farmer 1982, Physica D 4:366)."""
    found = called("indicator", system="mackey_glass", parameters={"tau": 17.0}, k=2)
    assert (len(found["value"]), found["value"][0] - found["error"][0] > 0.0) == (2, True)
    assert abs(found["value"][1]) <= max(3 * found["error"][1], 1e-4)
    shown = called("simulate", system="mackey_glass", parameters={"tau": 3.0}, states=40, length=40)
    assert np.ptp(shown["states"]) < 1e-6
    assert shown["states"][0] == pytest.approx([1.0], abs=1e-6)


def test_an_orbit_that_escapes_has_no_exponent():
    found = called("indicator", system="henon", parameters={"a": 3.0})
    assert (found["value"], found["status"]) == (None, "diverged")


def test_what_is_beyond_the_budget_is_refused():
    tools = Tools(("indicator",), Budget(calls=1))
    tools.called("indicator", {"system": "henon"})
    assert tools.spent
    assert "the budget is spent" in tools.called("indicator", {"system": "henon"})
    tools = Tools(("indicator",), Budget(seconds=1e-9))
    assert "value" in json.loads(tools.called("indicator", {"system": "henon"}))  # what has begun is finished
    assert tools.spent
    with pytest.raises(ToolError, match="there are simulate, indicator"):
        named_tools("simulate,labels")


@pytest.mark.parametrize(("a", "predicate", "holds"), [
    (1.4, "Chaotic", True), (1.4, "PosLyap", True), (1.4, "HyperChaotic", False),
    (0.9, "Chaotic", False), (1.2652, "PosLyap", False), (3.0, "Chaotic", False),
])  # fmt: skip
@pytest.mark.parametrize("polarity", ["positive", "negative"])
def test_the_agent_knows_the_henon_map(a, predicate, holds, polarity):
    """Chaos at a = 1.4 (Henon 1976), a cycle of period 70 at 1.2652 that is certified, and no orbit left at 3."""
    row = {"id": "q", "system_id": "henon", "params": {"a": a, "b": 0.3}, "predicate": predicate,
           "polarity": polarity, "evidence": {"initial_condition": {"x": 0.0, "y": 0.0}}}  # fmt: skip
    assert answer(row, Tools(BOTH, Budget())) == ("TRUE" if holds == (polarity == "positive") else "FALSE")


@pytest.mark.slow
def test_with_tools_the_agent_scores_095_and_without_them_about_0(tmp_path):
    """On all questions of a set that exponents answer, off every bracket by 1 % of the range."""
    program = [sys.executable, "-c", "from cli.main import main; main()"]
    wanted = ["generate", "--preset", "small", "--seed", "1", "--out", str(tmp_path)]
    subprocess.run([*program, *wanted], check=True, capture_output=True)
    rows = map(json.loads, (tmp_path / "questions.jsonl").read_text(encoding="utf-8").splitlines())
    rows = [row for row in rows if decidable(row) and (row["margin"] or 0.0) >= 0.01]
    assert len(rows) > 200
    truth = [row["ground_truth"] == "TRUE" for row in rows]
    for names, least, most in ((BOTH, 0.95, 1.0), ((), -0.2, 0.2)):
        said = [answer(row, Tools(names, Budget())) == "TRUE" for row in rows]
        assert least <= mcc(confusion(truth, said, np.zeros(len(rows))).sum(axis=0)) <= most + 1e-9
