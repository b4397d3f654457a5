"""Every row keeps to its own equations and to what theory says of any flow; a sample of all sorts in the fast suite."""

import pytest
from conformance import broken

from dynamics.registry import system_ids

SAMPLE = (
    "logistic_r4", "henon", "standard_map", "ikeda_map", "bakers_map", "circle_map_quasiperiodic",  # maps
    "dysts_map_tinkerbell", "dysts_map_tent",
    "lorenz63", "lorenz84", "chen_system",  # chaotic flows
    "vdp", "brusselator", "damped_oscillator",  # cycles, a point
    "shm", "lotka_volterra", "double_pendulum",  # centres, a Hamiltonian
    "duffing_chaotic", "chua_circuit", "oregonator",  # forced, with kinks, stiff
)  # fmt: skip


@pytest.mark.parametrize(
    "system_id", [i if i in SAMPLE else pytest.param(i, marks=pytest.mark.slow) for i in system_ids()]
)
def test_a_row_conforms(system_id):
    assert broken(system_id) == []


def test_the_sample_has_rows_of_all_sorts():
    assert len(SAMPLE) == 20
    assert set(SAMPLE) <= set(system_ids())
