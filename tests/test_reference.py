"""Exponents and labels of the shared table of reference values, against runs as long as each of them needs."""

import csv
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dynamics.registry import system, system_ids
from indicators.estimate import Estimate
from labeling.gathering import gathered, reference_start
from labeling.points import attracting_sets, judged_reference
from labeling.settings import Settings

TABLE = Path(__file__).parents[2] / "shared" / "reference" / "values.csv"
SETTINGS = Settings(turning_steps=1, series=1_024)
HORIZONS = (1, 4, 16, 64)
SHARP = 0.003  # of an exponent: the half-width at 95 % to which a run is lengthened
NEAR = 0.01  # of the reference: the distance that is allowed
STICKY = {"dysts_sprotta": 0.1}  # conservative: by the table's note, estimates wander over 0.013 .. 0.0155
NEAR_ZERO = 1e-3  # of the largest exponent in size: what a zero may be; where all are 0, of 1
FAST = {"henon", "arnold_cat_map", "bakers_map", "logistic_r2_8", "damped_oscillator", "vdp", "brusselator",
        "circle_map_quasiperiodic"}  # fmt: skip
ORDINARY = ("map", "ode")  # fields and delays are compared in test_fields.py and test_mackey_glass.py
FORMS = ("lambda_", "sum lambda", "number of positive exponents")


def rows(kind):
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as stream:
        found = [row for row in csv.DictReader(stream) if row["our_id"] in system_ids() and row["kind"] == kind]
    return [row for row in found if system(row["our_id"]).kind in ORDINARY]


EXPONENTS = [row for row in rows("value") if row["quantity"].startswith(FORMS)]


def number(text):
    """A value and its own error, as the table writes them."""
    value, _, error = text.partition("+- ")
    return float(value), float(error or 0.0)


def at_parameters(row):
    """The system at the row's parameters and start: '[10, 28] IC [1, 1]' by place, 'a=1 b=2' by name, '10,28,8/3'."""
    s = system(row["our_id"])
    listed, _, start = row["parameters"].partition(" IC ")
    known = {}
    if named := dict(re.findall(r"(\w+)=(\d*\.?\d+)", listed)):
        stated = {name: float(value) for name, value in named.items()}
        if set(stated) <= set(s.parameters):
            known = stated
        else:  # the literature's own letters, at the values of our row
            assert set(stated.values()) <= {*s.parameters.values()}
    elif listed and listed != "[]":
        known = dict(zip(s.parameters, plain(listed), strict=True))
    return s.with_values(known, dict(zip(s.state, plain(start), strict=True)) if start else {})


def plain(text):
    """Numbers from '[1, 2.5, 8/3]'."""
    fractions = (part.split("/") for part in text.strip("[]").split(",") if part.strip())
    return [float(top) / float(bottom[0]) if bottom else float(top) for top, *bottom in fractions]


@cache
def spectrum(chosen) -> Estimate:
    """The exponents, from a run that is lengthened until those that are not 0 are sharp enough."""
    found = None
    for horizon in HORIZONS[: 3 if chosen.id in STICKY else None]:
        found = gathered(reference_start(chosen, SETTINGS, horizon), SETTINGS)[0].spectrum
        values, half = np.array(found.value), np.array(found.error)
        size = max(np.abs(values).max(), NEAR_ZERO)
        moving = np.abs(values) > NEAR_ZERO * size
        if (half[moving] <= SHARP * np.abs(values[moving])).all() and (half <= 0.02 * size).all():
            break
    return found


@pytest.mark.parametrize(
    "row",
    [pytest.param(r, id=r["id"], marks=[pytest.mark.slow] * (r["our_id"] not in FAST)) for r in EXPONENTS],
)
def test_exponents_of_the_table(row):
    """Within 1 % of the verified value, and inside the interval at 99.9 % widened by that value's own error.

    Where an orbit sticks to islands for long it is only asked for its interval, and for 10 %.
    """
    found = spectrum(at_parameters(row))
    values, halves = np.array(found.value), np.array(found.evidence["error_999"])
    size = np.abs(values).max()
    what, text = row["quantity"], row["verified_value"]
    if what.startswith("number"):
        assert ((values > halves) & (values > NEAR_ZERO * size)).sum() == int(text)
        return
    if what.startswith(("sum", "lambda_1+lambda_2")):
        assert values.sum() == pytest.approx(float(text), rel=1e-6)
        return
    if text.startswith("+-"):  # of the pairs lambda_1,2
        compared = [(0, float(text[2:]), 0.0), (1, -float(text[2:]), 0.0)]
    else:
        places = [int(place) - 1 for place in re.findall(r"lambda_(\d+)", what)]
        compared = [(place, *number(text)) for place in places]
    printed = row["value"]
    for i, expected, error in compared:
        if printed == "0":  # which it is; the computed one's own error is optimistic
            assert abs(values[i]) <= NEAR_ZERO * (size if size > NEAR_ZERO else 1.0)
            assert abs(values[i]) <= halves[i]
        else:
            assert abs(values[i] - expected) <= STICKY.get(row["our_id"], NEAR) * abs(expected) + error
            assert abs(values[i] - expected) <= halves[i] + error + 1e-12


def test_the_table_is_read_where_it_is():
    if not TABLE.exists():
        pytest.skip("the table of reference values is not here")
    assert len(EXPONENTS) >= 55
    assert {row["our_id"] for row in EXPONENTS} >= FAST | {"lorenz63", "rossler", "duffing_chaotic", "dysts_sprotta"}


# --- Labels: TRAP_lor_transient and TRAP_lor_coexist


LABELS = {row["id"]: row for row in rows("label")}


@pytest.mark.slow
@pytest.mark.parametrize(("rho", "allowed"), [
    (15.0, {"fixed_point"}), (20.0, {"fixed_point"}), (22.0, {"fixed_point"}),
    (23.5, {"fixed_point", "undecided"}), (23.9, {"fixed_point", "undecided"}),
])  # fmt: skip
def test_transient_chaos_of_lorenz_is_never_called_chaos(rho, allowed):
    """13.926 < rho < 24.058: fixed points alone attract; lives of 50 at rho = 22, of thousands at 23.5."""
    if "TRAP_lor_transient" not in LABELS:
        pytest.skip("the table of reference values is not here")
    assert judged_reference(system("lorenz63").with_values({"rho": rho}), Settings())[1].regime in allowed


@pytest.mark.slow
def test_lorenz_has_three_attractors_below_its_hopf_point():
    """24.058 < rho < 24.737: the chaotic attractor and both fixed points, each with a share of the starts."""
    if "TRAP_lor_coexist" not in LABELS:
        pytest.skip("the table of reference values is not here")
    found = attracting_sets(system("lorenz63").with_values({"rho": 24.3}), Settings())
    regimes = sorted(s.verdict.regime for s in found if s.share >= 0.01)
    assert regimes == ["chaotic", "fixed_point", "fixed_point"]
