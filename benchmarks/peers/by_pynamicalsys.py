"""pynamicalsys: one parameter after another, its compiled functions kept."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from pynamicalsys import ContinuousDynamicalSystem, DiscreteDynamicalSystem

from benchmarks import inputs

MAPS = {"logistic": ("logistic map", [0.1], ()), "henon": ("henon map", [0.1, 0.1], (0.3,))}


def mapping(
    name: str, grid: list[float], at: int, length: int, transient: int, method: str = "QR"
) -> Callable[[], Any]:
    model, start, rest = MAPS[name]
    system = DiscreteDynamicalSystem(model=model)
    values = inputs.grid(*grid)

    def run() -> dict[str, float]:
        found = [
            system.lyapunov(start, length + transient, parameters=[p, *rest], transient_time=transient, method=method)
            for p in values
        ]
        return inputs.named(found[at])

    return run


def flow(
    name: str, grid: list[float], at: int, k: int, length: float, transient: float, step: float
) -> Callable[[], Any]:
    system = ContinuousDynamicalSystem(model={"lorenz63": "lorenz system", "rossler": "rossler system"}[name])
    system.integrator("rk4", time_step=step)
    values = inputs.grid(*grid)

    def run() -> dict[str, float]:
        found = []
        for p in values:
            given = [10.0, p, 8.0 / 3.0] if name == "lorenz63" else [0.2, 0.2, p]
            found.append(
                system.lyapunov(
                    [1.0, 1.0, 1.0], length + transient, parameters=given, transient_time=transient, num_exponents=k
                )
            )
        return inputs.named(found[at])

    return run


def lorenz96(n: int, length: float, transient: float, step: float) -> Callable[[], Any]:
    """It has no such model: the equations and their Jacobian are given, compiled."""
    system = ContinuousDynamicalSystem(
        equations_of_motion=lorenz96_rule, jacobian=lorenz96_jacobian, system_dimension=n, number_of_parameters=1
    )
    system.integrator("rk4", time_step=step)
    start = 8.0 + 0.01 * np.cos(np.arange(n))

    def run() -> dict[str, float]:
        return inputs.named(system.lyapunov(start, length + transient, parameters=[8.0], transient_time=transient))

    return run


@njit
def lorenz96_rule(time: float, u: Any, parameters: Any) -> Any:
    n = u.size
    du = np.empty(n)
    for i in range(n):
        du[i] = (u[(i + 1) % n] - u[i - 2]) * u[i - 1] - u[i] + parameters[0]
    return du


@njit
def lorenz96_jacobian(time: float, u: Any, parameters: Any) -> Any:
    n = u.size
    J = np.zeros((n, n))
    for i in range(n):
        J[i, (i + 1) % n] += u[i - 1]
        J[i, i - 2] -= u[i - 1]
        J[i, i - 1] += u[(i + 1) % n] - u[i - 2]
        J[i, i] -= 1.0
    return J
