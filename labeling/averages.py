"""Time averages over the labelled set: do they agree between starts, and between halves? Does the range still grow?

One run of LANES orbits, spread over the set, serves all: over the attractor, or over the whole sampling box where
volume is preserved and nothing attracts.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from dynamics.block import Array, single_orbit
from dynamics.codegen import LANES
from dynamics.lanes import State, moved, placed
from indicators.sampling import sampling
from labeling.evidence import Evidence
from labeling.sets import ensemble
from labeling.settings import share

LONGEST, FEWEST, LEAST = 16_384, 512, 64  # samples of a lane; LEAST where FEWEST are AFFORDABLE budgets or more
AFFORDABLE = 4
PER_TURN = 12  # samples of an autonomous flow per turn
BUDGET, FIELD_BUDGET = 750_000, 20_000  # steps of a lane; of a field's, which cost a thousand times as much
BATCHES = 16  # of a lane, for the standard error of its average
SIGMAS = 5.0  # standard errors within which averages agree
RESOLVED = 0.25  # of the standard deviation: five standard errors must be below it
SAME, APART = 0.02, 0.1  # of the standard deviation: averages so near agree, so far differ, whatever the errors say


@dataclass(frozen=True)
class Averages:
    """The run behind the statistical predicates of one evidence.

    `whole` says that the set is the whole sampling box (volume is preserved), not an attractor.
    """

    e: Evidence

    @cached_property
    def whole(self) -> bool:
        """Whether the set is the whole phase space: nothing attracts where volume is preserved."""
        return self.e.system.preserves_volume and self.e.system.discrete

    @cached_property
    def interval(self) -> int:
        """Steps between samples: one iterate, one forcing period, or a twelfth of a turn."""
        s = self.e.system
        if s.discrete:
            return 1
        if s.forcing_period is not None:
            return max(1, round(s.forcing_period / self.e.h))
        x = self.e.observable
        if s.noisy:  # a path with noise crosses its mean as often as it is looked at
            return max(1, round(sampling(x).stride * self.e.series_step / self.e.h))
        above = x > x.mean()
        turns = max(1, int((~above[:-1] & above[1:]).sum()))
        return max(1, round(len(x) * self.e.series_step / turns / PER_TURN / self.e.h))

    @cached_property
    def samples(self) -> Array:
        """States (n, d, LANES) at equal times, of lanes that begin at places spread over the set."""
        e, s = self.e, self.e.system
        period = s.forcing_period if s.kind == "ode" else None
        if self.whole:
            starts: State = np.array([[*v.state.values()] for v in ensemble(s, e.seed)[:LANES]]).T.copy()
        elif period is not None:
            path = e.strobed if len(e.strobed) >= LANES else self._periods_on(period)
            starts = path[np.linspace(0, len(path) - 1, LANES).astype(int)].T.copy()
        else:
            starts = e.states_at(np.linspace(0, len(e.series) - 1, LANES).astype(int))
        budget = FIELD_BUDGET if s.kind == "pde" else BUDGET * share(s)
        least = FEWEST if FEWEST * self.interval <= AFFORDABLE * budget else LEAST
        count = int(np.clip(budget // self.interval, least, LONGEST))
        parameters = np.repeat(e.parameters[:, None], LANES, axis=1)
        periods = None if period is None else np.full(LANES, period)
        moving = placed(s, starts, parameters, h=e.h, t=e.t, periods=periods, seed=e.seed)
        return moved(moving, count, steps=self.interval).states

    def _periods_on(self, period: float) -> Array:
        """The states after each of the LANES periods that follow the series (LANES, d), where it spans fewer."""
        e = self.e
        start = np.array([*e.end.values()])
        return single_orbit(e.system, start, e.h, max(1, round(period / e.h)), LANES, 0.0, period)[0]

    @cached_property
    def observables(self) -> Array:
        """Observables of the samples, (n, m, LANES): variables (cosine and sine on circles) and their squares."""
        columns = []
        for c, name in enumerate(self.e.system.state):
            x = self.samples[:, c]
            if name in self.e.system.circle:
                angle = 2 * np.pi * x / self.e.system.circle[name]
                columns += [np.cos(angle), np.sin(angle), np.cos(2 * angle)]
            else:
                centred = x - x.mean()
                columns += [centred, centred**2]
        return np.stack(columns, axis=1)

    @cached_property
    def _errors(self) -> tuple[Array, Array, Array]:
        """Standard deviation (m,), averages per batch and lane (BATCHES, m, LANES), largest standard error (m,)."""
        x = self.observables
        deviation = x.std(axis=(0, 2))
        batches = np.array([part.mean(axis=0) for part in np.array_split(x, BATCHES)])
        error = (batches.std(axis=0, ddof=1) / np.sqrt(BATCHES)).max(axis=1)
        return np.maximum(deviation, 1e-300), batches, error

    def agreement(self, *, halves: bool = False) -> tuple[bool | None, dict[str, float]]:
        """Whether averages agree between lanes (with `halves`, also between each lane's halves); None if unresolved.

        They agree within five standard errors, where those are small, or within 2 % of the standard deviation; they
        differ by more than both five standard errors and 10 % of it. The evidence is of the worst observable.
        """
        deviation, batches, error = self._errors
        lanes = batches.mean(axis=0)
        gap = np.ptp(lanes, axis=1) / 2
        if halves:
            split = np.abs(batches[: BATCHES // 2].mean(axis=0) - batches[BATCHES // 2 :].mean(axis=0))
            gap = np.maximum(gap, split.max(axis=1) / 2)
        gap, allowed = gap / deviation, SIGMAS * error / deviation
        figures = {"gap": float(gap.max()), "five_standard_errors": float(allowed.max()), "samples": len(self.samples)}
        if not np.isfinite(gap).all():
            return None, figures
        if ((gap > allowed) & (gap > APART)).any():
            return False, figures
        agree = (gap <= SAME) | ((gap <= allowed) & (allowed <= RESOLVED))
        return (True if agree.all() else None), figures

    def range_growth(self) -> tuple[float, float]:
        """By what factor the range of the variables off circles grew over the last two doublings of the time."""
        free = [c for c, name in enumerate(self.e.system.state) if name not in self.e.system.circle]
        if not free:
            return 1.0, 1.0
        x = self.samples[:, free]
        n = len(x)
        ranges = [np.ptp(x[: n // part], axis=0).max(axis=1) for part in (4, 2, 1)]
        first, second = (b / np.maximum(a, 1e-300) for a, b in pairwise(ranges))
        return float(first.max()), float(second.max())
