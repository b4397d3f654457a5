"""What a game's table proves: that it can be won, in how many turns by which player, and in how few at best.

A puzzle is a table of hidden states by queries that holds observations. Every answer is equally likely, and so is every
state behind an answer. Turns count the submission.
"""

import heapq
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

MOST_EXACT = 16  # states, up to which the least mean number of turns is found exactly, over all their subsets
ROUNDING = 9  # decimals in which gains of information that are equal agree

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


class UnidentifiableError(ValueError):
    """Two states answer every query alike, and have different answers."""


@dataclass(frozen=True)
class Puzzle:
    """table : (states, queries) codes of observations from 0. answers : (states,) codes of answers from 0."""

    table: Codes
    answers: Codes

    @cached_property
    def weights(self) -> Floats:
        """(states,) probabilities."""
        behind = np.bincount(self.answers)
        return np.asarray(1 / (len(behind) * behind[self.answers]))

    @cached_property
    def n_answers(self) -> int:
        """How many answers there are."""
        return int(self.answers.max()) + 1

    @cached_property
    def codes(self) -> int:
        """How many observations there are in all."""
        return int(self.table.max()) + 1

    @cached_property
    def reduced(self) -> "tuple[Codes, Codes, Floats]":
        """Table, answers and weights with states that are alike in every query joined, and queries alike left out."""
        rows, first, inverse = np.unique(self.table, axis=0, return_index=True, return_inverse=True)
        if not np.array_equal(self.answers[first][inverse], self.answers):
            raise UnidentifiableError("two states answer every query alike and have different answers")
        weights = _tally(inverse, self.weights, len(rows))
        partitions = [np.unique(column, return_inverse=True)[1] for column in rows.T]
        different = {_by_first(p).tobytes(): _by_first(p) for p in partitions if p.max() > 0}
        columns = np.stack(list(different.values()), axis=1) if different else np.zeros((len(rows), 1), dtype=np.int64)
        return columns, self.answers[first], weights


def _by_first(partition: Codes) -> Codes:
    """A partition with its cells numbered as they are met."""
    _, first, inverse = np.unique(partition, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse])


def gains(puzzle: Puzzle, left: Codes) -> tuple[Floats, Floats]:
    """Bits that each query tells on average about the answer, and about the state, if the states `left` are possible.

    The mutual information of observation and answer (Shannon 1948, Bell Syst. Tech. J. 27:379).
    """
    cells, answers = puzzle.table[left], np.unique(puzzle.answers[left], return_inverse=True)[1]
    weights = puzzle.weights[left] / puzzle.weights[left].sum()
    queries, kinds = cells.shape[1], int(answers.max()) + 1
    keys = (np.arange(queries) * puzzle.codes + cells).ravel()
    heavy = np.repeat(weights, queries)
    observed = _entropy(_tally(keys, heavy, queries * puzzle.codes).reshape(queries, -1))
    if kinds == len(left):
        return observed, observed
    joint = _tally(keys * kinds + np.repeat(answers, queries), heavy, queries * puzzle.codes * kinds)
    answer = _entropy(_tally(answers, weights, kinds)[None])
    return answer + observed - _entropy(joint.reshape(queries, -1)), observed


def _tally(keys: Codes, weights: Floats, length: int) -> Floats:
    """(length,) the sum of the weights of each key."""
    return np.asarray(np.bincount(keys, weights, length), dtype=np.float64)


def _entropy(shares: Floats) -> Floats:
    """Bits of each row."""
    return np.asarray(-np.sum(shares * np.log2(np.where(shares > 0, shares, 1.0)), axis=1)) + 0.0


def best_query(puzzle: Puzzle, left: Codes) -> int:
    """The query of the greedy player: most bits about the answer, then about the state, then the first."""
    about_answer, about_state = gains(puzzle, left)
    return int(np.lexsort((-about_state.round(ROUNDING), -about_answer.round(ROUNDING)))[0])


def decided(puzzle: Puzzle, left: Codes) -> bool:
    """Whether only one answer is possible."""
    return bool((puzzle.answers[left] == puzzle.answers[left[0]]).all())


def greedy_turns(puzzle: Puzzle) -> Codes:
    """(states,) turns that the greedy player needs."""
    turns = np.zeros(len(puzzle.answers), dtype=np.int64)
    open_sets = [(np.arange(len(puzzle.answers)), 1)]
    while open_sets:
        left, turn = open_sets.pop()
        if decided(puzzle, left):
            turns[left] = turn
            continue
        seen = puzzle.table[left, best_query(puzzle, left)]
        if (seen == seen[0]).all():
            raise UnidentifiableError("no query tells the states apart that are left")
        open_sets += [(left[seen == code], turn + 1) for code in np.unique(seen)]
    return turns


def optimal_turns(puzzle: Puzzle, upper: float) -> tuple[float, float]:
    """Bounds of the least mean number of turns of a player that is always right; equal where it is known exactly.

    upper : the mean of some such player
    """
    columns, answers, weights = puzzle.reduced
    if len(answers) <= MOST_EXACT:
        exact = 1 + float(least_costs(columns, answers, weights)[-1])
        return exact, exact
    width = int(columns.max()) + 1
    lower = min(
        2 + sum(_prefix_cost(answers[column == code], weights[column == code], width) for code in np.unique(column))
        for column in columns.T
    )
    return lower, upper


def least_costs(columns: Codes, answers: Codes, weights: Floats) -> Floats:
    """(2**states,) the least sum of weight times queries for every set of states, which are the bits of its number.

    By dynamic programming from small sets to large ones; infinite for sets that no player can tell apart.
    """
    states = len(answers)
    masks, places = np.arange(1 << states, dtype=np.int32), 1 << np.arange(states, dtype=np.int32)
    bits = (masks[:, None] & places) > 0
    weight, sizes = bits @ weights, bits.sum(axis=1)
    pure = np.zeros(len(masks), dtype=bool)
    for answer in np.unique(answers):
        pure |= (masks & ~places[answers == answer].sum(dtype=np.int32)) == 0
    cost = np.where(pure, 0.0, np.inf)
    cells = [[places[column == code].sum(dtype=np.int32) for code in np.unique(column)] for column in columns.T]
    for size in range(2, states + 1):
        some = masks[(sizes == size) & ~pure]
        best = np.full(len(some), np.inf)
        for parts in cells:
            best = np.minimum(best, sum(cost[some & part] for part in parts))
        cost[some] = weight[some] + best
    return cost


def _prefix_cost(answers: Codes, weights: Floats, width: int) -> float:
    """Huffman's least mean depth, times the total weight, of a tree with `width` branches whose leaves are answers.

    No player that is always right is faster, since each query has at most so many outcomes (Huffman 1952, Proc. IRE
    40:1098).
    """
    heap = [float(w) for w in np.bincount(answers, weights) if w > 0]
    heap += [0.0] * ((1 - len(heap)) % (width - 1)) if width > 2 else []
    heapq.heapify(heap)
    cost = 0.0
    while len(heap) > 1:
        joined = sum(heapq.heappop(heap) for _ in range(min(width, len(heap))))
        cost += joined
        heapq.heappush(heap, joined)
    return cost


def random_success(puzzle: Puzzle) -> float:
    """The exact success probability of two different random queries and a random answer of those that are left.

    An answer is drawn with the weight of the states behind it.
    """
    states, queries = puzzle.table.shape
    keys, columns = np.unique(np.arange(queries) * puzzle.codes + puzzle.table, return_inverse=True)
    seen = np.zeros((states, len(keys)))  # 1 where a state shows this observation of this query
    seen[np.repeat(np.arange(states), queries), columns.ravel()] = 1.0
    total = seen.T @ (seen * puzzle.weights[:, None])  # weights of what two queries show together
    behind = np.bincount(puzzle.answers)
    alone = behind[puzzle.answers] == 1
    squares = seen[alone].T @ (seen[alone] * puzzle.weights[alone, None] ** 2)
    for answer in np.flatnonzero(behind > 1):
        some = seen[puzzle.answers == answer]
        squares += (some.T @ some * puzzle.weights[puzzle.answers == answer][0]) ** 2
    right = np.divide(squares, total, out=np.zeros_like(total), where=total > 0)
    once = float(np.trace(right))  # of one query only, as two observations of it never come together
    return once if queries == 1 else float((right.sum() - once) / (queries * (queries - 1)))


def fingerprint(puzzle: Puzzle) -> str:
    """A digest that is the same for tables that differ only in the names of states, queries and observations.

    Tables with different digests are different games. States that no query tells apart count once, and so do queries
    that tell the same. Colours are refined from how many queries tell two states apart (Weisfeiler & Leman 1968).
    """
    columns, _, _ = puzzle.reduced
    alike = (columns[:, None, :] == columns[None, :, :]).sum(axis=2)
    states = [_digest(*sorted(row)) for row in alike.tolist()]
    queries: list[bytes] = []
    for _ in range(3):
        cells = [[_digest(*sorted(s for s, c in zip(states, column, strict=True) if c == code))
                  for code in range(max(column) + 1)] for column in columns.T.tolist()]  # fmt: skip
        queries = [_digest(*sorted(parts)) for parts in cells]
        states = [
            _digest(state, *sorted(query + parts[code] for query, parts, code in zip(queries, cells, row, strict=True)))
            for state, row in zip(states, columns.tolist(), strict=True)
        ]
    return _digest(*sorted(states), b"", *sorted(queries)).hex()


def _digest(*parts: bytes | int) -> bytes:
    text = b"|".join(part if isinstance(part, bytes) else str(part).encode() for part in parts)
    return blake2b(text, digest_size=8).digest()
