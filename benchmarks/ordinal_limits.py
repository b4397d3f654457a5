"""What permutation entropy can and cannot decide: on points whose regime is known, over delays, and under noise."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.known_regimes import Known
from indicators.entropy import permutation_entropy
from indicators.zero_one import zero_one_k
from labeling.evidence import Evidence

ORDER = 5
GOLDEN_SHARE = (1 + 5**0.5) / 2
TURN_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, GOLDEN_SHARE, 4.0, 10.0)  # delays, of a mean turn
FEWEST_TURNS = 4
FEWEST_WINDOWS = 600  # 5 for each pattern of order 5
NOISES = (0.0, 1e-6, 1e-3, 1e-2, 1e-1, 1.0)  # of the series' standard deviation
NOISY = {"logistic_r4 at r = 3.2": "2-cycle, logistic r = 3.2", "logistic_r4 at r = 3.5": "4-cycle, logistic r = 3.5",
         "circle_map_quasiperiodic at Omega = 0.61803398875, K = 0": "rotation by the golden mean",
         "logistic_r4 at r = 4": "chaos, logistic r = 4"}  # fmt: skip
TORI = {"two": (1.0, 2.0**0.5), "five": tuple(p**0.5 for p in (2, 3, 5, 7, 11))}  # frequencies without a common ratio
TORUS_STEP, TORUS_VALUES = 0.1, 2**14
Array = NDArray[np.float64]


def ordinal_tables(known: Sequence[Known], found: Sequence[Evidence]) -> str:
    """The ranges of permutation entropy, its best threshold in hindsight, the delays of flows, and noise."""
    return "\n".join([ranges(known, found), delays(known, found), noise(known, found)])


def best_threshold(values: Sequence[float], chaotic: Sequence[bool]) -> tuple[float, int]:
    """The threshold above which "chaotic" is wrong least often on these very values, and how often that is."""
    order = np.argsort(values, kind="stable")
    ordered, truth = np.asarray(values)[order], np.asarray(chaotic)[order]
    # a threshold below the i-th value calls the first i regular and the others chaotic
    wrong = np.concatenate([[0], np.cumsum(truth)]) + np.concatenate([np.cumsum(~truth[::-1])[::-1], [0]])
    possible = np.concatenate([[True], np.diff(ordered) > 0, [True]])
    best = int(np.flatnonzero(possible)[np.argmin(wrong[possible])])
    ends = np.concatenate([[ordered[0] - 1.0], ordered, [ordered[-1] + 1.0]])
    return float((ends[best] + ends[best + 1]) / 2), int(wrong[best])


def ranges(known: Sequence[Known], found: Sequence[Evidence]) -> str:
    """Least and largest value of both regimes by kind, and the errors of the threshold that is best in hindsight."""
    pairs = list(zip(known, found, strict=True))
    chosen = {
        "the logistic map": [p for p in pairs if p[0].system.id == "logistic_r4"],
        "all maps": [p for p in pairs if p[0].system.discrete],
        "all flows": [p for p in pairs if not p[0].system.discrete],
        "all points": pairs,
    }
    lines = ["| permutation entropy, order 5 | regular | chaotic | best threshold | wrong |", "|---|---|---|---|---|"]
    for name, part in chosen.items():
        lines.append(f"| {name} | {_compared([(e.entropy.number, k.chaotic) for k, e in part])} |")
    return "\n".join(lines) + "\n"


def _compared(values: Sequence[tuple[float, bool]]) -> str:
    threshold, wrong = best_threshold(*zip(*values, strict=True))
    return f"{_range(values, False)} | {_range(values, True)} | {threshold:.3f} | {wrong} of {len(values)}"


def _range(values: Sequence[tuple[float, bool]], chaotic: bool) -> str:
    of_one = [value for value, is_chaotic in values if is_chaotic is chaotic]
    return f"{min(of_one):.3f} to {max(of_one):.3f}"


def delays(known: Sequence[Known], found: Sequence[Evidence]) -> str:
    """The flows that move, at delays that are shares of their mean turn, beside sums of cosines, which are tori."""
    names = [f"torus, {name} frequencies" for name in TORI]
    lines = [f"| delay, turns | regular flows | chaotic flows | best threshold | wrong | {' | '.join(names)} |",
             "|---|---|---|---|---|" + "---|" * len(names)]  # fmt: skip
    series = [(e.observable, k.chaotic) for k, e in zip(known, found, strict=True)
              if not k.system.discrete and not e.still]  # fmt: skip
    time = TORUS_STEP * np.arange(TORUS_VALUES)
    tori = [np.cos(np.outer(frequencies, time)).sum(axis=0) for frequencies in TORI.values()]
    for share in TURN_SHARES:
        values = [(value, chaotic) for x, chaotic in series if (value := at_delay(x, share)) is not None]
        of_tori = [at_delay(x, share) for x in tori]
        lines.append(f"| {share:.4g} | {_compared(values)} | {' | '.join(f'{value:.3f}' for value in of_tori)} |")
    return "\n".join(lines) + "\n"


def at_delay(x: Array, share: float) -> float | None:
    """Entropy of a flow's series at a delay that is this share of its mean turn; None where it turns too seldom.

    A turn is the time between two passages of the mean, upwards.
    """
    x = x - x.mean()
    turns = int(((x[:-1] < 0) & (x[1:] >= 0)).sum())
    if turns < FEWEST_TURNS:
        return None
    delay = max(1, round(share * len(x) / turns))
    if len(x) - (ORDER - 1) * delay < FEWEST_WINDOWS:
        return None
    return permutation_entropy(x, order=ORDER, delay=delay).number


def noise(known: Sequence[Known], found: Sequence[Evidence]) -> str:
    """Entropy, and K beside it, of maps' series to which white noise is added."""
    lines = [f"| entropy / K, noise added: | {' | '.join(f'{level:g}' for level in NOISES)} |", "|---|" + "---|" * 6]
    for k, e in zip(known, found, strict=True):
        if k.name in NOISY:
            cells = [_under_noise(e.observable, level) for level in NOISES]
            lines.append(f"| {NOISY[k.name]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _under_noise(x: Array, level: float) -> str:
    noisy = x + level * x.std() * np.random.default_rng(0).standard_normal(len(x))
    entropy, k = permutation_entropy(noisy, order=ORDER).number, zero_one_k(noisy, stride=1)
    return f"{entropy:.2f} / {'-' if k.value is None else f'{round(k.number, 2) + 0.0:.2f}'}"
