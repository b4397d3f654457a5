"""What the pictures of a system's page show: its orbit, indicators over a growing run, and orbits along its sweeps.

The runs are shorter than those behind the labels, which they illustrate and do not decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cache.key import key
from cache.results import Results
from dynamics.block import Array, block, run
from dynamics.codegen import LANES
from dynamics.section import local_maxima
from dynamics.sweep import Sweep
from dynamics.system import System
from indicators.estimate import Estimate
from labeling.evidence import Evidence
from labeling.gathering import Start, gathered, swept_start
from labeling.points import ORBIT_POINTS, orbit_points
from labeling.provenance import identity
from labeling.settings import Settings
from labeling.turns import FEW_MAXIMA

SETTINGS = Settings(records=2_000, series=8_192, turning_steps=200_000, transient_steps=300_000)
BRIEF = replace(
    SETTINGS, records=256, series=1_024, turning_steps=40_000, transient_steps=100_000, transient_flow=200.0
)
LEADING = 3  # exponents, of systems of many variables
OTHER_HORIZON = 4  # the shortest of systems that no formula moves
SHARES = tuple(2.0**-n for n in range(5, -1, -1))  # of the run, at which indicators are taken
FEWEST_RECORDS, FEWEST_VALUES = 128, 500  # of a share of the run
PATH = 4_000  # states of a portrait
A_TURN = 64  # states of a portrait to one turn
VALUES = {"map": 480, "ode": 160}  # parameter values of an orbit diagram
FEW_VALUES = 32  # of other kinds


@dataclass(frozen=True)
class Portrait:
    """A path (n, d) of all variables, its time step (1 for a map), and states once a forcing period (m, d).

    `from_start` : it begins at the stated initial condition, since the set is a point, or there is none. `lag` : of a
    delay equation the states that its longest delay is long, else 0.
    """

    path: Array
    interval: float
    strobed: Array
    from_start: bool
    lag: int


@dataclass(frozen=True)
class Growing:
    """An indicator over growing shares of a run: (length, value, half-width at 95 %) of each, (m, 3)."""

    unit: str
    points: Array


@dataclass(frozen=True)
class Diagram:
    """An orbit diagram: (parameter, value) of every point, (n, 2), and the variable that is seen."""

    parameter: str
    variable: str
    points: Array


@dataclass(frozen=True)
class Orbits:
    """All that is drawn of a system."""

    portrait: Portrait
    growing: dict[str, Growing]
    diagrams: tuple[Diagram, ...]


def kept_orbits(fresh: bool = False) -> Results:
    """Where orbits are kept, under all code that makes them."""
    return Results(key(identity(), Path(__file__).read_text(encoding="utf-8")), "atlas", fresh)


def orbits(system: System, sweeps: Sequence[Sweep]) -> Orbits:
    """What is drawn of a system and of its sweeps."""
    start = swept_start([system], SETTINGS, 1 if system.has_formula else OTHER_HORIZON)
    (e,) = gathered(start, SETTINGS, leading=LEADING)
    return Orbits(_portrait(e, start), _growing(e), tuple(_diagram(system, sweep) for sweep in sweeps))


def _portrait(e: Evidence, start: Start) -> Portrait:
    system, none = e.system, np.empty((0, e.system.dimension))
    if not system.has_formula:
        lag = round(system.longest_delay / e.series_step) if system.kind == "dde" else 0
        path = e.series[-PATH:]
        return Portrait(path[np.isfinite(path).all(axis=1)], e.series_step, none, False, lag)
    if e.status != "ok" or e.still:
        path, interval = _path(e, start, np.array([[*system.state.values()]] * LANES).T, 0.0)
        return Portrait(path, interval, none, True, 0)
    path, interval = _path(e, start, np.asarray(start.states), float(start.t[0]))
    forced = not system.discrete and system.forcing_period is not None
    return Portrait(path, interval, e.strobed if forced else none, False, 0)


def _path(e: Evidence, start: Start, states: Array, t: float) -> tuple[Array, float]:
    """A path from the first lane's state, as far as it stays finite, and the time between its states."""
    periods = start.periods
    h = np.where(np.isfinite(start.h), start.h, 0.01)
    moving = block(e.system, states, start.parameters, 0, h=h, t=t, periods=periods)
    steps = 1 if e.system.discrete else _steps(e)
    made = run(moving, PATH, steps=steps)
    return made.states[: int(made.kept[0]), :, 0], float(made.interval[0])


def _steps(e: Evidence) -> int:
    """Steps of a flow between two states of its portrait."""
    x = e.observable
    turns = int(((x[1:-1] > x[:-2]) & (x[1:-1] >= x[2:])).sum())
    if e.status != "ok" or turns < 2:
        return SETTINGS.steps
    return max(1, round(len(x) * e.series_step / turns / A_TURN / e.h))


def _growing(e: Evidence) -> dict[str, Growing]:
    """The indicators of ever longer beginnings of one run."""
    if e.status != "ok":
        return {}
    found: dict[str, list[tuple[float, float, float]]] = {}
    units = {"lyapunov_max": "time", "zero_one_k": "values", "megno_slope": "time", "permutation_entropy": "states"}
    if e.system.discrete:
        units |= {"lyapunov_max": "iterates", "megno_slope": "iterates"}
    for share in SHARES:
        part = replace(
            e, growth=_share(e.growth, share), series=_share(e.series, share), maxima=_share(e.maxima, share)
        )
        if len(part.growth) < FEWEST_RECORDS or len(part.series) < FEWEST_VALUES:
            continue
        time, values = len(part.growth) * part.interval, part.series if part.system.discrete else part.maxima
        figures: dict[str, tuple[float, Estimate]] = {"lyapunov_max": (time, part.largest)}
        if part.system.discrete or len(part.maxima) >= FEW_MAXIMA:
            figures["zero_one_k"] = (len(values), part.zero_one)
        figures |= {"megno_slope": (time, part.megno[1]), "permutation_entropy": (len(part.series), part.entropy)}
        for name, (length, one) in figures.items():
            if isinstance(one.value, float):
                error = one.error if isinstance(one.error, float) else 0.0
                found.setdefault(name, []).append((length, one.value, error))
    return {name: Growing(units[name], np.array(points)) for name, points in found.items()}


def _share(values: Array, share: float) -> Array:
    return values[: round(share * len(values))]


def _diagram(system: System, sweep: Sweep) -> Diagram:
    """Orbits at values of the parameter, each from the system's own start."""
    values = np.linspace(sweep.lo, sweep.hi, VALUES.get(system.kind, FEW_VALUES))
    variable, free = _seen(system)
    parts = []
    for i in range(0, len(values), LANES):
        some = values[i : i + LANES]
        versions = [system.with_values({sweep.parameter: float(value)}) for value in some]
        for value, seen in zip(some, _sections(versions, free), strict=True):
            seen = seen[np.isfinite(seen)]
            parts.append(np.column_stack([np.full(len(seen), value), seen]))
    return Diagram(sweep.parameter, variable, np.concatenate(parts))


def _seen(system: System) -> tuple[str, int]:
    """The variable of an orbit diagram: the first, of a flow the first that lives on no circle."""
    names = list(system.state)
    free = [c for c, name in enumerate(names) if name not in system.circle]
    at = free[0] if free and system.has_formula and not system.discrete else 0
    return (names[at] if system.discrete else f"{names[at]}, local maxima"), at


def _sections(versions: Sequence[System], free: int) -> list[Array]:
    """Iterates of maps, and local maxima of flows or their rest, after the transient; nothing of what escapes."""
    system = versions[0]
    start = swept_start(versions, BRIEF, 1 if system.has_formula else OTHER_HORIZON)
    if not system.has_formula:
        return [orbit_points(e) for e in gathered(start, BRIEF, leading=1)]
    states = np.nan_to_num(np.asarray(start.states))
    moving = block(system, states, start.parameters, 0, h=start.h, t=start.t, periods=start.periods)
    fine = [status == "ok" for status in start.status[: len(versions)]]
    if system.discrete:
        made = run(moving, ORBIT_POINTS)
        ends = made.status
        found = [made.states[:, 0, i] for i in range(len(versions))]
    else:
        found = local_maxima(moving, np.full(LANES, free), BRIEF.turning_steps, ORBIT_POINTS)[: len(versions)]
        last = run(moving, 1)
        ends = last.status
        found = [x if len(x) else last.states[:, free, i] for i, x in enumerate(found)]
    return [x if ok and end == "ok" else np.empty(0) for x, ok, end in zip(found, fine, ends, strict=False)]
