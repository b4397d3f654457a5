"""The Mackey-Glass equation: its equilibrium, Hopf point, cycle and chaos against theory and published values."""

import math

import naive
import numpy as np
import pytest
from delayed import MACKEY_GLASS, levels, values
from scipy.special import lambertw

from dynamics.delay import delay_block
from dynamics.delay_run import delay_run
from indicators.dimension import kaplan_yorke_dimension
from indicators.lyapunov import lyapunov_spectrum


def mackey_glass(tau, *, h=0.15, k=4, settle=200, records=1200):
    """Run and spectrum of 16 orbits from constant histories, one record per delay."""
    moving = delay_block(MACKEY_GLASS, values(MACKEY_GLASS, tau=tau), k, h=h, history=levels)
    steps = int(moving.span[0])
    delay_run(moving, settle, steps=steps)
    done = delay_run(moving, records, steps=steps)
    assert set(done.status) == {"ok"}
    return done, lyapunov_spectrum(done.growth, float(done.interval[0]))


def mackey_glass_root(tau):
    """The rightmost root of s = -gamma + b exp(-s tau), b = f'(1) = -0.4: s = -gamma + W0(b tau exp(gamma tau))/tau."""
    return (-0.1 + lambertw(-0.4 * tau * math.exp(0.1 * tau)) / tau).real


def test_mackey_glass_settles_at_delay_4():
    done, spectrum = mackey_glass(4.0, settle=300, records=600, k=2)
    assert np.abs(done.states - 1.0).max() < 1e-12
    root = mackey_glass_root(4.0)
    assert root == pytest.approx(-0.024875, abs=1e-6)
    assert np.abs(np.array(spectrum.value) - root).max() < 2e-4  # a complex pair: both exponents


def test_mackey_glass_cycles_at_delay_8():
    done, spectrum = mackey_glass(8.0, settle=300, records=800, k=2)
    assert 0.3 < np.ptp(done.states[:, 0], axis=0).min() < 1.0
    assert abs(spectrum.value[0]) < 2e-4
    assert spectrum.value[1] < -0.03


def test_mackey_glass_hopf():
    """Exactly at arccos(-1/4)/sqrt(0.15) = 4.70820 (not 4.53, often quoted): the leading exponent of the equilibrium
    x = 1 changes sign there, and is the real part of the rightmost root beside it."""
    hopf = math.acos(-0.25) / math.sqrt(0.15)
    assert hopf == pytest.approx(4.70820, abs=5e-6)
    tau = hopf + np.array([-0.16, -0.08, -0.04, -0.02, -0.01, 0.01, 0.02, 0.04, 0.08, 0.16, *[0.3] * 6])
    rest = MACKEY_GLASS.with_values({}, {"x": "1"})
    moving = delay_block(rest, values(rest, tau=tau), 1, h=0.25)
    delay_run(moving, 100, steps=20)
    done = delay_run(moving, 4000, steps=20)
    assert np.array_equal(done.states, np.ones_like(done.states))
    for i in range(11):
        spectrum = lyapunov_spectrum(done.growth[:, :, i], done.interval[i])
        assert spectrum.value[0] == pytest.approx(mackey_glass_root(tau[i]), abs=5e-5)
        assert spectrum.error[0] < abs(spectrum.value[0])
        assert (spectrum.value[0] > 0) == (tau[i] > hopf)


def test_mackey_glass_is_chaotic_at_delay_17():
    """lambda_1 = 0.0051 nats (0.0074 bits) per unit time, lambda_2 = 0, and the Kaplan-Yorke dimension of the reference
    values, 2.1327 (MG_17_KY)."""
    done, spectrum = mackey_glass(17.0)
    first, second, third, fourth = spectrum.value
    assert first == pytest.approx(0.00510, abs=2.5e-4)
    assert first > 10 * spectrum.evidence["error_999"][0]
    assert abs(second) < 2e-4
    assert third == pytest.approx(-0.0386, abs=8e-4)
    assert fourth < -0.05
    assert kaplan_yorke_dimension(spectrum).value == pytest.approx(2.1327, abs=0.008)
    assert 0.2 < done.states.min() < 0.5
    assert 1.2 < done.states.max() < 1.4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tau", "leading"),
    [(16.45, [0.0]), (16.5, [0.0018, 0.0]), (16.8, [0.0, -0.0020]), (17.0, [0.0051, 0.0]), (30.0, [0.00710])],
)
def test_mackey_glass_against_reference_values(tau, leading):
    """reference/values.csv and not_reproduced.csv: order and chaos around the onset, a periodic window, delay 30."""
    _, spectrum = mackey_glass(tau, records=8000)
    for found, error, known in zip(spectrum.value, spectrum.error, leading, strict=False):
        assert found == pytest.approx(known, abs=error + 1e-4)
        assert error < 2e-4
    if tau == 17.0:
        assert kaplan_yorke_dimension(spectrum).value == pytest.approx(2.1327, abs=0.003)


@pytest.mark.slow
def test_mackey_glass_half_the_step():
    coarse, fine = (mackey_glass(17.0, h=h, k=3, records=5000)[1] for h in (0.3, 0.15))
    for a, b, e, f in zip(coarse.value, fine.value, coarse.error, fine.error, strict=True):
        assert abs(a - b) < math.hypot(e, f)
        assert math.hypot(e, f) < 1e-3


@pytest.mark.slow
def test_mackey_glass_by_another_road():
    """Collocation of the history on Chebyshev points: nothing in common but the equation."""
    value, error = naive.mackey_glass_exponent(17.0, orbits=100, duration=2000)
    _, spectrum = mackey_glass(17.0, k=1, records=4000)
    assert error < 2e-4
    assert abs(value - spectrum.value[0]) < 3 * error + spectrum.error[0]
