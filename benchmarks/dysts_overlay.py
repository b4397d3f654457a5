"""Makes dynamics/systems/dysts.toml, which holds what is stated about the systems of dysts; run it after a change.

    python benchmarks/dysts_overlay.py > dynamics/systems/dysts.toml

Boxes are measured: the range of the orbit from the package's own start over RUN of its periods (maps: ITERATES), after
the first SETTLE of it, together with the start; widened by MARGIN of its width at each end, but not across 0 where the
orbit is on one side of it, nor beyond a wall of LIMITS. The box of a variable on a circle is the circle.
"""

import sys
from collections.abc import Callable

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from dynamics.dysts import package, row_of
from dynamics.system import System, system_from_row

RUN = 100.0  # periods, as the package states them
ITERATES = 20_000
SETTLE = 0.2
MARGIN = 0.1
POINTS = 10_000
DELAY_STEPS = 200  # of a delay
MAX_CALLS = 200_000
FIXED_STEPS = 400  # of a period, where step control gives up on jumps of the rule
HISTORY = 300.0  # delays

CIRCLES = {  # class: {variable: circumference}, each one a symmetry of the equations, which a test proves
    "ArnoldBeltramiChildress": {"x": "2*pi", "y": "2*pi", "z": "2*pi"},
    "ArnoldWeb": {"x1": "2*pi", "x2": "2*pi"},
    "BlinkingRotlet": {"theta": "2*pi"},
    "BlinkingVortex": {"theta": "2*pi"},
    "DoublePendulum": {"th1": "2*pi", "th2": "2*pi"},
    "InteriorSquirmer": {"th": "2*pi"},
    "OscillatingFlow": {"x": "2*pi", "y": "2*pi"},  # 2*pi/k, and the package's k is 1
    "SwingingAtwood": {"th": "2*pi"},
    "Chirikov": {"p": "2*pi", "x": "2*pi"},
    "Circle": {"theta": 1.0},
    "BlinkingVortexMap": {"tt": "2*pi"},
}
LIMITS = {  # walls that no orbit inside crosses, and bounds outside which the equations mean nothing
    "BlinkingRotlet": {"r": (-1.0, 1.0)},  # its start has r below 0, which is the point across
    "BlinkingVortex": {"r": (-1.0, 1.0)},
    "InteriorSquirmer": {"r": (0.0, 1.0)},
    "DoubleGyre": {"x": (0.0, 2.0), "y": (0.0, 1.0)},
    "CellCycle": dict.fromkeys(("m1", "m2", "x1", "x2"), (0.0, 1.0)),
    "ExcitableCell": {"n": (0.0, 1.0)},
    "BlinkingVortexMap": {"rt": (0.0, 1.0)},
    "Logistic": {"x": (0.0, 1.0)},
    "Tent": {"x": (0.0, 1.0)},
    "Baker": {"x": (0.0, 1.0), "y": (0.0, 1.0)},
    "KaplanYorke": {"x": (0.0, 1.0)},
    "Chebyshev": {"x": (-1.0, 1.0)},
}
CONSERVED = {  # class: first integrals by name, which a test proves
    "HenonHeiles": {"energy": "(px**2 + py**2 + x**2 + y**2)/2 + lam*(x**2*y - y**3/3)"},
    "SwingingAtwood": {"energy": "pr**2/(2*(m1 + m2)) + pth**2/(2*m1*r**2) + 9.82*r*(m2 - m1*cos(th))"},
}
SAME = {  # class: the id whose equations it has, at some values of that one's parameters and up to names
    "Lorenz": "lorenz63", "Rossler": "rossler", "Duffing": "duffing_chaotic", "Chen": "chen_system",
    "Chua": "chua_circuit", "RikitakeDynamo": "rikitake_dynamo", "Lorenz84": "lorenz84", "Hadley": "lorenz84",
    "MackeyGlass": "mackey_glass", "SprottDelay": "dysts_ikedadelay", "Coullet": "dysts_arneodo",
    "BlinkingVortex": "dysts_blinkingrotlet", "Bouali2": "dysts_bouali",
    "CaTwoPlusQuasiperiodic": "dysts_catwoplus", "PanXuZhou": "dysts_dequanli", "Tsucs2": "dysts_dequanli",
    "HyperLorenz": "dysts_hyperjha", "Sakarya": "dysts_liuchen", "RayleighBenard": "dysts_luchen",
    "ThomasLabyrinth": "dysts_thomas", "SprottA": "dysts_nosehoover",
}  # fmt: skip
SAME_MAPS = {"Logistic": "logistic_r4", "Henon": "henon", "Ikeda": "ikeda_map", "Chirikov": "standard_map",
             "Circle": "circle_map_quasiperiodic", "Baker": "bakers_map"}  # fmt: skip

HEAD = """\
# What is stated about the systems of the package dysts besides its own equations, parameters and starts.
# Made by benchmarks/dysts_overlay.py, which says how the boxes are measured; not to be edited by hand.
# class: the package's class; box: initial conditions that make sense; circle: circumferences; same_as: the system that
# has the same equations; conserved: first integrals. Sweeps stand in dysts_sweeps.toml.
"""


def main() -> None:
    _, about = package("dysts.flows")
    maps, about_maps = package("dysts.maps")
    print(HEAD, end="")
    for name in sorted(about, key=str.lower):
        kind = "dde" if about[name]["delay"] else "ode"
        show(f"dysts_{name.lower()}", name, kind, about[name].get("period", 1.0), SAME)
    for name in sorted((name for name in about_maps if hasattr(maps, name)), key=str.lower):
        show(f"dysts_map_{name.lower()}", name, "map", 1.0, SAME_MAPS)


def show(system_id: str, name: str, kind: str, period: float, same: dict[str, str]) -> None:
    """One table of the file."""
    print(system_id, file=sys.stderr)
    print(f'\n[{system_id}]\nclass = "{name}"\nkind = "{kind}"')
    row = row_of({"class": name, "kind": kind})
    circle = CIRCLES.get(name, {})
    if circle:
        print(f"circle = {{ {', '.join(f'{x} = {text(length)}' for x, length in circle.items())} }}")
    orbit, fault = run(name, row, kind, period)
    start = np.array(list(row["state"].values()))
    box = {}
    for i, x in enumerate(row["state"]):
        if x in circle:
            box[x] = f"[0.0, {text(circle[x])}]"
        else:
            lo, hi = widened(np.append(orbit[:, i], start[i]), LIMITS.get(name, {}).get(x, (-np.inf, np.inf)))
            box[x] = f"[{lo:.4g}, {hi:.4g}]"
    if fault:
        print(f"# {fault}")
        print(f"{system_id}: {fault}", file=sys.stderr)
    print(f"box = {{ {', '.join(f'{x} = {bounds}' for x, bounds in box.items())} }}")
    if name in CONSERVED:
        print(f"conserved = {{ {', '.join(f'{x} = {text(formula)}' for x, formula in CONSERVED[name].items())} }}")
    if name in same:
        print(f'same_as = "{same[name]}"')


def text(length: str | float) -> str:
    return f'"{length}"' if isinstance(length, str) else repr(length)


def widened(values: np.ndarray, limits: tuple[float, float]) -> tuple[float, float]:
    lo, hi = float(values.min()), float(values.max())
    width = (hi - lo) or max(abs(hi), 1.0)
    wide_lo, wide_hi = lo - MARGIN * width, hi + MARGIN * width
    if lo >= 0.0:
        wide_lo = max(wide_lo, 0.0)
    if hi <= 0.0:
        wide_hi = min(wide_hi, 0.0)
    return max(wide_lo, limits[0]), min(wide_hi, limits[1])


def run(name: str, row: dict, kind: str, period: float) -> tuple[np.ndarray, str]:
    """The settled part of the orbit (the whole where it ends early), and what is to be said against it."""
    delayed = row.pop("delayed", {})
    parameters = row["parameters"] | dict.fromkeys(delayed, 0.0)
    system = system_from_row(name, row | {"kind": "map" if kind == "dde" else kind, "parameters": parameters})
    with np.errstate(all="ignore"):
        return {"map": iterates, "ode": flow, "dde": delay}[kind](system, period)


def rates(system: System, names: list[str]) -> Callable[..., list[float]]:
    values = {sp.Symbol(n, real=True): v for n, v in system.parameters.items() if n not in names}
    free = [sp.Symbol(n, real=True) for n in names]
    return sp.lambdify(free, [f.subs(values) for f in system.expressions], "numpy", cse=True)


def iterates(system: System, period: float) -> tuple[np.ndarray, str]:
    f, u = rates(system, [*system.state]), list(system.state.values())
    orbit = [u]
    for _ in range(ITERATES):
        u = [float(v) for v in f(*u)]
        if not np.all(np.abs(u) < 1e6):
            return np.array(orbit), f"the orbit escapes after {len(orbit)} iterates"
        orbit.append(u)
    return np.array(orbit[int(SETTLE * ITERATES) :]), ""


def flow(system: System, period: float) -> tuple[np.ndarray, str]:
    f, calls = rates(system, ["t", *system.state]), 0

    def rhs(t: float, u: np.ndarray) -> list[float]:
        nonlocal calls
        calls += 1
        if calls > MAX_CALLS:
            raise RuntimeError("too many calls")
        return f(t, *u)

    ends = RUN * period
    times = np.linspace(0.0, ends, POINTS)
    start = list(system.state.values())
    try:
        made = solve_ivp(rhs, (0.0, ends), start, "LSODA", t_eval=times, rtol=1e-8, atol=1e-10)
    except RuntimeError:
        return fixed_steps(f, start, period / FIXED_STEPS)
    orbit = made.y.T
    good = np.isfinite(orbit).all(axis=1) & (np.abs(orbit) < 1e8).all(axis=1)
    if made.status != 0 or not good.all():
        return orbit[good], f"the orbit ends at t = {made.t[-1]:.4g} of {ends:.4g}"
    return orbit[int(SETTLE * POINTS) :], ""


def fixed_steps(f: Callable[..., list[float]], start: list[float], h: float) -> tuple[np.ndarray, str]:
    u, t, orbit = np.array(start), 0.0, [np.array(start)]
    for _ in range(int(RUN * FIXED_STEPS)):
        a = np.array(f(t, *u))
        b = np.array(f(t + h / 2, *(u + h / 2 * a)))
        c = np.array(f(t + h / 2, *(u + h / 2 * b)))
        d = np.array(f(t + h, *(u + h * c)))
        u, t = u + h / 6 * (a + 2 * b + 2 * c + d), t + h
        if not (np.abs(u) < 1e8).all():
            return np.array(orbit), f"the orbit ends at t = {t:.4g}"
        orbit.append(u)
    return np.array(orbit[int(SETTLE * len(orbit)) :]), ""


def delay(system: System, period: float) -> tuple[np.ndarray, str]:
    f = rates(system, [*system.state, "x_tau"])
    h = system.parameters["tau"] / DELAY_STEPS
    xs = [next(iter(system.state.values()))] * (DELAY_STEPS + 1)
    for _ in range(int(HISTORY * DELAY_STEPS)):
        x, past, later = xs[-1], xs[-1 - DELAY_STEPS], xs[-DELAY_STEPS]
        first = f(x, past)[0]
        xs.append(float(x + h / 2 * (first + f(x + h * first, later)[0])))
    orbit = np.array(xs[int(SETTLE * len(xs)) :])[:, None]
    return orbit, "" if np.isfinite(orbit).all() else "the orbit escapes"


if __name__ == "__main__":
    main()
