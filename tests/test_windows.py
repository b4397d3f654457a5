"""Windows narrower than a grid are found where the exponent dips, and nowhere else is looked."""

import numpy as np
import pytest

from dynamics.registry import system
from dynamics.system import Sweep
from labeling.points import Point
from labeling.settings import Settings
from labeling.sweeps import sweep_row, swept
from labeling.verdict import Verdict
from labeling.windows import dips, resolutions, windows
from labeling.workers import Workers

CHAOS, CYCLE = Verdict("chaotic"), Verdict("periodic", 3)


def at(exponent: float, verdict: Verdict = CHAOS) -> Point:
    return Point(system("henon"), verdict, {}, {"indicators": {"lyapunov_max": {"value": exponent}}}, np.empty(0))


def test_a_dip_lies_below_both_neighbours_and_all_three_are_chaotic():
    assert dips([at(0.4), at(0.2), at(0.4)]) == [1]
    assert dips([at(0.4), at(0.2), at(0.1)]) == []
    assert dips([at(0.4), at(0.39), at(0.4)]) == []  # no deeper than exponents scatter
    assert dips([at(0.4), at(-0.2, CYCLE), at(0.4)]) == []
    assert dips([at(0.4), at(0.2), at(-0.4, CYCLE)]) == []


def test_the_deepest_dips_are_looked_at():
    shallow, deep = [at(0.4), at(0.3), at(0.4)], [at(0.4), at(0.1), at(0.4)]
    assert dips([*shallow, *deep]) == [4]
    assert dips([*shallow, *deep] * 6) == [4, 10]  # 36 points, two dips


# reference/values.csv: the window of period 3 is born at 1 + sqrt 8 = 3.828427 and ends in a crisis at 3.856800
def test_a_window_between_two_grid_points_is_found():
    result = swept(system("logistic_r4"), Sweep("r", 3.7, 3.95, 9))
    assert [p.verdict.regime for p in result.points if p.params["r"] in {*result.sweep.values}] == ["chaotic"] * 9
    row = sweep_row(result, {})
    assert row["in_windows"]
    assert any(3.828427 < x < 3.856801 for x in row["in_windows"])
    assert [b.kind for b in result.brackets if b.lo <= 1 + 8**0.5 <= b.hi] == ["tangent"]
    values = [p.params["r"] for p in result.points]
    assert values == sorted(values)


def test_the_smallest_window_is_what_no_place_of_the_grid_would_miss():
    anywhere, at_dips = resolutions(Sweep("r", 0.0, 1.0, 11))
    assert anywhere == pytest.approx(0.1)
    assert at_dips == pytest.approx(0.2 / 17)


def test_short_values_are_printed_in_few_digits_and_hardly_moved():
    exact, short = Sweep("a", 0.05859, 0.1211, 32), Sweep("a", 0.05859, 0.1211, 32, short=True)
    assert max(len(repr(x)) for x in short.values) == 7
    assert (short.values[0], short.values[-1]) == (0.05859, 0.1211)
    assert np.abs(np.subtract(short.values, exact.values)).max() <= 0.01 * exact.spacing
    between = short.rounded(np.linspace(short.values[3], short.values[4], 18).tolist(), 16)
    assert len(set(between)) == 18
    assert exact.rounded([0.123456789]) == [0.123456789]


def test_order_in_a_chaotic_sea_is_no_window():
    sea = [at(0.4), at(0.2), at(0.4)]
    assert windows(system("standard_map"), Sweep("K", 5.0, 7.0, 3), sea, Settings(), Workers()) == []


def test_shares_are_of_orbits_from_all_over_the_box():
    """x' = x - x^3: either well has half of the box [-2, 2]; within what 16 starts tell."""
    from dynamics.system import system_from_row

    row = {"kind": "ode", "rule": ["a*x - x**3"], "state": {"x": 1.5}, "parameters": {"a": 1.0}, "box": {"x": [-2, 2]}}
    result = swept(system_from_row("wells", row), Sweep("a", 0.8, 1.2, 9))
    known = [p.row["attractors"] for p in result.points]
    shares = [[a["share"] for a in attractors] for attractors in known]
    assert all(len(x) == 2 for x in shares)
    drawn = [x for x in shares if None not in x]
    assert drawn
    assert all(sum(x) == 1.0 and 0.1 < x[0] < 0.9 for x in drawn)
