"""Equilibria and cycles found by Newton's method, with the multipliers that say whether they attract.

Equilibria and map cycles solve f^p(u) = u, cycles of flows are found by shooting, u(T) = u with a phase condition. All
linear systems are solved by least squares, so that families of orbits (centres) converge to a member nearby.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynamics.block import Array, block
from dynamics.codegen import LANES
from dynamics.run_alone import Alone
from dynamics.settle import slope
from dynamics.system import System

ITERATIONS = 30
SHOTS = 12  # iterations of multiple shooting, which starts near the orbit
RESIDUAL = 1e-9  # |f^p(u) - u| relative to 1 + |u| that counts as solved
FINER = 4  # shooting takes steps finer than the orbit's by this factor: a cycle must close to RESIDUAL
TIMING = 3  # first corrections go to the period alone: with a wrong one, a centre's orbits shrink to its equilibrium
RANK = 1e-7  # singular values below this fraction of the largest are those of a family of cycles
# turns, as many as a return time is ever guessed to hold, in each of which a cycle may have closed already
PRIMES = np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61])
NEUTRAL = 1e-5  # distance of a multiplier's modulus from 1 that shooting cannot resolve


@dataclass(frozen=True)
class Cycle:
    """A fixed point or cycle: a point (d,), its period (iterates, forcing periods or time; 0 at rest), its multipliers.

    `multipliers` are the eigenvalues of the derivative of the p-th iterate (map) or of the period map without the
    trivial 1 (flow); for an equilibrium of a flow they are exp of the Jacobian's eigenvalues, so that "inside the unit
    circle" always means stable. `residual` is |f^p(u) - u|.
    """

    point: Array
    period: float
    multipliers: NDArray[np.complex128]
    residual: float

    @property
    def modulus(self) -> float:
        """Largest modulus of a multiplier: below 1 the cycle attracts, above 1 it repels."""
        return float(np.abs(self.multipliers).max()) if len(self.multipliers) else 0.0

    @property
    def attracts(self) -> bool:
        """Whether every multiplier lies inside the unit circle."""
        return self.modulus < 1.0

    @property
    def neutral(self) -> bool:
        """Whether no multiplier leaves the unit circle beyond what shooting resolves, and one lies on it."""
        return abs(self.modulus - 1.0) <= NEUTRAL


def wrapped(system: System, difference: Array) -> Array:
    """A difference of states (d, ...), taken the short way round on circles."""
    out = difference.copy()
    for c, name in enumerate(system.state):
        if name in system.circle:
            length = system.circle[name]
            out[c] -= length * np.round(out[c] / length)
    return out


def rest_points(system: System, guesses: Array) -> list[Cycle]:
    """The equilibria (fixed points of a map) that Newton reaches from guesses (n, d), LANES of them at a time."""
    parameters = np.array([*system.parameters.values()])
    d = system.dimension
    out = []
    for begin in range(0, len(guesses), LANES):
        u = np.resize(guesses[begin : begin + LANES], (LANES, d)).T.copy()
        for _ in range(ITERATIONS):
            miss, jacobian = _rest_miss(system, u, parameters)
            good = np.isfinite(miss).all(axis=1) & np.isfinite(jacobian).all(axis=(1, 2))
            jacobian[~good], miss[~good] = np.eye(d), 0.0
            singular = np.abs(np.linalg.det(jacobian)) < 1e-300
            jacobian[singular] += 1e-8 * np.eye(d)
            try:
                change = np.linalg.solve(jacobian, -miss[:, :, None])[:, :, 0]
            except np.linalg.LinAlgError:  # far out, where what was added is lost beside 1e20
                change = -(np.linalg.pinv(jacobian) @ miss[:, :, None])[:, :, 0]
            u += np.clip(np.nan_to_num(change), -1e6, 1e6).T
            if np.abs(change).max() <= 1e-13 * (1 + np.abs(u).max()):
                break
        miss, jacobian = _rest_miss(system, u, parameters)
        for i in range(min(LANES, len(guesses) - begin)):
            residual = float(np.abs(miss[i]).max())
            if residual <= RESIDUAL * (1 + np.abs(u[:, i]).max()) and np.isfinite(jacobian[i]).all():
                values = np.linalg.eigvals(jacobian[i]).astype(complex)
                if system.kind == "ode":
                    out.append(Cycle(u[:, i].copy(), 0.0, np.exp(values).astype(complex), residual))
                else:
                    out.append(Cycle(u[:, i].copy(), 1.0, (values + 1.0).astype(complex), residual))
    return out


def _rest_miss(system: System, u: Array, parameters: Array) -> tuple[Array, Array]:
    """f(u) of a flow, f(u) - u of a map, (LANES, d), and its derivative (LANES, d, d), for states (d, LANES)."""
    if system.kind == "ode":
        f, jacobian = slope(system, u, _lanes(parameters))
        return f.T.copy(), jacobian.transpose(2, 0, 1).copy()
    moving = block(system, u, _lanes(parameters), len(u))
    moving.deviations[:] = np.eye(len(u))[:, :, None]
    moving.advance(1)
    derivative = moving.deviations.transpose(2, 0, 1) - np.eye(len(u))
    return wrapped(system, moving.states - u).T.copy(), derivative.copy()


def equilibrium(system: System, guess: Array, parameters: Array) -> Cycle | None:
    """The equilibrium of a flow that Newton reaches from a guess (d,), or None where it reaches none."""
    u = guess.copy()
    for _ in range(ITERATIONS):
        f, jacobian = (part[..., 0] for part in slope(system, _lanes(u), _lanes(parameters)))
        if not (np.isfinite(f).all() and np.isfinite(jacobian).all()):
            return None
        change = np.linalg.lstsq(jacobian, -f, rcond=None)[0]
        u = u + change
        if np.abs(change).max() <= 1e-13 * (1 + np.abs(u).max()):
            break
    f, jacobian = (part[..., 0] for part in slope(system, _lanes(u), _lanes(parameters)))
    residual = float(np.abs(f).max())
    if not (residual <= RESIDUAL * (1 + np.abs(u).max()) and np.isfinite(jacobian).all()):
        return None
    return Cycle(u, 0.0, np.exp(np.linalg.eigvals(jacobian).astype(complex)), residual)


def map_cycle(system: System, guess: Array, parameters: Array, period: int) -> Cycle | None:
    """The cycle of a map that Newton on f^p reaches from a guess (d,), under its least period, or None."""
    u = guess.copy()
    for _ in range(ITERATIONS):
        image, derivative = _iterated(system, u, parameters, period)
        miss = wrapped(system, image - u)
        if not (np.isfinite(miss).all() and np.isfinite(derivative).all()):
            return None
        change = np.linalg.lstsq(derivative - np.eye(len(u)), -miss, rcond=None)[0]
        u = u + change
        if np.abs(change).max() <= 1e-14 * (1 + np.abs(u).max()):
            break
    least = _least_period(system, u, parameters, period)
    image, derivative = _iterated(system, u, parameters, least)
    residual = float(np.abs(wrapped(system, image - u)).max())
    if not (residual <= RESIDUAL * (1 + np.abs(u).max()) and np.isfinite(derivative).all()):
        return None
    return Cycle(u, float(least), np.linalg.eigvals(derivative).astype(complex), residual)


def flow_cycle(system: System, guess: Array, parameters: Array, duration: float, h: float) -> Cycle | None:
    """The cycle of an autonomous flow that shooting reaches from a point (d,) and a return time, or None.

    Multiple shooting: the cycle is cut into LANES arcs, one a lane, which must join. The phase condition keeps the
    correction of the first point orthogonal to the flow. `h` is the step fit for the orbit; shooting takes finer ones.
    """
    d, period = len(guess), duration
    for _ in range(TIMING):
        end = _path(system, guess, parameters, period, h)[:, -1]
        f = slope(system, _lanes(end), _lanes(parameters))[0][:, 0]
        if not np.isfinite(f).all() or not f @ f > 0.0:
            return None
        period -= float(wrapped(system, end - guess) @ f / (f @ f))
        if not 0.2 * duration < period < 5 * duration:
            return None
    nodes = _path(system, guess, parameters, period, h)[:, :LANES]
    joined = np.roll(np.arange(LANES), -1)
    for _ in range(SHOTS):
        ends, transfer = _arcs(system, nodes, parameters, period, h)
        miss = wrapped(system, ends - nodes[:, joined])
        if not (np.isfinite(miss).all() and np.isfinite(transfer).all()):
            return None
        f_end, _ = slope(system, ends, _lanes(parameters))
        f_first = slope(system, nodes, _lanes(parameters))[0][:, 0]
        matrix = np.zeros((LANES * d + 1, LANES * d + 1))
        for i in range(LANES):
            rows, next_ = slice(i * d, (i + 1) * d), joined[i]
            matrix[rows, rows] += transfer[:, :, i]
            matrix[rows, next_ * d : (next_ + 1) * d] -= np.eye(d)
            matrix[rows, -1] = f_end[:, i] / LANES
        matrix[-1, :d] = f_first
        change = np.linalg.lstsq(matrix, np.append(-miss.T.ravel(), 0.0), rcond=RANK)[0]
        nodes = nodes + change[:-1].reshape(LANES, d).T
        period += float(change[-1])
        if not 0.2 * duration < period < 5 * duration:
            return None
        if np.abs(change).max() <= 1e-12 * (1 + np.abs(nodes).max()):
            break
    ends, transfer = _arcs(system, nodes, parameters, period, h)
    residual = float(np.abs(wrapped(system, ends - nodes[:, joined])).max())
    speed = float(np.abs(slope(system, nodes, _lanes(parameters))[0]).max())
    size = 1 + np.abs(nodes).max()
    if not residual <= RESIDUAL * size or speed * period <= 1e-6 * size:
        return None
    turns = _turns(system, nodes, parameters, period, h, 1e-6 * size)
    if turns > 1:
        return flow_cycle(system, nodes[:, 0], parameters, period / turns, h)
    monodromy = np.eye(d)
    for i in range(LANES):
        monodromy = transfer[:, :, i] @ monodromy
    multipliers = np.linalg.eigvals(monodromy).astype(complex)
    trivial = int(np.argmin(np.abs(multipliers - 1.0)))
    return Cycle(nodes[:, 0].copy(), float(period), np.delete(multipliers, trivial), residual)


def _turns(system: System, nodes: Array, parameters: Array, period: float, h: float, near: float) -> int:
    """A prime number of turns in which a closed orbit goes round one cycle, 1 where its period is the least one.

    The state at period / prime is at most an arc away from one of the nodes. Where it is near the first one, all others
    must return as well: an orbit that is slow somewhere is there for long.
    """
    for begin in range(0, len(PRIMES), LANES):
        primes = np.resize(PRIMES[begin : begin + LANES], LANES)
        passed = LANES // primes
        steps = int(np.ceil(FINER * period / LANES / h))
        left = period * np.maximum(1 / primes - passed / LANES, 0.0)
        moving = block(system, nodes[:, passed], _lanes(parameters), 0, h=left / steps)
        moving.advance(steps)
        gaps = np.abs(wrapped(system, moving.states - nodes[:, :1])).max(axis=0)
        for prime in primes[gaps <= near].tolist():
            steps = int(np.ceil(FINER * period / prime / h))
            moving = block(system, nodes, _lanes(parameters), 0, h=period / prime / steps)
            moving.advance(steps)
            if np.abs(wrapped(system, moving.states - nodes)).max() <= near:
                return int(prime)
    return 1


def forced_cycle(
    system: System, guess: Array, parameters: Array, t: float, turns: int, forcing: float, h: float
) -> Cycle | None:
    """The cycle of a forced flow that closes after so many forcing periods, from a point (d,) at time t, or None.

    Multiple shooting as in flow_cycle, with the period fixed and no phase condition; all d multipliers count. Its
    `period` is in forcing periods: the cycle is one of the stroboscopic map.
    """
    d, duration = len(guess), turns * forcing
    times: Array = t + duration / LANES * np.arange(LANES, dtype=np.float64)
    nodes = _path(system, guess, parameters, duration, h, t)[:, :LANES]
    joined = np.roll(np.arange(LANES), -1)
    for _ in range(SHOTS):
        ends, transfer = _arcs(system, nodes, parameters, duration, h, times)
        miss = wrapped(system, ends - nodes[:, joined])
        if not (np.isfinite(miss).all() and np.isfinite(transfer).all()):
            return None
        matrix = np.zeros((LANES * d, LANES * d))
        for i in range(LANES):
            rows, next_ = slice(i * d, (i + 1) * d), joined[i]
            matrix[rows, rows] += transfer[:, :, i]
            matrix[rows, next_ * d : (next_ + 1) * d] -= np.eye(d)
        change = np.linalg.lstsq(matrix, -miss.T.ravel(), rcond=RANK)[0]
        nodes = nodes + change.reshape(LANES, d).T
        if np.abs(change).max() <= 1e-12 * (1 + np.abs(nodes).max()):
            break
    ends, transfer = _arcs(system, nodes, parameters, duration, h, times)
    residual = float(np.abs(wrapped(system, ends - nodes[:, joined])).max())
    if not residual <= RESIDUAL * (1 + np.abs(nodes).max()):
        return None
    monodromy = np.eye(d)
    for i in range(LANES):
        monodromy = transfer[:, :, i] @ monodromy
    return Cycle(nodes[:, 0].copy(), float(turns), np.linalg.eigvals(monodromy).astype(complex), residual)


def _path(system: System, start: Array, parameters: Array, duration: float, h: float, t: float = 0.0) -> Array:
    """LANES + 1 states (d, LANES + 1) at equal times along the orbit from a point (d,) at time t."""
    steps = int(np.ceil(FINER * duration / LANES / h))
    moving = Alone(system, start, parameters, 0, h=duration / LANES / steps, t=t)
    out = [moving.state]
    for _ in range(LANES):
        moving.advance(steps)
        out.append(moving.state)
    return np.array(out).T


def _arcs(
    system: System, nodes: Array, parameters: Array, period: float, h: float, t: Array | float = 0.0
) -> tuple[Array, Array]:
    """Ends (d, LANES) and derivatives (d, d, LANES) of the arcs that begin at nodes (d, LANES), a period in all."""
    steps = int(np.ceil(FINER * period / LANES / h))
    moving = block(system, nodes, _lanes(parameters), len(nodes), h=period / LANES / steps, t=t)
    moving.deviations[:] = np.eye(len(nodes))[:, :, None]
    moving.advance(steps)
    return moving.states, moving.deviations.copy()


def cycle_points(system: System, cycle: Cycle, parameters: Array, count: int) -> Array:
    """`count` states (d, count) equally spaced in time along a cycle; for a map, its first `count` points."""
    step = 1.0 if system.kind == "map" else cycle.period / count
    inner = 1 if system.kind == "map" else max(1, int(np.ceil(step / 0.02)))
    moving = Alone(system, cycle.point, parameters, 0, h=step / inner)
    out = np.empty((len(cycle.point), count))
    for m in range(count):
        out[:, m] = moving.state
        moving.advance(inner)
    return out


def _lanes(values: Array) -> Array:
    return np.repeat(values[:, None], LANES, axis=1)


def _iterated(system: System, u: Array, parameters: Array, iterates: int) -> tuple[Array, Array]:
    """Image (d,) and derivative (d, d) of a map's iterate at a point."""
    moving = block(system, _lanes(u), _lanes(parameters), len(u))
    moving.deviations[:] = np.eye(len(u))[:, :, None]
    moving.advance(iterates)
    return moving.states[:, 0], moving.deviations[:, :, 0].copy()


def _least_period(system: System, u: Array, parameters: Array, period: int) -> int:
    moving = block(system, _lanes(u), _lanes(parameters), 0)
    for q in range(1, period):
        moving.advance(1)
        if period % q == 0 and np.abs(wrapped(system, moving.states[:, 0] - u)).max() <= 1e-8 * (1 + np.abs(u).max()):
            return q
    return period
