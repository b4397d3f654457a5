"""How many steps may lie between two Gram-Schmidt orthonormalisations, from how fast the deviations grow apart."""

import math
from dataclasses import replace

import numpy as np

from dynamics.block import Array, Block, run

APART = 1e5  # by which deviations of length 1 may come to differ in length: eleven digits of the shortest are left
LONGEST = 1e280  # by which one may grow or shrink
TRIALS = 64  # intervals in which the growth is looked at


def rarer(moving: Block, steps: int, most: int) -> int:
    """The largest power of two up to `most` by which intervals of `steps` steps may be lengthened; 1 if none.

    Between two orthonormalisations all deviations turn towards the fastest one, and what tells them apart is lost to
    rounding as the ratio of their lengths grows. The block itself is not moved.
    """
    trial = replace(moving, data=moving.data.copy(), t=moving.t.copy())
    return int(2 ** (allowed(run(trial, TRIALS, steps=steps).growth, most).bit_length() - 1))


def allowed(growth: Array, most: int) -> int:
    """How many intervals up to `most`, a power of two or three times one, from growth (..., n, k, LANES) over each.

    Looked at is the worst stretch of so many intervals, or of all n times their share where they are more. Lanes whose
    growth is not finite (a superstable orbit, one that blew up) say nothing.
    """
    finite = np.where(np.isfinite(growth).all(axis=(-3, -2), keepdims=True), growth, 0.0)
    n = growth.shape[-3]
    total = np.concatenate([np.zeros_like(finite[..., :1, :, :]), np.cumsum(finite, axis=-3)], axis=-3)
    many, window = 1, 0
    for more in sorted(first * 2**e for first in (2, 3) for e in range(most.bit_length())):
        if more > most:
            break
        if window < n:
            window = min(more, n)
            stretch = total[..., window:, :, :] - total[..., :-window, :, :]
            apart, longest = np.ptp(stretch, axis=-2).max(initial=0.0), np.abs(stretch).max(initial=0.0)
        share = more / window
        if share * apart > math.log(APART) or share * longest > math.log(LONGEST):
            break
        many = more
    return many
