"""The 27 predicates of the later curated rows against a table worked out by hand."""

import math
from functools import cache

import numpy as np
import pytest

from dynamics.codegen import LANES
from dynamics.registry import curated_ids, system
from dynamics.settle import settled
from labeling.labels import Row
from labeling.points import label
from labeling.predicate import NAMES

# The columns, in order, with the regime of each and why.
COLUMNS = {
    "arnold_cat_map": "a hyperbolic automorphism of the torus",
    "bakers_map": "a Bernoulli shift, which doubles cannot follow: what is known is proved",
    "chen_system": "a Lorenz-like attractor",
    "chua_circuit": "the double scroll",
    "damped_driven_pendulum_nonchaotic": "swings in step with a weak drive: a point of the stroboscopic map",
    "double_pendulum": "a chaotic orbit of a Hamiltonian with two freedoms, energy 0",
    "fitzhugh_nagumo": "between its two Hopf points, 0.3313 < I < 1.4187: a limit cycle",
    "hindmarsh_rose": "chaotic bursting, slow: exponent 0.0134",
    "lorenz84": "the winter attractor",
    "lotka_volterra": "a closed curve of a family of them",
    "oregonator": "a relaxation cycle, stiff; chaotic in ChaosBench-Logic v2",
    "rikitake_dynamo": "chaotic reversals",
    "shm": "a circle of a family of them",
}
# T, F, and ? where the procedure leaves it open; x: F or ?, y: T or ?, where only the length of a run decides.
#                       cat bak che chu dri dou fhn hin l84 vol ore rik shm
TABLE = {
    "Chaotic":            "T T T T F T F T T F F T F",
    "Deterministic":      "T T T T T T T T T T T T T",  # no noise in any row
    "PosLyap":            "T T T T F T F T T F F T F",  # 0.962, ln 2, attractors; cycles and centres have 0
    "Sensitive":          "T T T T F T F y T F F T F",  # with a positive exponent; a centre's shear is none
    "StrangeAttr":        "F F T T F F F T T F F T F",  # cat, baker and double pendulum keep volume
    "PointUnpredictable": "T T T T F T F y T F F F F",  # Rikitake's phase stays known, as Rossler's does
    "StatPredictable":    "T T T T T x T y T T T T T",  # one measure each; islands on the double pendulum's surface
    "QuasiPeriodic":      "F F F F F F F F F F F F F",
    "Random":             "F F F F F F F F F F F F F",
    "FixedPointAttr":     "F F F F F F F F F F F F F",
    "Periodic":           "F F F F T F T F F T T F T",
    "Dissipative":        "F F T T T F T T T F T T F",  # div f < 0 or on average; Lotka-Volterra by its density
    "Bounded":            "T T T T T T T T T T T T T",
    "Mixing":             "T T T y F x F y T F F y F",  # two theorems; cycles by convention; scrolls decay slowly
    "Ergodic":            "T T T T T x T T T T T T T",  # a cycle has one measure
    "HyperChaotic":       "F F F F F F F F F F F F F",  # no dimension for two positive exponents, or two of four are 0
    "Conservative":       "T T F F F T F F F T F F T",  # det = 1, div f = 0, 1/(x y)
    "HighDimensional":    "F F F F F T F F F F F F F",  # the energy surface has three dimensions
    "Multifractal":       "F F F F F F F F F F F F F",
    "HighDimSystem":      "F F F F F T F F F F F F F",  # two angles and two momenta
    "ContinuousTime":     "F F T T T T T T T T T T T",
    "DiscreteTime":       "T T F F F F F F F F F F F",
    "DelaySystem":        "F F F F F F F F F F F F F",
    "Forced":             "F F F F T F F F F F F F F",  # A cos(omega t)
    "Autonomous":         "T T T T F T T T T T T T T",
    "StrongMixing":       "T T T y F x F y T F F y F",
    "WeakMixing":         "T T T y F x F y T F F y F",
}  # fmt: skip
EXACT = {
    "Mixing": ["arnold_cat_map", "bakers_map"],
    "Ergodic": ["arnold_cat_map", "bakers_map"],
    "PosLyap": ["arnold_cat_map", "bakers_map", "shm"],
    "PointUnpredictable": ["bakers_map"],
    "Conservative": ["arnold_cat_map", "bakers_map", "double_pendulum", "lotka_volterra", "shm"],
    "Dissipative": ["chen_system", "damped_driven_pendulum_nonchaotic", "rikitake_dynamo", "lotka_volterra", "shm"],
    "HyperChaotic": [*COLUMNS],
    "Forced": [*COLUMNS],
}
REFUTED = {  # violations of published axioms
    "rikitake_dynamo": ["Chaotic->PointUnpredictable", "Sensitive->PointUnpredictable"],
    "damped_driven_pendulum_nonchaotic": ["Ergodic-/-Periodic"],
    "fitzhugh_nagumo": ["Ergodic-/-Periodic"],
    "lotka_volterra": ["Ergodic-/-Periodic"],
    "oregonator": ["Ergodic-/-Periodic"],
    "shm": ["Ergodic-/-Periodic"],
}
FAST = ("arnold_cat_map", "bakers_map")


@cache
def labelled(name: str) -> Row:
    return label(system(name))


def test_table_has_all_27_predicates_of_all_rows():
    assert tuple(TABLE) == NAMES
    assert set(COLUMNS) <= set(curated_ids())
    assert all(len(row.split()) == len(COLUMNS) for row in TABLE.values())


@pytest.mark.parametrize("name", [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in COLUMNS])
def test_rows_agree_with_the_table(name):
    made = labelled(name)
    allowed = {
        "T": {"TRUE"}, "F": {"FALSE"}, "?": {"UNDECIDED"}, "x": {"FALSE", "UNDECIDED"}, "y": {"TRUE", "UNDECIDED"}
    }  # fmt: skip
    column = list(COLUMNS).index(name)
    found = {n: p["value"] for n, p in made["predicates"].items()}
    wrong = {n: v for n, v in found.items() if v not in allowed[TABLE[n].split()[column]]}
    assert not wrong
    assert made["violations"] == REFUTED.get(name, [])
    assert all(made["predicates"][n]["basis"] == "exact" for n, names in EXACT.items() if name in names)


def test_what_doubles_cannot_follow_has_no_indicator_of_the_orbit():
    indicators = labelled("bakers_map")["indicators"]
    for name in ("zero_one_k", "permutation_entropy", "correlation_dimension"):
        assert (indicators[name]["value"], indicators[name]["status"]) == (None, "undefined")
    assert indicators["lyapunov_spectrum"]["value"] == pytest.approx([math.log(2), -math.log(2)], rel=1e-9)


@pytest.mark.slow
def test_zero_exponents_of_centres_and_periods():
    """A centre's shear grows like t, so its exponents read ln T/T; the harmonic oscillator has none."""
    found = labelled("lotka_volterra")
    assert max(map(abs, found["indicators"]["lyapunov_spectrum"]["value"])) < 5e-4
    assert found["stability"] == "neutral"
    found = labelled("shm")
    assert max(map(abs, found["indicators"]["lyapunov_spectrum"]["value"])) < 1e-8  # the method's own damping
    assert (found["period_time"], found["stability"]) == (pytest.approx(2 * math.pi, rel=1e-8), "neutral")
    found = labelled("damped_driven_pendulum_nonchaotic")  # complex multipliers: both exponents are -beta/2
    assert found["indicators"]["lyapunov_spectrum"]["value"] == pytest.approx([-0.25, -0.25], abs=1e-5)
    assert (found["period"], found["period_time"]) == (1, pytest.approx(2 * math.pi / 0.7))


def test_a_stiff_system_is_stepped_in_the_units_of_its_ranges():
    """The Jacobian's norm, 4e4 for y in its own units, asks for steps of 4e-6; the fastest rate is (q + x)/delta."""
    s = system("oregonator")
    start = np.repeat(np.array([[*s.state.values()]]).T, LANES, axis=1)
    begun = settled(s, start, np.repeat(np.array([*s.parameters.values()])[:, None], LANES, axis=1), 400.0)
    assert set(begun.status) == {"ok"}
    assert 1e-4 < begun.h[0] < 1e-3


@pytest.mark.slow
def test_the_oregonator_is_a_relaxation_cycle():
    """SciPy's Radau at rtol 1e-9: period 6.25457621, mean divergence -212.63."""
    found = labelled("oregonator")
    assert (found["regime"], found["stability"]) == ("periodic", "attracting")
    assert found["period_time"] == pytest.approx(6.25457621, rel=1e-7)
    assert sum(found["indicators"]["lyapunov_spectrum"]["value"]) == pytest.approx(-212.63, rel=0.02)
