"""Labelled sets against the axioms: what is counted, which files are read, and how wrong ones are refused."""

import json

import pandas as pd
import pytest

from bench.cross_check import FEWEST, LabelsError, cross_check, labelled_sets
from bench.ground_truth import NoReleaseError
from bench.release import flat
from labeling.axioms import published, repaired
from labeling.predicate import NAMES

RELEASE_COLUMNS = {"indicators": {}, "period": None}


def row(system_id="banded", r=3.6, **values):
    """A labelled row: predicates that are not given are UNDECIDED."""
    predicates = {
        name: {"value": values.get(name, "UNDECIDED"), "basis": "measured", "evidence": {"by": "hand"}}
        for name in NAMES
    }
    return {"system_id": system_id, "params": {"r": r}, "initial_condition": {"x": 0.1}, "predicates": predicates}


START = '{"system_id": "x", "params": {}'
BANDS = {"Chaotic": "TRUE", "Mixing": "FALSE"}


def tallied(path, system):
    return {t.axiom.id: t for t in cross_check(labelled_sets(path), system)}


def written(folder, *rows):
    path = folder / "labels.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


def test_sets_are_counted_once_and_violations_have_examples_of_three_systems(tmp_path):
    rows = [row(f"system{n % 5}", float(n), **BANDS) for n in range(FEWEST - 1)]
    found = tallied(written(tmp_path, *rows, rows[0], row(Chaotic="TRUE")), published())
    bands = found["Chaotic->Mixing"]
    assert (bands.tested, bands.violations, bands.enough) == (FEWEST - 1, FEWEST - 1, False)
    assert [s.system_id for s in bands.examples] == ["system0", "system1", "system2"]
    assert bands.examples[0].row["params"] == {"r": 0.0}
    assert found["Chaotic->PosLyap"].tested == 0
    found = tallied(written(tmp_path, *rows, row(**BANDS)), published())
    assert (found["Chaotic->Mixing"].tested, found["Chaotic->Mixing"].enough) == (FEWEST, True)


def test_the_repaired_axioms_are_checked_too(tmp_path):
    found = tallied(written(tmp_path, row(Random="FALSE", Deterministic="FALSE", Mixing="FALSE")), repaired())
    assert [axiom_id for axiom_id, t in found.items() if t.violations] == ["~Random->Deterministic"]


def test_a_set_with_two_labels_is_two(tmp_path):
    """Rows of one set that disagree are both looked at."""
    path = written(tmp_path, row(**BANDS), row(Chaotic="TRUE", Mixing="TRUE"))
    bands = tallied(path, published())["Chaotic->Mixing"]
    assert (bands.tested, bands.violations) == (2, 1)


def test_a_table_and_folders_say_what_the_lines_say(tmp_path):
    rows = [row(r=float(n), **BANDS) for n in range(4)] + [
        row(Periodic="TRUE", Ergodic="TRUE") | {"initial_condition": None}
    ]
    lines = tallied(written(tmp_path, *rows), published())
    table = pd.DataFrame([flat(one | RELEASE_COLUMNS) for one in rows])
    for folder, name in (("run", "sweeps/banded__r.parquet"), ("release", "points.parquet")):
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True)
        table.to_parquet(path)
        for asked in (path, tmp_path / folder):
            found = tallied(asked, published())
            assert {i: (t.tested, t.violations) for i, t in found.items()} == {
                i: (t.tested, t.violations) for i, t in lines.items()
            }
            assert found["Ergodic-/-Periodic"].examples[0].row == lines["Ergodic-/-Periodic"].examples[0].row
    written(tmp_path / "run", *rows, row("another", **BANDS))
    assert tallied(tmp_path / "run", published())["Chaotic->Mixing"].violations == 5


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: it is not JSON"),
        ("[]", "line 2: it is no labelled row"),
        (START + "}", "line 2: .*predicates is missing"),
        (START + ', "predicates": {"Chaotik": {"value": "TRUE"}}}', "line 2: .*did you mean Chaotic"),
        (START + ', "predicates": {"Chaotic": {"value": "yes"}}}', "line 2: 'Chaotic' has no value"),
        (START + ', "predicates": {"Chaotic": "TRUE"}}', "line 2: 'Chaotic' has no value"),
        (START + ', "predicates": {"Chaotic": {"value": []}}}', "line 2: 'Chaotic' has no value"),
        ("[" * 100_000, "line 2: "),
    ],
)  # fmt: skip
def test_a_broken_line_is_named(tmp_path, line, said):
    path = written(tmp_path, row())
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(LabelsError, match=said):
        labelled_sets(path)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        labelled_sets(tmp_path / "nothing.jsonl")
    with pytest.raises(NoReleaseError, match=r"no points\.parquet"):
        labelled_sets(tmp_path)
    with pytest.raises(LabelsError, match="no labelled rows"):
        labelled_sets(written(tmp_path))
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(LabelsError, match="no text"):
        labelled_sets(picture)
    table = tmp_path / "table.parquet"
    table.write_bytes(b"PNG")
    with pytest.raises(LabelsError, match="no Parquet"):
        labelled_sets(table)
    pd.DataFrame({"system_id": ["x"]}).to_parquet(table)
    with pytest.raises(LabelsError, match="no column params"):
        labelled_sets(table)
    pd.DataFrame([flat(row() | RELEASE_COLUMNS) | {"Chaotic": "yes"}]).to_parquet(table)
    with pytest.raises(LabelsError, match="Chaotic has values other than"):
        labelled_sets(table)
