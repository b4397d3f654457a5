"""bench report: an atlas of three systems, as its files, its data and its text say."""

import json
import math
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bench.ground_truth import SHIPPED
from bench.report.atlas import in_places, index, known_of
from bench.report.orbit_diagram import COLOURS
from bench.report.orbits import orbits
from bench.report.page import asset, page, table
from bench.report.plots import STEPS, columns, dots, packed, panel, plot
from bench.report.system_page import system_page
from cli.main import app, main
from dynamics.registry import system
from dynamics.sweep import Sweep
from labeling.predicate import NAMES
from labeling.workers import Fault

SYSTEMS = ("logistic_r4", "henon", "circle_map_quasiperiodic")
MOST = 2_000_000  # bytes of a page
VOID = {"meta", "link", "input", "br"}


class Read(HTMLParser):
    """A page's addresses, ids, and whether its elements are closed in the order in which they were opened."""

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.tags, self.words = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for key, value in attrs if key in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def written(folder, *words):
    result = CliRunner().invoke(app, ["report", str(folder), *SYSTEMS, "--no-cache", *words])
    assert result.exit_code == 0, result.output
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    folder = tmp_path_factory.mktemp("atlas")
    return folder, written(folder, "--jobs", "1")


def test_every_system_has_a_page_that_weighs_little(atlas):
    _, files = atlas
    assert set(files) == {"index.html", "report.css", "report.js", *(f"systems/{name}.html" for name in SYSTEMS)}
    assert max(map(len, files.values())) < MOST


def test_pages_are_whole_and_lead_nowhere_else(atlas):
    folder, files = atlas
    for name, content in files.items():
        if name.endswith(".html"):
            read = Read(content.decode())
            assert read.open == []
            for address in read.addresses:
                if address not in ("data:,", "#main"):
                    assert (folder / name).parent.joinpath(address).resolve().is_file(), address
    assert b"http" not in files["report.js"] + files["report.css"]
    assert b"url(" not in files["report.css"]


def test_the_same_pages_again_and_by_two_processes(atlas, tmp_path):
    assert written(tmp_path, "--jobs", "2") == atlas[1]


def test_the_index_tells_kinds_regimes_and_predicates(atlas):
    text = atlas[1]["index.html"].decode()
    rows = text.split("<tr data-")[1:]
    assert len(rows) == len(SYSTEMS)
    henon = next(row for row in rows if "henon" in row)
    assert 'kind="map"' in henon
    assert 'data-regime="chaotic"' in henon
    letters = henon.split('data-predicates="')[1].split('"')[0]
    assert len(letters) == len(NAMES) == 27
    assert letters[NAMES.index("Chaotic")] == "T"
    assert letters[NAMES.index("ContinuousTime")] == "F"


def test_a_page_has_what_is_known_of_its_system(atlas):
    text = atlas[1]["systems/henon.html"].decode()
    words = "".join(Read(text).words)
    for heading in ("Equations", "Phase portrait", "Along a", "Indicators", "Labels", "Axioms", "Make it again"):
        assert f"<h2>{heading}</h2>" in text, heading
    assert all(name in words for name in NAMES)
    assert "bench label henon --explain" in words
    assert text.count("<math") == 2
    assert text.count("<details>") >= 27
    figures = [json.loads(part.split("</script>")[0]) for part in text.split('<script type="application/json">')[1:]]
    assert all(one["alt"].endswith(".") for figure in figures for one in figure["panels"])
    assert any(figure["shared"] for figure in figures)


def test_whatever_is_shown_is_escaped():
    evil = "</script><script>alert(1)</script>&\"'"
    s = replace(system("henon"), name=evil, citation=evil)
    known = known_of([s], SHIPPED)
    known[s.id].label["predicates"]["Chaotic"] |= {"reason": evil, "evidence": {evil: evil}}
    drawn = orbits(s, ())
    for text in (system_page(s, known[s.id], drawn, None, None), index([s], known, {evil: "a.html"})):
        assert "alert(1)" in text
        assert "<script>alert" not in text
        assert Read(text).open == []
    made = plot([panel(evil, evil, [dots([0.0], [1.0], "ink")], evil)], evil)
    assert json.loads(made.split('json">')[1].split("</script>")[0])["panels"][0]["alt"] == evil
    assert "<script>alert" not in page(evil, [table([evil], [[evil]], caption=evil)])


def test_a_fault_takes_the_pictures_of_its_own_system_alone():
    s = [system(name) for name in SYSTEMS]
    drawn = [orbits(one, ()) for one in (s[0], s[2])]
    assert list(in_places(s, drawn, [Fault("henon", "trace")])) == [drawn[0], None, drawn[1]]
    text = system_page(s[1], known_of(s, SHIPPED)["henon"], None, None, None)
    assert "without pictures" in text
    assert Read(text).open == []


def test_packed_numbers_are_right_to_half_a_step():
    values = np.array([3.0, math.nan, -1.5, 2.25, 7.0])
    made = packed(values)
    assert [n is None for n in made["n"]] == [False, True, False, False, False]
    back = np.array([math.nan if n is None else made["lo"] + made["step"] * n for n in made["n"]])
    assert np.nanmax(np.abs(back - values)) <= 0.5001 * 8.5 / STEPS
    assert packed([2.0, 2.0]) == {"lo": 2.0, "step": 1.0, "n": [0, 0]}
    assert packed([])["n"] == []


def test_columns_tell_each_place_once():
    made = columns([1.0, 1.0, 1.0, 2.0], [0.0, 0.0, 1.0, 0.5], "ink").data
    assert made["x"] == [1.0, 2.0]
    assert made["y"] == [[0, STEPS], [pytest.approx(STEPS / 2, abs=1)]]


def test_every_regime_has_a_colour():
    assert all(f"--{name}:" in asset("report.css") for name in COLOURS)


def test_orbits_are_those_of_the_logistic_map():
    """Fixed point 1 - 1/r up to r = 3, the cycle of two (Strogatz 2015, sec. 10.3) up to 1 + sqrt 6, ln 2 at r = 4."""
    drawn = orbits(system("logistic_r4"), (Sweep("r", 2.8, 4.0, 32),))
    r, x = drawn.diagrams[0].points.T
    settled = (r < 2.98) & np.isfinite(x)
    assert settled.sum() > 1_000
    np.testing.assert_allclose(x[settled], 1 - 1 / r[settled], atol=1e-8)
    two = (r > 3.02) & (r < 3.44)
    root = np.sqrt((r[two] - 3) * (r[two] + 1))
    ends = np.stack([r[two] + 1 + root, r[two] + 1 - root]) / (2 * r[two])
    assert np.abs(ends - x[two]).min(axis=0).max() < 1e-8
    length, value, error = drawn.growing["lyapunov_max"].points.T
    assert (np.diff(length) > 0).all()
    assert abs(value[-1] - math.log(2)) <= error[-1]
    assert error[-1] < error[0]
    path = drawn.portrait.path[:, 0]
    np.testing.assert_allclose(path[1:], 4 * path[:-1] * (1 - path[:-1]), atol=1e-12)


def said(capsys, monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["bench", "report", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code, capsys.readouterr().err.strip()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("{here}/a", "henom"), "there is no system 'henom'; did you mean henon"),
        (("{here}/file", "henon"), "the folder {here}/file cannot be made"),
        (("{here}/a", "henon", "--release", "{here}"), "there is no points.parquet in {here}"),
        (("{here}/a", "henon", "--audit", "{here}"), "--audit: there is no questions.csv in {here}"),
        (("{here}/a", "henon", "--episodes", "{here}/none"), "none cannot be read"),
        (("{here}/a", "henon", "--predictions", "{here}"), "--predictions and --dataset are given together"),
    ],
)
def test_bad_input_is_told_in_one_sentence(words, told, capsys, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    code, error = said(capsys, monkeypatch, *(word.format(here=tmp_path) for word in words))
    assert code == 2
    assert told.format(here=tmp_path) in error
    assert len(error.splitlines()) == 1


def test_an_audit_and_games_stand_beside_the_atlas(tmp_path):
    run = CliRunner()
    question = {"id": "q1", "question": "Is the Hénon map <b>chaotic</b>?", "ground_truth": "FALSE", "type": "atomic",
                "system_id": "henon"}  # fmt: skip
    (tmp_path / "set.jsonl").write_text(json.dumps(question) + "\n")
    run.invoke(app, ["audit", str(tmp_path / "set.jsonl"), "--out", str(tmp_path / "audit")])
    episodes = tmp_path / "episodes.jsonl"
    words = ["--player", "greedy", "--game", "tree-inductive", "--difficulty", "1", "--out", str(episodes)]
    assert run.invoke(app, ["play", *words]).exit_code == 0
    pages = tmp_path / "pages"
    words = ["--audit", str(tmp_path / "audit"), "--episodes", str(episodes), "--jobs", "1"]
    result = run.invoke(app, ["report", str(pages), "logistic_r4", *words])
    assert result.exit_code == 0, result.output
    start = (pages / "index.html").read_text()
    assert 'href="audit/index.html"' in start
    assert 'href="games/index.html"' in start
    games = "".join(Read((pages / "games" / "index.html").read_text()).words)
    assert "greedy" in games
    assert "39 episodes" in games
    audit = (pages / "audit" / "index.html").read_text()
    assert "contradicted" in audit
    assert (pages / "audit" / "questions.csv").read_bytes() == Path(tmp_path / "audit" / "questions.csv").read_bytes()
