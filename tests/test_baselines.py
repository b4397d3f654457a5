"""Shortcuts: each planted kind is found by its baseline, random answers by none."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import matthews_corrcoef

from bench import wording
from bench.baselines import PREDICTORS, answers, baselines, described, majority
from bench.intervals import accuracy, confusion, mcc
from bench.questions_file import read_questions

PUBLISHED = Path(__file__).parents[2] / "shared" / "chaosbench_v2"
PREDICATES = ("chaotic", "periodic", "ergodic", "mixing", "bounded", "dissipative")
FRAMES = ("Is the {n} {p} at r={v}?", "At r={v}, would you call the {n} {p}?", "With r={v}, does {p} describe the {n}?")
LETTERS = "bcdfghklmnprstvz"
WORDS = {"words", "words, boosted"}
GOOD = {"id": "1", "question": "Is the Lorenz system chaotic?", "ground_truth": "TRUE", "type": "atomic",
        "system_id": "lorenz63", "template": "V2"}  # fmt: skip


def made_up(truth: Callable[[dict[str, Any]], bool], clusters: int = 60, each: int = 20, seed: int = 0) -> pd.DataFrame:
    """Questions of one family about invented systems, whose answers are a function of what each is made of."""
    rng = np.random.default_rng(seed)
    rows = []
    for c in range(clusters):
        name = "".join(rng.choice(list(LETTERS), 6)).capitalize() + rng.choice(["on", "ix"])
        inclined: dict[str, bool] = {p: bool(rng.random() < 0.5) for p in PREDICATES}
        for k in range(each):
            one = {"n": name, "p": str(rng.choice(PREDICATES)), "v": round(float(rng.uniform(1, 9)), 3),
                   "frame": int(rng.integers(len(FRAMES))), "long": bool(rng.random() < 0.5),
                   "word": bool(rng.random() < 0.5), "coin": bool(rng.random() < 0.5),
                   "inclined": inclined}  # fmt: skip
            text = FRAMES[one["frame"]].format(**one)
            text = f"{'Mind the gap' if one['word'] else 'Mark the gap'}. {text}"
            if one["long"]:
                text = f"Please answer in a single word and add nothing else. {text}"
            rows.append({"id": f"{c}-{k}", "question": text, "ground_truth": "TRUE" if truth(one) else "FALSE",
                         "type": "atomic", "system_id": f"made{c}", "template": None, "name": name,
                         "params": {"r": one["v"]}})  # fmt: skip
    return pd.DataFrame(rows)


def found(questions: pd.DataFrame) -> dict[str, float]:
    """The MCC of every baseline."""
    return {r.baseline: r.found.value or 0.0 for r in baselines(questions) if r.metric == "mcc"}


def noisy(told: Callable[[dict[str, Any]], bool], twentieths: int = 1) -> Callable[[dict[str, Any]], bool]:
    """What is told, and in so many twentieths of the questions the opposite."""
    return lambda one: told(one) ^ (round(one["v"] * 1000) % 20 < twentieths)


def test_random_answers_stay_under_every_limit() -> None:
    results = baselines(made_up(lambda one: one["coin"], clusters=80, each=40))
    assert {r.baseline for r in results} == {*PREDICTORS, "always TRUE", "always FALSE"}
    assert [(r.baseline, r.found) for r in results if r.over] == []


@pytest.mark.parametrize(
    ("told", "finder", "may_see"),
    [
        (lambda one: one["p"] in PREDICATES[:3], "predicate", {*WORDS, "shape"}),
        (lambda one: one["frame"] == 1, "form", {*WORDS, "shape"}),
        (lambda one: one["long"], "shape", {*WORDS, "form"}),
        (lambda one: one["v"] > 5, "numbers", set()),
        (lambda one: one["word"], "words", {"words, boosted", "form"}),
        (lambda one: one["word"], "words, boosted", {"words", "form"}),
        (lambda one: one["n"].endswith("on"), "name", {"usual answer"}),
        (lambda one: one["inclined"][one["p"]], "usual answer", set()),
    ],
    ids=["predicate", "form", "shape", "numbers", "words", "words, boosted", "name", "usual answer"],
)
def test_a_planted_shortcut_is_found_by_its_baseline(told: Callable[..., bool], finder: str, may_see: set[str]) -> None:
    """And by no other but those that rightly see it too: a form and a predicate are words, and have a length.

    What is usual of a system can only be told of predicates of which it has both answers, in several questions.
    """
    usual = finder == "usual answer"
    values = found(made_up(noisy(told, 3 if usual else 1), *((40, 120) if usual else (60, 20))))
    assert values[finder] > 0.5, values
    assert max(abs(values[name]) for name in values.keys() - may_see - {finder}) < 0.2, values


def test_the_majority_leaves_its_own_unit_out() -> None:
    """Three systems say TRUE, one FALSE in ten questions; without itself each meets the others."""
    units = ["a", "b", "c", *["d"] * 10]
    truth = np.array([True] * 3 + [False] * 10)
    assert majority(["x"] * 13, units, truth)[3:].tolist() == [1.0] * 10
    alone = majority(["x", "y"], ["a", "b"], np.array([True, False]), seed=1)
    assert alone.tolist() == np.random.default_rng(1).integers(0, 2, 2).astype(float).tolist()  # nothing was learnt


def test_clusters_are_the_blocks_given_or_else_systems_and_texts() -> None:
    rows = pd.DataFrame([GOOD, GOOD | {"system_id": "generic"}, GOOD | {"system_id": None, "question": "Is it?"},
                         GOOD | {"system_id": "henon_vs_vdp"}]).assign(name=None)  # fmt: skip
    made = described(rows)
    text = "text Is the Lorenz system chaotic?"
    assert made["cluster"].tolist() == ["lorenz63", text, "text Is it?", "henon"]
    assert made["partner"].tolist() == ["lorenz63", text, "text Is it?", "vdp"]
    assert made["text"].iloc[0] == "Is the @ system chaotic?"
    made = described(rows.assign(cluster=["b1", "b1", None, "b2"]))
    assert made["cluster"].tolist() == made["partner"].tolist() == ["b1", "b1", "text Is it?", "b2"]


@pytest.mark.parametrize("inside", [True, False])
def test_an_exact_balance_is_not_a_shortcut(inside: bool) -> None:
    """Of each predicate exactly half are TRUE: what is left out leans the other way, and must not be answered wrong."""
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(80), 30)
    cell = np.tile(np.arange(30) % 6, 80)
    truth = np.zeros(2400, dtype=bool)
    for c in range(6):
        if inside:
            truth[rng.permutation(np.flatnonzero(cell == c))[:200]] = True
        else:
            truth[(cell == c) & np.isin(unit, rng.permutation(80)[:40])] = True
    assert abs(matthews_corrcoef(truth, majority(cell.tolist(), unit.tolist(), truth) == 1.0)) < 0.06


def test_models_know_neither_system_of_a_pair() -> None:
    """Names are one letter, so that a system's own questions alone could tell its answer."""
    rng = np.random.default_rng(3)
    names = [f"{a}{b}" for a in "bcdfg" for b in "klmnp"]
    truth = {name: bool(rng.random() < 0.5) for name in names}
    pairs = [(a, b) for a in names for b in names if a != b]
    rows = pd.DataFrame([{"id": f"{a}{b}", "question": f"Does {a} show more chaotic behavior than {b}?",
                          "ground_truth": "TRUE" if truth[b] else "FALSE", "type": "pairs", "system_id": f"{a}_vs_{b}",
                          "template": None, "name": None} for a, b in pairs])  # fmt: skip
    table = described(rows)
    assert table["cluster"].iloc[0] == "bk"
    assert table["partner"].iloc[0] == "bl"
    said = answers("name", table, 0)
    assert not isinstance(said, str)
    assert abs(matthews_corrcoef(table["truth"], said == 1.0)) < 0.5


def test_what_cannot_be_computed_says_why() -> None:
    plain = made_up(lambda one: one["coin"], clusters=12, each=10).drop(columns="params")
    plain["question"] = "Is it so?"
    reasons = {r.baseline: r.found.reason for r in baselines(plain) if r.found.value is None}
    assert reasons["usual answer"] == "no question has params and a predicate"
    assert reasons["numbers"] == "no question prints a number or has params"
    assert "predicate" in reasons
    alone = baselines(plain.assign(system_id="one"))
    assert all(r.found.reason for r in alone)
    assert not any(r.over for r in alone if r.metric == "mcc")
    same = baselines(plain.assign(ground_truth="TRUE"))
    assert {r.found.reason for r in same if r.baseline == "form"} == {"all gold answers are the same"}
    assert {r.baseline: r.over for r in same if r.metric == "accuracy"} == {"always TRUE": True, "always FALSE": True}


@pytest.mark.parametrize(
    ("text", "asked", "negated", "printed"),
    [
        ("Is it false that @ is @ bounded?", "Bounded", 1, []),
        ("Would it be incorrect to say @ is not strongly mixing?", "StrongMixing", 2, []),
        ("A system is random if it has noise not explained by deterministic rules. Is the @ one?", "Random", 0, []),
        ("Given that the system is chaotic, is the @ system highdimsystem?", "HighDimSystem", 0, []),
        ("A physicist would say it is ergodic: true or false?", "Ergodic", 0, []),
        ("At r=3.83, is the @ in a periodic regime?", "Periodic", 0, ["3.83"]),
        ("K=-0.02 of the @. Is this externally forced (non-autonomous)?", "Forced", 0, ["-0.02"]),
        ("Is it so?", None, 0, []),
    ],
)
def test_what_a_question_asks(text: str, asked: str | None, negated: int, printed: list[str]) -> None:
    assert wording.predicate_asked(text) == asked
    assert wording.negations(text) == negated
    assert wording.figures(text) == printed


def test_names_are_masked_whole_or_in_pieces() -> None:
    texts = pd.Series(
        ["Is the Henon map chaotic?", "Is it false that Hadley is (dysts) bounded?", "Chen chaotic system?"]
    )
    names = {"henon": ["Hénon map"], "hadley": ["Hadley (dysts)"], "chen": ["Chen chaotic system"]}
    made = wording.masked(pd.Series(texts), pd.Series([*names]), names)
    assert made.tolist() == ["Is the @ chaotic?", "Is it false that @ is @ bounded?", "@?"]


def test_the_correlation_is_that_of_sklearn() -> None:
    rng = np.random.default_rng(1)
    for share in (0.2, 0.5, 0.9):
        truth, said = rng.random(200) < share, rng.random(200) < 0.4
        cluster = rng.integers(0, 10, 200)
        counts = confusion(truth, said, cluster)
        assert counts.sum() == 200
        assert float(mcc(counts.sum(axis=0))) == pytest.approx(matthews_corrcoef(truth, said))
        assert float(accuracy(counts.sum(axis=0))) == pytest.approx((truth == said).mean())
    assert float(mcc(np.array([5.0, 5.0, 0.0, 0.0]))) == 0.0
    assert np.isnan(mcc(np.array([5.0, 0.0, 0.0, 5.0])))


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def test_broken_lines_are_told_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = [GOOD, "{", [1], GOOD | {"id": "2", "ground_truth": "MAYBE"}, GOOD, GOOD | {"id": 3}, "",
             GOOD | {"id": "4"}, {"id": "5"}, GOOD | {"id": "6", "system_id": 7}]  # fmt: skip
    questions, faults = read_questions(written(tmp_path / "q.jsonl", lines))
    assert questions["id"].tolist() == ["1", "4"]
    assert questions["line"].tolist() == [1, 8]
    assert [fault.line for fault in faults] == [2, 3, 4, 5, 6, 9, 10]
    told = [fault.sentence for fault in faults]
    parts = ("not JSON", "list, not an object", "TRUE or FALSE is needed", "is that of q.jsonl, line 1", "id is",
             "no question, no ground_truth", "system_id is")  # fmt: skip
    for part, sentence in zip(parts, told, strict=True):
        assert part in sentence
    (tmp_path / "bytes.jsonl").write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\xff\n")
    questions, (fault,) = read_questions(tmp_path / "bytes.jsonl")
    assert (len(questions), str(fault)) == (1, f"{tmp_path / 'bytes.jsonl'}, line 2: byte 1 is not UTF-8")


def test_folders_are_read_whole(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    written(tmp_path / "data" / "a.jsonl", [GOOD])
    written(tmp_path / "data" / "b.jsonl", [GOOD | {"id": "2"}])
    written(tmp_path / "other.jsonl", [GOOD | {"id": "3"}])
    (tmp_path / "systems").mkdir()
    (tmp_path / "systems" / "x.json").write_text('{"system_id": "lorenz63", "name": "Lorenz-63 system"}')
    for path, ids in ((tmp_path, ["1", "2"]), (tmp_path / "data", ["1", "2"]), (tmp_path / "data" / "b.jsonl", ["2"])):
        questions, faults = read_questions(path)
        assert (questions["id"].tolist(), faults) == (ids, [])
        assert set(questions["name"]) == {"Lorenz-63 system"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (None, "there is no such file or folder"),
        ([], "this file is empty"),
        ([{"id": "1"}, {"id": "2"}], "no question, no ground_truth, no type; this holds for each of its 2 lines"),
        ([GOOD | {"ground_truth": "yes"}] * 2, "ground_truth is 'yes'; TRUE or FALSE is needed; this holds for each"),
    ],
)
def test_a_file_without_questions_is_one_sentence_and_status_2(
    rows: list[Any] | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "q.jsonl"
    if rows is not None:
        written(path, rows)
    done = bench("baselines", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from cli.main import main; main()", *arguments],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def test_the_command_says_what_is_over_its_limit(tmp_path: Path) -> None:
    leaky = made_up(lambda one: one["frame"] == 1 or (one["frame"] == 2 and one["coin"]), clusters=25, each=12)
    path = written(tmp_path / "q.jsonl", [*leaky.to_dict("records"), "{"])
    one, two = (bench("baselines", str(path), "--json", "--jobs", jobs, "--out", str(tmp_path / jobs)) for jobs in "12")
    assert one.returncode == 1
    assert "q.jsonl, line 301: this is not JSON" in one.stderr
    assert one.stdout == two.stdout == (tmp_path / "1").read_text()
    rows = {row["baseline"]: row for row in map(json.loads, one.stdout.splitlines())}
    assert rows["form"]["over"]
    assert rows["form"]["inverted"]["hi"] == -rows["form"]["lo"]
    assert {"value", "lo", "hi", "n", "n_clusters", "interval", "reason"} <= rows["form"].keys()
    assert "baseline" in bench("baselines", str(path), "--limit", "1", "--usual-limit", "1").stdout
    fair = made_up(lambda one: one["coin"], clusters=25, each=12, seed=1)
    path = written(tmp_path / "fair.jsonl", fair.to_dict("records"))
    assert bench("baselines", str(path), "--limit", "1", "--usual-limit", "1").returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published benchmark is not here")
def test_the_published_set_has_the_shortcuts_that_were_found_by_hand() -> None:
    """Predicate majority: 0.8441 on the atomic file, recomputed independently. The n-grams differ in kind, so 0.1.

    The majority of an unclear predicate is a coin here, and the family has 307 questions more, which may move 0.01.
    """
    questions, faults = read_questions(PUBLISHED)
    assert (len(questions), faults) == (40886, [])
    values = {(r.family, r.baseline): r.found.value for r in baselines(questions)}
    assert values["atomic", "predicate"] == pytest.approx(0.8441, abs=0.01)
    assert values["multi_hop", "form"] == 1.0
    hand = {"atomic": 0.79, "adversarial_misleading": 0.82, "consistency_paraphrase": 0.84, "perturbation": 0.85,
            "fol_inference": 0.98, "multi_hop": 1.00}  # fmt: skip
    for family, value in hand.items():
        best = max(values[family, name] or 0.0 for name in ("words", "words, boosted"))
        assert best == pytest.approx(value, abs=0.1), family
