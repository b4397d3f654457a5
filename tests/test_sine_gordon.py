import math

import naive
import numpy as np
import pytest

from dynamics import sine_gordon as sg
from dynamics.block import run
from dynamics.codegen import LANES
from dynamics.fields import field_block, field_starts

SMALL = sg.sine_gordon(20.0, 64)  # where a breather's tails meet at 1e-2: not the breather, but a smooth field


# Cvitanovic, Davidchack & Siminos 2010, SIAM J. Appl. Dyn. Syst. 9:1, Table 5.1 and text, to +-0.003
KS_22 = [0.048, 0, 0, -0.003, -0.189, -0.256, -0.290, -0.310, -1.963, -1.967]


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


@pytest.mark.parametrize("order", [2, 4])
def test_sine_gordon_steps_are_those_of_the_fourier_transform(order):
    moving = field_block(SMALL, field_starts(SMALL, 0), 0, h=0.08, order=order)
    start = moving.states
    moving.advance(50)
    for lane in (0, 9):
        u, v = naive.sine_gordon(start[:64, lane], start[64:, lane], 20.0, 0.08, 50, sg.COMPOSITIONS[order])
        assert np.allclose(moving.states[:, lane], [*u, *v], rtol=0, atol=1e-11)


@pytest.mark.parametrize("order", [2, 4])
def test_the_symplectic_schemes_have_their_order_on_the_breather(order):
    """The closed form of the infinite line; at L = 60 its tails meet at 4e-10."""
    wide = sg.sine_gordon(60.0, 256, frequency=0.6)
    x, steps, errors = sg.grid(60.0, 256) - 30, np.array([50, 100, 200]), []
    for n in steps:
        moving = field_block(wide, field_starts(wide, 0), 0, h=6 / n, order=order)
        moving.advance(n)
        errors.append(np.abs(moving.states[:256, 0] - sg.breather(x, 6.0, 0.6)).max())
    assert slope(steps, errors) == pytest.approx(-order, abs=0.15)
    assert errors[-1] < {2: 1e-3, 4: 1e-6}[order]


def test_the_energy_is_that_of_the_points():
    """Of rough fields by the matrix D2, every wave to the finest counted once; of a breather 16 sqrt(1 - w^2)."""
    states = np.random.default_rng(0).standard_normal((32, 3))
    u, v = states[:16], states[16:]
    q = 2 * math.pi * np.arange(9) / 10
    bent = np.fft.irfft(-(q[:, None] ** 2) * np.fft.rfft(u, axis=0), 16, axis=0)
    exact = (v**2 / 2 - u * bent / 2 + 1 - np.cos(u)).sum(axis=0) * 10 / 16
    assert np.allclose(sg.energy(states, 10.0), exact, rtol=1e-13)
    wide = sg.sine_gordon(60.0, 256, frequency=0.6)
    assert sg.energy(field_starts(wide, 0), 60.0)[0] == pytest.approx(16 * 0.8, rel=1e-9)


def energies(order, h, periods, every):
    """H of lane 0, relative to its start, `every` steps apart, over so many periods of the row's breather."""
    moving = field_block(SMALL, field_starts(SMALL, 0), 0, h=h, order=order)
    start = sg.energy(moving.states, 20.0)[0]
    found = []
    for _ in range(round(periods * 2 * math.pi / sg.FREQUENCY / h / every)):
        moving.advance(every)
        found.append(sg.energy(moving.states, 20.0)[0] / start - 1)
    return np.array(found)


def no_drift(found, bound):
    """Bounded, and the largest deviation of the first tenth of the run is that of the last, to two in a hundred."""
    assert np.abs(found).max() < bound
    first, *_, last = (np.abs(part).max() for part in np.array_split(found, 10))
    assert last == pytest.approx(first, rel=0.02)


def test_the_energy_of_sine_gordon_is_bounded_over_a_thousand_periods():
    found = energies(2, 0.1, 1000, 23)
    no_drift(found, 1.6e-3)
    assert np.abs(found).max() > 1e-3  # H is seen to move at all


def test_the_wobble_of_energy_goes_like_the_order():
    for order in (2, 4):
        wobble = [np.ptp(energies(order, h, 20, 1)) for h in (0.15, 0.075)]
        assert slope([2, 1], wobble) == pytest.approx(order, abs=0.3)


@pytest.mark.slow
def test_the_energy_of_sine_gordon_is_bounded_over_ten_thousand_periods():
    no_drift(energies(2, 0.1, 10_000, 23), 1.6e-3)
    no_drift(energies(4, 0.2, 1000, 3), 1e-5)


def test_sine_gordon_steps_are_symplectic_and_reversible():
    moving = field_block(SMALL, field_starts(SMALL, 1), 2)
    start = moving.states

    def form():
        (q1, q2), (p1, p2) = np.moveaxis(moving.deviations[:64], 1, 0), np.moveaxis(moving.deviations[64:], 1, 0)
        return (q1 * p2 - q2 * p1).sum(axis=0)

    before, lengths = form(), np.linalg.norm(moving.deviations[:, 0], axis=0)
    moving.advance(300)
    assert np.allclose(form(), before, rtol=0, atol=1e-11)
    assert (np.linalg.norm(moving.deviations[:, 0], axis=0) > 2 * lengths).all()
    assert np.abs(moving.states - start).max() > 0.5
    moving.h *= -1
    moving.advance(300)
    assert np.allclose(moving.states, start, rtol=0, atol=1e-11)


def test_the_exponents_of_the_upside_down_rest_state():
    """About u = pi waves grow at sqrt(1 - q^2): of L = 10, q = 0 once, 2 pi/10 twice (sine and cosine), no other."""
    small, q = sg.sine_gordon(10.0, 16), 2 * math.pi / 10
    x, rate = sg.grid(10.0, 16), math.sqrt(1 - q**2)
    states = np.zeros((32, LANES))
    states[:16] = math.pi
    moving = field_block(small, states, 4)
    moving.deviations[:16] = np.array([np.ones(16), np.cos(q * x), np.sin(q * x), np.cos(2 * q * x)]).T[:, :, None]
    moving.deviations[16:] = moving.deviations[:16] * np.array([1.0, rate, rate, 0.0])[:, None]
    result = run(moving, 200)  # rounding of pi grows like e^t, so the field leaves only after t = 35
    rates = result.growth[1:].sum(axis=0) / 19.9  # the first record begins at another length
    assert np.allclose(rates[:3, 0], [1.0, rate, rate], rtol=1e-5)
    assert abs(rates[3, 0]) < 0.05


def test_breathers_have_no_positive_exponent():
    """Integrable: deviations grow like t, their mean rate like ln t/t."""
    moving = field_block(SMALL, field_starts(SMALL, 2), 1)
    result = run(moving, 250, steps=20)
    assert set(result.status) == {"ok"}
    rates = result.growth.sum(axis=0)[0] / 500
    assert (np.abs(rates) < 2 * math.log(500) / 500).all()
    assert (result.growth[125:].sum(axis=0)[0] / 250 < result.growth[:125].sum(axis=0)[0] / 250).all()


# what is refused
