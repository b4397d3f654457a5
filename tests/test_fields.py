from dataclasses import replace

import mpmath
import naive
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dynamics import kuramoto_sivashinsky as ks
from dynamics import sine_gordon as sg
from dynamics.block import run
from dynamics.codegen import LANES
from dynamics.fields import field_block, field_starts
from dynamics.registry import system
from indicators.lyapunov import lyapunov_spectrum

KS = ks.kuramoto_sivashinsky(22.0, 21)
SMALL = sg.sine_gordon(20.0, 64)  # where a breather's tails meet at 1e-2: not the breather, but a smooth field
# Cvitanovic, Davidchack & Siminos 2010, SIAM J. Appl. Dyn. Syst. 9:1, Table 5.1 and text, to +-0.003
KS_22 = [0.048, 0, 0, -0.003, -0.189, -0.256, -0.290, -0.310, -1.963, -1.967]


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def turbulent(k, transient=100.0):
    """A block of Kuramoto-Sivashinsky on its attractor."""
    moving = field_block(KS, field_starts(KS, 1), 0)
    moving.advance(round(transient / 0.1))
    return field_block(KS, moving.states, k, seed=2)


@pytest.mark.parametrize("z", [-129.7, -3.0, -0.5, -1e-3, -1e-9, 0.0, 0.02, 1.5])
def test_the_coefficients_are_those_of_the_closed_forms(z):
    """Cox & Matthews' formulas in 60 digits, where their cancellation does no harm; their limits at 0."""
    h = 0.1
    found = np.empty((6, 1))
    ks.coefficients(z / h, h, found, 0)
    with mpmath.workdps(60):
        x = mpmath.mpf(z / h) * mpmath.mpf(h)
        e = mpmath.exp(x)
        if x == 0:
            exact = [1, 1, 0.5, mpmath.mpf(1) / 6, mpmath.mpf(1) / 6, mpmath.mpf(1) / 6]
        else:
            exact = [
                e, mpmath.exp(x / 2), (mpmath.exp(x / 2) - 1) / x, (-4 - x + e * (4 - 3 * x + x**2)) / x**3,
                (2 + x + e * (x - 2)) / x**3, (-4 - 3 * x - x**2 + e * (4 - x)) / x**3,
            ]  # fmt: skip
        exact = [float(value) for value in exact]
    assert np.allclose(found[:, 0], np.array(exact) * [1, 1, h, h, h, h], rtol=1e-13, atol=1e-17)


def test_ks_steps_are_those_of_the_fourier_transform():
    moving = field_block(KS, field_starts(KS, 0), 2, seed=3)
    starts, deviations = ks.field_values(moving.states), [ks.field_values(w.copy()) for w in
                                                          np.moveaxis(moving.deviations, 1, 0)]  # fmt: skip
    assert starts.shape == (64, LANES)
    moving.advance(50)
    for lane in (0, 7):
        u, v = naive.kuramoto_sivashinsky(
            starts[:, lane], np.column_stack([w[:, lane] for w in deviations]), 22.0, 0.1, 50
        )
        assert np.allclose(ks.field_values(moving.states)[:, lane], u, rtol=0, atol=1e-11)
        for j in (0, 1):
            assert np.allclose(ks.field_values(moving.deviations[:, j].copy())[:, lane], v[:, j], rtol=0, atol=1e-11)


def test_ks_modes_and_values_are_each_other():
    states = field_starts(KS, 5)
    assert np.allclose(ks.field_modes(ks.field_values(states), 21), states, rtol=0, atol=1e-15)
    y = 2 * np.pi * np.arange(64) / 64
    assert np.allclose(ks.field_values(states)[:, 0], np.cos(y) * (1 + np.sin(y)), rtol=0, atol=1e-14)
    with pytest.raises(ValueError, match="40 points do not resolve 21 modes; at least 43 are needed"):
        ks.field_modes(np.zeros((40, 1)), 21)


def test_etdrk4_is_of_order_four_for_field_and_deviations():
    """From smooth fields: rough ones, such as random deviations, reach the order when their damped modes are gone."""
    ends, steps = [], [80, 160, 320, 2560]
    for n in steps:
        moving = field_block(KS, field_starts(KS, 1), 2, h=1 / n)
        moving.deviations[:] = 0.0
        moving.deviations[0, 0] = moving.deviations[3, 1] = 1.0
        moving.advance(n)
        ends.append((moving.states[:, 0], moving.deviations[:, :, 0].copy()))
    for part in (0, 1):
        errors = [np.abs(end[part] - ends[-1][part]).max() for end in ends[:-1]]
        assert slope(steps[:-1], errors) == pytest.approx(-4.0, abs=0.15)
        assert errors[-1] < 1e-10


def test_the_limit_of_etdrk4_is_the_equation():
    """Against an implicit method for the modes as they stand, and central differences of its flow for a deviation."""
    q = 2 * np.pi * np.arange(1, 22) / 22.0

    def rule(_, state):
        field = np.concatenate([[0], state[::2] + 1j * state[1::2], np.zeros(43)])  # aliasing is far away on 128 points
        u = np.fft.irfft(field, 128) * 128
        modes = (q**2 - q**4) * field[1:22] - 0.5j * q * np.fft.rfft(u * u)[1:22] / 128
        return np.column_stack([modes.real, modes.imag]).ravel()

    moving = field_block(KS, field_starts(KS, 1), 1, h=1 / 160, seed=4)
    start, deviation = moving.states[:, 0], moving.deviations[:, 0, 0].copy()
    moving.advance(320)
    end, plus, minus = (
        solve_ivp(rule, (0, 2), start + e * deviation, method="Radau", rtol=1e-10, atol=1e-12).y[:, -1]
        for e in (0, 1e-4, -1e-4)
    )
    assert np.allclose(moving.states[:, 0], end, rtol=0, atol=1e-8)
    assert np.allclose(moving.deviations[:, 0, 0], (plus - minus) / 2e-4, rtol=0, atol=1e-5)


def test_the_mean_of_ks_is_conserved_and_can_be_removed():
    """With a mean c, u = c + u0(x - c t): the twin carries the mean along, the kernel never has one."""
    moving = field_block(KS, field_starts(KS, 1), 0, h=0.02)
    start = ks.field_values(moving.states)[:, 0]
    moving.advance(250)
    c, time = 0.4, 5.0
    u, _ = naive.kuramoto_sivashinsky(start + c, np.zeros((64, 0)), 22.0, 0.02, 250)
    assert u.mean() == pytest.approx(c, abs=1e-14)
    assert abs(ks.field_values(moving.states).mean(axis=0)).max() < 1e-15
    modes = np.fft.rfft(u - c) * np.exp(1j * np.arange(33) * 2 * np.pi / 22 * c * time)
    assert np.allclose(np.fft.irfft(modes, 64), ks.field_values(moving.states)[:, 0], rtol=0, atol=1e-5)
    assert np.abs(u - c - ks.field_values(moving.states)[:, 0]).max() > 0.1  # the shift is there to be seen


@pytest.mark.parametrize(
    "make", [turbulent, lambda k: field_block(SMALL, field_starts(SMALL, 1), k)], ids=["ks", "sine_gordon"]
)
def test_deviations_are_the_derivative_of_the_step(make):
    e = 1e-5
    moving = make(2)
    first = moving.states
    deviation = moving.deviations[:, 1].copy()
    plus, minus = (field_block(moving.system, first + s * e * deviation, 0) for s in (1, -1))
    for one in (moving, plus, minus):
        one.advance(20)
    assert np.allclose(moving.deviations[:, 1], (plus.states - minus.states) / (2 * e), rtol=0, atol=1e-8)
    assert np.abs(moving.deviations[:, 1] - deviation).max() > 0.1


@pytest.mark.parametrize("s", [KS, SMALL], ids=["ks", "sine_gordon"])
def test_the_orbit_is_the_same_with_deviations_and_in_any_lane(s):
    states, order = field_starts(s, 1), np.random.default_rng(0).permutation(LANES)
    lengths, h = np.repeat(np.linspace(20.0, 24.0, LANES // 2), 2), np.tile([0.05, 0.1], LANES // 2)
    plain = field_block(s, states, 0, h=h, lengths=lengths)
    watched = field_block(s, states, 3, h=h, lengths=lengths)
    dealt = field_block(s, states[:, order], 3, h=h[order], lengths=lengths[order])
    for moving in (plain, watched, dealt):
        moving.advance(40)
    assert np.array_equal(plain.states, watched.states)
    assert np.array_equal(watched.states[:, order], dealt.states)
    assert np.array_equal(watched.deviations[:, :, order], dealt.deviations)
    alone = field_block(replace(s, parameters={"L": lengths[5]}), states, 0, h=h[5])  # no lane unlike the others
    alone.advance(40)
    assert np.array_equal(alone.states[:, 5], plain.states[:, 5])


def test_ks_decays_below_two_pi_at_the_linear_rates():
    """L = 6: every wave is damped, so the exponents are q^2 - q^4, each of a sine and a cosine."""
    small = ks.kuramoto_sivashinsky(6.0, 6)
    moving = field_block(small, field_starts(small, 0), 4)
    # damped by e^-7 between the first pair and the second over 0.5, directions must be told apart that often
    result = run(moving, 100, steps=5, renormalisations=40)
    assert set(result.status) == {"ok"}
    assert np.abs(moving.states).max() < 1e-80
    assert np.abs(result.states[0]).max() > 0.01
    result = run(moving, 200, steps=5)
    spectrum = lyapunov_spectrum(result.growth, float(result.interval[0]))
    assert np.allclose(spectrum.value, np.repeat(ks.rates(6.0, 2), 2), rtol=1e-9)
    # just above 2 pi the first wave grows instead, and is stopped by the next
    moving = field_block(small, field_starts(small, 0), 0, lengths=np.full(LANES, 6.6))
    result = run(moving, 50, steps=100)
    assert set(result.status) == {"ok"}
    assert (np.hypot(*moving.states[:2]) > 0.05).all()


def test_the_exponents_of_ks_sum_to_its_divergence():
    """The divergence is sum of 2 (q^2 - q^4), everywhere; all exponents of a coarse field, to the error of the step."""
    coarse = ks.kuramoto_sivashinsky(22.0, 8)
    moving = field_block(coarse, field_starts(coarse, 1), 16, h=0.02)
    result = run(moving, 100, steps=5)
    exact = 2 * ks.rates(22.0, 8).sum()
    assert np.allclose(result.divergence, exact, rtol=1e-12)
    assert np.allclose(result.growth.sum(axis=(0, 1)) / (100 * 0.1), exact, rtol=1e-4)


def test_a_field_that_blows_up_has_a_status_and_leaves_the_others_alone():
    states = field_starts(KS, 1)
    alone = field_block(KS, states, 1)
    states[:, 3] *= 1e3  # far beyond what a step of 0.1 can hold
    moving = field_block(KS, states, 1)
    quiet, result = run(alone, 20, steps=5), run(moving, 20, steps=5)
    assert result.status[3] in ("escaped", "blew_up")
    assert result.kept[3] < 20
    assert np.isfinite(result.states[: result.kept[3]]).all()
    others = np.arange(LANES) != 3
    assert {result.status[i] for i in np.flatnonzero(others)} == {"ok"}
    assert np.array_equal(result.growth[:, :, others], quiet.growth[:, :, others])
    assert np.isfinite(quiet.growth).all()


def test_lya_19_the_exponents_of_ks_shortly():
    """LYA-19: one positive exponent, then two zeros (shifts in time and in space; the mean is no part of the state)."""
    moving = turbulent(5)
    run(moving, 100, steps=10)  # until the deviations lie along their directions
    result = run(moving, 500, steps=10)
    assert set(result.status) == {"ok"}
    spectrum = lyapunov_spectrum(result.growth, 1.0)
    assert spectrum.value[0] == pytest.approx(0.048, abs=0.004)
    # what is neutral grows like a power of t, so these mean rates are of order ln T/T = 0.012 in every lane
    assert spectrum.value[1:3] == pytest.approx([0, 0], abs=0.007)
    assert -0.015 < spectrum.value[3] < 0
    assert spectrum.value[4] < -0.17


def test_ks_at_the_length_of_the_benchmark_is_at_rest():
    """L = 32 lies in a window of steady cells, four of them (Hyman, Nicolaenko & Zaleski 1986, Physica D 23:265).

    Every start ends there, after a turbulent transient of up to a thousand time units: no exponent is positive, and one
    is 0 (a shift in space; a shift in time moves nothing).
    """
    coarse = ks.kuramoto_sivashinsky(32.0, 21)
    moving = field_block(coarse, field_starts(coarse, 1), 0)
    moving.advance(2000)
    early = moving.states
    moving.advance(10)
    assert np.abs(moving.states - early).max() > 0.01  # not yet: in some lane the field still moves
    moving.advance(20_000)
    late = moving.states
    moving.advance(10)
    assert np.abs(moving.states - late).max() < 1e-12
    waves = np.hypot(late[::2], late[1::2])
    assert (waves[3] > 1).all()
    assert np.delete(waves, [3, 7, 11, 15, 19], axis=0).max() < 1e-10
    watched = field_block(coarse, late, 3, seed=1)
    run(watched, 200, steps=10)
    rates = run(watched, 300, steps=10).growth.mean(axis=0)
    assert np.abs(rates[0]).max() < 5e-3
    assert np.allclose(rates[1:], -0.041, atol=0.005)


@pytest.mark.slow
def test_the_reference_exponents_of_ks():
    """16 lanes of 2500 time units: all ten within the 0.003 of the reference, and the first in its own interval."""
    moving = turbulent(10, 500.0)
    run(moving, 100, steps=10)
    result = run(moving, 2500, steps=10)
    assert set(result.status) == {"ok"}
    spectrum = lyapunov_spectrum(result.growth, 1.0)
    assert spectrum.value == pytest.approx(KS_22, abs=0.003)
    assert abs(spectrum.value[0] - KS_22[0]) < spectrum.evidence["error_999"][0] < 0.005


# sine-Gordon


def test_what_fields_refuse():
    states = np.zeros((128, LANES))
    with pytest.raises(
        ValueError, match=r"at a step of 0.4 and L = 20 the fastest wave is unstable; take one below 0.3"
    ):
        field_block(SMALL, states, 0, h=0.4)
    with pytest.raises(ValueError, match=r"at a step of 0.2 and L = 10 the fastest wave is unstable"):
        field_block(SMALL, states, 0, h=0.2, lengths=np.array([20.0] * 9 + [10.0] + [20.0] * 6))
    with pytest.raises(ValueError, match="no symplectic scheme of order 3; there are"):
        field_block(SMALL, states, 0, order=3)
    with pytest.raises(ValueError, match="ETDRK4 is of order 4, not 2"):
        field_block(KS, field_starts(KS, 0), 0, order=2)
    with pytest.raises(ValueError, match=r"needs states \(42, 16\), not \(128, 16\)"):
        field_block(KS, states, 0)
    with pytest.raises(ValueError, match="43 deviation vectors asked for, the state has 42 dimensions"):
        field_block(KS, field_starts(KS, 0), 43)
    with pytest.raises(ValueError, match=r"the step is -0.1; it must be above 0"):
        field_block(KS, field_starts(KS, 0), 0, h=-0.1)
    with pytest.raises(ValueError, match="lengths must be 16 finite numbers above 0"):
        field_block(KS, field_starts(KS, 0), 0, lengths=np.zeros(LANES))
    with pytest.raises(ValueError, match="is no field; known are spatial:kuramoto_sivashinsky, spatial:sine_gordon"):
        field_starts(system("lorenz63"), 0)
    with pytest.raises(ValueError, match="an even number of at least 4 is needed"):
        sg.sine_gordon(20.0, 7)
    with pytest.raises(ValueError, match=r"a breather's frequency is 1.0"):
        sg.sine_gordon(20.0, 8, frequency=1.0)
    with pytest.raises(ValueError, match="1 mode"):
        ks.kuramoto_sivashinsky(22.0, 1)


def test_longest_step_is_where_it_says():
    """Just below it small waves stay small; just above, where the check is passed by, they do not."""
    limit = sg.longest_step(20.0, 64, 2)
    states = np.zeros((128, LANES))
    states[:64] = 1e-9 * (-1.0) ** np.arange(64)[:, None]
    for factor, grows in ((0.99, False), (1.01, True)):
        moving = field_block(SMALL, states, 0, h=0.05, order=2)
        moving.h[:] = factor * limit
        moving.advance(60)
        assert (np.abs(moving.states[:64]).max() > 1e-6) == grows
