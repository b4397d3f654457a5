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

HARDENING = system_from_row(
    "hardening",
    {
        "kind": "ode", "state": {"x": 0.0, "v": 0.0}, "parameters": {"w": 1.8},
        "rule": ["v", "-0.1*v - x - x**3 + 0.5*cos(w*t)"], "box": {"x": [-3.0, 3.0], "v": [-4.0, 4.0]},
    },
)  # fmt: skip


def verdicts(chosen: System, parameter: str, values: list[float]) -> list[Verdict]:
    return [p.verdict for p in judged_points(chosen, [{parameter: v} for v in values], Settings(), Workers())]


def test_swp_01_grids_have_the_points_that_were_asked_for() -> None:
    result = swept(system("logistic_r4"), Sweep("r", 3.4, 4.0, 13), Settings(escalations=0))
    values = [p.params["r"] for p in result.points]
    assert len(values) == 13
    assert (values[0], values[7], values[-1]) == (3.4, 3.75, 4.0)


def test_swp_02_the_onset_of_chaos_is_not_the_edge_of_a_window() -> None:
    result = swept(system("logistic_r4"), Sweep("r", 3.4, 3.95, 56))
    chaos = [p.verdict.is_chaotic for p in result.points if p.verdict.regime != "undecided"]
    assert np.count_nonzero(np.diff(chaos)) > 3  # windows: no bisection of a sign could be right
    onset = min((b for b in result.brackets if b.kind == "accumulation"), key=lambda b: b.lo)
    assert onset.lo <= 3.5699456718709449 <= onset.hi


def test_swp_04_hysteresis_has_a_fold_for_either_direction() -> None:
    # first harmonic: (1 - w**2 + 3/4 A**2)**2 + (w/10)**2 = (1/(2 A))**2, folds near 1.44 and 2.20
    result = swept(HARDENING, Sweep("w", 1.0, 2.5, 16))
    found = {b.direction: (b.lo, b.kind) for b in result.brackets}
    assert found.keys() == {"up", "down"}
    assert found["down"] == (pytest.approx(1.44, abs=0.02), "fold")
    assert found["up"] == (pytest.approx(2.204, abs=0.02), "fold")
    twofold = [p.params["w"] for p in result.points if p.row is not None and len(p.row["attractors"]) == 2]
    assert twofold == pytest.approx([1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.1, 2.2])


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


def test_swp_05_a_chaotic_transient_is_no_chaos() -> None:
    made = label(system("lorenz63").with_values({"rho": 22.0}, {"x": -2.0, "y": 0.0, "z": 15.0}))
    assert made["regime"] == "fixed_point"
    assert made["transient"]["resembles"] == "chaotic"


def test_swp_07_lorenz_windows_at_large_rho() -> None:
    found = verdicts(system("lorenz63"), "rho", [99.65, 100.75, 160.0, 166.0, 350.0, 166.3])
    assert [v.regime for v in found] == ["periodic"] * 5 + ["chaotic"]


def test_swp_08_periods_of_the_rossler_cascade() -> None:
    found = verdicts(system("rossler"), "c", [2.5, 3.5, 4.0, 4.15, 4.2, 5.3, 5.7])
    assert [v.evidence.get("maxima") for v in found] == [1, 2, 4, 8, 16, 3, None]
    assert found[-1].regime == "chaotic"


@pytest.mark.parametrize("r", [3.0, 1 + 6**0.5, 3.5440903595519228, 3.5644072660954326])
def test_swp_10_at_a_bifurcation_nothing_is_decided_by_chance(r: float) -> None:
    # |x_n - 2/3| falls like n**-1/2 at r = 3: no run is long enough
    (found,) = verdicts(system("logistic_r4"), "r", [r])
    assert found.regime == "undecided" or found.stability == "neutral"


@pytest.mark.parametrize(
    "chosen",
    [
        system("vdp").with_values({"mu": 10.0}),
        system_from_row(
            "prey",  # Rosenzweig & MacArthur 1963, Am. Nat. 97:209, enriched: the cycle grazes both axes
            {
                "kind": "ode", "state": {"x": 1.0, "y": 1.0},
                "rule": ["x*(1 - x/8) - x*y/(1 + x)", "0.6*x*y/(1 + x) - 0.25*y"],
                "box": {"x": [0.1, 8.0], "y": [0.1, 8.0]},
            },
        ),
    ],
    ids=lambda s: s.id,
)  # fmt: skip
def test_swp_11_slow_passages_near_saddles_are_no_attractors(chosen: System) -> None:
    made = label(chosen)
    assert [(a["regime"], a["share"]) for a in made["attractors"]] == [("periodic", 1.0)]


def test_swp_13_a_sweep_is_the_same_the_second_time_and_after_another() -> None:
    grid = Sweep("a", 1.2, 1.4, 12)
    first = swept(system("henon"), grid, Settings(escalations=0))
    swept(system("logistic_r4"), Sweep("r", 3.0, 3.9, 12), Settings(escalations=0))
    again = swept(system("henon"), grid, Settings(escalations=0))
    assert [p.row for p in first.points] == [p.row for p in again.points]
    assert [(b.lo, b.hi, b.kind) for b in first.brackets] == [(b.lo, b.hi, b.kind) for b in again.brackets]


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
