"""The catalogue of games: what is claimed of it, proved again on samples by slow ways, and in full when it is slow."""

from collections import Counter
from importlib.resources import files
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.games.catalogue import game_line, games, proved, repeated, verified
from bench.games.composing import chosen, composed
from bench.games.grammar import STRUCTURES, table
from bench.games.lies import lie, open_queries, revisable_states
from bench.games.solving import Puzzle, UnidentifiableError, fingerprint, greedy_turns, optimal_turns, random_success
from bench.games.telling import domains, told, wording

SAMPLE = [name for name in games() if name.endswith("-05")]


def test_there_are_474_games_and_at_least_30_in_every_cell():
    counts = Counter(game.recipe.cell for game in games().values())
    assert sum(counts.values()) == 474
    assert len(counts) == 12
    assert min(counts.values()) >= 30


def test_no_two_games_have_the_same_table():
    assert repeated() == []


def test_sizes_grow_and_answers_are_many_from_difficulty_2_on():
    for game in games().values():
        answers = [one.answers for one in game.instances]
        assert answers == sorted(set(answers)), game.recipe.id
        assert answers[1] >= 16
        assert all(one.t_max == max(8, 2 * one.greedy[0]) for one in game.instances)


def test_the_random_player_succeeds_less_at_difficulty_5_in_every_cell():
    for cell in {game.recipe.cell for game in games().values()}:
        some = [game.instances for game in games().values() if game.recipe.cell == cell]
        assert np.mean([one[4].random for one in some]) < np.mean([one[0].random for one in some]), cell


def test_every_abductive_game_has_causes_that_only_their_cost_decides():
    for game in games().values():
        if game.recipe.mode == "abductive":
            assert all(one.states > one.answers for one in game.instances)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_is_proved_again(name):
    for difficulty in (1, 2):
        assert proved(games()[name].recipe, difficulty) == games()[name].instances[difficulty - 1]


@pytest.mark.slow
def test_all_instances_are_proved_again():
    assert [trouble for game in games().values() for trouble in verified(game)] == []


@pytest.mark.parametrize("domain", domains())
def test_other_words_leave_the_observation_table_as_it_is(domain):
    for name in SAMPLE:
        plain, other = told(name, 1), told(name, 1, domain)
        assert other.rules != plain.rules
        assert [other.parse(text) for text in other.query_texts] == [plain.parse(text) for text in plain.query_texts]
        assert [other.parse(text) for text in other.answer_texts] == [plain.parse(text) for text in plain.answer_texts]
        codes = range(len(plain.table.observations))
        assert [other.observation(code) for code in codes] == [plain.observation(code) for code in codes]


@pytest.mark.parametrize("domain", ["plain", *domains()])
def test_rules_have_no_gap_left(domain):
    for name in list(games())[:: 1 if domain == "plain" else 7]:
        rules = told(name, 1, domain).rules
        assert "{" not in rules
        assert f"There are {games()[name].instances[0].answers} possible answers." in rules
        assert f"You have {games()[name].instances[0].t_max} turns" in rules


TABLES = st.integers(2, 5).flatmap(
    lambda states: st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=states, max_size=states)
)


def puzzle_of(rows):
    rows = np.unique(np.array(rows, dtype=np.int64), axis=0)
    return Puzzle(rows, np.arange(len(rows)))


def slowest_best(puzzle, left):
    """The least total of queries by trying everything."""
    if len(left) == 1:
        return 0.0
    found = []
    for query in range(puzzle.table.shape[1]):
        parts = {
            code: [s for s in left if puzzle.table[s, query] == code] for code in puzzle.table[left, query].tolist()
        }
        if len(parts) > 1:
            found.append(len(left) + sum(slowest_best(puzzle, part) for part in parts.values()))
    return min(found)


@given(TABLES)
def test_dynamic_programming_finds_what_trying_everything_finds(rows):
    puzzle = puzzle_of(rows)
    turns = greedy_turns(puzzle)
    lo, hi = optimal_turns(puzzle, float(turns @ puzzle.weights))
    assert lo == hi == pytest.approx(1 + slowest_best(puzzle, list(range(len(puzzle.answers)))) / len(puzzle.answers))


@given(TABLES, st.randoms(use_true_random=False))
def test_a_fingerprint_does_not_depend_on_names(rows, rng):
    puzzle = puzzle_of(rows)
    order = list(range(len(puzzle.answers)))
    rng.shuffle(order)
    names = np.array(rng.choice(list(permutations(range(3)))))
    again = Puzzle(names[puzzle.table[order]][:, ::-1], puzzle.answers)
    assert fingerprint(again) == fingerprint(puzzle)


def test_tables_that_differ_have_different_fingerprints():
    one = Puzzle(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.arange(4))
    two = Puzzle(np.array([[0, 0], [0, 1], [1, 0], [2, 0]]), np.arange(4))
    assert fingerprint(one) != fingerprint(two)


def test_the_success_of_the_random_player_is_that_of_a_count_by_hand():
    """Four states, two queries that halve them crosswise: after both every state is known."""
    puzzle = Puzzle(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.arange(4))
    assert random_success(puzzle) == pytest.approx(1.0)
    third = Puzzle(np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]), np.arange(4))
    assert random_success(third) == pytest.approx((1.0 + 0.5 + 0.5) / 3)


def test_a_table_that_does_not_tell_answers_apart_is_refused():
    with pytest.raises(UnidentifiableError):
        greedy_turns(Puzzle(np.array([[0], [0]]), np.arange(2)))


def test_a_lie_removes_the_true_answer_and_leaves_three_after_any_two_open_queries():
    """By trying all pairs of queries in a state of every game of some, and in one of no such state."""
    some = [game for game in games().values() if game.instances[2].revisable][::6]
    assert len(some) > 10
    for game in some:
        puzzle = table(game.recipe, game.recipe.sizes[2]).puzzle
        state = game.instances[2].revisable[0]
        assert lies_told(puzzle, state)
        others = sorted(set(range(len(puzzle.answers))) - set(revisable_states(puzzle, len(puzzle.answers))))
        assert not others or not lies_told(puzzle, others[0])


def lies_told(puzzle, state):
    """Whether after each first query that says something, each second one whose observation is open can be a lie."""
    rows, answers = puzzle.table.tolist(), puzzle.answers.tolist()
    true = rows[state]
    for first in range(len(true)):
        left = [i for i, row in enumerate(rows) if row[first] == true[first]]
        if len(left) == len(rows):
            continue
        opened = [q for q in range(len(true)) if len({rows[i][q] for i in left}) > 1]
        if not opened or any(lie_of(rows, answers, left, state, q) is None for q in opened):
            return False
        assert all(lie(puzzle, state, first, q) is not None for q in opened[:3])
    return True


def lie_of(rows, answers, left, state, query):
    """The answers that some wrong observation leaves, without the true one and three at least."""
    for code in {rows[i][query] for i in left} - {rows[state][query]}:
        believed = {answers[i] for i in left if rows[i][query] == code}
        if len(believed) >= 3 and answers[state] not in believed:
            return believed
    return None


def test_a_query_is_open_if_its_observation_does_not_follow_from_those_before():
    puzzle = Puzzle(np.array([[0, 0, 0, 5], [0, 0, 1, 5], [1, 0, 0, 5], [1, 1, 1, 5]]), np.arange(4))
    assert open_queries(puzzle, 0, [3, 0, 0, 1, 2]) == [1, 4]  # always 5; said; said again; 0 follows from 0; said
    assert open_queries(puzzle, 2, [0, 1]) == [0, 1]


def test_every_cell_has_counterfactual_probes():
    counts = Counter(game.recipe.cell for game in games().values() for one in game.instances if one.revisable)
    assert len(counts) == 12
    assert min(counts.values()) >= 20


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
def test_every_part_has_its_wording_and_every_wording_its_part(structure):
    text = wording()[structure.name]
    roles = {
        "probe": structure.probes, "effect": structure.effects, "outcome": structure.outcomes,
        "cost": structure.costs, "law": structure.laws, "inputs": structure.inputs,
    }  # fmt: skip
    for role, parts in roles.items():
        assert set(text[role]) == {one.name for one in parts}, role
    spaces = [one.name.partition("/") for one in structure.spaces]
    assert set(text["space"]) == {name for name, _, _ in spaces}
    assert set(text.get("frame", {})) == {frame for _, _, frame in spaces if frame}


@pytest.mark.slow
def test_the_catalogue_is_what_its_composition_gives():
    """The first cell, which loses no game to another one; `python -m benchmarks.compose_games` gives all of them."""
    lines = (files("bench.games") / "catalogue.jsonl").read_text(encoding="utf-8").splitlines()
    again = [game_line(game) for game in chosen(composed("set", "deductive"))]
    assert again == lines[: len(again)]
    assert len(again) == 40


def test_no_state_is_revisable_where_a_lie_can_leave_one_answer_only():
    """Of 0 to 7, asked which are less: after one lie about the next number only that one is left."""
    puzzle = Puzzle(np.array([[int(x > y) for y in range(7)] for x in range(8)]), np.arange(8))
    assert revisable_states(puzzle) == []
