import math

import naive
import numpy as np
import pytest
from scipy import stats

from dynamics.deviates import LARGEST, normals, philox
from dynamics.noise import noisy_system
from dynamics.noisy_block import brownian_path, noisy_block, noisy_run
from dynamics.system import RowError
from indicators.lyapunov import lyapunov_max, lyapunov_spectrum


def sde(rule, noise, state=None, **more):
    state = {"x": 1.0} if state is None else state
    return noisy_system("noisy", {"kind": "sde", "state": state, "rule": rule, "noise": noise, **more})


OU = sde(["theta*(mu - x)"], ["sigma"], {"x": 2.0}, parameters={"theta": 1.0, "mu": 0.5, "sigma": 0.5})
GBM = sde(["mu*x"], ["sigma*x"], parameters={"mu": 0.3, "sigma": 1.0})
WIENER = sde(["0"], ["1"], {"x": 0.0})
# driven, nonlinear, noise of every kind that Milstein's step is for
WIDE = sde(["y", "-x - y**3 + cos(t)"], ["0.3*sin(x)", "s*(1 + y**2)"], {"x": 0.5, "y": -0.2}, parameters={"s": 0.2})


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def ones(width, value=1.0):
    return np.full((1, width), value)


# the deviates


def words(*values):
    return [int(word) for word in philox(*map(np.uint64, values))]


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([2**32 - 1] * 4, [2**32 - 1] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_philox_gives_the_published_words(counter, key, expected):
    """The known answers of the authors' library Random123 (kat_vectors, philox4x32 10)."""
    assert words(*counter, *key) == expected
    assert naive.philox(counter, key) == expected


def test_deviates_are_those_of_whole_numbers():
    seed, lanes, begin = 2**63 + 12345, [0, 7, 2**32 - 1], 2**32 - 2
    found = normals(seed, lanes, 4, 2, begin)
    for n in range(4):  # across the step at which the counter's low word is full
        for c in range(2):
            for i, lane in enumerate(lanes):
                assert found[n, c, i] == pytest.approx(naive.normal(seed, lane, begin + n, c), rel=1e-13, abs=1e-15)


def test_deviates_are_normal():
    """A million: four moments to four standard errors, the distribution, and the tails."""
    z = normals(11, range(1000), 1000, 1).ravel()
    for power, moment, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10170)):
        assert np.mean(z**power) == pytest.approx(moment, abs=4 * math.sqrt(spread / z.size))
    assert stats.kstest(z, "norm").pvalue > 0.01
    for size in (2.0, 3.0, 4.0):
        expected = 2 * stats.norm.sf(size) * z.size
        assert (np.abs(z) > size).sum() == pytest.approx(expected, abs=4 * math.sqrt(expected))
    assert 4.5 < np.abs(z).max() < LARGEST
    assert np.unique(z).size == z.size


def test_deviates_are_independent():
    """Of neighbours in lane, step, component, and of seeds that differ in one bit; and so are their squares."""
    n = 400
    z = normals(5, range(n), n, 2)
    others = [normals(5 ^ bit, range(n), n, 1)[:, 0] for bit in (1, 2**31, 2**32, 2**63)]
    first = z[:, 0]
    pairs = [(first[1:], first[:-1]), (first[:, 1:], first[:, :-1]), (first, z[:, 1]), (first, first.T)]
    pairs += [(first, other) for other in others]
    for a, b in pairs:
        off = ~np.eye(n, dtype=bool) if np.shares_memory(a, b) and a.shape == (n, n) else np.ones(a.shape, dtype=bool)
        a, b = a[off], b[off]
        assert abs(np.mean(a * b)) < 4 / math.sqrt(a.size)
        assert abs(np.mean((a**2 - 1) * (b**2 - 1))) < 4 * 2 / math.sqrt(a.size)


# the steps


@pytest.mark.parametrize("method", ["euler_maruyama", "milstein"])
def test_steps_are_those_of_the_formula(method):
    h, lanes, fine = 0.03, [4, 9, 1000], 3
    start = np.array([[0.5, 1.0, -2.0], [-0.2, 0.1, 0.4]])
    moving = noisy_block(WIDE, start, h=h, seed=7, method=method, lanes=lanes, fine=fine)
    moving.advance(20)
    dw = normals(7, lanes, 60, 2).reshape(20, fine, 2, 3).sum(axis=1) * math.sqrt(h / fine)
    for i in range(3):
        end = naive.noisy_path(
            lambda u, t: np.array([u[1], -u[0] - u[1] ** 3 + math.cos(t)]),
            lambda u: np.array([0.3 * math.sin(u[0]), 0.2 * (1 + u[1] ** 2)]),
            (lambda u: np.array([0.3 * math.cos(u[0]), 0.4 * u[1]])) if method == "milstein" else None,
            start[:, i], h, dw[:, :, i],
        )  # fmt: skip
        assert np.allclose(moving.states[:, i], end, rtol=1e-13, atol=0)
    assert np.allclose(moving.t, 0.6)


@pytest.mark.parametrize("method", ["euler_maruyama", "milstein"])
def test_the_deviation_is_the_derivative_under_the_same_path(method):
    start = np.array([[0.5, 1.0], [-0.2, 0.1]])
    moving = noisy_block(WIDE, start, 1, h=0.03, seed=7, method=method)
    vector, e = moving.deviations[:, 0].copy(), 1e-5
    plus, minus = (noisy_block(WIDE, start + s * e * vector, h=0.03, seed=7, method=method) for s in (1, -1))
    for one in (moving, plus, minus):
        one.advance(40)
    assert np.allclose(moving.deviations[:, 0], (plus.states - minus.states) / (2 * e), rtol=0, atol=1e-8)
    assert np.abs(moving.deviations[:, 0] - vector).max() > 0.3


def test_same_seed_same_bits_however_lanes_are_dealt():
    """In one block, in single lanes, in another order, in one go or in parts; with and without a deviation."""
    start = np.random.default_rng(0).uniform(-1, 1, (2, 37))
    whole = noisy_block(WIDE, start, 1, h=0.02, seed=3)
    whole.advance(100)
    order = np.random.default_rng(1).permutation(37)
    for part in (order, [36], np.arange(5, 21)):
        dealt = noisy_block(WIDE, start[:, part], 1, h=0.02, seed=3, lanes=part)
        dealt.advance(60)
        dealt.advance(40)
        assert np.array_equal(dealt.states, whole.states[:, part])
        assert np.array_equal(dealt.deviations, whole.deviations[:, :, part])
    plain = noisy_block(WIDE, start, h=0.02, seed=3)
    plain.advance(100)
    assert np.array_equal(plain.states, whole.states)
    other = noisy_block(WIDE, start, h=0.02, seed=4)
    other.advance(100)
    assert (np.abs(other.states - whole.states) > 1e-6).all()


def test_the_path_is_the_same_at_half_the_step():
    """dx = dW: at every common time the states are those of the path itself, whatever the step."""
    lanes, finest = np.arange(20), 2.0**-8
    path = brownian_path(6, lanes, 256, 1, finest)
    assert path[-1].std() == pytest.approx(1.0, abs=0.5)
    for fine in (1, 2, 16, 256):
        result = noisy_run(noisy_block(WIENER, np.zeros((1, 20)), h=fine * finest, seed=6, fine=fine), 256 // fine)
        assert np.allclose(result.states, path[fine - 1 :: fine], rtol=0, atol=1e-13)


# orders, on geometric Brownian motion: x(T) = exp((mu - sigma^2/2) T + sigma W(T))


def ends(system, method, levels, steps, seed, width):
    """x(1) of all lanes at steps of 2^-l, on one path of `steps` fine steps, and that path's end."""
    out = []
    for fine in (steps >> level for level in levels):
        moving = noisy_block(system, ones(width), h=fine / steps, seed=seed, fine=fine, method=method)
        moving.advance(steps // fine)
        out.append(moving.states[0])
    return out, brownian_path(seed, range(width), steps, 1, 1 / steps)[-1, 0]


@pytest.mark.parametrize(("method", "order"), [("euler_maruyama", 0.5), ("milstein", 1.0)])
def test_strong_order(method, order):
    levels = [4, 5, 6, 7, 8]
    found, w = ends(GBM, method, levels, 256, 1, 2000)
    exact = np.exp((0.3 - 0.5) + w)
    errors = [np.abs(x - exact).mean() for x in found]
    assert slope(0.5 ** np.array(levels), errors) == pytest.approx(order, abs=0.08)
    assert errors[-1] < 0.1


@pytest.mark.parametrize("method", ["euler_maruyama", "milstein"])
def test_weak_order_is_one(method):
    """The mean less the exact one, on the same paths, so that the chance in both is the same; and its exact value."""
    calm = sde(["mu*x"], ["sigma*x"], parameters={"mu": 1.0, "sigma": 0.3})
    levels = [2, 3, 4, 5]
    found, w = ends(calm, method, levels, 32, 2, 20_000)
    exact = np.exp(1 - 0.045 + 0.3 * w)
    assert exact.mean() == pytest.approx(math.e, abs=4 * exact.std() / math.sqrt(20_000))
    errors = [-(x - exact).mean() for x in found]
    assert slope(0.5 ** np.array(levels), errors) == pytest.approx(1.0, abs=0.15)
    for level, error, x in zip(levels, errors, found, strict=True):
        n = 2**level
        # the mean of either scheme is (1 + h)^n
        assert error == pytest.approx(math.e - (1 + 1 / n) ** n, abs=4 * (x - exact).std() / math.sqrt(20_000))


def test_additive_noise_is_of_strong_order_one_by_either_method():
    assert OU.additive
    assert not GBM.additive
    found, _ = ends(OU, "euler_maruyama", [4, 5, 6, 7, 12], 4096, 3, 200)
    errors = [np.abs(x - found[-1]).mean() for x in found[:-1]]
    assert slope(0.5 ** np.arange(4, 8), errors) == pytest.approx(1.0, abs=0.1)
    same, _ = ends(OU, "milstein", [4], 4096, 3, 200)
    assert np.array_equal(same[0], found[0])


# Ornstein-Uhlenbeck: dx = theta (mu - x) dt + sigma dW, theta = 1, mu = 0.5, sigma = 0.5


def test_the_mean_and_variance_of_ornstein_uhlenbeck():
    """Of the transient and of the steady state: exact for the scheme, and the equation's own within O(h)."""
    h, width = 0.05, 5000
    result = noisy_run(noisy_block(OU, ones(width, 2.0), h=h, seed=8), 20)
    q = 1 - h  # what is left of a deviation after a step
    for n in (1, 5, 20):
        x = result.states[n - 1, 0]
        variance = 0.25 * h * (1 - q ** (2 * n)) / (1 - q**2)
        assert x.mean() == pytest.approx(0.5 + 1.5 * q**n, abs=4 * math.sqrt(variance / width))
        assert x.var() == pytest.approx(variance, rel=4 * math.sqrt(2 / width))
        assert x.mean() == pytest.approx(0.5 + 1.5 * math.exp(-n * h), abs=0.05)


def test_the_steady_state_of_ornstein_uhlenbeck():
    h, width, records = 0.05, 2000, 60
    moving = noisy_block(OU, ones(width, 0.5), h=h, seed=9)
    moving.advance(200)
    x = noisy_run(moving, records, steps=20).states[:, 0]
    variance = 0.25 * h / (1 - (1 - h) ** 2)
    effective = width * records * (1 - math.exp(-2)) / (1 + math.exp(-2))  # independent values, for the variance
    assert x.mean() == pytest.approx(0.5, abs=4 * math.sqrt(variance / effective * 2))
    assert x.var() == pytest.approx(variance, rel=4 * math.sqrt(2 / effective))
    assert x.var() == pytest.approx(0.25 / 2, rel=0.05)  # sigma^2 / 2 theta
    d = x - x.mean()
    for lag in (1, 2, 3):
        found = (d[lag:] * d[:-lag]).mean() / x.var()
        assert found == pytest.approx((1 - h) ** (20 * lag), abs=0.015)
        assert found == pytest.approx(math.exp(-lag), abs=0.025)
    assert stats.kstest(x[::6].ravel(), "norm", (0.5, math.sqrt(variance))).pvalue > 0.01


def test_the_exponent_of_ornstein_uhlenbeck():
    """-theta: two paths under one noise come together at that rate, exactly ln(1 - theta h)/h for the scheme."""
    for h in (0.1, 0.05, 0.025):
        result = noisy_run(noisy_block(OU, ones(8, 2.0), 1, h=h, seed=1), 100, steps=4)
        estimate = lyapunov_max(result.growth[:, 0], float(result.interval[0]))
        assert estimate.value == pytest.approx(math.log(1 - h) / h, rel=1e-12)
        assert estimate.value == pytest.approx(-1.0, abs=0.6 * h)


# the exponent of geometric Brownian motion: mu - sigma^2/2 = -0.2, though the mean grows at mu = 0.3


def test_the_exponent_of_geometric_brownian_motion():
    result = noisy_run(noisy_block(GBM, ones(64), 1, h=0.01, seed=2), 200, steps=100)
    assert set(result.status) == {"ok"}
    spectrum = lyapunov_spectrum(result.growth, 1.0)
    assert abs(spectrum.value[0] + 0.2) < spectrum.evidence["error_999"][0] < 0.06
    assert spectrum.error[0] < 4 / math.sqrt(64 * 200)  # sigma/sqrt(T) per lane


@pytest.mark.parametrize("method", ["euler_maruyama", "milstein"])
def test_the_exponent_without_chance(method):
    """ln|v| - sigma W is (mu - sigma^2/2) T on every path; what is left of chance is the scheme's own error."""
    errors, total, steps = [], 20, 2560
    path = brownian_path(4, range(400), steps, 1, total / steps)[-1, 0]
    for fine in (8, 4, 2, 1):
        moving = noisy_block(GBM, ones(400), 1, h=total * fine / steps, seed=4, fine=fine, method=method)
        result = noisy_run(moving, 20, steps=steps // fine // 20)
        sign = np.sign(moving.states[0])
        assert np.allclose(np.log(moving.states[0] * sign) - result.growth.sum(axis=0)[0], 0, atol=1e-9)  # linear
        errors.append(np.mean(result.growth.sum(axis=0)[0] - path) / total + 0.2)
    assert abs(errors[-1]) < 0.02
    assert 1.4 < errors[-2] / errors[-1] < 2.8
    assert abs(errors[-1]) < abs(errors[0]) / 4


# ends, circles, refusals


def test_lanes_that_end_have_a_status_and_no_nan():
    """dx = x^2 dt + small noise from 1 is infinite near t = 1, dx = x dt + noise passes 1e4 boxes at 9.2."""
    both = sde(["a*x + b*x**2"], ["0.001"], parameters={"a": 0.0, "b": 0.0}, box={"x": [-1.0, 1.0]})
    parameters = np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 0.0]])
    moving = noisy_block(both, ones(3), 1, h=0.01, seed=1, parameters=parameters)
    result = noisy_run(moving, 200, steps=10)
    assert result.status[0] in ("escaped", "blew_up")
    assert result.status[1:] == ("escaped", "ok")
    assert 9 <= result.kept[0] <= 11
    assert 92 <= result.kept[1] <= 94
    assert result.kept[2] == 200
    assert np.isfinite(result.states).all()
    assert np.isfinite(result.growth).all()
    assert (result.growth[result.kept[1] :, 0, 1] == 0).all()
    assert (result.growth[: result.kept[1], 0, 1] != 0).all()
    alone = noisy_block(both, ones(1), 1, h=0.01, seed=1, parameters=parameters[:, 2:], lanes=[2])
    assert np.array_equal(noisy_run(alone, 200, steps=10).states[:, :, 0], result.states[:, :, 2])


def test_a_deviation_that_vanishes_is_said_to():
    """1 - theta h = 0: the step forgets where it came from, the exponent is minus infinity."""
    result = noisy_run(noisy_block(OU, ones(2), 1, h=1.0, seed=1), 64)
    assert np.isneginf(result.growth).all()
    assert lyapunov_max(result.growth[:, 0], 1.0).status == "diverged"
    assert set(result.status) == {"ok"}


def test_a_phase_stays_on_its_circle():
    turning = sde(["1"], ["1"], {"x": 0.0}, circle={"x": "2*pi"})
    x = noisy_run(noisy_block(turning, ones(200, 0.0), 1, h=0.1, seed=1), 300).states[:, 0]
    assert x.min() >= 0
    assert x.max() < 2 * math.pi
    w = brownian_path(1, range(200), 300, 1, 0.1)[:, 0] + 0.1 * np.arange(1, 301)[:, None]
    assert np.allclose(np.exp(1j * x), np.exp(1j * w), rtol=0, atol=1e-11)


def test_what_noise_refuses():
    crossed = sde(["0", "0"], ["y", "x"], {"x": 1.0, "y": 1.0})
    with pytest.raises(RowError, match="the noise of x depends on y; Milstein"):
        noisy_block(crossed, np.ones((2, 1)), h=0.1, seed=1)
    noisy_block(crossed, np.ones((2, 1)), h=0.1, seed=1, method="euler_maruyama").advance(1)
    with pytest.raises(RowError, match="the noise has 2 terms, the state has 1 variables"):
        sde(["-x"], ["1", "1"])
    with pytest.raises(RowError, match="the key 'noise' is missing"):
        noisy_system("a", {"kind": "sde", "state": {"x": 1.0}, "rule": ["-x"]})
    with pytest.raises(RowError, match="a row with noise has kind 'sde'"):
        noisy_system("a", {"kind": "ode", "state": {"x": 1.0}, "rule": ["-x"], "noise": ["1"]})
    with pytest.raises(RowError, match="the name 'z' is not defined"):
        sde(["-x"], ["z"])
    with pytest.raises(RowError, match="has no finite value at the start"):
        sde(["-x"], ["1/(x - 1)"])
    for change, message in (
        ({"k": 2}, "2 deviations asked for"),
        ({"h": 0.0}, "a step must be a time above 0"),
        ({"seed": -1}, "the seed is -1"),
        ({"fine": 0}, "an increment of 0 deviates"),
        ({"lanes": [0]}, "1 numbers for 2 lanes"),
        ({"lanes": [-1, 0]}, "lanes must be a list of whole numbers"),
        ({"lanes": [0.5, 1.0]}, "lanes must be a list of whole numbers"),
        ({"parameters": np.ones((2, 2))}, "a block needs parameters"),
        ({"method": "heun"}, "the method 'heun' is not known; known are euler_maruyama, milstein, iterate"),
    ):
        with pytest.raises(ValueError, match=message):
            noisy_block(OU, ones(2), **{"h": 0.1, "seed": 1, **change})
    with pytest.raises(ValueError, match="a block needs states"):
        noisy_block(OU, np.ones((2, 2)), h=0.1, seed=1)
