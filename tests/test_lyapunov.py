import math
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.block import block, run
from dynamics.codegen import LANES
from dynamics.registry import system
from dynamics.system import system_from_row
from indicators.dimension import kaplan_yorke_dimension
from indicators.lyapunov import lyapunov_max, lyapunov_spectrum
from labeling.gathering import gathered, reference_start
from labeling.settings import Settings

REFERENCE = tomllib.loads((Path(__file__).parent / "reference" / "exponents.toml").read_text())["exponent"]
SLOW = ("chua_circuit", "damped_driven_pendulum_nonchaotic", "fitzhugh_nagumo", "hindmarsh_rose", "lorenz84",
        "rikitake_dynamo")  # fmt: skip
LONGER = {"lorenz84": 16}
GOLDEN = math.log((3 + math.sqrt(5)) / 2)

SCALED_MAP = system_from_row("scaled_map", {
    "kind": "map", "state": {"x": 0.0, "y": 0.0, "z": 0.0}, "parameters": {"p": 1.0, "q": 1.0, "r": 1.0},
    "rule": ["p*x", "q*y", "r*z"],
})  # fmt: skip
SCALED_FLOW = system_from_row("scaled_flow", {
    "kind": "ode", "state": {"x": 0.0, "y": 0.0}, "parameters": {"p": 1.0, "q": 1.0}, "rule": ["p*x", "q*y"],
})  # fmt: skip
SHEARED = system_from_row("sheared", {"kind": "ode", "state": {"x": 1.0, "y": 0.5}, "rule": ["y", "-y"]})
CAT = system_from_row("cat", {
    "kind": "map", "state": {"x": 0.1, "y": 0.3}, "rule": ["x + y", "x + 2*y"], "circle": {"x": 1, "y": 1},
})  # fmt: skip
DUFFING = system_from_row("duffing", {
    "kind": "ode", "state": {"x": 0.1, "v": 0.25}, "parameters": {"d": 0.2, "g": 0.3},
    "rule": ["v", "x - x**3 - d*v + g*cos(t)"],
})  # fmt: skip


def everywhere(*values):
    return np.repeat(np.array(values, dtype=float)[:, None], LANES, axis=1)


def values(s, **changed):
    return everywhere(*(s.parameters | changed).values()).reshape(-1, LANES)


def orbit(s, states, parameters, records, *, h=1.0, steps=1, drop=0, seed=0, k=None, renormalisations=1):
    """A run of all lanes after `drop` records, and the interval of a record."""
    moving = block(s, states, parameters, s.dimension if k is None else k, h=h, seed=seed)
    if drop:
        run(moving, drop, steps=steps, renormalisations=renormalisations)
    result = run(moving, records, steps=steps, renormalisations=renormalisations)
    return result, float(result.interval[0])


def spectrum(s, states, parameters, records, **settings):
    result, interval = orbit(s, states, parameters, records, **settings)
    return lyapunov_spectrum(result.growth, interval)


@cache
def evidence(system_id):
    """What a label rests on, at four times the settings' lengths, or more where the average converges slowly."""
    chosen = Settings()
    return gathered(reference_start(system(system_id), chosen, LONGER.get(system_id, 4)), chosen)[0]


# --- Reference values


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=row["id"], marks=[pytest.mark.slow] if row["system"] in SLOW else []) for row in REFERENCE],
)
def test_reference_values(row):
    """LYA-01, LYA-08: within 1 % of the reference and inside the interval; zeros below 1e-3 of the largest."""
    estimate = evidence(row["system"]).spectrum
    largest = max(abs(v) for v in estimate.value)
    assert estimate.status == "ok"
    assert max(estimate.error) <= 0.02 * largest
    if row["quantity"] == "sum":
        assert sum(estimate.value) == pytest.approx(row["value"], rel=1e-9)
        return
    i = int(row["quantity"][-1]) - 1
    value, error = estimate.value[i], estimate.error[i]
    assert abs(value - row["value"]) <= (0.01 * abs(row["value"]) or 1e-3 * largest)
    assert abs(value - row["value"]) <= error + 2 * row["uncertainty"] + 1e-12


def test_the_reference_covers_these_systems():
    expected = {
        "logistic_r2_8", "logistic_r4", "henon", "lorenz63", "rossler", "vdp", "damped_oscillator", "arnold_cat_map",
        "bakers_map", "chen_system", *SLOW,
    }  # fmt: skip
    assert {row["system"] for row in REFERENCE} == expected


def test_sums_of_exact_rows():
    """LYA-01: Lorenz -41/3 to 1e-6 relative; Henon ln 0.3 to 1e-12."""
    assert sum(evidence("lorenz63").spectrum.value) == pytest.approx(-41 / 3, rel=1e-6)
    assert sum(evidence("henon").spectrum.value) == pytest.approx(math.log(0.3), rel=1e-12)


def test_kaplan_yorke_of_reference_rows():
    """LYA-01: Lorenz 2.062 (Sprott 2003, App. A); Henon 1.258 (Kaplan & Yorke's formula at 0.41922, -1.62319)."""
    assert evidence("lorenz63").kaplan_yorke.number == pytest.approx(2.062, abs=1e-3)
    assert evidence("henon").kaplan_yorke.number == pytest.approx(1.258, abs=1e-3)
    assert evidence("logistic_r2_8").kaplan_yorke.number == 0.0
    assert evidence("damped_oscillator").kaplan_yorke.number == 0.0
    assert evidence("vdp").kaplan_yorke.number == 1.0


def test_lorenz_with_wolfs_parameters_in_nats():
    """LYA-11: (16, 45.92, 4) has 1.500 nats per time, 2.164 bits; not the 0.906 of (10, 28, 8/3)."""
    s = system("lorenz63")
    starts = everywhere(1, 1, 1) + np.random.default_rng(0).standard_normal((3, LANES))
    found = spectrum(s, starts, values(s, sigma=16, rho=45.92, beta=4), 10_000, h=0.002, steps=25, drop=200)
    assert found.value[0] == pytest.approx(1.5, abs=0.006)
    assert found.value[0] / math.log(2) == pytest.approx(2.164, abs=0.009)
    assert abs(found.value[1]) < 1e-3 * abs(found.value[2])
    assert sum(found.value) == pytest.approx(-21, rel=1e-9)


def test_lorenz_from_another_start():
    """LYA-16: from (3, 1, 1), state and deviations by the same method."""
    s = system("lorenz63")
    starts = everywhere(3, 1, 1) + 1e-3 * np.random.default_rng(1).standard_normal((3, LANES))
    found = spectrum(s, starts, values(s), 10_000, h=0.005, steps=10, drop=2_000)
    assert found.value == pytest.approx([0.9056, 0, -14.5723], abs=0.01)


def test_duffing_flow_and_map():
    """LYA-05: 0.157 +- 0.002 per time (one run: 0.1589), the second the rest of -0.2; per period 2 pi times as much."""
    n = 50
    starts = everywhere(0.1, 0.25) + 1e-3 * np.random.default_rng(2).standard_normal((2, LANES))
    result, interval = orbit(
        DUFFING, starts, values(DUFFING), 1_500, h=2 * math.pi / n, steps=10, renormalisations=5, drop=100
    )
    assert interval == pytest.approx(2 * math.pi)
    flow = lyapunov_spectrum(result.growth, interval)
    each_period = lyapunov_spectrum(result.growth, 1.0)
    assert flow.value[0] == pytest.approx(0.157, abs=0.004)
    assert abs(flow.value[0] - 0.157) <= flow.error[0] + 0.0007
    assert sum(flow.value) == pytest.approx(-0.2, abs=1e-5)
    assert each_period.value[0] == pytest.approx(2 * math.pi * flow.value[0], rel=1e-12)
    assert each_period.value[0] == pytest.approx(0.998, abs=0.03)


# --- Exact systems


@given(
    st.lists(st.floats(0.05, 3.0), min_size=3, max_size=3), st.lists(st.sampled_from([-1, 1]), min_size=3, max_size=3)
)
@settings(max_examples=25, deadline=None)
def test_linear_maps_have_the_logarithms_of_their_factors(size, sign):
    p = np.array(size) * sign
    found = spectrum(SCALED_MAP, everywhere(0, 0, 0), everywhere(*p), 2_000, drop=200)
    expected = sorted(np.log(size), reverse=True)
    assert found.value == pytest.approx(expected, abs=5e-3)  # equal factors align like 1/n
    assert sum(found.value) == pytest.approx(sum(expected), abs=1e-10)


def test_separated_linear_maps_are_exact():
    found = spectrum(SCALED_MAP, everywhere(0, 0, 0), everywhere(-0.3, 2.0, 0.7), 500, drop=500)
    assert found.value == pytest.approx(np.log([2.0, 0.7, 0.3]), abs=1e-12)
    assert max(found.error) < 1e-12
    assert found.status == "ok"


@given(st.floats(-2.0, 1.0), st.floats(0.1, 3.0))
@settings(max_examples=25, deadline=None)
def test_linear_flows_have_their_rates(p, gap):
    found = spectrum(SCALED_FLOW, everywhere(0, 0), everywhere(p, p - gap), 400, h=0.02, steps=10, drop=1_000)
    assert found.value == pytest.approx([p, p - gap], abs=1e-8)  # DP5 at h lambda = 0.1 errs by 1e-9


@pytest.mark.parametrize("duration", [100, 10_000])
def test_a_contracting_flow_reads_minus_one_for_any_length(duration):
    """LYA-02: x' = -x twice, from (0.5, 0.5): no floor, no zero, however long."""
    found = spectrum(SCALED_FLOW, everywhere(0.5, 0.5), everywhere(-1, -1), duration, h=0.05, steps=20)
    assert found.value == pytest.approx([-1, -1], abs=1e-6)


def test_a_slow_growth_is_measured_and_not_zero():
    """LYA-04: x' = 0.01 x over T = 100."""
    found = spectrum(SCALED_FLOW, everywhere(1, 1), everywhere(0.01, 0.01), 100, h=0.1, steps=10)
    assert found.value == pytest.approx([0.01, 0.01], rel=1e-9)
    assert 0.0 not in found.value


def test_a_matrix_that_is_not_symmetric():
    """LYA-16: x' = [[0, 1], [0, -1]] x has the eigenvalues 0 and -1."""
    found = spectrum(SHEARED, everywhere(1, 0.5), values(SHEARED), 2_000, h=0.05, steps=10, drop=200)
    assert found.value == pytest.approx([0, -1], abs=1e-9)


def test_an_invariant_subspace_does_not_hide_the_largest():
    """LYA-07: time as a third variable, whose exponent 0 the frame of unit vectors would put last."""
    s = system_from_row("clocked", {"kind": "ode", "state": {"x": 0.1, "y": 0.2, "tau": 0.0},
                                    "rule": ["-x + cos(tau)", "-3*y + x", "1"]})  # fmt: skip
    found = spectrum(s, everywhere(0.1, 0.2, 0.0), values(s), 1_000, h=0.05, steps=10, drop=200)
    for value, error, exact in zip(found.value, found.error, [0, -1, -3], strict=True):
        assert abs(value - exact) <= error < 1e-3  # the forcing makes ln|w| wobble


@pytest.mark.parametrize("start", [(0, 0, 0), (0, 0, 10)])
def test_exponents_at_the_origin_of_lorenz_come_sorted(start):
    """LYA-07, LYA-14: the eigenvalues 11.82772, -2.66667, -22.82772."""
    s = system("lorenz63")
    found = spectrum(s, everywhere(*start), values(s), 200, h=0.005, steps=10, drop=200)
    assert found.value == pytest.approx([11.82772, -2.66667, -22.82772], abs=6e-6)


def test_cat_map():
    """ln((3 + sqrt 5)/2) both ways (area-preserving): dimension 2."""
    starts = np.random.default_rng(3).uniform(0, 1, (2, LANES))
    found = spectrum(CAT, starts, values(CAT), 500, drop=100)
    assert found.value == pytest.approx([GOLDEN, -GOLDEN], rel=1e-12)
    assert kaplan_yorke_dimension(found).number == 2.0


@pytest.mark.parametrize(("r", "exponent"), [
    (2.8, math.log(abs(2 - 2.8))), (2.5, -math.log(2)), (3.2, 0.5 * math.log(0.16)),
    (3.4, 0.5 * math.log(abs(4 + 6.8 - 3.4**2))),
])  # fmt: skip
def test_logistic_cycles(r, exponent):
    """ln|2 - r| at the fixed point, (1/2) ln|4 + 2 r - r^2| on the 2-cycle."""
    s = system("logistic_r4")
    starts = np.random.default_rng(4).uniform(0.1, 0.9, (1, LANES))
    found = spectrum(s, starts, everywhere(r), 500, drop=2_000)
    assert found.value == pytest.approx([exponent], abs=1e-12)
    assert kaplan_yorke_dimension(found).number == 0.0


def test_logistic_four_to_four_digits():
    """ln 2, by the conjugacy of Ulam & von Neumann 1947."""
    found = evidence("logistic_r4").largest
    assert found.number == pytest.approx(math.log(2), abs=5e-5)
    assert abs(found.number - math.log(2)) <= found.error


def test_volume_preserving_map_sums_to_zero():
    s = system("standard_map")
    starts = np.random.default_rng(5).uniform(0, 2 * math.pi, (2, LANES))
    for k in (0.3, 1.5, 5.0):
        found = spectrum(s, starts, everywhere(k), 2_000, drop=100)
        assert sum(found.value) == pytest.approx(0, abs=1e-9)
    assert kaplan_yorke_dimension(found).number == 2.0


@pytest.mark.parametrize("system_id", ["vdp", "rossler"])
def test_sum_is_the_mean_divergence(system_id):
    s = system(system_id)
    starts = everywhere(*s.state.values()) + 0.1 * np.random.default_rng(6).standard_normal((s.dimension, LANES))
    result, interval = orbit(s, starts, values(s), 500, h=0.01, steps=20, drop=500)
    for i in range(LANES):
        found = lyapunov_spectrum(result.growth[:, :, i], interval)
        assert sum(found.value) == pytest.approx(result.divergence[i], rel=1e-7)


# --- Intervals


def test_zero_of_the_van_der_pol_cycle_is_inside_the_interval():
    """From at least 19 of 20 random starts, each judged alone."""
    s = system("vdp")
    inside, halves = 0, []
    for seed in (0, 1):
        starts = np.random.default_rng(seed).uniform(-3, 3, (2, LANES))
        result, interval = orbit(s, starts, values(s), 4_000, h=0.02, steps=16, drop=200, seed=seed)
        for i in range(10):
            found = lyapunov_max(result.growth[:, 0, i], interval)
            inside += abs(found.number) <= found.error
            halves.append(found.error)
    assert inside >= 19
    assert max(halves) < 2e-3


def test_henon_intervals_cover_the_truth():
    """0.4192288 +- 4e-5 lies in the 95 % interval of at least 27 of 32 orbits judged alone (30.4 expected)."""
    s = system("henon")
    inside = 0
    for seed in (0, 1):
        starts = np.random.default_rng(seed).uniform(-0.1, 0.1, (2, LANES))
        result, interval = orbit(s, starts, values(s), 4_000, drop=100)
        for i in range(LANES):
            found = lyapunov_spectrum(result.growth[:, :, i], interval)
            inside += abs(found.value[0] - 0.4192288) <= found.error[0]
            assert found.evidence["error_999"][0] >= found.error[0]
    assert inside >= 27


def test_too_short_a_run_has_an_interval_that_says_so():
    """LYA-10: Rossler at c = 1.1, a cycle, from (-1, 0, 0): +0.03 at T = 40 is no chaos; it falls like 1/T."""
    s = system("rossler")
    found = {}
    for duration in (40, 200, 2_000):
        estimates = []
        for seed in range(4):
            result, interval = orbit(
                s, everywhere(-1, 0, 0), values(s, c=1.1), 10 * duration, h=0.01, steps=10, k=1, seed=seed
            )
            estimates.append(lyapunov_max(result.growth[:, 0, 0], interval))
        assert all(abs(e.number) <= e.error for e in estimates)
        found[duration] = estimates
    assert all(e.number * 40 < 3 for e in found[40])
    assert all(abs(e.number) < 2e-3 for e in found[2_000])
    assert max(e.error for e in found[2_000]) < 0.2 * min(e.error for e in found[40])


@pytest.mark.parametrize("system_id", ["henon", "lorenz63"])
def test_initial_deviations_do_not_matter(system_id):
    """Seeds of the frame, and a frame whose columns are permuted, leave every exponent within the errors."""
    s = system(system_id)
    flow = s.kind == "ode"
    h, steps, records = (0.01, 10, 5_000) if flow else (1.0, 1, 5_000)
    starts = everywhere(*s.state.values()) + 1e-2 * np.random.default_rng(7).standard_normal((s.dimension, LANES))
    found = []
    for seed, order in [(0, 1), (0, -1), (1, 1), (2, 1)]:
        moving = block(s, starts, values(s), s.dimension, h=h, seed=seed)
        moving.deviations[:] = moving.deviations[:, ::order].copy()
        result = run(moving, records, steps=steps)
        found.append(lyapunov_spectrum(result.growth, float(result.interval[0])))
    for other in found[1:]:
        for a, b, e, f in zip(found[0].value, other.value, found[0].error, other.error, strict=True):
            assert abs(a - b) <= math.hypot(e, f)
    assert found[0].value != found[2].value  # the frames were different


def test_superstable_orbits_diverge():
    """Logistic r = 2 at x = 1/2: the derivative is 0, the exponent minus infinity, and there is no value."""
    s = system("logistic_r4")
    result, _ = orbit(s, everywhere(0.5), everywhere(2.0), 100)
    assert np.isneginf(result.growth).all()
    for found in (lyapunov_spectrum(result.growth, 1.0), lyapunov_max(result.growth[:, 0], 1.0)):
        assert found.value is None
        assert found.error is None
        assert found.status == "diverged"
        assert "superstable" in found.evidence["reason"]
        assert kaplan_yorke_dimension(found).status == "undefined"
    cycle, _ = orbit(s, everywhere(0.5), everywhere(1 + math.sqrt(5)), 100)
    assert lyapunov_spectrum(cycle.growth, 1.0).status == "diverged"
