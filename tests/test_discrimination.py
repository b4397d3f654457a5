"""Shares of right decisions on points whose regime is known without the indicators, and how those are known."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from benchmarks import discrimination
from benchmarks.discrimination import INDICATORS, REASONS, UnknownRegimeError, judged
from benchmarks.known_regimes import Known, known_points, lozi_region, points
from benchmarks.misiurewicz import HIGHEST, LOWEST, iterate, misiurewicz, superstable, two_cycle
from benchmarks.ordinal_limits import at_delay, best_threshold
from dynamics.registry import system
from indicators.entropy import permutation_entropy

TABLE = Path(__file__).parents[2] / "shared" / "reference" / "values.csv"
LEAST = {"zero_one_k": 0.97, "megno_slope": 0.99, "lyapunov_max": 0.99}
EXACT = {
    "dysts_map_tent": lambda p: math.log(2 * p["mu"]),
    "dysts_map_chebyshev": lambda p: math.log(p["a"]),
    "bakers_map": lambda p: math.log(p["s"]),
    "cubic": lambda p: math.log(3),
}
TABULATED = {
    "lorenz63": "lorenz63_28", "rossler at a = 0.2, b = 0.2, c = 5.7": "rossler_5.7",
    "rossler at a = 0.1, b = 0.1, c = 14": "rossler_.1_.1_14", "thomas": "thomas_.18", "jerk": "jerk_2.017",
    "jerk_piecewise": "jerk_pwl_.6", "van_der_pol_driven": "vdp_driven_sprott", "burke_shaw": "burke_shaw_V13",
    "lorenz_diffusionless": "diffusionless_lorenz", "ueda": "ueda_sprott", "sine": "sine_1", "cusp": "cusp",
    "lotka_volterra_four": "lotka_volterra_vano", "henon_heiles_at_one_sixth": "henon_heiles_E1/6",
    "pincher": "pincher", "henon": "henon", "delayed_logistic": "delayed_logistic_2.27",
    "circle_beyond_K_1": "circle_.5_2", "henon_3d": "genhenon3d_1.9_.03", "cubic": "cubic_3",
    "chua_circuit at alpha = 9, beta = 14.2857142857, m0 = -1.14285714286, m1 = -0.714285714286":
        "chua_sprott_9_100/7",
} | {f"dysts_sprott{case}": f"sprott_{case.upper()}" for case in "abdegiklnoqs"}  # fmt: skip
STICKY = {"dysts_sprotta", "henon_heiles_at_one_sixth"}  # conservative: an orbit's mean wanders for long


@pytest.fixture(scope="module")
def found():
    return list(judged(known_points()))


def test_misiurewicz_parameters_that_are_known():
    assert misiurewicz(1) == []
    assert misiurewicz(2) == [4.0]  # 1/2 -> 1 -> 0
    # the two bands merge where f^3(1/2) = 1 - 1/r, at the real root of r^3 - 2 r^2 - 4 r - 8
    merging = max(root.real for root in np.roots([1, -2, -4, -8]) if abs(root.imag) < 1e-9)
    assert merging == pytest.approx(3.6785735104283, abs=1e-12)
    assert min(abs(r - merging) for r in misiurewicz(3)) < 1e-12


def test_no_misiurewicz_parameter_is_missed():
    """Sturm's theorem counts the roots of the polynomials themselves, of which r = 4 is known."""
    r, x = sp.Symbol("r"), sp.Rational(1, 2)
    count = 1
    for _ in range(2, 7):
        x = sp.expand(r * x * (1 - x))
        y = 1 - x  # on the 2-cycle the other preimage lies opposite: r^2 y^2 - r (r + 1) y + r + 1 = 0
        for polynomial in (r * x - 1, r**2 * y**2 - r * (r + 1) * y + r + 1):
            count += sp.Poly(polynomial, r).count_roots(sp.Rational(18, 5), 4)
    assert len(misiurewicz(6)) == count > 10


def test_misiurewicz_orbits_land_on_repelling_points():
    for r in misiurewicz(8):
        assert LOWEST < r <= HIGHEST
        places = np.array([0.0, 1 - 1 / r, *two_cycle(r)])
        orbit = np.array([iterate(r, k) for k in range(2, 9)])
        assert np.abs(orbit[:, None] - places).min() < 1e-10
        assert abs(2 - r) > 1
        assert abs(4 + 2 * r - r * r) > 1  # multiplier of the 2-cycle


def test_superstable_cycles_are_as_many_as_kneading_theory_counts():
    """Metropolis, Stein & Stein 1973, J. Comb. Theory A 15:25, Table 1: 1, 2, 3, 5, 9 of periods 3 .. 7.

    One of the two of period 4 is the second doubling, at r = 3.4986, below our range.
    """
    assert [len(superstable(period)) for period in range(3, 8)] == [1, 1, 3, 5, 9]
    assert superstable(3) == pytest.approx([3.8318740552833], abs=1e-12)


def test_points_are_many_balanced_and_different():
    known = known_points()
    assert len(known) >= 300
    assert 0.45 <= sum(one.chaotic for one in known) / len(known) <= 0.55
    assert len({one.name for one in known}) == len(known)  # starts are not counted
    assert {(p["a"], p["b"]) for p in lozi_region()} >= {(1.7, 0.3), (1.75, 0.4)}
    assert not any(p["b"] > 0.4 for p in lozi_region())


def test_decisions_on_a_few_points():
    every = [one for one in known_points() if one.system.discrete and one.system.dimension == 1]
    chosen = [
        *[one for one in every if one.group == "logistic map, Misiurewicz parameters"][::7],
        *[one for one in every if one.group == "logistic map, superstable cycles"][::3],
        *[one for one in every if one.group == "tent maps"][::3],
        *[one for one in every if one.group == "circle maps with K < 1"][::4],
    ]
    assert len(chosen) >= 30
    for j in judged(chosen):
        assert all(j.right(i) for i in INDICATORS), j.known.name
        if j.known.system.id in EXACT:
            assert j.evidence.largest.number == pytest.approx(EXACT[j.known.system.id](j.known.system.parameters))


def test_what_is_wrong_is_called_wrong():
    """The same points with the regimes exchanged."""
    chaotic = points("logistic_r4", [{"r": 4.0}], False, "g", "s")
    regular = points("logistic_r4", [{"r": 3.2}], True, "g", "s")
    for j in judged([*chaotic, *regular]):
        assert not any(j.right(i) for i in INDICATORS)


def test_a_cycle_that_newton_does_not_confirm_is_no_known_point():
    with pytest.raises(UnknownRegimeError, match="logistic_r4"):
        list(judged([Known(system("logistic_r4"), False, "g", "s", confirm=True)]))


def test_the_best_threshold_is_the_one_with_fewest_errors():
    assert best_threshold([0.1, 0.2, 0.8, 0.9], [False, False, True, True]) == (0.5, 0)
    assert best_threshold([0.1, 0.2, 0.3, 0.4], [False, True, False, True])[1] == 1
    assert best_threshold([0.5, 0.5, 0.5], [False, True, True])[1] == 1  # equal values cannot be separated
    assert best_threshold([0.9, 0.1], [False, True])[1] == 1


def test_entropy_at_a_share_of_a_turn():
    x = 2.0 + np.sin(np.arange(10_000) * 2 * np.pi / 100.1)  # 99 passages upwards, whence a quarter turn is 25 steps
    assert at_delay(x, 1 / 4) == permutation_entropy(x - x.mean(), order=5, delay=25).number
    assert at_delay(x[:300], 1 / 4) is None  # too few turns
    assert at_delay(x[:900], 2.0) is None  # too few windows


@pytest.mark.slow
def test_shares_of_right_decisions(found):
    assert len(found) >= 300
    for indicator, least in LEAST.items():
        assert sum(j.right(indicator) for j in found) >= least * len(found), indicator


@pytest.mark.slow
def test_every_wrong_decision_is_explained_and_none_is_explained_away(found):
    wrong = {(j.known.name, i) for j in found for i in INDICATORS if not j.right(i)}
    assert wrong == set(REASONS)


@pytest.mark.slow
def test_exponents_are_those_of_the_theorems(found):
    checked = 0
    for j in found:
        if j.known.system.id in EXACT:
            largest = j.evidence.largest
            tolerance = 1e-6 + largest.evidence["error_999"]
            assert abs(largest.number - EXACT[j.known.system.id](j.known.system.parameters)) <= tolerance, j.known.name
            checked += 1
    assert checked > 50


@pytest.mark.slow
@pytest.mark.skipif(not TABLE.exists(), reason="the shared table of reference values is not there")
def test_points_of_the_literature_have_its_exponents(found):
    with TABLE.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["id"].endswith("_l1")]
    verified = {row["id"]: [float(part) for part in row["verified_value"].split(" +- ")] for row in rows}
    literature = [j for j in found if "literature" in j.known.group]
    assert {j.known.name for j in literature} == set(TABULATED)
    for j in literature:
        value, error = verified[f"LE_{TABULATED[j.known.name]}_l1"]
        assert value > 0
        half = 0.3 * value if j.known.name in STICKY else j.evidence.largest.evidence["error_999"]
        assert abs(j.evidence.largest.number - value) <= half + 3 * error, j.known.name


@pytest.mark.slow
def test_the_page_has_the_tables_of_today(found):
    """All but the last digits, which differ between kinds of CPU: the counts."""
    page = discrimination.DOCS.read_text(encoding="utf-8")
    assert discrimination.shares(found) in page
    for table in discrimination.wrongs(found):
        assert table in page
