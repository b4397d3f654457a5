"""The sweeps that rows state: every system with a real parameter has one, and chaos lies above as often as below."""

import pytest

from dynamics.registry import curated_rows, dysts_ids, system, system_ids, variant_ids


def test_every_system_with_a_parameter_has_a_sweep() -> None:
    bare = [i for i in system_ids() if not system(i).sweeps]
    assert bare == [i for i in system_ids() if not system(i).parameters]
    assert len(bare) == 12


def test_most_systems_of_dysts_have_two() -> None:
    counts = [len(system(i).sweeps) for i in dysts_ids()]
    assert sum(n >= 2 for n in counts) > len(counts) / 2


@pytest.mark.parametrize("system_id", [*curated_rows(), *variant_ids()])
def test_a_sweep_runs_over_a_parameter_of_its_row(system_id: str) -> None:
    s = system(system_id)
    for sweep in s.sweeps:
        assert s.with_values({sweep.parameter: sweep.lo}).parameters[sweep.parameter] == sweep.lo
