"""Indicators of labelled points under good conditions and under bad ones: diagnostics.parquet of a release.

Each point's orbit is run once from where the transient ends and, for maps and flows, once from the start. From these
runs every indicator is taken properly and as it should not be: oversampled, under noise, from a short series, over a
short time, before the transient has passed, without MEGNO's weight. Which is which is told by bench.conditions.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, make_interp_spline

from bench.conditions import Measurement, Name
from bench.pairs import balanced
from bench.questions import World, claims
from bench.release import packed
from cache.key import key
from cache.results import Results
from cache.store import write_whole
from dynamics.block import RunStatus
from dynamics.codegen import LANES
from dynamics.registry import system
from dynamics.system import System
from indicators.entropy import permutation_entropy
from indicators.estimate import Estimate
from indicators.lyapunov import BATCHES_ALONE, largest_exponent, lyapunov_spectrum, reaching_zero
from indicators.megno import MINIMUM, megno
from indicators.sampling import local_maxima
from indicators.zero_one import FREQUENCIES, displacement, growth_correlation, zero_one_k
from labeling.evidence import Evidence
from labeling.gathering import gathered, swept_start
from labeling.provenance import identity
from labeling.settings import Settings
from labeling.workers import Workers

FILE = "diagnostics.parquet"
REGIMES = ("chaotic", "hyperchaotic", "periodic", "quasiperiodic")
SETTINGS = Settings(records=32_768, series=32_768, steps=8, renormalisations=1)
EARLY = replace(SETTINGS, records=4_096, series=64)
LONG = (3000, 2000, 1000)  # values of a series
SHORT = 240
OVERSAMPLED = (1000, 2000)
PROPER, FINE = 0.25, 0.02  # steps in turns
NOISES = (0.5, 1.0, 2.0)
OF_DISTANCE = (3.0, 5.0, 9.0)  # noise, once a turn, of which no less than three times hides how fast distances grow
REPEATED = 2  # times that a fault is made, over other stretches or with other noise
RUNS = (800, 400, 200)  # turns, long
BRIEF, BRIEF_MAP = (8, 16, 32), (64, 100)
WINDOWS, KEPT = 12, (0, 2, 4, 7, 9, 11)  # of short runs, in order of their numbers
DROPPED, DROPPED_MAP = 100, 1000  # turns: what begins there ends, short or long, at a turn of as many digits
FEWEST_TURNS = 30
FEWEST_PER_TURN = 12  # states, from which a spline reads what lies between
ORDER = 5
DIGITS = 4

Floats = NDArray[np.float64]


def chosen(w: World, seed: int = 0) -> pd.DataFrame:
    """Up to LANES points of each system where chaos and regular motion occur, half of each, balanced as questions are.

    Where less can be balanced the rest is filled up with points spread over the ranges.
    """
    table = claims(w, "Chaotic")
    table = table[table["regime"].isin(REGIMES) & table["transient"].isna()]  # those of long transients are left out
    table = table[table.groupby("system_id")["truth"].transform("nunique") == 2]
    first = balanced(table, LANES, seed).index
    parts = []
    for _, rows in table.groupby(["system_id", "truth"], sort=True):
        mine = rows[rows.index.isin(first)]
        others = rows.drop(mine.index).sort_values(["sweep", "value"])
        free = min(LANES // 2 - len(mine), len(others))
        at = np.unique(np.linspace(0, len(others) - 1, free).astype(int)) if free else np.empty(0, int)
        parts.append(pd.concat([mine, others.iloc[at]]))
    return pd.concat(parts).sort_values(["system_id", "sweep", "value"])


def diagnosed(points: pd.DataFrame, workers: Workers) -> pd.DataFrame:
    """All measurements of points, a row each: the columns that name a point, and those of Measurement."""
    groups = [rows for _, rows in points.groupby("system_id", sort=True)]
    tasks = [([version(row) for row in rows.itertuples(index=False)], SETTINGS) for rows in groups]
    found: list[dict[str, Any]] = []
    for rows, measured in zip(groups, workers.each(measurements, tasks, "systems"), strict=True):
        for point, numbers in zip(rows.itertuples(index=False), measured, strict=True):
            about = {"system_id": point.system_id, "sweep": point.sweep, "params": point.params}
            found += [about | asdict(m) for m in numbers]
    return pd.DataFrame(found)


def kept_results(*, fresh: bool = False) -> Results:
    """Where the numbers of a system are kept: under what decides them, this file's own text included."""
    return Results(key(identity(), Path(__file__).read_bytes()), "diagnostics", fresh)


def write_diagnostics(folder: Path, table: pd.DataFrame) -> None:
    """diagnostics.parquet."""
    write_whole(folder / FILE, packed(small(table)))


def small(table: pd.DataFrame) -> pd.DataFrame:
    """The table with numbers rounded to DIGITS figures, of which questions print three decimals at most."""
    made = table.copy()
    for name in ("value", "error", "noise", "step"):
        made[name] = [_rounded(x) for x in made[name].astype(float)]
    for name in ("system_id", "sweep", "params", "indicator", "status"):
        made[name] = made[name].astype("category")
    for name in ("length", "transient", "weight"):
        made[name] = made[name].astype("int16")
    return made


def read_diagnostics(folder: Path) -> pd.DataFrame:
    """The table of a release; FileNotFoundError where it has none."""
    table = pd.read_parquet(folder / FILE)
    plain = table.select_dtypes("category").columns
    return table.astype(dict.fromkeys(plain, object))


def by_point(table: pd.DataFrame) -> dict[tuple[str, str], list[Measurement]]:
    """The measurements of each point, by system and parameters as they stand in points.parquet."""
    names = list(Measurement.__dataclass_fields__)
    found: dict[tuple[str, str], list[Measurement]] = {}
    for row in table.to_dict("records"):
        given = {name: row[name] for name in names}
        given |= {name: None for name in ("error", "step") if given[name] is None or math.isnan(given[name])}
        found.setdefault((row["system_id"], row["params"]), []).append(Measurement(**given))
    return found


def version(point: Any) -> System:
    """A labelled point as a system that starts where it was labelled."""
    return system(point.system_id).with_values(json.loads(point.params), json.loads(point.initial_condition))


def measurements(versions: Sequence[System], settings: Settings) -> list[list[Measurement]]:
    """All numbers of up to LANES versions of one system."""
    begun = swept_start(versions, settings)
    late = gathered(begun, settings, leading=1, turning=_never)
    early: Sequence[Evidence | None] = [None] * len(versions)
    if versions[0].has_formula:
        states = np.array([[*versions[min(i, len(versions) - 1)].state.values()] for i in range(LANES)]).T
        status: list[RunStatus] = ["ok"] * LANES
        at_start = replace(begun, states=states, t=np.zeros(LANES), status=tuple(status))
        early = gathered(at_start, EARLY, leading=1, turning=_never)
    return [list(_numbers(e, before, n)) for n, (e, before) in enumerate(zip(late, early, strict=True))]


def _never(_: Evidence) -> bool:
    return False


def _numbers(e: Evidence, early: Evidence | None, lane: int) -> Iterator[Measurement]:
    if e.status != "ok" or e.still:
        return
    x = e.observable
    tops = 0 if e.system.discrete else len(local_maxima(x))
    if not e.system.discrete and tops < FEWEST_TURNS:
        return
    per_turn = 1.0 if e.system.discrete else len(x) / tops  # states
    if e.system.discrete or per_turn >= FEWEST_PER_TURN:
        yield from _of_series(x, per_turn, e.system.discrete, np.random.default_rng(lane))
    turn = 1.0 if e.system.discrete else per_turn * e.series_step
    yield from _of_growth(e.growth[:, 0, 0], e.interval, turn, e.system.discrete)
    if early is not None and early.status == "ok":
        for length in BRIEF_MAP if e.system.discrete else BRIEF:
            part = early.growth[: round(length * turn / early.interval), 0, 0]
            yield from _rates(part, early.interval, turn, length, 0, e.system.discrete)


def _of_series(x: Floats, per_turn: float, discrete: bool, rng: np.random.Generator) -> Iterator[Measurement]:
    """K and permutation entropy, properly sampled and not; between iterates of a map lie straight lines."""
    if discrete:
        through, step = make_interp_spline(np.arange(len(x)), x, k=1), 1.0
    else:
        through, step = CubicSpline(np.arange(len(x)), x), PROPER
    spaced, dropped = step * per_turn, _dropped(discrete)
    most = int((len(x) - 1) / spaced)
    for count in (n for n in LONG if n <= most):
        values = through(spaced * np.arange(count))
        yield from _both(values, step, 0.0, dropped)
        if count == LONG[-1]:
            for n, noise in enumerate(NOISES * REPEATED):
                noisy = values + noise * values.std() * rng.standard_normal(count)
                yield from _both(noisy, step, noise, dropped, again=n >= len(NOISES))
    for begin in range(0, min(most, 4 * SHORT) - SHORT + 1, SHORT):
        yield from _both(through(spaced * np.arange(begin, begin + SHORT)), step, 0.0, dropped, again=True)
    fine = FINE * per_turn
    for count in OVERSAMPLED:
        for begin in range(0, REPEATED * count, count):
            if fine * (begin + count) < len(x) - 1:
                values = through(fine * np.arange(begin, begin + count))
                yield from _both(values, FINE, 0.0, dropped, again=begin > 0)


def _dropped(discrete: bool) -> int:
    return DROPPED_MAP if discrete else DROPPED


def _both(values: Floats, step: float, noise: float, dropped: int, *, again: bool = False) -> Iterator[Measurement]:
    """K (the bare formula, where the test would refuse) and, the first time, permutation entropy of order 5."""
    k = _unchecked_k(values) if step == FINE else zero_one_k(values, stride=1)
    if k.value is not None:
        yield Measurement("zero_one_k", k.number, _half(k), k.status, step, len(values), dropped, noise)
    if not again:
        h = permutation_entropy(values, order=ORDER)
        yield Measurement("permutation_entropy", h.number, _half(h), h.status, step, len(values), dropped, noise)


def _unchecked_k(values: Floats) -> Estimate:
    """K as the formula gives it, of a series that `zero_one_k` thins or refuses."""
    c = np.random.default_rng(0).uniform(*FREQUENCIES, 100)
    rest = values - values.mean()
    each = growth_correlation(displacement(rest / rest.std(), c))
    return Estimate(float(np.median(each)), None, "not_converged", {"reason": "oversampled"})


def _of_growth(growth: Floats, interval: float, turn: float, discrete: bool) -> Iterator[Measurement]:
    """Exponent and slope of MEGNO after a transient, over long times and over the lowest to highest of short ones."""
    dropped = _dropped(discrete)
    rest = growth[round(dropped * turn / interval) :]
    for length in RUNS:
        records = round(length * turn / interval)
        if records <= len(rest):
            yield from _rates(rest[:records], interval, turn, length, dropped, discrete)
            if length == RUNS[-1]:
                yield from _unweighted(rest[:records], interval, turn, length, dropped)
                yield from _of_noisy_distance(rest[:records], interval, turn, length, discrete)
    for length in BRIEF_MAP if discrete else BRIEF:
        records = round(length * turn / interval)
        starts = np.linspace(0, len(rest) - records, WINDOWS * (records <= len(rest))).astype(int)
        found: dict[str, list[Measurement]] = {}
        for start in starts:
            for m in _rates(rest[start : start + records], interval, turn, length, dropped, discrete):
                found.setdefault(m.indicator, []).append(m)
        for numbers in found.values():
            ordered = sorted(numbers, key=lambda m: m.value)
            yield from (ordered[i] for i in KEPT if i < len(ordered))


def _of_noisy_distance(
    growth: Floats, interval: float, turn: float, length: int, discrete: bool
) -> Iterator[Measurement]:
    """What two orbits show whose distance, set anew once a turn, is known up to noise: g, seen as ln(e^2g + noise^2)/2.

    That is the mean square of a distance that has grown by e^g and of independent noise, in lengths of the one set.
    """
    records = max(1, round(turn / interval))
    each = growth[: len(growth) // records * records].reshape(-1, records).sum(axis=1)
    for noise in OF_DISTANCE:
        seen = np.logaddexp(2 * each, 2 * math.log(noise)) / 2
        for m in _rates(seen, records * interval, turn, length, _dropped(discrete), discrete):
            yield replace(m, noise=noise)


def _rates(
    growth: Floats, interval: float, turn: float, length: int, transient: int, discrete: bool
) -> Iterator[Measurement]:
    if not np.isfinite(growth).all() or len(growth) < 2 * BATCHES_ALONE:
        return
    found: list[tuple[Name, Estimate]] = [
        ("lyapunov_max", largest_exponent(reaching_zero(lyapunov_spectrum(growth[:, None], interval))))
    ]
    if len(growth) >= MINIMUM:
        found.append(("megno_slope", megno(growth, interval, continuous=not discrete)[1]))
    for name, one in found:
        half = _half(one)
        error = None if half is None else turn * half
        yield Measurement(name, turn * one.number, error, one.status, None, length, transient)


def _unweighted(growth: Floats, interval: float, turn: float, length: int, dropped: int) -> Iterator[Measurement]:
    """The slope of MEGNO's mean where growth is not weighted by the time: that of twice the mean rate up to then."""
    if not np.isfinite(growth).all() or len(growth) < 2 * BATCHES_ALONE:
        return
    time = np.arange(1, len(growth) + 1)
    mean = np.cumsum(2.0 * np.cumsum(growth) / (time * interval)) / time
    late = slice(len(time) // 2, None)
    slope = float(np.polyfit(time[late] * interval / turn, mean[late] * turn, 1)[0])
    yield Measurement("megno_slope", slope, None, "not_converged", None, length, dropped, weight=0)


def _half(one: Estimate) -> float | None:
    return one.error if isinstance(one.error, float) else None


def _rounded(x: float) -> float:
    return float(f"{x:.{DIGITS}g}") if math.isfinite(x) else x
