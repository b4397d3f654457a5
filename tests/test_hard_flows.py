"""Flows whose step, turns or coordinates are hard: what a label does where its first look misleads."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dynamics.block import block
from dynamics.codegen import LANES
from dynamics.registry import system, systems_in_file
from dynamics.run_alone import Alone
from dynamics.section import local_maxima
from labeling.escape import truly_unbounded
from labeling.gathering import gathered, reference_start, swept_start
from labeling.points import judged_reference
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
    assert truly_unbounded(e, found).reason == "step_dependent"
    assert truly_unbounded(gathered(swept_start([blowup], BRIEF), BRIEF)[0], found) is found
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
