"""Every indicator of a series holds to one rule of input: a sentence for what is no series, a value for what is."""

import math
import re

import numpy as np
import pytest

from indicators.correlation_dimension import correlation_dimension, theiler_window
from indicators.decay import autocorrelation, decay_of_correlation
from indicators.entropy import ordinal_patterns, pattern_frequencies, permutation_entropy
from indicators.estimate import Estimate
from indicators.power_spectrum import joint_spectral_lines, spectral_lines
from indicators.sampling import (
    cyclic_bands,
    first_minimum,
    local_maxima,
    mutual_information,
    oversampling,
    sampling,
    section_is_point,
)
from indicators.series_description import described
from indicators.series_exponent import series_exponent
from indicators.surrogates import surrogate_test
from indicators.zero_one import displacement, zero_one_k

X = np.random.default_rng(0).random(600)
SERIES = {
    "zero_one_k": zero_one_k,
    "displacement": lambda x: displacement(x, [1.0]),
    "permutation_entropy": permutation_entropy,
    "ordinal_patterns": ordinal_patterns,
    "pattern_frequencies": pattern_frequencies,
    "series_exponent": series_exponent,
    "spectral_lines": spectral_lines,
    "autocorrelation": lambda x: autocorrelation(x, 1),
    "sampling": sampling,
    "oversampling": oversampling,
    "mutual_information": lambda x: mutual_information(x, 1),
    "first_minimum": first_minimum,
    "cyclic_bands": cyclic_bands,
    "local_maxima": local_maxima,
    "section_is_point": section_is_point,
    "surrogate_test": surrogate_test,
    "described": described,
}
POINTS = {
    "correlation_dimension": correlation_dimension,
    "theiler_window": theiler_window,
    "decay_of_correlation": decay_of_correlation,
    "joint_spectral_lines": joint_spectral_lines,
}
EVERY = SERIES | POINTS
BAD = {
    "nan": (np.where(X > 0.99, np.nan, X), "not finite: the value at index"),
    "infinite": (np.where(X > 0.99, -np.inf, X), "not finite: the value at index"),
    "complex": (X + 0j, "complex"),
    "masked": (np.ma.masked_less(X, 0.5), "masked array"),
    "text": (["11,76"] * 600, "'11,76' at index 0"),
    "dates": (np.zeros(600, "M8[D]"), "datetime64"),
    "objects": (np.array([1.0, None] * 300, dtype=object), "None at index 1"),
    "3-D": (np.zeros((600, 2, 2)), "shape (600, 2, 2)"),
    "number": (1.0, "shape ()"),
    "ragged": ([[1.0, 2.0], [3.0]], "not an array of numbers"),
    "empty": ([], "0 "),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", EVERY)
def test_what_is_no_series_is_refused_in_one_sentence(name, bad):
    x, said = BAD[bad]
    with pytest.raises(ValueError, match=re.escape(said)) as refusal:
        EVERY[name](x)
    assert re.fullmatch(r"[^\n]{10,300}", str(refusal.value))


@pytest.mark.parametrize("name", SERIES)
def test_two_dimensions_are_no_series(name):
    with pytest.raises(ValueError, match=r"shape \(300, 2\)"):
        SERIES[name](X.reshape(300, 2))


LEAST = {
    "zero_one_k": 200, "displacement": 10, "permutation_entropy": 3, "ordinal_patterns": 3, "pattern_frequencies": 3,
    "series_exponent": 113, "spectral_lines": 500, "autocorrelation": 2, "sampling": 2, "oversampling": 2,
    "mutual_information": 2, "first_minimum": 2, "cyclic_bands": 2, "local_maxima": 5, "section_is_point": 5,
    "surrogate_test": 200, "described": 200, "correlation_dimension": 200, "theiler_window": 2,
    "decay_of_correlation": 500, "joint_spectral_lines": 500,
}  # fmt: skip


@pytest.mark.parametrize("name", EVERY)
def test_too_short_names_the_length_and_what_would_do(name):
    least = LEAST[name]
    with pytest.raises(ValueError, match=rf"\b{least - 1} values.*\b{least}\b"):
        EVERY[name](X[: least - 1])
    EVERY[name](X[:least])


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.float32, bool, object])
@pytest.mark.parametrize("name", EVERY)
def test_numbers_of_every_kind_are_those_of_double_precision(name, dtype):
    x = (X > 0.5 if dtype is bool else 200 * X).astype(np.uint8 if dtype is object else dtype)
    got, wanted = EVERY[name](x.astype(dtype)), EVERY[name](x.astype(float))
    assert repr(got) == repr(wanted)


@pytest.mark.parametrize("name", EVERY)
def test_the_input_is_left_as_it_was(name):
    x = X.copy()
    EVERY[name](x)
    assert np.array_equal(x, X)
    x.flags.writeable = False
    assert repr(EVERY[name](x)) == repr(EVERY[name](X[::-1][::-1]))


@pytest.mark.parametrize("value", [0.0, 0.6, -1e300, 5e-324])
def test_a_constant_series_has_the_stated_value(value):
    """Entropy 0 and dimension 0; K and the exponent have no meaning."""
    x = np.full(600, value)
    assert (permutation_entropy(x).value, permutation_entropy(x).evidence["forbidden_patterns"]) == (0.0, 5)
    assert math.copysign(1.0, permutation_entropy(x).number) == 1.0
    for name in ("zero_one_k", "series_exponent", "surrogate_test"):
        estimate = SERIES[name](x)
        assert (estimate.status, estimate.value) == ("undefined", None)
        assert estimate.evidence["reason"]
    assert correlation_dimension(x).value == 0.0
    assert spectral_lines(x).verdict == "constant"
    assert decay_of_correlation(x).verdict == "constant"
    assert (sampling(x).oversampled, sampling(x).stride) == (False, 1)
    assert described(x).constant


@pytest.mark.parametrize(("call", "said"), [
    (lambda: permutation_entropy(X, order=9), "order is 9; it must be in 2..8"),
    (lambda: permutation_entropy(X, order=1), "order is 1; it must be in 2..8"),
    (lambda: permutation_entropy(X, delay=0), "delay is 0; it must be at least 1"),
    (lambda: permutation_entropy(X, delay=-1), "delay is -1; it must be at least 1"),
    (lambda: permutation_entropy(X, order=3, delay=300), "need at least (order - 1)*delay + 1 = 601"),
    (lambda: pattern_frequencies(X, order=9), "order is 9"),
    (lambda: ordinal_patterns(X, delay=0), "delay is 0"),
    (lambda: series_exponent(X, delay=0), "delay is 0; it must be at least 1"),
    (lambda: series_exponent(X, interval=0.0), "interval is 0.0; it must be positive and finite"),
    (lambda: series_exponent(X, dimension=0), "dimension is 0; it must be at least 1"),
    (lambda: described(X, interval=np.inf), "interval is inf; it must be positive and finite"),
    (lambda: described(X, orders=(9,)), "order is 9"),
    (lambda: described(X, orders=()), "orders"),
    (lambda: zero_one_k(X, stride=0), "stride is 0; it must be at least 1"),
    (lambda: zero_one_k(X, n_c=19), "n_c is 19"),
    (lambda: correlation_dimension(X, theiler=-1), "theiler is -1"),
    (lambda: cyclic_bands(X, 0), "max_bands is 0"),
])  # fmt: skip
def test_settings_without_meaning_are_refused_by_name(call, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        call()


@pytest.mark.parametrize("call", [
    lambda: permutation_entropy(X, order=3.5), lambda: permutation_entropy(X, delay=1.5),
    lambda: zero_one_k(X, stride=1.5), lambda: series_exponent(X, delay=2.5), lambda: zero_one_k(X, n_c=50.5),
])  # fmt: skip
def test_counts_are_whole_numbers(call):
    with pytest.raises(TypeError, match="integer"):
        call()


@pytest.mark.parametrize("order", [5, 6, 7])
def test_few_windows_have_a_value_and_a_flag(order):
    estimate = permutation_entropy(X[:500], order=order)
    assert isinstance(estimate, Estimate)
    assert 0.0 < estimate.number <= math.log(500) / math.log(math.factorial(order)) + 1e-12
    assert (estimate.status, estimate.evidence["few_windows"]) == ("not_converged", True)
    assert "5 per pattern" in estimate.evidence["reason"]
