"""Steps by tolerance: their local errors are below it, and follow the order of the method."""

import numpy as np
import pytest

from dynamics.codegen import LANES
from dynamics.pace import paced
from dynamics.registry import system
from dynamics.sweep_run import blocks
from labeling.exponents import exponents_over


def settled_at(method, tolerance, system_id="lorenz63", k=3):
    s = system(system_id)
    states = np.array([*s.state.values()])[None, :, None] * (1 + 1e-3 * np.arange(LANES))
    parameters = np.repeat(np.array([*s.parameters.values()])[None, :, None], LANES, axis=2)
    u, t, h = paced(
        s, states, parameters, np.full((1, LANES), np.inf), k, transient=40.0, tolerance=tolerance, method=method
    )
    return s, u, parameters, t, h


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("dp5", 5), ("dop853", 8)])
def test_steps_shrink_with_the_tolerance_by_the_order(method, order):
    coarse, fine = (settled_at(method, tolerance)[4] for tolerance in (1e-6, 1e-10))
    rate = 4 * np.log(10) / np.log(np.median(coarse) / np.median(fine))
    assert order + 1 - 1.5 < rate < order + 1 + 1.5


@pytest.mark.parametrize("method", ["rk4", "dp5", "dop853"])
def test_local_errors_are_below_the_tolerance(method):
    """At 200 later states of the orbit, against twenty steps of a twentieth; nine of ten lanes at any state."""
    s, u, parameters, t, h = settled_at(method, 1e-8)
    assert (t >= 40.0).all()
    worst = []
    moving = blocks(s, u, parameters, 0, h=h, method=method)
    for _ in range(200):
        moving.step(moving.data[0], moving.p[0], moving.t[0], moving.h[0], 7)
        ends = []
        for n in (1, 20):
            one = blocks(s, moving.states, parameters, 0, h=h / n, method=method)
            one.step(one.data[0], one.p[0], one.t[0], one.h[0], n)
            ends.append(one.states[0])
        worst.append(np.abs(ends[0] - ends[1]).max(axis=0) / np.abs(ends[1]).max(axis=0))
    assert np.quantile(worst, 0.9) < 1e-8
    assert np.max(worst) < 1e-7


def test_all_methods_give_the_same_exponents():
    found = [exponents_over(system("rossler"), length=3_000, transient=200, tolerance=1e-8, method=m) for m in
             ("rk4", "dp5", "dop853")]  # fmt: skip
    for one in found[1:]:
        assert (np.abs(one.values - found[0].values) < one.errors_999 + found[0].errors_999).all()
    assert found[2].step[0] > 2 * found[1].step[0]
