"""Rows of lattices, and systems of so many variables that their kernels loop over deviations."""

from typing import Any

import numpy as np
import pytest

from dynamics.block import block, run
from dynamics.codegen import LANES
from dynamics.system import RowError, System, system_from_row
from labeling.points import judged_reference
from labeling.settings import Settings

# Lorenz 1996, Proc. ECMWF Seminar on Predictability 1:1, Eq. (1)
LORENZ96: dict[str, Any] = {
    "kind": "ode", "lattice": "N", "parameters": {"N": 5, "F": 8.0}, "state": {"x": "8 + 0.01*cos(i)"},
    "rule": ["(x[i+1] - x[i-2])*x[i-1] - x[i] + F"], "box": {"x": [-10.0, 15.0]},
}  # fmt: skip


def lorenz96(n: int, **rest: object) -> System:
    return system_from_row("ring", LORENZ96 | {"parameters": {"N": n, "F": 8.0}} | rest)


def test_a_lattice_is_written_out() -> None:
    ring = lorenz96(5)
    assert list(ring.state) == ["x0", "x1", "x2", "x3", "x4"]
    assert ring.parameters == {"F": 8.0}
    assert ring.rule[0] == "(x1 - x3)*x4 - x0 + F"
    assert ring.rule[4] == "(x0 - x2)*x3 - x4 + F"
    assert ring.state["x1"] == pytest.approx(8 + 0.01 * np.cos(1.0))
    assert ring.box["x3"] == (-10.0, 15.0)


def test_several_variables_per_site_and_the_size_in_a_formula() -> None:
    coupled = system_from_row(
        "chain",
        {
            "kind": "map", "lattice": "M", "parameters": {"M": 3, "e": 0.1}, "state": {"u": "0.1 + i/M", "v": 0.2},
            "rule": ["(1 - e)*u[i] + e*v[i - 1]", "v[i]*u[ i ]/M"],
        },
    )  # fmt: skip
    assert list(coupled.state) == ["u0", "v0", "u1", "v1", "u2", "v2"]
    assert coupled.rule[2:4] == ("(1 - e)*u1 + e*v0", "v1*u1/3")
    assert coupled.state["u2"] == pytest.approx(0.1 + 2 / 3)


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ({"lattice": "K"}, "must name the parameter"),
        ({"lattice": 5}, "must name the parameter"),
        ({"parameters": {"N": 2.5, "F": 8.0}}, "whole number"),
        ({"parameters": {"N": 1000, "F": 8.0}}, "whole number"),
        ({"rule": ["x[i+1]", "x[i]"]}, "2 equations"),
        ({"rule": ["y[i+1] + x[i]"]}, "y"),
    ],
)
def test_wrong_lattices_are_refused(rest: dict[str, object], said: str) -> None:
    with pytest.raises(RowError, match=said):
        lorenz96(5) if not rest else system_from_row("ring", LORENZ96 | rest)


def both(chosen: System, monkeypatch: pytest.MonkeyPatch, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Growth and states of the same block by unrolled and by looped kernels."""
    import dynamics.codegen as codegen

    rng = np.random.default_rng(1)
    starts = np.array([*chosen.state.values()])[:, None] + 0.01 * rng.standard_normal((chosen.dimension, LANES))
    parameters = np.repeat(np.array([*chosen.parameters.values()])[:, None], LANES, axis=1)
    out = []
    for most in (240, 0):
        monkeypatch.setattr(codegen, "MAX_UNROLLED", {"map": most, "ode": most})
        made = run(block(chosen, starts, parameters, k, h=0.01, t=0.3), 20, steps=5)
        out.append((made.growth, made.states, made.divergence))
    return out  # type: ignore[return-value]


@pytest.mark.parametrize(
    "chosen",
    [
        lorenz96(4),
        system_from_row(  # forced, with an angle: time and circles
            "pendulum",
            {
                "kind": "ode", "state": {"x": 3.0, "v": 0.5}, "parameters": {"a": 0.7},
                "rule": ["v", "-sin(x) - 0.1*v + a*cos(0.7*t)"], "circle": {"x": "2*pi"},
            },
        ),
        system_from_row("henon", {"kind": "map", "state": {"x": 0.1, "y": 0.1}, "parameters": {"a": 1.4},
                                  "rule": ["1 - a*x**2 + y", "0.3*x"]}),
    ],
    ids=lambda s: s.id,
)  # fmt: skip
def test_looped_kernels_do_what_unrolled_ones_do(chosen: System, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, looped = both(chosen, monkeypatch, chosen.dimension)
    for a, b in zip(whole, looped, strict=True):
        assert b == pytest.approx(a, rel=1e-9, abs=1e-9, nan_ok=True)


def test_the_orbit_of_many_variables_is_the_same_with_and_without_deviations() -> None:
    ring = lorenz96(12)
    starts = np.repeat(np.array([*ring.state.values()])[:, None], LANES, axis=1)
    parameters = np.full((1, LANES), 8.0)
    with_, without = (run(block(ring, starts, parameters, k, h=0.02), 30, steps=10).states for k in (12, 0))
    assert np.array_equal(with_, without)


@pytest.mark.slow
def test_lorenz_96_is_hyperchaotic_and_its_exponents_sum_to_the_divergence() -> None:
    short = Settings(escalations=0, records=1_500, series=4_096, turning_steps=60_000)
    e, verdict = judged_reference(lorenz96(12), short)
    assert verdict.regime == "hyperchaotic"
    assert e.spectrum.value is not None
    assert sum(e.spectrum.value) == pytest.approx(-12.0, rel=1e-4)  # type: ignore[arg-type]
    values, errors = np.array(e.spectrum.value), np.array(e.spectrum.evidence["error_999"])
    assert (np.abs(values) <= np.maximum(errors, 3 * np.log(e.spectrum.evidence["T"]) / e.spectrum.evidence["T"])).any()


@pytest.mark.slow
def test_lorenz_96_with_40_sites_has_13_positive_exponents() -> None:
    # Lorenz & Emanuel 1998, J. Atmos. Sci. 55:399, section 3: N = 40, F = 8 (reference/values.csv)
    e, _ = judged_reference(lorenz96(40), Settings(escalations=0))
    values = np.array(e.spectrum.value)
    assert (values > 0).sum() == 13
    assert values[0] == pytest.approx(1.69, abs=0.03)
