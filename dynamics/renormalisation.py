"""How many steps may lie between two Gram-Schmidt orthonormalisations, from how fast the deviations grow apart."""

import math
from dataclasses import replace

import numpy as np

from dynamics.block import Block, run

APART = 1e6  # by which deviations of length 1 may come to differ in length: ten digits of the shortest are left
TRIALS = 64  # intervals in which the growth is looked at


def rarer(moving: Block, steps: int, most: int) -> int:
    """The largest power of two up to `most` by which intervals of `steps` steps may be lengthened; 1 if none.

    Between two orthonormalisations all deviations turn towards the fastest one, and what tells them apart is lost to
    rounding as the ratio of their lengths grows. The block itself is not moved. Lanes whose growth is not finite (a
    superstable orbit, one that blew up) allow no more than `steps`.
    """
    trial = replace(moving, data=moving.data.copy(), t=moving.t.copy())
    growth = run(trial, TRIALS, steps=steps).growth
    with np.errstate(invalid="ignore"):
        apart = np.maximum(np.ptp(growth, axis=1), np.abs(growth).max(axis=1)).max(initial=0.0)
    if not np.isfinite(apart):
        return 1
    room = math.log(APART) / max(float(apart), 1e-300)
    return 2 ** max(0, min(int(math.log2(max(room, 1.0))), int(math.log2(most))))
