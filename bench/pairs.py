"""TRUE and FALSE paired so that nothing but what is asked tells them apart.

A question about a regime gets a partner: the same system and predicate at another value of its parameter, where the
answer is the other one. So each system is asked as often with the one answer as with the other, and its usual answer,
its name and the predicate say nothing. Numbers say nothing either where the places of the values are balanced: a
*place* is the part of the range in which a value lies, how far it is from the system's own value, and how long it is
when it is printed. As many TRUE values as FALSE ones are taken from each place, over all systems together.

Values are then flows in a network: from a system to a place where a value is TRUE, from a place to a system where one
is FALSE, and what arrives has to leave. The largest circulation has the most questions; it is a linear program with
integral corners.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.sparse import coo_array

POSITIONS, DISTANCES = 8, 4  # parts of the range, and of the distance from the system's own value
EDGES = (0.1, 0.3, 0.6)  # of the distance, in widths of the range


def places(instances: pd.DataFrame) -> pd.Series:
    """The place of each instance, by its `position`, `distance` and `printed` length."""
    part = np.minimum((instances["position"] * POSITIONS).astype(int), POSITIONS - 1)
    far = np.digitize(instances["distance"], EDGES)
    usual = instances.groupby(["system_id", "sweep"])["printed"].transform("median")
    longer = np.sign(instances["printed"] - usual).astype(int) + 1
    return pd.Series((part * DISTANCES + far) * 3 + longer, index=instances.index)


def balanced(claims: pd.DataFrame, most: int, seed: int = 0) -> pd.DataFrame:
    """As many claims as there can be, at most `most` of one system, half of each answer in every system and place.

    claims : rows of one predicate with `system_id`, `place` and `truth`. Which of equal ones are taken is drawn by the
    seed; the rows come back with `pair`, the number that a TRUE and a FALSE one of a system share.
    """
    rng = np.random.default_rng(seed)
    cells: dict[tuple[str, int, bool], list[int]] = {}
    for n, key in enumerate(zip(claims["system_id"], claims["place"], claims["truth"], strict=True)):
        cells.setdefault(key, []).append(n)
    keys = sorted(cells)
    if not keys:
        return claims.assign(pair=pd.Series(dtype=int))
    amounts = _circulation(keys, [len(cells[key]) for key in keys], most // 2, rng)
    chosen: dict[tuple[str, bool], list[int]] = {}
    for (system_id, place, truth), amount in zip(keys, amounts, strict=True):
        taken = rng.permutation(cells[system_id, place, truth])[:amount]
        chosen.setdefault((system_id, truth), []).extend(taken.tolist())
    found, pairs = [], []
    for system_id in sorted({system_id for system_id, _ in chosen}):
        sides = [chosen.get((system_id, truth), []) for truth in (True, False)]
        assert len(sides[0]) == len(sides[1])
        orders = [rng.permutation(len(side)) for side in sides]
        for n, (i, j) in enumerate(zip(*orders, strict=True)):
            found += [sides[0][i], sides[1][j]]
            pairs += [(system_id, n)] * 2
    numbers = {pair: n for n, pair in enumerate(dict.fromkeys(pairs))}
    return claims.iloc[found].assign(pair=[numbers[pair] for pair in pairs])


def _circulation(
    keys: Sequence[tuple[str, int, bool]], available: Sequence[int], most: int, rng: np.random.Generator
) -> list[int]:
    """How many rows to take of each (system, place, truth), so that both answers are equal in systems and in places."""
    systems = {system_id: n for n, system_id in enumerate(dict.fromkeys(key[0] for key in keys))}
    nodes = systems | {f"place {place}": len(systems) + n for n, place in enumerate(dict.fromkeys(k[1] for k in keys))}
    sign = [1.0 if truth else -1.0 for _, _, truth in keys]
    rows = [systems[key[0]] for key in keys] + [nodes[f"place {key[1]}"] for key in keys]
    columns = [*range(len(keys))] * 2
    equal = coo_array((sign * 2, (rows, columns)), shape=(len(nodes), len(keys))).tocsr()
    true = [n for n, key in enumerate(keys) if key[2]]
    limits = coo_array(
        (np.ones(len(true)), ([systems[keys[n][0]] for n in true], true)), shape=(len(systems), len(keys))
    ).tocsr()
    weight = -1.0 - 1e-3 * rng.random(len(keys))  # which of many equally large circulations
    solved = linprog(
        weight, A_ub=limits, b_ub=np.full(len(systems), most), A_eq=equal, b_eq=np.zeros(len(nodes)),
        bounds=[(0, n) for n in available], method="highs-ds",
    )  # fmt: skip
    assert solved.status == 0, solved.message
    return [round(x) for x in solved.x]
