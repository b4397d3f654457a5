"""The systems of the package dysts: their rows are the package's own equations, parameters and starts."""

import json
import math
import subprocess
import sys
from functools import cache
from pathlib import Path

import numba
import numpy as np
import pytest
import sympy as sp
from scipy.optimize import fsolve

from dynamics.delay_system import delay_form
from dynamics.dysts import dysts_row, overlay, package
from dynamics.kepler import kepler
from dynamics.notation import equation, equations
from dynamics.pointwise import value_at
from dynamics.registry import UnknownSystemError, curated_ids, curated_rows, dysts_ids, summaries, system, system_ids
from dynamics.structure import volume_rate
from dynamics.system import system_from_row
from dynamics.tracing import TracingError, traced

with pytest.MonkeyPatch.context() as patch:  # the package's methods as they stand: compiling each takes minutes
    patch.setattr(numba.config, "DISABLE_JIT", True)
    package("dysts.flows"), package("dysts.maps")

PUBLISHED = Path(__file__).parents[2] / "shared" / "chaosbench_v2" / "systems" / "dysts"
NO_CLASS = {"EndCap", "ZeraouliaSprott", "Zaslavskii"}  # maps in the package's JSON that it does not implement
DELAYED = ["dysts_ikedadelay", "dysts_mackeyglass", "dysts_piecewisecircuit", "dysts_scrolldelay", "dysts_sprottdelay",
           "dysts_vossdelay"]  # fmt: skip
CLOCKED = [  # the 15 that dysts flags, and Bickley's jet, which it does not
    "dysts_arnoldweb", "dysts_bickleyjet", "dysts_blinkingrotlet", "dysts_blinkingvortex", "dysts_circadianrhythm",
    "dysts_doublegyre", "dysts_duffing", "dysts_fluidtrampoline", "dysts_forcedbrusselator",
    "dysts_forcedfitzhughnagumo", "dysts_forcedvanderpol", "dysts_interiorsquirmer", "dysts_liddrivencavityflow",
    "dysts_oscillatingflow", "dysts_sticksliposcillator", "dysts_turchinhanski",
]  # fmt: skip
# twins: the other's variables in this one's order, and the other's parameters by this one's; numbers are held values
TWINS = {
    "dysts_mackeyglass": ("x x_tau", {}), "dysts_sprottdelay": ("x x_tau", {}),
    "dysts_lorenz": ("x y z", {}), "dysts_rossler": ("x y z", {}),
    "dysts_duffing": ("x v", {"alpha": 1.0, "beta": -1.0}),
    "dysts_map_logistic": ("x", {}), "dysts_map_henon": ("x y", {}), "dysts_map_ikeda": ("x y", {}),
    "dysts_map_chirikov": ("p theta", {"k": "K"}), "dysts_map_circle": ("theta", {"k": "K", "omega": "Omega"}),
    "dysts_coullet": ("x y z", {}), "dysts_blinkingvortex": ("r theta", {}), "dysts_bouali2": ("x y z", {}),
    "dysts_catwoplusquasiperiodic": ("z y a", {}), "dysts_panxuzhou": ("x y z", {}), "dysts_tsucs2": ("x y z", {}),
    "dysts_hyperlorenz": ("x y z w", {"b": "c", "c": "b"}), "dysts_sakarya": ("x y z", {}),
    "dysts_rayleighbenard": ("x y z", {"r": "c"}), "dysts_thomaslabyrinth": ("x y z", {}),
    "dysts_sprotta": ("x y z", {}), "dysts_chen": ("x y z", {}), "dysts_chua": ("x y z", {}),
    "dysts_rikitakedynamo": ("x y z", {}), "dysts_hadley": ("x y z", {"f": "F", "g": "G"}),
    "dysts_lorenz84": ("x y z", {"f": "F", "g": "G"}), "dysts_map_baker": ("x y", {"a": 1.0}),
}  # fmt: skip
# parameters of the twin that this one does not have
HELD = {"dysts_sprotta": {"a": 1.0}, "dysts_map_baker": {"s": 1.9999999999}}


@cache
def model(system_id):
    """The package's own instance, and the names of all its variables, clocks included."""
    stated = overlay()[system_id]
    return getattr(package(f"dysts.{'maps' if stated['kind'] == 'map' else 'flows'}")[0], stated["class"])()


def numeric(s, expressions, names=None):
    names = [*s.state, *s.parameters, "t"] if names is None else names
    return sp.lambdify([sp.Symbol(name, real=True) for name in names], expressions, "numpy", cse=True)


def near_start(s, rng):
    return [v + 0.02 * (abs(v) or 1.0) * rng.uniform(-1.0, 1.0) for v in s.state.values()]


def without_past(s):
    """The system itself, or the ordinary row in which delayed names of a delay equation are variables."""
    return delay_form(s).base if s.kind == "dde" else s


def test_how_many_there_are():
    kinds = [stated["kind"] for stated in overlay().values()]
    assert (kinds.count("ode"), kinds.count("dde"), kinds.count("map")) == (129, 6, 23)
    assert [i for i, stated in overlay().items() if stated["kind"] == "dde"] == DELAYED
    assert dysts_ids() == list(overlay())
    assert system_ids() == [*curated_ids(), *dysts_ids()]
    assert len(set(system_ids())) == len(system_ids())
    maps, metadata = package("dysts.maps")
    assert {name for name in metadata if not hasattr(maps, name)} == NO_CLASS
    assert {stated["class"] for stated in overlay().values() if stated["kind"] == "map"} == set(metadata) - NO_CLASS
    _, metadata = package("dysts.flows")
    classes = [stated["class"] for stated in overlay().values() if stated["kind"] != "map"]
    assert classes == sorted(metadata, key=str.lower)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published benchmark is not here")
def test_ids_and_parameters_are_those_of_the_benchmark():
    published = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in PUBLISHED.glob("*.json")}
    assert set(published) == {i for i, stated in overlay().items() if stated["kind"] != "map"}
    for system_id, row in published.items():
        assert row["parameters"] == package("dysts.flows")[1][overlay()[system_id]["class"]]["parameters"]


def test_listing_imports_nothing():
    code = (
        "import sys\nfrom dynamics.registry import summaries, system_ids\nassert len(system_ids()) > 150\n"
        "assert len(summaries()) == len(system_ids())\nassert not {m for m in sys.modules if m.startswith('dysts')}"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent.parent, timeout=60)
    for row in summaries():
        assert row["dimension"] == len(row["variables"])


WITHOUT_DELAY = [i for i in dysts_ids() if i not in DELAYED]


@pytest.mark.parametrize("system_id", WITHOUT_DELAY)
def test_a_row_is_the_package_s_system(system_id):
    """The rule equals the package's numeric one at random states and times; so do parameters and start."""
    s, own, rng = system(system_id), model(system_id), np.random.default_rng(7)
    about = package("dysts.maps" if s.kind == "map" else "dysts.flows")[1][overlay()[system_id]["class"]]
    entries = [float(v) for name in about["parameters"] for v in np.ravel(about["parameters"][name])]
    names = [name for name in s.parameters if name != "energy" or not s.has_energy]
    assert [s.parameters[name] for name in names] == entries
    assert all(name.rstrip("_") in about["parameters"] or name.split("_")[0] in about["parameters"] for name in names)
    start = about["initial_conditions"]
    clocks = len(start) - s.dimension
    assert clocks == (system_id in CLOCKED)
    assert list(s.state.values()) == start[: s.dimension]
    assert "dysts 0.96" in s.citation
    f = numeric(s, list(s.expressions))
    for _ in range(5):
        u, t = near_start(s, rng), rng.uniform(0.0, 5.0)
        if s.kind == "map":
            theirs = np.ravel(own.rhs(np.array([u])))
        else:
            rate = [own.rhs(np.array(start), 0.0)[-1]] if clocks else []
            at = [c + r * t for c, r in zip(start[s.dimension :], rate, strict=True)]
            theirs = np.array(own.rhs(np.array([*u, *at]), t), dtype=float)[: s.dimension]
        ours = np.array(f(*u, *s.parameters.values(), t), dtype=float)
        rounding = 1e-12 if s.id != "dysts_map_blinkingvortexmap" else 1e-9  # whose q fsolve finds to 1.5e-8 or better
        assert np.abs(ours - theirs).max() <= rounding * max(np.abs(theirs).max(), 1e-300)
    assert set(s.box) == set(s.state)
    for name, (lo, hi) in s.box.items():
        value = s.state[name]
        assert lo <= (value % s.circle[name] if name in s.circle else value) <= hi


SLOW = pytest.mark.slow  # SymPy compares the arguments of each minimum with each other


@pytest.mark.parametrize("system_id", [pytest.param(i, marks=[SLOW] * (i == "dysts_macarthur")) for i in dysts_ids()])
def test_jacobians_against_central_differences(system_id):
    s, rng = without_past(system(system_id)), np.random.default_rng(3)
    known = {sp.Symbol(name, real=True): v for name, v in s.parameters.items()} | {s.time: 0.7}
    u = np.array(near_start(s, rng))

    def at(expressions, u):
        point = known | dict(zip(s.variables, u.tolist(), strict=True))
        return np.array([value_at(e, point) for e in expressions])

    exact = at(s.jacobian, u).reshape(s.dimension, s.dimension)
    columns = []
    for c in range(s.dimension):
        h = 1e-6 * max(abs(u[c]), 1e-2) * np.eye(s.dimension)[c]
        columns.append((at(s.expressions, u + h) - at(s.expressions, u - h)) / (2 * h[c]))
    assert np.abs(exact - np.array(columns).T).max() <= 1e-5 * max(np.abs(exact).max(), 1e-3)


@pytest.mark.parametrize("system_id", CLOCKED)
def test_forced_ones_have_time_and_no_clock(system_id):
    s = system(system_id)
    assert not s.autonomous
    assert s.dimension == len(package("dysts.flows")[1][overlay()[system_id]["class"]]["initial_conditions"]) - 1
    assert all(f.free_symbols & set(s.variables) or f.has(s.time) for f in s.expressions)


def test_others_with_time():
    assert [i for i in dysts_ids() if not system(i).autonomous] == sorted([*CLOCKED, "dysts_torus"])
    torus = system("dysts_torus")
    assert not any(f.free_symbols & set(torus.variables) for f in torus.expressions)


def test_forcing_periods():
    assert system("dysts_duffing").forcing_period == pytest.approx(2 * math.pi / 1.4)
    assert system("dysts_turchinhanski").forcing_period == pytest.approx(1.0)
    assert system("dysts_bickleyjet").forcing_period is None  # three incommensurate frequencies


@pytest.mark.parametrize("system_id", DELAYED)
def test_delayed_ones_are_traced(system_id):
    row, own = dysts_row(system_id), model(system_id)
    assert (row["kind"], row["delayed"]) == ("dde", {"x_tau": {"of": "x", "by": "tau"}})
    assert row["parameters"]["tau"] == own.params["tau"]
    names = ["x", "x_tau", *row["parameters"]]
    parsed = system_from_row("now", {"kind": "ode", "state": {"x": 0.1}, "rule": row["rule"], "let": row["let"],
                                     "parameters": {**row["parameters"], "x_tau": 0.2}})  # fmt: skip
    f, rng = numeric(parsed, parsed.expressions[0], names), np.random.default_rng(5)
    for _ in range(10):
        x, past = rng.uniform(0.1, 1.5, 2)
        theirs = float(own._rhs(x, past, 0.0, *own.param_list))
        assert f(x, past, *row["parameters"].values()) == pytest.approx(theirs, rel=1e-12, abs=1e-14)
    s = system(system_id)
    assert (s.kind, list(s.state), list(s.delayed)) == ("dde", ["x"], ["x_tau"])
    assert s.state["x"] == package("dysts.flows")[1][overlay()[system_id]["class"]]["initial_conditions"][0]


def test_the_map_that_solves_kepler_s_equation():
    """Anywhere in the disc it is what the package finds by iteration; it keeps area, and every orbit's circle."""
    s, own, rng = system("dysts_map_blinkingvortexmap"), model("dysts_map_blinkingvortexmap"), np.random.default_rng(4)
    f = numeric(s, [*s.expressions, *s.jacobian])
    values = [*s.parameters.values(), 0.0]
    for _ in range(200):
        u = np.array([rng.uniform(0.01, 0.99), rng.uniform(0.0, 2 * math.pi)])
        image, slopes = np.split(np.array(f(*u, *values)), [2])
        assert image == pytest.approx(own.rhs(u[None])[0], abs=1e-9)
        area = abs(np.linalg.det(slopes.reshape(2, 2))) * image[0] / u[0]  # in the plane, where the density is rt
        assert area == pytest.approx(1.0, abs=1e-9)
    ours = theirs = np.array(list(s.state.values()))
    circle = own.make_parameters(*ours, s.parameters["a"], s.parameters["b"], s.parameters["t_"])
    for _ in range(200):
        ours, theirs = np.array(f(*ours, *values)[:2]), own.rhs(theirs[None])[0]
        assert ours == pytest.approx(theirs, abs=1e-9)
        at = own.make_parameters(*ours, s.parameters["a"], s.parameters["b"], s.parameters["t_"])
        assert at == pytest.approx(circle, abs=1e-11)  # the vortex never changes sides


def test_what_is_solved_numerically_is_kepler_s_equation_or_no_formula():
    class Solves:
        def _rhs(self, x, y, k):
            return fsolve(lambda q: self.root(q, x, y, k), 0.01)[0], y

    class Keplers(Solves):
        def root(self, q, x, y, k):
            return q - x - k * y * np.sin(q)

    class Cubic(Solves):
        def root(self, q, x, y, k):
            return q**3 - x

    class TwoSines(Solves):
        def root(self, q, x, y, k):
            return q - k * np.sin(q) - x * np.sin(2 * q)

    x, y, k = (sp.Symbol(name, real=True) for name in "xyk")
    assert traced(Keplers, [0.1, 0.2], {"k": 0.5}, "map").rule == (kepler(x, k * y), y)
    for cls in (Cubic, TwoSines):
        with pytest.raises(TracingError, match="for q numerically, which is not Kepler's equation"):
            traced(cls, [0.1, 0.2], {"k": 0.5}, "map")


def test_twins_have_the_same_equations_and_structure():
    assert {i for i in dysts_ids() if system(i).same_as} == set(TWINS)
    rng = np.random.default_rng(11)
    for system_id, (variables, names) in TWINS.items():
        one, other = without_past(system(system_id)), without_past(system(system(system_id).same_as))
        f, g = numeric(one, list(one.expressions)), numeric(other, list(other.expressions))
        order = [variables.split().index(name) for name in other.state]
        for _ in range(4):
            u, t = rng.uniform(0.2, 0.9, one.dimension), 0.0 if one.autonomous else rng.uniform(0.0, 5.0)
            p = {name: rng.uniform(0.3, 1.7) for name in one.parameters}
            p |= {name: v for name, v in names.items() if isinstance(v, float)}
            q = HELD.get(system_id, {}) | {str(names.get(name, name)): value for name, value in p.items()}
            theirs = np.array(g(*u[order], *(q[name] for name in other.parameters), t), dtype=float)
            ours = np.array(f(*u, *p.values(), t), dtype=float)[order]
            assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12), system_id
        assert (one.kind, one.dimension, one.autonomous) == (other.kind, other.dimension, other.autonomous)
        assert len(one.circle) == len(other.circle)
        here, there = volume_rate(one), volume_rate(other)
        differ = {"dysts_mackeyglass", "dysts_sprottdelay", "dysts_thomaslabyrinth", "dysts_map_baker"}
        if {system_id, other.id} & differ or None in (here, there):
            continue
        assert here.value == there.value, system_id


def test_twins_that_are_not_shipped_yet_are_not_named():
    for system_id in ("dysts_chen", "dysts_chua"):
        stated = overlay()[system_id]["same_as"]
        assert system(system_id).same_as == (stated if stated in curated_rows() else None)


@pytest.mark.parametrize("system_id", [i for i, stated in overlay().items() if "circle" in stated])
def test_circles_are_symmetries(system_id):
    """Once around leaves a flow's rule as it is, and moves a map's image by whole circles along circles alone."""
    s, rng = system(system_id), np.random.default_rng(2)
    f = numeric(s, list(s.expressions))
    for i, name in enumerate(s.state):
        if name not in s.circle:
            continue
        u, t = np.array(near_start(s, rng)), rng.uniform(0.0, 3.0)
        around = u + s.circle[name] * np.eye(s.dimension)[i]
        moved = [np.array(f(*at, *s.parameters.values(), t), dtype=float) for at in (u, around)]
        difference = moved[1] - moved[0]
        for c, variable in enumerate(s.state):
            if s.kind == "map" and variable in s.circle:
                difference[c] -= round(difference[c] / s.circle[variable]) * s.circle[variable]
        assert np.abs(difference).max() <= 1e-9 * max(1.0, np.abs(moved[0]).max())


def test_names_that_cannot_stay():
    reserved = [(i, name) for i in dysts_ids() for name in system(i).parameters if name.endswith("_")]
    assert reserved == [("dysts_map_blinkingvortexmap", "t_")]  # how long an iterate lasts; t is its number

    class Awkward:
        def _rhs(self, x, y, sin_rate, pi):
            return x * sin_rate + pi, y

    found = traced(Awkward, [1.0, 2.0], {"lambda": 3.0, "x": 4.0}, "map")
    assert list(found.parameters) == ["lambda_", "x_"]
    assert found.rule[0] == sp.Symbol("x", real=True) * sp.Symbol("lambda_", real=True) + sp.Symbol("x_", real=True)


def test_steps_and_kinks_are_exact_at_the_jump():
    s, own = system("dysts_fluidtrampoline"), model("dysts_fluidtrampoline")
    f = numeric(s, list(s.expressions))
    start = package("dysts.flows")[1]["FluidTrampoline"]["initial_conditions"]
    for x in (0.0, -0.1, 0.1):
        assert f(x, 0.5, *s.parameters.values(), 0.0) == pytest.approx(own.rhs(np.array([x, 0.5, start[2]]), 0.0)[:2])


def test_notation_reads_back():
    x, y = sp.symbols("x y", real=True)
    s = {"x": x, "y": y}
    from dynamics.equations import expression

    for e in (sp.Float(0.1) * x, sp.Abs(x) - sp.Min(x, y), sp.Max(sp.sign(x), 0) * y, sp.Mod(2 * x, sp.Float(0.9)),
              x / 3 - sp.sqrt(2) * y, x ** sp.Float(1.25), sp.pi * sp.floor(x), sp.atan2(y, x), 1e-10 * x):  # fmt: skip
        again = expression(equation(e), s)
        f, g = (sp.lambdify([x, y], part, "numpy") for part in (e, again))
        assert f(0.37, 1.9) == g(0.37, 1.9), equation(e)
    let, _ = equations([sp.exp(sp.sin(x * y) + x) ** 2 * k + x**k for k in range(1, 12)], ["x", "y", "w1"])
    assert "w1" not in let
    assert let


@pytest.mark.parametrize(("wrong", "right"), [
    ("dysts_thoms", "dysts_thomas"), ("dysts_map_tnt", "dysts_map_tent"), ("HyperRossler", "dysts_hyperrossler"),
])  # fmt: skip
def test_wrong_names_are_put_right(wrong, right):
    with pytest.raises(UnknownSystemError, match=right):
        system(wrong)
