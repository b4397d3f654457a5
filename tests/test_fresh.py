"""Fresh values: drawn by the seed, new, of the digits that a grid has, two of them around a bracket."""

import json

import numpy as np
import pandas as pd
import pytest

from bench import fresh
from bench.dataset import OF_FIGURES, PRESETS, questions
from bench.fresh import drawn, fresh_points
from bench.ground_truth import brackets, points, recomputed
from bench.questions import world
from dynamics.registry import system
from dynamics.sweep import Sweep
from labeling.workers import Workers

FINE = Sweep("r", 3.4, 4.0, 101, short=True)


def test_values_are_new_within_the_range_and_of_the_same_digits():
    taken = [3.4, 3.55, 3.7, 4.0]
    values = drawn(FINE, taken, [], np.random.default_rng(1), 8)
    assert len(values) == 8
    assert list(values) == sorted(set(values) - set(taken))
    assert 3.4 <= values[0] <= values[-1] <= 4.0
    assert max(len(repr(x)) for x in values) - min(len(repr(x)) for x in values) <= 2


def test_the_two_values_around_a_bracket_are_among_them():
    ends = [(3.4499, 3.4501), (3.5499, 3.5501), (3.8499, 3.8501)]
    for seed in range(20):
        values = np.array(drawn(FINE, [], ends, np.random.default_rng(seed), 8))
        for lo, hi in ends:
            assert values[values > hi].min() - values[values < lo].max() < 2.5 * FINE.spacing


def test_another_seed_draws_other_values():
    one, other = (drawn(FINE, [], [], np.random.default_rng(seed), 8) for seed in (1, 2))
    assert one != other
    assert drawn(FINE, [], [], np.random.default_rng(1), 8) == one


def test_fresh_points_are_labelled_as_points_of_a_release_are(monkeypatch):
    """The logistic map alone; what it says at a fresh value it says again when the point is labelled by itself."""
    s = system("logistic_r4")
    grid = np.linspace(3.4, 4.0, 7)
    chaos = ["TRUE" if x > 3.6 else "FALSE" for x in grid]
    points = pd.DataFrame({"system_id": s.id, "sweep": "r", "Chaotic": chaos,
                           "params": [json.dumps({"r": x}) for x in grid]})  # fmt: skip
    monkeypatch.setitem(fresh.VALUES, True, 3)
    made = fresh_points(points, [], 5, Workers())
    new = made[made["fresh"]]
    assert len(new) == 3
    assert set(new["params"]) & set(points["params"]) == set()
    row = {key: json.loads(x) if isinstance(x, str) and x[:1] in "{[" else x for key, x in new.iloc[0].items()}
    assert recomputed(row).beyond == ()


def test_a_draw_suffices_for_the_small_preset():
    """In place of a label each value gets that of the nearest point of the release on its side of the brackets."""
    table, between = points(), brackets()
    middles = {}
    for b in between:
        middles.setdefault((b["system_id"], b["parameter"]), []).append((b["lo"] + b["hi"]) / 2)

    class Nearest:
        def each(self, _function, tasks, _what):
            for s, name, values, _ in tasks:
                some = table[(table["system_id"] == s.id) & (table["sweep"] == name)]
                at = np.array([json.loads(text)[name] for text in some["params"]])
                ends = np.sort(middles.get((s.id, name), []))
                rows = []
                for x in values:
                    other = np.searchsorted(ends, at) != np.searchsorted(ends, x)
                    row = some.iloc[int((np.abs(at - x) + (1e9 * other if not other.all() else 0)).argmin())]
                    rows.append(row.to_dict() | {"params": json.dumps(json.loads(row["params"]) | {name: x})})
                yield rows

    for seed in (4, 21):
        w = world(fresh_points(table, between, seed, Nearest()), between)
        wanted = {name: n for name, n in PRESETS["small"].items() if name not in OF_FIGURES}
        assert len(questions(w, wanted, seed)) == sum(wanted.values())


def test_only_fresh_points_are_asked_about(made_up):
    both = pd.concat([made_up.assign(fresh=False), made_up.iloc[1:9].assign(fresh=True)], ignore_index=True)
    w = world(both, [])
    assert set(w.points["params"]) <= set(both.loc[both["fresh"], "params"])
    assert len(w.points) >= 4
    assert w.points["width"].iloc[0] == pytest.approx(31 * 0.0625)
