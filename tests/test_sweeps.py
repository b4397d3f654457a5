"""Brackets contain the thresholds that theory gives, and do not depend on how the work was dealt."""

import pytest

from dynamics.registry import system
from dynamics.system import Sweep
from labeling.regimes import Verdict
from labeling.sweeps import SweepResult, swept
from labeling.thresholds import Bracket, neighbours


def bracketed(name: str, parameter: str, lo: float, hi: float, n: int) -> list[Bracket]:
    return swept(system(name), Sweep(parameter, lo, hi, n)).brackets


def containing(found: list[Bracket], value: float) -> Bracket:
    inside = [b for b in found if b.lo <= value <= b.hi]
    assert len(inside) == 1, f"{value} lies in {len(inside)} of {[(b.lo, b.hi) for b in found]}"
    return inside[0]


# reference/values.csv: flips by 40-digit Newton; r_inf is OEIS A098587; window opening 1 + sqrt 8 and its first flip
@pytest.mark.parametrize(
    ("value", "lo", "hi", "width"),
    [
        (3.0, 2.9, 3.1, 1e-4),
        (3.449489742783178, 3.42, 3.48, 1e-4),
        (3.5440903595519228, 3.53, 3.555, 1e-4),
        (3.5699456718709449, 3.565, 3.58, 1e-4),
        (3.828427124746190, 3.825, 3.835, 1e-4),
        (3.841499007543507, 3.836, 3.846, 1e-4),
    ],
)
def test_logistic_thresholds(value: float, lo: float, hi: float, width: float) -> None:
    found = containing(bracketed("logistic_r4", "r", lo, hi, 16), value)
    assert found.hi - found.lo <= width
    assert found.converged


def test_onset_of_chaos_is_between_order_and_chaos() -> None:
    onset = containing(bracketed("logistic_r4", "r", 3.5, 3.62, 32), 3.5699456718709449)
    assert (onset.below.regime, onset.above.regime) == ("periodic", "chaotic")
    assert onset.hi - onset.lo <= 1e-4


# Henon, b = 0.3: exact, fixed points at -(1 - b)^2/4, flips at 3 (1 - b)^2/4 and (1 - b)^2 + (1 + b)^2/4
@pytest.mark.parametrize(
    ("value", "kind"), [(-0.1225, "fold"), (0.3675, "period_doubling"), (0.9125, "period_doubling")]
)
def test_henon_thresholds(value: float, kind: str) -> None:
    found = containing(bracketed("henon", "a", value - 0.05, value + 0.05, 16), value)
    assert found.kind == kind
    assert found.hi - found.lo <= 1e-4


def test_oscillators_change_at_zero() -> None:
    assert containing(bracketed("vdp", "mu", -0.5, 0.5, 16), 0.0).above.regime == "periodic"
    assert containing(bracketed("damped_oscillator", "zeta", -0.5, 0.5, 16), 0.0).below.regime == "unbounded"


def test_undecided_points_are_never_an_end() -> None:
    rest, cycle, open_ = Verdict("fixed_point", 1), Verdict("periodic", 2), Verdict("undecided", reason="budget")
    assert neighbours([(0.0, rest), (1.0, open_), (2.0, cycle), (3.0, cycle)]) == [((0.0, rest), (2.0, cycle))]
    assert neighbours([(0.0, rest), (1.0, open_), (2.0, rest)]) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "undecided"),
    [("logistic_r2_8", 0), ("logistic_r4", 0.02), ("henon", 0.02), ("standard_map", 0.02), ("lorenz63", 0.02),
     ("rossler", 0.02), ("vdp", 0.02), ("damped_oscillator", 0.02)],
)  # fmt: skip
def test_few_points_of_the_shipped_sweeps_are_undecided(name: str, undecided: float) -> None:
    result: SweepResult = swept(system(name), system(name).sweeps[0])
    share = sum(p.verdict.regime == "undecided" for p in result.points) / len(result.points)
    assert share <= undecided
