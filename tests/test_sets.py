"""Attractors over the box, transients, and the label of a system that has several sets."""

import math

import numpy as np
import pytest

from dynamics.registry import system
from dynamics.system import System, system_from_row
from labeling.points import Row, judged_reference, label
from labeling.settings import Settings
from labeling.verdict import Verdict


def row(name: str | System, start: dict[str, float] | None = None, all_sets: bool = False, **values: float) -> Row:
    chosen = system(name) if isinstance(name, str) else name
    return label(chosen.with_values(values, start), all_sets=all_sets)


def shares(made: Row) -> list[tuple[str, float]]:
    return [(a["regime"], a["share"]) for a in made["attractors"]]


def test_lorenz_at_22_rests_after_a_transient() -> None:
    # the transient's median life is 50 (reference: TRAP_lor_transient, 48 starts)
    made = row("lorenz63", rho=22.0)
    assert made["regime"] == "fixed_point"
    assert 5 < made["transient"]["length"] < 400
    assert [regime for regime, _ in shares(made)] == ["fixed_point", "fixed_point"]


def test_lorenz_at_24_4_has_three_attractors() -> None:
    # between 24.058 and 24.737 the chaotic attractor and C+- coexist: Sparrow 1982 (reference: TRAP_lor_coexist)
    made = row("lorenz63", rho=24.4)
    assert sorted(regime for regime, _ in shares(made)) == ["chaotic", "fixed_point", "fixed_point"]


@pytest.mark.slow
def test_lorenz_at_23_9_is_not_chaotic() -> None:
    # 40 of 48 starts still look chaotic at t = 3000, and none of them is (reference: TRAP_lor_transient)
    assert row("lorenz63", rho=23.9)["regime"] in ("undecided", "fixed_point")


def test_ikeda_beyond_its_crisis_rests_after_a_chaotic_transient() -> None:
    made = row("ikeda_map", u=0.918)  # reference/README.md 3: 96 of 96 starts end on a fixed point
    assert (made["regime"], made["transient"]["resembles"]) == ("fixed_point", "chaotic")
    assert shares(made) == [("fixed_point", 1.0)]


def test_standard_map_over_all_sets_is_mixed() -> None:
    made = row("standard_map", all_sets=True)
    assert (made["regime"], made["reason"], made["initial_condition"]) == ("undecided", "mixed_phase_space", None)
    assert dict(shares(made)).keys() >= {"chaotic", "quasiperiodic"}
    assert row("standard_map", {"theta": 0.1, "p": 0.1})["regime"] == "chaotic"
    assert row("standard_map", {"theta": math.pi + 0.3, "p": 0.0})["regime"] == "quasiperiodic"


def test_agreeing_sets_label_the_system() -> None:
    made = row("damped_oscillator", all_sets=True)
    assert (made["regime"], shares(made)) == ("fixed_point", [("fixed_point", 1.0)])


def test_escape_to_infinity_counts_as_a_set() -> None:
    bistable = system_from_row(
        "bistable", {"kind": "ode", "state": {"x": 0.2}, "rule": ["-x + x**3"], "box": {"x": [-2.0, 2.0]}}
    )
    made = label(bistable, all_sets=True)
    assert (made["regime"], made["reason"]) == ("undecided", "several_attractors")
    found = dict(shares(made))
    assert found["fixed_point"] == pytest.approx(0.5, abs=0.2)
    assert found["fixed_point"] + found["unbounded"] == 1.0


def test_swp_04_duffing_has_two_responses_between_its_folds() -> None:
    # x'' + 0.1 x' + x + x**3 = 0.5 cos(w t) at w = 1.8: amplitudes 1.839 and 0.226
    duffing = system_from_row(
        "hardening",
        {
            "kind": "ode", "state": {"x": 0.0, "v": 0.0}, "parameters": {"w": 1.8},
            "rule": ["v", "-0.1*v - x - x**3 + 0.5*cos(w*t)"], "box": {"x": [-3.0, 3.0], "v": [-4.0, 4.0]},
        },
    )  # fmt: skip
    made = label(duffing)
    assert (made["regime"], made["period"]) == ("periodic", 1)
    assert [(a["regime"], a["period"]) for a in made["attractors"]] == [("periodic", 1), ("periodic", 1)]


def test_dyn_11_a_forced_cycle_is_seen_once_per_forcing_period() -> None:
    duffing = system_from_row(
        "duffing", {"kind": "ode", "state": {"x": 0.1, "v": 0.1}, "rule": ["v", "-0.3*v + x - x**3 + 0.2*cos(t)"]}
    )
    e, verdict = judged_reference(duffing, Settings())
    assert (verdict.regime, verdict.period) == ("periodic", 1)
    assert verdict.period_time == pytest.approx(2 * math.pi, abs=1e-12)
    assert len(e.strobed) > 100  # strobed at 125 steps of 0.05 for 2 pi, one point becomes a curve of size 0.4
    assert np.ptp(e.strobed, axis=0).max() < 1e-9


def test_duffing_is_chaotic_and_its_exponents_sum_to_minus_the_damping() -> None:
    e, verdict = judged_reference(system("duffing_chaotic"), Settings())
    assert verdict.regime == "chaotic"
    assert e.spectrum.value is not None
    assert sum(e.spectrum.value) == pytest.approx(-0.2, abs=1e-6)  # type: ignore[arg-type]
    assert e.largest.number == pytest.approx(0.157, abs=0.003)  # reference: OUR_duffing_l1, 0.1570 +- 0.0007


def test_circle_map_turns_and_locks() -> None:
    _, turning = judged_reference(system("circle_map_quasiperiodic"), Settings())
    assert turning.regime == "quasiperiodic"
    locked = row("circle_map_quasiperiodic", Omega=0.5)
    assert (locked["regime"], locked["period"], shares(locked)) == ("periodic", 2, [("periodic", 1.0)])


@pytest.mark.parametrize("rule", ["Mod(2*x, 1)", "1 - abs(2*x - 1)"])
def test_dyn_01_maps_that_collapse_in_doubles_are_judged_by_their_slope(rule: str) -> None:
    shift = system_from_row("shift", {"kind": "map", "state": {"x": 0.1}, "rule": [rule], "box": {"x": [0.0, 1.0]}})
    e, verdict = judged_reference(shift, Settings(escalations=0))
    assert verdict.regime == "chaotic"
    assert verdict.evidence["floating_point_collapse"]
    assert e.largest.number == pytest.approx(math.log(2), abs=1e-12)


def test_a_two_dimensional_collapse_is_judged_by_a_derivative_that_is_the_same_everywhere() -> None:
    def judged(start: dict[str, float], stacked: str = "(y + floor(2*x))/2") -> Verdict:
        row = {"kind": "map", "state": start, "rule": ["Mod(2*x, 1)", stacked]}
        return judged_reference(system_from_row("baker", row), Settings(escalations=0))[1]

    assert (verdict := judged({"x": 0.1, "y": 0.2})).regime == "chaotic"
    assert verdict.evidence["constant_slope"] == pytest.approx(2.0)
    for x in (0.0, 0.5):  # on the stable set of the fixed point 0, to which these orbits truly go
        assert judged({"x": x, "y": 0.2}).regime == "undecided"
    assert judged({"x": 0.1, "y": 0.2}, "(y + floor(2*x))/2 + 0.1*x*y").regime == "undecided"


def test_a_map_driven_at_an_incommensurate_rate_is_never_periodic() -> None:
    driven = system_from_row("driven", {"kind": "map", "state": {"x": 0.1}, "rule": ["0.5*x + cos(t)"]})
    _, verdict = judged_reference(driven, Settings(escalations=0))
    assert verdict.regime in ("undecided", "quasiperiodic")


def test_lotka_volterra_is_a_family_of_cycles() -> None:
    prey = system_from_row("lv", {"kind": "ode", "state": {"x": 1.5, "y": 1.0}, "rule": ["x*(1 - y)", "y*(x - 1)"]})
    _, verdict = judged_reference(prey, Settings(escalations=0))
    assert (verdict.regime, verdict.stability) == ("periodic", "neutral")


@pytest.mark.parametrize(
    ("rule", "start", "regime"), [("sqrt(x - 0.5)", 0.6, "undecided"), ("x**(-64)", 0.2, "unbounded")]
)
def test_orbits_without_a_value(rule: str, start: float, regime: str) -> None:
    lost = system_from_row("lost", {"kind": "map", "state": {"x": start}, "rule": [rule]})
    assert judged_reference(lost, Settings(escalations=0))[1].regime == regime


@pytest.mark.parametrize("name", ['x"""\nopen("harm", "w")\n"""', "../x", "", "a b", "[red]x[/red]", "a\0b"])
def test_ids_cannot_carry_code_or_paths(name: str) -> None:
    with pytest.raises(ValueError, match="an id is made of"):
        system_from_row(name, {"kind": "map", "state": {"x": 0.1}, "rule": ["0.5*x"]})
