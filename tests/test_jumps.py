"""Flows whose rule jumps: crossings and sliding in closed form, deviations against finite differences."""

import numpy as np
import pytest

from dynamics.block import Array, Block, block
from dynamics.codegen import LANES
from dynamics.jumps import may_slide
from dynamics.registry import system
from dynamics.system import System, system_from_row
from labeling.gathering import gathered, reference_start
from labeling.settings import Settings


def flow(rule: list[str], start: list[float]) -> System:
    names = ["x", "y"][: len(rule)]
    return system_from_row("jumping", {"kind": "ode", "state": dict(zip(names, start, strict=True)), "rule": rule})


def moved(chosen: System, duration: float, steps: int, states: Array | None = None) -> Block:
    d = chosen.dimension
    start = np.repeat(np.array([*chosen.state.values()])[:, None], LANES, axis=1) if states is None else states
    parameters = np.repeat(np.array([*chosen.parameters.values()]), LANES).reshape(-1, LANES)
    moving = block(chosen, start, parameters, d, h=duration / steps)
    moving.deviations[:] = np.eye(d)[:, :, None]
    moving.advance(steps)
    return moving


@pytest.mark.parametrize(
    ("name", "surfaces", "slides"),
    [
        ("dysts_sprottmore", ["z"], False),
        ("dysts_fluidtrampoline", ["x"], False),
        ("dysts_sticksliposcillator", ["v - vs"], True),
        ("dysts_colpitts", [], False),  # what is switched is 0 at the switch: the rule has a kink and no jump
        ("dysts_anishchenkoastakhov", [], False),
        ("dysts_chua", [], False),
    ],
)
def test_rules_that_jump_are_told_from_those_that_bend(name: str, surfaces: list[str], slides: bool) -> None:
    chosen = system(name)
    assert [str(g) for g in chosen.switches] == surfaces
    assert may_slide(chosen) == slides


def test_a_crossing_scales_deviations_by_the_speeds_on_both_sides() -> None:
    # x' = 2 below 0 and 1 above: from -1, x = 0 at t = 1/2 and 1/2 at t = 1; a head start is worth half as much there
    moving = moved(flow(["1.5 - 0.5*sign(x)"], [-1.0]), 1.0, 7)
    assert moving.states[0] == pytest.approx(0.5, abs=1e-14)
    assert moving.deviations[0, 0] == pytest.approx(0.5, abs=1e-14)
    assert moving.divergence_integral == pytest.approx(np.log(0.5), abs=1e-14)
    assert moving.t == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("steps", [40, 37])
def test_an_orbit_slides_until_a_field_lets_it_go(steps: int) -> None:
    # y' = t - 1 - 2 sign(y) from 1/2: y = 0 at t = 3 - sqrt(8), slides to t = 3, and is (t - 3)**2/2 thereafter
    chosen = flow(["1", "t - 1 - 2*sign(y)"], [0.0, 0.5])
    moving = moved(chosen, 4.0, steps)
    assert moving.states[:, 0] == pytest.approx([4.0, 0.5], abs=1e-12)
    assert moving.deviations[:, :, 0] == pytest.approx(np.diag([1.0, 0.0]), abs=1e-12)  # all heights end on the surface


@pytest.mark.parametrize(
    ("name", "duration"),
    [
        pytest.param("dysts_sprottmore", 6.0, marks=pytest.mark.slow),
        pytest.param("dysts_fluidtrampoline", 8.0, marks=pytest.mark.slow),
        ("dysts_sticksliposcillator", 9.0),
    ],
)
def test_deviations_through_jumps_are_differences_of_orbits(name: str, duration: float) -> None:
    chosen, apart = system(name), 1e-6
    d = chosen.dimension
    states = np.repeat(np.array([*chosen.state.values()])[:, None], LANES, axis=1)
    for c in range(d):
        states[c, 1 + 2 * c] += apart
        states[c, 2 + 2 * c] -= apart
    coarse, fine = (moved(chosen, duration, steps, states) for steps in (400, 800))
    x = fine.states
    differences = np.array([(x[:, 1 + 2 * c] - x[:, 2 + 2 * c]) / (2 * apart) for c in range(d)]).T
    assert fine.deviations[:, :, 0] == pytest.approx(differences, rel=1e-4, abs=1e-4)
    assert coarse.states == pytest.approx(x, abs=1e-6)
    volume = np.log(abs(np.linalg.det(fine.deviations[:, :, 0])))
    assert fine.divergence_integral[0] == pytest.approx(volume, abs=1e-6)


@pytest.mark.slow
def test_a_flow_that_jumps_has_a_zero_exponent_and_a_sum_that_is_its_volume_rate() -> None:
    # with the saltation left out the exponent along the flow is not 0
    chosen, settings = system("dysts_sprottmore"), Settings(records=1000)
    spectrum = np.asarray(gathered(reference_start(chosen, settings), settings)[0].spectrum.value)
    assert spectrum[0] == pytest.approx(0.228, abs=0.02)
    assert abs(spectrum[1]) < 1e-3 * spectrum[0]
