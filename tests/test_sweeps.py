"""Brackets contain the thresholds that theory gives, and do not depend on how the work was dealt."""

import math

import numpy as np
import pytest

from dynamics.registry import system
from dynamics.system import Sweep, System, system_from_row
from labeling.gathering import gathered, reference_start
from labeling.hysteresis import differing
from labeling.points import Point
from labeling.predicates import PROCEDURES
from labeling.settings import Settings
from labeling.study import Study
from labeling.sweeps import SweepResult, swept
from labeling.thresholds import Bracket
from labeling.verdict import Verdict

BRIEF = Settings(records=256, series=2048, turning_steps=20_000)


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
    assert (onset.below[0].verdict.regime, onset.above[0].verdict.regime) == ("periodic", "chaotic")
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
    assert containing(bracketed("vdp", "mu", -0.5, 0.5, 16), 0.0).above[0].verdict.regime == "periodic"
    assert containing(bracketed("damped_oscillator", "zeta", -0.5, 0.5, 16), 0.0).below[0].verdict.regime == "unbounded"


def test_undecided_points_are_never_an_end() -> None:
    def points(*verdicts: Verdict) -> list[Point]:
        return [Point(system("henon"), v, {}, None, np.empty(0)) for v in verdicts]

    rest, cycle, open_ = Verdict("fixed_point", 1), Verdict("periodic", 2), Verdict("undecided", reason="budget")
    assert differing(points(rest, open_, cycle, cycle)) == [(0, 2)]
    assert differing(points(rest, open_, rest)) == []


def test_a_second_exponent_that_is_open_separates_nothing() -> None:
    """Chaos may be hyperchaos where its second exponent is neither shown nor as small as a neutral one."""
    second = (("hyperchaotic", 0.03), ("chaotic", 0.02), ("chaotic", 0.004))
    hyper, weak, plain = (Verdict(r, evidence={"second_exponent": x, "ln_T_over_T": 0.005}) for r, x in second)
    points = [Point(system("dysts_hyperrossler"), v, {}, None, np.empty(0)) for v in (hyper, weak, hyper, plain)]
    assert differing(points) == [(2, 3)]
    e = gathered(reference_start(points[0].version, BRIEF), BRIEF)[0]
    assert [Study(e, v, BRIEF, PROCEDURES).value("HyperChaotic") for v in (hyper, weak, plain)] == [True, None, False]


def width_allowed(value: float, lo: float, hi: float) -> float:
    """SPEC of local brackets: 1e-6 of the value, or of a thousandth of the range, with room for rounding."""
    return 1.1e-6 * max(abs(lo), abs(hi), 1e-3 * (hi - lo), abs(value))


def own(rule: list[str], state: dict[str, float], parameters: dict[str, float], **rest: object) -> System:
    return system_from_row("own", {"kind": "map", "rule": rule, "state": state, "parameters": parameters, **rest})


QUADRATIC = own(["x**2 + c"], {"x": 0.1}, {"c": -0.5}, box={"x": [-1.5, 1.5]})
SCALED = own(["r*(1 + y)*(1 - y)/2 + r*0 - 1 + 0*y"], {"y": -0.8}, {"r": 3.2}, box={"y": [-1.0, 1.0]})  # y = 2x - 1


# Flips and windows: reference/values.csv. x**2 + c: period 1 loses stability at -3/4, period 2 at -5/4. Lorenz: the
# pitchfork at rho = 1 and Hopf at sigma (sigma + beta + 3)/(sigma - beta - 1). Brusselator: trace 0 at B = 1 + A**2.
@pytest.mark.parametrize(
    ("chosen", "parameter", "value", "lo", "hi", "kind"),
    [
        (system("logistic_r4"), "r", 3.0, 2.9, 3.1, "period_doubling"),
        (system("logistic_r4"), "r", 1 + 6**0.5, 3.42, 3.48, "period_doubling"),
        (system("logistic_r4"), "r", 3.544090359551922853615966, 3.53, 3.555, "period_doubling"),
        (system("logistic_r4"), "r", 3.564407266095432597773558, 3.56, 3.567, "period_doubling"),
        (system("logistic_r4"), "r", 1 + 8**0.5, 3.825, 3.835, "tangent"),
        (system("logistic_r2_8"), "r", 1.0, 0.9, 1.1, "transcritical"),
        (system("henon"), "a", 0.3675, 0.3, 0.45, "period_doubling"),
        (system("henon"), "a", -0.1225, -0.2, 0.0, "fold"),
        (system("lorenz63"), "rho", 1.0, 0.5, 1.7, "pitchfork"),
        (system("lorenz63"), "rho", 24.736842105263158, 24.5, 25.5, "hopf_subcritical"),
        (system("vdp"), "mu", 0.0, -0.5, 0.6, "hopf_degenerate"),
        (system("brusselator"), "B", 2.0, 1.7, 2.4, "hopf_supercritical"),
        (system("brusselator").with_values({"A": 1.2}), "B", 2.44, 2.0, 2.7, "hopf_supercritical"),
        (system("circle_map_quasiperiodic"), "Omega", 0.5 / (2 * math.pi), 0.07, 0.09, "fold"),
        (QUADRATIC, "c", -0.75, -0.9, -0.6, "period_doubling"),
        (QUADRATIC, "c", -1.25, -1.3, -1.2, "period_doubling"),
        (SCALED, "r", 3.0, 2.9, 3.1, "period_doubling"),
        (SCALED, "r", 1 + 6**0.5, 3.42, 3.48, "period_doubling"),
    ],
    ids=lambda x: x.rule[0] if isinstance(x, System) else str(x),
)
def test_local_bifurcations_are_bracketed_sharply(
    chosen: System, parameter: str, value: float, lo: float, hi: float, kind: str
) -> None:
    found = containing(swept(chosen, Sweep(parameter, lo, hi, 16)).brackets, value)
    assert found.kind == kind
    assert found.hi - found.lo <= width_allowed(value, lo, hi)
    assert found.certified == (kind not in ("fold", "tangent"))  # at a fold one end has no cycle to certify


# Accumulation points: OEIS A098587 for the logistic map; c = r/2 - r**2/4 of it for x**2 + c (-1.401155189)
@pytest.mark.parametrize(
    ("chosen", "parameter", "value", "lo", "hi"),
    [
        (system("logistic_r4"), "r", 3.5699456718709449, 3.55, 3.58),
        (SCALED, "r", 3.5699456718709449, 3.55, 3.58),
        (QUADRATIC, "c", -1.4011551890920506, -1.42, -1.38),
    ],
    ids=lambda x: x.rule[0] if isinstance(x, System) else str(x),
)
def test_accumulation_points_to_seven_digits(
    chosen: System, parameter: str, value: float, lo: float, hi: float
) -> None:
    found = [b for b in swept(chosen, Sweep(parameter, lo, hi, 16)).brackets if b.kind == "accumulation"]
    assert len(found) == 1
    assert found[0].lo <= value <= found[0].hi
    assert found[0].hi - found[0].lo <= 2e-7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "undecided"),
    [("logistic_r2_8", 0), ("logistic_r4", 0.02), ("henon", 0.02), ("standard_map", 0.02), ("lorenz63", 0.02),
     ("rossler", 0.02), ("vdp", 0.02), ("damped_oscillator", 0.02), ("circle_map_quasiperiodic", 0.02),
     ("ikeda_map", 0.02), ("duffing_chaotic", 0.02), ("brusselator", 0.02)],
)  # fmt: skip
def test_few_points_of_the_shipped_sweeps_are_undecided(name: str, undecided: float) -> None:
    for sweep in system(name).sweeps:
        result: SweepResult = swept(system(name), sweep)
        apart = 0.01 * (sweep.hi - sweep.lo)
        far = [
            p for p in result.points
            if all(not b.lo - apart < p.params[sweep.parameter] < b.hi + apart for b in result.brackets)
        ]  # fmt: skip
        share = sum(p.verdict.regime == "undecided" for p in far) / max(len(far), 1)
        assert share <= undecided


@pytest.mark.slow
def test_a_degenerate_end_of_the_range_is_no_threshold() -> None:
    # at K = 0 every point with p = 0 is fixed: Newton finds many, and none of them bifurcates
    found = swept(system("standard_map"), Sweep("K", 0.0, 0.6, 16)).brackets
    assert all(b.lo > 0.0 and b.hi < 0.6 for b in found)


def test_neutral_cycles_are_no_attractors_that_coexist() -> None:
    """Lotka-Volterra keeps dx dy/(x y), not dx dy: every orbit is on a cycle of its own, and none is carried."""
    made = swept(system("lotka_volterra"), Sweep("alpha", 0.5, 1.5, 4))
    assert {p.verdict.regime for p in made.points} == {"periodic"}
    assert made.brackets == []
    assert {len(p.row["attractors"]) for p in made.points if p.row is not None} == {1}


def test_a_forced_flow_with_noise_is_swept() -> None:
    """Without noise it is a forced flow, whose states are carried to phase 0; with it a state alone has no phase."""
    made = swept(system("duffing_chaotic__noise"), Sweep("eta", 0.0, 0.3, 4))
    assert [p.verdict.regime for p in made.points][1:] == ["stochastic"] * 3
