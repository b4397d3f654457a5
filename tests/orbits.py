"""Orbits of shipped systems and sets of known dimension, for the indicators that read many points."""

from functools import cache

import numpy as np

from dynamics.block import single_orbit
from dynamics.registry import system

GOLDEN = (5**0.5 - 1) / 2


@cache
def orbit(system_id, count, spacing=1.0, steps=1, transient=500):
    """States (count, d) that are `steps` iterates, or steps of spacing / steps, apart, after a transient of records."""
    row = system(system_id)
    start = np.array([*row.state.values()], dtype=float) + 0.01
    states, _, status = single_orbit(row, start, spacing / steps, steps, transient + count)
    assert status == "ok"
    states = states[transient:]
    states.flags.writeable = False
    return states


def lorenz(count, spacing):
    return orbit("lorenz63", count, spacing, round(spacing / 0.005))


def rossler(count, spacing):
    return orbit("rossler", count, spacing, round(spacing / 0.02))


def rotation(count, frequency=GOLDEN):
    """An orbit of the circle of circumference 1, as a unit vector in the plane."""
    angle = 2 * np.pi * frequency * np.arange(count)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def cantor(count, seed=0):
    """Points of the middle-thirds Cantor measure, dimension ln 2 / ln 3 for every order."""
    digits = 2.0 * np.random.default_rng(seed).integers(0, 2, (count, 34))
    return digits @ 3.0 ** -np.arange(1, 35)


def baker(count, weight, left, right, seed=0):
    """The generalised baker's map: a share `weight` of the points is contracted by `left`, the rest by `right`."""
    rng = np.random.default_rng(seed)
    to_left = rng.random(count + 60) < weight
    y, heights = 0.5, []
    for first in to_left:
        y = left * y if first else 1 - right + right * y
        heights.append(y)
    return np.stack([rng.random(count), heights[60:]], axis=1)
