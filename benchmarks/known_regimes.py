"""Points of systems whose regime is known without any indicator: by a theorem, by the literature, or by Newton.

Every point is chaotic or regular as a matter of fact stated in its `source`; none was chosen or dropped for what an
indicator says of it. Starts are the rows' own, or the literature's, except where a comment says why.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.misiurewicz import misiurewicz, superstable
from dynamics.registry import system
from dynamics.system import System, system_from_row

GOLDEN = (5**0.5 - 1) / 2
SPROTT_BOOK = "Sprott 2003, Chaos and Time-Series Analysis, appendix A"
LASOTA_YORKE = "λ1 = ln of the constant slope; Lasota & Yorke 1973, Trans. Am. Math. Soc. 186:481"
SPROTT = "Sprott 1994, Phys. Rev. E 50:R647, Table I"


@dataclass(frozen=True)
class Known:
    """A system at its parameters and start; `confirm` : that it rests on a stable cycle is still to be proved."""

    system: System
    chaotic: bool
    group: str
    source: str
    moved: tuple[str, ...] = ()
    confirm: bool = False

    @property
    def name(self) -> str:
        """The system's id and the parameters that tell it from its neighbours."""
        values = ", ".join(f"{name} = {self.system.parameters[name]:.12g}" for name in self.moved)
        return f"{self.system.id} at {values}" if values else self.system.id


def known_points() -> list[Known]:
    """All points, those of one system side by side."""
    return [*expanding_maps(), *logistic(), *literature_maps(), *literature_flows(), *planar(), *circle(), *cycles()]


def points(
    chosen: System | str,
    values: Iterable[Mapping[str, float]],
    chaotic: bool,
    group: str,
    source: str,
    confirm: bool = False,
) -> list[Known]:
    """One point for each set of parameter values."""
    base = system(chosen) if isinstance(chosen, str) else chosen
    return [Known(base.with_values(v), chaotic, group, source, tuple(v), confirm) for v in values]


def along(name: str, values: Iterable[float]) -> list[dict[str, float]]:
    return [{name: float(value)} for value in values]


# --- Chaotic by theorem, maps


def logistic() -> list[Known]:
    """The logistic map where its critical orbit is known, and at stable cycles that Newton confirms."""
    base = system("logistic_r4")
    chaotic = points(base, along("r", misiurewicz(8)), True, "logistic map, Misiurewicz parameters",
                     "Misiurewicz 1981, Publ. Math. IHES 53:17")  # fmt: skip
    # from the critical value, which is on the cycle: other starts reach narrow windows after long transients only
    windows = [
        Known(base.with_values({"r": r}, {"x": r / 4}), False, "logistic map, superstable cycles",
              "Singer 1978, SIAM J. Appl. Math. 35:260", ("r",))
        for period in range(3, 8) for r in superstable(period)
    ]  # fmt: skip
    stable = points(base, along("r", [2.8, 3.2, 3.5, 3.55, 3.566]), False, "stable cycles of maps", NEWTON, True)
    return [*chaotic, *windows, *stable]


def expanding_maps() -> list[Known]:
    """Maps that stretch everywhere: tent, Chebyshev, beta expansion; and hyperbolic ones: Lozi, perturbed cat map."""
    slopes = [1 + n / 25 for n in range(1, 25)]  # below 2, at which doubles fall onto 0
    degrees = [*range(2, 10), 1.25, 1.5, 1.75, *(n + 0.5 for n in range(2, 7))]  # in arccos x the slope is +-a
    stretches = [1 + n / 10 for n in range(1, 11)]
    return [
        *points("dysts_map_tent", along("mu", [s / 2 for s in slopes]), True, "tent maps", LASOTA_YORKE),
        *points("dysts_map_chebyshev", along("a", degrees), True, "Chebyshev maps", LASOTA_YORKE),
        *points("bakers_map", along("s", stretches), True, "baker's maps, stretch s",
                "λ1 = ln s; Rényi 1957, Acta Math. Hung. 8:477"),
        *points(LOZI, lozi_region(), True, "Lozi maps", "Misiurewicz 1980, Ann. N.Y. Acad. Sci. 357:348"),
        # for K < 1 all entries of the derivative are positive and its determinant is 1: the positive quadrant is a
        # cone that every derivative stretches, so the map is Anosov, and ergodic for area (Anosov 1967)
        *points("arnold_cat_map", along("K", [n / 10 for n in range(10)]), True, "cat map and its perturbations",
                "Anosov 1967, Proc. Steklov Inst. Math. 90; for K = 0 λ1 = ln((3 + √5)/2)"),
    ]  # fmt: skip


def narrow_tents() -> list[Known]:
    """Tent maps of slopes down to 1, not among the points: where the chaos becomes too weak to be seen."""
    halves = [(1 + 2.0**-n) / 2 for n in range(5, 13)]
    return points("dysts_map_tent", along("mu", halves), True, "tent maps", LASOTA_YORKE)


LOZI = system_from_row("lozi", {"kind": "map", "state": {"x": 0.1, "y": 0.1}, "parameters": {"a": 1.7, "b": 0.3},
                                "rule": ["1 - a*abs(x) + y", "b*x"]})  # fmt: skip


def lozi_region() -> list[dict[str, float]]:
    """A grid of the region where Misiurewicz proved a hyperbolic attractor; the usual a = 1.7, b = 0.5 is outside."""
    return [
        {"a": a, "b": b}
        for b in (0.1, 0.2, 0.3, 0.4)
        for a in (1.5, 1.55, 1.6, 1.65, 1.7, 1.75, 1.8, 1.85, 1.9)
        if 0 < b < 1 and a > b + 1 and 2 * a + b < 4 and a * 2**0.5 > b + 2 and b < (a * a - 1) / (2 * a + 1)
    ]


# --- Chaotic by the literature


def one(system_id: str, row: Mapping[str, Any], source: str, group: str = "chaotic flows of the literature") -> Known:
    """A point of an equation that has no row here, or not with these parameters."""
    return Known(system_from_row(system_id, {"kind": "ode", **row}), True, group, source)


def literature_maps() -> list[Known]:
    """Maps with a positive exponent that is tabulated."""

    def a_map(name: str, state: dict[str, float], rule: list[str], source: str = SPROTT_BOOK, **more: Any) -> Known:
        return one(
            name, {"kind": "map", "state": state, "rule": rule, **more}, source, "chaotic maps of the literature"
        )

    return [
        Known(system("henon"), True, "chaotic maps of the literature", SPROTT_BOOK),
        a_map("sine", {"x": 0.1}, ["sin(pi*x)"]),
        a_map("cubic", {"x": 0.1}, ["3*x*(1 - x**2)"], "λ1 = ln 3, conjugate to the Chebyshev map of degree 3"),
        a_map("cusp", {"x": 0.1}, ["1 - 2*sqrt(abs(x))"]),
        a_map("pincher", {"x": 0.1}, ["abs(tanh(2*(x - 0.5)))"]),
        a_map("delayed_logistic", {"x": 0.89, "y": 0.6}, ["2.27*x*(1 - y)", "x"]),
        a_map("circle_beyond_K_1", {"x": 0.1}, ["x + 0.5 - sin(2*pi*x)/pi"], circle={"x": 1.0}),
        a_map("henon_3d", {"x": 0.1, "y": 0.1, "z": 0.1}, ["1.9 - y**2 - 0.03*z", "x", "y"],
              "Baier & Klein 1990, Phys. Lett. A 151:281"),
    ]  # fmt: skip


def literature_flows() -> list[Known]:
    """The Lorenz attractor, which is proved chaotic, and flows whose positive exponent is tabulated."""
    group = "chaotic flows of the literature"
    # starts are the literature's: case A keeps volume, and from the package's start it reads as a torus
    at = {"x": 0.05, "y": 0.05, "z": 0.05}
    starts = {"a": {"x": 0.0, "y": 5.0, "z": 0.0}} | dict.fromkeys("bdegiklnoqs", at)
    sprott = [
        Known(system(f"dysts_sprott{case}").with_values({}, start), True, group, SPROTT)
        for case, start in starts.items()
    ]  # fmt: skip
    rossler, chua = system("rossler"), system("chua_circuit")
    return [
        Known(system("lorenz63"), True, group, "Tucker 2002, Found. Comput. Math. 2:53"),
        *sprott,
        *points(rossler, [{"a": 0.2, "b": 0.2, "c": 5.7}], True, group, SPROTT_BOOK),
        *points(rossler, [{"a": 0.1, "b": 0.1, "c": 14.0}], True, group,
                "documentation of DynamicalSystems.jl (Datseris 2018, J. Open Source Softw. 3:598)"),
        *points(chua, [{"alpha": 9.0, "beta": 100 / 7, "m0": -8 / 7, "m1": -5 / 7}], True, group, SPROTT_BOOK),
        one("thomas", {"state": {"x": 0.1, "y": 0.0, "z": 0.0},
                       "rule": ["-0.18*x + sin(y)", "-0.18*y + sin(z)", "-0.18*z + sin(x)"]}, SPROTT_BOOK),
        one("jerk", {"state": {"x": -0.9, "y": 0.0, "z": 0.5}, "rule": ["y", "z", "-2.017*z + y**2 - x"]}, SPROTT_BOOK),
        one("jerk_piecewise", {"state": {"x": 0.0, "y": -0.7, "z": 0.0}, "rule": ["y", "z", "-0.6*z - y + abs(x) - 1"]},
            "Linz & Sprott 1999, Phys. Lett. A 259:240"),
        one("lorenz_diffusionless", {"state": {"x": 1.0, "y": -1.0, "z": 0.01}, "rule": ["-y - x", "-x*z", "x*y + 1"]},
            SPROTT_BOOK),
        one("burke_shaw", {"state": {"x": 0.6, "y": 0.0, "z": 0.0},
                           "rule": ["-10*(x + y)", "-y - 10*x*z", "10*x*y + 13"]}, SPROTT_BOOK),
        one("ueda", {"state": {"x": 2.5, "v": 0.0}, "parameters": {"w": 1.0},
                     "rule": ["v", "-x**3 - 0.05*v + 7.5*sin(w*t)"]}, SPROTT_BOOK),
        one("van_der_pol_driven", {"state": {"x": -1.9, "v": 0.0}, "parameters": {"w": 1.788},
                                   "rule": ["v", "-x + 3*(1 - x**2)*v + 5*sin(w*t)"]}, SPROTT_BOOK),
        one("lotka_volterra_four", {
            "state": {"x": 0.3013, "y": 0.4586, "z": 0.1307, "w": 0.3557},
            "rule": ["x*(1 - x - 1.09*y - 1.52*z)", "0.72*y*(1 - y - 0.44*z - 1.36*w)",
                     "1.53*z*(1 - 2.33*x - z - 0.47*w)", "1.27*w*(1 - 1.21*x - 0.51*y - 0.35*z - w)"],
        }, "Vano, Wildenberg, Anderson, Noel & Sprott 2006, Nonlinearity 19:2391"),
        one("henon_heiles_at_one_sixth", {
            "state": {"x": 0.0, "y": 0.0, "u": 0.568624, "v": 0.1},
            "rule": ["u", "v", "-x - 2*x*y", "-y - x**2 + y**2"],
        }, "Benettin, Galgani & Strelcyn 1976, Phys. Rev. A 14:2338"),
    ]  # fmt: skip


# --- Regular


def planar() -> list[Known]:
    """Autonomous flows of the plane, on both sides of their bifurcations and at them: none can be chaotic."""
    poincare = "Poincaré-Bendixson theorem"
    n = np.arange(12)
    return [
        *points("vdp", along("mu", -1.0 + n / 3), False, "planar flows", poincare),  # a centre at 0
        *points("brusselator", along("B", 1.0 + n / 4), False, "planar flows", poincare),  # Hopf at B = 1 + A^2 = 2
        *points("fitzhugh_nagumo", along("I", 0.15 * n), False, "planar flows", poincare),
        *points("lotka_volterra", along("alpha", 0.3 * (n + 1)), False, "planar flows", poincare),
        *points("damped_oscillator", along("zeta", n / 8), False, "planar flows", poincare),
        *points("shm", along("omega", [0.5, 1.0, GOLDEN, 3.0]), False, "planar flows", poincare),
    ]


def circle() -> list[Known]:
    """Diffeomorphisms of the circle, K < 1, with an exponent that is never positive; and rigid rotations of a torus."""
    source = "λ1 ≤ 0; Katok & Hasselblatt 1995, Introduction to the Modern Theory of Dynamical Systems, chapters 11, 12"
    values = [{"Omega": GOLDEN, "K": k / 16} for k in range(16)]
    values += [{"Omega": (n + 0.5) / 16, "K": 0.9} for n in range(16)]  # locked and quasi-periodic ones
    twist = points("standard_map", [{"K": 0.0}], False, "circle maps with K < 1", "integrable twist")
    return [*points("circle_map_quasiperiodic", values, False, "circle maps with K < 1", source), *twist]


NEWTON = "attracting cycle confirmed by Newton or shooting, multipliers inside the unit circle"


def cycles() -> list[Known]:
    """Stable equilibria and cycles, to be confirmed on the spot: where Newton finds none, a point has no place here."""
    maps, flows = "stable cycles of maps", "stable cycles of flows"
    lists = [
        ("henon", "a", maps, [0.1, 0.3, 0.5, 0.7, 0.85, 0.95, 1.0, 1.02, 1.04, 1.05, 1.24, 1.25, 1.2652, 1.3]),
        ("ikeda_map", "u", maps, [0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.918]),
        ("rossler", "c", flows, [2.5, 3.0, 3.5, 4.0, 4.15, 5.3]),
        ("lorenz63", "rho", flows, [10.0, 15.0, 20.0, 100.5, 148.0, 155.0, 160.0, 220.0, 300.0]),
        ("duffing_chaotic", "gamma", flows, [0.1, 0.2, 0.4, 0.5]),
        ("damped_driven_pendulum_nonchaotic", "A", flows, [0.2, 0.6, 1.0, 1.1]),
    ]
    return [known for i, name, group, values in lists
            for known in points(i, along(name, values), False, group, NEWTON, True)]  # fmt: skip
