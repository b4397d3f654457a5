"""Counterexamples of axioms.toml that a few lines can check."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from dynamics.registry import system
from dynamics.system import system_from_row
from labeling import axioms
from labeling.points import label
from labeling.settings import Settings

ONE_LOOK = Settings(escalations=0)


def square_map(c, x):
    """x -> x^2 - c from a start."""
    return system_from_row("square_map", {"kind": "map", "rule": [f"x*x - {c}"], "state": {"x": x}})


def test_a_row_on_a_repelling_cycle_violates_what_repelling_cycles_refute():
    half = Fraction(1, 2)
    assert (half**2 - Fraction(7, 4)) ** 2 - Fraction(7, 4) == half
    assert 2 * half * 2 * (half**2 - Fraction(7, 4)) == -3
    row = label(square_map(1.75, 0.5), ONE_LOOK)
    assert (row["regime"], row["period"], row["stability"]) == ("periodic", 2, "repelling")
    assert row["violations"] == ["PosLyap->Sensitive", "PosLyap-/-Periodic", "Ergodic-/-Periodic"]
    status = {a.id: a.status for a in axioms.published()}
    assert {status[violated] for violated in row["violations"]} == {"refuted"}


def test_a_row_on_a_repelling_point_has_a_positive_exponent():
    row = label(system("logistic_r4").with_values({}, {"x": 0.75}), ONE_LOOK)
    assert (row["regime"], row["stability"]) == ("fixed_point", "repelling")
    assert row["predicates"]["PosLyap"]["value"] == "TRUE"
    assert row["violations"] == ["PosLyap->Sensitive"]  # the set is a point


def test_a_row_on_an_attracting_cycle_violates_only_that_it_is_not_ergodic():
    row = label(square_map(1.0, 0.3), ONE_LOOK)
    assert (row["regime"], row["period"]) == ("periodic", 2)
    assert row["violations"] == ["Ergodic-/-Periodic"]
    assert "Chaotic-/-Periodic" in axioms.tested({name: p["value"] for name, p in row["predicates"].items()})


def test_a_weighted_area_is_preserved_where_areas_shrink():
    x, y = sp.symbols("x y")
    field = (x, -2 * y)
    assert sp.diff(field[0], x) + sp.diff(field[1], y) == -1
    assert sp.expand(sp.diff(x * field[0], x) + sp.diff(x * field[1], y)) == 0


def test_a_forecast_of_banded_chaos_beats_the_climatological_mean():
    x = np.random.default_rng(0).uniform(0.1, 0.9, 4_000)
    orbits = []
    for _ in range(1_400):
        x = 3.6 * x * (1 - x)
        orbits.append(x)
    forecast = orbits[999] * (1 - 1e-9)
    for _ in range(400):
        forecast = 3.6 * forecast * (1 - forecast)
    assert np.mean((forecast - orbits[-1]) ** 2) == pytest.approx(0.009, abs=0.001)
    assert np.var(np.concatenate(orbits[-400:])) == pytest.approx(0.049, abs=0.001)


def test_chaos_and_a_cycle_of_period_6_share_the_henon_map():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, 200), rng.uniform(-0.3, 0.3, 200)
    v, w, growth = np.ones(200), np.zeros(200), np.zeros(200)
    past = []
    for n in range(12_000):
        v, w = -2 * 1.065 * x * v + w, 0.3 * v
        x, y = 1 - 1.065 * x * x + y, 0.3 * x
        size = np.hypot(v, w)
        v, w, growth = v / size, w / size, growth + np.log(size) * (n >= 8_000)
        past.append(x)
    cycle = np.abs(past[-1] - past[-7]) < 1e-9
    assert 20 < cycle.sum() < 60
    assert (growth[cycle] / 4_000).max() < -0.4
    assert (growth[~cycle] / 4_000).min() > 0.07


@pytest.mark.parametrize(
    ("name", "params", "start", "regime", "violated"),
    [
        ("arnold_cat_map", {}, {"x": 0.5, "y": 0.5}, "periodic", "Mixing-/-Periodic"),
        ("standard_map", {"K": 6.4}, {"theta": 1.78, "p": 0.0}, "quasiperiodic", "Mixing-/-QuasiPeriodic"),
    ],
)
def test_a_regular_orbit_lies_in_a_space_that_mixes(name, params, start, regime, violated):
    """A row of a map that preserves volume is about two sets: its orbit, and the whole space."""
    row = label(system(name).with_values(params, start), ONE_LOOK)
    assert row["regime"] == regime
    assert violated in row["violations"]
    assert violated in axioms.removed()
    assert axioms.violations({n: p["value"] for n, p in row["predicates"].items()}, axioms.repaired()) == []
