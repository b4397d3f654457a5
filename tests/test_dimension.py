import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indicators.dimension import kaplan_yorke_dimension
from indicators.estimate import Estimate


def dimension(*exponents, error=0.0):
    errors = [error] * len(exponents)
    return kaplan_yorke_dimension(Estimate(list(exponents), errors, "ok"))


@pytest.mark.parametrize(("exponents", "expected"), [
    ((-0.2, -0.3), 0.0),  # stable fixed point
    ((0.0, -1.06), 1.0),  # limit cycle
    ((0.0, 0.0, -1.0), 2.0),  # torus
    ((0.0, 0.0), 2.0),  # Hamiltonian torus
    ((0.6, -0.6), 2.0),  # area-preserving chaos
    ((0.41922, -1.62319), 1 + 0.41922 / 1.62319),
    ((math.log(2), math.log(0.2)), 1.430676558073393),  # Kaplan-Yorke map, 1 + ln 2/ln 5
    ((0.9056, 0.0, -14.5723), 2 + 0.9056 / 14.5723),
    ((0.5,), 1.0),
    ((-0.5,), 0.0),
    ((-0.1, 0.3, -0.5), 2 + 0.2 / 0.5),  # in any order
])  # fmt: skip
def test_kaplan_yorke_formula(exponents, expected):
    assert dimension(*exponents).number == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_kaplan_yorke_takes_zeros_within_their_interval():
    found = dimension(0.0004, -1.06, error=0.001)
    assert found.number == 1.0
    chaotic = dimension(0.9056, 3e-5, -14.5723, error=1e-3)
    assert chaotic.number == pytest.approx(2 + 0.9056 / 14.5723, rel=1e-12)
    assert chaotic.error == pytest.approx(1e-3 / 14.5723, rel=0.05)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=6), st.floats(0, 0.1))
@settings(max_examples=200)
def test_kaplan_yorke_lies_between_zero_and_d(exponents, error):
    found = dimension(*exponents, error=error)
    assert 0.0 <= found.number <= len(exponents)
    assert 0.0 <= found.error <= len(exponents) ** 1.5
