"""Slow, obvious versions of the fast kernels; the tests require both to agree. And orbits, by scipy and by hand."""

from collections import Counter
from functools import cache
from itertools import pairwise
from math import log

import numpy as np
from mpmath import mp
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


# The shipped rules once more, written by hand from the papers that the rows cite: (state, parameters, time) -> rates.
RULES = {
    "logistic_r2_8": lambda u, p, t: [p["r"] * u[0] - p["r"] * u[0] ** 2],
    "logistic_r4": lambda u, p, t: [p["r"] * u[0] - p["r"] * u[0] ** 2],
    "henon": lambda u, p, t: [u[1] + 1 - p["a"] * u[0] * u[0], p["b"] * u[0]],
    "standard_map": lambda u, p, t: [u[0] + (u[1] + p["K"] * np.sin(u[0])), u[1] + p["K"] * np.sin(u[0])],
    "lorenz63": lambda u, p, t: [
        -p["sigma"] * u[0] + p["sigma"] * u[1],
        p["rho"] * u[0] - u[1] - u[0] * u[2],
        u[0] * u[1] - p["beta"] * u[2],
    ],
    "rossler": lambda u, p, t: [-(u[1] + u[2]), u[0] + p["a"] * u[1], p["b"] + u[0] * u[2] - p["c"] * u[2]],
    "vdp": lambda u, p, t: [u[1], p["mu"] * u[1] - p["mu"] * u[0] ** 2 * u[1] - u[0]],
    "damped_oscillator": lambda u, p, t: [u[1], -2 * p["zeta"] * p["omega"] * u[1] - p["omega"] ** 2 * u[0]],
    "circle_map_quasiperiodic": lambda u, p, t: [p["Omega"] + u[0] + np.sin(u[0] * 2 * np.pi) * p["K"] / 2 / np.pi],
    "ikeda_map": lambda u, p, t: rotated_and_shrunk(u, p["u"]),
    "duffing_chaotic": lambda u, p, t: [
        u[1],
        u[0] - u[0] * u[0] * u[0] - p["delta"] * u[1] + p["gamma"] * np.cos(p["omega"] * t),
    ],
    "brusselator": lambda u, p, t: [
        p["A"] + u[0] * u[0] * u[1] - p["B"] * u[0] - u[0],
        p["B"] * u[0] - u[0] * u[0] * u[1],
    ],
}


def rotated_and_shrunk(u, factor):
    """The Ikeda map as complex multiplication: z -> 1 + u z exp(i tau)."""
    z = u[0] + 1j * u[1]
    image = 1 + factor * z * np.exp(1j * (0.4 - 6 / (1 + abs(z) ** 2)))
    return [image.real, image.imag]


# Butcher tableaux (A, b, c): Kutta 1901; Dormand & Prince 1980, RK5(4)7M.
RK4 = ([[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], [0, 1 / 2, 1 / 2, 1])
DP5 = (
    [
        [],
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    ],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1],
)


def runge_kutta(rule, u, t, h, steps, tableau):
    """`steps` steps of an explicit method for u' = rule(u, t), stage by stage."""
    a, b, c = tableau
    for m in range(steps):
        slopes = []
        for row, node in zip(a, c, strict=True):
            at = u + h * sum((w * k for w, k in zip(row, slopes, strict=True)), np.zeros_like(u))
            slopes.append(np.asarray(rule(at, t + m * h + node * h)))
        u = u + h * sum(w * k for w, k in zip(b, slopes, strict=True))
    return u


def with_deviations(rule, jacobian, d):
    """The rule of a state and its deviations, one below the other in a single column of d (1 + k) numbers."""

    def both(column, t):
        u, *v = column.reshape(-1, d)
        return np.concatenate([rule(u, t), *(np.asarray(jacobian(u, t)) @ w for w in v)])

    return both


def iterated(rule, jacobian, u, v, steps, circle):
    """A map's state (d,) and deviations (d, k) after `steps` iterates; variable c has circumference circle[c]."""
    for _ in range(steps):
        v = np.asarray(jacobian(u)) @ v
        u = np.array(rule(u), dtype=float)
        for c, length in circle.items():
            u[c] = u[c] % length
    return u, v


def megno(growth, interval, continuous):
    """Mean MEGNO at the end of a run, by summing over every time up to every time (Cincotta, Giordano & Simo 2003)."""
    values = []
    for n in range(1, len(growth) + 1):
        moments = [(i - 0.5 if continuous else i) * interval for i in range(1, n + 1)]
        values.append(2 / (n * interval) * sum(t * g for t, g in zip(moments, growth[:n], strict=True)))
    return sum(values) / len(values), values[-1]


def pairs_closer(points, radius, window, circle):
    """Pairs more than `window` apart in time whose distance in maximum norm is below radius, one by one."""
    count = 0
    for i in range(len(points)):
        for j in range(i + window + 1, len(points)):
            gaps = [abs(a - b) for a, b in zip(points[i], points[j], strict=True)]
            gaps = [min(gap, length - gap) if length else gap for gap, length in zip(gaps, circle, strict=True)]
            count += max(gaps) < radius
    return count


def autocorrelation(x, longest):
    """Sums over the pairs at each lag, divided by their number and by the variance."""
    mean = sum(x) / len(x)
    variance = sum((value - mean) ** 2 for value in x) / len(x)
    pairs = [[(x[i] - mean) * (x[i + k] - mean) for i in range(len(x) - k)] for k in range(longest + 1)]
    return np.array([sum(products) / len(products) / variance for products in pairs])


def divergence(x, dimension, delay, theiler, radius, steps):
    """For each point with neighbours in the ball: its index, ln of the mean distance, mean ln distance, 0..steps."""
    vectors = [[x[i + e * delay] for e in range(dimension)] for i in range(len(x) - (dimension - 1) * delay)]
    repeat = 1e-9 * (max(x) - min(x))

    def apart(i, j):
        return max(abs(a - b) for a, b in zip(vectors[i], vectors[j], strict=True))

    starts = range(len(vectors) - steps)
    rows = []
    for i in starts:
        near = [j for j in starts if abs(i - j) > theiler and repeat < apart(i, j) <= radius]
        if near:
            each = [[apart(i + k, j + k) for j in near] for k in range(steps + 1)]
            of_mean = [log(sum(distances) / len(near)) for distances in each]
            mean_of = [sum(log(distance) for distance in distances) / len(near) for distances in each]
            rows.append((i, of_mean, mean_of))
    return rows


def delayed(rule, history, h, lags, steps):
    """States after 0 .. steps Runge-Kutta steps of u' = rule(u, past, t), past[q] = u(t - lags[q] h).

    The past between nodes is the cubic Hermite polynomial; `history` is u(t) for t <= 0.
    """
    deepest = max(lags)
    at = {n: np.asarray(history(n * h), dtype=float) for n in range(-deepest, 1)}
    middle = {n: np.asarray(history((n + 0.5) * h), dtype=float) for n in range(-deepest, 0)}
    for n in range(steps):
        t, u = n * h, at[n]
        early, between, late = ([node[n + m - lag] for lag in lags] for node, m in ((at, 0), (middle, 0), (at, 1)))
        a = rule(u, early, t)
        b = rule(u + h / 2 * a, between, t + h / 2)
        c = rule(u + h / 2 * b, between, t + h / 2)
        d = rule(u + h * c, late, t + h)
        at[n + 1] = u + h / 6 * (a + 2 * b + 2 * c + d)
        end = rule(at[n + 1], late, t + h)
        middle[n] = (u + at[n + 1]) / 2 + h / 8 * (a - end)
    return np.array([at[n] for n in range(steps + 1)])


def mackey_glass_exponent(tau, orbits, duration, transient=500, degree=24, h=0.05):
    """The largest exponent and its standard error, by another road: the history as a polynomial on Chebyshev points.

    The delay equation is the transport equation u_t = u_s on [-tau, 0] with the rule at s = 0, which collocation turns
    into an ordinary differential equation (Trefethen 2000, Spectral Methods in MATLAB, p. 54).
    """
    x = np.cos(np.pi * np.arange(degree + 1) / degree)
    c = np.array([2, *[1] * (degree - 1), 2]) * (-1) ** np.arange(degree + 1)
    slopes = np.outer(c, 1 / c) / (x[:, None] - x + np.eye(degree + 1))
    slopes = (slopes - np.diag(slopes.sum(axis=1)))[1:] * 2 / tau
    rng = np.random.default_rng(0)
    u = np.ones((degree + 1, orbits)) * rng.uniform(0.5, 1.4, orbits)
    v = rng.standard_normal(u.shape)

    def rates(uv, _):
        u, v = uv
        z = u[-1]
        q = 1 + z**10
        present = 0.2 * z / q - 0.1 * u[0], 0.2 * (q - 10 * z**10) / q**2 * v[-1] - 0.1 * v[0]
        return np.stack([np.vstack([p, slopes @ w]) for p, w in zip(present, uv, strict=True)])

    total = np.zeros(orbits)
    per = 200
    for record in range(round((transient + duration) / (per * h))):
        u, v = runge_kutta(rates, np.stack([u, v]), 0.0, h, per, RK4)
        length = np.sqrt((v * v).sum(axis=0))
        v = v / length
        if record * per * h >= transient:
            total += np.log(length)
    return np.mean(total / duration), np.std(total / duration) / np.sqrt(orbits)


def kuramoto_sivashinsky(u, v, length, h, steps):
    """u (N,) and deviations v (N, k) on the points after `steps` ETDRK4 steps, by FFT; the mean is carried along."""
    n = len(u)
    m = np.fft.rfftfreq(n, 1 / n)
    q = 2 * np.pi * m / length
    rate = q**2 - q**4
    kept = m < n / 3
    circle = rate[:, None] * h + np.exp(2j * np.pi * (np.arange(64) + 0.5) / 64)
    power = np.exp(circle)
    weights = [
        (np.exp(circle / 2) - 1) / circle,
        (-4 - circle + power * (4 - 3 * circle + circle**2)) / circle**3,
        (2 + circle + power * (circle - 2)) / circle**3,
        (-4 - 3 * circle - circle**2 + power * (4 - circle)) / circle**3,
    ]
    half_step, f1, f2, f3 = (h * w.mean(axis=1).real[:, None] for w in weights)
    whole, half = np.exp(h * rate)[:, None], np.exp(h * rate / 2)[:, None]

    def slope(modes):
        values = np.fft.irfft(modes, n, axis=0)
        products = values * values[:, :1]
        products[:, 0] /= 2
        return -1j * (q * kept)[:, None] * np.fft.rfft(products, axis=0)

    w = np.fft.rfft(np.column_stack([u, v]), axis=0) * kept[:, None]
    for _ in range(steps):
        n0 = slope(w)
        a = half * w + half_step * n0
        na = slope(a)
        nb = slope(half * w + half_step * na)
        nc = slope(half * a + half_step * (2 * nb - n0))
        w = whole * w + f1 * n0 + 2 * f2 * (na + nb) + f3 * nc
    values = np.fft.irfft(w, n, axis=0)
    return values[:, 0], values[:, 1:]


def sine_gordon(u, v, length, h, steps, weights):
    """u and u_t (N,) after `steps` steps, each a row of leapfrogs (half a drift, kick, half a drift), by FFT."""
    q = 2 * np.pi * np.fft.rfftfreq(len(u), 1 / len(u)) / length
    for _ in range(steps):
        for w in weights:
            u = u + w * h / 2 * v
            v = v + w * h * (np.fft.irfft(-(q**2) * np.fft.rfft(u), len(u)) - np.sin(u))
            u = u + w * h / 2 * v
    return u, v


def philox(counter, key):
    """Philox4x32-10 on whole numbers (Salmon et al. 2011): four words from four words under a key of two."""
    c, k = list(counter), list(key)
    for _ in range(10):
        (high0, low0), (high1, low1) = (divmod(m * x, 2**32) for m, x in ((0xD2511F53, c[0]), (0xCD9E8D57, c[2])))
        c = [high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def normal(seed, lane, step, component):
    """One normal deviate (Box & Muller 1958) from the words under a counter of step, lane and component."""
    c = philox([step % 2**32, step // 2**32, lane, component], [seed % 2**32, seed // 2**32])
    first, second = ((c[i] * 2**32 + c[i + 1]) // 2**11 for i in (0, 2))
    return np.sqrt(-2 * log((first + 1) / 2**53)) * np.cos(2 * np.pi * second / 2**53)


def noisy_path(drift, noise, slope, x, h, increments):
    """x after a step for every row of increments: Euler-Maruyama, with Milstein's term where slope is not None."""
    for n, dw in enumerate(increments):
        b = noise(x)
        move = drift(x, n * h) * h + b * dw
        if slope is not None:
            move = move + b * slope(x) / 2 * (dw * dw - h)
        x = x + move
    return x


def alignment(jacobians, frame, digits):
    """(ln |w_j|, ln SALI, ln GALI_2 ..) at the end: deviations carried in long arithmetic and never touched.

    The volume of the unit vectors is the product of their matrix's singular values.
    """
    with mp.workdps(digits):
        w = mp.matrix(np.asarray(frame).tolist())
        for j in jacobians:
            w = mp.matrix(np.asarray(j).tolist()) * w
        columns = [w[:, i] for i in range(w.cols)]
        lengths = [mp.norm(c) for c in columns]
        unit = [c / length for c, length in zip(columns, lengths, strict=True)]
        sali = min(mp.norm(unit[0] + unit[1]), mp.norm(unit[0] - unit[1]))
        volumes = []
        for k in range(2, w.cols + 1):
            matrix = mp.matrix(w.rows, k)
            for i in range(k):
                matrix[:, i] = unit[i]
            volumes.append(mp.fprod(mp.svd_r(matrix, compute_uv=False)))
        return [float(mp.log(x)) for x in lengths], float(mp.log(sali)), [float(mp.log(v)) for v in volumes]
