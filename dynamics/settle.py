"""From an initial condition onto the invariant set, and the fixed step that the orbit there deserves."""

from dataclasses import dataclass

import numpy as np

from dynamics.adaptive import AdaptiveRun, adaptive_run
from dynamics.block import Array, Block, RunStatus, block, run
from dynamics.codegen import LANES
from dynamics.system import System

TOLERANCE = 1e-8  # local error per step, relative, at which the pilot run finds its steps
STIFFNESS = 0.15  # largest step times norm of the Jacobian: below it a deviation's error per step is under 1e-7
CAREFUL = 0.25  # of the step that the Jacobian at the start allows: of a pilot that has no step control
BEGINNING, PILOT = 0.02, 0.2  # of the transient: integrated adaptively, first without and then with counting the steps
MOST_STEPS = 3_000_000  # of a transient, however small the step must be
BADLY_SCALED = 100  # factor between the pilot's smallest step and the norm's, from which the units are to blame
RECORDED = 50  # times at which the rest of a transient is checked for escape
PROBES = 64  # states of the pilot run at which the Jacobian's norm is taken


@dataclass(frozen=True)
class Settled:
    """States (d, LANES) after the transient, at times t (LANES,), the fixed step h (LANES,; 1 for a map), and statuses.

    The step of a periodically forced flow divides the forcing period by a power of two.
    """

    states: Array
    t: Array
    h: Array
    status: tuple[RunStatus, ...]


def settled(
    system: System,
    states: Array,
    parameters: Array,
    transient: float,
    periods: Array | None = None,
    most_steps: int = MOST_STEPS,
    finer: int = 1,
) -> Settled:
    """Drop a transient (iterates of a map, time of a flow) and choose every lane's fixed step for what follows.

    The flow's pilot run is adaptive. Its smallest step keeps every later local error within the pilot's tolerance, and
    the Jacobian along the run keeps the deviations as accurate. The choice is made from the state alone, lane by lane,
    so an orbit does not depend on its neighbours or on whether deviations are carried. `periods` (LANES,) are the
    forcing periods of a forced flow; `most_steps` cuts the transient short where steps are small; `finer` divides every
    fixed step.
    """
    if system.kind == "map":
        moving = block(system, states, parameters, 0)
        result = run(moving, RECORDED, steps=max(1, round(transient / RECORDED)))
        return Settled(moving.states, moving.t, np.ones(LANES), result.status)
    if system.switches:
        moving, pilot = _jumping_pilot(system, states, parameters, transient)
    else:
        moving, pilot = _pilot(system, states, parameters, transient)
    samples = np.where(np.isfinite(pilot.samples), pilot.samples, moving.states)
    probes = [states, *samples]
    norm = np.maximum.reduce([_jacobian_norm(system, probe, parameters) for probe in probes])
    h = np.minimum(pilot.smallest_step, STIFFNESS / np.maximum(norm, STIFFNESS / transient))
    stiff = h * BADLY_SCALED < pilot.smallest_step
    if stiff.any():  # the norm depends on the variables' units, and then those of their ranges are taken
        extent = np.maximum(np.ptp(samples, axis=0), 1e-12)
        own = np.maximum.reduce([_jacobian_norm(system, probe, parameters, extent) for probe in probes])
        h = np.where(stiff, np.minimum(pilot.smallest_step, STIFFNESS / np.maximum(own, STIFFNESS / transient)), h)
    h = h / finer
    if periods is not None:
        h = periods / 2 ** np.ceil(np.log2(np.maximum(periods / h, 8.0)))
    # what a pilot that ran out of attempts has not done is left to the fixed steps, whose size is known by then
    left = np.where(pilot.unfinished, transient - moving.t, (1 - BEGINNING - PILOT) * transient)
    rest = 2 ** np.ceil(np.log2(np.maximum(left / h / RECORDED, 1.0))).astype(int)
    rest = np.minimum(rest, most_steps // RECORDED)
    status: list[RunStatus] = ["ok" if more else s for s, more in zip(pilot.status, pilot.unfinished, strict=True)]
    rest[[s != "ok" for s in status]] = 1
    states, t = moving.states, moving.t.copy()
    for steps in np.unique(rest):  # powers of two, so that few groups of lanes run the same number of steps
        following = block(system, np.nan_to_num(moving.states), parameters, 0, h=h, t=moving.t, periods=periods)
        ended = run(following, RECORDED, steps=min(int(steps), 64), renormalisations=max(1, int(steps) // 64)).status
        for i in np.flatnonzero(rest == steps):
            states[:, i], t[i] = following.states[:, i], following.t[i]
            status[i] = status[i] if status[i] != "ok" else ended[i]
    return Settled(states, t if periods is None else t % periods, h, tuple(status))


def _pilot(system: System, states: Array, parameters: Array, transient: float) -> tuple[Block, AdaptiveRun]:
    moving = block(system, states, parameters, 0, h=_first_step(system, states, parameters))
    adaptive_run(moving, BEGINNING * transient, rtol=TOLERANCE, atol=TOLERANCE)  # finds its pace from a careful start
    return moving, adaptive_run(moving, PILOT * transient, rtol=TOLERANCE, atol=TOLERANCE, samples=PROBES)


def _jumping_pilot(system: System, states: Array, parameters: Array, transient: float) -> tuple[Block, AdaptiveRun]:
    """Of a flow whose rule jumps, where step control would see the jumps as errors: with steps fit for the start.

    Between jumps the steps that follow are bounded by the norm of the Jacobian, and at half of them verdicts must hold.
    """
    duration = (BEGINNING + PILOT) * transient
    norm = np.maximum(_jacobian_norm(system, states, parameters), 1.0 / transient)
    h = np.minimum(CAREFUL * STIFFNESS / norm, duration / PROBES)
    steps = int(min(np.ceil(duration / PROBES / h).max(), MOST_STEPS // PROBES))
    moving = block(system, states, parameters, 0, h=np.minimum(duration / PROBES / steps, h))
    found = run(moving, PROBES, steps=steps)
    unfinished = np.zeros(LANES, dtype=bool)
    return moving, AdaptiveRun(found.status, np.full(LANES, np.inf), found.states, unfinished)


def slope(system: System, states: Array, parameters: Array, t: Array | float = 0.0) -> tuple[Array, Array]:
    """f(u) (d, LANES) and the Jacobian (d, d, LANES) of a flow at states (d, LANES) and times t."""
    d = system.dimension
    at = block(system, states, parameters, d, t=t)
    at.deviations[:] = np.eye(d)[:, :, None]
    out = np.zeros_like(at.data)
    if at.kernels.rule is None:
        raise ValueError(f"{system.id} is a map; it has no slope")
    at.kernels.rule(out, at.data, at.p, at.t)
    shaped = out[:-LANES].reshape(d, 1 + d, LANES)
    return shaped[:, 0], shaped[:, 1:]


def _jacobian_norm(system: System, states: Array, parameters: Array, extent: Array | None = None) -> Array:
    """A bound of the spectral norm (LANES,), with the variables in units of `extent` (d, LANES) if it is given.

    The smaller of the Frobenius norm and the root of the product of the largest row and column sums, which is much the
    smaller one for many variables (Golub & Van Loan, Matrix Computations, section 2.3).
    """
    _, jacobian = slope(system, np.nan_to_num(states), parameters)
    if extent is not None:
        jacobian = jacobian * extent[None] / extent[:, None]
    size = np.abs(jacobian)
    norm = np.minimum(np.sqrt((size**2).sum(axis=(0, 1))), np.sqrt(size.sum(0).max(0) * size.sum(1).max(0)))
    return np.where(np.isfinite(norm), norm, 0.0)


def _first_step(system: System, states: Array, parameters: Array) -> Array:
    f, _ = slope(system, states, parameters)
    speed = np.sqrt((f**2).sum(axis=0)) / (1.0 + np.sqrt((states**2).sum(axis=0)))
    return 1e-3 / np.maximum(np.where(np.isfinite(speed), speed, 1.0), 1.0)
