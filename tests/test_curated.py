"""Thirteen curated systems that joined the first twelve: rules, equilibria, first integrals by hand, and labels."""

import math

import numpy as np
import pytest
import sympy as sp

from dynamics import structure
from dynamics.block import block, run, single_orbit
from dynamics.codegen import LANES
from dynamics.cycles import equilibrium, rest_points
from dynamics.registry import curated_rows, system
from dynamics.settle import settled
from dynamics.system import System, system_from_row
from indicators.lyapunov import lyapunov_spectrum

GOLDEN = (3 + math.sqrt(5)) / 2  # the cat map's larger eigenvalue

# Parameters that ChaosBench-Logic v2 states, and those that its row leaves to the form (the comments of the rows).
VALUES = {
    "arnold_cat_map": {"K": 0.0},
    "bakers_map": {"s": 2.0},
    "chen_system": {"a": 35.0, "b": 3.0, "c": 28.0},
    "chua_circuit": {"alpha": 15.6, "beta": 28.0, "m0": -1.143, "m1": -0.714},
    "damped_driven_pendulum_nonchaotic": {"beta": 0.5, "g_over_L": 1.0, "A": 0.2, "omega": 0.7},
    "double_pendulum": {"m1": 1.0, "m2": 1.0, "l1": 1.0, "l2": 1.0, "g": 9.81},
    "fitzhugh_nagumo": {"epsilon": 0.08, "a": 0.7, "b": 0.8, "I": 0.5},
    "hindmarsh_rose": {"I": 3.25, "a": 1.0, "b": 3.0, "c": 1.0, "d": 5.0, "r": 0.006, "s": 4.0, "x_R": -1.6},
    "lorenz84": {"a": 0.25, "b": 4.0, "F": 8.0, "G": 1.0},
    "lotka_volterra": {"alpha": 1.0, "beta": 0.5, "gamma": 2.0, "delta": 0.5},
    "oregonator": {"epsilon": 0.1, "q": 0.002, "f": 1.3, "delta": 0.001},
    "rikitake_dynamo": {"mu": 0.5, "a": 0.75},
    "shm": {"omega": 1.0},
}


def _baker(u, p, t):
    x = p["s"] * u[0]
    strip = 0
    while x >= 1:
        x, strip = x - 1, strip + 1
    return [x, u[1] / 2 + strip / 2]


def _chua(u, p, t):
    x, y, z = u
    knee = min(max(x, -1.0), 1.0)  # the diode carries m0 x inside abs(x) < 1 and goes on with slope m1
    current = p["m0"] * knee + p["m1"] * (x - knee)
    return [p["alpha"] * (y - x) - p["alpha"] * current, x - y + z, -p["beta"] * y]


def _double_pendulum(u, p, t):
    """Lagrange's way: momenta are the mass matrix times the velocities; their rates are the slopes of T - V."""
    a, b, momenta = u[0], u[1], np.array([u[2], u[3]])
    m1, m2, l1, l2, g = p["m1"], p["m2"], p["l1"], p["l2"], p["g"]
    off = m2 * l1 * l2 * math.cos(a - b)
    v, w = np.linalg.solve([[(m1 + m2) * l1**2, off], [off, m2 * l2**2]], momenta)
    slope = -m2 * l1 * l2 * v * w * math.sin(a - b)  # of the kinetic energy, along the first angle
    return [v, w, slope - (m1 + m2) * g * l1 * math.sin(a), -slope - m2 * g * l2 * math.sin(b)]


RULES = {  # written once more, by hand: (state, parameters, time) -> image or rates
    "arnold_cat_map": lambda u, p, t: [
        u[0] + (u[0] + u[1] - p["K"] * math.sin(2 * math.pi * u[0]) / 2 / math.pi),
        u[0] + u[1] - p["K"] * math.sin(2 * math.pi * u[0]) / 2 / math.pi,
    ],
    "bakers_map": _baker,
    "chen_system": lambda u, p, t: [
        p["a"] * u[1] - p["a"] * u[0],
        (p["c"] - p["a"] - u[2]) * u[0] + p["c"] * u[1],
        u[0] * u[1] - p["b"] * u[2],
    ],
    "chua_circuit": _chua,
    "damped_driven_pendulum_nonchaotic": lambda u, p, t: [
        u[1],
        p["A"] * math.cos(p["omega"] * t) - p["beta"] * u[1] - p["g_over_L"] * math.sin(u[0]),
    ],
    "double_pendulum": _double_pendulum,
    "fitzhugh_nagumo": lambda u, p, t: [
        u[0] - u[0] * u[0] * u[0] / 3 + p["I"] - u[1],
        p["epsilon"] * u[0] + p["epsilon"] * p["a"] - p["epsilon"] * p["b"] * u[1],
    ],
    "hindmarsh_rose": lambda u, p, t: [
        u[1] + (p["b"] - p["a"] * u[0]) * u[0] ** 2 + p["I"] - u[2],
        p["c"] - p["d"] * u[0] * u[0] - u[1],
        p["r"] * p["s"] * (u[0] - p["x_R"]) - p["r"] * u[2],
    ],
    "lorenz84": lambda u, p, t: [
        p["a"] * (p["F"] - u[0]) - u[1] * u[1] - u[2] * u[2],
        (u[0] - 1) * u[1] - p["b"] * u[0] * u[2] + p["G"],
        (u[0] - 1) * u[2] + p["b"] * u[0] * u[1],
    ],
    "lotka_volterra": lambda u, p, t: [
        u[0] * (p["alpha"] - p["beta"] * u[1]),
        u[1] * (p["delta"] * u[0] - p["gamma"]),
    ],
    "oregonator": lambda u, p, t: [
        ((p["q"] - u[0]) * u[1] + u[0] - u[0] ** 2) / p["epsilon"],
        (p["f"] * u[2] - (p["q"] + u[0]) * u[1]) / p["delta"],
        u[0] - u[2],
    ],
    "rikitake_dynamo": lambda u, p, t: [
        u[1] * u[2] - p["mu"] * u[0],
        u[0] * u[2] - p["a"] * u[0] - p["mu"] * u[1],
        1 - u[0] * u[1],
    ],
    "shm": lambda u, p, t: [u[1], -p["omega"] * p["omega"] * u[0]],
}

TRACES = {  # of the Jacobians, by hand
    "arnold_cat_map": lambda u, p: 3 - p["K"] * math.cos(2 * math.pi * u[0]),
    "bakers_map": lambda u, p: p["s"] + 0.5,
    "chen_system": lambda u, p: p["c"] - p["a"] - p["b"],
    "chua_circuit": lambda u, p: -p["alpha"] * (1 + p["m0" if abs(u[0]) < 1 else "m1"]) - 1,
    "damped_driven_pendulum_nonchaotic": lambda u, p: -p["beta"],
    "double_pendulum": lambda u, p: 0.0,  # Hamilton's equations
    "fitzhugh_nagumo": lambda u, p: 1 - u[0] ** 2 - p["epsilon"] * p["b"],
    "hindmarsh_rose": lambda u, p: (2 * p["b"] - 3 * p["a"] * u[0]) * u[0] - 1 - p["r"],
    "lorenz84": lambda u, p: 2 * u[0] - p["a"] - 2,
    "lotka_volterra": lambda u, p: p["alpha"] - p["beta"] * u[1] + p["delta"] * u[0] - p["gamma"],
    "oregonator": lambda u, p: (1 - u[1] - 2 * u[0]) / p["epsilon"] - (p["q"] + u[0]) / p["delta"] - 1,
    "rikitake_dynamo": lambda u, p: -2 * p["mu"],
    "shm": lambda u, p: 0.0,
}


def numeric(s, expressions):
    """A function of (state, time) for SymPy expressions over the system's names."""
    names = [*s.variables, *(sp.Symbol(name, real=True) for name in s.parameters), s.time]
    f = sp.lambdify(names, expressions, "math")
    return lambda u, t=0.0: np.array(f(*u, *s.parameters.values(), t), dtype=float)


def points_in_box(s, n, seed=0):
    rng = np.random.default_rng(seed)
    return [[rng.uniform(*s.box[name]) for name in s.state] for _ in range(n)]


def parameters_of(s):
    return np.array([*s.parameters.values()])


# --- Equations


@pytest.mark.parametrize("name", VALUES)
def test_rules_traces_and_jacobians_by_hand(name):
    """DYN-16, LYA-08: at 10 points of the box and two parameter sets, the Jacobian against central differences."""
    rule, trace, h = RULES[name], TRACES[name], 1e-5
    stated = {n: v for n, v in system(name).parameters.items() if n != "energy"}
    assert stated == pytest.approx(VALUES[name], rel=1e-15)
    for s in (system(name), system(name).with_values({n: v + 0.3 for n, v in VALUES[name].items()})):
        f, div, jacobian = numeric(s, list(s.expressions)), numeric(s, [s.divergence]), numeric(s, s.jacobian.tolist())
        for u in points_in_box(s, 10):
            expected = rule(u, s.parameters, 0.7)
            size = max(1.0, *map(abs, expected))
            assert f(u, 0.7) == pytest.approx(expected, rel=1e-12, abs=1e-12 * size)
            found = jacobian(u, 0.7)
            assert div(u)[0] == pytest.approx(trace(u, s.parameters), rel=1e-12, abs=1e-12 * np.abs(found).max())
            for c in range(s.dimension):
                step = h * np.eye(s.dimension)[c]
                ends = (np.array(rule(np.array(u) + sign * step, s.parameters, 0.7)) for sign in (1, -1))
                column = (next(ends) - next(ends)) / (2 * h)
                assert np.abs(found[:, c] - column).max() <= 1e-6 * np.abs(found).max()


def test_starts_lie_in_their_boxes_and_double_pendulum_starts_at_energy_zero():
    for name in VALUES:
        s = system(name)
        assert all(lo <= s.state[n] <= hi for n, (lo, hi) in s.box.items())
    assert energies(system("double_pendulum"), [[*system("double_pendulum").state.values()]]) == pytest.approx(
        0, abs=1e-14
    )


@pytest.mark.parametrize(
    ("name", "rate"),
    [("arnold_cat_map", 0), ("bakers_map", 0), ("shm", 0), ("double_pendulum", 0), ("chen_system", -1),
     ("rikitake_dynamo", -1), ("damped_driven_pendulum_nonchaotic", -1), ("lotka_volterra", None)],
)  # fmt: skip
def test_volume_is_proved(name, rate):
    found = structure.volume_rate(system(name))
    assert (found and found.value) == rate
    proof = structure.preserved_density(system(name))
    assert (proof is not None) == (rate in (0, None))
    assert (structure.conserved_quantity(system(name)) is not None) == (
        name in ("shm", "double_pendulum", "lotka_volterra")
    )


def test_the_energy_of_the_double_pendulum_is_conserved_at_any_lengths_and_no_other_is():
    s = system("double_pendulum")
    assert structure.conserved_quantity(s.with_values({"l2": 1.3, "m2": 0.7})) is not None
    wrong = curated_rows()["double_pendulum"]["conserved"]["energy"].replace("- m2*g*l2", "- m1*g*l2")
    other = system_from_row("other", curated_rows()["double_pendulum"] | {"conserved": {"energy": wrong}})
    assert structure.conserved_quantity(other.with_values({"m2": 0.7})) is None


def test_mixing_is_proved_of_the_cat_and_the_baker_alone():
    assert {name for name in VALUES if structure.mixing(system(name))} == {"arnold_cat_map", "bakers_map"}
    assert structure.mixing(system("arnold_cat_map").with_values({"K": 0.5})) is None
    assert structure.mixing(system("bakers_map").with_values({"s": 1.5})) is None
    assert structure.mixing(system("bakers_map").with_values({}, {"x": 2.5, "y": 0.3})) is None  # off the square


# --- Equilibria


def real_roots(*coefficients):
    return sorted(float(r.real) for r in np.roots(coefficients) if abs(r.imag) < 1e-9)


def closed_forms(name, p):
    """All equilibria, by hand."""
    if name == "chen_system":  # x = y, z = x**2/b, and (2c - a - z) x = 0
        x = math.sqrt(p["b"] * (2 * p["c"] - p["a"]))
        return [[0, 0, 0], [x, x, x * x / p["b"]], [-x, -x, x * x / p["b"]]]
    if name == "chua_circuit":  # y = 0, z = -x, and the diode's line crosses -x outside
        x = (p["m1"] - p["m0"]) / (p["m1"] + 1)
        return [[0, 0, 0], [x, 0, -x], [-x, 0, x]]
    if name == "double_pendulum":
        return [[a, b, 0, 0] for a in (0, math.pi) for b in (0, math.pi)]
    if name == "fitzhugh_nagumo":  # w = (v + a)/b
        return [[v, (v + p["a"]) / p["b"]] for v in real_roots(-1 / 3, 0, 1 - 1 / p["b"], p["I"] - p["a"] / p["b"])]
    if name == "hindmarsh_rose":  # y = c - d x**2, z = s (x - x_R)
        roots = real_roots(-p["a"], p["b"] - p["d"], -p["s"], p["c"] + p["I"] + p["s"] * p["x_R"])
        return [[x, p["c"] - p["d"] * x * x, p["s"] * (x - p["x_R"])] for x in roots]
    if name == "lorenz84":  # a (F - x) ((1 - x)**2 + b**2 x**2) = G**2
        a, b, f, g = p["a"], p["b"], p["F"], p["G"]
        cubic = np.polymul([-a, a * f], [1 + b * b, -2, 1])
        cubic[-1] -= g * g
        out = []
        for x in real_roots(*cubic):
            n = (1 - x) ** 2 + (b * x) ** 2
            out.append([x, (1 - x) * g / n, b * x * g / n])
        return out
    if name == "lotka_volterra":
        return [[0, 0], [p["gamma"] / p["delta"], p["alpha"] / p["beta"]]]
    if name == "oregonator":  # y = f x/(q + x), and x = z from a quadratic (with minus the root, x < 0)
        m = 1 - p["f"] - p["q"]
        both = [(m + sign * math.sqrt(m * m + 4 * p["q"] * (1 + p["f"]))) / 2 for sign in (1, -1)]
        return [[0, 0, 0], *([x, p["f"] * x / (p["q"] + x), x] for x in both)]
    if name == "rikitake_dynamo":  # (k, 1/k, mu k**2) with mu (k**2 - 1/k**2) = a
        k = math.sqrt((p["a"] + math.sqrt(p["a"] ** 2 + 4 * p["mu"] ** 2)) / (2 * p["mu"]))
        return [[k, 1 / k, p["mu"] * k * k], [-k, -1 / k, p["mu"] * k * k]]
    return [[0, 0]]  # shm


@pytest.mark.parametrize("name", [
    "chen_system", "chua_circuit", "double_pendulum", "fitzhugh_nagumo", "hindmarsh_rose", "lorenz84",
    "lotka_volterra", "oregonator", "rikitake_dynamo", "shm",
])  # fmt: skip
def test_equilibria_are_those_of_the_closed_forms(name):
    s = system(name)
    expected = closed_forms(name, s.parameters)
    for u in expected:
        guess = np.array(u, dtype=float) + 1e-4
        found = equilibrium(s, guess, parameters_of(s))
        assert found is not None
        assert found.point == pytest.approx(u, abs=1e-8)
        assert found.residual < 1e-9
    guesses = np.array([*points_in_box(s, 400), *(np.array(expected, dtype=float) + 1e-3)]).T
    for rest in rest_points(s, guesses):  # Newton from all over the box finds no other
        gaps = np.abs(np.array(expected) - rest.point)
        for c, n in enumerate(s.state):
            if n in s.circle:
                gaps[:, c] = np.abs((gaps[:, c] + s.circle[n] / 2) % s.circle[n] - s.circle[n] / 2)
        assert gaps.max(axis=1).min() < 1e-6, rest.point


def test_eigenvalues_at_equilibria():
    """Rikitake: -2 mu and +-i sqrt(k**2 + 1/k**2). Lotka-Volterra: +-i sqrt(alpha gamma). FitzHugh-Nagumo repels."""
    s = system("rikitake_dynamo")
    ((k, _, _), _) = closed_forms("rikitake_dynamo", s.parameters)
    turn = math.sqrt(k * k + 1 / (k * k))
    values = np.linalg.eigvals(numeric(s, s.jacobian.tolist())(closed_forms("rikitake_dynamo", s.parameters)[0]))
    assert sorted(values, key=lambda z: z.imag) == pytest.approx([-1j * turn, -1.0, 1j * turn], abs=1e-12)
    s = system("lotka_volterra")
    values = np.linalg.eigvals(numeric(s, s.jacobian.tolist())([4.0, 2.0]))
    assert sorted(values, key=lambda z: z.imag) == pytest.approx([-1j * math.sqrt(2), 1j * math.sqrt(2)], abs=1e-12)
    s = system("fitzhugh_nagumo")
    rest = equilibrium(s, np.array([-0.8, -0.1]), parameters_of(s))
    assert rest is not None
    assert not rest.attracts


# --- First integrals


def energies(s: System, states):
    """The stated first integral at states (n, d)."""
    (expression,) = s.conserved_expressions.values()
    f = numeric(s, [expression])
    return np.array([f(u)[0] for u in states])


def drift(name, duration):
    """The largest change of the first integral over a time, relative to its scale, at the step a label would take."""
    s = system(name)
    start = np.repeat(np.array([[*s.state.values()]]).T, LANES, axis=1)
    parameters = np.repeat(parameters_of(s)[:, None], LANES, axis=1)
    h = float(settled(s, start, parameters, 50.0).h[0])
    steps = max(1, round(duration / 200 / h))
    states, _, status = single_orbit(s, start[:, 0], h, steps, 200)
    assert status == "ok"
    found = energies(s, [start[:, 0], *states])
    return float(np.abs(found - found[0]).max())


def test_energy_of_the_harmonic_oscillator_drifts_by_less_than_a_millionth():
    assert drift("shm", 100.0) < 1e-6 * 0.5  # of the energy 1/2; Dormand-Prince at the label's step damps at 3e-9


def test_energy_of_the_double_pendulum_drifts_by_less_than_a_millionth_of_its_range():
    assert drift("double_pendulum", 100.0) < 1e-6 * 2 * 3 * 9.81  # from hanging to standing: 2 (2 g + g)


def test_first_integral_of_lotka_volterra_is_kept():
    assert drift("lotka_volterra", 100.0) < 1e-6 * 5.0  # of the size of the integral


# --- Closed forms of exponents


def spectrum_of(name, records, states=None, **changed):
    s = system(name).with_values(changed)
    rng = np.random.default_rng(1)
    if states is None:
        states = np.array([rng.uniform(*s.box[n], LANES) for n in s.state])
    parameters = np.repeat(parameters_of(s)[:, None], LANES, axis=1)
    moving = block(s, states, parameters, s.dimension)
    run(moving, 50)
    return lyapunov_spectrum(run(moving, records).growth, 1.0)


def test_cat_and_baker():
    assert structure.linear_exponents(system("arnold_cat_map")) == pytest.approx([math.log(GOLDEN), -math.log(GOLDEN)])
    assert structure.linear_exponents(system("bakers_map")) == pytest.approx([math.log(2), -math.log(2)])
    assert spectrum_of("arnold_cat_map", 500).value == pytest.approx([math.log(GOLDEN), -math.log(GOLDEN)], rel=1e-12)
    assert spectrum_of("bakers_map", 500).value == pytest.approx([math.log(2), -math.log(2)], rel=1e-12)
    for s in (1.2, 1.7):  # the beta expansion: ln s, and the stacking halves
        assert spectrum_of("bakers_map", 500, s=s).value == pytest.approx([math.log(s), -math.log(2)], rel=1e-12)


def test_the_kicked_cat_turns_elliptic_at_the_origin():
    for kick, modulus in ((0.5, (2.5 + math.sqrt(2.25)) / 2), (3.0, 1.0), (5.5, (2.5 + math.sqrt(2.25)) / 2)):
        s = system("arnold_cat_map").with_values({"K": kick})
        values = np.linalg.eigvals(numeric(s, s.jacobian.tolist())([0.0, 0.0]))
        assert np.abs(values).max() == pytest.approx(modulus)


def test_exponents_of_shm_are_zero():
    assert structure.linear_exponents(system("shm")) == [0.0, 0.0]


# --- Labels
