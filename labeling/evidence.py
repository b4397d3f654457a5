"""What the runs at one point left: growth, series and maxima, and the indicators taken of them."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

from dynamics.block import Array, RunStatus, at_phase_zero
from dynamics.cycles import wrapped
from dynamics.lanes import State
from dynamics.system import System
from indicators.dimension import kaplan_yorke_dimension
from indicators.entropy import permutation_entropy
from indicators.estimate import Estimate, without_value
from indicators.lyapunov import largest_exponent, lyapunov_max, lyapunov_spectrum, reaching_zero
from indicators.megno import megno
from indicators.sampling import sampling
from indicators.zero_one import FEWEST_VALUES, zero_one_k
from labeling import other_kinds
from labeling.turns import FEW_MAXIMA

ALIGNMENT = 0.05  # of a run, in which the deviations still turn into their Lyapunov directions
LONGEST_RETURN = 128  # iterates or turns
PLACES = 512  # along the orbit at which returns are compared
CLEARLY = 0.7  # a longer return must be better than a shorter one by this factor
NEAR, NEAR_ONE = 0.2, 0.8
POINT = 1e-5  # of the extent: maxima that repeat so closely are one, seen through the error of their parabola
UNFOLDED = 8  # places of a past that stand for it; above twice the dimension of a set below 4
DEFECT = 1e-3  # of the largest exponent: a tangent defect above it is one of the step, which is then refined
STILL = 1e-9  # extent of a series, relative to the size of the state, below which nothing moves


@dataclass(frozen=True)
class Evidence:
    """What one point's runs left: growth (n, k, lanes) per `interval`, a series (N, d) per `series_step`, and the rest.

    `maxima` are local maxima of the widest variable of a flow (empty for a map), `h` is the step, `t` the time at which
    the series begins, `horizon` the factor by which the settings' lengths were multiplied, `divergence` the mean of
    div f along the run of the deviations (NaN where it was not gathered), `step_error` what is known otherwise of the
    step's effect on an exponent. `singular` : only its deviations blew up, where the rule has no slope.
    """

    system: System
    status: RunStatus
    growth: Array
    interval: float
    series: Array
    series_step: float
    maxima: Array
    h: float
    t: float
    horizon: int
    seed: int
    divergence: float = math.nan
    step_error: float = 0.0
    singular: bool = False

    @property
    def parameters(self) -> Array:
        """Parameter values in the row's order, (n,)."""
        return np.array([*self.system.parameters.values()])

    @cached_property
    def strobed(self) -> Array:
        """The series once per forcing period (n, d), and the iterates themselves for a map."""
        period = self.system.forcing_period if not self.system.discrete else None
        if period is None:
            return self.series
        return self.series[round(period / self.series_step) - 1 :: round(period / self.series_step)]

    @cached_property
    def end(self) -> dict[str, float]:
        """The last state of the series, carried on to phase 0 of a forcing; the start, if the run failed."""
        if self.status != "ok":
            return dict(self.system.state)
        last = at_phase_zero(self.system, self.series[-1], self.t + len(self.series) * self.series_step, self.h)
        return dict(zip(self.system.state, map(float, last), strict=True))

    def states_at(self, places: Array, apart: Array | None = None) -> State:
        """The states (d, LANES) at places (LANES,) of the series, or pasts that end there, with `apart` added."""
        if self.system.kind == "dde":
            pasts = other_kinds.pasts(self.system, self.series, self.series_step, places)
            return pasts if apart is None else pasts.moved(apart)
        states = self.series[places].T.copy()
        return states if apart is None else states + apart

    @cached_property
    def unfolded(self) -> Array:
        """States of a delay equation in place of its pasts: each at UNFOLDED times spread over the longest delay."""
        lags = np.round(np.linspace(0.0, self.system.longest_delay / self.series_step, UNFOLDED)).astype(int)
        n = len(self.series) - lags[-1]
        return np.concatenate([self.series[lags[-1] - lag : lags[-1] - lag + n] for lag in lags], axis=1)

    @cached_property
    def extent(self) -> Array:
        """How far each variable ranges over the series, (d,); half the circumference at most on a circle."""
        out = np.ptp(self.series, axis=0)
        for c, name in enumerate(self.system.state):
            if name in self.system.circle:
                out[c] = min(out[c], self.system.circle[name] / 2)
        return out

    @cached_property
    def scale(self) -> float:
        """Size of the states reached, at least 1e-3."""
        return max(float(np.abs(self.series).max()), 1e-3)

    @cached_property
    def still(self) -> bool:
        """Whether the series does not move at all."""
        return bool(self.extent.max() <= STILL * self.scale)

    @cached_property
    def observable(self) -> Array:
        """The scalar series for the 0-1 test and permutation entropy: the variable that ranges furthest, off circles.

        On a circle its cosine is taken: the jump at the seam is no dynamics.
        """
        names = list(self.system.state)
        free = [c for c, name in enumerate(names) if name not in self.system.circle]
        if free:
            return self.series[:, max(free, key=lambda c: self.extent[c])].copy()
        return np.cos(2 * np.pi * self.series[:, 0] / self.system.circle[names[0]])

    @cached_property
    def spectrum(self) -> Estimate:
        """Lyapunov spectrum."""
        if self.status != "ok":
            return without_value("diverged", f"the orbit {self.status}")
        growth = self.growth[int(ALIGNMENT * len(self.growth)) :]
        return reaching_zero(lyapunov_spectrum(growth, self.interval, defect=self.defect))

    @cached_property
    def defect(self) -> float:
        """The sum of the exponents less the mean divergence, which it should be, in size: what the step's errors did.

        Where the divergence was not gathered it is the step's known error, 0 for a map, whose growth is exact.
        """
        if not math.isfinite(self.divergence):
            return self.step_error
        return abs(float(self.growth.sum(axis=1).mean()) / self.interval - self.divergence)

    @cached_property
    def too_coarse(self) -> bool:
        """Whether the defect matters: beside the largest exponent, or beside ln T/T where all are near 0."""
        if self.status != "ok" or not math.isfinite(self.divergence):
            return False
        if not self.system.switches and np.isneginf(self.growth).any():
            return True  # a smooth flow makes no deviation vanish
        if self.spectrum.value is None:
            return False
        duration = max(len(self.growth) * self.interval, math.e)
        largest = float(np.abs(np.atleast_1d(self.spectrum.value)).max())
        return self.defect > DEFECT * max(largest, math.log(duration) / duration)

    @cached_property
    def volume_exponent(self) -> Estimate:
        """Mean rate of growth of volume along the orbit: the sum of all exponents, with an interval of its own."""
        if self.status != "ok":
            return without_value("diverged", f"the orbit {self.status}")
        total = self.growth.sum(axis=1)
        if np.isneginf(total).any():
            return without_value("diverged", "a deviation vanished", superstable=True)
        return lyapunov_max(total[int(ALIGNMENT * len(total)) :], self.interval, defect=self.defect)

    @cached_property
    def largest(self) -> Estimate:
        """Largest Lyapunov exponent."""
        return largest_exponent(self.spectrum)

    @cached_property
    def megno(self) -> tuple[Estimate, Estimate]:
        """Mean MEGNO and its slope."""
        if self.status != "ok":
            nothing = without_value("diverged", f"the orbit {self.status}")
            return nothing, nothing
        if self.system.noisy:
            nothing = without_value("not_applicable", "noise")
            return nothing, nothing
        return megno(self.growth[:, 0], self.interval, continuous=True)

    @cached_property
    def section(self) -> Array:
        """What a return is seen by: a map's iterates (n, d), a flow's maxima (n, 1).

        Of a flow whose variables are all angles it is the states (n, d): once per forcing period, or where the
        observable is largest.
        """
        if self.system.discrete or not self.on_angles:
            return self.series if self.system.discrete else self.maxima[:, None]
        if self.system.forcing_period is not None:
            return self.strobed
        places = np.arange(len(self.series))
        rising = CubicSpline(places, self.observable).derivative()
        turning = rising.roots(extrapolate=False)
        peaks = turning[rising.derivative()(turning) < 0.0]
        return np.asarray(CubicSpline(places, self.series)(peaks))

    @cached_property
    def near_return(self) -> tuple[int, Array]:
        """The number of iterates (or turns) up to LONGEST_RETURN after which the orbit comes back best, and the gaps.

        The gaps (n,) are relative to the extent, one for each place along the orbit.
        """
        path = self.section
        if len(path) < 8:
            return 1, np.full(1, np.inf)
        states = self.system.discrete or self.on_angles
        size = max(float(self.extent.max() if states else np.ptp(path)), 1e-12 * self.scale)
        best, best_gap, least = 1, np.full(1, np.inf), np.inf
        longest = min(LONGEST_RETURN, len(path) // 8)
        places = np.unique(np.linspace(0, len(path) - 1 - longest, PLACES).astype(int)) if longest else np.empty(0, int)
        for m in range(1, longest + 1):
            step = path[places + m] - path[places]
            gap = np.abs(wrapped(self.system, step.T) if states else step.T).max(axis=0) / size
            middle = float(np.median(gap))
            if middle < CLEARLY * least:
                best, best_gap, least = m, gap, middle
        return best, best_gap

    @property
    def turned(self) -> bool:
        """Whether a flow turned often enough for the 0-1 test of its maxima (angles have none, and need none)."""
        return self.system.discrete or self.on_angles or len(self.maxima) >= FEW_MAXIMA

    @property
    def on_angles(self) -> bool:
        """Whether every variable is an angle."""
        return len(self.system.circle) == self.system.dimension

    @cached_property
    def zero_one(self) -> Estimate:
        """K of the 0-1 test: of a map's iterates, of a flow's maxima (of its series, where there are too few).

        Where it is not near 1 and the orbit nearly returns after m iterates or turns, K is taken of every m-th value as
        well: the m-th iterate is chaotic if and only if the orbit is, and the noise within bands that are visited
        in turn shows there alone. The larger of the two counts.
        """
        if self.status != "ok":
            return without_value("diverged", f"the orbit {self.status}")
        if self.system.noisy:
            return without_value("not_applicable", "noise, which K cannot tell from chaos")
        if self.still:
            return without_value("undefined", "the series is constant")
        count = len(self.maxima)
        if not self.system.discrete and count < FEW_MAXIMA:
            k = zero_one_k(self.observable, seed=self.seed)
            if k.value is not None or self.turned:
                return k
            return without_value("not_applicable", "too few turns", turns=count)
        m, gaps = self.near_return
        if not self.system.discrete and np.median(gaps) * np.ptp(self.maxima) <= POINT * self.extent.max():
            return without_value("undefined", "section is a point", turns=m)
        values = self.observable if self.system.discrete else self.maxima
        k = zero_one_k(values, seed=self.seed)
        few = not self.system.discrete and k.evidence.get("n", FEWEST_VALUES) < FEWEST_VALUES
        if few:  # maxima that creep, as those along a spiral do
            return without_value("not_applicable", f"too few turns: {k.evidence['reason']}", turns=count)
        if k.value is None or k.number > NEAR_ONE or m == 1 or np.median(gaps) > NEAR or len(values) < FEW_MAXIMA * m:
            return k
        strided = zero_one_k(values[::m], stride=1, seed=self.seed)
        if strided.value is None or strided.number <= k.number:
            return k
        return Estimate(
            strided.value, strided.error, strided.status, strided.evidence | {"stride": m, "rule": "near return"}
        )

    @cached_property
    def entropy(self) -> Estimate:
        """Permutation entropy of order 5."""
        if self.status != "ok":
            return without_value("diverged", f"the orbit {self.status}")
        if self.still:
            return Estimate(0.0, 0.0, "ok", {"reason": "the series is constant"})
        stride = sampling(self.observable).stride if not self.system.discrete else 1
        return permutation_entropy(self.observable, order=5, delay=stride)

    @cached_property
    def kaplan_yorke(self) -> Estimate:
        """Kaplan-Yorke dimension."""
        if self.spectrum.value is None or np.ndim(self.spectrum.value) == 0:
            return without_value("undefined", "no Lyapunov spectrum")
        if self.system.noisy:
            return without_value("not_applicable", "one exponent is measured under noise")
        known = np.atleast_1d(self.spectrum.value)
        if not self.system.has_formula and known.sum() >= 0 and not self.system.preserves_volume:
            why = f"the sum of the {len(known)} exponents that are measured is not below 0"
            return without_value("undefined", why, at_least=len(known))
        return kaplan_yorke_dimension(self.spectrum)
