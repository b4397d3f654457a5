from functools import cache
from itertools import product

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import logistic
from orbits import lorenz, orbit, rossler
from scipy.signal import lfilter

from indicators.divergence import Neighbourhoods, divergence, neighbourhoods, saturation
from indicators.embedding import embedding_dimension, false_neighbours, nearest_neighbours
from indicators.series_exponent import series_exponent
from indicators.straight_range import block_error, slope, straight_range

BOTH = ["of mean", "mean of"]
N = 20_000


def autoregressive(phi, n, seed):
    return lfilter([1.0], [1.0, -phi], np.random.default_rng(seed).normal(size=n))


@cache
def henon():
    return np.ascontiguousarray(orbit("henon", 5000)[:, 0])


def within(estimate, truth):
    return estimate.status == "ok" and abs(estimate.number - truth) < estimate.error


# the divergence curve


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 3), st.integers(0, 6), st.floats(0.05, 0.4))
@settings(max_examples=25)
def test_divergence_is_that_of_the_double_loop(seed, dimension, delay, theiler, radius):
    x = np.random.default_rng(seed).random(60)
    steps = 7
    expected = naive.divergence(x, dimension, delay, theiler, radius, steps)
    if not expected:
        return
    near = neighbourhoods(x, dimension, delay, theiler, steps, radius)
    assert near.references.tolist() == [i for i, _, _ in expected]
    assert divergence(x, near, dimension, delay, steps, True) == pytest.approx(
        np.array([row for _, row, _ in expected])
    )
    assert divergence(x, near, dimension, delay, steps, False) == pytest.approx(np.array([row for *_, row in expected]))


def test_the_ball_is_the_smallest_in_which_four_fifths_have_a_neighbour():
    x = np.random.default_rng(3).random(400)
    near = neighbourhoods(x, 2, 1, 5, 20)
    smaller = neighbourhoods(x, 2, 1, 5, 20, near.radius * (1 - 1e-9))
    assert smaller.references.size / 379 < 0.8 <= near.references.size / 379
    assert len(naive.divergence(x, 2, 1, 5, near.radius, 20)) == near.references.size


def test_a_motion_that_comes_to_rest_has_no_more_neighbours_than_can_be_followed():
    t = np.arange(3000)
    near = neighbourhoods(np.exp(-0.004 * t) * np.sin(0.1 * t), 2, 16, 30, 100)
    sizes = np.diff(near.starts)
    assert sizes.max() == 256
    last = near.members[near.starts[-2] :]
    assert last.size == 256
    assert (np.diff(last) > 0).all()
    assert np.ptp(last) > 1500  # spread over all of its time at rest, not the first ones


def test_nearest_neighbours_skip_the_window_and_repeats():
    points = np.array([[0.0], [0.1], [5.0], [0.0], [0.3], [5.2]])
    found, apart = nearest_neighbours(points, np.arange(6), 1, 1e-9)
    assert found.tolist() == [4, 3, 5, 1, 1, 2]
    assert apart == pytest.approx([0.3, 0.1, 0.2, 0.1, 0.2, 0.2])


def test_neighbours_that_merge_have_no_logarithm():
    x = np.array([0.0, 1.0, 5.0, 9.0, 0.1, 1.0, 5.0, 7.0])
    near = neighbourhoods(x, 1, 1, 1, 3, 0.2)
    rows = divergence(x, near, 1, 1, 3, False)
    assert rows[0].tolist() == pytest.approx([np.log(0.1), -np.inf, -np.inf, np.log(2.0)])


def test_unrelated_uniform_points_are_a_third_apart():
    """Uniform x, y: the mean of ln abs(x - y) is -3/2, that of ln mean_y abs(x - y) is pi/2 - 2 - ln 2."""
    points = np.random.default_rng(0).random((N, 1))
    assert saturation(points, True) == pytest.approx(np.pi / 2 - 2 - np.log(2), abs=0.03)
    assert saturation(points, False) == pytest.approx(-1.5, abs=0.05)


def test_distance_across_the_orbit_is_that_between_the_strands():
    """Two strands of a wave, 0.01 apart and out of step by half a sample: along the orbit they are 0.05 apart."""
    phase = 0.1 * np.concatenate([np.arange(64), np.arange(64) + 0.5])
    x = np.concatenate([np.sin(phase[:64]), 1.01 * np.sin(phase[64:])])
    near = Neighbourhoods(np.array([5]), np.array([0, 1]), np.array([64 + 5]), 1.0)
    plain, across = (divergence(x, near, 2, 16, 30, True, across=each)[0] for each in (False, True))
    assert np.exp(across) == pytest.approx(0.01, rel=0.2)
    assert np.exp(plain).max() > 0.04


# the straight range


def test_a_ramp_is_found_between_its_bends():
    curve = np.concatenate([-9 + np.arange(5) * 3.0, 3.0 + 0.5 * np.arange(1, 21), np.full(30, 13.0)])
    assert straight_range(curve, 5, 12.75) == (5, 23)
    assert slope(curve, 5, 23) == pytest.approx(0.5)


@pytest.mark.parametrize("curve", [np.zeros(99), np.linspace(0, 0.99, 99), 0.5 * np.log(1 + np.arange(99.0))])
def test_no_range_without_growth_nor_in_diffusion(curve):
    assert straight_range(curve, 0, 9.0) is None


def test_block_error_covers_in_19_of_20():
    rng = np.random.default_rng(0)
    ramp = 0.3 * np.arange(20)
    hits = [
        abs(slope(rows.mean(axis=0), 2, 17) - 0.3) < block_error(rows, 2, 17)
        for rows in (ramp + rng.normal(size=(160, 20)) for _ in range(400))
    ]
    assert 0.92 < np.mean(hits) < 0.98


# the dimension


def test_dimensions_without_false_neighbours():
    assert embedding_dimension(logistic(4.0, 5000), 1, 3, 200)[0] == 1
    assert embedding_dimension(henon(), 1, 3, 200)[0] == 2
    assert false_neighbours(henon(), 1, 1, 3) > 0.5
    dimension, shares = embedding_dimension(np.random.default_rng(0).normal(size=5000), 1, 3, 200)
    assert dimension == 0
    assert len(shares) == 10
    assert min(shares) > 0.1


# known exponents


@pytest.mark.parametrize("logarithm", BOTH)
@pytest.mark.parametrize("start", [0.1, 0.4, 0.77])
def test_lya_17_both_places_of_the_logarithm_give_ln_2(logarithm, start):
    estimate = series_exponent(logistic(4.0, 5000, start), logarithm=logarithm)
    assert within(estimate, np.log(2))
    assert estimate.number == pytest.approx(np.log(2), abs=0.03)
    assert estimate.error < 0.08


def test_lya_17_the_two_places_differ():
    of_mean, mean_of = (series_exponent(logistic(4.0, 5000), logarithm=each) for each in BOTH)
    assert of_mean.number != mean_of.number
    assert of_mean.evidence["logarithm"] == "of mean"
    assert "of mean" in (series_exponent.__doc__ or "")
    assert series_exponent(logistic(4.0, 5000)) == of_mean


@pytest.mark.parametrize("logarithm", BOTH)
def test_henon(logarithm):
    estimate = series_exponent(henon(), logarithm=logarithm)
    assert within(estimate, 0.419)
    assert estimate.error < 0.03
    assert estimate.evidence["dimension"] == 2


def test_three_to_the_power_n():
    """The Chebyshev map x -> 4 x^3 - 3 x: ln 3."""
    x = [0.3]
    for _ in range(3000):
        x.append(4 * x[-1] ** 3 - 3 * x[-1])
    estimate = series_exponent(x)
    assert within(estimate, np.log(3))
    assert estimate.error < 0.15


@pytest.mark.parametrize("r", [3.6, 3.7, 3.8, 3.9])
def test_logistic_against_the_mean_logarithm_of_its_slope(r):
    """The interval holds the exponent of the very stretch that was read; a longer one has another."""
    x = logistic(r, 5000)
    estimate = series_exponent(x)
    assert within(estimate, np.mean(np.log(np.abs(r * (1 - 2 * x)))))
    assert estimate.error < 0.08


def test_lorenz():
    estimate = series_exponent(lorenz(N, 0.05)[:, 0], interval=0.05)
    assert within(estimate, 0.9056)
    assert estimate.number == pytest.approx(0.906, abs=0.09)
    assert estimate.error < 0.5
    assert estimate.evidence["dimension"] in (3, 4)


@pytest.mark.parametrize("spacing", [0.1, 0.2])
@pytest.mark.parametrize("logarithm", BOTH)
def test_rossler(spacing, logarithm):
    estimate = series_exponent(rossler(N, spacing)[:, 0], interval=spacing, logarithm=logarithm)
    assert within(estimate, 0.0714)
    assert estimate.error < 0.03
    assert estimate.evidence["error_parts"]["across"] > 0.001


# no exponent


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("seed", range(3))
def test_noise_has_no_exponent(phi, seed):
    x = autoregressive(phi, 3000, seed)
    free = series_exponent(x)
    assert free.status == "undefined"
    assert "false" in free.evidence["reason"]
    for dimension, logarithm in product([1, 3], BOTH):
        assert series_exponent(x, dimension=dimension, logarithm=logarithm).status in ("undefined", "not_converged")


@pytest.mark.parametrize(
    "x",
    [
        np.sin(0.3 * np.arange(5000)),
        np.sin(0.1 * np.arange(9000)) + np.sin(0.1 * 2**0.5 * np.arange(9000)),
        np.arange(5000) * (5**0.5 - 1) / 2 % 1.0,
    ],
    ids=["sine", "two frequencies", "rotation"],
)
def test_regular_motion_has_exponent_zero_within_the_error(x):
    estimate = series_exponent(x)
    assert estimate.status == "not_converged"
    assert "do not separate" in estimate.evidence["reason"]
    assert abs(estimate.number) < estimate.error < 0.01


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([267] * 60, "constant"),
        ([0.2, 0.8] * 500, "repeats itself"),
        (np.concatenate([np.ones(500), np.random.default_rng(0).normal(size=20)]), "repeats itself"),
        (logistic(3.5, 3000), "repeats itself"),
        (np.sin(2 * np.pi * np.arange(2000) / 20), "repeats itself"),
        (np.floor(64 * logistic(4.0, 5000)), "zero distances"),
    ],
    ids=["constant", "period 2", "mostly constant", "period 4", "sine of 20 samples", "64 levels"],
)
def test_lya_13_zero_distances(x, words):
    estimate = series_exponent(x)
    assert estimate.status == "undefined"
    assert estimate.value is None
    assert estimate.evidence["reason"].startswith("zero distances")
    assert words in estimate.evidence["reason"]


def test_lya_13_exact_repeats_are_excluded():
    """A stretch of the orbit pasted in twice more: its repeats are at distance zero, and count for nothing."""
    x = logistic(4.0, 5000)
    estimate = series_exponent(np.concatenate([x, x[:500], x[:500]]))
    assert within(estimate, np.log(2))
    assert estimate.error < 0.1


def test_lya_13_too_short_states_the_minimum():
    words = (
        r"45 values; with dimension 10, delay 5, Theiler window 0 and a curve of 60 steps at least .* = 211 are needed"
    )
    with pytest.raises(ValueError, match=words):
        series_exponent(np.sin(np.arange(45)), dimension=10, delay=5)
    x = logistic(4.0, 5000)
    settings_ = {"dimension": 2, "delay": 3, "theiler": 20, "steps": 40}
    with pytest.raises(ValueError, match=r"186 values; .* = 187 are needed"):
        series_exponent(x[:186], **settings_)
    assert series_exponent(x[:187], **settings_).evidence["steps"] == 40


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (["11,76", "10,58"], "'11,76' at index 0"),
        ([0.0, np.nan] * 100, "not finite"),
        (np.ma.masked_less(np.arange(300.0), 2), "masked"),
        (np.ones(300) * 1j, "complex"),
        (np.ones((300, 2)), "shape"),
        ([1.0, 2.0, 3.0], "3 values"),
    ],
)
def test_lya_13_input_that_is_no_series(x, words):
    with pytest.raises(ValueError, match=words):
        series_exponent(x)


@pytest.mark.parametrize(
    "wrong",
    [
        {"dimension": 0},
        {"delay": 0},
        {"theiler": -1},
        {"radius": 0.0},
        {"interval": np.nan},
        {"steps": 5},
        {"logarithm": "mean"},
        {"theiler": 2500},
    ],
)
def test_wrong_settings_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong)) if "theiler" not in wrong else "(?i)theiler"):
        series_exponent(logistic(4.0, 5000), **wrong)


# invariance


@given(st.sampled_from([logistic(4.0, 1500), logistic(3.8, 1500)]), st.floats(1e-3, 1e3), st.floats(-50, 50))
@settings(max_examples=10)
def test_scale_and_shift_change_nothing(x, factor, shift):
    plain, moved = series_exponent(x), series_exponent(factor * (x + shift))
    assert moved.status == plain.status == "ok"
    assert moved.number == pytest.approx(plain.number, rel=1e-3)
    assert moved.evidence["range"] == plain.evidence["range"]
    assert moved.evidence["radius"] == pytest.approx(factor * plain.evidence["radius"], rel=1e-3)


@given(st.integers(-1000, 900), st.sampled_from([-1.0, 1.0]))
@settings(max_examples=10)
def test_powers_of_two_and_the_sign_change_nothing_at_all(power, sign):
    x = logistic(3.8, 1500)
    plain, moved = series_exponent(x), series_exponent(sign * np.ldexp(x, power))
    assert (moved.value, moved.error) == (plain.value, plain.error)


def test_the_interval_is_the_unit_of_time():
    x = henon()
    plain, scaled = series_exponent(x), series_exponent(x, interval=0.5)
    assert (scaled.number, scaled.error) == (2 * plain.number, 2 * plain.error)
    assert scaled.evidence["range"] == [k / 2 for k in plain.evidence["range"]]


def test_given_settings_are_used():
    x = henon()
    estimate = series_exponent(x, dimension=3, delay=2, theiler=9, steps=60, radius=0.02)
    expected = {"dimension": 3, "delay": 2, "theiler": 9, "steps": 60, "radius": 0.02}
    assert {name: estimate.evidence[name] for name in expected} == expected
    assert estimate.value != series_exponent(x).value
