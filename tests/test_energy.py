"""Starts that are solved for on a surface of energy."""

import math

import pytest

from dynamics.energy import energy_at
from dynamics.equations import RowError
from dynamics.registry import system
from dynamics.rows import any_row

PENDULUM = {
    "kind": "ode", "state": {"q": 0.5, "p": 0.1}, "parameters": {"m": 2.0}, "rule": ["p/m", "-sin(q)"],
    "conserved": {"energy": "p**2/(2*m) - cos(q)"},
    "sweep": [{"parameter": "energy", "lo": -0.8, "hi": 2.0, "points": 5}],
}  # fmt: skip


def test_the_energy_of_the_start_is_a_parameter() -> None:
    s = any_row("pendulum", PENDULUM)
    assert s.parameters["energy"] == pytest.approx(0.1**2 / 4 - 0.8775825618903728)
    for energy in s.sweeps[0].values:
        moved = s.with_values({"energy": energy})
        assert moved.parameters["energy"] == energy
        assert moved.state["q"] == 0.5
        assert moved.state["p"] >= 0.0
        assert energy_at(moved, moved.state, moved.parameters) == pytest.approx(energy, abs=1e-12)
    assert s.with_values({}, {"p": 1.0}).parameters["energy"] == pytest.approx(0.25 - 0.8775825618903728)
    assert s.with_values({"m": 1.0}).parameters["energy"] == pytest.approx(0.005 - 0.8775825618903728)


def test_a_start_at_rest_is_drawn_towards_the_origin() -> None:
    moved = any_row("pendulum", PENDULUM).with_values({"energy": -0.95})
    assert moved.state["p"] == 0.0
    assert -math.cos(moved.state["q"]) == pytest.approx(-0.95, abs=1e-12)


def test_an_energy_that_cannot_be_had_is_refused() -> None:
    s = any_row("pendulum", PENDULUM)
    with pytest.raises(RowError, match="no start at rest between the row's and the origin has energy"):
        s.with_values({"energy": -1.5})
    with pytest.raises(RowError, match=r"the start has energy -0\.6"):
        s.with_values({"energy": 1.0}, {"q": 0.5, "p": 1.0})


@pytest.mark.parametrize("system_id", ["dysts_henonheiles", "dysts_swingingatwood", "double_pendulum"])
def test_shipped_hamiltonian_systems_sweep_their_energy(system_id: str) -> None:
    s = system(system_id)
    (sweep,) = (x for x in s.sweeps if x.parameter == "energy")
    for value in (sweep.lo, sweep.hi):
        moved = s.with_values({"energy": value})
        assert energy_at(moved, moved.state, moved.parameters) == pytest.approx(value, rel=1e-9)
