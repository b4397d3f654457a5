"""Sweeps over a parameter that misled other tools: the SWP cases, on grids, onsets, hysteresis, transients and cycles.

The figures are those of the cases; where one is closed, or was computed here by other means, the test says how.
"""

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

from bench.instances import instances
from bench.release import flat, public
from dynamics.block import block, run
from dynamics.codegen import LANES
from dynamics.cycles import flow_cycle
from dynamics.registry import system
from dynamics.system import Sweep, System, system_from_row
from labeling.points import Point, judged_points, judged_reference, judged_versions, label
from labeling.settings import Settings
from labeling.sweeps import swept
from labeling.thresholds import threshold_row
from labeling.workers import Workers

ONE_LOOK = Settings(escalations=0)
ONSET = 3.5699456718709449  # OEIS A098587
FLIPS = (3.0, 1 + 6**0.5, 3.5440903595519228, 3.5644072660954326)  # of the logistic map, by 40-digit Newton
HARDENING = system_from_row(
    "hardening",
    {
        "kind": "ode", "state": {"x": 0.0, "v": 0.0}, "parameters": {"w": 1.8},
        "rule": ["v", "-0.1*v - x - x**3 + 0.5*cos(w*t)"], "box": {"x": [-3.0, 3.0], "v": [-4.0, 4.0]},
    },
)  # fmt: skip
PREY = system_from_row(
    "prey",  # Rosenzweig & MacArthur 1963, Am. Nat. 97:209, at the values of JuliaDynamics/ChaosTools.jl issue 258
    {
        "kind": "ode", "state": {"N": 0.03, "P": 0.5},
        "rule": ["0.8*N*(1 - N/15) - 2.5*N*P/(N + 1)", "1.25*N*P/(N + 1) - 0.4*P"],
        "box": {"N": [0.01, 18.0], "P": [0.01, 18.0]},
    },
)  # fmt: skip


def judged(chosen: System, parameter: str, values: list[float], settings: Settings | None = None) -> list[Point]:
    return judged_points(chosen, [{parameter: v} for v in values], settings or Settings(), Workers())


def early_exponents(chosen: System, starts: list[list[float]], duration: float, h: float) -> list[float]:
    """What a run from the start reads as its largest exponent, with no transient dropped."""
    padded = np.resize(np.array(starts), (math.ceil(len(starts) / LANES) * LANES, chosen.dimension))
    parameters = np.repeat(np.array([*chosen.parameters.values()])[:, None], LANES, axis=1)
    found: list[float] = []
    for part in np.split(padded, len(padded) // LANES):
        moving = block(chosen, part.T.copy(), parameters, 1, h=h)
        growth = run(moving, 1, steps=10, renormalisations=round(duration / h / 10)).growth
        found += (growth[0, 0] / duration).tolist()
    return found[: len(starts)]


def exponents_of(point: Point) -> list[float]:
    """The exponents of a cycle beside its 0, largest first, from its multipliers and period."""
    cycle = point.verdict.cycle
    assert cycle is not None
    return sorted(np.log(np.abs(cycle.multipliers)) / cycle.period, reverse=True)


@pytest.mark.parametrize(
    ("lo", "step", "points", "too_many"),
    [("3.5", "0.01", 10, 11), ("1.0", "0.1", 3, 4), ("60", "0.04", 751, 752)],
)
def test_swp_01_a_grid_has_no_point_more_than_was_asked_for(lo: str, step: str, points: int, too_many: int) -> None:
    """np.arange to an end that is left out takes it in, by rounding."""
    assert len(np.arange(float(lo), float(Fraction(lo) + points * Fraction(step)), float(step))) == too_many
    hi = Fraction(lo) + (points - 1) * Fraction(step)
    values = Sweep("r", float(lo), float(hi), points).values
    assert (len(values), values[0], values[-1]) == (points, float(lo), float(hi))
    exact = [float(Fraction(lo) + i * Fraction(step)) for i in range(points)]
    assert all(abs(a - b) <= math.ulp(b) for a, b in zip(values, exact, strict=True))


def test_swp_01_a_sweep_has_the_points_of_its_grid_in_order() -> None:
    """The eighth of 13 points from 3.4 to 4 is 3.75; np.arange(3.4, 4, 0.05) has 3.7499999999999987 there."""
    sweep = Sweep("r", 3.4, 4.0, 13)
    values = [p.row["params"]["r"] for p in swept(system("logistic_r4"), sweep, ONE_LOOK).points if p.row]
    assert values == sorted(values)
    grid = [value for value in values if value in sweep.values]  # between them lie points in windows
    assert grid == sweep.values
    assert (len(grid), grid[0], grid[7], grid[-1]) == (13, 3.4, 3.75, 4.0)


@pytest.mark.parametrize(("lo", "hi", "points"), [(3.4, 3.95, 56), (3.5, 3.7, 21), (3.4, 3.86, 24)])
def test_swp_02_the_onset_of_chaos_is_not_the_edge_of_a_window(lo: float, hi: float, points: int) -> None:
    """Bisection of the exponent's sign ends at 3.6064 or 3.6328, inside the chaotic range."""
    result = swept(system("logistic_r4"), Sweep("r", lo, hi, points), ONE_LOOK)
    chaos = [p.verdict.is_chaotic for p in result.points if p.verdict.regime != "undecided"]
    assert np.count_nonzero(np.diff(chaos)) >= 3  # there are windows on the grid
    (onset,) = [b for b in result.brackets if b.kind == "accumulation" and b.lo < 3.6]
    assert 3.56992 <= onset.lo <= ONSET <= onset.hi <= 3.57002
    assert (onset.below[0].verdict.is_chaotic, onset.above[0].verdict.is_chaotic) == (False, True)
    assert not any(p.verdict.is_chaotic for p in result.points if p.params["r"] < onset.lo)
    later = [b for b in result.brackets if b.lo > onset.hi]
    assert {"tangent", "period_doubling"} <= {b.kind for b in later}  # and windows are brackets of their own
    if lo < 1 + 8**0.5 < hi:
        assert any(b.kind == "tangent" and b.lo <= 1 + 8**0.5 <= b.hi for b in later)


def test_swp_04_hysteresis_has_a_fold_for_either_direction() -> None:
    """Between the folds two cycles attract; at w = 1.8 their amplitudes are 1.839 and 0.226.

    Newton on the stroboscopic map, integrated by DOP853 at 1e-11, follows the upper cycle to 2.211934 and not to
    2.211938, the lower one to 1.438672 and not to 1.438669. In steps of 0.1 an orbit falls off before: the case has one
    amplitude at w = 2.2.
    """
    result = swept(HARDENING, Sweep("w", 1.0, 2.5, 16), ONE_LOOK)
    found = {b.direction: (b.lo, b.hi, b.kind) for b in result.brackets}
    assert found == {
        "down": (pytest.approx(1.43867, abs=4e-6), pytest.approx(1.43867, abs=4e-6), "fold"),
        "up": (pytest.approx(2.211936, abs=4e-6), pytest.approx(2.211936, abs=4e-6), "fold"),
    }
    starts = [HARDENING.with_values(p.params, a["initial_condition"]) for p in result.points if p.row
              for a in p.row["attractors"]]  # fmt: skip
    amplitudes: dict[float, list[float]] = {}
    for version, again in zip(starts, judged_versions(starts, ONE_LOOK, Workers(), rows=True), strict=True):
        assert (again.verdict.regime, again.verdict.period) == ("periodic", 1)
        amplitudes.setdefault(round(version.parameters["w"], 9), []).append(float(again.orbit.max()))
    twofold = [w for w, sizes in amplitudes.items() if len(sizes) == 2]
    assert twofold == pytest.approx([1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.1, 2.2])
    assert amplitudes[1.8] == pytest.approx([0.226, 1.839], abs=1e-3)  # that from rest first, which a row begins with
    assert all(p.row["initial_condition"] == HARDENING.state for p in result.points if p.row)


def test_swp_05_a_chaotic_transient_is_no_chaos() -> None:
    """Lorenz at rho = 22: RK4 at 0.005 reads 0.840, 0.442 and 0.125 over 50, 200 and 500 units of time.

    The equilibria C+- have x^2 = y^2 = beta (rho - 1), z = rho - 1; their leading eigenvalues give -0.0866.
    """
    lorenz = system("lorenz63").with_values({"rho": 22.0}, {"x": -2.0, "y": 0.0, "z": 15.0})
    made = label(lorenz)
    assert (made["regime"], made["stability"], made["predicates"]["Chaotic"]["value"]) == (
        "fixed_point",
        "attracting",
        "FALSE",
    )
    assert made["transient"]["resembles"] == "chaotic"
    c = math.sqrt(8 / 3 * 21)
    at_c = np.linalg.eigvals(np.array([[-10, 10, 0], [1, -1, -c], [c, c, -8 / 3]])).real.max()
    assert at_c == pytest.approx(-0.0866, abs=2e-4)
    assert made["indicators"]["lyapunov_spectrum"]["value"][:2] == pytest.approx([at_c, at_c], abs=1e-3)


def test_swp_05_none_of_80_starts_of_which_many_look_chaotic_is_chaotic() -> None:
    lorenz = system("lorenz63").with_values({"rho": 22.0})
    lows, highs = np.array([*lorenz.box.values()]).T
    starts = np.random.default_rng(0).uniform(lows, highs, (80, 3)).tolist()
    assert np.count_nonzero(np.array(early_exponents(lorenz, starts, 50.0, 0.005)) > 0.1) >= 20
    versions = [lorenz.with_values({}, dict(zip(lorenz.state, start, strict=True))) for start in starts]
    assert {p.verdict.regime for p in judged_versions(versions, ONE_LOOK, Workers())} == {"fixed_point"}


def test_swp_07_lorenz_windows_at_large_rho() -> None:
    """The second exponents are those of the case; over 50 units of time from (1, 1, 1) the first reads 0.07 .. 1.3."""
    seconds = {99.65: -0.060, 100.75: -0.503, 160.0: -1.206, 350.0: -0.731}
    lorenz = system("lorenz63").with_values({}, {"x": 1.0, "y": 1.0, "z": 1.0})
    *cycles, other, chaos = judged(lorenz, "rho", [*seconds, 166.0, 166.3])
    for point, second in zip(cycles, seconds.values(), strict=True):
        assert (point.verdict.regime, point.verdict.stability) == ("periodic", "attracting")
        assert exponents_of(point)[0] == pytest.approx(second, abs=1.5e-3)
        assert early_exponents(point.version, [[1.0, 1.0, 1.0]], 50.0, 0.002)[0] > 0.05
    assert other.verdict.regime == "periodic"
    assert chaos.verdict.regime == "chaotic"
    assert chaos.row is not None
    assert chaos.row["indicators"]["lyapunov_max"]["value"] == pytest.approx(1.2, abs=0.3)  # 1.205: intermittent


@pytest.mark.parametrize("finer", [1, 2])
def test_swp_08_periods_of_the_rossler_cascade(finer: int) -> None:
    """Counted by shooting, not by maxima that differ: those of c = 4.2 number 339 at 1e-6, for a period of 16.

    The window at c = 5.3 has the exponents 0, -0.0351, -4.900.
    """
    values = [2.5, 3.5, 4.0, 4.15, 4.2, 5.3, 5.7]
    found = judged(system("rossler"), "c", values, Settings(finer=finer, escalations=0))
    assert [p.verdict.evidence.get("maxima") for p in found] == [1, 2, 4, 8, 16, 3, None]
    assert [p.verdict.regime for p in found] == ["periodic"] * 6 + ["chaotic"]
    assert exponents_of(found[5])[0] == pytest.approx(-0.0351, abs=2e-4)


def test_swp_08_a_cycle_of_16_maxima_closes_after_its_period_and_not_after_half_of_it() -> None:
    (found,) = judged(system("rossler"), "c", [4.2], ONE_LOOK)
    point, period = np.array(found.verdict.evidence["point"]), found.verdict.period_time
    assert period is not None

    def rate(_: float, u: np.ndarray) -> list[float]:
        return [-u[1] - u[2], u[0] + 0.2 * u[1], 0.2 + u[2] * (u[0] - 4.2)]

    whole, half = (
        np.abs(solve_ivp(rate, (0, t), point, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1] - point).max()
        for t in (period, period / 2)
    )
    assert whole < 1e-8
    assert half > 0.05


@pytest.mark.parametrize("settings", [ONE_LOOK, Settings()], ids=["one look", "all looks"])
def test_swp_10_at_a_bifurcation_nothing_is_decided_by_chance(settings: Settings) -> None:
    """|x_n - 2/3| falls like n**-1/2 at r = 3: 0.0075 after 1e3 iterates, 0.00024 after 1e6, which is no period 2."""
    x = 0.1
    for _ in range(1_000):
        x = 3.0 * x * (1 - x)
    assert abs(x - 2 / 3) == pytest.approx(0.0075, abs=5e-4)
    for point in judged(system("logistic_r4"), "r", [*FLIPS, ONSET], settings):
        assert (point.verdict.regime, point.verdict.period, point.verdict.stability) == ("undecided", None, None)
        assert point.row is not None
        values = {name: predicate["value"] for name, predicate in point.row["predicates"].items()}
        assert {values[name] for name in ("Chaotic", "Periodic", "FixedPointAttr")} == {"UNDECIDED"}


@pytest.mark.parametrize("settings", [ONE_LOOK, Settings()], ids=["one look", "all looks"])
def test_swp_10_beside_a_bifurcation_what_is_decided_is_right(settings: Settings) -> None:
    """And 3.5699, where a short run reads +9e-4, has period 128: flips at 3.569891 and 3.569934."""
    apart = [s * 10.0**-n for n in (3, 4, 5, 6, 8) for s in (-1, 1)]
    values = [flip + d for flip in FLIPS for d in apart]
    truth = [2**n * (1 if d < 0 else 2) for n in range(len(FLIPS)) for d in apart]
    found = judged(system("logistic_r4"), "r", [*values, 3.5699], settings)
    said = [p.verdict.period for p in found]
    assert all(a in (b, None) for a, b in zip(said, [*truth, 128], strict=True))
    assert [p.verdict.regime == "undecided" for p in found] == [period is None for period in said]
    far = [abs(d) >= 0.99e-4 for _ in FLIPS for d in apart]
    assert all(period for period, decided in zip(said, far, strict=False) if decided)
    assert said[-1] == 128


@pytest.mark.parametrize("flip", FLIPS[:3])
def test_swp_10_the_margin_of_an_instance_keeps_bifurcations_out_of_questions(flip: float) -> None:
    """On a grid of 5e-4, those nearer than 1e-3 are the ones that a margin of 1e-3 (over the width) leaves out."""
    sweep = Sweep("r", flip - 0.005, flip + 0.005, 21)
    result = swept(system("logistic_r4"), sweep, ONE_LOOK)
    table = pd.DataFrame([flat(public(p.row)) | {"sweep": "r"} for p in result.points if p.row])
    rows = [json.loads(json.dumps(threshold_row(result.system, b, {}))) for b in result.brackets]
    found = instances(table, rows)
    distance = np.abs(found["value"] - flip)
    assert found["margin"].to_numpy() * (sweep.hi - sweep.lo) == pytest.approx(distance.to_numpy(), abs=4e-6)
    asked = found[found["margin"] * (sweep.hi - sweep.lo) >= 1e-3 + 4e-6]
    assert len(asked) == 16
    assert np.abs(asked["value"] - flip).min() > 1e-3
    assert set(asked["regime"]) <= {"fixed_point", "periodic"}
    assert found.loc[distance.idxmin(), "regime"] == "undecided"
    assert found.loc[distance.idxmin(), "margin"] == 0.0


@pytest.mark.parametrize(("mu", "period"), [(10.0, 19.07836957), (0.1, 6.28711127)])
def test_swp_11_one_cycle_of_van_der_pol_is_one_attractor(mu: float, period: float) -> None:
    """Periods by DOP853 at 1e-12; with weak damping every 7th or 13th return may be the nearest of all."""
    made = label(system("vdp").with_values({"mu": mu}), ONE_LOOK)
    assert [(a["regime"], a["share"]) for a in made["attractors"]] == [("periodic", 1.0)]
    assert made["period_time"] == pytest.approx(period, abs=1e-7)
    assert made["attractors"][0]["period_time"] == pytest.approx(period, rel=1e-6)


def test_swp_11_a_cycle_that_passes_two_saddles_is_one_attractor() -> None:
    """It comes within 3e-16 of an axis; its period is integrated here in the logarithms of both variables."""
    made = label(PREY, ONE_LOOK)
    assert [(a["regime"], a["share"]) for a in made["attractors"]] == [("periodic", 1.0)]
    assert made["stability"] == "attracting"

    def rate(_: float, u: np.ndarray) -> list[float]:
        n, p = np.exp(u)
        return [0.8 * (1 - n / 15) - 2.5 * p / (n + 1), 1.25 * n / (n + 1) - 0.4]

    def through(_: float, u: np.ndarray) -> float:
        return float(u[0])

    through.direction = 1  # type: ignore[attr-defined]
    known = solve_ivp(rate, (0, 600), np.log([0.03, 0.5]), method="DOP853", rtol=1e-10, atol=1e-10, events=through)
    assert np.exp(known.y[0].min()) < 1e-15
    assert made["period_time"] == pytest.approx(np.diff(known.t_events[0])[-1], abs=1e-5)


@pytest.mark.parametrize("start", [{"N": 15.0, "P": 1e-100}, {"N": 1e-30, "P": 1.0}, {"N": 1.0, "P": 1e-30}])
def test_swp_11_an_orbit_that_begins_at_a_saddle_is_not_at_rest_there(start: dict[str, float]) -> None:
    """It stays for hundreds of units of time where |f(u)| is far below 1e-8; short looks are given here."""
    brief = Settings(transient_flow=0.5, records=16, series=512, turning_steps=200, transient_steps=100, escalations=0)
    version = PREY.with_values({}, start)
    said = [judged_reference(version, brief)[1], judged_versions([version], brief, Workers())[0].verdict]
    assert {v.regime for v in said} <= {"periodic", "undecided"}
    assert judged_reference(version, ONE_LOOK)[1].regime == "periodic"


@pytest.mark.parametrize("slow", [[4.15055085e-8, 9.81744917e-6], [1.01818521e-6, 1.98211183e-6]])
def test_swp_11_a_slow_point_of_a_cycle_is_no_return(slow: list[float]) -> None:
    """There the orbit moves by less than 1e-6 of its size for a fifth of its period; it is on the cycle all the same.

    The points, and the period, come from the integration in logarithms of the test above.
    """
    found = flow_cycle(PREY, np.array(slow), np.array([]), 83.58, 0.0113)
    assert found is not None
    assert found.period == pytest.approx(83.58265995, abs=1e-6)


def test_swp_13_a_sweep_is_the_same_the_second_time_and_after_another() -> None:
    grid = Sweep("a", 1.2, 1.4, 12)
    first = swept(system("henon"), grid, ONE_LOOK)
    swept(system("logistic_r4"), Sweep("r", 3.0, 3.9, 12), ONE_LOOK)
    again = swept(system("henon"), grid, ONE_LOOK)
    assert [p.row for p in first.points] == [p.row for p in again.points]
    assert [threshold_row(first.system, b, {}) for b in first.brackets] == [
        threshold_row(again.system, b, {}) for b in again.brackets
    ]
    assert all(np.array_equal(p.orbit, q.orbit) for p, q in zip(first.points, again.points, strict=True))


def test_swp_13_shares_of_coexisting_attractors_are_the_same_the_second_time_and_after_another() -> None:
    made = label(HARDENING, ONE_LOOK)
    label(system("henon"), ONE_LOOK)
    label(HARDENING.with_values({"w": 1.2}), ONE_LOOK)
    assert json.dumps(label(HARDENING, ONE_LOOK)) == json.dumps(made)
    shares = [a["share"] for a in made["attractors"]]
    assert len(shares) == 2
    assert min(shares) > 0.1
    assert sum(shares) == 1.0
