import math
import os
import subprocess
import sys

import naive
import numpy as np
import pytest
import sympy as sp

from dynamics.block import block, run
from dynamics.codegen import LANES, MAX_VARIABLES, kernels
from dynamics.registry import system
from dynamics.system import RowError, system_from_row

FLOWS = [i for i in naive.RULES if system(i).kind == "ode"]
MAPS = [i for i in naive.RULES if system(i).kind == "map"]
FORCED = system_from_row("forced", {
    "kind": "ode",
    "state": {"x": 0.1, "v": 0.25},
    "parameters": {"d": 0.2, "g": 0.3, "w": 1.0},
    "rule": ["v", "x - x**3 - d*v + g*cos(w*t)"],
})  # fmt: skip


def lanes(s, seed=0):
    """States in the box and parameters within 1 % of the row's, different in every lane."""
    rng = np.random.default_rng(seed)
    box = [s.box.get(name, (-1.0, 1.0)) for name in s.state]
    states = np.array([rng.uniform(lo, hi, LANES) for lo, hi in box])
    parameters = np.array([value * rng.uniform(0.99, 1.0, LANES) for value in s.parameters.values()])
    return states, parameters.reshape(-1, LANES)


def jacobian_of(s):
    """J(u, p) by SymPy, evaluated by Python."""
    symbols = [*s.variables, *(sp.Symbol(name, real=True) for name in s.parameters), s.time]
    f = sp.lambdify(symbols, s.jacobian.tolist(), "math")
    return lambda u, p, t=0.0: f(*u, *p, t)


def close(got, expected, relative=1e-13):
    got, expected = np.asarray(got), np.asarray(expected)
    return np.abs(got - expected).max() <= relative * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("system_id", MAPS)
def test_maps_step_as_their_twin(system_id):
    """10 iterates of state and deviations in every lane, wrapping on circles."""
    s = system(system_id)
    states, parameters = lanes(s)
    states[0, :4] += 1.0 if system_id == "standard_map" else 0.0
    d = s.dimension
    moving = block(s, states, parameters, d)
    start = moving.deviations.copy()
    jacobian = jacobian_of(s)
    moving.advance(10)
    circle = {list(s.state).index(name): length for name, length in s.circle.items()}
    for i in range(LANES):
        p = dict(zip(s.parameters, parameters[:, i], strict=True))
        u, v = naive.iterated(
            lambda u, p=p: naive.RULES[system_id](u, p, 0.0),
            lambda u, p=p: jacobian(u, p.values()),
            states[:, i],
            start[:, :, i],
            10,
            circle,
        )
        assert close(moving.states[:, i], u, 1e-11)  # 10 chaotic iterates magnify rounding by up to 4**10
        assert close(moving.deviations[:, :, i], v, 1e-9)
        assert all(0.0 <= moving.states[c, i] < length for c, length in circle.items())
    assert np.array_equal(moving.t, np.full(LANES, 10.0))


@pytest.mark.parametrize("system_id", MAPS)
def test_maps_step_once_to_the_last_bits(system_id):
    s = system(system_id)
    states, parameters = lanes(s, seed=1)
    moving = block(s, states, parameters, 0)
    moving.advance(1)
    for i in range(LANES):
        p = dict(zip(s.parameters, parameters[:, i], strict=True))
        image = naive.RULES[system_id](states[:, i], p, 0.0)
        wrapped = [x % s.circle.get(name, math.inf) if name in s.circle else x for x, name in zip(image, s.state)]  # noqa: B905
        assert close(moving.states[:, i], wrapped, 1e-15 * 4)


@pytest.mark.parametrize(("system_id", "method"), [*((i, "dp5") for i in FLOWS), ("lorenz63", "rk4"), ("vdp", "rk4")])
def test_flows_step_as_their_twin(system_id, method):
    """20 steps of state, deviations and the integral of the divergence, each lane with its own step and time."""
    s = system(system_id)
    compare_flow(s, naive.RULES[system_id], method)


def test_forced_flows_step_as_their_twin():
    """Explicit time reaches every stage at its node."""

    def rule(u, p, t):
        return [u[1], u[0] - u[0] ** 3 - p["d"] * u[1] + p["g"] * math.cos(p["w"] * t)]

    compare_flow(FORCED, rule, "dp5")


def compare_flow(s, rule, method):
    states, parameters = lanes(s)
    d, jacobian = s.dimension, jacobian_of(s)
    h, t = np.linspace(0.001, 0.01, LANES), np.linspace(0.0, 3.0, LANES)
    moving = block(s, states, parameters, d, h=h, t=t, method=method)
    start = moving.deviations.copy()
    moving.advance(20)
    tableau = naive.RK4 if method == "rk4" else naive.DP5
    for i in range(LANES):
        p = dict(zip(s.parameters, parameters[:, i], strict=True))
        rates = naive.with_deviations(lambda u, t, p=p: rule(u, p, t), lambda u, t, p=p: jacobian(u, p.values(), t), d)

        def both(column, t, rates=rates, p=p):  # and the trace, whose integral is one more variable
            return np.append(rates(column[:-1], t), np.trace(jacobian(column[:d], p.values(), t)))

        column = np.concatenate([states[:, i], start[:, :, i].T.ravel(), [0.0]])
        end = naive.runge_kutta(both, column, t[i], h[i], 20, tableau)
        assert close(moving.states[:, i], end[:d])
        assert close(moving.deviations[:, :, i].T.ravel(), end[d:-1])
        assert close(moving.divergence_integral[i], end[-1])
    assert np.allclose(moving.t, t + 20 * h, rtol=1e-15)


@pytest.mark.parametrize("system_id", [*MAPS, *FLOWS, "forced"])
def test_orbit_is_bit_for_bit_the_same_with_deviations(system_id):
    """MEG-10: none, one or all deviations, whatever their seed, over 1,000 steps."""
    s = FORCED if system_id == "forced" else system(system_id)
    states, parameters = lanes(s, seed=2)
    orbits = []
    for k, seed in {(0, 0), (1, 0), (s.dimension, 0), (s.dimension, 7)}:
        moving = block(s, states, parameters, k, h=0.01 if s.kind == "ode" else 1.0, seed=seed)
        orbits.append(run(moving, 100, steps=2, renormalisations=5).states)
    assert len(orbits) >= 3
    for orbit in orbits[1:]:
        assert np.array_equal(orbit, orbits[0], equal_nan=True)
    assert np.isfinite(orbits[0]).all(axis=(0, 1)).any()


@pytest.mark.parametrize("system_id", ["standard_map", "lorenz63", "forced"])
def test_lanes_are_independent(system_id):
    """Permuting lanes permutes results exactly, and a lane does not notice what its neighbours are."""
    s = FORCED if system_id == "forced" else system(system_id)
    states, parameters = lanes(s, seed=3)
    h = np.linspace(0.005, 0.02, LANES) if s.kind == "ode" else np.ones(LANES)
    order = np.random.default_rng(4).permutation(LANES)

    def end(states, parameters, h):
        moving = block(s, states, parameters, s.dimension, h=h)
        return run(moving, 100, steps=3)

    plain, shuffled = end(states, parameters, h), end(states[:, order], parameters[:, order], h[order])
    assert np.array_equal(shuffled.states, plain.states[:, :, order])
    assert np.array_equal(shuffled.growth, plain.growth[:, :, order])
    alone = end(*(np.repeat(x[..., 5:6], LANES, axis=-1) for x in (states, parameters, h)))
    assert np.array_equal(alone.states, np.repeat(plain.states[:, :, 5:6], LANES, axis=2))
    assert np.array_equal(alone.growth, np.repeat(plain.growth[:, :, 5:6], LANES, axis=2))


@pytest.mark.parametrize("system_id", ["henon", "standard_map", "lorenz63", "vdp"])
def test_a_hundred_steps_in_one_call_or_in_a_hundred(system_id):
    """DYN-13: bit for bit the same."""
    s = system(system_id)
    compare_calls(s, 0.01 if s.kind == "ode" else 1.0)


def test_a_hundred_forcing_periods_in_one_call_or_in_a_hundred():
    """DYN-13: the stroboscopic Duffing oscillator of the case, whose calls once ended on different attractors."""
    s = FORCED.with_values({"g": 0.2, "d": 0.15}, {"x": -1.1138050859103932, "v": -2.1479938326919292})
    compare_calls(s, 2 * math.pi / 100, steps=10_000, calls=100)


def compare_calls(s, h, steps=100, calls=100):
    states, parameters = lanes(s, seed=5)
    states[:] = [[value] for value in s.state.values()] + 1e-3 * states
    once, often = (block(s, states, parameters, s.dimension, h=h) for _ in range(2))
    once.advance(steps)
    for _ in range(calls):
        often.advance(steps // calls)
    assert np.array_equal(once.data, often.data, equal_nan=True)
    # a clock that no rule reads is moved by all steps of a call at once
    assert np.allclose(once.t, often.t, rtol=0.0 if not s.autonomous else 1e-13, atol=0.0)


def test_explicit_time_integrates_to_a_sine():
    s = system_from_row("sine", {"kind": "ode", "state": {"x": 0.0}, "rule": ["cos(t)"]})
    begun = np.linspace(0.0, 5.0, LANES)
    moving = block(s, np.sin(begun)[None, :], np.zeros((0, LANES)), 1, h=0.01, t=begun)
    assert not s.autonomous
    moving.advance(1_000)
    assert np.allclose(moving.t, begun + 10, rtol=1e-14)
    assert np.allclose(moving.states[0], np.sin(begun + 10), atol=1e-13)
    assert np.array_equal(moving.deviations[0, 0] ** 2, np.ones(LANES))  # the derivative by x is 0


def test_a_map_knows_the_iterate():
    s = system_from_row("counted", {"kind": "map", "state": {"x": 0.0}, "rule": ["x + t"]})
    moving = block(s, np.zeros((1, LANES)), np.zeros((0, LANES)), 0)
    moving.advance(5)
    moving.advance(5)
    assert moving.states[0, 0] == sum(range(10))


GRAMMAR = [
    "sqrt(x + 3)", "exp(x*y)", "log(x + 3)", "sin(3*x)", "cos(3*x)", "tan(x)", "asin(x/3)", "acos(x/3)", "atan(x)",
    "atan2(y, x)", "sinh(x)", "cosh(x)", "tanh(x)", "abs(x)*y", "sign(x - y)*x", "Heaviside(x)*x**2", "min(x, y, x*y)",
    "max(x, y, 0.25)", "floor(3*x)*y", "Mod(3*x, 0.7)", "Mod(x, y)", "x**3 - y**2 + x**5", "(x + 3)**y",
    "1/(x + 3) + pi",     "(x + 3)**0.5 - 2**x/3", "abs(log(x + 3))*x", "Mod(Mod(x, 2) + y, 0.3)**2", "10**20*x/10**19",
    "kepler(5*x - 9*y, y**2/(1 + y**2))", "x*cos(kepler(x, 0.9))",
]  # fmt: skip


@pytest.mark.parametrize("texts", [GRAMMAR[:13], GRAMMAR[13:26], GRAMMAR[26:]], ids=["first", "second", "last"])
def test_functions_of_the_grammar_compile_and_agree_with_sympy(texts):
    """Values and derivatives by x, in a map that keeps x and y."""
    row = {"kind": "map", "state": dict.fromkeys(["x", "y", *(f"r{i}" for i in range(len(texts)))], 0.5)}
    s = system_from_row("grammar", row | {"rule": ["x", "y", *texts]})
    rng = np.random.default_rng(6)
    states = np.vstack([rng.uniform(-1.4, 1.4, (2, LANES)), np.zeros((len(texts), LANES))])
    moving = block(s, states, np.zeros((0, LANES)), 1)
    moving.deviations[:] = 0.0
    moving.deviations[0] = 1.0
    moving.advance(1)
    for i in range(LANES):
        at = dict(zip(s.variables[:2], states[:2, i], strict=True))
        for c, text in enumerate(texts, start=2):
            value, slope = (float(e.subs(at)) for e in (s.expressions[c], s.jacobian[c, 0]))
            assert moving.states[c, i] == pytest.approx(value, rel=1e-12, abs=1e-13), text
            assert moving.deviations[c, 0, i] == pytest.approx(slope, rel=1e-12, abs=1e-12), text


def test_names_of_variables_cannot_clash_with_the_generated_code():
    row = {
        "kind": "ode",
        "state": {"u1": 1.0, "u0": 2.0, "S": 3.0},
        "parameters": {"c0": 0.5, "h": 0.25, "i": 2.0, "p0": -1.0, "E": 4.0, "I": 5.0, "lam": 6.0, "tt": 7.0},
        "let": {"beta": "u0*u1", "v0_0": "c0*S"},
        "rule": ["beta + h*i", "v0_0*E + p0", "I*tt - lam*S + beta*v0_0"],
    }
    s = system_from_row("clash", row)
    moving = block(s, np.repeat([[1.0], [2.0], [3.0]], LANES, axis=1),
                   np.repeat(np.array([[*s.parameters.values()]]).T, LANES, axis=1), 0)  # fmt: skip
    slope = np.zeros_like(moving.data)
    moving.kernels.rule(slope, moving.data, moving.p, moving.t)
    assert slope[: 3 * LANES : LANES].tolist() == [2.0 + 0.5, 1.5 * 4 - 1, 35 - 18 + 2 * 1.5]


def test_a_rule_of_constants_compiles():
    s = system_from_row("constant", {"kind": "map", "state": {"x": 1.0, "y": 2.0}, "rule": ["3", "2*pi*10**30"]})
    moving = block(s, np.ones((2, LANES)), np.zeros((0, LANES)), 2)
    moving.advance(1)
    assert moving.states[:, 0].tolist() == [3.0, pytest.approx(2e30 * math.pi, rel=1e-15)]
    assert not moving.deviations.any()


def coupled(d):
    names = [f"x{i}" for i in range(d)]
    row = {"kind": "ode", "state": dict.fromkeys(names, 0.1), "rule": [f"-{name}" for name in names]}
    return system_from_row("coupled", row)


def test_systems_of_too_many_variables_are_refused():
    with pytest.raises(
        RowError, match=f"^coupled: {MAX_VARIABLES + 1} variables are too many; at most {MAX_VARIABLES}"
    ):
        kernels(coupled(MAX_VARIABLES + 1), 0)
    with pytest.raises(ValueError, match="4 deviation vectors asked for, the state has 3 dimensions"):
        kernels(system("lorenz63"), 4)
    with pytest.raises(ValueError, match="-1 deviation"):
        kernels(system("lorenz63"), -1)


def test_blocks_of_the_wrong_shape_are_refused():
    s = system("lorenz63")
    for states, parameters in [((3, LANES - 1), (3, LANES)), ((2, LANES), (3, LANES)), ((3, LANES), (2, LANES))]:
        with pytest.raises(ValueError, match="lorenz63: a block needs states"):
            block(s, np.zeros(states), np.zeros(parameters), 0)


PROBE = """
import sys
import numpy as np
from dynamics.codegen import LANES, kernels
from dynamics.system import system_from_row
for rule in sys.argv[1:]:
    s = system_from_row("a-b", {"kind": "map", "state": {"x": 0.3}, "parameters": {"r": 3.9}, "rule": [rule]})
    state, p, t, h = np.full(2 * LANES, 0.3), np.full(LANES, 3.9), np.zeros(LANES), np.ones(LANES)
    kernels(s, 0).step(state, p, t, h, 20)
    print(state[0].hex())
"""


def probe(folder, *rules):
    environment = os.environ | {"CHAOSTRUTH_CACHE": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *rules], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return [float.fromhex(line) for line in done.stdout.split()]


def stamps(folder, pattern):
    return {path.name: path.stat().st_mtime_ns for path in (folder / "kernels").rglob(pattern)}


def test_modules_are_kept_by_digest_and_used_again(tmp_path):
    (first,) = probe(tmp_path, "r*x*(1 - x)")
    sources, compiled = stamps(tmp_path, "*.py"), stamps(tmp_path, "*.bin")
    (source,) = (tmp_path / "kernels" / "a-b").glob("*.py")
    assert source.stem.startswith("a_b_")
    assert len(source.stem) == len("a_b_") + 20
    assert len(compiled) == 1
    assert not stamps(tmp_path, "*.tmp")

    again, other = probe(tmp_path, "r*x*(1 - x)", "r*x*(1 - x*x)")
    assert again == first != other
    assert stamps(tmp_path, "*.py").items() > sources.items()  # other equations, another module
    assert stamps(tmp_path, "*.bin").items() > compiled.items()  # the first was read, not made again
    assert len(stamps(tmp_path, "*.py")) == 2

    whole = source.read_text()
    source.write_text(whole[: len(whole) // 2])
    assert probe(tmp_path, "r*x*(1 - x)") == [first]
    assert source.read_text() == whole
