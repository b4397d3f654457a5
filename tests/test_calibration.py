"""Whether 95 % intervals hold the truth as often as they say: 200 starts of each system, against sharper references."""

import math

import numpy as np
import pytest

from dynamics.registry import system
from labeling.exponents import exponents_over

STARTS = 200
SHARPER = 5  # times, that a reference must be than what it judges


def starts(system_id, count, seed=0):
    """States drawn around the row's own, within 1 % of its sampling box, so that all lead to its set."""
    s, rng = system(system_id), np.random.default_rng(seed)
    own = np.array([*s.state.values()])
    width = np.array([0.01 * (s.box[name][1] - s.box[name][0]) for name in s.state])
    return own[:, None] + width[:, None] * rng.uniform(-1.0, 1.0, (s.dimension, count))


def reference(system_id, values, **settings):
    """Mean and standard error over 1,024 independent starts."""
    found = exponents_over(system(system_id), values, states=starts(system_id, 1024, seed=1), k=1, seed=1, **settings)
    assert np.isfinite(found.values).all()
    return found.values.mean(), found.values.std(ddof=1) / math.sqrt(1024)


@pytest.mark.parametrize(("system_id", "values", "settings", "least", "most"), [
    ("logistic_r4", {"r": 3.9}, {"length": 10_000, "transient": 1_000}, 0.90, 0.99),
    ("logistic_r4", {"r": 4.0}, {"length": 10_000, "transient": 1_000}, 0.90, 1.00),  # batch means anticorrelated
    ("henon", {}, {"length": 10_000, "transient": 1_000}, 0.90, 0.99),
    # ln|w| of a flow swings by several units in a turn: on short runs the interval is that of the swing, and too wide
    ("lorenz63", {}, {"length": 8_000, "transient": 100, "step": 0.01, "method": "rk4"}, 0.90, 0.99),
    ("rossler", {}, {"length": 8_000, "transient": 500, "step": 0.02, "method": "rk4"}, 0.90, 0.99),
])  # fmt: skip
def test_intervals_hold_the_exponent(system_id, values, settings, least, most):
    truth, error = (math.log(2), 0.0) if values == {"r": 4.0} else reference(system_id, values, **settings)
    found = exponents_over(system(system_id), values, states=starts(system_id, STARTS), k=1, **settings)
    half = found.errors[:, 0]
    assert error <= np.median(half) / 1.96 / SHARPER
    share = float((np.abs(found.values[:, 0] - truth) <= half).mean())
    assert least <= share <= most, share


@pytest.mark.parametrize(("system_id", "settings"), [
    ("vdp", {"length": 500, "transient": 100}),
    ("lotka_volterra", {"length": 500, "transient": 0}),
    ("circle_map_quasiperiodic", {"length": 10_000, "transient": 1_000}),
])  # fmt: skip
def test_intervals_hold_zero(system_id, settings):
    found = exponents_over(system(system_id), states=starts(system_id, STARTS), k=1, **settings)
    assert (np.abs(found.values[:, 0]) <= found.errors[:, 0]).mean() >= 0.95
