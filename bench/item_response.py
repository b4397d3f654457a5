"""The two-parameter logistic model of item response: how hard each question is, and how sharply it tells models apart.

P(model m is right on item i) = 1/(1 + exp(-(a_i theta_m + c_i))), with abilities theta from a standard normal and
difficulty -c_i/a_i. Items are fitted by marginal maximum likelihood (Bock & Aitkin 1981, Psychometrika,
doi:10.1007/BF02293801) with weak normal priors on ln a and c, without which an item that all models get right has no
finite estimate. Abilities are integrated over Gauss-Hermite nodes that follow each model's own posterior, since
thousands of items leave it far narrower than any fixed grid.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

NODES = 7
ROUNDS = 200
CLOSE = 1e-4  # change of ln a and c in one round, at which the fit ends
PRIOR = np.array([0.5, 3.0])  # standard deviations of ln a and of c, around 0
LONGEST = 1.0  # step of a parameter in one round

Floats = NDArray[np.float64]


class ItemResponse(NamedTuple):
    """Of each item discrimination a and difficulty; of each model its ability with the posterior's deviation."""

    discrimination: Floats
    difficulty: Floats
    ability: Floats
    deviation: Floats


def item_response(right: ArrayLike) -> ItemResponse:
    """The model fitted to right answers, (models, items) of 0 and 1."""
    x = np.asarray(right, dtype=float)
    points, weights = np.polynomial.hermite_e.hermegauss(NODES)
    score = x.mean(axis=1)
    ability, deviation = (score - score.mean()) / max(score.std(), 1e-9), np.full(len(x), 0.5)
    items = np.zeros((2, x.shape[1]))  # ln a and c
    for _ in range(ROUNDS):
        nodes = ability[:, None] + deviation[:, None] * points
        z = np.exp(items[0])[:, None, None] * nodes + items[1][:, None, None]  # items, models, nodes
        likely = np.einsum("mi,imq->mq", x, z) - np.logaddexp(0.0, z).sum(axis=0)
        share = likely - nodes**2 / 2 + points**2 / 2 + np.log(weights)
        share = np.exp(share - share.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        ability = (share * nodes).sum(axis=1)
        deviation = np.sqrt((share * (nodes - ability[:, None]) ** 2).sum(axis=1) + 1e-12)
        step = _newton(items, x, z, nodes, share)
        items += step
        if np.abs(step).max() < CLOSE:
            break
    a = np.exp(items[0])
    return ItemResponse(a, -items[1] / a, ability, deviation)


def _newton(items: Floats, x: Floats, z: Floats, nodes: Floats, share: Floats) -> Floats:
    """One step of Fisher scoring for ln a and c of every item, (2, items), priors included."""
    a, p = np.exp(items[0]), expit(z)
    missed, spread = (x.T[:, :, None] - p) * share, p * (1 - p) * share
    first = np.stack([a * (missed * nodes).sum(axis=(1, 2)), missed.sum(axis=(1, 2))]) - items / PRIOR[:, None] ** 2
    aa = a**2 * (spread * nodes**2).sum(axis=(1, 2)) + PRIOR[0] ** -2
    ac, cc = a * (spread * nodes).sum(axis=(1, 2)), spread.sum(axis=(1, 2)) + PRIOR[1] ** -2
    step = np.stack([cc * first[0] - ac * first[1], aa * first[1] - ac * first[0]]) / (aa * cc - ac**2)
    return np.clip(step, -LONGEST, LONGEST)
