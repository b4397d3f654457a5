import numpy as np
import pytest

from indicators.series import checked_series


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8, np.bool_])
def test_real_numbers_become_contiguous_float64(dtype):
    x = np.array([1, 0, 1, 1, 0, 1], dtype=dtype)
    series = checked_series(x[::2])
    assert series.dtype == np.float64
    assert series.flags.c_contiguous
    assert series.tolist() == [1.0, 1.0, 0.0]


def test_a_read_only_array_is_copied_and_a_proper_one_is_not():
    x = np.arange(5.0)
    assert checked_series(x) is x
    x.flags.writeable = False
    assert checked_series(x).flags.writeable
    assert checked_series(x.astype(">f8")).dtype.isnative


def test_lists_and_objects_that_are_numbers_are_cast():
    assert checked_series([1, 2.5]).tolist() == [1.0, 2.5]
    assert checked_series(np.array([1, 2.5], dtype=object)).tolist() == [1.0, 2.5]


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        ([1.0, np.nan, np.nan], "value at index 1 is nan, 2 of 3"),
        ([1.0, 2.0, -np.inf], "value at index 2 is -inf, 1 of 3"),
        (np.array([1 + 2j, 3]), "complex"),
        (np.array([1, 2j], dtype=object), "2j at index 1"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), r"masked array.*compressed"),
        (["1.0", "two"], "'1.0' at index 0, not a real number"),
        (np.array([1.0, None], dtype=object), "None at index 1"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "datetime64"),
        (np.zeros((3, 2)), r"shape \(3, 2\)"),
        (1.0, r"shape \(\)"),
        ([[1.0, 2.0], [3.0]], "not an array of numbers"),
        ([], "0 values; at least 1"),
    ],
)
def test_what_is_no_series_is_refused_in_a_sentence(x, sentence):
    with pytest.raises(ValueError, match=sentence):
        checked_series(x)


def test_minimum_and_name_are_in_the_message():
    assert checked_series([1, 2, 3], minimum=3).size == 3
    with pytest.raises(ValueError, match="the height has 2 values; at least 3"):
        checked_series([1, 2], minimum=3, what="height")
