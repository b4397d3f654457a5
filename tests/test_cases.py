"""Inputs that broke other tools: every case on systems, indicators, sweeps and scores is named by a test; some here."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from dynamics.registry import system
from dynamics.system import system_from_row
from labeling.points import judged_reference, label
from labeling.settings import Settings

CASES = Path(__file__).parents[2] / "shared" / "cases" / "cases.jsonl"
ONE_LOOK = Settings(escalations=0)


@pytest.mark.skipif(not CASES.exists(), reason="the cases are not here")
def test_every_case_on_systems_indicators_sweeps_and_scores_is_named_by_a_test():
    rows = map(json.loads, CASES.read_text(encoding="utf-8").strip().split("\n"))
    areas = ("dynamics", "lyapunov", "megno", "test01", "permen", "sweep", "parse", "metrics")
    ids = {row["id"] for row in rows if row["area"] in areas}
    text = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    named = text.upper().replace("_", "-")
    assert len(ids) == 83
    assert {i for i in ids if i not in named} == set()


@pytest.mark.parametrize(("rule", "start"), [
    ("1 - abs(2*x - 1)", math.pi - 3), ("1 - abs(2*x - 1)", 0.1), ("Mod(2*x, 1)", 0.1),
])  # fmt: skip
def test_dyn_01_a_collapsed_orbit_is_never_the_label_of_a_fixed_point(rule, start):
    """The tent and doubling maps die after 49, 56 and 55 steps; the exponent is ln 2 from the slope."""
    shift = system_from_row("shift", {"kind": "map", "state": {"x": start}, "rule": [rule], "box": {"x": [0.0, 1.0]}})
    made = label(shift)
    assert made["regime"] == "chaotic"
    assert made["indicators"]["lyapunov_max"]["value"] == pytest.approx(math.log(2), abs=1e-12)
    assert made["indicators"]["permutation_entropy"]["value"] is None
    assert made["indicators"]["zero_one_k"]["value"] is None
    assert made["predicates"]["Chaotic"]["value"] == "TRUE"
    assert made["predicates"]["FixedPointAttr"]["value"] == "FALSE"


@pytest.mark.parametrize("finer", [1, 2])
def test_dyn_04_lorenz_at_rho_14_rests_at_either_step(finer):
    """Euler's method at 0.02 makes lambda = +0.589 of it; the eigenvalues at C+ are -0.39449 +- 7.327i, -12.87769."""
    lorenz = system("lorenz63").with_values({"rho": 14.0}, {"x": 1.0, "y": 1.0, "z": 1.0})
    e, verdict = judged_reference(lorenz, Settings(escalations=0, finer=finer))
    assert (verdict.regime, verdict.stability) == ("fixed_point", "attracting")
    assert e.spectrum.value == pytest.approx([-0.39449, -0.39449, -12.87769], abs=1e-3)


def test_dyn_05_the_oscillator_gains_no_exponent():
    """Euler's method reads ln(1 + h^2)/(2 h) = 0.005 at h = 0.01."""
    e, verdict = judged_reference(system("shm"), ONE_LOOK)
    assert (verdict.regime, verdict.stability) == ("periodic", "neutral")
    assert np.abs(e.spectrum.value).max() < 1e-4
