"""What is said of one system: its equations as text and LaTeX, and facts with their proofs."""

import json
from typing import Any

import pytest

from dynamics.description import description, facts
from dynamics.registry import system
from dynamics.rows import any_row
from dynamics.smoothness import smoothness
from dynamics.system import System
from dynamics.typeset import definitions, equations, ring

FLOW = {"kind": "ode", "state": {"x": 0.1, "y": 0.2}}


def own(**row: Any) -> System:
    return any_row("own", row)


def proved(s: System) -> dict[str, Any]:
    return {one["fact"]: one["value"] for one in facts(s)}


@pytest.mark.parametrize(
    ("system_id", "text", "latex"),
    [
        ("henon", "x(n+1) = 1 - a*x**2 + y", "x_{n+1} = - a x_{n}^{2} + y_{n} + 1"),
        ("lorenz63", "x' = sigma*(y - x)", r"\dot{x} = \sigma \left(- x + y\right)"),
        (
            "mackey_glass",
            "x' = beta*x(t - tau)/(1 + x(t - tau)**n) - gamma*x",
            r"\dot{x} = \frac{\beta x\left(t - \tau\right)}{x\left(t - \tau\right)^{n} + 1} - \gamma x",
        ),
        (
            "stochastic_ou",
            "dx = (theta*(mu - x)) dt + (sigma) dW",
            r"dx = \left(\theta \left(\mu - x\right)\right) dt + \left(\sigma\right) dW",
        ),
        ("kuramoto_sivashinsky", "u_t = -u*u_x - u_xx - u_xxxx", r"u_t = -u\,u_x - u_{xx} - u_{xxxx}"),
        ("lorenz96", "x0' = (x1 - x38)*x39 - x0 + F", r"\dot{x_{0}} = F - x_{0} + x_{39} \left(x_{1} - x_{38}\right)"),
    ],
)
def test_equations_in_the_form_of_their_kind(system_id: str, text: str, latex: str) -> None:
    first = equations(system(system_id))[0]
    assert (first.text, first.latex) == (text, latex)


def test_names_and_functions_in_latex() -> None:
    s = own(**FLOW, parameters={"eps": 1.0, "k_1_2": 2.0}, let={"vs": "min(x, y)**2"},
            rule=["eps*Heaviside(x) + sign(y)**3", "k_1_2*vs + max(x, y) + Mod(x, 2)"])  # fmt: skip
    assert [one.latex for one in [*definitions(s), *equations(s)]] == [
        r"\mathrm{vs} = \min^{2}\left(x, y\right)",
        r"\dot{x} = \mathrm{eps} H\left(x\right) + \operatorname{sign}^{3}\left(y\right)",
        r"\dot{y} = k_{1,2} \mathrm{vs} + \left(x \bmod 2\right) + \max\left(x, y\right)",
    ]


def test_an_index_that_is_no_name_of_the_row() -> None:
    s = own(kind="map", state={"x1": 0.1, "n": 1.0}, rule=["n*x1", "n"])
    assert equations(s)[0] == ("x1", "x1(k+1) = n*x1", "x_{1,k+1} = n_{k} x_{1,k}")


def test_noise_of_several_variables() -> None:
    s = own(**FLOW | {"kind": "sde"}, rule=["-x", "-y"], noise=["0", "0.1*y"])
    assert [one.text for one in equations(s)] == ["dx = (-x) dt", "dy = (-y) dt + (0.1*y) dW_y"]
    assert equations(s)[1].latex.endswith(r"+ \left(0.1 y\right) dW_{y}")


def test_the_sites_of_a_ring_are_told_once() -> None:
    found = ring(system("lorenz96"))
    assert found == (("x[i]' = (x[i+1] - x[i-2])*x[i-1] - x[i] + F",), 40)
    pair = {"kind": "map", "lattice": "N", "state": {"x": 0.1, "y": "0.01*i"}, "parameters": {"N": 6, "a": 1.5}}
    two = own(**pair, rule=["1 - a*x[i]**2 + y[i-1]", "0.3*x[i+3]"])
    assert ring(two) == (("x[i](n+1) = 1 - a*x[i]**2 + y[i-1]", "y[i](n+1) = 0.3*x[i-3]"), 6)
    assert ring(own(**pair, rule=["1 - a*x[i]**2 + i", "0.3*x[i]"])) is None
    assert ring(system("lorenz63")) is None


def test_facts_come_with_their_proofs() -> None:
    assert proved(system("duffing_chaotic")).items() >= {
        "dimension": 2, "explicit_time": True, "forcing_period": pytest.approx(6.283185307179586),
        "phase_volume": "shrinks", "at_most_one_positive_exponent": True, "smoothness": "smooth",
    }.items()  # fmt: skip
    assert proved(system("arnold_cat_map"))["mixing"] is True
    assert proved(system("shm"))["exact_exponents"] == [0.0, 0.0]
    assert proved(system("shm"))["first_integral"] is True
    assert proved(system("lotka_volterra"))["invariant_density"] is True
    assert proved(system("mackey_glass")) == {
        "dimension": None, "explicit_time": False, "delays": 1, "smoothness": "smooth"
    }  # fmt: skip
    assert proved(system("stochastic_ou"))["noise"] is True
    assert proved(system("sine_gordon"))["phase_volume"] == "preserved"
    clocked = own(**FLOW | {"state": {"x": 0.1, "phi": 0.0}}, rule=["cos(phi) - x", "2"])
    assert proved(clocked)["clock_rate"] == 2.0
    superstable = own(kind="map", state={"x": 0.1, "y": 0.1}, rule=["x/2", "0"])
    assert proved(superstable)["exact_exponents"][1] is None
    assert all(one["why"] for one in facts(system("duffing_chaotic")))


@pytest.mark.parametrize(
    ("rule", "level", "why"),
    [
        (["sin(y)", "-x"], "smooth", "no abs"),
        (["kepler(y, 0.5)", "-x"], "smooth", "no abs"),
        (["abs(y) - max(x, 1)", "-x"], "continuous", "abs(y), max(1, x)"),
        (["sign(y) + x", "-x"], "discontinuous", "sign(y) makes x jump"),
        (["Heaviside(y - x)*(x - y)*x", "-x"], "continuous", "changes only where"),
        (["Heaviside(y - x)*x", "-x"], "discontinuous", "makes x jump"),
        (["atan2(y, x)", "-x"], "discontinuous", "from"),
        (["x", "floor(3*y)"], "discontinuous", "floor(3*y) makes y jump"),
        (["sin(2*pi*Mod(x, 1))", "-x"], "unsettled", "no state"),
        (["sign(x - 100)", "-x"], "unsettled", "no state"),
    ],
)
def test_bends_and_jumps(rule: list[str], level: str, why: str) -> None:
    found = smoothness(own(**FLOW, rule=rule, box={"x": [-2, 2], "y": [-2, 2]}))
    assert found.level == level
    assert why in found.why


def test_a_turn_on_a_circle_is_no_jump() -> None:
    turning = {"kind": "map", "state": {"x": 0.1}, "rule": ["Mod(x + 0.3, 1)"], "box": {"x": [0, 1]}}
    assert smoothness(own(**turning)).level == "discontinuous"
    assert smoothness(own(**turning, circle={"x": 1.0})).level == "unsettled"


def test_a_description_is_json_and_has_every_key_of_the_row() -> None:
    for system_id in ("lorenz63", "mackey_glass", "stochastic_ou", "sine_gordon", "chua_circuit", "bakers_map"):
        made = description(system(system_id))
        assert json.loads(json.dumps(made, allow_nan=False))["system_id"] == system_id
    assert made["sweeps"][0] == {"parameter": "s", "lo": 0.5, "hi": 2.0, "points": 128}
    assert {"state", "parameters", "rule", "let", "box", "circle", "citation", "same_as", "facts"} <= made.keys()
