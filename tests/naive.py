"""Slow, obvious versions of the fast kernels; the tests require both to agree. And orbits, by scipy and by hand."""

from collections import Counter
from functools import cache
from itertools import pairwise
from math import log

import numpy as np
from scipy.integrate import solve_ivp


@cache
def lorenz():
    """Lorenz at rho = 28 from three starts, 500 time units at 0.001 after 50; rows x1 x2 x3 y1 y2 y3 z1 z2 z3."""

    def rule(_, u):
        x, y, z = u.reshape(3, -1)
        return np.concatenate([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    return _orbit(rule, [1, -4, 7, 1, 3, -2, 1, 20, 31], 50, 500, 0.001)


@cache
def van_der_pol():
    """The van der Pol cycle at mu = 1, 500 time units at 0.01 after 100; rows x, y."""
    return _orbit(lambda _, u: np.array([u[1], (1 - u[0] ** 2) * u[1] - u[0]]), [1, 1], 100, 500, 0.01)


def _orbit(rule, start, transient, length, step):
    settings = {"method": "DOP853", "rtol": 1e-9, "atol": 1e-9}
    start = solve_ivp(rule, (0, transient), np.array(start, dtype=float), **settings).y[:, -1]
    times = np.arange(round(length / step)) * step
    orbit = solve_ivp(rule, (0, length), start, t_eval=times, **settings).y
    orbit.flags.writeable = False
    return orbit


@cache
def logistic(r, n, x=0.4, transient=20_000):
    """n values of the logistic map after a transient."""
    for _ in range(transient):
        x = r * x * (1 - x)
    values = np.empty(n)
    for i in range(n):
        x = values[i] = r * x * (1 - x)
    values.flags.writeable = False
    return values


def displacement(phi, c):
    """M_c(n), n = 1..N/10, by adding the squared moves of all windows."""
    n_cut = len(phi) // 10
    windows = len(phi) - n_cut
    steps = [value * np.exp(1j * c * (l + 1)) for l, value in enumerate(phi)]  # noqa: E741
    z = [0j]
    for step in steps:
        z.append(z[-1] + step)
    return np.array([sum(abs(z[j + n] - z[j]) ** 2 for j in range(windows)) / windows for n in range(1, n_cut + 1)])


def zero_one_k(x, c):
    """K_c for one frequency c, every value used."""
    n = np.arange(len(x))
    slope, offset = np.polyfit(n, x, 1)
    rest = x - slope * n - offset
    moved = displacement(rest / np.std(rest), c)
    return np.corrcoef(np.arange(len(moved)), moved)[0, 1]


def ordinal_counts(x, order, delay):
    """How often each argsort tuple occurs, ties in order of appearance."""
    starts = range(len(x) - (order - 1) * delay)
    windows = ([x[i + k * delay] for k in range(order)] for i in starts)
    return Counter(tuple(sorted(range(order), key=window.__getitem__)) for window in windows)


def permutation_entropy(x, order, delay):
    """In nats."""
    counts = ordinal_counts(x, order, delay)
    total = sum(counts.values())
    return sum(count / total * log(total / count) for count in counts.values())


def mutual_information(x, lag, bins):
    """In nats, between x[i] and x[i + lag], with bins of equal probability by rank."""
    ranks = np.array([sum(other < value for other in x) for value in x])
    codes = ranks * bins // len(x)
    edges = np.arange(bins + 1) - 0.5
    joint, _, _ = np.histogram2d(codes[: len(x) - lag], codes[lag:], bins=(edges, edges))
    joint /= joint.sum()
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    some = joint > 0
    return float(np.sum(joint[some] * np.log(joint[some] / independent[some])))


def cyclic_bands(x, max_bands):
    """The largest number of residue classes of at least 8 values with disjoint intervals."""
    for p in range(min(max_bands, len(x) // 8), 1, -1):
        spans = sorted((min(x[r::p]), max(x[r::p])) for r in range(p))
        if all(left[1] < right[0] for left, right in pairwise(spans)):
            return p
    return 1
