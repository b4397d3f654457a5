"""Which numbers count: known misuses are refused, proper measurements are not, and both read as known."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bench.conditions import SOURCES, Measurement, flaws, says_chaos, valid, verdict
from bench.diagnostics import _unweighted, by_point, measurements, read_diagnostics, write_diagnostics
from dynamics.registry import system
from labeling.settings import Settings

SHORT = Settings(records=4096, series=4096, renormalisations=1, transient_map=500)
PROPER = Measurement("zero_one_k", 0.998, 0.01, "ok", 0.25, 1000, 100)


@pytest.fixture(scope="module")
def logistic():
    """Numbers of the logistic map in chaos, r = 4 by its theorem, and on its 2-cycle, r = 3.2."""
    return measurements([system("logistic_r4").with_values({"r": r}) for r in (3.9, 3.2)], SHORT)


def test_each_flaw_has_a_source_and_keeps_a_number_from_counting():
    run = Measurement("megno_slope", 0.3, 0.01, "ok", None, 400, 100)
    for flawed, flaw in (
        (replace(PROPER, step=0.02), "step"),
        (replace(PROPER, length=240), "values"),
        (replace(PROPER, noise=0.5), "noise"),
        (replace(PROPER, transient=0), "transient"),
        (replace(run, length=8), "run"),
        (replace(run, weight=0), "weight"),
        (replace(run, noise=3.0), "noise"),
    ):
        assert flaws(flawed) == [flaw]
        assert SOURCES[flaw]
        assert not valid(flawed)
    assert valid(PROPER)
    assert valid(run)


def test_those_that_count_decide_and_entropy_does_not():
    oversampled = replace(PROPER, value=0.01, step=0.02)
    entropy = Measurement("permutation_entropy", 0.99, 0.01, "ok", 0.25, 1000, 100)
    assert verdict([PROPER, oversampled, oversampled]) is True
    assert verdict([replace(PROPER, value=0.02), replace(PROPER, noise=1.0), entropy]) is False
    assert verdict([oversampled, entropy]) is None


def test_a_rate_says_chaos_above_its_error_and_above_that_of_neutral_deviations():
    rate = Measurement("lyapunov_max", 0.1, 0.02, "ok", None, 200, 100)
    assert says_chaos(rate)
    assert not says_chaos(replace(rate, error=0.2))
    assert not says_chaos(replace(rate, value=0.9 * math.log(200) / 200))
    slope = replace(rate, indicator="megno_slope", value=0.6 * math.log(200) / 200)
    assert says_chaos(slope)


def test_numbers_that_count_are_right_of_chaos_and_of_a_cycle(logistic):
    for found, chaotic in zip(logistic, (True, False), strict=True):
        votes = [says_chaos(m) for m in found if valid(m) and m.indicator != "permutation_entropy"]
        assert len(votes) >= 6
        assert set(votes) == {chaotic}


def test_t01_01_an_oversampled_series_reads_k_near_0_under_chaos_too(logistic):
    for found in logistic:
        fine = [m for m in found if m.indicator == "zero_one_k" and flaws(m) == ["step"]]
        assert fine
        assert all(abs(m.value) < 0.3 for m in fine)


def test_t01_07_noise_reads_k_near_1_on_a_cycle_too(logistic):
    for found in logistic:
        noisy = [m for m in found if m.indicator == "zero_one_k" and flaws(m) == ["noise"]]
        assert noisy
        assert all(m.value > 0.9 for m in noisy)


def test_noise_of_the_distance_grows_on_a_cycle_too(logistic):
    """A distance set to d and seen under noise of n d has grown by ln n at least, whatever the motion.

    At r = 4 the slope is 4 y with y = cos of a uniform angle, and the mean of ln sqrt(n^2 + 16 y^2) is
    ln((n + sqrt(n^2 + 16))/2); regular motion has smaller slopes.
    """
    for found in logistic:
        noisy = [m for m in found if m.indicator == "lyapunov_max" and flaws(m) == ["noise"]]
        assert [m.value > math.log(m.noise) for m in noisy] == [True] * 3
        assert all(m.value < math.log((m.noise + math.hypot(m.noise, 4)) / 2) + 0.03 for m in noisy)


def test_what_counts_and_what_does_not_end_at_turns_of_as_many_digits(logistic):
    for m in (m for found in logistic for m in found if m.transient):
        assert len(str(round(m.transient + m.length * (m.step or 1.0)))) == 4


def test_megno_without_its_weight_does_not_grow(logistic):
    """The published benchmark's MEGNO of maps is twice the exponent (STYLE.md 3.1), which does not grow."""
    for found in logistic:
        (plain,) = [m for m in found if flaws(m) == ["weight"]]
        assert abs(plain.value) < 0.01
        assert says_chaos(plain) is False


def test_rates_are_those_of_the_map(logistic):
    """The cycle of r = 3.2 has the multiplier 4 + 2 r - r^2 = 0.16, so that its exponent is ln(0.16)/2."""
    longest = max((m for m in logistic[1] if m.indicator == "lyapunov_max"), key=lambda m: m.length)
    assert longest.value == pytest.approx(math.log(0.16) / 2, rel=1e-3)
    slope = max((m for m in logistic[1] if m.indicator == "megno_slope"), key=lambda m: (m.weight, m.length))
    assert slope.value == pytest.approx(math.log(0.16) / 4, rel=1e-3)


def test_numbers_are_the_same_again(logistic):
    again = measurements([system("logistic_r4").with_values({"r": r}) for r in (3.9, 3.2)], SHORT)
    assert again == logistic


def test_a_table_is_read_as_it_was_written(tmp_path, logistic):
    about = {"system_id": "logistic_r4", "sweep": "r", "params": '{"r": 3.9}'}
    table = pd.DataFrame([about | vars(m) for m in logistic[0]])
    write_diagnostics(tmp_path, table)
    ((where, found),) = by_point(read_diagnostics(tmp_path)).items()
    assert where == ("logistic_r4", '{"r": 3.9}')
    assert [m.settings for m in found] == [m.settings for m in logistic[0]]
    assert np.allclose([m.value for m in found], [m.value for m in logistic[0]], rtol=1e-3)
    assert [m.error is None for m in found] == [m.error is None for m in logistic[0]]


def test_a_slope_of_one_record_is_no_slope() -> None:
    """Delay equations are recorded once in a hundred turns: 200 turns are two records, through which any line goes."""
    assert not list(_unweighted(np.array([0.1, -0.2]), 100.0, 1.0, 200, 100))
    (many,) = _unweighted(np.zeros(200), 1.0, 1.0, 200, 100)
    assert many.value == 0.0
