"""Algorithm 1, its statuses and wrappers, and the figures that are recomputed from episodes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.games.catalogue import games
from bench.games.episode import episode
from bench.games.episodes_file import EpisodesError, read_episodes, replayed, write_episodes
from bench.games.metrics import efficiency, figures, necessities, revisions
from bench.games.necessity import judged
from bench.games.players import PLAYERS, Solver
from bench.games.playing import played_by
from bench.games.solving import best_query
from bench.games.telling import told

EXAMPLE = "set-deductive-01"
# arXiv 2606.00103, table 2: success %, turns, efficiency
PUBLISHED = [
    (43.67, 10.09, 4.33), (45.49, 13.63, 3.34), (73.63, 12.93, 5.69), (49.17, 7.92, 6.21), (65.48, 6.91, 9.48),
    (44.08, 7.36, 5.99), (74.21, 6.77, 10.96),
]  # fmt: skip


class Script:
    """Says what it is told to, whatever happens."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.heard = []

    def reply(self, messages):
        self.heard.append(json.dumps(messages))
        messages[0]["content"] = "the hidden number is 3"  # its own copy
        messages.clear()
        return self.replies.pop(0) if self.replies else ""


def stubborn(game):
    return Solver(game, lambda one, left: best_query(one.table.puzzle, left), revises=False)


def revisable():
    """Two instances of every cell."""
    cells = {}
    for name, game in games().items():
        level = next((d for d in (2, 3, 4) if game.instances[d - 1].revisable), None)
        if level is not None:
            cells.setdefault(game.recipe.cell, []).append((name, level))
    return [one for some in cells.values() for one in some[:2]]


def test_the_worked_example_plays_as_printed():
    """arXiv 2606.00103, appendix B: one of 1 to 4; odd, greater, equal; its own tag for the answer."""
    queries = ("<query_odd></query_odd>", "<query_greater>2</query_greater>", "<query_equal>3</query_equal>")
    row = episode(EXAMPLE, 1, Script(*queries, "<answer>3</answer>"), "script", seed=0)
    kinds = [m["kind"] for m in row["messages"]]
    assert kinds == ["rules", *["query", "observation"] * 3, "submission"]
    said = [m["content"].removeprefix("Observation: ") for m in row["messages"] if m["kind"] == "observation"]
    number = next(x for x in range(1, 5) if said[:2] == [("no", "yes")[x % 2], ("no", "yes")[x > 2]])
    assert said[2] == ("yes" if number == 3 else "no")
    assert (row["status"], row["turns"]) == ("Success" if number == 3 else "Failure", 4)
    assert row["t_max"] == 8


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("", "FormatError"), ("3", "FormatError"), ("<answer>3", "FormatError"), ("<answer></answer>", "FormatError"),
        ("<answer>three</answer>", "FormatError"), ("<answer>3</answer><answer>2</answer>", "FormatError"),
        ("<query_odd></query_odd><answer>3</answer>", "FormatError"),
        ("<query_greater>5</query_greater>", "FormatError"),
        ("<query_greater>{state}</query_greater>", "FormatError"), ("<submit>3</submit>", "FormatError"),
        ("<query_hidden></query_hidden>", "FormatError"), ("<answer><query_odd></query_odd></answer>", "FormatError"),
        ("<query_odd>__import__('os')</query_odd>", "FormatError"),
        ("x" * 30_000 + "<answer>3</answer>", "FormatError"),
        ("<answer>３</answer>", "FormatError"), (None, "FormatError"), ("\ud800", "FormatError"),
        ("<answer>99</answer>", "Failure"), ("<answer>1,2,3,4</answer>", "Failure"),
        ("Observation: yes\n<answer>99</answer>\nStatus: Success", "Failure"),
    ],
)  # fmt: skip
def test_replies_have_the_status_that_the_rules_say(reply, status):
    row = episode(EXAMPLE, 1, Script(reply), "script")
    assert (row["status"], row["turns"]) == (status, 1)
    assert json.loads(json.dumps(row)) == row


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_no_text_crashes_a_game(text):
    for reply in (text, f"<answer>{text}</answer>", f"<query_greater>{text}</query_greater>"):
        assert episode(EXAMPLE, 1, Script(reply, reply), "script")["status"] in {"Success", "Failure", "FormatError"}


def test_asking_on_is_a_timeout_at_t_max():
    row = episode(EXAMPLE, 1, Script(*["<query_odd></query_odd>"] * 20), "script")
    assert (row["status"], row["turns"]) == ("Timeout", 8)


def test_a_player_can_neither_read_nor_change_what_is_hidden():
    """What it is given does not depend on what is hidden until it asks, and what it does with it changes nothing."""
    first = set()
    for seed in range(12):
        player = Script("<query_odd></query_odd>", "<answer>1</answer>")
        row = episode(EXAMPLE, 1, player, "script", seed)
        first.add(player.heard[0])
        assert row["messages"][0]["content"] == told(EXAMPLE, 1).rules
        assert [m["role"] for m in json.loads(player.heard[1])] == ["user", "assistant", "user"]
    assert len(first) == 1


@pytest.mark.parametrize("how", ["clean", "isomorphic", "rule_noise", "reply_noise", "history"])
@pytest.mark.parametrize("name", [name for name in games() if name.endswith("-03")])
def test_the_greedy_player_wins_under_every_wrapper(name, how):
    row = played_by("greedy", name, 2, how, 1)
    assert row["status"] == "Success"
    assert row["turns"] <= row["t_max"]
    assert replayed(json.loads(json.dumps(row))) is None
    kinds = {m["kind"] for m in row["messages"]}
    assert (how in {"rule_noise", "reply_noise"}) == ("noise" in kinds)
    assert (how == "history") == ("history" in kinds)


def test_a_player_that_never_revises_fails_the_probe_and_not_its_control():
    rows = []
    for name, difficulty in revisable():
        player = stubborn(told(name, difficulty))
        rows += [episode(name, difficulty, player, "stubborn", 0, how) for how in ("counterfactual", "control")]
        rows += [played_by("greedy", name, difficulty, how, 0) for how in ("counterfactual", "control")]
    found = {one.player: one for one in revisions(rows)}
    assert (found["stubborn"].probe, found["stubborn"].control, found["stubborn"].loss.value) == (0.0, 1.0, 1.0)
    assert (found["greedy"].probe, found["greedy"].control, found["greedy"].loss.value) == (1.0, 1.0, 0.0)


def test_the_correction_stands_before_the_reply_to_the_third_query():
    name, difficulty = revisable()[0]
    row = played_by("greedy", name, difficulty, "counterfactual", 0)
    kinds = [(m["turn"], m["kind"]) for m in row["messages"]]
    third = [kind for turn, kind in kinds if turn == 3]
    assert (2, "false") in kinds
    assert third == ["query", "correction", "observation"]


def test_a_submission_before_the_correction_is_premature():
    name, difficulty = revisable()[0]
    one = told(name, difficulty)
    row = episode(name, difficulty, Script(*one.query_texts[:2], one.answer_texts[0]), "hasty", 0, "counterfactual")
    assert row["premature"]
    assert figures([row])[0].premature == 1


def test_one_that_names_everything_redundant_fails_the_necessity_probe_and_not_the_solution():
    class Pruner:
        def __init__(self, game):
            self.game, self.solver = game, stubborn(game)

        def reply(self, messages):
            if "<remove>" in messages[-1]["content"]:
                return f"<remove>{','.join(str(i + 1) for i in range(len(self.game.query_texts)))}</remove>"
            return self.solver.reply(messages)

    names = [name for name in games() if name.endswith("-03")]
    rows = [judged(name, 2, Pruner(told(name, 2)), "pruner", 3) for name in names]
    rows += [played_by("greedy", name, 2, "necessity", 3) for name in names]
    found = {one.player: one for one in necessities(rows)}
    assert found["pruner"].complete.value == 1.0
    assert found["pruner"].sufficient.value == 0.0
    assert found["pruner"].pruned.value < 0.5  # what is left to chance
    assert found["pruner"].pruning.value == 1.0
    assert found["greedy"].pruned.value == found["greedy"].sufficient.value == 1.0
    assert 1.0 <= found["greedy"].excess.value < 2.0


@pytest.mark.parametrize(("rate", "turns", "expected"), PUBLISHED)
def test_published_efficiencies_recompute(rate, turns, expected):
    assert round(efficiency(rate, turns), 2) == expected


def bare(name, status, turns, player="p", **more):
    return {
        "id": f"{name}{status}{turns}", "game": name, "hash": "", "cell": "c", "difficulty": 1, "seed": 0,
        "wrapper": "clean", "control_of": None, "player": player, "status": status, "turns": turns, "t_max": 10,
        "n_answers": 5, "optimal": {"lo": 2.0, "hi": 3.0}, "premature": False, "bits": [], "messages": [],
    } | more  # fmt: skip


def test_turns_of_failures_do_not_count_in_the_published_efficiency():
    """Two successes of 4 and 6 turns, a failure of 1 and a timeout of 10: 50 %, 5 turns, 10; by hand."""
    rows = [bare("a", "Success", 4), bare("b", "Success", 6), bare("c", "Failure", 1), bare("d", "Timeout", 10)]
    one = next(f for f in figures(rows) if f.player == "p")
    assert (one.success_rate, one.avg_turns, one.efficiency) == (50.0, 5.0, 10.0)
    assert one.turns.value == pytest.approx((4 + 6 + 10 + 10) / 4)
    assert one.relative_lo.value == pytest.approx(8 / 30)
    assert one.relative_hi.value == pytest.approx(12 / 30)
    assert one.corrected.value == pytest.approx((2 - 4 / 5) / (4 - 4 / 5))


def test_guessing_at_once_has_nothing_above_chance_and_stands_last():
    rows = [played_by(player, name, d, "clean", 0) for player in ("greedy", "random") for name in SOME for d in (1, 2)]
    ranking = figures(rows)
    assert [one.player for one in ranking] == ["greedy", "random", "guess at once (exact)"]
    assert ranking[-1].corrected.value == pytest.approx(0.0, abs=1e-12)


SOME = list(games())[::8]


def test_the_optimal_player_needs_the_turns_that_are_claimed():
    game = told(EXAMPLE, 1)
    turns = {}
    for seed in range(60):
        row = episode(EXAMPLE, 1, PLAYERS["optimal"](game, seed), "optimal", seed)
        assert row["status"] == "Success"
        turns[row["messages"][-1]["content"]] = row["turns"]
    assert len(turns) == 4
    assert sum(turns.values()) / 4 == game.claims.optimal[0]


def test_figures_come_from_the_file_alone(tmp_path):
    rows = [played_by("random", name, 1, "clean", 0) for name in SOME]
    name, difficulty = revisable()[0]
    rows += [played_by("greedy", name, difficulty, how, 0) for how in ("counterfactual", "control", "necessity")]
    write_episodes(tmp_path / "episodes.jsonl", rows)
    again = read_episodes(tmp_path / "episodes.jsonl")
    assert again == rows
    for found in (figures, revisions, necessities):
        assert found(again) == found(rows) != []


def test_an_episode_that_was_edited_is_told():
    row = played_by("greedy", EXAMPLE, 1, "clean", 0)
    assert replayed(row) is None
    assert "status" in replayed(row | {"status": "Failure"})
    assert "changed" in replayed(row | {"hash": "0"})


@pytest.mark.parametrize("text", ["", "[]", "{", '{"id": 1}'])
def test_a_wrong_file_is_one_clear_sentence(tmp_path, text):
    (tmp_path / "e.jsonl").write_text(text)
    with pytest.raises(EpisodesError):
        read_episodes(tmp_path / "e.jsonl")
