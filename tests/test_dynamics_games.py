"""Games over dynamics, in a laboratory that reads the release, which is fast, and in our own, which is slow."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from bench.games.dynamics import CELLS, INDICATORS, dynamics_games
from bench.games.dynamics_episode import dynamics_episode, dynamics_rules, parsed
from bench.games.dynamics_players import DYNAMICS_PLAYERS, Reference
from bench.games.metrics import figures
from bench.ground_truth import SHIPPED, points

GAMES = dynamics_games(SHIPPED)


class Script:
    def __init__(self, *replies):
        self.replies = list(replies)

    def reply(self, messages):
        return self.replies.pop(0) if self.replies else ""


class Bookkeeper:
    """Measures nothing: it says what the release says, and of a threshold on which side of it a value lies."""

    def __init__(self, game):
        self.game = game

    def measured(self, system_id, params, start):
        if self.game.asked == "threshold":
            (value,) = params.values()
            return {"regime": self.game.sides[value > self.game.bracket[1]]}
        one = next(c for c in self.game.candidates if (c.system_id, dict(c.params)) == (system_id, params))
        pairs = zip(INDICATORS, one.indicators, strict=True)
        return {"indicators": {n: {"value": v, "error": e, "status": s} for n, (v, e, s) in pairs}, "orbit": [[0.0]]}


SOME = list(GAMES)[:: max(1, len(GAMES) // 40)]


@pytest.mark.parametrize("name", SOME)
def test_the_reference_player_wins_within_turns_and_budget(name):
    game = GAMES[name]
    for seed in range(4):
        row = dynamics_episode(game, Reference(game), "reference", seed, Bookkeeper(game))
        assert row["status"] == "Success"
        assert row["turns"] <= 1 + (5 if game.asked == "threshold" else len(INDICATORS))
        assert row["spent"] <= row["budget"] / 2
        assert json.loads(json.dumps(row)) == row


def test_bisection_needs_as_many_turns_as_the_range_can_be_halved():
    some = [game for game in GAMES.values() if game.asked == "threshold"]
    if not some:
        pytest.skip("the release has no sweep with a threshold to play")
    rows = [dynamics_episode(game, Reference(game), "reference", 0, Bookkeeper(game)) for game in some]
    one = next(f for f in figures(rows) if f.player == "reference")
    assert (one.success_rate, one.avg_turns) == (100.0, 6.0)
    assert one.relative_lo.value == pytest.approx(1.0)


@pytest.mark.parametrize("name", SOME)
def test_rules_name_every_possibility_and_no_gap(name):
    rules = dynamics_rules(GAMES[name])
    assert "{" not in rules
    assert all(f"\n{i}. " in rules for i in range(1, len(GAMES[name].candidates) + 1))


@pytest.mark.parametrize("name", SOME)
def test_the_difficulty_is_the_most_queries_that_the_reference_player_asks(name):
    game = GAMES[name]
    rows = [dynamics_episode(game, Reference(game), "reference", seed, Bookkeeper(game)) for seed in range(12)]
    assert max(row["turns"] for row in rows) <= 1 + game.difficulty
    assert 1 <= game.difficulty <= 5
    if game.asked == "threshold":
        assert {row["turns"] for row in rows} == {1 + game.difficulty}


def test_one_of_the_intervals_side_by_side_holds_the_threshold():
    for name in SOME:
        game = GAMES[name]
        if game.asked == "threshold":
            lo, hi = game.range
            edges = [lo + i * (hi - lo) / CELLS for i in range(CELLS)] + [hi]
            said = [Script(f"<submit>{a!r},{b!r}</submit>") for a, b in pairwise(edges)]
            rows = [dynamics_episode(game, one, "script", 0, Bookkeeper(game)) for one in said]
            assert [row["status"] for row in rows].count("Success") == 1


def test_guessing_is_as_good_as_chance_and_two_random_queries_are_better():
    """Of 20 seeds of each game; the share is within four standard errors of chance."""
    won = {"guess": [], "random": []}
    chance = [1 / GAMES[name].n_answers for name in SOME]
    for player, shares in won.items():
        for name in SOME:
            game = GAMES[name]
            rows = [
                dynamics_episode(game, DYNAMICS_PLAYERS[player](game, seed), player, seed, Bookkeeper(game))
                for seed in range(20)
            ]
            assert {row["turns"] for row in rows} == {1 if player == "guess" else 3}
            assert {row["status"] for row in rows} <= {"Success", "Failure"}
            shares.append(np.mean([row["status"] == "Success" for row in rows]))
    spread = np.sqrt(sum(p * (1 - p) / 20 for p in chance)) / len(chance)
    assert np.mean(won["guess"]) == pytest.approx(np.mean(chance), abs=4 * spread)
    assert np.mean(won["random"]) > np.mean(won["guess"]) + 4 * spread


def test_predicates_are_asked_four_at_once():
    some = [game for game in GAMES.values() if game.asked == "predicates"]
    assert all(len(game.names) == 4 and game.n_answers >= 4 for game in some)


WRONG = [
    "", "<submit>", "<submit>a</submit><submit>b</submit>", "<query_regime>nan</query_regime>",
    "<query_regime>1e999</query_regime>", "<query_indicator>os</query_indicator>",
]  # fmt: skip


@pytest.mark.parametrize("reply", WRONG)
def test_wrong_replies_end_a_game(reply):
    for game in list(GAMES.values())[:20]:
        assert parsed(game, reply) is None
        assert dynamics_episode(game, Script(reply), "script", 0, Bookkeeper(game))["status"] == "FormatError"


def test_a_query_that_cannot_be_paid_ends_a_game():
    game = next(game for game in GAMES.values() if game.asked != "threshold")
    asked = Script(*[f"<query_indicator>{INDICATORS[0]}</query_indicator>"] * 50)
    row = dynamics_episode(game, asked, "script", 0, Bookkeeper(game))
    assert (row["status"], row["turns"]) == ("Timeout", row["t_max"])


def test_thresholds_lie_inside_their_ranges_and_alone():
    for game in GAMES.values():
        if game.asked == "threshold":
            assert game.range[0] < game.bracket[0] <= game.bracket[1] < game.range[1]
            assert game.bracket[1] - game.bracket[0] <= game.tolerance


def test_there_are_games_in_the_shipped_release():
    assert len(points(SHIPPED)) > 0
    assert GAMES
    assert Path(SHIPPED).is_dir()
