"""The release: written and read back whole, compared point by point, and matched so that position says nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bench.ground_truth import (
    SHIPPED,
    NoReleaseError,
    brackets,
    card,
    compared,
    drawn,
    points,
    proofs,
    recomputed,
    sweeps,
    write_release,
)
from bench.instances import equation_classes, instances, matched, position_rule
from bench.release import public
from benchmarks.pages import with_table
from benchmarks.release_figures import DOCS, holdings, undecided
from dynamics.registry import system, system_ids, variant_ids
from dynamics.system import Sweep
from labeling.points import label
from labeling.settings import Settings
from labeling.sweeps import swept

SETTINGS = Settings(records=1000, series=4096)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    s = system("logistic_r4")
    row, result = label(s, SETTINGS), swept(s, Sweep("r", 2.8, 4.0, 24), SETTINGS)
    write_release(folder, [row], [result], [], SETTINGS)
    return folder


def test_what_is_written_is_read_back(release: Path) -> None:
    table = points(release)
    assert list(table["sweep"]) == ["reference"] + ["r"] * 24
    (first,) = (row for row in drawn(25, 0, release) if row["sweep"] == "reference")
    again = public(label(system("logistic_r4"), SETTINGS))
    assert {key: first[key] for key in again} == json.loads(json.dumps(again))
    assert {b["kind"] for b in brackets(release)} >= {"period_doubling", "tangent"}
    certified = table[(table["regime"] == "periodic") | (table["regime"] == "fixed_point")]["certificates"]
    assert all(json.loads(text) for text in certified)
    assert {x for text in table["certificates"] for x in json.loads(text)} == {c["sha256"] for c in proofs(release)}


def test_points_are_the_same_when_labelled_again(release: Path) -> None:
    for row in drawn(4, 1, release):
        assert recomputed(row).identical
    (reference,) = (row for row in drawn(99, 0, release) if row["sweep"] == "reference")
    assert recomputed(reference).identical


def test_what_differs_is_told(release: Path) -> None:
    (row,) = (row for row in drawn(25, 0, release) if row["sweep"] == "reference")
    near = json.loads(json.dumps(row))
    near["indicators"]["lyapunov_max"]["value"] *= 1 + 1e-12
    assert not compared(row, near).identical
    assert compared(row, near).beyond == ()
    wrong = json.loads(json.dumps(row))
    wrong["indicators"]["lyapunov_max"]["value"] += 1.0
    wrong["regime"], wrong["predicates"]["Chaotic"]["value"] = "periodic", "FALSE"
    told = compared(row, wrong).beyond
    assert len(told) == 3
    assert told[:2] == ("regime was chaotic and is periodic", "Chaotic was TRUE and is FALSE")
    assert told[2].startswith("lyapunov_max was 0.69")


def test_a_release_keeps_what_it_has_of_others(release: Path, tmp_path: Path) -> None:
    s, other = system("logistic_r4"), system("henon")
    row, result = label(s, SETTINGS), swept(s, Sweep("r", 2.8, 4.0, 24), SETTINGS)
    there, along = label(other, SETTINGS), swept(other, Sweep("a", 0.2, 0.4, 4), SETTINGS)
    write_release(tmp_path / "at once", [row, there], [result, along], [], SETTINGS)
    write_release(tmp_path / "by parts", [there], [along], [], SETTINGS)
    for _ in range(2):  # what is labelled again stands there once
        write_release(tmp_path / "by parts", [row], [result], [], SETTINGS)
    for read in (brackets, sweeps, proofs):
        by_parts, at_once = (sorted(map(json.dumps, read(tmp_path / name))) for name in ("by parts", "at once"))
        assert by_parts == at_once
    tables = (points(tmp_path / name) for name in ("by parts", "at once"))
    made, once = (t.sort_values(["system_id", "sweep"], kind="stable", ignore_index=True) for t in tables)
    pd.testing.assert_frame_equal(made, once)
    (tmp_path / "by parts" / "sweeps.jsonl").write_text("{")
    with pytest.raises(NoReleaseError, match="is damaged"):
        write_release(tmp_path / "by parts", [row], [result], [], SETTINGS)


def test_a_missing_release_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(NoReleaseError, match="there is no points"):
        points(tmp_path)


def test_classes_join_twins_and_variants() -> None:
    classes = equation_classes()
    assert classes.keys() == {*system_ids(), *variant_ids()}
    assert classes["dysts_map_logistic"] == classes["logistic_r4"] == classes["logistic_r4__coupled"] == "logistic_r2_8"
    assert classes["dysts_lorenz"] == classes["lorenz63__noise"] == "lorenz63"
    assert len({classes["lorenz63"], classes["rossler"], classes["henon"]}) == 3


def made_up(seed: int, systems: int = 160) -> pd.DataFrame:
    """Sweeps of invented systems, in most of which chaos lies above a threshold."""
    rng = np.random.default_rng(seed)
    rows = []
    for n in range(systems):
        lo, edge, above = rng.uniform(0, 5), rng.uniform(0.3, 0.7), rng.random() < 0.8
        for x in np.linspace(0, 1, 32):
            truth = "TRUE" if (x > edge) == above else "FALSE"
            rows.append({"system_id": f"s{n}", "sweep": "a", "params": json.dumps({"a": lo + 3 * x}), "Chaotic": truth})
    return pd.DataFrame(rows)


def test_position_tells_the_truth_until_it_is_matched() -> None:
    found = instances(made_up(1))
    assert found["position"].between(0, 1).all()
    assert position_rule(found, "Chaotic") > 0.3
    even = matched(found, "Chaotic")
    assert len(even) > 0.3 * len(found)
    assert (even["Chaotic"] == "TRUE").mean() == 0.5
    assert abs(position_rule(even, "Chaotic")) <= 0.1
    shuffled = matched(found.sample(frac=1, random_state=5), "Chaotic")
    assert sorted(even.index) == sorted(shuffled.index)


def test_margin_is_the_distance_to_the_nearest_bracket_and_0_inside() -> None:
    table = made_up(2, systems=2)
    bracket = {"system_id": "s0", "parameter": "a", "lo": 2.0, "hi": 2.1}
    found = instances(table, [bracket])
    mine = found[found["system_id"] == "s0"]
    expected = np.maximum(np.maximum(2.0 - mine["value"], mine["value"] - 2.1), 0.0) / 3
    assert (expected == 0.0).any()
    assert mine["margin"].to_numpy() == pytest.approx(expected.to_numpy())
    assert found[found["system_id"] == "s1"]["margin"].isna().all()


def test_the_shipped_card_is_that_of_the_shipped_rows() -> None:
    made = card(points(), len(sweeps()), len(brackets()), len(proofs()))
    assert (SHIPPED / "README.md").read_text("utf-8") == made


@pytest.mark.parametrize(("page", "table"), [("ground_truth.md", holdings), ("predicates.md", undecided)])
def test_tables_of_docs_are_those_of_the_release(page: str, table: Callable[[], list[str]]) -> None:
    text = (DOCS / page).read_text("utf-8")
    assert with_table(text, table()) == text
