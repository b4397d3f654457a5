"""Verdicts that do not depend on what they must not depend on: the step, the seed, the start on the set."""

import numpy as np
import pytest

from dynamics.registry import system
from dynamics.system import System
from labeling.points import Point, judged_versions
from labeling.settings import Settings
from labeling.workers import Workers

POINTS = 200
SYSTEMS = [
    "logistic_r2_8", "logistic_r4", "henon", "standard_map", "lorenz63", "rossler", "vdp", "damped_oscillator",
    "circle_map_quasiperiodic", "ikeda_map", "duffing_chaotic", "brusselator",
]  # fmt: skip
SWEEPS = [(name, sweep) for name in SYSTEMS for sweep in system(name).sweeps]


def versions() -> list[tuple[str, list[System]]]:
    """200 points drawn over all sweeps, grouped by sweep."""
    rng = np.random.default_rng(20261130)
    chosen: dict[int, list[float]] = {}
    for which, part in zip(rng.integers(0, len(SWEEPS), POINTS), rng.random(POINTS), strict=True):
        sweep = SWEEPS[which][1]
        chosen.setdefault(int(which), []).append(float(sweep.lo + part * (sweep.hi - sweep.lo)))
    out = []
    for which, values in sorted(chosen.items()):
        name, sweep = SWEEPS[which]
        out.append((f"{name} {sweep.parameter}", [system(name).with_values({sweep.parameter: v}) for v in values]))
    return out


def judged(chosen: list[System], settings: Settings) -> list[Point]:
    return judged_versions(chosen, settings, Workers())


@pytest.mark.parametrize("group", versions(), ids=lambda group: group[0])
def test_verdicts_do_not_depend_on_step_seed_or_start(group: tuple[str, list[System]]) -> None:
    _, chosen = group
    first = judged(chosen, Settings())
    moved = [v.with_values({}, p.end) for v, p in zip(chosen, first, strict=True)]
    others = {
        "half the step": judged(chosen, Settings(finer=2)),
        "another seed": judged(chosen, Settings(seed=1)),
        "another start on the set": judged(moved, Settings()),
    }
    for what, again in others.items():
        for p, q in zip(first, again, strict=True):
            assert q.verdict.key == p.verdict.key, f"{what}, {p.params}: {p.verdict} is {q.verdict}"
