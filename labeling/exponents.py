"""Lyapunov exponents of one system at many parameter values or from many starts, by one call."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from dynamics.block import Array
from dynamics.codegen import LANES, is_looped
from dynamics.kernel import kernel
from dynamics.pace import paced
from dynamics.renormalisation import allowed
from dynamics.run_alone import Alone
from dynamics.sweep_run import Blocks, blocks, in_threads, run_blocks
from dynamics.system import System
from indicators.lyapunov import BATCHES_ALONE, CONVERGED, LEVEL, VERDICT_LEVEL

RECORDS = 2 * BATCHES_ALONE
TRIALS = 16  # Gram-Schmidt intervals in which the growth of the deviations is looked at
RAREST = 256  # steps or iterates between two orthonormalisations
ALIGNMENT = 0.05  # of the length, gone along before it is measured
FEW = 8  # points of a system of many variables that are each moved alone
QUANTILES = tuple(float(student.ppf(0.5 + level / 2, BATCHES_ALONE - 1)) for level in (LEVEL, VERDICT_LEVEL))
PART = 128  # blocks that a thread takes at a time


@dataclass(frozen=True)
class _Asked:
    system: System
    k: int
    length: float
    transient: float
    step: float | None
    tolerance: float
    method: str
    seed: int


@dataclass(frozen=True)
class Exponents:
    """Exponents at V points, largest first: values and errors (V, k), nats per unit time or iterate.

    errors : half-widths at 95 %; errors_999 : those for verdicts. status (V,) : ok, not_converged or diverged (values
    are then NaN, or minus infinity for superstable orbits). step (V,) : the fixed step, 1 for a map. length (V,) : the
    time or the iterates averaged over, at least what was asked for. between : steps between orthonormalisations.
    """

    values: Array
    errors: Array
    errors_999: Array
    status: NDArray[np.str_]
    step: Array
    length: Array
    between: int


def exponents_over(
    system: System,
    values: Mapping[str, ArrayLike] | None = None,
    *,
    length: float,
    transient: float,
    k: int | None = None,
    step: float | None = None,
    tolerance: float = 1e-8,
    method: str = "dp5",
    states: ArrayLike | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Exponents:
    """The k largest Lyapunov exponents (all, if None) of a map or flow at V points; see indicators.lyapunov.

    values : (V,) values of each parameter that is varied, the others stand in the row. states : (d, V) initial
    conditions, None for the row's own. length, transient : iterates of a map or time units of a flow that are averaged
    over and dropped before. step : fixed step of a flow; None: per point, the largest at which local errors stay below
    `tolerance` (dynamics.pace). method : dp5, rk4, or dop853 for tolerances below 1e-7. threads : of this process; the
    result is the same for any number.

    Benettin, Galgani, Giorgilli & Strelcyn 1980, Meccanica 15:9. Orthonormalised as rarely as the measured
    growth allows (dynamics.renormalisation). Half-widths as in `lyapunov_spectrum` for a single run, each with the
    defect |sum of exponents - mean divergence| of a flow whose exponents are all measured.
    Raises ValueError for parameters that the system lacks, arrays of different lengths, NaN, a length not above 0, and
    systems of other kinds.
    """
    k = system.dimension if k is None else k
    asked = _checked(_Asked(system, k, length, transient, step, tolerance, method, seed))
    parameters, begun, count = _points(system, values or {}, states)
    few = count if is_looped(system) and count <= FEW else 0
    each = 1 if system.kind == "ode" and step is None else PART  # neighbours need like steps, those further off do not
    begin = in_threads(lambda which: _begun(asked, begun[which], parameters[which], few), len(begun), each, threads)
    between = min(allowed_ for _, allowed_ in begin)
    parts = in_threads(lambda which: _measured(asked, begin[which.start][0], between), len(begin), 1, threads)
    found, error, error_999, h, total = (np.concatenate(each) for each in zip(*parts, strict=True))
    found, error, error_999 = (np.moveaxis(x, 1, 2).reshape(-1, k)[:count] for x in (found, error, error_999))
    largest = np.abs(found).max(axis=1)
    resolution = 3 * np.log(np.maximum(total.ravel()[:count], math.e)) / total.ravel()[:count]
    sharp = error.max(axis=1) <= np.maximum(CONVERGED * largest, resolution)
    status = np.where(np.isfinite(found).all(axis=1), np.where(sharp, "ok", "not_converged"), "diverged")
    return Exponents(found, error, error_999, status, h.ravel()[:count], total.ravel()[:count], between)


def _checked(asked: _Asked) -> _Asked:
    system = asked.system
    if system.kind not in ("map", "ode"):
        raise ValueError(f"{system.id} is of kind {system.kind}; sweeps of exponents are for maps and flows")
    if not 1 <= asked.k <= system.dimension:
        raise ValueError(f"{system.id}: k is {asked.k}; from 1 to {system.dimension} exponents can be asked for")
    for name in ("length", "tolerance", "step"):
        value = getattr(asked, name)
        if value is not None and not 0.0 < value < math.inf:
            raise ValueError(f"{name} is {value}; it must be above 0 and finite")
    if system.kind == "map" and asked.step is not None:
        raise ValueError(f"{system.id} is a map; it has no step, leave it out")
    if not 0.0 <= asked.transient < math.inf:
        raise ValueError(f"transient is {asked.transient}; it must be at least 0 and finite")
    return asked


def _points(system: System, values: Mapping[str, ArrayLike], states: ArrayLike | None) -> tuple[Array, Array, int]:
    """Parameters (B, n, LANES), states (B, d, LANES) and the number of points; the last point fills the last block."""
    unknown = [name for name in values if name not in system.parameters]
    if unknown:
        raise ValueError(f"{system.id} has no parameter {unknown[0]!r}; it has {', '.join(system.parameters)}")
    columns = {name: np.atleast_1d(np.asarray(column, dtype=float)) for name, column in values.items()}
    own = np.array([*system.state.values()])[:, None]
    begun = own if states is None else np.asarray(states, dtype=float)
    if begun.ndim != 2 or len(begun) != system.dimension:
        raise ValueError(f"{system.id}: states is an array ({system.dimension}, V), not of shape {begun.shape}")
    sizes = {len(column) if column.ndim == 1 else -1 for column in columns.values()} | {begun.shape[1]}
    sizes -= {1}
    if len(sizes) > 1 or sizes & {0, -1}:
        raise ValueError(f"{system.id}: values and states must be of one length V, not {sorted(sizes)}")
    count = sizes.pop() if sizes else 1
    table = [columns.get(name, np.array([value])) for name, value in system.parameters.items()]
    points = np.array([np.broadcast_to(column, count) for column in table]).reshape(-1, count)
    if not (np.isfinite(points).all() and np.isfinite(begun).all()):
        raise ValueError(f"{system.id}: a value or state is NaN or infinite; pass finite ones only")
    return _in_blocks(points), _in_blocks(np.broadcast_to(begun, (system.dimension, count))), count


def _in_blocks(columns: Array) -> Array:
    rows, count = columns.shape
    padded = np.concatenate([columns, np.repeat(columns[:, -1:], -count % LANES, axis=1)], axis=1)
    return np.ascontiguousarray(padded.reshape(rows, -1, LANES).transpose(1, 0, 2))


def _begun(asked: _Asked, states: Array, parameters: Array, few: int) -> tuple[Blocks | list[Alone], int]:
    """Blocks on their sets, with deviations, and how many steps may lie between two orthonormalisations there.

    So many as `few` points of a system of many variables are moved alone: lanes would be more work than there are.
    """
    system = asked.system
    periods = _forcing_periods(system, parameters)
    t, h = np.zeros(periods.shape), np.ones(periods.shape)
    if system.kind == "ode" and asked.step is None:
        states, t, h = paced(
            system,
            states,
            parameters,
            periods,
            asked.k,
            transient=asked.transient or asked.length / RECORDS,
            tolerance=asked.tolerance,
            method=asked.method,
        )
    else:
        h[:] = asked.step or 1.0
        if asked.transient and few:
            steps = math.ceil(round(asked.transient / h[0, 0], 9))
            for i in range(few):
                alone = _alone(asked, states[0, :, i], parameters[0, :, i], 0, float(h[0, 0]))
                alone.step(alone.data, alone.p, alone.t, alone.h, steps)
                states[0, :, i], t[0, i] = alone.state, alone.t[0]
        elif asked.transient:
            before = blocks(system, states, parameters, 0, h=h, periods=periods, method=asked.method)
            steps = math.ceil(round(asked.transient / h[0, 0], 9))
            run_blocks(before, math.ceil(steps / RAREST), steps=min(steps, RAREST))
            states, t = before.states, before.t
    if few:
        each = [_alone(asked, states[0, :, i], parameters[0, :, i], asked.k, h[0, i], t[0, i]) for i in range(few)]
        trials = [_alone(asked, one.state, one.p, asked.k, h[0, i], t[0, i]) for i, one in enumerate(each)]
        grown = np.stack([one.run(TRIALS, steps=1, renormalisations=1)[0] for one in trials], axis=-1)
        return each, allowed(grown, RAREST)
    moving = blocks(
        system, states, parameters, asked.k, h=h, t=t, periods=periods, seed=asked.seed, method=asked.method
    )
    trial = replace(moving, data=moving.data.copy(), t=moving.t.copy())
    growth, _ = run_blocks(trial, TRIALS)
    return moving, allowed(growth, RAREST)


def _alone(asked: _Asked, state: Array, p: Array, k: int, h: float, t: float = 0.0) -> Alone:
    return Alone(asked.system, state, p, k, h=h, t=t, seed=asked.seed, method=asked.method)


def _forcing_periods(system: System, parameters: Array) -> Array:
    """Forcing periods (B, LANES), infinite where there are none."""
    shape = (len(parameters), LANES)
    if system.kind == "map" or system.autonomous:
        return np.full(shape, np.inf)
    flat = parameters.transpose(0, 2, 1).reshape(len(parameters) * LANES, -1)
    distinct, place = np.unique(flat, axis=0, return_inverse=True)
    each = [system.with_values(dict(zip(system.parameters, row, strict=True))).forcing_period for row in distinct]
    return np.array([np.inf if period is None else period for period in each])[place.ravel()].reshape(shape)


def _measured(asked: _Asked, moving: Blocks | list[Alone], between: int) -> tuple[Array, Array, Array, Array, Array]:
    """Rates, half-widths at two levels (B, k, LANES), steps and times (B, LANES)."""
    h = moving.h if isinstance(moving, Blocks) else np.array([[one.h[0] for one in moving]])
    steps = math.ceil(round(asked.length / float(h.min()), 9))
    aligning = math.ceil(ALIGNMENT * steps / between)  # in which the deviations turn into their own directions
    renormalisations = max(1, math.ceil(steps / (RECORDS * between)))
    every = math.ceil(steps / (RECORDS * renormalisations))
    total = h * (RECORDS * renormalisations * every)
    if isinstance(moving, Blocks):
        run_blocks(moving, 1, steps=between, renormalisations=aligning)
        growth, status = run_blocks(moving, RECORDS, steps=every, renormalisations=renormalisations)
        growth[~(np.broadcast_to(status[:, None, None] == 0, growth.shape))] = np.nan
        divergence = moving.divergence_integral / total
    else:
        for one in moving:
            one.run(1, steps=between, renormalisations=aligning)
        runs = [one.run(RECORDS, steps=every, renormalisations=renormalisations) for one in moving]
        growth = np.stack([grown for grown, _ in runs], axis=-1)[None]
        divergence = np.array([[mean for _, mean in runs]])
    rates, spread, trend, halves = (np.empty((len(growth), *growth.shape[2:])) for _ in range(4))
    _summarised(growth, total, rates, spread, trend, halves)
    defect = np.zeros(total.shape)
    if asked.system.kind == "ode" and asked.k == asked.system.dimension:
        defect = np.abs(rates.sum(axis=1) - divergence)
    order = np.argsort(-rates, axis=1, kind="stable")
    rates, spread, rest = (np.take_along_axis(x, order, axis=1) for x in (rates, spread, np.maximum(trend, halves)))
    error, error_999 = (np.maximum(spread * quantile, rest) + defect[:, None] for quantile in QUANTILES)
    size, neutral = np.abs(rates), (np.log(np.maximum(total, math.e)) / total)[:, None]
    least = np.where(size <= neutral, size, 0.0)  # as indicators.lyapunov.reaching_zero
    error, error_999 = np.maximum(error, least), np.maximum(error_999, least)
    return rates, error, error_999, h, total


_F2, _F3, _F4 = types.float64[:, ::1], types.float64[:, :, ::1], types.float64[:, :, :, ::1]


@kernel(types.void(_F4, _F2, _F3, _F3, _F3, _F3))
def _summarised(growth, total, rates, spread, trend, halves):  # type: ignore[no-untyped-def]
    """Of every block, direction and lane: mean rate, standard error by batch means, range about the trend line over T,
    and |rate(T) - rate(T/2)|; as indicators.lyapunov does for one run."""
    blocks_, records, k, lanes = growth.shape
    each = records // BATCHES_ALONE
    middle = (records - 1) / 2.0
    weight = records * (records * records - 1.0) / 12.0  # of the squares of the record numbers about their middle
    curve, half, batch, square = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    line, mean, low, high = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    for b in range(blocks_):
        for j in range(k):
            curve[:] = 0.0
            half[:] = 0.0
            square[:] = 0.0
            line[:] = 0.0
            mean[:] = 0.0
            for r in range(records):
                for i in range(lanes):
                    curve[i] += growth[b, r, j, i]
                    mean[i] += curve[i]
                    line[i] += (r - middle) * curve[i]
                if r == records // 2 - 1:
                    half[:] = curve
            for n in range(BATCHES_ALONE):
                batch[:] = 0.0
                for r in range(n * each, (n + 1) * each):
                    for i in range(lanes):
                        batch[i] += growth[b, r, j, i]
                for i in range(lanes):
                    gap = batch[i] / each - curve[i] / records
                    square[i] += gap * gap
            low[:] = np.inf
            high[:] = -np.inf
            for i in range(lanes):
                line[i] /= weight
                mean[i] /= records
                rates[b, j, i] = curve[i] / total[b, i]
                halves[b, j, i] = abs(curve[i] - 2.0 * half[i]) / total[b, i]
                spread[b, j, i] = math.sqrt(square[i] / (BATCHES_ALONE - 1) / BATCHES_ALONE) * records / total[b, i]
            curve[:] = 0.0
            for r in range(records):
                for i in range(lanes):
                    curve[i] += growth[b, r, j, i]
                    gap = curve[i] - mean[i] - line[i] * (r - middle)
                    low[i] = min(low[i], gap)
                    high[i] = max(high[i], gap)
            for i in range(lanes):
                trend[b, j, i] = (high[i] - low[i]) / total[b, i]
