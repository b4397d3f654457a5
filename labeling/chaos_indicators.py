"""All indicators of one tangent pass, per orbit: exponents, MEGNO and its slope, FLI, SALI and GALI_2 .. GALI_k."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dynamics.block import Array, RunStatus, block
from dynamics.codegen import LANES
from dynamics.renormalisation import APART, rarer
from dynamics.settle import settled
from dynamics.system import System
from dynamics.tangent_run import TangentRun, tangent_run
from indicators.alignment import MINIMUM, fli, gali, sali
from indicators.estimate import Estimate, without_value
from indicators.lyapunov import lyapunov_spectrum
from indicators.megno import megno

MOST_DEVIATIONS = 10  # where no number is asked for
NUMBERS = 2**14  # of records times deviations that a lane leaves
FEWEST_RECORDS = 512
RAREST = 1024  # steps between two Gram-Schmidts, however little they do to the deviations
PILOT_TIME = 400.0  # of a flow, over which its step is chosen


@dataclass(frozen=True)
class ChaosIndicators:
    """One orbit's indicators, all from the same deviations. FLI, SALI and GALI_k are natural logarithms.

    `status` says how the orbit ended; unless it is "ok" no estimate has a value. `gali` holds GALI_2, GALI_3 ..; `sali`
    of a single deviation is `not_applicable`. `settings` are those of the run: T, h (1 for a map), steps per record,
    deviations k, seed, steps between two Gram-Schmidts and the condition number they are chosen for, and the largest
    factor by which one shortened a vector (`loss`); the last three are in the evidence of FLI, SALI and GALI too.
    """

    status: RunStatus
    exponents: Estimate
    megno: Estimate
    megno_slope: Estimate
    fli: Estimate
    sali: Estimate
    gali: tuple[Estimate, ...]
    settings: dict[str, float]


def chaos_indicators(
    system: System,
    parameters: Mapping[str, ArrayLike],
    states: ArrayLike,
    length: float,
    *,
    k: int | None = None,
    h: float | None = None,
    seed: int = 0,
) -> list[ChaosIndicators]:
    """The indicators of the orbits of a map or flow from each of m states, one for each, measured from the start on.

    parameters : values other than the row's, each a number or m of them. states : (d,) or (d, m). No transient is
        dropped: pass states on the set that is meant.
    length : iterates of a map, or time of a flow. A map goes on to the end of the record in which its length falls.
    k : deviations, 1 to d; all d, but at most 10, if not given. They begin orthonormal, drawn from `seed`.
    h : largest step of a flow; if not given, the smallest that any of the orbits needs (dynamics.settle), so give it
        where results must not depend on what else is asked for. It is made to divide `length`.

    Raises ValueError for a system that is no map or ode, values that do not fit or are not finite, or a length of fewer
    than 128 iterates or steps.
    """
    if system.kind not in ("map", "ode"):
        raise ValueError(f"{system.id}: these indicators are those of maps and flows, not of kind {system.kind!r}")
    starts = np.array(states, dtype=float)
    starts = starts[:, None] if starts.ndim == 1 else starts
    d = system.dimension
    if starts.ndim != 2 or len(starts) != d or not starts.size or not np.isfinite(starts).all():
        raise ValueError(f"{system.id}: states are finite numbers ({d},) or ({d}, m), of {', '.join(system.state)};"
                         f" not an array {np.shape(states)}")  # fmt: skip
    k = min(d, MOST_DEVIATIONS) if k is None else k
    if not 1 <= k <= d:
        raise ValueError(f"{system.id}: {k} deviations asked for; there are 1 to {d}")
    if not 0.0 < length < math.inf or (h is not None and not 0.0 < h < math.inf):
        raise ValueError(f"{system.id}: length {length} and step {h} must be finite and above 0")
    if system.discrete and h is not None:
        raise ValueError(f"{system.id} is a map; it has no step h")
    versions = _versions(system, parameters, starts.shape[1])
    blocks = [_Lanes(system, versions[i : i + LANES], starts[:, i : i + LANES]) for i in range(0, len(versions), LANES)]
    step = 1.0 if system.discrete else h or min(lanes.step(min(length, PILOT_TIME)) for lanes in blocks)
    count = math.ceil(length / step)
    if count < MINIMUM:
        raise ValueError(f"{system.id}: {count} iterates or steps are too few; at least {MINIMUM} are needed")
    steps = math.ceil(count / max(FEWEST_RECORDS, NUMBERS // k))
    records = math.ceil(count / steps)
    step = 1.0 if system.discrete else length / (records * steps)
    return [one for lanes in blocks for one in lanes.indicators(k, step, steps, records, seed)]


def _versions(system: System, parameters: Mapping[str, ArrayLike], count: int) -> list[System]:
    values = {}
    for name, given in parameters.items():
        numbers = np.asarray(given, dtype=float)
        if numbers.shape not in ((), (count,)):
            raise ValueError(f"{system.id}: parameter {name} is one number or {count}, as many as there are states, not"
                             f" of shape {numbers.shape}")  # fmt: skip
        values[name] = np.broadcast_to(numbers, count).tolist()
    return [system.with_values({name: each[i] for name, each in values.items()}) for i in range(count)]


class _Lanes:
    """Up to LANES orbits side by side; the last one fills the lanes that are left."""

    def __init__(self, system: System, versions: Sequence[System], states: Array) -> None:
        self.system, self.count = system, len(versions)
        at = np.minimum(np.arange(LANES), self.count - 1)
        self.states = states[:, at].copy()
        self.parameters = np.array([[*versions[i].parameters.values()] for i in at]).T.reshape(-1, LANES)
        periods = [None if system.discrete or system.autonomous else v.forcing_period for v in versions]
        self.periods = np.array(periods, dtype=float)[at] if all(periods) else None

    def step(self, duration: float) -> float:
        """The smallest step that one of the orbits needs over a duration from the start."""
        pilot = settled(self.system, self.states, self.parameters, duration, self.periods)
        ended_well = np.array([status == "ok" for status in pilot.status])
        return float((pilot.h[ended_well] if ended_well.any() else pilot.h).min())

    def indicators(self, k: int, h: float, steps: int, records: int, seed: int) -> list[ChaosIndicators]:
        """Of each orbit, from one pass with k deviations."""
        moving = block(self.system, self.states, self.parameters, k, h=h, periods=self.periods, seed=seed)
        between = min(rarer(moving, 1, RAREST), steps)
        made = tangent_run(moving, records, steps=steps, between=between)
        settings = {"T": records * steps * h, "h": h, "steps": steps, "k": k, "seed": seed, "between": between,
                    "condition": APART}  # fmt: skip
        gram_schmidts = records * math.ceil(steps / between)
        exact = self.system.discrete and steps == 1
        return [
            _of_lane(made, i, settings | {"loss": float(made.loss[i])}, gram_schmidts, exact) for i in range(self.count)
        ]


def _of_lane(
    made: TangentRun, i: int, settings: dict[str, float], gram_schmidts: int, per_iterate: bool
) -> ChaosIndicators:
    growth, lengths = (np.ascontiguousarray(each[:, :, i]) for each in (made.growth, made.lengths))
    interval = float(made.interval[i])
    k, status = growth.shape[1], made.status[i]
    if status == "ok" and not (np.maximum(growth, lengths) < math.inf).all():
        status = "blew_up"  # of the deviations: the state is still finite
    if status != "ok":
        at = int(made.kept[i]) * interval
        no = without_value("diverged", f"the orbit {status}", t=at)
        return ChaosIndicators(status, no, no, no, no, no, (no,) * (k - 1), settings)
    # each Gram-Schmidt changes a length by the rounding of a sum of k products, magnified by the loss
    rounding = float(np.finfo(float).eps * k * gram_schmidts * settings["loss"])
    intervals = {key: settings[key] for key in ("between", "condition", "loss")}

    def told(one: Estimate) -> Estimate:
        return replace(one, evidence=one.evidence | intervals)

    mean, slope = megno(growth[:, 0], interval, continuous=not per_iterate)
    aligned = [told(gali(lengths, growth, interval, j, rounding=rounding)) for j in range(2, k + 1)]
    single = without_value("not_applicable", "a single deviation has no other to align with")
    return ChaosIndicators(
        status,
        lyapunov_spectrum(growth, interval),
        mean,
        slope,
        told(fli(lengths, interval, rounding=rounding)),
        told(sali(lengths, growth, interval, rounding=rounding)) if aligned else single,
        tuple(aligned),
        settings,
    )
