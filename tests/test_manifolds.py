"""Fates of saddles' unstable manifolds along a sweep: found where something rests, and not looked for elsewhere."""

import numpy as np
import pytest

from dynamics.registry import system
from dynamics.system import Sweep
from labeling import manifolds
from labeling.manifolds import AWAY, fate_changes


def changes(name: str, parameter: str, lo: float, hi: float, count: int) -> list[manifolds.Change]:
    return fate_changes(system(name), Sweep(parameter, lo, hi, count), np.linspace(lo, hi, count).tolist())


def test_the_manifold_of_the_origin_stops_resting_where_the_lorenz_attractor_is_born() -> None:
    (change,) = changes("lorenz63", "rho", 23.0, 25.0, 3)
    assert change.lo <= 24.0579 <= change.hi <= change.lo * 1.002  # TH_lor_A of tests/reference: 24.0579
    assert change.below >= 0
    assert change.above == AWAY


def test_no_orbit_is_followed_where_nothing_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The saddle of Lotka and Volterra sends out an orbit that grows for ever, in ever smaller steps."""

    def followed(*_: object) -> None:
        raise AssertionError("an orbit is followed")

    monkeypatch.setattr(manifolds, "swept_start", followed)
    assert changes("lotka_volterra", "alpha", 0.5, 1.5, 9) == []
    with pytest.raises(AssertionError, match="followed"):
        changes("lorenz63", "rho", 23.0, 25.0, 3)
