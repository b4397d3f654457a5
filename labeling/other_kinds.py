"""Evidence about systems that no formula of the present state moves: delay equations, fields, and equations with noise.

They have no Newton and no shooting here; runs, exponents and series are gathered as for all others. A system has
infinitely many exponents, or under noise one that is measured, so `k` of them stand for the spectrum.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicSpline

from dynamics.block import STATUSES, Array, Run, RunStatus
from dynamics.codegen import LANES
from dynamics.delay import MAX_STEPS_PER_DELAY, steps_of_delays
from dynamics.delay_system import delay_form
from dynamics.fields import EXPONENTS, STEPS, field_name
from dynamics.lanes import History, Moving, State, moved, placed, present
from dynamics.noise import noisy_form
from dynamics.noisy_block import NoisyBlock, noisy_block, noisy_run
from dynamics.settle import STIFFNESS, slope
from dynamics.system import System
from labeling.settings import Settings

PER_DELAY = 32  # steps of the shortest delay, at least
PILOT_STEPS = 20_000  # of a delay equation, in which the norm of its derivative is taken
NOISE_STEP = 0.005  # over the norm of the drift's derivative: weak error of the first order
APART = 1e-6  # relative distance of the lanes that stand for one orbit, at their start
DELAY_EXPONENTS = (4, 8, 16)  # as many as make their sum negative
TRIAL_RECORDS = 200  # of the run that tells how many that are
DELAY_STEPS = 4_000_000  # of columns, orbit and deviations, in a lane's run
SERIES_LONGER = 4  # than of an ordinary flow: a delay is many steps long, and a turn some delays
DELAY_RECORDS = 1_000  # at least, where the delay is short enough
FIELD_RECORDS, FIELD_RENORMALISATIONS = 512, 2
FIELD_SERIES = 8_192
STEPS_BETWEEN = {"dde": 2, "sde": 8, "pde": 2, "map": 1}  # of two states of a series, which must resolve its maxima


def histories(versions: Sequence[System], h: Array, pooled: bool) -> History:
    """The stated pasts of versions, one a lane, on the nodes and middles of steps of h."""
    forms = [delay_form(v) for v in versions]
    longest = np.array([v.longest_delay for v in versions])
    count = int(np.ceil((longest / h).max())) * 2 + 5
    times = np.linspace(-1.0, 0.0, count)[:, None] * longest
    values = np.stack([f.past(times[:, i], v.parameters) for i, (f, v) in enumerate(zip(forms, versions, strict=True))],
                      axis=-1)  # fmt: skip
    if pooled:
        values = values * (1.0 + APART * np.arange(LANES))
    return History.through(times, values.transpose(1, 0, 2))


def begin(versions: Sequence[System], parameters: Array, transient: float, pooled: bool, seed: int) -> tuple[
    State, Array, Array, tuple[RunStatus, ...]
]:  # fmt: skip
    """States of LANES versions after a transient, their times, their steps, and how each lane ended."""
    first = versions[0]
    if first.kind == "dde":
        return _delay_begun(versions, parameters, transient, pooled, seed)
    states = np.array([[*v.state.values()] for v in versions]).T
    if pooled and first.kind == "pde":
        states = states * (1.0 + APART * np.arange(LANES))
    h = np.full(LANES, STEPS[field_name(first)]) if first.kind == "pde" else _noise_step(first, states, parameters)
    moving = placed(first, states, parameters, h=h, seed=seed)
    steps = max(1, round(transient / float(h.max()) / 50))
    ended: tuple[RunStatus, ...] = (STATUSES[0],) * LANES
    if transient > 0:
        ended = moved(moving, 50, steps=steps).status
    return present(moving), moving.t.copy(), h, ended


def _delay_begun(
    versions: Sequence[System], parameters: Array, transient: float, pooled: bool, seed: int
) -> tuple[State, Array, Array, tuple[RunStatus, ...]]:
    first = versions[0]
    form = delay_form(first)
    h = form.delays(parameters).min(axis=0) / PER_DELAY
    moving = placed(first, histories(versions, h, pooled), parameters, h=h, seed=seed)
    pilot = moved(moving, 64, steps=max(1, min(PILOT_STEPS, round(transient / float(moving.h.max()))) // 64))
    norm = np.full(LANES, 1e-12)
    late = pilot.states[len(pilot.states) // 2 :]  # where the start may be far from is no measure of the set
    for before, now in pairwise(late):
        # the norm of the derivative by present and past values, at pairs of states that are both on the orbit
        both = np.concatenate([now, *(before[[form.variables.index(one.of)]] for one in form.delayed.values())])
        jacobian = slope(form.base, both, parameters)[1]
        norm = np.fmax(norm, np.sqrt((np.where(np.isfinite(jacobian), jacobian, 0.0) ** 2).sum(axis=(0, 1))))
    least = form.delays(parameters).max(axis=0) / MAX_STEPS_PER_DELAY
    status: list[RunStatus] = [
        "stalled" if was == "ok" and STIFFNESS / norm[i] < least[i] else was for i, was in enumerate(pilot.status)
    ]
    # a lane that has ended says nothing about the step, nor does it end the others
    norm = np.where([was == "ok" for was in status], norm, 1e-12)
    if pooled:  # growth of all lanes is divided by one interval, while what the pilot met differs from lane to lane
        norm[:] = norm.max()
    h = steps_of_delays(form, parameters, np.minimum(h, STIFFNESS / norm))[1]
    following = placed(first, present(moving), parameters, h=h, seed=seed)
    ended = moved(following, 50, steps=max(1, round(transient / float(h.max()) / 50))).status
    ends = tuple(last if was == "ok" else was for was, last in zip(status, ended, strict=True))
    return present(following), following.t.copy(), h, ends


def _noise_step(system: System, states: Array, parameters: Array) -> Array:
    if system.discrete:
        return np.ones(LANES)
    jacobian = slope(noisy_form(system).drift, states, parameters)[1]
    return np.full(LANES, NOISE_STEP / max(1.0, float(np.sqrt((jacobian**2).sum(axis=(0, 1))).max())))


def exponents_of(system: System, states: State, parameters: Array, h: Array, seed: int) -> int:
    """How many exponents are measured: of a delay equation so many that their sum is negative, if 16 are enough."""
    if system.noisy:
        return 1
    if system.kind == "pde":
        return EXPONENTS[field_name(system)]
    for k in DELAY_EXPONENTS[:-1]:
        trial = moved(
            placed(system, states, parameters, k, h=h, seed=seed), TRIAL_RECORDS, steps=_half_delay(system, h)
        )
        if np.nanmean(trial.growth.sum(axis=1)[TRIAL_RECORDS // 4 :]) < 0:
            return k
    return DELAY_EXPONENTS[-1]


def _half_delay(system: System, h: Array) -> int:
    """Steps of half the longest delay: over a whole one even fast decaying deviations are still told apart."""
    return max(8, int(system.longest_delay / float(h.max())) // 2)


def lengths(system: System, settings: Settings, horizon: int, k: int, h: Array) -> tuple[int, int, int, int, int]:
    """Records, renormalisations a record, steps between these, states of the series, and steps between two of these."""
    between, brief = STEPS_BETWEEN[system.kind], settings.records / Settings.records
    if system.kind == "dde":
        longer, steps = max(1, horizon // 4), _half_delay(system, h)
        intervals = int(DELAY_STEPS * brief) * longer // ((1 + k) * steps)
        each = max(1, intervals // DELAY_RECORDS)
        return intervals // each, each, steps, SERIES_LONGER * settings.series, between
    if system.kind == "pde":
        longer = max(1, horizon // 4)  # a single label begins with 4
        return (
            int(FIELD_RECORDS * brief) * longer,
            FIELD_RENORMALISATIONS,
            settings.steps,
            FIELD_SERIES * min(longer, 4),
            between,
        )
    series = settings.series * min(horizon, 4)
    return settings.records // 16 * min(horizon, 16), settings.renormalisations, settings.steps, series, between


def spline_maxima(series: Array) -> Array:
    """Values of the local maxima of the series' (n, d) widest variable, by a cubic spline."""
    x = series[:, int(np.argmax(np.ptp(series, axis=0)))]
    return CubicSpline(np.arange(len(x)), x)(maxima_of(x))


def maxima_of(x: Array) -> Array:
    """The places, in samples, of the local maxima of a series (n,), by a cubic spline."""
    curve = CubicSpline(np.arange(len(x)), x)
    turning = curve.derivative().roots(extrapolate=False)
    turning = turning[np.isfinite(turning)]
    return np.asarray(turning[curve(turning, 2) < 0.0])


def pasts(system: System, series: Array, step: float, places: Array) -> History:
    """Pasts that end at places (LANES,) of a series (n, d) of present values, `step` of time apart."""
    back = int(np.ceil(system.longest_delay / step)) + 3
    whole = CubicSpline(step * np.arange(len(series)), series)
    times = step * np.arange(-back, 1)[:, None] * np.ones(LANES)
    ends = step * np.maximum(np.asarray(places), back)
    return History.through(times, np.stack([whole(ends[i] + times[:, i]) for i in range(LANES)], axis=-1))


def runs(
    system: System,
    states: State,
    t: Array,
    h: Array,
    parameters: Array,
    settings: Settings,
    horizon: int,
    leading: int | None = None,
) -> tuple[Run, Run, Moving, Array]:
    """The run of the deviations, the run of the series behind it, where that one ended, and the step's error per lane.

    Under noise the error of an exponent is of the order of the step: twice the difference that half the step makes on
    the same path (Talay 1991, Lect. Notes Math. 1486:124). `leading` exponents are enough if it is given.
    """
    k = leading if leading is not None and not system.noisy else exponents_of(
        system, states, parameters, h, settings.seed
    )  # fmt: skip
    records, renormalisations, steps, count, between = lengths(system, settings, horizon, k, h)
    # another seed than the transient's, whose path would be gone along again
    moving = placed(system, states, parameters, k, h=h, t=t, seed=settings.seed + 1)
    error = np.zeros(LANES)
    if isinstance(moving, NoisyBlock) and not system.discrete:
        coarse = noisy_block(moving.system, moving.states, k, h=2 * h, seed=settings.seed + 1, method=moving.method,
                             parameters=parameters, fine=2, t=t)  # fmt: skip
        before = noisy_run(coarse, records, steps=steps * renormalisations // 2)
    tangent = moved(moving, records, steps=steps, renormalisations=renormalisations)
    if isinstance(moving, NoisyBlock) and not system.discrete:
        error = 2 * np.abs((tangent.growth - before.growth).mean(axis=(0, 1)) / tangent.interval)
    following = placed(system, present(moving), parameters, h=h, t=moving.t, seed=settings.seed + 2)
    return tangent, moved(following, count, steps=between), following, error
