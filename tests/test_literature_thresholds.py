"""Every threshold of the reference table lies in a bracket, as narrow as its kind allows."""

import csv
from pathlib import Path
from typing import Any

import pytest

from dynamics.registry import system
from dynamics.rows import any_row
from dynamics.system import Sweep, System
from labeling.sweeps import swept

TABLE = Path(__file__).parents[2] / "shared" / "reference" / "values.csv"
SINE = {"kind": "map", "state": {"x": 0.3}, "parameters": {"r": 0.7}, "rule": ["r*sin(pi*x)"], "box": {"x": [0.0, 1.0]}}
FHN = {"kind": "ode", "state": {"v": 0.1, "w": 0.0}, "parameters": {"I": 0.3}, "box": {"v": [-2, 2], "w": [-1, 2]},
       "rule": ["v - v**3/3 - w + I", "0.08*(v + 0.7 - 0.8*w)"]}  # fmt: skip
CHUA = {"kind": "ode", "state": {"x": 0.7, "y": 0.0, "z": 0.0}, "parameters": {"a": 6.5},
        "let": {"f": "-5/7*x + (-8/7 + 5/7)/2*(abs(x + 1) - abs(x - 1))"}, "rule": ["a*(y - x - f)", "x - y + z",
        "-100/7*y"], "box": {"x": [-3, 3], "y": [-1, 1], "z": [-4, 4]}}  # fmt: skip
LOGISTIC = ("logistic_r4", "r")
HENON = ("henon", "a")
LORENZ = ("lorenz63", "rho")

# id in the table: system and parameter, range, points, kind
SOUGHT: dict[str, tuple[tuple[str | dict[str, Any], str], float, float, int, str]] = {
    "TH_logistic_flip_p1->p2": (LOGISTIC, 2.9, 3.1, 16, "period_doubling"),
    "TH_logistic_flip_p2->p4": (LOGISTIC, 3.42, 3.48, 16, "period_doubling"),
    "TH_logistic_flip_p4->p8": (LOGISTIC, 3.53, 3.555, 16, "period_doubling"),
    "TH_logistic_flip_p8->p16": (LOGISTIC, 3.56, 3.566, 16, "period_doubling"),
    "TH_logistic_flip_p16->p32": (LOGISTIC, 3.568, 3.5692, 16, "period_doubling"),
    "TH_logistic_flip_p32->p64": (LOGISTIC, 3.5695, 3.5698, 16, "period_doubling"),
    "TH_sine_flip_p1->p2": ((SINE, "r"), 0.7, 0.75, 16, "period_doubling"),
    "TH_sine_flip_p2->p4": ((SINE, "r"), 0.82, 0.85, 16, "period_doubling"),
    "TH_sine_accum": ((SINE, "r"), 0.8, 0.88, 16, "accumulation"),
    "TH_logistic_p3_window_open(mult=+1)": (LOGISTIC, 3.825, 3.835, 16, "tangent"),
    "TH_logistic_p3win_flip_p3->p6": (LOGISTIC, 3.836, 3.846, 16, "period_doubling"),
    "TH_logistic_p3_interior_crisis(x=0.55490094)": (LOGISTIC, 3.8535, 3.8595, 16, "interior_crisis"),
    "TH_log_rinf2": (LOGISTIC, 3.5, 3.62, 32, "accumulation"),
    "TH_henon_sn": (HENON, -0.17, -0.07, 16, "fold"),
    "TH_henon_flip1": (HENON, 0.32, 0.42, 16, "period_doubling"),
    "TH_henon_flip2": (HENON, 0.86, 0.96, 16, "period_doubling"),
    "TH_henon_flip4": (HENON, 1.01, 1.035, 16, "period_doubling"),
    "TH_lor_1": (LORENZ, 0.5, 2.0, 16, "pitchfork"),
    "TH_lor_A": (LORENZ, 22.5, 26.5, 17, "boundary_crisis"),
    "TH_lor_hopf": (LORENZ, 24.2, 25.2, 16, "hopf_subcritical"),
    "TH_brus": (("brusselator", "B"), 1.5, 2.5, 16, "hopf_supercritical"),
    "TH_vdp": (("vdp", "mu"), -0.5, 0.5, 16, "hopf_degenerate"),
    "TH_fhn1": ((FHN, "I"), 0.25, 0.42, 16, "hopf_subcritical"),
    "TH_chua_hopf_100/7": ((CHUA, "a"), 6.5, 7.0, 16, ""),
    "TH_ks": (("kuramoto_sivashinsky", "L"), 6.1, 6.5, 9, ""),
    "TH_l96_40": (("lorenz96", "F"), 0.8, 1.0, 9, ""),
}  # fmt: skip
CLOSED = {"TH_brus": 2.0, "TH_vdp": 0.0}  # at the row's own values of the other parameters
ROUGH = {"TH_lor_A": 24.0579}  # the table's own more exact value, where its first is rough
GLOBAL = ("interior_crisis", "boundary_crisis", "")


def table() -> dict[str, float]:
    with TABLE.open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["kind"] == "threshold"]
    known = {**CLOSED, **ROUGH}
    return {row["id"]: known[row["id"]] if row["id"] in known else _sharper(row["value"], row["verified_value"])
            for row in rows}  # fmt: skip


def _sharper(*texts: str) -> float:
    """Of the literature's value and the verified one, the one with more digits."""
    return float(max((text for text in texts if "pi" not in text), key=len))


def made(which: str | dict[str, Any]) -> System:
    return system(which) if isinstance(which, str) else any_row("own", which)


@pytest.mark.skipif(not TABLE.exists(), reason="the reference table is not here")
def test_every_threshold_of_the_table_is_sought() -> None:
    assert SOUGHT.keys() == table().keys()


@pytest.mark.slow
@pytest.mark.skipif(not TABLE.exists(), reason="the reference table is not here")
@pytest.mark.parametrize("name", SOUGHT)
def test_a_bracket_holds_the_threshold(name: str) -> None:
    (which, parameter), lo, hi, points, kind = SOUGHT[name]
    value = table()[name]
    found = [b for b in swept(made(which), Sweep(parameter, lo, hi, points)).brackets if b.lo <= value <= b.hi]
    assert [b.kind for b in found] == [kind] if kind else len(found) == 1
    sharp = 1e-3 if kind in GLOBAL else 1e-6
    assert found[0].hi - found[0].lo <= 1.1 * sharp * max(abs(value), 1e-3 * (hi - lo))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameter", "lo", "hi", "allowed"), [("logistic_r4", "r", 2.9, 3.6, 1e-3), ("henon", "a", 0.2, 1.1, 1e-2)]
)
def test_flips_close_in_at_feigenbaums_rate(name: str, parameter: str, lo: float, hi: float, allowed: float) -> None:
    """delta = 4.669201609... (Feigenbaum 1978, J. Stat. Phys. 19:25) from our own flips 8 to 16, 16 to 32, 32 to 64."""
    brackets = swept(system(name), Sweep(parameter, lo, hi, 17)).brackets
    flips = [b.estimate for b in brackets if b.kind == "period_doubling"]
    assert len(flips) >= 6
    assert all(b.hi - b.lo <= 1.1e-6 * b.hi for b in brackets if b.kind == "period_doubling")
    a, b, c = flips[3:6]
    assert (b - a) / (c - b) == pytest.approx(4.669201609, abs=allowed)
