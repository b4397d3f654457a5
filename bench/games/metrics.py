"""Every figure about games, from the lines of episodes.jsonl alone.

Games are the clusters of every interval. Figures are not comparable with the tables of arXiv 2606.00103, whose games
are not published.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bench.games.episode import FORMAT_ERROR, SUCCESS, TIMEOUT, Row
from bench.intervals import ACCURACY, Interval, clustered_interval, ratio_interval

AT_ONCE = "guess at once (exact)"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Figures:
    """What is told of the episodes of a player under a wrapper.

    success_rate, avg_turns, efficiency : as published: percent, mean turns of successes, and their ratio
    corrected : success above chance over what is possible above chance
    turns : mean with failures counted at T_max
    relative : optimal over taken turns, for the lower and the upper bound of the optimum
    regret : bits that a query tells less than the best one
    """

    player: str
    wrapper: str
    n: int
    success_rate: float
    avg_turns: float | None
    efficiency: float | None
    success: Interval
    corrected: Interval
    turns: Interval
    relative_lo: Interval
    relative_hi: Interval
    regret: Interval
    format_errors: float
    timeouts: float
    premature: int


def efficiency(success_rate: float, avg_turns: float) -> float:
    """Success rate in percent over mean turns of successes (arXiv 2606.00103, section 5)."""
    return success_rate / avg_turns


def figures(rows: Sequence[Row]) -> list[Figures]:
    """Figures for every player and wrapper, the highest chance-corrected success first, then the fewest turns.

    Premature submissions of the counterfactual probe and its control are counted, and left out of all other figures.
    The necessity judgment, which has no turns, stands apart.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    played = [row for row in rows if row["wrapper"] != "necessity"]
    for row in played:
        groups.setdefault((row["player"], row["wrapper"]), []).append(row)
    found = [_of(player, how, some) for (player, how), some in groups.items()]
    if played:
        found.append(_guess_at_once(played))
    return sorted(found, key=lambda one: (-(one.corrected.value or 0.0), one.turns.value or 0.0))


def _of(player: str, how: str, every: list[Row]) -> Figures:
    rows = [row for row in every if not row["premature"]]
    won = np.array([row["status"] == SUCCESS for row in rows], dtype=float)
    turns = np.array([row["turns"] for row in rows], dtype=float)
    return _figures(player, how, rows, won, turns, len(every) - len(rows))


def _guess_at_once(rows: list[Row]) -> Figures:
    """What a player is expected to reach who submits one of the answers at once: each game and difficulty once."""
    once = list({(row["game"], row["difficulty"]): row for row in rows}.values())
    won = np.array([1 / row["n_answers"] for row in once])
    return _figures(AT_ONCE, "clean", [row | {"bits": [], "status": None} for row in once], won, np.ones(len(once)), 0)


def _figures(player: str, how: str, rows: list[Row], won: Floats, turns: Floats, premature: int) -> Figures:
    game = np.array([row["game"] for row in rows])
    chance = np.array([1 / row["n_answers"] for row in rows])
    limit = np.array([row["t_max"] for row in rows], dtype=float)
    taken = won * turns + (1 - won) * limit
    bits = [np.array(row["bits"], dtype=float).reshape(-1, 2) for row in rows]
    lost = np.array([float((b[:, 1] - b[:, 0]).sum()) for b in bits])
    asked = np.array([len(b) for b in bits], dtype=float)
    rate = 100 * float(won.mean()) if len(won) else 0.0
    mean = float(won @ turns / won.sum()) if won.sum() else None
    each = np.ones(len(rows))
    success = _share(won, game)
    statuses = [row["status"] for row in rows]
    return Figures(
        player, how, len(rows), rate, mean, None if mean is None else efficiency(rate, mean),
        success=success,
        corrected=_above_chance(won, chance, game, success),
        turns=ratio_interval(taken, each, game),
        relative_lo=ratio_interval(np.array([row["optimal"]["lo"] for row in rows]), taken, game),
        relative_hi=ratio_interval(np.array([row["optimal"]["hi"] for row in rows]), taken, game),
        regret=ratio_interval(lost, asked, game),
        format_errors=statuses.count(FORMAT_ERROR) / max(1, len(rows)),
        timeouts=statuses.count(TIMEOUT) / max(1, len(rows)),
        premature=premature,
    )  # fmt: skip


def _share(won: Floats, game: NDArray[np.str_]) -> Interval:
    """The share of successes; accuracy with successes as true positives and failures as false ones."""
    if not set(won) <= {0.0, 1.0}:  # expected, not played
        return ratio_interval(won, np.ones(len(won)), game)
    codes, names = pd.factorize(game)
    tallies = [np.bincount(codes, w, len(names)) for w in (won, 1 - won, 0 * won, 0 * won)]
    return clustered_interval(np.stack(tallies, axis=1), ACCURACY)


def _above_chance(won: Floats, chance: Floats, game: NDArray[np.str_], success: Interval) -> Interval:
    """Success above chance over what is possible above chance.

    Where all is won no game makes a difference, and the interval is that of the share of successes, on this scale.
    """
    if (won < 1).any() or success.lo is None:
        return ratio_interval(won - chance, 1 - chance, game)
    return replace(success, lo=1 - (1 - success.lo) / float(np.mean(1 - chance)))


@dataclass(frozen=True)
class Revision:
    """How often a player wins after a wrong observation was corrected, and where the true one was said again instead.

    `loss` : the difference, over the pairs in which neither submitted before. `premature` : the pairs left out.
    """

    player: str
    pairs: int
    probe: float
    control: float
    loss: Interval
    premature: int


def revisions(rows: Iterable[Row]) -> list[Revision]:
    """The counterfactual probe against its matched control, for every player that has both."""
    by_id = {row["id"]: row for row in rows}
    pairs: dict[str, list[tuple[Row, Row]]] = {}
    for row in by_id.values():
        if row["control_of"] in by_id:
            pairs.setdefault(row["player"], []).append((by_id[row["control_of"]], row))
    found = []
    for player, every in pairs.items():
        some = [(a, b) for a, b in every if not a["premature"] and not b["premature"]]
        probe, control = (np.array([pair[i]["status"] == SUCCESS for pair in some], dtype=float) for i in (0, 1))
        loss = ratio_interval(control - probe, np.ones(len(some)), np.array([pair[0]["game"] for pair in some]))
        shares = [float(x.mean()) if len(some) else 0.0 for x in (probe, control)]
        found.append(Revision(player, len(some), shares[0], shares[1], loss, len(every) - len(some)))
    return found


@dataclass(frozen=True)
class Necessity:
    """Success from all observations and from those that a player kept.

    `pruning` : the mean share that was removed. `sufficient` : how often the answer still followed.
    `excess` : observations kept over the least number, where they were sufficient. `wrong_form` : of the removal.
    """

    player: str
    complete: Interval
    pruned: Interval
    pruning: Interval
    sufficient: Interval
    excess: Interval
    wrong_form: int


def necessities(rows: Iterable[Row]) -> list[Necessity]:
    """The necessity judgment, for every player that was asked for it."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row["wrapper"] == "necessity":
            groups.setdefault(row["player"], []).append(row)
    return [_necessity(player, some) for player, some in groups.items()]


def _necessity(player: str, rows: list[Row]) -> Necessity:
    named = [row for row in rows if row["necessity"]["kept"] is not None]
    enough = [row for row in named if row["necessity"]["sufficient"]]

    def mean(
        some: list[Row], top: Callable[[Row], float], bottom: Callable[[Row], float] = lambda row: 1.0
    ) -> Interval:
        game = np.array([row["game"] for row in some])
        return ratio_interval(np.array([float(top(r)) for r in some]), np.array([float(bottom(r)) for r in some]), game)

    return Necessity(
        player,
        complete=mean(rows, lambda row: row["status"] == SUCCESS),
        pruned=mean(rows, lambda row: row["necessity"]["status"] == SUCCESS),
        pruning=mean(named, lambda row: 1 - row["necessity"]["kept"] / row["necessity"]["pool"]),
        sufficient=mean(rows, lambda row: bool(row["necessity"]["sufficient"])),
        excess=mean(enough, lambda row: row["necessity"]["kept"], lambda row: row["necessity"]["minimum"]),
        wrong_form=len(rows) - len(named),
    )


def by(rows: Sequence[Row], field: str) -> dict[str, list[Figures]]:
    """Figures for every value of a field: cell or difficulty."""
    return {
        str(value): figures([row for row in rows if row[field] == value]) for value in sorted({r[field] for r in rows})
    }
