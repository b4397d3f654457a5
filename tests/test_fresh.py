"""Fresh values: drawn by the seed, new, of the digits that a grid has, two of them around a bracket."""

import json

import numpy as np
import pandas as pd
import pytest

from bench import fresh
from bench.fresh import VALUES, drawn, fresh_points
from bench.ground_truth import recomputed
from bench.questions import world
from dynamics.registry import system
from dynamics.sweep import Sweep
from labeling.workers import Workers

FINE = Sweep("r", 3.4, 4.0, 101, short=True)


def test_values_are_new_within_the_range_and_of_the_same_digits():
    taken = [3.4, 3.55, 3.7, 4.0]
    values = drawn(FINE, taken, [], np.random.default_rng(1))
    assert len(values) == VALUES
    assert list(values) == sorted(set(values) - set(taken))
    assert 3.4 <= values[0] <= values[-1] <= 4.0
    assert max(len(repr(x)) for x in values) - min(len(repr(x)) for x in values) <= 2


def test_the_two_values_around_a_bracket_are_among_them():
    for seed in range(20):
        values = np.array(drawn(FINE, [], [(3.5499, 3.5501)], np.random.default_rng(seed)))
        below, above = values[values < 3.5499].max(), values[values > 3.5501].min()
        assert above - below < 2.5 * FINE.spacing


def test_another_seed_draws_other_values():
    one, other = (drawn(FINE, [], [], np.random.default_rng(seed)) for seed in (1, 2))
    assert one != other
    assert drawn(FINE, [], [], np.random.default_rng(1)) == one


def test_fresh_points_are_labelled_as_points_of_a_release_are(monkeypatch):
    """The logistic map alone; what it says at a fresh value it says again when the point is labelled by itself."""
    s = system("logistic_r4")
    grid = np.linspace(3.4, 4.0, 7)
    chaos = ["TRUE" if x > 3.6 else "FALSE" for x in grid]
    points = pd.DataFrame({"system_id": s.id, "sweep": "r", "Chaotic": chaos,
                           "params": [json.dumps({"r": x}) for x in grid]})  # fmt: skip
    monkeypatch.setattr(fresh, "VALUES", 3)
    made = fresh_points(points, [], 5, Workers())
    new = made[made["fresh"]]
    assert len(new) == 3
    assert set(new["params"]) & set(points["params"]) == set()
    row = {key: json.loads(x) if isinstance(x, str) and x[:1] in "{[" else x for key, x in new.iloc[0].items()}
    assert recomputed(row).beyond == ()


def test_only_fresh_points_are_asked_about(made_up):
    both = pd.concat([made_up.assign(fresh=False), made_up.iloc[1:9].assign(fresh=True)], ignore_index=True)
    w = world(both, [])
    assert set(w.points["params"]) <= set(both.loc[both["fresh"], "params"])
    assert len(w.points) >= 4
    assert w.points["width"].iloc[0] == pytest.approx(31 * 0.0625)
