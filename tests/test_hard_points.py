"""Inputs on which other tools went wrong (named after the collection of cases they come from), judged rightly."""

import math

import numpy as np
import pytest

from dynamics.block import single_orbit
from dynamics.registry import system
from dynamics.system import Sweep, System, system_from_row
from labeling.crossings import crossings, located
from labeling.gathering import gathered, swept_start
from labeling.points import judged_points, judged_reference, label
from labeling.settings import Settings
from labeling.sweeps import swept
from labeling.verdict import Verdict
from labeling.workers import Workers


def verdicts(chosen: System, parameter: str, values: list[float]) -> list[Verdict]:
    return [p.verdict for p in judged_points(chosen, [{parameter: v} for v in values], Settings(), Workers())]


@pytest.mark.slow
def test_lorenz_loses_its_attractor_at_24_06_downwards_and_its_equilibria_upwards() -> None:
    # Kaplan & Yorke 1979: 24.06 (24.0579 in reference/values.csv); Hopf at sigma (sigma + beta + 3)/(sigma - beta - 1)
    result = swept(system("lorenz63"), Sweep("rho", 23.4, 25.2, 10))
    crisis, hopf = result.brackets
    assert (crisis.kind, crisis.direction) == ("boundary_crisis", "down")
    assert crisis.lo <= 24.0579 <= crisis.hi <= crisis.lo + 0.03
    assert (hopf.kind, hopf.direction) == ("hopf_subcritical", "up")
    assert hopf.lo <= 24.736842105263158 <= hopf.hi
    both = [p.params["rho"] for p in result.points if p.row and len(p.row["attractors"]) == 2]
    assert min(both) >= 24.0
    assert max(both) == pytest.approx(24.6)


def test_an_escape_is_seen_though_its_turns_grow_as_fast_as_it_does() -> None:
    """Bouali2 at c = -0.9486: y and z turn at a rate that grows with their size; LSODA passes 1e9 at t = 25.4."""
    (verdict,) = verdicts(system("dysts_bouali2"), "c", [-0.9486])
    assert verdict.regime == "unbounded"


def test_turns_that_creep_have_no_k_and_chaos_is_told_by_the_exponents() -> None:
    """Zhou-Chen: maxima along a spiral, of which every 19th is independent; 200 of those would take 16 times longer."""
    (verdict,) = verdicts(system("dysts_zhouchen"), "b", [0.1406])
    assert verdict.regime == "chaotic"
    assert verdict.evidence["zero_one_k"] is None
    assert 0.8 < verdict.evidence["megno_slope_ratio"] < 1.25


def test_dyn_07_a_switch_in_the_rule_does_not_make_two_cycles_of_one() -> None:
    stiff = {"kind": "ode", "state": {"x": 0.5, "v": 0.0}, "rule": ["v", "-0.3*v - x - 2*x*Heaviside(x) + cos(2*t)"]}
    bilinear = system_from_row("bilinear", stiff)
    found = [judged_reference(bilinear.with_values({}, {"x": x}), Settings())[1] for x in (0.5, 0.5 + 1e-7)]
    assert [(v.regime, v.period, v.stability) for v in found] == [("periodic", 1, "attracting")] * 2
    assert abs(found[0].evidence["multipliers"][0][0] - found[1].evidence["multipliers"][0][0]) < 1e-5


def test_dyn_10_a_run_that_fails_leaves_no_tail_to_read_a_regime_from() -> None:
    falling = system_from_row("falling", {"kind": "ode", "state": {"x": 1.0}, "rule": ["-1/x"]})  # x = 0 at t = 1/2
    made = label(falling, Settings(escalations=0))
    assert made["regime"] in ("undecided", "unbounded")
    assert made["indicators"]["lyapunov_max"] == {"value": None, "error": None, "status": "diverged"}


def test_dyn_14_a_section_is_crossed_upwards_once_per_turn() -> None:
    circle = system_from_row("turning", {"kind": "ode", "state": {"x": 1.0, "y": 0.0}, "rule": ["y", "-x"]})
    e = gathered(swept_start([circle], Settings()), Settings())[0]
    before, since, _ = crossings(e)
    times, states = located(e, before[-8:], since[-8:])
    assert np.diff(times) == pytest.approx(2 * math.pi, abs=1e-6)
    c = int(np.argmax(e.extent))
    velocity = states[:, 1] if c == 0 else -states[:, 0]
    assert (velocity > 0.9).all()


def test_dyn_17_what_is_compared_is_invariant_and_rows_say_which_code_made_them() -> None:
    lorenz = system("lorenz63")
    coarse, fine = (judged_reference(lorenz, Settings(finer=f))[0].largest.number for f in (1, 2))
    assert coarse == pytest.approx(0.9057, abs=0.01)
    assert fine == pytest.approx(coarse, abs=0.01)
    a, b = (single_orbit(lorenz, np.ones(3), 0.004 / f, 250 * f, 20)[0] for f in (1, 2))
    assert np.abs(a - b).max() < 1e-3  # to t = 20: a difference grows like exp(0.906 t)
    far = (single_orbit(lorenz, np.ones(3), 0.004 / f, 250 * f, 60)[0][-1] for f in (1, 2))
    assert np.abs(np.subtract(*far)).max() > 1e-3
    assert len(label(system("henon"))["provenance"]["code"]) == 16


def test_an_orbit_that_cycles_between_saddles_is_undecided() -> None:
    # May & Leonard 1975: the cycle of the three axes attracts for alpha + beta > 2, the inner point for less
    model = system_from_row(
        "may_leonard",
        {
            "kind": "ode", "state": {"x": 0.5, "y": 0.3, "z": 0.2}, "parameters": {"a": 0.8, "b": 1.4},
            "rule": ["x*(1 - x - a*y - b*z)", "y*(1 - b*x - y - a*z)", "z*(1 - a*x - b*y - z)"],
        },
    )  # fmt: skip
    found = verdicts(model, "b", [1.4, 1.1])
    assert (found[0].regime, found[0].reason) == ("undecided", "heteroclinic")
    ratios = np.divide(found[0].evidence["dwell_times"][1:], found[0].evidence["dwell_times"][:-1])
    # per visit, (alpha - 1) and (beta - 1) give contraction 0.4 against expansion 0.2: times double in the end
    assert ratios[-1] == pytest.approx(2.0, abs=0.15)
    assert found[1].regime == "fixed_point"


def test_rotation_numbers_of_the_circle_map() -> None:
    circle = system("circle_map_quasiperiodic")
    free, half, third = (
        judged_points(circle, [values], Settings(), Workers())[0].verdict.evidence["rotation_number"]["theta"]
        for values in ({"K": 0.0, "Omega": 0.3**0.5}, {"Omega": 0.5}, {"K": 0.9, "Omega": 0.34})
    )
    assert free == pytest.approx(0.3**0.5, abs=1e-12)
    assert half == pytest.approx(1 / 2, abs=1e-12)
    assert third == pytest.approx(1 / 3, abs=1e-12)


def test_lya_20_the_order_of_a_sweep_does_not_matter() -> None:
    values = [{"c": float(c)} for c in np.linspace(2.0, 8.0, 24)]
    order = np.random.default_rng(3).permutation(len(values)).tolist()
    ordered = judged_points(system("rossler"), values, Settings(escalations=0), Workers())
    shuffled = judged_points(system("rossler"), [values[i] for i in order], Settings(escalations=0), Workers())
    assert [ordered[i].row for i in order] == [p.row for p in shuffled]
