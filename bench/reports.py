"""Reports of indicators: which numbers are shown of two points whose answers differ, and in what words.

The two reports of a pair have the same indicators in the same order, measured under the same settings. Of the numbers
that decide exactly one counts in each; those that do not are alike in both reports, so that they agree with the truth
in one of the two and disagree in the other. So no number tells anything but one that counts, and each counts about as
often as not.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np

from bench.conditions import DECIDING, GROWTH, MIDDLE, Measurement, Name, flaws, says_chaos, valid

RELATIVE, CLOSE = 0.1, 0.003  # of two rates that hardly differ
ERROR_RELATIVE, ERROR_CLOSE = 0.5, 0.03  # of their half-widths
SHORT = 100  # iterates of a map or turns, up to which a run is called short
BOUND = 0.42  # of the MCC of the best limit on one number
COUNTED = 0.45  # of the numbers of an indicator
WEIGHTS = (0.05, 0.05)  # of the shares that count, and of showing all indicators equally often, beside the bound
ENTROPY: Name = "permutation_entropy"
TWICE: Name = "zero_one_k"  # which may be shown twice, as it counts and as it does not

Pair = tuple[Measurement, Measurement]
Role = tuple[Name, bool, bool | None]  # an indicator, whether its number counts, and what one says that does not


def fit(numbers: Sequence[Measurement], name: Name) -> list[Measurement]:
    """The numbers of an indicator that count: measured as it asks for, and found sure by it."""
    return [m for m in numbers if m.indicator == name and valid(m) and m.status == "ok"]


def unfit(numbers: Sequence[Measurement], name: Name) -> list[Measurement]:
    """The numbers of an indicator that do not count, clearly so."""
    return [m for m in numbers if m.indicator == name and not valid(m)
            and ("run" not in flaws(m) or m.length <= SHORT)]  # fmt: skip


def near(a: Measurement, b: Measurement) -> bool:
    """Whether two numbers of one indicator, under whatever settings, cannot be told apart by a limit."""
    if a.indicator == "zero_one_k":
        return f"{a.value:.2f}" == f"{b.value:.2f}"
    if a.indicator == ENTROPY:
        return abs(a.value - b.value) <= 0.01
    return abs(a.value - b.value) <= max(CLOSE, RELATIVE * min(abs(a.value), abs(b.value)))


def alike(a: Measurement, b: Measurement) -> bool:
    """Whether two numbers of one indicator have the same settings, and cannot be told apart, nor by their errors."""
    if a.settings != b.settings or not near(a, b):
        return False
    errors = (a.error or 0.0, b.error or 0.0)
    wide = max(ERROR_CLOSE, ERROR_RELATIVE * min(errors))
    return a.indicator != "lyapunov_max" or abs(errors[0] - errors[1]) <= wide


class Composer:
    """Chooses reports, one pair after another, so that no indicator alone says more than it must.

    What the best limit on one number can score follows from how often it counts, and from how often one that does not
    says chaos: `_score`. Each pair shows what keeps these scores lowest.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.shown: Counter[Role] = Counter()

    def pair(self, chaotic: Sequence[Measurement], regular: Sequence[Measurement]) -> list[Pair]:
        """Numbers of a chaotic and a regular point, (chaotic, regular) each, in order; none if there are too few."""
        known = _known(chaotic, regular)
        plans: list[tuple[Role, ...]] = []
        for deciding in (role for role in known if role[1] and role[0] in DECIDING):
            others = [role for role in known if not role[1] and role[0] == TWICE]
            others += [role for role in known if not role[1] and role[0] in GROWTH and role[0] != deciding[0]]
            entropies = [(), *((role,) for role in known if role[0] == ENTROPY)]
            for some in [some for size in (1, 2) for some in combinations(others, size)]:
                if len({name for name, *_ in some}) == len(some):
                    plans += [(deciding, *some, *entropy) for entropy in entropies]
        if not plans:
            return []
        costs = [self._cost(plan) for plan in plans]
        best = [plan for plan, cost in zip(plans, costs, strict=True) if cost <= min(costs) + 1e-9]
        plan = best[int(self.rng.integers(len(best)))]
        self.shown.update(plan)
        found = [known[role][int(self.rng.integers(len(known[role])))] for role in plan]
        return [found[i] for i in self.rng.permutation(len(found))]

    def _cost(self, plan: Sequence[Role]) -> float:
        """How far the scores are over BOUND, and the shares from COUNTED and from each other."""
        after = self.shown + Counter(plan)
        totals = {name: sum(n for role, n in after.items() if role[0] == name) for name in (*DECIDING, ENTROPY)}
        cost = 0.0
        for name, total in totals.items():
            cost += max(0.0, _score(after, name) - BOUND) ** 2 * (name != ENTROPY)  # which decides nothing
            cost += WEIGHTS[0] * (after[name, True, None] / max(total, 1) - COUNTED) ** 2
            cost += WEIGHTS[1] * (total / sum(totals.values()) - 1 / len(totals)) ** 2
        return cost


def _score(shown: Counter[Role], name: Name) -> float:
    """MCC of the best limit on one number, if those that count are right and the others are alike in both reports.

    With the shares v of numbers that count, c of others that say chaos and r of others that do not, it is
    (v/2) / sqrt((v/2 + c) (v/2 + r)).
    """
    v, c, r = (shown[role] + 1 for role in ((name, True, None), (name, False, True), (name, False, False)))
    return v / 2 / math.sqrt((v / 2 + c) * (v / 2 + r))


def _known(chaotic: Sequence[Measurement], regular: Sequence[Measurement]) -> dict[Role, list[Pair]]:
    """The pairs of numbers that can be shown in each role, those of one flaw no more often than those of another."""
    found: dict[Role, list[Pair]] = {}
    for name in (*DECIDING, ENTROPY):
        theirs = {m.settings: m for m in fit(regular, name)}
        good = [(m, theirs[m.settings]) for m in fit(chaotic, name) if m.settings in theirs]
        if good:
            found[name, True, None] = good
        kinds: dict[tuple[object, ...], Pair] = {}
        for a in unfit(chaotic, name):
            for b in unfit(regular, name):
                if alike(a, b):
                    kinds.setdefault((high(a), *flaws(a)), (a, b))
        for (up, *_), pair in kinds.items():
            found.setdefault((name, False, bool(up)), []).append(pair)
    return found


def high(m: Measurement) -> bool:
    """Whether a number is on the side of chaos, at face value; of permutation entropy, above a half."""
    says = says_chaos(m)
    return m.value > MIDDLE if says is None else says


def told(report: Mapping[str, Any], m: Measurement) -> str:
    """A number and its conditions in a sentence; always as many decimals, and a sign where there may be one."""
    form = {"zero_one_k": "+.2f", ENTROPY: ".2f"}.get(m.indicator, "+.3f")
    value = round(m.value, int(form[-2])) + 0.0  # of which 0 has one sign only
    return str(report["lines"][m.indicator]).format(
        value=f"{value:{form}}", error=f"{m.error or 0.0:.3f}", step=f"{m.step or 0.0:.2f}", length=m.length,
        transient=m.transient, noise=f"{m.noise:.1f}", weight=m.weight,
    )  # fmt: skip


def told_evidence(numbers: Sequence[Measurement]) -> list[dict[str, Any]]:
    """The full records of the numbers, what keeps each from counting, and what each says."""
    return [asdict(m) | {"flaws": flaws(m), "says_chaos": says_chaos(m)} for m in numbers]
