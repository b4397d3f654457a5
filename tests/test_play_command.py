"""`bench play` as it is used."""

import json

import pytest
from typer.testing import CliRunner

from bench.games.catalogue import games
from bench.games.metrics import figures
from bench.games.playing import played_by
from cli.main import app
from cli.options import UsageError

RUN = CliRunner()


def lines(*words, status=0, typed=None):
    result = RUN.invoke(app, ["play", *words], input=typed)
    assert result.exit_code == status, result.output
    return [json.loads(line) for line in result.output.splitlines() if line.startswith("{")]


def test_the_list_counts_the_games_of_every_cell():
    *cells, total = lines("--list", "--json")
    counts = {row["cell"]: row["games"] for row in cells if not row["cell"].startswith("dynamics")}
    assert (len(counts), sum(counts.values()), min(counts.values())) == (12, 474, 39)
    assert total["instances"] == 2370
    assert total["largest_share"][1] < 0.1


def test_episodes_are_written_scored_and_replayed(tmp_path):
    path = str(tmp_path / "episodes.jsonl")
    played = lines("--player", "greedy", "--game", "tree-inductive", "--difficulty", "1", "--out", path, "--json")
    assert played[0]["success_rate"] == 100.0
    assert lines("--score", path, "--json") == played
    assert lines("--replay", path, "--json") == [{"episodes": 39, "differences": []}]
    text = (tmp_path / "episodes.jsonl").read_text().replace('"Success"', '"Failure"', 1)
    (tmp_path / "episodes.jsonl").write_text(text)
    assert len(lines("--replay", path, "--json", status=1)[0]["differences"]) == 1


def test_a_person_plays_at_the_terminal():
    (row,) = lines("--human", "--json", typed="<query_odd></query_odd>\n<answer>9</answer>\n")
    assert (row["game"], row["status"], row["turns"]) == ("set-deductive-01", "Failure", 2)


def test_the_probe_is_played_with_its_control():
    rows = lines("--player", "greedy", "--game", "set-inductive", "--wrapper", "counterfactual", "--json")
    (revision,) = [row for row in rows if row["of"] == "revision"]
    assert (revision["probe"], revision["control"]) == (1.0, 1.0)
    assert revision["pairs"] > 10


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give one of"), (["--list", "--verify"], "give one of"), (["--player", "x"], "there is none"),
        (["--player", "greedy", "--game", "set-deductiv"], "did you mean"), (["--score", "nowhere"], "cannot be read"),
        (["--player", "greedy", "--wrapper", "x"], "there is none"),
        (["--player", "greedy", "--game", "dynamics"], "reference"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_clear_sentence(words, said):
    result = RUN.invoke(app, ["play", *words])
    assert isinstance(result.exception, UsageError)
    assert said in str(result.exception)


@pytest.mark.slow
def test_the_greedy_player_wins_every_instance_and_guessing_stands_last():
    rows = [played_by(p, name, d, "clean", 0) for p in ("greedy", "random") for name in games() for d in range(1, 6)]
    ranking = figures(rows)
    assert ranking[0].success_rate == 100.0
    assert [one.player for one in ranking] == ["greedy", "random", "guess at once (exact)"]
