"""The delay equation that several tests look at, and what its lanes start from."""

import numpy as np

from dynamics.codegen import LANES
from dynamics.delay_system import delay_system_from_row

MACKEY_GLASS = delay_system_from_row(
    "mackey_glass",
    {
        "kind": "dde",
        "state": {"x": 0.9},
        "parameters": {"beta": 0.2, "gamma": 0.1, "n": 10, "tau": 17},
        "delayed": {"x_tau": {"of": "x", "by": "tau"}},
        "rule": ["beta*x_tau/(1 + x_tau**n) - gamma*x"],
    },
)


def values(system, **given):
    """Parameters (n, LANES): those of the row, some of them replaced by a number or by one per lane."""
    return np.array([np.broadcast_to(given.get(n, v), LANES) for n, v in system.parameters.items()], dtype=float)


def levels(times):
    """A constant history for each lane, none of them the equilibrium x = 1 of Mackey and Glass."""
    return (0.52 + 0.05 * np.arange(LANES) + 0.0 * times)[None]
