"""Exponents over many points by one call: closed forms, the pooled estimator, threads, and what it refuses."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dynamics.codegen import LANES
from dynamics.registry import curated_rows, system
from dynamics.sweep_run import blocks, run_blocks
from dynamics.system import system_from_row
from indicators.lyapunov import lyapunov_spectrum
from labeling.exponents import _summarised, exponents_over


def test_logistic_against_closed_forms():
    """r = 4: ln 2; a stable 2-cycle: half the logarithm of its multiplier 4 + 2r - r^2; fixed point: ln(2 - r)."""
    r = np.array([4.0, 3.2, 3.3, 2.5, 2.9])
    found = exponents_over(system("logistic_r4"), {"r": r}, length=20_000, transient=2_000)
    exact = [math.log(2), *(0.5 * math.log(abs(4 + 2 * x - x * x)) for x in (3.2, 3.3)),
             *(math.log(abs(2 - x)) for x in (2.5, 2.9))]  # fmt: skip
    assert_allclose(found.values[1:, 0], exact[1:], atol=1e-9)
    assert abs(found.values[0, 0] - exact[0]) <= found.errors_999[0, 0] < 0.01
    assert found.length.min() >= 20_000
    assert found.length.max() < 21_000
    assert found.status.tolist() == ["ok"] * 5


def test_superstable_and_escaping_points_have_no_number():
    found = exponents_over(system("logistic_r4"), {"r": [2.0, 4.1, 3.9]}, length=50_000, transient=1_000)
    assert found.status.tolist() == ["diverged", "diverged", "ok"]
    assert found.values[0, 0] == -math.inf
    assert np.isnan(found.values[1, 0])


@pytest.mark.parametrize(("system_id", "total"), [("henon", math.log(0.3)), ("lorenz63", -(10 + 1 + 8 / 3))])
def test_spectra_sum_to_the_constant_contraction(system_id, total):
    found = exponents_over(
        system(system_id), states=everywhere(system_id, 20), length=400, transient=200, tolerance=1e-9
    )
    assert_allclose(found.values.sum(axis=1), total, rtol=1e-7)
    assert (np.diff(found.values, axis=1) <= 0).all()


def everywhere(system_id, count):
    s = system(system_id)
    return np.array([*s.state.values()])[:, None] * (1 + 1e-3 * np.arange(count))


def test_error_is_that_of_a_single_run():
    growth = np.random.default_rng(0).normal(0.1, 1.0, (2, 64, 3, 16))
    total = np.full((2, 16), 640.0)
    rates, spread, trend, halves = (np.empty((2, 3, 16)) for _ in range(4))
    _summarised(growth, total, rates, spread, trend, halves)
    for b in range(2):
        for i in range(16):
            one = lyapunov_spectrum(growth[b, :, :, i], 10.0)
            order = np.argsort(-rates[b, :, i], kind="stable")
            assert_allclose(rates[b, order, i], one.value, rtol=1e-12)
            assert_allclose(trend[b, order, i], one.evidence["range_over_T"], rtol=1e-9)
            assert_allclose(halves[b, order, i], one.evidence["halves"], rtol=1e-9)
            assert_allclose(spread[b, order, i] * 2.0395134463964077, one.evidence["batch_means"], rtol=1e-9)


def test_threads_and_neighbours_change_nothing():
    r = np.linspace(3.5, 4.0, 5_000)
    one, two = (exponents_over(system("logistic_r4"), {"r": r}, length=640, transient=64, threads=n) for n in (1, 2))
    assert np.array_equal(one.values, two.values)
    assert np.array_equal(one.errors, two.errors)


def test_forced_flow_by_a_fixed_step_and_by_tolerance():
    """The damped driven pendulum's exponents sum to minus its damping, whatever moves it."""
    s = system("duffing_chaotic")
    given = exponents_over(s, length=300, transient=100, step=0.01, method="rk4")
    found = exponents_over(s, length=300, transient=100)
    damping = -float(s.parameters["delta"])
    assert given.values.sum() == pytest.approx(damping, rel=1e-6)
    assert found.values.sum() == pytest.approx(damping, rel=1e-6)
    assert abs(given.values[0, 0] - found.values[0, 0]) < given.errors_999[0, 0] + found.errors_999[0, 0]


@pytest.mark.parametrize(("settings", "says"), [
    ({"values": {"q": [1.0]}}, "no parameter 'q'"),
    ({"values": {"r": [1.0, math.nan]}}, "NaN or infinite"),
    ({"values": {"r": [1.0, 2.0]}, "states": [[0.1, 0.2, 0.3]]}, "one length V"),
    ({"values": {"r": []}}, "one length V"),
    ({"states": [[0.1], [0.2]]}, "states is an array (1, V)"),
    ({"k": 2}, "from 1 to 1 exponents"),
    ({"length": 0}, "length is 0"),
    ({"transient": -1.0}, "transient is -1.0"),
    ({"step": 0.0}, "step is 0.0"),
    ({"step": 0.5}, "it has no step"),
])  # fmt: skip
def test_wrong_use_is_told(settings, says):
    with pytest.raises(ValueError) as told:
        exponents_over(system("logistic_r4"), **({"length": 100, "transient": 0} | settings))
    assert says in str(told.value)


def test_other_kinds_are_refused():
    with pytest.raises(ValueError, match="kind dde"):
        exponents_over(system("mackey_glass"), length=10, transient=0)


def test_many_variables_alone_are_as_in_lanes():
    """Lorenz-96 with N = 20: nine points go through lanes, one is moved alone; the sum is -N for both."""
    row = curated_rows()["lorenz96"]
    s = system_from_row("lorenz96", row | {"parameters": row["parameters"] | {"N": 20}})
    settings = {"length": 60, "transient": 20, "step": 0.01, "method": "rk4"}
    alone = exponents_over(s, {"F": [8.0]}, **settings)
    lanes = exponents_over(s, {"F": np.full(9, 8.0)}, **settings)
    for found in (alone, lanes):
        assert_allclose(found.values.sum(axis=1), -20.0, rtol=1e-4)
        assert abs(found.values[0, 0] - 1.54) < 0.3  # pynamicalsys, tsdynamics and others read 1.51 to 1.65 at T = 500
    assert np.abs(alone.values[0] - lanes.values[0]).max() < 0.6


def test_tangent_defect_of_roessler_at_the_default_tolerance():
    """The sum of the exponents is the mean divergence within 1e-5: error control of the state alone misses it by 4e-3.

    div f = a - c + x, whose mean is taken over the same run by the kernel; the half-widths hold what is left.
    """
    s = system("rossler")
    moving = block_of(s, 3)
    growth, _ = run_blocks(moving, 64, steps=64, renormalisations=40)
    total = moving.h * 64 * 64 * 40
    sums = growth.sum(axis=(1, 2)) / total
    mean = moving.divergence_integral / total
    assert np.abs(sums / mean - 1).max() < 1e-5


def block_of(s, k):
    found = exponents_over(s, length=10, transient=200)
    states = np.repeat(np.array([*s.state.values()])[None, :, None], LANES, axis=2)
    parameters = np.repeat(np.array([*s.parameters.values()])[None, :, None], LANES, axis=2)
    moving = blocks(s, states, parameters, k, h=found.step[0])
    run_blocks(moving, 1, steps=64, renormalisations=200)
    return moving
