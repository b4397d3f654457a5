"""Orbits that begin 1e-9 of the diameter apart: how fast they part, and what one is worth as a forecast of another."""

import math
from dataclasses import dataclass

import numpy as np

from dynamics.block import Array
from dynamics.codegen import LANES
from dynamics.cycles import wrapped
from dynamics.lanes import moved, placed
from labeling.evidence import STILL, Evidence

PAIRS = 128
APART = 1e-9  # of the extent, at the start
NEAR, FAR = 1e-8, 1e-2  # of the extent: six decades between which the growth is measured
PARTED = 0.1  # of the extent
TIMES = 40.0  # over the largest exponent: the time allowed
SHARE = 0.99  # of the pairs that must part
RATE = (0.75, 4 / 3)  # of the mean rate of growth to the exponent
RECORDS = 512  # of a flow's run
MOST_STEPS = 400_000
WINDOW = 16  # records over which the error of a forecast is averaged
WORTHLESS, WORTHY = 1.0, 0.9  # of the climatological variance: from, and up to, such an error a forecast is decided


@dataclass(frozen=True)
class Separation:
    """What became of PAIRS pairs of orbits on the set within 40 Lyapunov times.

    `growth_rate` : mean rate over the six decades, per unit of time. `parted` : share of pairs that reached 0.1 of the
    extent. `forecast_error` : mean square error of the forecast over the variance of the set, at its largest.
    """

    growth_rate: float
    parted: float
    forecast_error: float

    def sensitive(self, exponent: float) -> bool | None:
        """TRUE by exponential growth at the exponent's rate in 99 % of the pairs; None where that is not seen."""
        agrees = RATE[0] <= self.growth_rate / exponent <= RATE[1]
        return True if self.parted >= SHARE and agrees else None

    @property
    def unpredictable(self) -> bool | None:
        """Whether the forecast is no better than the climatological mean in the end; None in between."""
        if self.forecast_error >= WORTHLESS:
            return True
        return False if self.forecast_error <= WORTHY else None

    @property
    def figures(self) -> dict[str, float]:
        """The evidence in numbers."""
        return {"growth_rate": self.growth_rate, "parted": self.parted, "forecast_error": self.forecast_error}


def separation(e: Evidence, exponent: float) -> Separation | None:
    """The fate of pairs of orbits from places spread over the series; None where 40/exponent is beyond the budget."""
    s = e.system
    duration = TIMES / exponent
    steps = 1 if s.discrete else max(1, math.ceil(duration / e.h / RECORDS))
    records = math.ceil(duration / (steps * e.h))
    if records * steps > MOST_STEPS:
        return None
    rng = np.random.default_rng(e.seed)
    size = np.maximum(e.extent, 1e-300)[:, None]
    parameters = np.repeat(e.parameters[:, None], LANES, axis=1)
    period = s.forcing_period if s.kind == "ode" else None
    periods = None if period is None else np.full(LANES, period)
    index = np.linspace(0, len(e.series) - 1, PAIRS).astype(int)
    gaps, errors = [], []
    for part in index.reshape(-1, LANES):
        t = e.t + (part + 1) * e.series_step
        kick = rng.standard_normal((s.dimension, LANES))
        kick *= APART / np.abs(kick).max(axis=0)
        pair = [
            moved(placed(s, e.states_at(part, by), parameters, h=e.h, t=t if period is None else t % period,
                         periods=periods, seed=e.seed), records, steps=steps).states
            for by in (None, kick * size)
        ]  # fmt: skip
        difference = np.array([wrapped(s, gap) for gap in pair[1] - pair[0]])
        gaps.append(np.abs(difference / size).max(axis=1))
        errors.append(_square_error(e, difference))
    return _judged(np.concatenate(gaps, axis=1), np.concatenate(errors, axis=1), e, steps * e.h)


def _judged(gap: Array, error: Array, e: Evidence, interval: float) -> Separation:
    first = np.array([_first(gap, level) for level in (NEAR, FAR, PARTED)])
    whole = (first[0] < len(gap)) & (first[1] < len(gap))
    taken = (first[1] - first[0])[whole].mean() if whole.any() else math.inf
    passed = [np.take_along_axis(gap, np.minimum(f, len(gap) - 1)[None], axis=0)[0][whole] for f in first[:2]]
    decades = float(np.log(passed[1] / passed[0]).mean()) if whole.any() else 0.0
    mean = error.mean(axis=1)
    window = min(WINDOW, len(mean))
    smooth = np.convolve(mean, np.ones(window) / window, mode="valid")
    return Separation(decades / (taken * interval), float((first[2] < len(gap)).mean()), float(smooth.max()))


def _first(gap: Array, level: float) -> Array:
    """Index of the first record at which each pair is so far apart; the number of records where it never is."""
    reached = gap >= level
    return np.where(reached.any(axis=0), reached.argmax(axis=0), len(gap))


def _square_error(e: Evidence, difference: Array) -> Array:
    """Square of the forecast's error over the variance of the set, both summed over the variables in extents."""
    error, variance = np.zeros(difference[:, 0].shape), 0.0
    for c, name in enumerate(e.system.state):
        if name in e.system.circle:  # as a point of the unit circle
            turn = 2 * np.pi / e.system.circle[name]
            error = error + 2.0 - 2.0 * np.cos(turn * difference[:, c])
            variance += 1.0 - abs(np.exp(1j * turn * e.series[:, c]).mean()) ** 2
        elif (unit := float(e.extent[c])) > STILL * e.scale:  # of what does not move there is nothing to forecast
            error = error + (difference[:, c] / unit) ** 2
            variance += float(e.series[:, c].var()) / unit**2
    return error / max(variance, 1e-300)
