import math
from itertools import pairwise

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import logistic

from indicators.entropy import ordinal_patterns, pattern_frequencies, permutation_entropy

R4_FREQUENCIES = {(0, 1, 2): 1 / 3, (0, 2, 1): 1 / 15, (1, 0, 2): 2 / 15, (1, 2, 0): 1 / 5, (2, 0, 1): 4 / 15}
NAMED = {"012": 1 / 3, "021": 1 / 15, "102": 2 / 15, "120": 1 / 5, "201": 4 / 15, "210": 0.0}


@pytest.fixture(scope="module")
def r4():
    return logistic(4.0, 200_000)


series_with_ties = st.lists(st.integers(0, 6), min_size=30, max_size=60)


@given(series_with_ties, st.integers(2, 8), st.integers(1, 4))
def test_counts_and_entropy_equal_their_twins(x, order, delay):
    windows = len(x) - (order - 1) * delay
    expected = naive.ordinal_counts(x, order, delay)
    found = pattern_frequencies(x, order, delay)
    assert len(found) == math.factorial(order)
    assert {pattern: round(f * windows) for pattern, f in found.items() if f} == expected
    estimate = permutation_entropy(x, order=order, delay=delay, normalize=False)
    assert estimate.number == pytest.approx(naive.permutation_entropy(x, order, delay), abs=1e-12)
    assert estimate.evidence["forbidden_patterns"] == math.factorial(order) - len(expected)
    assert estimate.evidence["windows"] == windows


def test_patterns_across_chunks_of_the_kernel_equal_the_twin():
    x = np.random.default_rng(0).integers(0, 9, 5000)
    found = {k: round(v * 4990) for k, v in pattern_frequencies(x, 3, 5).items() if v}
    assert found == naive.ordinal_counts(x.tolist(), 3, 5)


@pytest.mark.parametrize(("order", "delay"), [(2, 1), (2, 5000), (3, 1), (4, 1), (4, 3000), (5, 1), (6, 2), (8, 7)])
def test_patterns_of_a_long_series_equal_the_twin_whatever_the_chunk(order, delay):
    """Counted several at a time up to order 4, and in blocks; delays up to longer than a chunk."""
    x = np.random.default_rng(order).integers(0, 9, 12_000 + delay)
    expected = naive.ordinal_counts(x.tolist(), order, delay)
    evidence = permutation_entropy(x, order=order, delay=delay).evidence
    assert evidence["forbidden_patterns"] == math.factorial(order) - len(expected)
    p = np.array([*expected.values()]) / evidence["windows"]
    assert evidence["entropy_nats"] == pytest.approx(-p @ np.log(p), abs=1e-12)
    found = pattern_frequencies(x, order, delay)
    assert {k: round(v * evidence["windows"]) for k, v in found.items() if v} == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, 2047, 2048, 4999, 5000, 9999])
def test_a_value_that_is_not_finite_is_found_wherever_it_is(bad, at):
    x = np.random.default_rng(0).random(10_000)
    x[at] = bad
    for function in (permutation_entropy, ordinal_patterns, pattern_frequencies):
        with pytest.raises(ValueError, match=f"index {at} is {bad}"):
            function(x, order=4, delay=3)


@given(st.lists(st.integers(-1000, 1000), min_size=20, max_size=200), st.integers(2, 6))
def test_entropy_does_not_change_under_an_increasing_map(x, order):
    values = np.array(x, dtype=float)
    assert np.array_equal(ordinal_patterns(values, order), ordinal_patterns(values**3 / 7 + 5 * values - 3, order))
    assert permutation_entropy(np.exp(values / 500), order=order) == permutation_entropy(values, order=order)


def test_codes_run_from_rising_to_falling():
    assert ordinal_patterns(np.arange(8.0), 8).tolist() == [0]
    assert ordinal_patterns(-np.arange(8.0), 8).tolist() == [math.factorial(8) - 1]
    assert ordinal_patterns([1.0, 3.0, 2.0], 3).dtype == np.int32


def test_pattern_is_the_argsort_of_the_window():
    assert pattern_frequencies([5.0, 9.0, 1.0], 3)[(2, 0, 1)] == 1.0
    assert pattern_frequencies([5.0, 5.0, 1.0], 3)[(2, 0, 1)] == 1.0


def test_logistic_r4_order_3_frequencies_are_exact(r4):
    """PE_r4_p_*: the measures of the pattern cells of the tent map; 4e-3 is four times the sampling error."""
    found = pattern_frequencies(r4, 3)
    for pattern, exact in R4_FREQUENCIES.items():
        assert found[pattern] == pytest.approx(exact, abs=4e-3)
    assert found[(2, 1, 0)] == 0.0
    evidence = permutation_entropy(r4).evidence
    assert evidence["frequencies"] == pytest.approx(NAMED, abs=4e-3)
    assert evidence["frequencies"]["210"] == 0.0


@pytest.mark.parametrize(
    ("order", "exact", "forbidden"),
    [(2, 0.918295834054, 0), (3, 0.831445483859, 1), (4, 0.739114459031, 12), (6, 0.629605859854, 645)],
)
def test_logistic_r4_entropies_and_forbidden_patterns(r4, order, exact, forbidden):
    """PE_r4_Hn*, PE_r4_forb*."""
    estimate = permutation_entropy(r4, order=order)
    assert estimate.status == "ok"
    assert estimate.number == pytest.approx(exact, abs=2e-3)
    assert abs(estimate.number - exact) < 1.5 * estimate.error
    assert estimate.error < 3e-3
    assert estimate.evidence["forbidden_patterns"] == forbidden
    nats = permutation_entropy(r4, order=order, normalize=False)
    assert (
        nats.number
        == estimate.evidence["entropy_nats"]
        == pytest.approx(exact * math.log(math.factorial(order)), abs=0.01)
    )


def test_interval_covers_the_exact_entropy_in_19_of_20_runs():
    exact = 0.831445483859
    x = logistic(4.0, 200_000)
    runs = [permutation_entropy(part) for part in x.reshape(100, 2000)]
    assert 88 <= sum(abs(run.number - exact) <= run.error for run in runs) <= 100
    assert np.median([run.error for run in runs]) < 0.02


def test_bias_of_noise_is_inside_the_interval():
    for seed in range(10):
        estimate = permutation_entropy(np.random.default_rng(seed).random(30_000), order=7)
        assert 1 - estimate.number == pytest.approx(5039 / (2 * 29_994 * math.log(5040)), rel=0.1)
        assert 1 - estimate.number < estimate.error < 0.02


def test_pe_01_log_base_and_normalisation():
    x = [4, 7, 9, 10, 6, 11, 3]
    bits = [permutation_entropy(x, order=m, normalize=False).number / math.log(2) for m in (2, 3)]
    assert bits == pytest.approx([0.918296, 1.521928], abs=1e-6)
    assert permutation_entropy(x, order=3).number == pytest.approx(0.588762, abs=1e-6)


def test_pe_02_order_and_delay_are_used():
    x = naive.lorenz()[0, ::20]
    values = [permutation_entropy(x, order=m, delay=d).number for m, d in ((2, 3), (3, 3), (3, 8))]
    assert min(abs(a - b) for a, b in pairwise(sorted(values))) > 0.01
    two = np.tile([0, 1], 50)
    assert permutation_entropy(two, order=3, delay=1).number == pytest.approx(0.386853, abs=1e-6)
    assert permutation_entropy(two, order=3, delay=2).number == 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_pe_04_nan_and_infinity_are_refused(bad):
    x = np.random.default_rng(0).random(1000)
    x[500:] = bad
    with pytest.raises(ValueError, match="index 500"):
        permutation_entropy(x)


def test_pe_05_ties_keep_the_order_of_appearance():
    x = np.random.default_rng(0).integers(0, 2, 100_000)
    first, second = permutation_entropy(x), permutation_entropy(x)
    assert first == second
    assert first.number == pytest.approx(0.77436, abs=5e-6)
    exact = {"012": 4 / 8, "021": 1 / 8, "102": 1 / 8, "120": 1 / 8, "201": 1 / 8, "210": 0}
    assert first.evidence["frequencies"] == pytest.approx(exact, abs=0.006)
    assert abs(first.number - 0.773706) < 2 * first.error < 0.01


@pytest.mark.parametrize("x", [np.zeros(100), np.arange(100.0), -np.arange(100.0)])
@pytest.mark.parametrize("order", [2, 3, 4])
def test_pe_07_constant_and_monotone_are_positive_zero(x, order):
    estimate = permutation_entropy(x, order=order)
    assert math.copysign(1.0, estimate.number) == 1.0
    assert (estimate.number, estimate.error) == (0.0, 0.0)
    assert math.copysign(1.0, estimate.evidence["entropy_nats"]) == 1.0


@pytest.mark.parametrize("order", [-1, 0, 1, 9])
def test_pe_07_orders_without_meaning_are_refused(order):
    with pytest.raises(ValueError, match=rf"order is {order}; it must be in 2\.\.8"):
        permutation_entropy(np.zeros(100), order=order)


@pytest.mark.parametrize(("n", "order", "delay", "minimum"), [(0, 3, 1, 3), (1, 3, 1, 3), (2, 3, 1, 3), (10, 3, 5, 11)])
def test_pe_08_shorter_than_one_window(n, order, delay, minimum):
    with pytest.raises(ValueError, match=rf"N = {n} values; order {order} and delay {delay} .* = {minimum}$"):
        permutation_entropy(np.arange(n), order=order, delay=delay)
    with pytest.raises(ValueError, match="delay is 0"):
        permutation_entropy(np.arange(9), delay=0)


def test_pe_08_a_single_window_has_a_value_and_a_flag():
    estimate = permutation_entropy([1.0, 3.0, 2.0])
    assert (estimate.number, estimate.status) == (0.0, "not_converged")
    assert estimate.evidence["windows"] == 1
    assert estimate.evidence["few_windows"] is True


@pytest.mark.parametrize(("n", "order", "value"), [(120, 6, 0.712), (1000, 7, 0.793)])
def test_pe_10_too_high_an_order_is_flagged(n, order, value):
    estimate = permutation_entropy(np.random.default_rng(0).random(n), order=order)
    assert estimate.number == pytest.approx(value, abs=0.012)
    assert estimate.number <= math.log(n - order + 1) / math.log(math.factorial(order))
    assert estimate.status == "not_converged"
    assert estimate.evidence["few_windows"]
    assert f"{5 * math.factorial(order)} are needed" in estimate.evidence["reason"]
    assert permutation_entropy(np.random.default_rng(0).random(3605), order=6).status == "ok"


def test_pe_11_forbidden_patterns_contain_the_falling_triple(r4):
    x = r4[:50_000]
    assert pattern_frequencies(x, 3)[(2, 1, 0)] == 0.0
    frequencies = pattern_frequencies(x, 4)
    falling = [p for p in frequencies if p.index(0) > p.index(1) > p.index(2) or p.index(1) > p.index(2) > p.index(3)]
    assert len(falling) == 7
    assert all(frequencies[pattern] == 0.0 for pattern in falling)
    parts = r4.reshape(4, 50_000)
    values = [np.mean([permutation_entropy(part, order=m).number for part in parts]) for m in range(2, 8)]
    assert values == pytest.approx([0.917, 0.830, 0.739, 0.680, 0.629, 0.585], abs=3e-3)


def test_pe_13_unsigned_integers_do_not_wrap():
    x = np.array([200, 10, 250, 5, 100, 30] * 20, dtype=np.uint8)
    assert permutation_entropy(x).number == pytest.approx(0.744244, abs=1e-6)
    assert permutation_entropy(x) == permutation_entropy(x.astype(float))
