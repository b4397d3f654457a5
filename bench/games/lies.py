"""Wrong observations for the counterfactual probe, and the hidden states in which there always is one.

A lie can only be told where more than one observation is possible: one that contradicts what was observed before leaves
nothing to believe. So the queries that count are the first two whose observations are open when they are asked.
"""

from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from bench.games.solving import Puzzle

LEFT_BY_A_LIE = 3  # answers at least that a wrong observation leaves possible
MOST_REVISABLE = 5  # states of a game at a difficulty on which the probe is played


def open_queries(puzzle: Puzzle, state: int, asked: Sequence[int]) -> list[int]:
    """The places in `asked` of the queries whose observations did not follow from those before."""
    left, found = puzzle.table, []
    for place, query in enumerate(asked):
        seen = left[:, query]
        if (seen != seen[0]).any():
            found.append(place)
            left = left[seen == puzzle.table[state, query]]
    return found


def lie(puzzle: Puzzle, state: int, first: int, second: int) -> int | None:
    """A wrong observation of the second query after the true one of the first; None if there is none that will do.

    It leaves no state with the true answer, and at least three answers; of several the one that leaves most.
    """
    table, answers = puzzle.table, puzzle.answers
    left = table[:, first] == table[state, first]
    best, most = None, LEFT_BY_A_LIE - 1
    for code in np.unique(table[left, second]):
        some = np.unique(answers[left & (table[:, second] == code)])
        if code != table[state, second] and answers[state] not in some and len(some) > most:
            best, most = int(code), len(some)
    return best


def revisable_states(puzzle: Puzzle, most: int = MOST_REVISABLE) -> list[int]:
    """The first states in which there is such a lie whatever the first two open queries are."""
    found = (state for state in range(len(puzzle.answers)) if _is_revisable(puzzle, state))
    return list(islice(found, most))


def _is_revisable(puzzle: Puzzle, state: int) -> bool:
    """Whether, after the true observation of any open query, every other open one has a wrong one that will do."""
    agree = puzzle.table == puzzle.table[state]
    sizes = agree.sum(axis=0)
    order = [query for query in np.argsort(sizes) if sizes[query] < len(agree)]  # those that leave least fail first
    return all(_can_lie(puzzle, state, agree[:, query]) for query in order)


def _can_lie(puzzle: Puzzle, state: int, left: NDArray[np.bool_]) -> bool:
    """Whether some query is open while the states `left` are possible, and every one that is has such a lie."""
    table, answers = puzzle.table[left], puzzle.answers[left]
    queries, width, kinds = table.shape[1], puzzle.codes, puzzle.n_answers
    keys = (np.arange(queries) * width + table) * kinds + answers[:, None]
    present = np.bincount(keys.ravel(), minlength=queries * width * kinds).reshape(queries, width, kinds) > 0
    fitting = (present.sum(axis=2) >= LEFT_BY_A_LIE) & ~present[:, :, puzzle.answers[state]]
    fitting[np.arange(queries), puzzle.table[state]] = False
    settled = (table == table[0]).all(axis=0)
    return bool(fitting.any() and (fitting.any(axis=1) | settled).all())
