"""Tangent passes of all lanes, for the tests of the pass and of the indices read off it."""

import numpy as np

from dynamics.block import block
from dynamics.codegen import LANES
from dynamics.registry import system
from dynamics.renormalisation import rarer
from dynamics.tangent_run import tangent_run
from indicators.alignment import fli, gali, sali

HENON_HEILES = system("dysts_henonheiles")


def everywhere(*values):
    return np.repeat(np.array(values, dtype=float)[:, None], LANES, axis=1)


def begun(s, states, k=None, *, h=1.0, seed=0, **changed):
    parameters = everywhere(*(s.parameters | changed).values()).reshape(-1, LANES)
    states = states if isinstance(states, np.ndarray) else everywhere(*states)
    return block(s, states, parameters, s.dimension if k is None else k, h=h, seed=seed)


def passed(s, states, records, *, steps=1, between=None, **more):
    """A pass of all lanes, and the time of a record."""
    moving = begun(s, states, **more)
    made = tangent_run(moving, records, steps=steps, between=between or rarer(moving, 1, 1024))
    assert set(made.status) == {"ok"}
    return made, float(made.interval[0])


def indices(made, interval, lane=0):
    """FLI, SALI, GALI_2 .. of one lane."""
    lengths, growth = made.lengths[:, :, lane], made.growth[:, :, lane]
    many = [gali(lengths, growth, interval, k) for k in range(2, growth.shape[1] + 1)]
    return fli(lengths, interval), sali(lengths, growth, interval), many
