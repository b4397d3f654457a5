"""Runs a system at given points, and gathers the evidence that a verdict rests on."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynamics.block import Array, Block, Run, RunStatus, block, run, single_orbit
from dynamics.codegen import LANES, is_looped
from dynamics.lanes import History, State
from dynamics.run_alone import Alone
from dynamics.settle import settled
from dynamics.system import System
from labeling import other_kinds
from labeling.evidence import Evidence
from labeling.settings import Settings, share
from labeling.turns import turns

MANY = 42  # numbers that move with all deviations, above which fewer records are kept
FEWEST_RECORDS = 256
RARER = 4  # factor on the steps between orthonormalisations of a flow at its first step
CLOSER = (4, 16)  # by which a step that did too much to the deviations is divided


@dataclass(frozen=True)
class Start:
    """Settled lanes, ready to be measured.

    states (d, LANES), of delay equations pasts; parameters (n, LANES); times, steps h and statuses per lane.
    """

    versions: tuple[System, ...]
    states: State
    parameters: Array
    t: Array
    h: Array
    periods: Array | None
    status: tuple[RunStatus, ...]
    horizon: int
    pooled: bool


def swept_start(versions: Sequence[System], settings: Settings, horizon: int = 1) -> Start:
    """One lane for each of up to LANES versions of a system, its transient dropped; lanes are independent."""
    if not 1 <= len(versions) <= LANES:
        raise ValueError(f"a block holds 1 to {LANES} points, not {len(versions)}")
    padded = [versions[min(i, len(versions) - 1)] for i in range(LANES)]
    parameters = np.array([[*v.parameters.values()] for v in padded]).T.reshape(-1, LANES)
    if not versions[0].has_formula:
        return _other_start(padded, len(versions), parameters, settings, horizon, pooled=False)
    states = np.array([[*v.state.values()] for v in padded]).T
    forced = [v.forcing_period for v in padded]
    periods = np.array(forced, dtype=float) if all(forced) else None
    begun = settled(
        versions[0],
        states,
        parameters,
        _transient(versions[0], settings) * horizon,
        periods,
        most_steps=settings.transient_steps,
        finer=settings.finer,
    )
    return Start(
        tuple(versions), begun.states, parameters, begun.t, begun.h, periods, begun.status, horizon, pooled=False
    )


def reference_start(system: System, settings: Settings, horizon: int = 1) -> Start:
    """LANES lanes that are consecutive stretches of one orbit, the one from the system's initial condition."""
    if not system.has_formula:
        parameters = np.array([[*system.parameters.values()]] * LANES).T
        return _other_start([system] * LANES, 1, parameters, settings, horizon, pooled=True)
    begun = swept_start([system], settings, horizon)
    assert not isinstance(begun.states, History)
    if begun.status[0] != "ok":
        return replace(begun, pooled=True)
    records = _records(system, settings)
    stretch = records * horizon * settings.renormalisations * (1 if system.discrete else settings.steps)
    states, t, status = single_orbit(
        system,
        begun.states[:, 0],
        float(begun.h[0]),
        stretch,
        LANES,
        float(begun.t[0]),
        system.forcing_period or math.inf,
    )
    return replace(begun, states=states.T, t=t, status=(status,) * LANES, pooled=True)


def _other_start(
    padded: Sequence[System], count: int, parameters: Array, settings: Settings, horizon: int, *, pooled: bool
) -> Start:
    transient = _transient(padded[0], settings) * max(1, horizon // 4)  # a single label begins with 4
    states, t, h, status = other_kinds.begin(padded, parameters, transient, pooled, settings.seed)
    return Start(tuple(padded[:count]), states, parameters, t, h, None, status, horizon, pooled)


def _always(_: Evidence) -> bool:
    return True


def gathered(
    start: Start,
    settings: Settings,
    finer: int = 1,
    leading: int | None = None,
    turning: Callable[[Evidence], bool] = _always,
) -> list[Evidence]:
    """The evidence of every version, from its settled start. `finer` divides a flow's steps: verdicts must not mind.

    `leading` : how many exponents are enough, where a system has so many variables that each costs (all if not given);
    small systems are measured whole, since their kernels would have to be compiled anew. `turning` says of an evidence
    that has no maxima yet whether it needs them: they are sought where one of the versions does.

    A version whose tangent defect matters is run again over the same time at a quarter of the step, once or twice; no
    other is touched. What is left of the defect enters its exponents' intervals.
    """
    found = _measured(start, settings, finer, leading, turning, RARER)
    coarse = [i for i, e in enumerate(found) if e.too_coarse]
    for closer in CLOSER:
        if not coarse:
            break
        before = {i: found[i].defect for i in coarse}
        longer = replace(settings, steps=closer * settings.steps)
        again = _measured(start, longer, closer * finer, leading, turning, 1)
        for i in coarse:
            found[i] = again[i]
        # where a finer step changed nothing the orbit itself leads to where no step is fine enough
        coarse = [i for i in coarse if found[i].too_coarse and found[i].defect < 0.5 * before[i]]
    return found


def _measured(
    start: Start,
    settings: Settings,
    finer: int,
    leading: int | None,
    turning: Callable[[Evidence], bool],
    rarer: int,
) -> list[Evidence]:
    system = start.versions[0]
    if not system.has_formula:
        return _other_gathered(start, settings, finer, leading)
    assert not isinstance(start.states, History)
    steps = 1 if system.discrete else settings.steps
    h = start.h / (1 if system.discrete else finer)
    safe = np.where(np.isfinite(start.states), start.states, 0.0)
    k = system.dimension if leading is None or not is_looped(system) else min(leading, system.dimension)
    moving = block(system, safe, start.parameters, k, h=h, t=start.t, periods=start.periods, seed=settings.seed)
    # what Gram-Schmidt loses over long intervals shows as a tangent defect, and then the run is repeated at closer ones
    checked = not system.discrete and k == system.dimension and not is_looped(system)
    longer = math.gcd(rarer, settings.renormalisations) if checked else 1
    tangent = run(
        moving,
        _records(system, settings) * start.horizon,
        steps=longer * steps,
        renormalisations=settings.renormalisations // longer,
    )
    begun = moving.t.copy()
    following = block(system, moving.states, start.parameters, 0, h=h, t=moving.t, periods=start.periods)
    fine = run(following, _states(system, settings.series) * min(start.horizon, 4), steps=steps)
    found = _evidences(start, settings, tangent, fine, h, begun, np.zeros(LANES))
    free = np.array([c for c, name in enumerate(system.state) if name not in system.circle])
    if system.discrete or not len(free) or not any(e.status == "ok" and turning(e) for e in found):
        return found
    onward: Block | Alone
    if start.pooled:
        period = math.inf if start.periods is None else float(start.periods[0])
        onward = Alone(
            system, following.states[:, 0], start.parameters[:, 0], 0, h=h[0], t=following.t[0], period=period
        )
    else:
        onward = block(system, following.states, start.parameters, 0, h=h, t=following.t, periods=start.periods)
    # as many turns at a finer step: the bands of a series must be as full
    long = int(_states(system, settings.turning_steps) * share(system)) * min(start.horizon, 4) * finer * settings.finer
    maxima = turns(onward, free, fine.states, long, settings.series)
    return [_with_maxima(e, values) for e, values in zip(found, maxima, strict=False)]


def _with_maxima(e: Evidence, maxima: Array) -> Evidence:
    if e.status == "ok" and not np.isfinite(maxima).all():
        return replace(e, status="escaped")  # while its maxima were gathered, after the other runs
    return replace(e, maxima=maxima)


def _other_gathered(start: Start, settings: Settings, finer: int, leading: int | None) -> list[Evidence]:
    """As `gathered`, of systems that no formula of the present moves."""
    h = start.h / (finer * settings.finer)
    tangent, fine, moving, error = other_kinds.runs(
        start.versions[0], start.states, start.t, h, start.parameters, settings, start.horizon, leading
    )
    found = _evidences(start, settings, tangent, fine, moving.h, moving.t - len(fine.states) * fine.interval, error)
    return [_with_maxima(e, other_kinds.spline_maxima(e.series)) if e.status == "ok" else e for e in found]


def _evidences(
    start: Start, settings: Settings, tangent: Run, fine: Run, h: Array, begun: Array, error: Array
) -> list[Evidence]:
    out = []
    for i, version in enumerate(start.versions):
        lanes = list(range(LANES)) if start.pooled else [i]
        ends = [s for lane in lanes for s in (start.status[lane], tangent.status[lane], fine.status[lane]) if s != "ok"]
        growth = tangent.growth[:, :, lanes]
        singular = not ends and bool((np.isnan(growth) | np.isposinf(growth)).any())
        out.append(
            Evidence(
                version,
                "blew_up" if singular else ends[0] if ends else "ok",
                growth,
                float(tangent.interval[i]),
                fine.states[:, :, i],
                float(fine.interval[i]),
                np.empty(0),
                float(h[i]),
                float(begun[i]),
                start.horizon,
                settings.seed,
                float(tangent.divergence[lanes].mean()),
                float(np.abs(error[lanes]).max()),
                singular,
            )
        )
    return out


def _records(system: System, settings: Settings) -> int:
    """Fewer records of the deviations where there are many of them, whose cost grows like d (1 + d)."""
    d = system.dimension
    return max(FEWEST_RECORDS, int(settings.records * min(1.0, MANY / (d * (1 + d))) * share(system)))


def _states(system: System, count: int) -> int:
    """Fewer states of a path where each has many variables."""
    d = system.dimension
    return int(count * min(1.0, math.sqrt(MANY / (d * (1 + d)))))


def whole_time(e: Evidence, settings: Settings) -> float:
    """The time from a flow's start to the end of the runs that were planned for it, but for those of its maxima."""
    return _transient(e.system, settings) * e.horizon + len(e.growth) * e.interval + len(e.series) * e.series_step


def _transient(system: System, settings: Settings) -> float:
    if system.transient is not None:
        return system.transient
    return float(settings.transient_map if system.discrete else settings.transient_flow)
