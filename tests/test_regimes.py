"""Regimes of points whose truth is known, and points that other tools call chaotic by mistake."""

import math

import pytest

from dynamics.registry import system
from dynamics.system import System, system_from_row
from labeling.points import Point, judged_points, judged_reference, label
from labeling.settings import Settings
from labeling.verdict import Verdict
from labeling.workers import Workers

ONE_LOOK = Settings(escalations=0)


def verdict(name: str | System, settings: Settings = ONE_LOOK, **parameters: float) -> Verdict:
    chosen = system(name) if isinstance(name, str) else name
    return points(chosen, [parameters], settings)[0].verdict


def points(chosen: System, values: list[dict[str, float]], settings: Settings = ONE_LOOK) -> list[Point]:
    return judged_points(chosen, values, settings, Workers(), rows=False)


def row(kind: str, rule: list[str], state: dict[str, float], **rest: object) -> System:
    return system_from_row("row", {"kind": kind, "rule": rule, "state": state, **rest})


# Parameters with their regime. Periods of the logistic map: May 1976, Nature 261:459; Lorenz at rho = 160 and the
# Rossler cascade (c = 2.5 one loop, c = 3.5 two, c = 4 four): Sparrow 1982, chapter 4; Rossler 1976 and
# tests/reference; the standard map's torus at K = 0.3 is a KAM curve (Greene 1979: none is left only above 0.9716).
REGULAR = {
    "logistic_r4": [({"r": 2.8}, "fixed_point"), ({"r": 3.2}, "periodic"), ({"r": 3.5}, "periodic"),
                    ({"r": 3.55}, "periodic"), ({"r": 3.83}, "periodic"), ({"r": 3.8414}, "periodic")],
    "henon": [({"a": 0.2}, "fixed_point"), ({"a": 0.5}, "periodic"), ({"a": 1.0}, "periodic"),
              ({"a": 1.25}, "periodic")],
    "standard_map": [({"K": 0.0}, "quasiperiodic"), ({"K": 0.2}, "quasiperiodic"), ({"K": 0.3}, "quasiperiodic")],
    "lorenz63": [({"rho": 0.5}, "fixed_point"), ({"rho": 14.0}, "fixed_point"), ({"rho": 160.0}, "periodic")],
    "rossler": [({"c": 2.5}, "periodic"), ({"c": 3.5}, "periodic"), ({"c": 4.0}, "periodic")],
    "vdp": [({"mu": 0.0}, "periodic"), ({"mu": 0.3}, "periodic"), ({"mu": 1.0}, "periodic"), ({"mu": 3.0}, "periodic")],
    "damped_oscillator": [({"zeta": 0.0}, "periodic"), ({"zeta": 0.2}, "fixed_point"), ({"zeta": 1.2}, "fixed_point")],
}  # fmt: skip


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize("seed", range(10))
def test_regular_points_have_their_regime_at_every_seed(name: str, seed: int) -> None:
    found = points(system(name), [values for values, _ in REGULAR[name]], Settings(seed=seed))
    assert [p.verdict.regime for p in found] == [regime for _, regime in REGULAR[name]]


@pytest.mark.parametrize(
    ("name", "values"),
    [("logistic_r4", {"r": 3.9}), ("logistic_r4", {"r": 4.0}), ("logistic_r4", {"r": 3.6}), ("henon", {"a": 1.4}),
     ("standard_map", {"K": 1.5}), ("lorenz63", {"rho": 28.0}), ("rossler", {"c": 5.7})],
)  # fmt: skip
def test_chaotic_points_are_chaotic(name: str, values: dict[str, float]) -> None:
    assert verdict(name, Settings(), **values).regime == "chaotic"


def test_periods_and_stability() -> None:
    found = {r: verdict("logistic_r4", r=r) for r in (3.2, 3.5, 3.55, 3.83)}
    assert {r: v.period for r, v in found.items()} == {3.2: 2, 3.5: 4, 3.55: 8, 3.83: 3}
    assert all(v.stability == "attracting" for v in found.values())
    cycle = verdict("vdp", mu=1.0)
    assert cycle.period is None
    # T of the unit van der Pol cycle: Andersen & Geer 1982, SIAM J. Appl. Math. 42:678
    assert cycle.period_time == pytest.approx(6.6632868593, abs=1e-9)
    centre = verdict("vdp", mu=0.0)
    assert (centre.stability, centre.period_time) == ("neutral", pytest.approx(2 * math.pi, abs=1e-8))
    assert [verdict("rossler", c=c).evidence["section_points"] for c in (2.5, 3.5, 4.0)] == [1, 2, 4]


def test_henon_at_1_2652_is_the_window_of_period_70() -> None:
    # where the published benchmark says chaotic; trace of the 70-fold derivative -0.10842
    found = verdict("henon", Settings(), a=1.2652)
    assert (found.regime, found.period) == ("periodic", 70)
    assert sum(m[0] for m in found.evidence["multipliers"]) == pytest.approx(-0.10842, abs=1e-5)


@pytest.mark.parametrize("x0", [0.5, 0.25, 0.75, 0.0])
def test_dyn_02_an_orbit_on_a_repelling_fixed_point_is_no_chaos(x0: float) -> None:
    _, found = judged_reference(system("logistic_r4").with_values({}, {"x": x0}), ONE_LOOK)
    assert (found.regime, found.stability) == ("fixed_point", "repelling")


def test_a_grid_point_whose_start_leads_to_a_repelling_point_is_started_again() -> None:
    # at r = 10/3 the start 0.1 is mapped onto the repelling fixed point 0.7 in two steps
    assert verdict("logistic_r4", r=10 / 3).period == 2


@pytest.mark.parametrize("z0", [0.0, 10.0])
def test_lya_14_an_orbit_that_ends_on_an_unstable_equilibrium_is_not_chaotic(z0: float) -> None:
    e, found = judged_reference(system("lorenz63").with_values({}, {"x": 0.0, "y": 0.0, "z": z0}), ONE_LOOK)
    assert (found.regime, found.stability) == ("fixed_point", "repelling")
    assert e.spectrum.value == pytest.approx([11.82772, -2.66667, -22.82772], abs=1e-4)


def test_meg_07_the_pendulum_upside_down_is_not_chaotic() -> None:
    pendulum = row("ode", ["v", "-sin(x)"], {"x": math.pi, "v": 0.0}, circle={"x": "2*pi"})
    _, found = judged_reference(pendulum, ONE_LOOK)
    # sin(pi) is 1e-16 in doubles: the orbit may leave the equilibrium, and then swings along the separatrix
    assert found.regime in ("fixed_point", "periodic", "undecided")


@pytest.mark.parametrize(
    "chosen",
    [
        row("ode", ["x"], {"x": 1.0}),
        row("ode", ["x**2"], {"x": 1.0}),
        row("map", ["2*x"], {"x": 1.0}),
        system("henon").with_values({"a": 1.5}),
        system("logistic_r4").with_values({"r": 4.5}),
        system("damped_oscillator").with_values({"zeta": -0.1}),
    ],
    ids=lambda s: f"{s.id} {s.rule[0]}",
)
def test_what_leaves_every_bound_is_unbounded(chosen: System) -> None:
    assert verdict(chosen).regime == "unbounded"


def test_two_incommensurate_oscillators_move_on_a_torus() -> None:
    torus = row("ode", ["v", "-x", "w", "-2*y"], {"x": 1.0, "v": 0.0, "y": 1.0, "w": 0.0})
    assert verdict(torus).regime == "quasiperiodic"


def test_two_uncoupled_logistic_maps_are_hyperchaotic() -> None:
    found = verdict(row("map", ["3.9*x*(1 - x)", "4*y*(1 - y)"], {"x": 0.1, "y": 0.3}))
    assert found.regime == "hyperchaotic"


def test_no_torus_where_volume_shrinks_evenly() -> None:
    # at its first flip the Henon map converges so slowly that all looks neutral; a closed curve it cannot have
    near = points(system("henon"), [{"a": 0.3675 + x} for x in (-1e-7, 0.0, 1e-7)])
    assert "quasiperiodic" not in [p.verdict.regime for p in near]


def test_a_verdict_does_not_depend_on_its_neighbours() -> None:
    values = [{"c": c} for c in (2.5, 4.2, 5.7, 6.0)]
    together = judged_points(system("rossler"), values, ONE_LOOK, Workers())
    alone = [judged_points(system("rossler"), [v], ONE_LOOK, Workers())[0] for v in reversed(values)][::-1]
    assert [p.row for p in together] == [p.row for p in alone]


def test_a_row_has_the_fields_of_the_format_and_the_27_predicates() -> None:
    made = label(system("henon"))
    assert list(made)[:9] == [
        "system_id", "params", "initial_condition", "regime", "period", "period_time", "stability", "reason",
        "attractors",
    ]  # fmt: skip
    assert len(made["predicates"]) == 27
    values = {name: p["value"] for name, p in made["predicates"].items()}
    assert {n for n, v in values.items() if v == "TRUE"} == {
        "Chaotic", "PosLyap", "Sensitive", "StrangeAttr", "PointUnpredictable", "StatPredictable", "Dissipative",
        "Bounded", "Mixing", "StrongMixing", "WeakMixing", "Ergodic", "Deterministic", "DiscreteTime", "Autonomous",
    }  # fmt: skip
    assert {p["basis"] for p in made["predicates"].values()} <= {"exact", "certified", "measured", "proxy", "derived"}
    assert "UNDECIDED" not in values.values()
    assert made["provenance"].keys() == {"version", "code", "settings", "seed"}
