"""The exponent of the logistic map by plain NumPy over all parameters: no package should be slower."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import inputs


def logistic(grid: list[float], at: int, length: int, transient: int) -> Callable[[], Any]:
    r = inputs.grid(*grid)

    def run() -> dict[str, float]:
        x = np.full(r.size, 0.1)
        for _ in range(transient):
            x = r * x * (1.0 - x)
        total = np.zeros(r.size)
        for _ in range(length):
            total += np.log(np.abs(r * (1.0 - 2.0 * x)))
            x = r * x * (1.0 - x)
        return {"λ1": total[at] / length}

    return run
