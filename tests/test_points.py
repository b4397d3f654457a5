import numpy as np
import pytest

from indicators.correlation_dimension import correlation_dimension
from indicators.decay import decay_of_correlation
from indicators.points import checked_circumference, checked_points
from indicators.power_spectrum import joint_spectral_lines, spectral_lines


def test_integers_and_series_are_cast():
    points = checked_points(np.arange(6).reshape(3, 2))
    assert points.dtype == np.float64
    assert points.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert checked_points([1, 2, 3]).shape == (3, 1)
    assert checked_points(np.asfortranarray(np.ones((4, 3)))).flags.c_contiguous


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (np.ones((2, 2, 2)), r"shape \(2, 2, 2\); pass an array of shape \(N, d\)"),
        (np.ones((5, 0)), r"shape \(5, 0\)"),
        ([[1, 2], [3]], "not an array of numbers"),
        (np.ma.masked_less(np.ones((4, 2)), 0), "masked array"),
        (np.ones((4, 2)) * 1j, "component 0 is complex"),
        ([[1.0, 2.0], [3.0, np.nan]], "component 1 is not finite: the value at index 1 is nan"),
        ([[1.0, np.inf], [3.0, 4.0]], "component 1 is not finite: the value at index 0 is inf"),
        ([["a", "b"], ["c", "d"]], "not a real number"),
    ],
)
def test_what_is_no_points_is_refused(x, sentence):
    with pytest.raises(ValueError, match=sentence):
        checked_points(x)


def test_circumferences():
    assert checked_circumference(None, 2).tolist() == [0, 0]
    assert checked_circumference([0, 2], 2).tolist() == [0, 2]
    with pytest.raises(ValueError, match="3 circumferences are given for 2 components"):
        checked_circumference([1, 1, 1], 2)
    with pytest.raises(ValueError, match="must be above 0"):
        checked_circumference([1, -1], 2)


@pytest.mark.parametrize(
    "indicator", [correlation_dimension, spectral_lines, joint_spectral_lines, decay_of_correlation]
)
def test_every_indicator_refuses_what_it_cannot_read(indicator):
    x = np.random.default_rng(0).random(1000)
    indicator((1000 * x).astype(np.int16))
    for bad in (
        x[:100],
        np.where(x > 0.99, np.nan, x),
        x + 0j,
        np.ma.masked_less(x, 0.5),
        np.where(x > 0.99, np.inf, x),
    ):
        with pytest.raises(ValueError):
            indicator(bad)
