"""lyapax: one jit of one vmap over all parameters, in double precision."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from lyapax.integrators import rk4_step
from lyapax.sweep import sweep_lyapunov_spectrum

from benchmarks import inputs
from benchmarks.peers.systems import FLOWS

jax.config.update("jax_enable_x64", True)


def swept(step: Any, start: list[float], p: Any, at: int, **settings: Any) -> Callable[[], Any]:
    """The call; what jit leaves unfinished is waited for when its values are read."""

    @jax.jit
    def run(values: Any) -> Any:
        return sweep_lyapunov_spectrum(step, jnp.array(start), {"p": values}, **settings).exponents

    values = jnp.asarray(p)
    return lambda: inputs.named(np.asarray(run(values))[at])


def flow(name: str, grid: list[float], at: int, k: int, length: float, transient: float, step: float) -> Any:
    f = FLOWS[name]

    def advance(state: Any, given: Any) -> Any:
        return rk4_step(lambda u: jnp.stack(f(u[0], u[1], u[2], given["p"])), step)(state)

    return swept(
        advance, [1.0, 1.0, 1.0], inputs.grid(*grid), at,
        dt=step, n_steps=round(length / step), k=k, renorm_every=10, t_transient=transient,
    )  # fmt: skip


def logistic(grid: list[float], at: int, length: int, transient: int) -> Any:
    def advance(state: Any, given: Any) -> Any:
        return given["p"] * state * (1.0 - state)

    return swept(advance, [0.1], inputs.grid(*grid), at, dt=1.0, n_steps=length, k=1, t_transient=float(transient))


def henon(grid: list[float], at: int, length: int, transient: int) -> Any:
    def advance(state: Any, given: Any) -> Any:
        return jnp.stack([1.0 - given["p"] * state[0] ** 2 + state[1], 0.3 * state[0]])

    return swept(advance, [0.1, 0.1], inputs.grid(*grid), at, dt=1.0, n_steps=length, k=2, t_transient=float(transient))
