import math

import naive
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tangents import HENON_HEILES, begun, everywhere, indices, passed

from dynamics.block import run
from dynamics.codegen import LANES
from dynamics.registry import system
from dynamics.renormalisation import rarer
from dynamics.system import system_from_row
from dynamics.tangent_run import tangent_run

HYPERCHAOTIC = system_from_row("baier_klein", {  # Baier & Klein 1990, Phys. Lett. A 151:281: two positive exponents
    "kind": "map", "state": {"x": 1.0, "y": 0.1, "z": 0.0}, "parameters": {"a": 1.76, "b": 0.1},
    "rule": ["a - y**2 - b*z", "x", "y"],
})  # fmt: skip


@pytest.mark.parametrize(("system_id", "h", "steps", "between"), [
    ("standard_map", 1.0, 6, 3), ("henon", 1.0, 1, 1), ("lorenz63", 0.01, 8, 4), ("dysts_henonheiles", 0.05, 20, 10),
])  # fmt: skip
def test_growth_and_states_are_those_of_a_plain_run(system_id, h, steps, between):
    """Bit for bit, and the block ends where a plain run leaves it."""
    s = system(system_id)
    starts = everywhere(*s.state.values()) * (1 + 1e-3 * np.arange(LANES))
    one, other = begun(s, starts, h=h), begun(s, starts, h=h)
    made = tangent_run(one, 300, steps=steps, between=between)
    plain = run(other, 300, steps=between, renormalisations=steps // between)
    assert np.array_equal(made.growth, plain.growth)
    assert np.array_equal(made.states, plain.states)
    assert np.array_equal(made.interval, plain.interval)
    assert np.array_equal(one.data, other.data)
    assert np.allclose(made.lengths[:, 0], np.cumsum(made.growth[:, 0], axis=0), rtol=1e-12, atol=1e-12)


def test_equals_its_twin_on_maps():
    """Deviations multiplied out over 128 iterates in 400 digits, along the same orbit."""
    standard, cubic = system("standard_map"), HYPERCHAOTIC
    for s, start, changed in [(standard, (1.0, 1.0), {"K": 6.0}), (cubic, (1.0, 0.1, 0.0), {})]:
        made, interval = passed(s, start, 128, **changed)
        orbit = np.concatenate([np.array(start)[None], made.states[:-1, :, 0]])
        kick = changed.get("K")
        jacobians = (
            [[[1 + kick * math.cos(x), 1], [kick * math.cos(x), 1]] for x, _ in orbit]
            if kick
            else [[[0, -2 * y, -0.1], [1, 0, 0], [0, 1, 0]] for _, y, _ in orbit]
        )
        lengths, by_hand, volumes = naive.alignment(jacobians, begun(s, start).deviations[:, :, 0], 400)
        assert made.lengths[-1, :, 0] == pytest.approx(lengths, rel=1e-11)
        _, small, many = indices(made, interval)
        assert small.number == pytest.approx(by_hand, rel=1e-11)
        assert [one.number for one in many] == pytest.approx(volumes, rel=1e-11)
        assert volumes[-1] < -100


def test_equals_its_twin_on_a_flow():
    """Henon-Heiles over 20 time units: the variational equations by another integrator, and singular values."""
    start = [0.0, -0.016, 0.49974, 0.0]
    made, interval = passed(HENON_HEILES, start, 200, h=0.01, steps=10)
    frame = begun(HENON_HEILES, start).deviations[:, :, 0]

    def rule(_, u):
        (x, y, px, py), w = u[:4], u[4:].reshape(4, 4)
        jacobian = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-1 - 2 * y, -2 * x, 0, 0], [-2 * x, 2 * y - 1, 0, 0]])
        return np.concatenate([[px, py, -x - 2 * x * y, -y - x * x + y * y], (jacobian @ w).ravel()])

    end = solve_ivp(rule, (0, 20), [*start, *frame.ravel()], method="DOP853", rtol=1e-12, atol=1e-13).y[4:, -1]
    w = end.reshape(4, 4)
    assert made.lengths[-1, :, 0] == pytest.approx(np.log(np.linalg.norm(w, axis=0)), abs=1e-7)
    unit = w / np.linalg.norm(w, axis=0)
    for k, one in enumerate(indices(made, interval)[2], 2):
        assert one.number == pytest.approx(np.log(np.linalg.svd(unit[:, :k], compute_uv=False)).sum(), abs=1e-6)


@pytest.mark.parametrize("system_id", ["standard_map", "lorenz63", "henon", "dysts_henonheiles"])
def test_condition_between_gram_schmidts_stays_small(system_id):
    """Measured anew over the interval that was chosen; a step moves nothing in the block asked."""
    s = system(system_id)
    moving = begun(s, everywhere(*s.state.values()) * (1 + 1e-3 * np.arange(LANES)), h=0.01 if s.kind == "ode" else 1.0)
    before = moving.data.copy()
    steps = rarer(moving, 1, 1024)
    assert np.array_equal(moving.data, before)
    assert steps == rarer(moving, 1, 1024) > 1
    worst = 0.0
    for _ in range(20):
        moving.advance(steps)
        w = np.moveaxis(moving.deviations, -1, 0)
        worst = max(worst, np.linalg.cond(w).max())
        moving.deviations[:] = np.moveaxis(np.linalg.qr(w)[0], 0, -1)
    assert 2.0 < worst < 1e8  # half of the digits: directions turn, and stretches come that the trial has not seen


def test_an_orbit_that_leaves_does_not_shorten_the_interval_of_the_others():
    henon = system("henon")
    staying = everywhere(0.1, 0.1)
    leaving = staying.copy()
    leaving[0, 3] = 5.0
    assert rarer(begun(henon, leaving), 1, 1024) == rarer(begun(henon, staying), 1, 1024) > 1
    assert rarer(begun(henon, (5.0, 0.1)), 1, 1024) >= 1


@pytest.mark.parametrize(("k", "records", "steps"), [(0, 10, 1), (2, 0, 1), (2, 10, 0)])
def test_a_pass_of_nothing_is_refused(k, records, steps):
    with pytest.raises(ValueError, match="at least 1"):
        tangent_run(begun(system("henon"), (0.1, 0.1), k), records, steps=steps)
