"""LANES copies of a system of any kind, placed and moved alike, whatever its state is and whatever moves it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from dynamics.block import Array, Block, Run, block, run
from dynamics.codegen import LANES
from dynamics.delay import DelayBlock, delay_block
from dynamics.delay_run import delay_run
from dynamics.delay_system import delay_form
from dynamics.fields import field_block
from dynamics.noise import noisy_form, sharpest_method
from dynamics.noisy_block import NoisyBlock, noisy_block, noisy_run
from dynamics.system import System

Moving = Block | DelayBlock | NoisyBlock


@dataclass(frozen=True)
class History:
    """What a delay equation needs to go on from: the past of every lane, a spline of times <= 0."""

    splines: tuple[Callable[[Array], Array], ...]

    def __call__(self, times: Array) -> Array:
        """Values (d, n, LANES) at times (n, LANES)."""
        return np.stack([s(times[:, i]).T for i, s in enumerate(self.splines)], axis=-1)

    @classmethod
    def through(cls, times: Array, values: Array) -> "History":
        """From values (n, d, LANES) at times (n, LANES) that end at 0; n >= 4, and the fit is of order 4."""
        return cls(tuple(CubicSpline(times[:, i], values[:, :, i]) for i in range(LANES)))

    def moved(self, by: Array) -> "History":
        """The same past with constants (d, LANES) added."""
        return History(tuple(lambda t, s=s, i=i: s(t) + by[:, i] for i, s in enumerate(self.splines)))  # type: ignore[misc]


State = Array | History  # (d, LANES), or the past of a delay equation


def placed(
    system: System,
    states: State,
    parameters: Array,
    k: int = 0,
    *,
    h: Array | float,
    t: Array | float = 0.0,
    periods: Array | None = None,
    seed: int = 0,
) -> Moving:
    """Lanes at states (of a delay equation with pasts), with parameters (n, LANES), steps h and k deviations.

    Lanes of a system with noise each have a path of their own, which `seed` and the lane's number decide.
    """
    if system.kind == "dde":
        if not isinstance(states, History):
            raise ValueError(f"{system.id}: a delay equation starts from a history")
        return delay_block(delay_form(system), parameters, k, h=h, history=states, seed=seed)
    if isinstance(states, History):
        raise ValueError(f"{system.id}: only a delay equation starts from a history")
    if system.noisy:
        noisy = noisy_form(system)
        return noisy_block(noisy, states, k, h=h, t=t, parameters=parameters, seed=seed, method=sharpest_method(noisy))
    if system.kind == "pde":
        return field_block(system, states, k, h=h, lengths=parameters[0], seed=seed)
    return block(system, states, parameters, k, h=h, t=t, periods=periods, seed=seed)


def moved(moving: Moving, records: int, *, steps: int = 1, renormalisations: int = 1) -> Run:
    """Move lanes over `records` records of `renormalisations` Gram-Schmidt intervals of `steps` steps (block.run)."""
    if isinstance(moving, DelayBlock):
        return delay_run(moving, records, steps=steps, renormalisations=renormalisations)
    if isinstance(moving, NoisyBlock):
        return noisy_run(moving, records, steps=steps * renormalisations)
    return run(moving, records, steps=steps, renormalisations=renormalisations)


def present(moving: Moving) -> State:
    """The states that lanes have come to, from which `placed` goes on; of a delay equation the pasts."""
    if not isinstance(moving, DelayBlock):
        return moving.states
    splines = []
    for i in range(LANES):
        nodes, middles = moving.history(i), moving.history(i, middles=True)
        both = np.empty((len(nodes) + len(middles), nodes.shape[1]))
        both[::2], both[1::2] = nodes, middles
        both = np.where(np.isfinite(both), both, 0.0)
        splines.append(CubicSpline(0.5 * moving.h[i] * np.arange(1 - len(both), 1), both))
    return History(tuple(splines))
