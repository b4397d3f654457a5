"""Drift of energy of the conservative flows over up to 10,000 periods, at the step that a label takes.

docs/accuracy.md states the figures; the bounds here are three times as wide. Sine-Gordon's are in test_sine_gordon.py.
"""

import math

import numpy as np
import pytest
import sympy as sp

from dynamics.block import single_orbit
from dynamics.codegen import LANES
from dynamics.registry import system
from dynamics.settle import settled

# Energy, the time called a period, the scale of the energy, and the drift allowed over 10,000 periods relative to it.
# Henon & Heiles 1964, Astron. J. 69:73, Eq. 5: 2 pi is the period of small swings, 1/6 the energy of escape. The double
# pendulum: a single rod's small swings, and the energy from hanging to standing, 2 (2 g + g).
CASES = {
    "dysts_henonheiles": (
        "(px**2 + py**2 + x**2 + y**2)/2 + lam*(x**2*y - y**3/3)", 2 * math.pi, 1 / 6, 1.7e-4
    ),
    "double_pendulum": (None, 2 * math.pi / math.sqrt(9.81), 6 * 9.81, 4e-7),
}  # fmt: skip
WHOLE = 10_000
PLACES = 200  # along the orbit at which the energy is taken
TRANSIENT = 400.0  # from which a label's run finds its step


def drift(name, periods, finer=1):
    """The energy (PLACES + 1,) along the row's own orbit, less the first, in units of its scale; and the step."""
    s = system(name)
    text, period, scale, _ = CASES[name]
    energy = next(iter(s.conserved_expressions.values())) if text is None else sp.sympify(
        text, {n: sp.Symbol(n, real=True) for n in [*s.state, *s.parameters]}
    )  # fmt: skip
    names = [*s.variables, *(sp.Symbol(n, real=True) for n in s.parameters)]
    start = np.array([*s.state.values()], dtype=float)
    parameters = np.array([*s.parameters.values()])
    lanes = np.repeat(start[:, None], LANES, axis=1), np.repeat(parameters[:, None], LANES, axis=1)
    h = float(settled(s, *lanes, TRANSIENT).h[0]) / finer
    states, _, status = single_orbit(s, start, h, round(periods * period / h / PLACES), PLACES)
    assert status == "ok"
    found = sp.lambdify(names, energy, "numpy")(*np.vstack([start, states]).T, *parameters)
    return (found - found[0]) / scale


@pytest.mark.parametrize(
    ("name", "periods"),
    [("dysts_henonheiles", 1_000), ("double_pendulum", 100),
     pytest.param("dysts_henonheiles", WHOLE, marks=pytest.mark.slow),
     pytest.param("double_pendulum", WHOLE, marks=pytest.mark.slow)],
)  # fmt: skip
def test_energy_drifts_no_further_than_stated(name, periods):
    """The drift grows like t, so a part of the run is allowed its part; it is seen, so the bound is no empty one."""
    found = np.abs(drift(name, periods)).max()
    allowed = CASES[name][3] * periods / WHOLE
    assert allowed / 10 < found < allowed


@pytest.mark.parametrize(("name", "periods"), [("dysts_henonheiles", 1_000), ("double_pendulum", 20)])
def test_half_the_step_drifts_a_thirty_second(name, periods):
    """What is lost per step goes like h^6, as Dormand & Prince's order 5 has it: orbits alike for so long agree."""
    ratio = np.abs(drift(name, periods)).max() / np.abs(drift(name, periods, finer=2)).max()
    assert math.log2(ratio) == pytest.approx(5.0, abs=0.5)
