"""Right-hand sides that every peer is given in its own arithmetic: they hold for floats, arrays and expressions."""

from typing import Any


def lorenz63(x: Any, y: Any, z: Any, rho: Any) -> list[Any]:
    return [10.0 * (y - x), x * (rho - z) - y, x * y - (8.0 / 3.0) * z]


def rossler(x: Any, y: Any, z: Any, c: Any) -> list[Any]:
    return [-y - z, x + 0.2 * y, 0.2 + z * (x - c)]


FLOWS = {"lorenz63": lorenz63, "rossler": rossler}
