"""Variants are their base's equations and what is stated to be added, and nothing else."""

import math

import numpy as np
import pytest
import sympy as sp

from dynamics.equations import RowError, symbol
from dynamics.lanes import moved, placed
from dynamics.registry import system, variant_ids
from dynamics.rows import any_row
from dynamics.variants import variant_row, variant_rows
from labeling.points import label

BASE = {"kind": "map", "name": "tent", "state": {"x": 0.2}, "parameters": {"r": 1.9}, "rule": ["r*min(x, 1 - x)"],
        "box": {"x": [0.0, 1.0]}}  # fmt: skip


def test_there_are_a_dozen_of_every_sort() -> None:
    for sort in ("noise", "forced", "delayed", "coupled"):
        assert len([i for i in variant_ids() if i.endswith(f"__{sort}")]) >= 12
    kinds = {system(i).kind for i in variant_ids() if i.endswith("__noise")}
    assert kinds == {"map", "sde"}


@pytest.mark.parametrize("variant", variant_ids())
def test_a_variant_without_what_is_added_is_its_base(variant: str) -> None:
    stated = variant_rows()[variant]
    base, made = system(stated["variant_of"]), system(variant)
    assert made.variant_of == base.id
    assert variant.startswith(f"{base.id}__")
    added = made.parameters.keys() - base.parameters.keys()
    assert added == stated["parameters"].keys()
    amplitude = next(name for name in added if name[0] != "w" and name != "tau_d")
    assert [s.parameter for s in made.sweeps] == [amplitude]
    silent = {symbol(amplitude): 0}
    for f, g in zip(base.expressions, made.expressions, strict=False):
        assert sp.simplify(g.subs(silent) - f) == 0
    assert all(b.subs(silent) == 0 for b in made.noise_expressions)


def test_a_coupled_copy_in_step_with_the_first_feels_nothing() -> None:
    """On the diagonal x = x_2 the coupling vanishes, for flows, maps and angles."""
    for variant in (i for i in variant_ids() if i.endswith("__coupled")):
        made, base = system(variant), system(variant_rows()[variant]["variant_of"])
        alike = {symbol(f"{x}_2"): symbol(x) for x in base.state}
        d = base.dimension
        for f, g, h in zip(base.expressions, made.expressions[:d], made.expressions[d:], strict=True):
            assert sp.simplify(g.subs(alike) - f) == sp.simplify(h.subs(alike) - f) == 0


def test_a_parameter_of_the_base_is_not_given_another_meaning() -> None:
    with pytest.raises(RowError, match="r is a parameter of tent already"):
        variant_row({"variant_of": "tent", "parameters": {"r": 0.1}, "noise": ["r"]}, BASE)


def linear(a: float, b: float) -> dict[str, object]:
    return {"kind": "map", "state": {"x": 0.1}, "parameters": {"a": a, "b": b}, "rule": ["a*x"], "noise": ["b"],
            "box": {"x": [-1, 1]}}  # fmt: skip


def test_noise_of_a_map_has_the_moments_of_an_even_spread() -> None:
    """x' = a x + b u, u even on [-1, 1]: variance b^2/3/(1 - a^2), |x| at most b/(1 - a)."""
    s = any_row("linear", linear(0.8, 0.5))
    moving = placed(s, np.zeros((1, 16)), np.tile([[0.8], [0.5]], 16), h=np.ones(16), seed=1)
    x = moved(moving, 20_000).states
    assert x.var() == pytest.approx(0.25 / 3 / (1 - 0.64), rel=0.02)
    assert 1.5 < np.abs(x).max() <= 2.5
    assert x.mean() == pytest.approx(0.0, abs=0.02)


def test_a_map_with_noise_is_labelled() -> None:
    """The exponent of the random map is ln a; noise of bounded size leaves the range bounded."""
    row = label(any_row("linear", linear(0.5, 0.5)))
    assert row["regime"] == "stochastic"
    assert row["indicators"]["lyapunov_max"]["value"] == pytest.approx(math.log(0.5), abs=1e-9)
    values = {name: predicate["value"] for name, predicate in row["predicates"].items()}
    assert values["Random"] == values["DiscreteTime"] == values["Bounded"] == "TRUE"
    assert values["Chaotic"] == values["Deterministic"] == values["ContinuousTime"] == "FALSE"
    assert label(any_row("silent", linear(0.5, 0.0)))["regime"] == "fixed_point"
