import math

import numpy as np
import pytest

from dynamics.block import block
from dynamics.codegen import LANES
from dynamics.registry import system
from dynamics.system import RowError
from dynamics.tangent_run import tangent_run
from indicators.lyapunov import lyapunov_spectrum
from indicators.megno import megno
from labeling.chaos_indicators import _Lanes, chaos_indicators

STANDARD, LORENZ, HENON_HEILES = system("standard_map"), system("lorenz63"), system("dysts_henonheiles")


def numbers(one):
    estimates = [one.megno, one.megno_slope, one.fli, one.sali, *one.gali]
    return [*one.exponents.value, *(e.number for e in estimates)]


def test_one_value_for_each_of_twenty_orbits():
    """Two blocks, a kick for each; each orbit reads what it reads alone, and what the plain functions make of it."""
    kicks = np.linspace(0.2, 8.0, 20)
    starts = np.array([np.linspace(0.5, 2.5, 20), np.linspace(1.0, 1.3, 20)])
    found = chaos_indicators(STANDARD, {"K": kicks}, starts, 3_000)
    assert [one.status for one in found] == ["ok"] * 20
    for i in (0, 7, 15, 16, 19):
        (alone,) = chaos_indicators(STANDARD, {"K": kicks[i]}, starts[:, i], 3_000)
        assert numbers(alone) == pytest.approx(numbers(found[i]), rel=1e-6, abs=1e-6)
    moving = block(STANDARD, starts[:, :LANES].copy(), kicks[None, :LANES].copy(), 2)
    made = tangent_run(moving, 3_000)
    for i in (0, 15):
        assert found[i].exponents.value == pytest.approx(lyapunov_spectrum(made.growth[:, :, i], 1.0).value, abs=1e-8)
        mean, slope = megno(made.growth[:, 0, i], 1.0, continuous=False)
        assert found[i].megno.number == pytest.approx(mean.number, rel=1e-9)
        assert found[i].megno_slope.number == pytest.approx(slope.number, rel=1e-6, abs=1e-9)
    assert found[0].gali[0].evidence["decay"] == "power"
    assert found[19].gali[0].evidence["decay"] == "exponential"


def test_regular_and_chaotic_orbit_of_a_flow_in_one_call():
    """Henon-Heiles at H = 0.125, y = 0.55 and -0.016 (Skokos, Bountis & Antonopoulos 2007): all indices agree."""
    starts = np.zeros((4, 2))
    starts[1] = [0.55, -0.016]
    starts[2] = np.sqrt(0.25 - starts[1] ** 2 + 2 * starts[1] ** 3 / 3)
    regular, chaotic = chaos_indicators(HENON_HEILES, {}, starts, 5_000.0)
    assert [g.evidence["decay"] for g in regular.gali] == ["none", "power", "power"]
    assert [g.evidence["decay"] for g in chaotic.gali] == ["exponential"] * 3
    assert (regular.fli.evidence["growth"], chaotic.fli.evidence["growth"]) == ("power", "exponential")
    assert 1.5 < regular.megno.number < 2.5
    assert abs(regular.megno_slope.number) < 1e-3
    assert chaotic.megno_slope.number == pytest.approx(chaotic.exponents.value[0] / 2, rel=0.35)
    assert regular.sali.number > -4 > -100 > chaotic.sali.number
    for one in (regular, chaotic):
        assert one.settings["T"] == 5_000.0
        assert one.settings["h"] * one.settings["steps"] == pytest.approx(one.exponents.evidence["T"] / 4_096, rel=0.5)
        assert one.settings["between"] <= one.settings["steps"]
        assert 1.0 <= one.settings["loss"] < one.settings["condition"]
        assert one.gali[2].evidence["between"] == one.fli.evidence["between"] == one.settings["between"]
        assert 0.0 < one.gali[2].evidence["rounding"] < 1e-3


def test_a_step_of_ones_own_and_fewer_deviations():
    found = chaos_indicators(LORENZ, {"rho": 28.0}, [1.0, 1.0, 20.0], 200.0, k=2, h=0.003)[0]
    assert len(found.gali) == 1
    assert found.settings["h"] <= 0.003
    assert found.settings["T"] == pytest.approx(200.0, rel=1e-12)
    assert found.sali.evidence["decay"] == "exponential"
    assert found.gali[0].evidence["rate"] == pytest.approx(0.9056, rel=0.1)


def test_a_long_run_of_a_map_has_records_of_several_iterates():
    found = chaos_indicators(STANDARD, {"K": 6.0}, [1.0, 1.0], 100_001)[0]
    assert found.settings["steps"] == 13
    assert found.settings["T"] == 100_009
    assert found.megno.number == pytest.approx(found.exponents.value[0] * 100_009 / 2, rel=0.02)
    assert found.gali[0].number == pytest.approx(-2 * found.exponents.value[0] * 100_009, rel=1e-3)


def test_forced_flow_keeps_its_phase():
    """The step need not divide the period: chaos of the forced Duffing oscillator, exponents that sum to -0.2."""
    s = system("duffing_chaotic")
    found = chaos_indicators(s, {}, [*s.state.values()], 4_000.0)[0]
    assert sum(found.exponents.value) == pytest.approx(-0.2, rel=1e-3)
    assert found.exponents.value[0] == pytest.approx(0.157, rel=0.1)
    assert found.gali[0].evidence["decay"] == "exponential"


def test_each_lane_has_the_forcing_period_of_its_own_parameters():
    s = system("duffing_chaotic")
    own = float(s.forcing_period)
    halved = s.with_values({"omega": 2 * s.parameters["omega"]})
    lanes = _Lanes(s, [s, halved], np.array([[0.1, 0.1], [0.2, 0.2]]))
    assert lanes.periods == pytest.approx([own, *[own / 2] * (LANES - 1)])
    assert _Lanes(LORENZ, [LORENZ], np.ones((3, 1))).periods is None


def test_a_single_deviation_has_nothing_to_align_with():
    found = chaos_indicators(system("logistic_r4"), {"r": 3.9}, [0.3], 1_000)[0]
    assert (found.sali.status, found.gali) == ("not_applicable", ())
    assert found.fli.number == pytest.approx(found.exponents.value[0] * 1_000, rel=0.02)


def test_an_orbit_that_escapes_has_no_value_and_the_others_have():
    henon = system("henon")
    gone, kept = chaos_indicators(henon, {}, np.array([[5.0, 0.1], [5.0, 0.1]]), 500)
    assert gone.status in ("escaped", "blew_up")
    for estimate in (gone.exponents, gone.megno, gone.megno_slope, gone.fli, gone.sali, *gone.gali):
        assert (estimate.value, estimate.status) == (None, "diverged")
        assert estimate.evidence["t"] < 20
    assert kept.status == "ok"
    assert kept.gali[0].evidence["rate"] == pytest.approx(0.4192 + 1.6232, rel=0.1)


@pytest.mark.parametrize(("system_id", "parameters", "states", "length", "more", "part"), [
    ("stochastic_ou", {}, [0.0], 1_000, {}, "not of kind 'sde'"),
    ("mackey_glass", {}, [0.0], 1_000, {}, "not of kind 'dde'"),
    ("henon", {}, [0.1], 1_000, {}, r"not an array \(1,\)"),
    ("henon", {}, np.zeros((2, 0)), 1_000, {}, r"\(2, 0\)"),
    ("henon", {}, [0.1, math.nan], 1_000, {}, "finite"),
    ("henon", {}, [0.1, 0.1], 100, {}, "at least 128"),
    ("henon", {}, [0.1, 0.1], math.inf, {}, "finite and above 0"),
    ("henon", {}, [0.1, 0.1], 1_000, {"k": 3}, "3 deviations"),
    ("henon", {}, [0.1, 0.1], 1_000, {"k": 0}, "0 deviations"),
    ("henon", {}, [0.1, 0.1], 1_000, {"h": 0.1}, "no step"),
    ("lorenz63", {}, [1.0, 1.0, 1.0], 100.0, {"h": -0.1}, "above 0"),
    ("henon", {"a": [1.0, 1.2]}, [0.1, 0.1], 1_000, {}, r"parameter a is one number or 1"),
])  # fmt: skip
def test_refused(system_id, parameters, states, length, more, part):
    with pytest.raises(ValueError, match=part):
        chaos_indicators(system(system_id), parameters, states, length, **more)


def test_an_unknown_parameter_is_named():
    with pytest.raises(RowError, match="no parameter 'rho'"):
        chaos_indicators(system("henon"), {"rho": 1.0}, [0.1, 0.1], 1_000)
