"""`bench axioms`: lists, proofs and checks as they are printed, and how wrong use is refused."""

import json

import pytest
from test_cross_check import BANDS, row, written
from typer.testing import CliRunner

from bench import cross_check
from cli.main import app
from labeling.axioms import published, repaired


def asked(*arguments):
    done = CliRunner().invoke(app, ["axioms", *map(str, arguments)])
    return done.exit_code, done.stdout, done.exception


def printed(*arguments):
    status, out, error = asked(*arguments)
    assert status == 0, error
    return out


def lines(*arguments):
    return [json.loads(line) for line in printed(*arguments, "--json").splitlines()]


def test_the_axioms_are_listed():
    out = printed()
    assert out.endswith("\n78 axioms: 25 definition, 20 needs one attractor, 14 refuted, 10 theorem, 6 depends on"
                        " definition, 3 convention\n")  # fmt: skip
    assert "but: The logistic map at r = 3.6 is chaotic" in out
    assert [one["id"] for one in lines()] == [axiom.id for axiom in published()]
    assert [one["change"] for one in lines("--repaired")] == [axiom.change for axiom in repaired()]
    out = printed("--repaired")
    assert "change: Replaces PosLyap->Sensitive" in out
    assert "Chaotic->Mixing\n    The logistic map at r = 3.6" in out


def test_a_clash_is_proved():
    assert printed("--prove", "Ergodic, Chaotic , ~ Bounded", "--goal", "Mixing").splitlines() == [
        "Ergodic and ~Bounded cannot hold together:",
        "  Ergodic → Bounded, by Ergodic->Bounded (refuted)",
    ]
    (found,) = lines("--prove", "HyperChaotic,Random", "--repaired")
    assert (found["verdict"], found["clash"]) == ("clash", ["HyperChaotic", "Random"])
    assert [step["axiom"] for step in found["proof"]] == [
        "HyperChaotic->Chaotic", "Chaotic->Deterministic", "Deterministic-/-Random",
    ]  # fmt: skip
    assert "one is the negation of the other" in printed("--prove", "Forced,~Forced")


@pytest.mark.parametrize(
    ("goal", "verdict", "steps"),
    [("PosLyap", "entailed", 2), ("Random", "refuted", 2), ("Bounded", "neither", None), ("Chaotic", "entailed", 0)],
)
def test_a_goal_follows_or_its_opposite_or_neither(goal, verdict, steps):
    (found,) = lines("--repaired", "--prove", "Chaotic", "--goal", goal)
    assert (found["verdict"], found["goal"]) == (verdict, goal)
    assert (None if found["proof"] is None else len(found["proof"])) == steps
    out = printed("--repaired", "--prove", "Chaotic", "--goal", goal)
    assert {"entailed": f"{goal} follows", "refuted": f"~{goal} follows", "neither": "neither"}[verdict] in out


def test_without_a_goal_everything_that_follows_is_proved():
    (found,) = lines("--prove", "Mixing, Forced")
    assert [*found["consequences"]] == ["~QuasiPeriodic", "~Periodic", "Bounded", "Ergodic", "~Autonomous"]
    assert "Mixing, Forced: no clash, and 5 more follow\n" in printed("--prove", "Mixing, Forced")
    assert "no clash, and nothing more follows" in printed("--prove", "HighDimSystem")


def test_chains():
    assert "5 steps: HyperChaotic → Chaotic → PosLyap → Sensitive → PointUnpredictable → Bounded" in printed("--chains")
    assert {len(chain) for chain in lines("--chains", "--repaired")} == {4}


def test_a_check_counts_and_shows_who_violates(tmp_path):
    path = written(tmp_path, *(row(f"system{n}", 3.6, **BANDS) for n in range(60)))
    status, out, _ = asked("--check", path)
    assert status == 1
    assert "Chaotic->Mixing                      refuted                tested by     60  violated by    60\n" in out
    assert "    system2 at r = 3.6: Chaotic TRUE (measured: by = hand); Mixing FALSE (measured: by = hand)\n" in out
    assert out.count(" at r = 3.6") == 3
    assert "60 labelled sets of 60 systems against the 78 published axioms: 1 violated, 77 untested" in out
    status, out, _ = asked("--check", "--repaired", path)
    assert (status, "41 repaired axioms: 0 violated, 41 untested" in out) == (0, True)
    status, out, _ = asked("--check", path, "--json")
    (found,) = [one for line in out.splitlines() if (one := json.loads(line))["violations"]]
    assert (status, found["id"], found["tested"], len(found["examples"])) == (1, "Chaotic->Mixing", 60, 3)
    assert [*found["examples"][0]["predicates"]] == ["Chaotic", "Mixing"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--prove", "Chaotik"], "did you mean Chaotic"),
        (["--prove", "Chaotic", "--goal", "~bounded"], "did you mean Bounded"),
        (["--prove", "Chaotic,,Mixing"], "a literal is missing"),
        (["--prove", ""], "a literal is missing"),
        (["--prove", "Chaotic", "--goal", "Mixing, Ergodic"], "one literal"),
        (["--goal", "Mixing"], "--goal needs --prove"),
        (["--chains", "--check"], "ask one of them"),
        (["labels.jsonl"], "without --check"),
        (["--check", "no/such/file"], "No such file"),
    ],
)
def test_wrong_use_is_refused(arguments, said):
    status, out, error = asked(*arguments)
    assert status != 0
    assert out == ""
    assert said in str(error)


def test_a_broken_line_and_a_missing_release_are_named(tmp_path, monkeypatch):
    path = written(tmp_path, row())
    path.write_text("{\n", encoding="utf-8")
    assert "line 1: it is not JSON" in str(asked("--check", path)[2])
    monkeypatch.setattr("bench.ground_truth.SHIPPED", tmp_path / "release")
    monkeypatch.setattr(cross_check, "SHIPPED", tmp_path / "release")
    assert "no points.parquet" in str(asked("--check")[2])
