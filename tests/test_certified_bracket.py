import math

import numpy as np
import pytest
from certified import LOGISTIC, LORENZ
from flint import arb

from dynamics.cycles import cycle_points, equilibrium, map_cycle
from dynamics.registry import system
from dynamics.system import system_from_row
from labeling.balls import NoEnclosureError, enclosure
from labeling.certified_bracket import certified_crossing


def cycle_of(s, guess, period):
    parameters = np.array([*s.parameters.values()])
    cycle = map_cycle(s, np.array(guess), parameters, period)
    return cycle, cycle_points(s, cycle, parameters, int(cycle.period))


def ends(s, parameter, lo, hi, guess, period=0):
    out = []
    for value in (lo, hi):
        moved = s.with_values({parameter: value})
        parameters = np.array([*moved.parameters.values()])
        point = np.array(guess, dtype=float)
        out.append(map_cycle(moved, point, parameters, period) if period else equilibrium(moved, point, parameters))
    return out


def test_a_certified_flip():
    """The 2-cycle of the logistic map loses stability at r = 1 + sqrt 6, the fixed point at 3."""
    flip = 1 + math.sqrt(6)
    lo, hi = flip - 1e-7, flip + 1e-7
    found, reason = certified_crossing(LOGISTIC, "r", lo, hi, *ends(LOGISTIC, "r", lo, hi, [0.85], 2))
    assert reason == ""
    assert (found.lo.unstable, found.hi.unstable, found.connected) == (0, 1, True)
    found, _ = certified_crossing(LOGISTIC, "r", 2.999, 3.001, *ends(LOGISTIC, "r", 2.999, 3.001, [0.66], 1))
    assert found.connected


def test_a_certified_hopf_point():
    """C+ of Lorenz at rho = 470/19."""
    lo, hi = 470 / 19 - 1e-5, 470 / 19 + 1e-5
    x = math.sqrt(8 / 3 * (lo - 1))
    found, _ = certified_crossing(LORENZ, "rho", lo, hi, *ends(LORENZ, "rho", lo, hi, [x, x, lo - 1]))
    assert (found.lo.unstable, found.hi.unstable, found.connected) == (0, 2, True)


def test_a_pitchfork_is_certified_at_its_ends_only():
    found, _ = certified_crossing(LORENZ, "rho", 0.99, 1.02, *ends(LORENZ, "rho", 0.99, 1.02, [0.0, 0.0, 0.0]))
    assert (found.lo.unstable, found.hi.unstable, found.connected) == (0, 1, False)


def test_brackets_that_hold_no_crossing_are_refused():
    found, reason = certified_crossing(LOGISTIC, "r", 2.8, 2.9, *ends(LOGISTIC, "r", 2.8, 2.9, [0.64], 1))
    assert found is None
    assert "0 and 0" in reason
    (one,), (two,) = (ends(LOGISTIC, "r", 3.2, 3.3, guess, period)[:1] for guess, period in (([0.68], 1), ([0.8], 2)))
    assert "periods 1 and 2" in certified_crossing(LOGISTIC, "r", 3.2, 3.3, one, two)[1]
    assert "below" in certified_crossing(LOGISTIC, "r", 3.3, 3.2, one, one)[1]


def test_a_bracket_on_a_circle_is_lifted_alike():
    """The tongue 1/2 of the circle map: its 2-cycle at Omega = 1/2 flips where |(1 + K)(1 - K)| = 1, K = sqrt 2."""
    s = system("circle_map_quasiperiodic").with_values({"Omega": 0.5})
    lo, hi = math.sqrt(2) - 1e-6, math.sqrt(2) + 1e-6
    one, _ = ends(s, "K", lo, hi, [0.0], 2)
    _, other = ends(s, "K", lo, hi, [1.5], 2)
    found, _ = certified_crossing(s, "K", lo, hi, one, other)
    assert (found.lo.unstable, found.hi.unstable, found.connected) == (0, 1, True)


def test_a_box_over_a_jump_has_no_enclosure():
    s = system_from_row("angle", {"kind": "map", "state": {"x": 0.1}, "rule": ["atan2(x, -1)"]})
    with pytest.raises(NoEnclosureError, match="atan2"):
        enclosure(s, {}, [arb(0, 0.1)])
