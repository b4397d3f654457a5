"""Systems whose step, turns, coordinates or slope are hard: what a label does where its first look misleads."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dynamics.block import block
from dynamics.codegen import LANES
from dynamics.registry import system, systems_in_file
from dynamics.run_alone import Alone
from dynamics.section import local_maxima
from dynamics.system import system_from_row
from labeling.escape import truly_unbounded
from labeling.gathering import gathered, reference_start, swept_start
from labeling.points import judged_reference, label
from labeling.regimes import regime
from labeling.settings import Settings
from labeling.verdict import Verdict

BRIEF = Settings(records=256, series=2048, turning_steps=20_000)


def same_in_all(values):
    return np.repeat(np.array([*values])[:, None], LANES, axis=1)


def test_an_orbit_that_outgrows_its_step_is_taken_again():
    """Sakarya's rare excursions need half the step that its pilot chose; DOP853 at 1e-10 keeps the orbit below 40 for
    4,000 units of time."""
    e, verdict = judged_reference(system("dysts_sakarya"), Settings())
    assert verdict.regime == "chaotic"
    assert np.abs(e.series).max() < 60
    assert not e.too_coarse


def test_a_cycle_of_93_turns():
    found = judged_reference(system("dysts_dequanli"), Settings())[1]
    assert (found.regime, found.stability) == ("periodic", "attracting")

    a, c, d, eps, f, k = 40.0, 1.833, 0.16, 0.65, 20.0, 55.0

    def rate(_, u):
        x, y, z = u
        return [a * (y - x) + d * x * z, k * x + f * y - x * z, c * z + x * y - eps * x * x]

    point = found.evidence["point"]
    end = solve_ivp(rate, (0, found.period_time), point, method="DOP853", rtol=1e-12, atol=1e-11).y[:, -1]
    assert np.abs(end - point).max() < 1e-5 * np.abs(point).max()
    third = solve_ivp(rate, (0, found.period_time / 3), point, method="DOP853", rtol=1e-12, atol=1e-11).y[:, -1]
    assert np.abs(third - point).max() > 1.0


def test_a_pole_of_the_coordinates_is_no_escape(tmp_path):
    """A rotation about a point beside the origin, in polar coordinates: its orbit passes the pole at 1e-3."""
    (tmp_path / "pole.toml").write_text(
        '[pole]\nkind = "ode"\nstate = { r = 2.001, th = 0.0 }\nparameters = { b = 1.0 }\n'
        'rule = ["b*sin(th)", "1.0*(-1 + b*cos(th)/r)"]\nbox = { r = [0.0, 3.0], th = [0.0, 6.2832] }\n'
        '[blowup]\nkind = "ode"\nstate = { x = 1.0 }\nparameters = { a = 1.0 }\nrule = ["a*x**2"]\n'
        "box = { x = [0, 2] }\n"
    )
    pole, blowup = systems_in_file(tmp_path / "pole.toml")
    found = Verdict("unbounded", evidence={"run": "escaped"})
    e = gathered(swept_start([pole], BRIEF), BRIEF)[0]
    assert truly_unbounded(e, found, BRIEF).reason == "step_dependent"
    assert truly_unbounded(gathered(swept_start([blowup], BRIEF), BRIEF)[0], found, BRIEF) is found
    assert judged_reference(blowup, BRIEF)[1].regime == "unbounded"


def test_few_turns_have_no_k_and_no_torus():
    slow = system("dysts_windmireduced")
    e = gathered(reference_start(slow, BRIEF), BRIEF)[0]
    assert not e.turned
    assert e.zero_one.status in ("not_applicable", "ok", "not_converged")
    assert regime(e).regime != "quasiperiodic"


@pytest.mark.parametrize("name", ["lorenz63", "duffing_chaotic"])
def test_maxima_of_one_orbit_are_those_of_a_lane(name):
    s = system(name)
    period = s.forcing_period
    h = 0.01 if period is None else period / 512
    start, p = np.array([*s.state.values()]), np.array([*s.parameters.values()])
    periods = None if period is None else np.full(LANES, period)
    lanes = block(s, same_in_all(start), same_in_all(p), 0, h=h, periods=periods)
    alone = Alone(s, start, p, 0, h=h, period=np.inf if period is None else period)
    which = np.zeros(LANES, dtype=np.int64)
    many, one = local_maxima(lanes, which, 6000, 1000), local_maxima(alone, which[:1], 6000, 1000)
    assert len(one) == 1
    assert len(one[0]) == len(many[0]) > 5
    assert np.allclose(one[0][:5], many[0][:5], rtol=1e-9)


def test_a_past_that_explodes_ends_its_own_lane_alone():
    s = system("dysts_piecewisecircuit")
    wild = s.with_values({}, {"x": 60.0})
    start = swept_start([s, wild, s], BRIEF)
    assert [one == "ok" for one in start.status[:3]] == [True, False, True]
    assert start.t[0] == start.t[2] > 0


def test_a_careful_orbit_has_all_the_time_to_escape():
    """Forced, this flow blows up after some turns: well after the time into the forcing at which the run ended."""
    s = system("dysts_halvorsen__forced").with_values({"A_f": 8.0})
    assert judged_reference(s, BRIEF)[1].regime == "unbounded"

    def rate(t, u):
        x, y, z = u
        a, b = 1.4, 4.0
        return [-a * x - b * (y + z) - y * y + 8.0 * np.cos(1.5 * t), -a * y - b * (z + x) - z * z,
                -a * z - b * (x + y) - x * x]  # fmt: skip

    def far(_, u):
        return np.abs(u).max() - 1e5

    far.terminal = True
    assert len(solve_ivp(rate, (0, 400), [*s.state.values()], method="DOP853", rtol=1e-10, events=far).t_events[0])


def test_of_a_saddle_the_side_counts_on_which_the_orbit_passes():
    """Aizawa's flow passes the saddle on its axis from above; what lies below runs into a sink, as it never does."""
    s = system("dysts_aizawa").with_values({"e": 0.1352})
    found = judged_reference(s, Settings())[1]
    assert found.regime == "chaotic"
    a, b, c, d, e, f = (s.parameters[name] for name in "abcdef")

    def rate(_, u):
        x, y, z = u
        return [(z - b) * x - d * y, d * x + (z - b) * y,
                c + a * z - z**3 / 3 - (x * x + y * y) * (1 + e * z) + f * z * x**3]  # fmt: skip

    orbit = solve_ivp(rate, (0, 2_000), [*s.state.values()], method="DOP853", rtol=1e-9, atol=1e-9).y
    saddle = min(np.roots([-1 / 3, 0, a, c]).real, key=lambda z: abs(z + 0.84))
    near = np.hypot(orbit[0], orbit[1]) < 0.05
    assert near.any()
    assert orbit[2, near].min() > saddle


def test_tori_of_angles_alone_are_seen_by_a_section():
    """The ABC flow is integrable at c = 0 (Dombre et al. 1986, J. Fluid Mech. 167:353), and has tori nearby."""
    weak, strong = (system("dysts_arnoldbeltramichildress").with_values({"c": c}) for c in (0.105, 1.2))
    assert judged_reference(weak, Settings())[1].regime == "quasiperiodic"
    assert judged_reference(strong, Settings())[1].regime == "chaotic"


def test_a_wave_within_a_wave_is_a_forcing():
    s = system("dysts_oscillatingflow")
    assert s.forcing_period == pytest.approx(2 * np.pi / 0.49)
    assert judged_reference(s.with_values({"k": 0.6}), Settings())[1].regime == "quasiperiodic"


def test_a_derivative_that_is_infinite_is_no_escape():
    """cos(a arccos x) stays within 1 whatever a is; at x = 1, where it ends for a < 1, acos has no finite slope."""
    found = judged_reference(system("dysts_map_chebyshev").with_values({"a": 0.3}), Settings())[1]
    assert (found.regime, found.evidence["run"]) == (
        "undecided", "the rule's derivative has no finite value on the orbit"
    )  # fmt: skip


def test_a_variable_that_does_not_move_is_no_part_of_a_forecast():
    """The logistic map at r = 3.9 beside a variable at rest: pairs part, and the forecast fails, as without it."""
    row = {"kind": "map", "state": {"x": 0.1, "y": 0.0}, "parameters": {"r": 3.9}, "rule": ["r*x*(1 - x)", "y/2"],
           "box": {"x": [0.0, 1.0], "y": [0.0, 1.0]}}  # fmt: skip
    found = label(system_from_row("beside", row), BRIEF)["predicates"]
    assert (found["Chaotic"]["value"], found["PointUnpredictable"]["value"]) == ("TRUE", "TRUE")
