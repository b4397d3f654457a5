"""Certificates that several tests look at."""

import json
import math

import numpy as np
import pytest

from dynamics.registry import system
from labeling.certificates import certificate
from labeling.recheck import recheck

LOGISTIC = system("logistic_r4")
LORENZ = system("lorenz63")


def certified(s, *points):
    found, reason = certificate(s, np.array(points, dtype=float).T)
    assert found is not None, reason
    assert recheck(json.loads(json.dumps(found.row))) == []
    return found


@pytest.fixture(scope="module")
def logistic():
    return certified(LOGISTIC.with_values({"r": 3.2}), [0.7994554904673701], [0.5130445095326298])


@pytest.fixture(scope="module")
def tongue():
    return certified(system("circle_map_quasiperiodic").with_values({"Omega": 0.5}), [0.0], [0.5])


@pytest.fixture(scope="module")
def focus():
    s = LORENZ.with_values({"rho": 14.0})
    x = math.sqrt(s.parameters["beta"] * 13)
    return certified(s, [x, x, 13.0])


def standard_points(s, p_theta):
    named = dict(zip(("p", "theta"), p_theta, strict=True))
    return [[named[name] for name in s.state]]
