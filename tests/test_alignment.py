import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tangents import HENON_HEILES, begun, everywhere, indices, passed

from dynamics.codegen import LANES
from dynamics.registry import system
from dynamics.system import system_from_row
from dynamics.tangent_run import tangent_run
from indicators.alignment import fli, gali, sali
from indicators.lyapunov import lyapunov_spectrum


def linear(*rule):
    return system_from_row("linear", {"kind": "map", "state": {"x": 0.0, "y": 0.0}, "rule": list(rule)})


# --- Closed forms


def test_saddle_falls_like_the_difference_of_its_exponents():
    """diag(3, 1/2): |w_1 ^ w_2| = (3/2)^n, so GALI_2 ~ exp(-(ln 3 + ln 2) n): 10^-1556 after 2000 iterates."""
    s, n = linear("3*x", "y/2"), 2_000
    made, interval = passed(s, (0, 0), n)
    v = begun(s, (0, 0)).deviations[:, :, 0]
    lengths = [n * math.log(3) + math.log(abs(v[0, j])) for j in range(2)]  # the other component is 10^-1556 of it
    assert made.lengths[-1, :, 0] == pytest.approx(lengths, rel=1e-12)
    largest, small, (volume,) = indices(made, interval)
    expected = n * math.log(1.5) - sum(lengths)
    assert volume.number == pytest.approx(expected, rel=1e-12)
    assert small.number == pytest.approx(expected, rel=1e-12)  # sin a = 2 sin(a/2) so far down
    assert largest.number == pytest.approx(max(lengths), rel=1e-12)
    assert (volume.status, volume.evidence["decay"], largest.evidence["growth"]) == ("ok", "exponential", "exponential")
    assert volume.evidence["rate"] == pytest.approx(math.log(6), rel=1e-9)
    assert volume.evidence["expected_rate"] == pytest.approx(math.log(6), rel=1e-9)
    assert volume.evidence["floor"] is None
    assert volume.number < math.log(5e-324)


def test_rotation_keeps_its_angles():
    c, s = repr(math.cos(1.0)), repr(math.sin(1.0))
    made, interval = passed(linear(f"{c}*x - {s}*y", f"{s}*x + {c}*y"), (0, 0), 2_000)
    largest, small, (volume,) = indices(made, interval)
    assert abs(volume.number) < 1e-12
    assert small.number == pytest.approx(math.log(math.sqrt(2)), abs=1e-6)
    assert 0.0 <= largest.number < 1e-12
    assert volume.evidence["decay"] == small.evidence["decay"] == largest.evidence["growth"] == "none"
    assert volume.status == "ok"


def test_shear():
    """(x + y, y): |w_1 ^ w_2| stays, and |w| ~ n unless w lies along x: t^-2 for two vectors of any direction, t^-1
    where the first lies along x, whose length stays. Then w_2 = (n, 1) and GALI_2 = 1/sqrt(1 + n^2)."""
    s, n = linear("x + y", "y"), 4_000
    made, interval = passed(s, (0, 0), n)
    v = begun(s, (0, 0)).deviations[:, :, 0]
    expected = -0.5 * np.log((v[0] + n * v[1]) ** 2 + v[1] ** 2).sum()
    largest, _, (generic,) = indices(made, interval)
    assert generic.number == pytest.approx(expected, rel=1e-9)
    assert generic.evidence["decay"] == largest.evidence["growth"] == "power"
    assert generic.evidence["power"] == pytest.approx(2.0, abs=0.02)
    assert largest.evidence["power"] == pytest.approx(1.0, abs=0.01)
    moving = begun(s, (0, 0))
    moving.deviations[:] = np.eye(2)[:, :, None]
    _, small, (along,) = indices(tangent_run(moving, n), 1.0)
    assert along.number == pytest.approx(-0.5 * math.log(1 + n**2), rel=1e-12)
    assert along.evidence["power"] == pytest.approx(1.0, abs=1e-3)
    assert small.evidence["decay"] == along.evidence["decay"] == "power"


@given(st.floats(1e-9, math.pi / 2))
def test_sali_of_an_angle(angle):
    """|u - v| = 2 sin(a/2) from two unit vectors at the angle a, against the formula from GALI_2."""
    lengths = np.zeros((128, 2))
    growth = np.zeros((128, 2))
    growth[0, 1] = math.log(math.sin(angle))
    assert sali(lengths, growth, 1.0).number == pytest.approx(math.log(2 * math.sin(angle / 2)), abs=1e-7)
    assert gali(lengths, growth, 1.0, 2).number == pytest.approx(math.log(math.sin(angle)), abs=1e-12)


# --- Regular and chaotic orbits


@pytest.mark.parametrize("seed", [0, 1])
def test_standard_map(seed):
    """A torus at K = 0.3: GALI_2 ~ n^-2, as 2(k - N) for N = 1. The sea at K = 6: 2 lambda n, lambda near ln 3."""
    made, interval = passed(system("standard_map"), (1, 1), 20_000, seed=seed, K=0.3)
    largest, small, (volume,) = indices(made, interval)
    assert volume.evidence["decay"] == small.evidence["decay"] == largest.evidence["growth"] == "power"
    assert volume.evidence["power"] == pytest.approx(2.0, abs=0.1)
    assert largest.evidence["power"] == pytest.approx(1.0, abs=0.05)
    made, interval = passed(system("standard_map"), (1, 1), 5_000, seed=seed, K=6.0)
    largest, _, (volume,) = indices(made, interval)
    assert volume.evidence["decay"] == largest.evidence["growth"] == "exponential"
    assert volume.evidence["rate"] == pytest.approx(2 * math.log(3), rel=0.1)
    assert largest.number == pytest.approx(5_000 * math.log(3), rel=0.1)


def skokos(y):
    """On the energy surface H = 0.125 at x = p_y = 0, as in Skokos, Bountis & Antonopoulos 2007, section 4."""
    return (0.0, y, math.sqrt(2 * 0.125 - y**2 + 2 * y**3 / 3), 0.0)


@pytest.mark.parametrize("seed", [0, 3])
def test_regular_orbit_of_henon_heiles(seed):
    """y = 0.55, a torus of dimension 2 at N = 2: GALI_2 stays, GALI_3 ~ t^-2, GALI_4 ~ t^-4."""
    made, interval = passed(HENON_HEILES, skokos(0.55), 10_000, h=0.05, steps=20, seed=seed)
    largest, small, many = indices(made, interval)
    assert [one.evidence["decay"] for one in many] == ["none", "power", "power"]
    assert [one.evidence["power"] for one in many] == pytest.approx([0.0, 2.0, 4.0], abs=0.15)
    assert (small.evidence["decay"], largest.evidence["growth"]) == ("none", "power")
    assert many[0].number > -3
    assert {one.status for one in [largest, small, *many]} == {"ok"}


def test_chaotic_orbit_of_henon_heiles():
    """y = -0.016, exponents (l, 0, 0, -l): rates l - 0 = l, 2l - 0 - 0 = 2l, and 3l + l = 4l; l = 0.047 there."""
    starts = everywhere(*skokos(-0.016)) + 1e-9 * np.arange(LANES)
    made, interval = passed(HENON_HEILES, starts, 10_000, h=0.05, steps=20)
    largest = lyapunov_spectrum(made.growth, interval).value[0]
    assert largest == pytest.approx(0.047, rel=0.1)
    for k, times in [(2, 1), (3, 2), (4, 4)]:
        pooled = gali(made.lengths, made.growth, interval, k)
        assert (pooled.evidence["decay"], pooled.status) == ("exponential", "ok")
        assert pooled.number == pytest.approx(-times * largest * 10_000, rel=0.03)
        assert pooled.evidence["rate"] == pytest.approx(pooled.evidence["expected_rate"], rel=0.05)
        assert 0 < pooled.error < 0.2 * abs(pooled.number)
    assert pooled.number < -1_500  # GALI_4 is 10^-700: no double holds it


def test_lorenz():
    """Rates from (0.9056, 0, -14.572): 0.906 for GALI_2, 0.906 + 15.478 for GALI_3; FLI ~ 0.906 t."""
    s = system("lorenz63")
    starts = everywhere(1, 1, 20) + 1e-3 * np.arange(LANES)
    made, interval = passed(s, starts, 8_000, h=0.005, steps=10)
    volumes = [gali(made.lengths, made.growth, interval, k) for k in (2, 3)]
    assert [v.evidence["rate"] for v in volumes] == pytest.approx([0.9056, 0.9056 + 15.478], rel=0.02)
    assert fli(made.lengths, interval).number == pytest.approx(0.9056 * 400, rel=0.05)
    assert sali(made.lengths, made.growth, interval).number == pytest.approx(volumes[0].number, abs=1e-2)


def test_attracting_cycle_falls_exponentially_while_fli_stays():
    """van der Pol, exponents (0, l): alignment alone is not chaos; growth is."""
    made, interval = passed(system("vdp"), (1, 0), 2_000, h=0.02, steps=10)
    largest, small, (volume,) = indices(made, interval)
    assert volume.evidence["decay"] == small.evidence["decay"] == "exponential"
    assert volume.evidence["rate"] == pytest.approx(1.0594, rel=0.01)  # the second exponent of the reference rows
    assert largest.evidence["growth"] == "none"


@given(
    st.sampled_from(["standard_map", "henon", "lorenz63", "dysts_henonheiles"]), st.integers(0, 1_000),
    st.integers(1, 12), st.integers(1, 12),
)  # fmt: skip
@settings(max_examples=20)
def test_indices_keep_their_bounds_and_do_not_depend_on_the_gram_schmidts(system_id, seed, one, other):
    s = system(system_id)
    rng = np.random.default_rng(seed)
    starts = everywhere(*s.state.values()) * (1 + 0.02 * rng.standard_normal((s.dimension, LANES)))
    h = 0.01 if s.kind == "ode" else 1.0
    found = []
    for between in (one, other):
        moving = begun(s, starts, h=h, seed=seed)
        made = tangent_run(moving, 150, steps=12, between=between)
        lane = made.status.index("ok")
        _, small, many = indices(made, float(made.interval[0]), lane)
        values = [0.0, *(v.number for v in many)]
        assert all(later <= before for before, later in pairwise(values))
        assert many[0].number <= small.number <= 0.5 * math.log(2) + 1e-15
        assert small.number <= many[0].number + 0.5 * math.log(2) + 1e-15
        found.append(([*values, small.number, *made.lengths[-1, :, lane]], made.loss[lane] * made.growth.size))
    error = max(1e-9, 2.3e-16 * max(loss for _, loss in found))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-9, abs=error)


# --- Estimates


def test_lanes_are_averaged_with_students_interval():
    rng = np.random.default_rng(1)
    lengths = np.cumsum(np.abs(rng.standard_normal((200, 3, 4))), axis=0)
    growth = np.diff(lengths, axis=0, prepend=0.0) - np.abs(rng.standard_normal((200, 3, 4)))
    together = gali(lengths, growth, 0.5, 3, rounding=0.25)
    each = np.array([gali(lengths[:, :, i], growth[:, :, i], 0.5, 3).number for i in range(4)])
    assert together.number == pytest.approx(each.mean(), rel=1e-12)
    assert together.error == pytest.approx(3.1824463 * each.std(ddof=1) / 2 + 0.25, rel=1e-7)  # t(0.975; 3)
    assert (together.evidence["lanes"], together.evidence["T"], together.evidence["rounding"]) == (4, 100.0, 0.25)
    assert fli(lengths[:, 0, 0], 0.5).number == pytest.approx(lengths[-1, 0, 0])


def test_laws_are_fitted_evenly_in_ln_t():
    """Against numpy's weighted fit over the last 5 octaves; the rate over the second half has no weights."""
    n, interval = 640, 0.25
    t = np.arange(1, n + 1) * interval
    index = -np.sqrt(t) - 0.3 * np.sin(t) ** 2
    growth = np.zeros((n, 2))
    growth[:, 1] = np.diff(index, prepend=0.0)
    found = gali(np.zeros((n, 2)), growth, interval, 2).evidence
    late = t > t[-1] / 32
    power, level = np.polyfit(np.log(t[late]), index[late], 1, w=t[late] ** -0.5)
    rest = index[late] - level - power * np.log(t[late])
    assert found["power"] == pytest.approx(-power, rel=1e-9)
    assert found["residuals"]["power"] == pytest.approx(math.sqrt(np.average(rest**2, weights=1 / t[late])), rel=1e-9)
    assert found["rate"] == pytest.approx(-np.polyfit(t[n // 2 :], index[n // 2 :], 1)[0], rel=1e-9)
    assert found["expected_rate"] == pytest.approx(-(index[-1] - index[n // 2 - 1]) / (n / 2 * interval), rel=1e-9)


def test_fli_remembers_the_highest_point():
    curve = np.concatenate([np.linspace(0, 7, 100), np.linspace(7, -20, 100)])
    assert fli(curve, 1.0).number == 7.0
    assert fli(-np.abs(curve), 1.0).number == 0.0  # the start


def test_what_no_power_is_steep_enough_for_is_exponential():
    """Lingering chaos, ln GALI_2 = -t^2/T: neither law fits; two vectors of two align like t^-2 at most."""
    n = 2_000
    for size, status in [(300.0, "ok"), (6.0, "not_converged")]:
        growth = np.zeros((n, 2))
        growth[:, 1] = np.diff(-size * (np.arange(1, n + 1) / n) ** 2, prepend=0.0)
        found = gali(np.zeros((n, 2)), growth, 1.0, 2)
        assert (found.evidence["decay"], found.status) == ("exponential", status)
        assert found.evidence["steepest_power"] == 2
    steep = np.zeros((n, 2))
    steep[:, 1] = np.diff(-300.0 * np.log(np.arange(1, n + 2)))  # the power law fits best, and none is so steep
    found = gali(np.zeros((n, 2)), steep, 1.0, 2)
    assert found.evidence["residuals"]["power"] < found.evidence["residuals"]["exponential"]
    assert found.evidence["decay"] == "exponential"


def test_a_late_change_of_law_is_not_converged():
    """Regular, then chaotic: the first half has another law than the whole."""
    n = 1_000
    index = np.where(np.arange(n) < n / 2, 0.0, -(np.arange(n) - n / 2))
    growth = np.zeros((n, 2))
    growth[:, 1] = np.diff(index, prepend=0.0)
    found = gali(np.zeros((n, 2)), growth, 1.0, 2)
    assert (found.status, found.evidence["first_half"], found.evidence["decay"]) == (
        "not_converged", "none", "exponential",
    )  # fmt: skip


def test_a_vanished_deviation_has_no_alignment():
    """The Henon map at b = 0 has rank 1 everywhere: GALI_2 is 0 after one iterate, and FLI goes on."""
    made, interval = passed(system("henon"), (0.1, 0.1), 200, b=0.0)
    largest, small, (volume,) = indices(made, interval)
    assert (small.status, volume.status) == ("diverged", "diverged")
    assert largest.number == pytest.approx(made.lengths.max(), rel=1e-12)
    assert "GALI_2 is 0" in volume.evidence["reason"]
    assert np.isfinite(made.lengths[:, 0]).all()
    assert np.isfinite(made.loss).all()


ONES = np.zeros((200, 2))


@pytest.mark.parametrize(("lengths", "growth", "interval", "k", "part"), [
    (ONES[:127], ONES[:127], 1.0, 2, "n >= 128"),
    (ONES, ONES[:, :1], 1.0, 2, "one shape"),
    (ONES[:, 0], ONES[:, 0], 1.0, 2, "n, m"),
    (ONES, ONES, 1.0, 1, "k = 1"),
    (ONES, ONES, 1.0, 3, "k = 3"),
    (ONES, ONES, 0.0, 2, "the interval is 0.0"),
    (ONES * math.nan, ONES, 1.0, 2, "lengths holds NaN"),
    (ONES, ONES + math.inf, 1.0, 2, "growth holds NaN"),
    (ONES * 1j, ONES, 1.0, 2, "complex"),
    (ONES, ONES + 0.1, 1.0, 2, "not of one run"),
])  # fmt: skip
def test_refused_input(lengths, growth, interval, k, part):
    with pytest.raises(ValueError, match=part):
        gali(lengths, growth, interval, k)
    if k == 2:
        with pytest.raises(ValueError, match=part):
            sali(lengths, growth, interval)


def test_fli_refuses_too_few():
    for lengths in (np.zeros(127), np.zeros((200, 0)), np.zeros((200, 1, 1, 1)), 1.0):
        with pytest.raises(ValueError, match="n >= 128"):
            fli(lengths, 1.0)
