import math
import pickle
import re

import numpy as np
import pytest
import sympy as sp
from naive import RULES

from dynamics.registry import UnknownSystemError, curated_ids, curated_rows, system, systems_in_file
from dynamics.system import RowError, Sweep, system_from_row

GOOD = {
    "kind": "ode",
    "state": {"x": 1.0, "y": "1/2"},
    "parameters": {"a": 2, "b": "2*pi"},
    "rule": ["a*x - h", "h + b"],
    "let": {"g": "x*y", "h": "g**2"},
    "box": {"x": [-1, 1], "y": ["-pi", "pi"]},
    "sweep": [{"parameter": "a", "lo": 0, "hi": "1/3", "points": 5}],
    "transient": "1e3",
}

TRACES = {  # of the Jacobians, by hand
    "logistic_r2_8": lambda u, p: p["r"] - 2 * p["r"] * u[0],
    "logistic_r4": lambda u, p: p["r"] - 2 * p["r"] * u[0],
    "henon": lambda u, p: -2 * p["a"] * u[0],
    "standard_map": lambda u, p: 2 + p["K"] * math.cos(u[0]),
    "lorenz63": lambda u, p: -(p["sigma"] + 1 + p["beta"]),
    "rossler": lambda u, p: p["a"] + u[0] - p["c"],
    "vdp": lambda u, p: p["mu"] * (1 - u[0] ** 2),
    "damped_oscillator": lambda u, p: -2 * p["zeta"] * p["omega"],
    "circle_map_quasiperiodic": lambda u, p: 1 + p["K"] * math.cos(2 * math.pi * u[0]),
    # with z = x + iy, J = u (R + z' (grad tau)^T): the trace of the rotation, and of its change with tau
    "ikeda_map": lambda u, p: ikeda_trace(u[0], u[1], p["u"]),
    "duffing_chaotic": lambda u, p: -p["delta"],
    "brusselator": lambda u, p: 2 * u[0] * u[1] - (p["B"] + 1) - u[0] ** 2,
}


def ikeda_trace(x, y, u):
    r2 = x * x + y * y
    tau = 0.4 - 6 / (1 + r2)
    a, b = x * math.cos(tau) - y * math.sin(tau), x * math.sin(tau) + y * math.cos(tau)
    slope = 12 / (1 + r2) ** 2  # grad tau = slope (x, y)
    return u * (2 * math.cos(tau) + slope * (-b * x + a * y))


VALUES = {  # parameters of the rows, as ChaosBench-Logic v2 states them
    "logistic_r2_8": {"r": 2.8},
    "logistic_r4": {"r": 4.0},
    "henon": {"a": 1.4, "b": 0.3},
    "standard_map": {"K": 1.5},
    "lorenz63": {"sigma": 10.0, "rho": 28.0, "beta": 8 / 3},
    "rossler": {"a": 0.2, "b": 0.2, "c": 5.7},
    "vdp": {"mu": 1.0},
    "damped_oscillator": {"omega": 1.0, "zeta": 0.2},
    "circle_map_quasiperiodic": {"Omega": 0.6180339887, "K": 0.5},
    "ikeda_map": {"u": 0.9},
    "duffing_chaotic": {"delta": 0.2, "gamma": 0.3, "omega": 1.0},
    "brusselator": {"A": 1.0, "B": 2.5},
}


def numeric(s, expressions):
    """A function of (state, time) for SymPy expressions over the system's names."""
    names = [*s.variables, *(sp.Symbol(name, real=True) for name in s.parameters), s.time]
    f = sp.lambdify(names, expressions, "math")
    return lambda u, t=0.0: np.array(f(*u, *s.parameters.values(), t), dtype=float)


def points_in_box(s, n, seed=0):
    rng = np.random.default_rng(seed)
    return [[rng.uniform(*s.box[name]) for name in s.state] for _ in range(n)]


@pytest.mark.parametrize(("change", "part"), [
    ({"rule": ["x"]}, "the rule has 1 equations, the state has 2 (x, y)"),
    ({"rule": ["x", "y", "x"]}, "the rule has 3 equations"),
    ({"rule": "x"}, "'rule' is missing or not a list"),
    ({"rule": ["x", 3]}, "the equation 3 is not text"),
    ({"rule": ["x +", "y"]}, "rule 1: 'x +' is not an expression"),
    ({"rule": ["x", "q*y"]}, "rule 2: the name 'q' is not defined"),
    ({"rule": ["x", "1/0"]}, "divides by zero"),
    ({"let": {"g": "h", "h": "x"}}, "let.g: the name 'h' is not defined"),
    ({"let": {"h": 3}}, "the equation 3 is not text"),
    ({"state": {}, "rule": []}, "the rule has 0 equations, the state has 0"),
    ({"state": [1.0, 2.0]}, "'state' is missing or not a dict"),
    ({"state": {"x": "far", "y": 1.0}}, "'far' is not defined"),
    ({"state": {"x": math.nan, "y": 1.0}}, "must be finite"),
    ({"state": {"x": math.inf, "y": 1.0}}, "must be finite"),
    ({"state": {"x": True, "y": 1.0}}, "the start of x is True"),
    ({"state": {"x": None, "y": 1.0}}, "the start of x is None"),
    ({"parameters": {"a": -math.inf, "b": 1.0}}, "parameter a is -inf; it must be finite"),
    ({"parameters": {"a": "1/0", "b": 1.0}}, "divides by zero"),
    ({"parameters": {"x": 1.0, "a": 1.0, "b": 1.0}}, "the name 'x' is used twice"),
    ({"let": {"a": "x", "h": "y"}}, "the name 'a' is used twice"),
    ({"parameters": {"t": 1.0, "a": 1.0, "b": 1.0}}, "'t' cannot be the name"),
    ({"parameters": {"sin": 1.0, "a": 1.0, "b": 1.0}}, "'sin' cannot be the name"),
    ({"let": {"pi": "3", "h": "x"}}, "'pi' cannot be the name"),
    ({"parameters": {"a b": 1.0, "a": 1.0, "b": 1.0}}, "'a b' cannot be the name"),
    ({"parameters": {"lambda": 1.0, "a": 1.0, "b": 1.0}}, "'lambda' cannot be the name"),
    ({"parameters": {"1a": 1.0, "a": 1.0, "b": 1.0}}, "'1a' cannot be the name"),
    ({"kind": "flow"}, "kind is 'flow'; it must be map, ode, dde, sde, pde"),
    ({"kind": None}, "'kind' is missing"),
    ({"equation": "x"}, "the key 'equation' is not part of a row"),
    ({"circle": {"z": "2*pi"}}, "'z' in circle or box is not a state variable"),
    ({"circle": {"x": 0}}, "circumference"),
    ({"circle": {"x": -1}}, "circumference"),
    ({"box": {"a": [0, 1]}}, "'a' in circle or box is not a state variable"),
    ({"box": {"x": [0, math.nan]}}, "must be finite"),
    ({"box": {"x": [1, 0]}}, "the box of x runs from 1.0 to 0.0; lo must be below hi"),
    ({"box": {"x": [0]}}, "the box of x is [0]; give [lo, hi]"),
    ({"box": {"x": 3}}, "the box of x is 3; give [lo, hi]"),
    ({"sweep": [{"parameter": "c", "lo": 0, "hi": 1, "points": 5}]}, "the sweep's parameter 'c' is not one of a, b"),
    ({"sweep": [{"parameter": "x", "lo": 0, "hi": 1, "points": 5}]}, "the sweep's parameter 'x'"),
    ({"sweep": [{"parameter": "a", "lo": 1, "hi": 0, "points": 5}]}, "from 1.0 to 0.0; lo must be below hi"),
    ({"sweep": [{"parameter": "a", "lo": 1, "hi": 1, "points": 5}]}, "lo must be below hi"),
    ({"sweep": [{"parameter": "a", "lo": 0, "hi": math.nan, "points": 5}]}, "must be finite"),
    ({"sweep": [{"parameter": "a", "lo": 0, "hi": 1, "points": 1}]}, "has 1 points; at least 2"),
    ({"sweep": [{"parameter": "a", "lo": 0, "hi": 1, "points": 10**9}]}, "at most 1000000"),
    ({"sweep": [{"parameter": "a", "lo": 0, "hi": 1, "points": 2.5}]}, "points = 2.5; a whole number is needed"),
    ({"sweep": [{"parameter": "a", "lo": 0, "hi": 1}]}, "needs the keys parameter, lo, hi, points"),
    ({"sweep": [{"lo": 0, "hi": 1, "points": 3}]}, "needs the keys parameter, lo, hi, points"),
    ({"sweep": {"parameter": "a", "lo": 0, "hi": 1, "points": 3}}, "'sweep' is"),
    ({"transient": math.inf}, "the transient is inf"),
    ({"transient": -5}, "the transient is -5.0; it must be above 0"),
    ({"parameters": [1.0]}, "'parameters' is"),
    ({"let": ["x"]}, "'let' is"),
    ({"circle": ["x"]}, "'circle' is"),
    ({"box": [0, 1]}, "'box' is"),
    ({"name": 3}, "'name' is 3; it must be a str"),
])  # fmt: skip
def test_rows_refused(change, part):
    with pytest.raises(RowError, match=re.escape(part)) as refusal:
        system_from_row("mine", GOOD | change)
    message = str(refusal.value)
    assert "mine" in message or message.startswith("the sweep of")
    assert "\n" not in message
    assert not re.search(r"[.!?] [A-Z]", message)


@pytest.mark.parametrize("key", ["kind", "state", "rule"])
def test_rows_need_these_keys(key):
    with pytest.raises(RowError, match=f"'{key}' is missing"):
        system_from_row("mine", {k: v for k, v in GOOD.items() if k != key})


def test_a_row_read():
    s = system_from_row("mine", GOOD)
    x, y, a, b = (sp.Symbol(name, real=True) for name in "xyab")
    assert s.state == {"x": 1.0, "y": 0.5}
    assert s.parameters == {"a": 2.0, "b": 2 * math.pi}
    assert s.box == {"x": (-1.0, 1.0), "y": (-math.pi, math.pi)}
    assert s.sweeps == (Sweep("a", 0.0, 1 / 3, 5),)
    assert s.transient == 1000.0
    assert s.dimension == 2
    assert s.autonomous
    assert s.expressions == (a * x - x**2 * y**2, x**2 * y**2 + b)
    assert s.jacobian == sp.Matrix([[a - 2 * x * y**2, -2 * x**2 * y], [2 * x * y**2, 2 * x**2 * y]])
    assert sp.simplify(s.divergence - (a - 2 * x * y**2 + 2 * x**2 * y)) == 0
    assert s.constant_volume_factor is None
    assert not system_from_row("forced", GOOD | {"rule": ["a*x", "cos(t)"]}).autonomous


def test_a_pickled_system_is_the_same():
    s = system("lorenz63")
    _ = s.jacobian
    again = pickle.loads(pickle.dumps(s))
    assert again == s
    assert hash(again) == hash(s)
    assert again.jacobian == s.jacobian


def test_with_values():
    s = system("lorenz63")
    other = s.with_values({"rho": 14.0}, {"z": 3.0})
    assert other.parameters == {"sigma": 10.0, "rho": 14.0, "beta": 8 / 3}
    assert other.state == {"x": 1.0, "y": 1.0, "z": 3.0}
    assert (s.parameters["rho"], s.state["z"]) == (28.0, 1.0)
    assert other.rule == s.rule
    assert other.jacobian == s.jacobian
    for values, start, part in [
        ({"r": 1.0}, None, "lorenz63 has no parameter 'r'; it has sigma, rho, beta"),
        ({}, {"w": 1.0}, "lorenz63 has no variable 'w'; it has x, y, z"),
        ({"x": 1.0}, None, "no parameter 'x'"),
        ({"rho": math.nan}, None, "parameter rho is nan; it must be finite"),
        ({}, {"z": -math.inf}, "variable z is -inf; it must be finite"),
    ]:
        with pytest.raises(RowError, match=re.escape(part)):
            s.with_values(values, start)


def test_constant_volume_factor():
    for system_id, factor in [
        ("lorenz63", -41 / 3),
        ("henon", 0.3),
        ("standard_map", 1.0),
        ("damped_oscillator", -0.4),
        ("ikeda_map", 0.81),
    ]:
        assert system(system_id).constant_volume_factor == pytest.approx(factor, rel=1e-14)
    for system_id in ("logistic_r4", "rossler", "vdp"):
        assert system(system_id).constant_volume_factor is None


@pytest.mark.parametrize(("wrong", "right"), [
    ("lorenz", "lorenz63"), ("Lorenz63", "lorenz63"), ("henon_map", "henon"), ("rosler", "rossler"), ("vpd", "vdp"),
    ("logistic_r3", "logistic_r4"),
])  # fmt: skip
def test_a_wrong_name_suggests_the_nearest(wrong, right):
    with pytest.raises(UnknownSystemError, match=rf"there is no system '{wrong}'; did you mean .*{right}"):
        system(wrong)


def test_a_name_like_no_other_points_to_the_list():
    with pytest.raises(UnknownSystemError, match="`bench systems` lists them all"):
        system("qqqqqq")


def test_shipped_rows():
    assert set(curated_ids()) > set(RULES) == set(TRACES) == set(VALUES)  # the others: test_curated.py
    for system_id in curated_ids():
        s = system(system_id)
        assert s is system(system_id)
        if system_id in VALUES:
            assert s.parameters == pytest.approx(VALUES[system_id], rel=1e-15)
        assert set(s.box) == set(s.state)
        assert s.citation
        assert all(lo < hi for lo, hi in s.box.values())
        assert all(lo <= s.state[name] <= hi for name, (lo, hi) in s.box.items())
        assert s.sweeps
        if s.same_as:
            assert curated_rows()[s.same_as]["rule"] == list(s.rule)


@pytest.mark.parametrize("system_id", RULES)
def test_rules_and_divergence_by_hand(system_id):
    """DYN-16: rules and traces against formulas written independently, at 10 points and two parameter sets."""
    rule, trace = RULES[system_id], TRACES[system_id]
    for s in (system(system_id), system(system_id).with_values({n: v + 0.3 for n, v in VALUES[system_id].items()})):
        f, div = numeric(s, list(s.expressions)), numeric(s, [s.divergence])
        for u in points_in_box(s, 10):
            assert f(u) == pytest.approx(rule(u, s.parameters, 0.0), rel=1e-12, abs=1e-12)
            assert div(u)[0] == pytest.approx(trace(u, s.parameters), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("system_id", RULES)
def test_jacobian_against_central_differences(system_id):
    """LYA-08: at 10 random points of the box, to 1e-6 relative."""
    s = system(system_id)
    rule = RULES[system_id]
    jacobian = numeric(s, s.jacobian.tolist())
    h = 1e-5
    for u in points_in_box(s, 10, seed=1):
        columns = []
        for c in range(s.dimension):
            step = h * np.eye(s.dimension)[c]
            columns.append((np.array(rule(u + step, s.parameters, 0.0)) - rule(u - step, s.parameters, 0.0)) / (2 * h))
        numerical = np.array(columns).T
        assert np.abs(jacobian(u) - numerical).max() <= 1e-6 * np.abs(numerical).max()


def test_jacobian_of_rossler_has_the_entry_that_the_sum_rule_cannot_see():
    """LYA-08: with J[2, 0] = 0 instead of z the trace, and so the sum of the exponents, stays the same."""
    s = system("rossler")
    assert s.jacobian[2, 0] == sp.Symbol("z", real=True)


def test_lorenz_is_symmetric():
    """DYN-16: f(-x, -y, z) = (-f1, -f2, f3)."""
    f = numeric(system("lorenz63"), list(system("lorenz63").expressions))
    for x, y, z in points_in_box(system("lorenz63"), 10):
        assert np.array_equal(f([-x, -y, z]), f([x, y, z]) * [-1, -1, 1])


LORENZ_C = math.sqrt(8 / 3 * 27)
ROSSLER_Z = [(5.7 + sign * math.sqrt(5.7**2 - 4 * 0.2 * 0.2)) / (2 * 0.2) for sign in (-1, 1)]
HENON_X = [(-0.7 + sign * math.sqrt(0.7**2 + 4 * 1.4)) / 2.8 for sign in (-1, 1)]
FIXED = {
    "logistic_r2_8": [[0.0], [1 - 1 / 2.8]],
    "logistic_r4": [[0.0], [0.75]],
    "henon": [[x, 0.3 * x] for x in HENON_X],
    "standard_map": [[0.0, 0.0], [math.pi, 0.0]],
    "lorenz63": [[0.0, 0.0, 0.0], [LORENZ_C, LORENZ_C, 27.0], [-LORENZ_C, -LORENZ_C, 27.0]],
    "rossler": [[0.2 * z, -z, z] for z in ROSSLER_Z],
    "vdp": [[0.0, 0.0]],
    "damped_oscillator": [[0.0, 0.0]],
}


@pytest.mark.parametrize("system_id", FIXED)
def test_fixed_points_in_closed_form(system_id):
    """DYN-16: the residual of every fixed point is below 1e-12."""
    s = system(system_id)
    f = numeric(s, list(s.expressions))
    for u in FIXED[system_id]:
        residual = f(u) - (u if s.kind == "map" else 0.0)
        assert np.abs(residual).max() < 1e-12


def test_systems_in_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        '[doubling]\nkind = "map"\nstate = { x = 0.1 }\nrule = ["2*x"]\ncircle = { x = 1 }\n'
        '[decay]\nkind = "ode"\nstate = { x = 1 }\nparameters = { a = "1/3" }\nrule = ["-a*x"]\n',
        encoding="utf-8",
    )
    first, second = systems_in_file(path)
    assert (first.id, first.kind, first.circle, first.parameters) == ("doubling", "map", {"x": 1.0}, {})
    assert (second.id, second.kind, second.parameters) == ("decay", "ode", {"a": 1 / 3})
    path.write_text('kind = "map"\nstate = { x = 0.1 }\nrule = ["3*x*(1 - x)"]\n', encoding="utf-8")
    (alone,) = systems_in_file(path)
    assert (alone.id, alone.rule) == ("mine", ("3*x*(1 - x)",))


@pytest.mark.parametrize(("text", "part"), [
    ("", "describes no system"),
    ("kind = ", "is not valid TOML"),
    ("x = 3", "'x' stands outside a table"),
    ("[a]\nkind = 'map'\nstate = { x = 0.1 }\nrule = ['y']", "a: rule 1: the name 'y' is not defined"),
    ("[a]\nkind = 'map'\nstate = { x = nan }\nrule = ['x']", "a: the start of x is nan; it must be finite"),
    (b"\xff\xfe", "is not valid TOML"),
])  # fmt: skip
def test_files_refused(text, part, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(RowError, match=re.escape(part)):
        systems_in_file(path)
