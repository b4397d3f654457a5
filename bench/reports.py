"""Reports of indicators: which numbers are shown of two points whose answers differ, and in what words.

The two reports of a pair have the same indicators in the same order, measured under the same settings. Of the numbers
that decide exactly one counts in each; those that do not are alike in both reports, so that they agree with the truth
in one of the two and disagree in the other. So no number tells anything but one that counts, and each counts about as
often as not.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.conditions import DECIDING, GROWTH, MIDDLE, Measurement, Name, flaws, says_chaos, valid

RELATIVE, CLOSE = 0.1, 0.003  # of two rates that hardly differ
ERROR_RELATIVE, ERROR_CLOSE = 0.5, 0.03  # of their half-widths
LARGEST = 9.99  # of a rate
SHORT = 100  # iterates of a map or turns, up to which a run is called short
BOUND = 0.42  # of the MCC of the best limit on one number
COUNTED = 0.43  # of the numbers of an indicator
LIMITS = {
    "rate": np.concatenate([-np.geomspace(3, 0.003, 19), [0], np.geomspace(0.003, 3, 19)]),
    "part": np.concatenate([np.linspace(-0.055, 0.055, 12), np.linspace(0.1, 0.9, 9), np.linspace(0.945, 1.005, 7)]),
}  # that are tried, on rates and on K and entropies
WEIGHTS = (0.2, 0.02)  # of the shares that count, and of showing all indicators equally often, beside the bound
ENTROPY: Name = "permutation_entropy"
TWICE: Name = "zero_one_k"  # which may be shown twice, as it counts and as it does not

Floats = NDArray[np.float64]
Pair = tuple[Measurement, Measurement]
Role = tuple[Name, bool, bool | None]  # an indicator, whether its number counts, and what one says that does not


def fit(numbers: Sequence[Measurement], name: Name) -> list[Measurement]:
    """The numbers of an indicator that count: measured as it asks for, and found sure by it."""
    return [m for m in numbers if m.indicator == name and valid(m) and m.status == "ok" and usual(m)]


def unfit(numbers: Sequence[Measurement], name: Name) -> list[Measurement]:
    """The numbers of an indicator that do not count, clearly so."""
    return [m for m in numbers if m.indicator == name and not valid(m)
            and ("run" not in flaws(m) or m.length <= SHORT) and usual(m)]  # fmt: skip


def usual(m: Measurement) -> bool:
    """Whether a number and its error have one digit before the point, as nearly all have."""
    return max(abs(m.value), m.error or 0.0) < LARGEST


def swappable(a: Measurement, b: Measurement) -> bool:
    """Whether one may stand for the other, under other settings, and is printed as long."""
    return near(a, b) and a.transient == b.transient


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

    Of each indicator it keeps how many numbers shown of chaotic and of regular points lie between any two LIMITS. Each
    pair shows what keeps the best limit on one number worth the least.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.tallies = {name: np.zeros((2, len(_limits(name)) + 1)) for name in (*DECIDING, ENTROPY)}
        self.counted: Counter[Name] = Counter()

    def pair(self, chaotic: Sequence[Measurement], regular: Sequence[Measurement]) -> list[Pair]:
        """Numbers of a chaotic and a regular point, (chaotic, regular) each, in order; none if there are too few."""
        known = {role: pairs[int(self.rng.integers(len(pairs)))] for role, pairs in _known(chaotic, regular).items()}
        plans = _plans(list(known))
        if not plans:
            return []
        costs = self._costs(plans, known)
        best = [plan for plan, cost in zip(plans, costs, strict=True) if cost <= min(costs) + 1e-9]
        plan = best[int(self.rng.integers(len(best)))]
        for name, tally in self.tallies.items():
            tally += _tally(name, plan, known)
        self.counted.update(name for name, counts, _ in plan if counts)
        return [known[plan[i]] for i in self.rng.permutation(len(plan))]

    def _costs(self, plans: Sequence[tuple[Role, ...]], known: Mapping[Role, Pair]) -> list[float]:
        """How far scores would be over BOUND, and shares from COUNTED and from each other, after each plan."""
        after: dict[tuple[Role, ...], tuple[float, float]] = {}  # of the roles of one indicator: cost, and how many
        costs = []
        for plan in plans:
            parts = []
            for name in self.tallies:
                mine = tuple(role for role in plan if role[0] == name) or ((name, False, None),)
                if mine not in after:
                    after[mine] = self._cost(name, mine, known)
                parts.append(after[mine])
            total = sum(shown for _, shown in parts)
            uneven = sum((shown / total - 1 / len(parts)) ** 2 for _, shown in parts)
            costs.append(sum(cost for cost, _ in parts) + WEIGHTS[1] * uneven)
        return costs

    def _cost(self, name: Name, mine: tuple[Role, ...], known: Mapping[Role, Pair]) -> tuple[float, float]:
        tally = self.tallies[name] + _tally(name, mine, known)
        shown = float(tally[0].sum())
        share = (self.counted[name] + sum(counts for _, counts, _ in mine)) / max(shown, 1.0)
        return max(0.0, _score(tally) - BOUND) ** 2 + WEIGHTS[0] * (share - COUNTED) ** 2, shown


def _plans(known: Sequence[Role]) -> list[tuple[Role, ...]]:
    """What may be shown together: one number that counts, one or two that do not, and perhaps an entropy."""
    plans: list[tuple[Role, ...]] = []
    entropies = [(), *((role,) for role in known if role[0] == ENTROPY)]
    for deciding in (role for role in known if role[1] and role[0] in DECIDING):
        others = [role for role in known if not role[1] and role[0] == TWICE]
        others += [role for role in known if not role[1] and role[0] in GROWTH and role[0] != deciding[0]]
        for some in [some for size in (1, 2) for some in combinations(others, size)]:
            if len({name for name, *_ in some}) == len(some):
                plans += [(deciding, *some, *entropy) for entropy in entropies]
    return plans


def _limits(name: Name) -> Floats:
    return LIMITS["rate" if name in GROWTH else "part"]


def _tally(name: Name, plan: Sequence[Role], known: Mapping[Role, Pair]) -> Floats:
    """(2, limits + 1): how many numbers a plan shows of an indicator between limits, of chaos and of regular motion."""
    made = np.zeros((2, len(_limits(name)) + 1))
    for role in plan:
        if role[0] == name and role in known:
            for side, m in enumerate(known[role]):
                made[side, np.searchsorted(_limits(name), m.value)] += 1
    return made


def _score(tally: Floats) -> float:
    """MCC of the best limit: (c - r) / sqrt((c + r) (2 - c - r)), where c and r are the shares above it."""
    if not tally[0].sum():
        return 0.0
    c, r = (tally[:, ::-1].cumsum(axis=1) / tally[0].sum())[:, :-1]
    both = c + r
    inside = (both > 0) & (both < 2)
    return float(np.max(np.abs(c - r)[inside] / np.sqrt(both * (2 - both))[inside], initial=0.0))


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
                if alike(a, b) and high(a) == high(b):
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
        value=f"{value:{form}}", error=f"{m.error or 0.0:.3f}", step=f"{m.step or 0.0:.2f}", begin=m.transient,
        end=round(m.transient + m.length * (m.step or 1.0)), noise=f"{m.noise:.2f}", weight=m.weight,
    )  # fmt: skip


def told_evidence(numbers: Sequence[Measurement]) -> list[dict[str, Any]]:
    """The full records of the numbers, what keeps each from counting, and what each says."""
    return [asdict(m) | {"flaws": flaws(m), "says_chaos": says_chaos(m)} for m in numbers]
