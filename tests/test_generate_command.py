"""`bench generate`: the same command, the same bytes; wrong use is told in one sentence."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from bench.release import packed
from cli.main import app


@pytest.fixture(scope="module")
def release(made_up, tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    (folder / "points.parquet").write_bytes(packed(made_up))
    (folder / "thresholds.jsonl").write_bytes(b"")
    return folder


def generated(release, out, *options):
    return CliRunner().invoke(app, ["generate", "--release", str(release), "--out", str(out), *options])


def test_the_same_command_writes_the_same_bytes(release, tmp_path):
    options = ["--family", "atomic=24", "--family", "multi_hop=24", "--seed", "3"]
    places = [tmp_path / name for name in ("one", "other")]
    done = [generated(release, place, *options) for place in places]
    assert [run.exit_code for run in done] == [0, 0]
    names = [path.relative_to(places[0]) for path in sorted(places[0].rglob("*")) if path.is_file()]
    names = [name for name in names if name.name != "run.json"]  # which has the time that it took
    assert {"questions.jsonl", "README.md"} <= {str(name) for name in names}
    assert all((places[0] / name).read_bytes() == (places[1] / name).read_bytes() for name in names)
    assert "48 questions" in done[0].output
    card = (places[0] / "README.md").read_text("utf-8")
    assert "bench generate --family atomic=24 --family multi_hop=24 --seed 3" in card


def test_rows_are_printed_for_programs(release, tmp_path):
    run = generated(release, tmp_path, "--family", "atomic=8", "--json", "--book", "open", "--lang", "zh")
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(rows) == 8
    assert {(row["book"], row["lang"]) for row in rows} == {("open", "zh")}


def test_own_systems_are_asked_about_by_their_equations(made_up, tmp_path):
    """Points of a system that is in no list, in a release beside others."""
    known = made_up[made_up["system_id"] == "logistic_r4"]
    (tmp_path / "points.parquet").write_bytes(packed(pd.concat([made_up, known.assign(system_id="mine")])))
    (tmp_path / "thresholds.jsonl").write_bytes(b"")
    file = tmp_path / "mine.toml"
    file.write_text('kind = "map"\nstate = { x = 0.3 }\nparameters = { r = 4 }\nrule = ["r*x*(1 - x)"]\n')
    run = generated(tmp_path, tmp_path / "without", "--family", "atomic=200")
    assert "has points of mine, which is not in the list of systems; --system mine.toml says what it is" in str(
        run.exception
    )
    run = generated(tmp_path, tmp_path / "set", "--family", "atomic=40", "--system", str(file), "--json")
    rows = [row for row in map(json.loads, run.stdout.splitlines()) if row["system_id"] == "mine"]
    assert rows
    assert all("x -> r*x*(1 - x)" in row["question"] for row in rows)
    run = generated(tmp_path, tmp_path / "set", "--family", "atomic=8", "--system", str(file), "--fresh")
    assert "--fresh draws values for systems of the list" in str(run.exception)
    (tmp_path / "henon.toml").write_text(file.read_text())
    for own, sentence in ((tmp_path / "henon.toml", "henon is in the list already"), (file, "mine is in the list")):
        run = generated(tmp_path, tmp_path / "set", "--family", "atomic=8", "--system", str(own), "--system", str(own))
        assert sentence in str(run.exception)


@pytest.mark.parametrize(("options", "sentence"), [
    ([], "no rows are asked for; give --preset v2, --preset small, or --family NAME=N"),
    (["--preset", "v3"], "--preset: there is no 'v3'; there are v2, small"),
    (["--family", "atomic"], "--family: 'atomic' is not of the form NAME=N, such as atomic=500"),
    (["--family", "atomic=-1"], "--family: 'atomic=-1' is not of the form NAME=N"),
    (["--family", "atoms=5"], "--family: there is no 'atoms'; there are atomic"),
    (["--family", "atomic=8", "--book", "shut"], "--book: there is no 'shut'; there are closed, open, data"),
    (["--family", "atomic=8", "--lang", "de"], "--lang: there is no 'de'; there are en, zh"),
    (["--family", "atomic=9000"], "atomic: 9000 rows are asked and"),
    (["--family", "cross_indicator=8"], "there is no diagnostics.parquet in"),
])  # fmt: skip
def test_wrong_use_is_told_in_one_sentence(release, tmp_path, options, sentence):
    run = generated(release, tmp_path, *options)
    assert run.exit_code != 0
    assert sentence in str(run.exception)


def test_a_folder_without_ground_truth_is_told(tmp_path):
    run = generated(tmp_path, tmp_path / "out", "--family", "atomic=8")
    assert "there is no points.parquet in" in str(run.exception)
