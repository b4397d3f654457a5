"""What the equations prove, against systems of which it is known."""

import math

import pytest

from dynamics import structure
from dynamics.registry import system
from dynamics.rows import any_row
from dynamics.system import RowError, System, system_from_row

PENDULUM = {"kind": "ode", "state": {"x": 0.1, "v": 0.0}, "rule": ["v", "-sin(x)"]}


def own(row: dict[str, object], **rest: object) -> System:
    return system_from_row("own", row | rest)


@pytest.mark.parametrize(
    ("chosen", "sign"),
    [
        (system("henon"), -1),
        (system("lorenz63"), -1),
        (system("standard_map"), 0),
        (system("damped_oscillator").with_values({"zeta": -0.1}), 1),
        (own({"kind": "ode", "state": {"x": 0.1}, "rule": ["-x - x**3"]}), -1),
        (own({"kind": "ode", "state": {"x": 0.1}, "rule": ["x + x**3"]}), 1),
        (system("rossler"), None),
        (system("logistic_r4"), None),
        (system("vdp"), None),
        (system("vdp").with_values({"mu": 0.0}), 0),
    ],
    ids=lambda x: x.id if isinstance(x, System) else str(x),
)
def test_sign_of_the_volume_rate(chosen: System, sign: int | None) -> None:
    found = structure.volume_rate(chosen)
    assert (found.value if found else None) == sign


def test_first_integrals_and_densities() -> None:
    energy = own(PENDULUM, conserved={"energy": "v**2/2 - cos(x)"})
    assert structure.conserved_quantity(energy) is not None
    assert structure.conserved_quantity(own(PENDULUM, conserved={"energy": "v**2/2 + cos(x)"})) is None
    pair = {"kind": "ode", "state": {"x": 1.5, "y": 1.0}, "rule": ["x*(1 - y)", "y*(x - 1)"]}
    assert structure.preserved_density(own(pair, density="1/(x*y)")) is not None
    assert structure.preserved_density(own(pair, density="1/x")) is None
    assert structure.preserved_density(own(pair)) is None
    scaled = {"kind": "map", "state": {"x": 1.0, "y": 1.0}, "rule": ["2*x", "y/3"]}  # 1/(x y) takes any factor
    assert structure.preserved_density(own(scaled)) is None
    assert structure.preserved_density(own(scaled, density="1/(x*y)")) is not None
    assert structure.preserved_density(own(scaled, density="1/(x*y**2)")) is None
    with pytest.raises(RowError, match="density"):
        own(pair, density="1/(x*w)")
    with pytest.raises(RowError, match=r"conserved\.h"):
        own(pair, conserved={"h": "x +"})


def test_hidden_clocks() -> None:
    driven = {"kind": "ode", "state": {"x": 0.1, "v": 0.0, "phi": 0.0}}
    assert structure.clock(own(driven, rule=["v", "-x + cos(phi)", "2"])).value == 2.0  # type: ignore[union-attr]
    assert structure.clock(own(driven, rule=["v", "-x + phi", "2"])) is None  # acts by its size, not its phase
    assert structure.clock(own(driven, rule=["v", "-x + cos(phi)", "2 + 0.1*x"])) is None  # does not advance evenly
    assert structure.clock(own(driven, rule=["v", "-x", "2"])) is None  # drives nothing
    kicked = {"kind": "map", "state": {"x": 0.1, "phi": 0.0}, "rule": ["0.5*x + cos(phi)", "phi + 0.3"]}
    assert structure.clock(own(kicked)).value == pytest.approx(0.3)  # type: ignore[union-attr]


def test_linear_exponents_are_exact() -> None:
    spiral = system("damped_oscillator")
    assert structure.linear_exponents(spiral) == pytest.approx([-0.2, -0.2], abs=1e-15)
    centre = structure.linear_exponents(spiral.with_values({"zeta": 0.0}))
    assert centre == [0.0, 0.0]
    assert structure.linear_exponents(own({"kind": "map", "state": {"x": 1.0}, "rule": ["-3*x"]})) == [math.log(3.0)]
    assert structure.linear_exponents(own({"kind": "map", "state": {"x": 1.0}, "rule": ["0*x"]})) == [-math.inf]
    assert structure.linear_exponents(system("henon")) is None


def test_maps_that_mix_by_theorem() -> None:
    assert structure.mixing(system("logistic_r4")) is not None
    assert structure.mixing(system("logistic_r4").with_values({"r": 3.999})) is None
    chebyshev = {"kind": "map", "state": {"y": 0.3}, "rule": ["2*y**2 - 1"]}
    assert structure.mixing(own(chebyshev)) is not None
    doubling = {"kind": "map", "state": {"x": 0.3}, "rule": ["2*x"]}
    assert structure.mixing(own(doubling, circle={"x": 1.0})) is not None
    assert structure.mixing(own(doubling)) is None  # on the line it only grows
    shear = {"kind": "map", "state": {"x": 0.3, "y": 0.1}, "rule": ["x + y", "y"], "circle": {"x": 1.0, "y": 1.0}}
    assert structure.mixing(own(shear)) is None  # both eigenvalues are 1


@pytest.mark.parametrize(
    ("chosen", "sign", "forbidden"),
    [
        (system("lorenz63"), -1, True),
        (system("henon"), -1, True),
        (system("duffing_chaotic"), -1, True),
        (system("logistic_r4"), None, True),
        (own({"kind": "map", "state": {"x": 0.1, "y": 0.2}, "rule": ["4*x*(1 - x)", "4*y*(1 - y)"]}), None, False),
        (own({"kind": "ode", "state": dict.fromkeys("xyzw", 0.1), "rule": ["y", "z", "w", "-x"]}), 0, False),
    ],
    ids=lambda x: x.rule[0] if isinstance(x, System) else str(x),
)
def test_where_dimension_forbids_a_second_positive_exponent(chosen: System, sign: int | None, forbidden: bool) -> None:
    assert (structure.forbidden_second_exponent(chosen, sign) is not None) == forbidden  # type: ignore[arg-type]


def test_terms_that_are_0_at_the_rows_values_hinder_no_proof() -> None:
    """Six tanh, each with a factor 0 in the divergence, kept SymPy busy for minutes."""
    hopfield = structure.volume_rate(system("dysts_hopfield"))
    assert hopfield == (-1.0, "div f = -2.4 everywhere")
    assert structure.volume_rate(system("dysts_hopfield").with_values({"k_1_1": 1.0})) is None


def test_a_slope_that_is_a_sign_is_no_bakers_map() -> None:
    lozi = {"kind": "map", "state": {"x": 0.1, "y": 0.0}, "rule": ["1 - 1.7*abs(x) + y", "x/2"]}
    assert structure.mixing(own(lozi)) is None
    steep = {"kind": "map", "state": {"x": 0.1, "y": 0.0}, "rule": ["1 - 2*sign(x)*x + y", "x/2"]}
    assert structure.mixing(own(steep)) is None
    assert structure.mixing(own(steep | {"rule": ["abs(x)", "y"]})) is None


def test_what_noise_pushes_is_no_clock() -> None:
    phase = {"kind": "ode", "state": {"phi": 0.0, "x": 0.1}, "rule": ["2", "cos(phi) - x"]}
    assert structure.clock(any_row("own", phase)) is not None
    assert structure.clock(any_row("own", phase | {"kind": "sde", "noise": ["0.1", "0"]})) is None
    assert structure.clock(any_row("own", phase | {"kind": "sde", "noise": ["0", "0.1"]})) is not None
