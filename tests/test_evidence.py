"""The tangent defect, the sum of the exponents less the mean divergence: measured, mended, and in the interval."""

from dataclasses import replace

import numpy as np
import pytest

from dynamics.registry import system
from labeling.gathering import gathered, reference_start, swept_start
from labeling.settings import Settings

BRIEF = Settings(transient_flow=100.0, records=512, series=1_024, turning_steps=1)


def test_a_step_that_is_too_coarse_is_quartered_in_its_own_lane_alone():
    """Van der Pol at twenty times its step: a defect of 0.8 % of the exponent -1.0594; 2e-6 of it at a quarter."""
    vdp = system("vdp")
    start = swept_start([vdp, vdp], BRIEF)
    h = start.h.copy()
    h[1] *= 20
    plain, (fine, mended) = gathered(start, BRIEF), gathered(replace(start, h=h), BRIEF)
    assert np.array_equal(fine.growth, plain[0].growth)
    assert np.array_equal(fine.series, plain[0].series)
    assert (fine.h, mended.h) == (start.h[0], h[1] / 4)
    assert mended.interval == pytest.approx(20 * fine.interval, rel=1e-12)  # the time is that of the coarse run
    assert fine.defect < 1e-9
    assert 1e-7 < mended.defect < 1e-5
    assert mended.spectrum.value[1] == pytest.approx(-1.0594, abs=5e-4)


@pytest.mark.parametrize("name", ["shm", "lotka_volterra"])
def test_centres_have_exponents_zero_within_their_intervals(name):
    """Dormand and Prince damp the oscillator by 3e-9 per time, steadily: no length of run shows it, the defect does."""
    e = gathered(reference_start(system(name), BRIEF), BRIEF)[0]
    for value, error, error_999 in zip(
        e.spectrum.value, e.spectrum.error, e.spectrum.evidence["error_999"], strict=True
    ):
        assert abs(value) <= error <= error_999
    assert abs(e.volume_exponent.number) <= e.volume_exponent.error
    if name == "shm":
        assert e.spectrum.value == pytest.approx([-e.defect / 2] * 2, rel=1e-6)
        assert 1e-9 < e.defect < 1e-8


def test_maps_have_no_defect_and_no_finer_step():
    henon = system("henon")
    start = reference_start(henon, BRIEF)
    one, two = gathered(start, BRIEF)[0], gathered(start, BRIEF, finer=2)[0]
    assert one.defect == 0.0
    assert np.isnan(one.divergence)
    assert two.interval == one.interval
    assert np.array_equal(one.growth, two.growth)
