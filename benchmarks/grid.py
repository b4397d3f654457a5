"""The comparisons: what is done on both sides, how exact it has to be, and the ratio to reach."""

from dataclasses import dataclass, field
from typing import Any

from benchmarks import limit

LONG = {"length": 500.0, "transient": 100.0}
ITERATES = {"length": 10_000, "transient": 1_000}
SPROTT = {"λ1": 0.9056, "λ3": -14.5723}  # Sprott 2003, Chaos and Time-Series Analysis, Appendix A, Lorenz
SPROTT_ROSSLER = {"λ1": 0.0714, "λ3": -5.3943}  # the same, Rössler


@dataclass(frozen=True)
class Comparison:
    """One row. A task is "module:function" with what it is given; theirs runs among the peers unless `peer` is ours.

    share : the part of our work that the peer does, where all of it would take too long.
    trusted : what the value is known to be, by name; `within` is how far either side may be from that, or, without
    anything known, from the other side.
    """

    name: str
    peer: str
    ours: tuple[str, dict[str, Any]]
    theirs: tuple[str, dict[str, Any]]
    goal: float | None
    within: float
    trusted: dict[str, float] = field(default_factory=dict)
    share: float = 1.0
    note: str = ""
    of_limit: bool = False  # theirs is the measured limit, and the ratio a share of it


def comparisons() -> list[Comparison]:
    return [*limits(), *logistic(), *henon(), *flows(), *lorenz96(), *zero_one(), *entropy(), *dimension()]


def sweep(name: str, over: str, grid: list[float], at: int, **settings: Any) -> tuple[str, dict[str, Any]]:
    return "benchmarks.ours:exponents", {"name": name, "over": over, "grid": grid, "at": at, "settings": settings}


# --- Exponents of maps: the last point of the grid is the one that is told

LOGISTIC_GRID = [3.0, 4.0, 10_000]
LOGISTIC = "logistic λ1, 10,000 values, 11,000 iterates"
HENON_GRID = [1.0, 1.4, 1_000]
HENON = "Hénon, both exponents, 1,000 values, 11,000 iterates"


def limits() -> list[Comparison]:
    chain = ("benchmarks.limit:chains", {})
    lorenz = limit.lorenz_sweep(200, LONG["length"], LONG["transient"], 0.01)
    logistic = limit.logistic_sweep(10_000, ITERATES["length"], ITERATES["transient"])
    sides = (
        ("Lorenz λ1, 200 values, T = 500, RK4 0.01", flow_sides("lorenz63", 1)[0], lorenz, 0.6),
        (LOGISTIC, sweep("logistic_r4", "r", LOGISTIC_GRID, -1, k=1, **ITERATES), logistic, 0.5),
    )
    return [
        Comparison(name, "limit", ours, chain, goal, float("inf"), {}, limit.CHAIN_INSTRUCTIONS / instructions,
                   "of the measured limit of 256-bit multiply-adds", of_limit=True)
        for name, ours, instructions, goal in sides
    ]  # fmt: skip


def logistic() -> list[Comparison]:
    ours = sweep("logistic_r4", "r", LOGISTIC_GRID, -1, k=1, **ITERATES)
    known = {"λ1": 0.6931471805599453}  # ln 2
    part = {"grid": [3.0, 4.0, 100], "at": -1, **ITERATES}
    tenth = {"grid": [3.0, 4.0, 1_000], "at": -1, **ITERATES}
    whole = {"grid": LOGISTIC_GRID, "at": -1, **ITERATES}
    return [
        Comparison(LOGISTIC, "numpy", ours, ("benchmarks.peers.by_numpy:logistic", whole), 12, 1e-3, known),
        Comparison(LOGISTIC, "pynamicalsys", ours, ("benchmarks.peers.by_pynamicalsys:mapping",
                   {"name": "logistic", **part}), 400, 1e-3, known, 0.01),
        Comparison(LOGISTIC, "lyapax", ours, ("benchmarks.peers.by_lyapax:logistic", tenth), None, 1e-3, known, 0.1),
    ]  # fmt: skip


def henon() -> list[Comparison]:
    ours = sweep("henon", "a", HENON_GRID, -1, k=2, **ITERATES)
    known = {"λ1": 0.41922, "λ2": -1.62319}  # λ1 of long runs; the sum is ln 0.3
    by = "benchmarks.peers.by_pynamicalsys:mapping"
    part = {"grid": [1.0, 1.4, 40], "at": -1, **ITERATES}
    return [
        Comparison(HENON, "lyapax", ours, ("benchmarks.peers.by_lyapax:henon",
                   {"grid": [1.0, 1.4, 100], "at": -1, **ITERATES}), 50, 0.01, known, 0.1),
        Comparison(HENON, "pynamicalsys", ours, (by, {"name": "henon", "method": "ER", **part}), 50, 0.01,
                   {"λ1": 0.41922}, 0.04, "its fastest method"),
    ]  # fmt: skip


# --- Exponents of flows

FLOWS = {  # parameter, grid, the point told, grid of the part, its point, interval of heyoka for 1 and 3 exponents
    "lorenz63": ("rho", [1.0, 200.0, 200], 27, [8.0, 188.0, 10], 1, {1: 1.0, 3: 1.0}, SPROTT, 0.04),
    "rossler": ("c", [2.01, 7.98, 200], 123, [2.1, 7.5, 10], 6, {1: 5.0, 3: 1.0}, SPROTT_ROSSLER, 0.03),
}


def flow_sides(name: str, k: int) -> tuple[tuple[str, dict[str, Any]], tuple[str, dict[str, Any]]]:
    """Ours with fixed steps of the classical method, as lyapax takes them, and with steps at a tolerance."""
    over, grid, at = FLOWS[name][:3]
    fixed = sweep(name, over, grid, at, k=k, step=0.01, method="rk4", **LONG)
    return fixed, sweep(name, over, grid, at, k=k, tolerance=1e-9, method="dop853", **LONG)


def flows() -> list[Comparison]:
    out = []
    for name, (_, grid, at, part, at_part, intervals, trusted, within) in FLOWS.items():
        for k in (1, 3):
            fixed, adaptive = flow_sides(name, k)
            told = f"{'Lorenz' if name == 'lorenz63' else 'Rössler'} {'λ1' if k == 1 else 'all'}, 200 values, T = 500"
            known = {x: trusted[x] for x in ("λ1", "λ3")[: 1 if k == 1 else 2]}
            given = {"name": name, "grid": grid, "at": at, "k": k, **LONG}
            out += [
                Comparison(f"{told}, RK4 0.01", "lyapax", fixed, ("benchmarks.peers.by_lyapax:flow",
                           given | {"step": 0.01}), 6 if k == 1 else 7, within, known),
                Comparison(f"{told}, tolerance 1e-9", "heyoka", adaptive, ("benchmarks.peers.by_heyoka:flow",
                           given | {"tolerance": 1e-9, "batch": 8, "interval": intervals[k]}), 3 if k == 1 else 4,
                           within, known, note="batch of 8, fast_math"),
                Comparison(f"{told}, RK4 0.01", "pynamicalsys", fixed, ("benchmarks.peers.by_pynamicalsys:flow",
                           given | {"step": 0.01, "grid": part, "at": at_part}), None if k == 1 else 150, within, known,
                           0.05),
            ]  # fmt: skip
    return out


def lorenz96() -> list[Comparison]:
    settings = {"k": 20, "step": 0.01, "method": "rk4", **LONG}
    return [
        Comparison("Lorenz-96, N = 20, all exponents, T = 500, RK4 0.01", "pynamicalsys",
                   ("benchmarks.ours:lorenz96", {"n": 20, "settings": settings}),
                   ("benchmarks.peers.by_pynamicalsys:lorenz96", {"n": 20, "step": 0.01, **LONG}), 4, 0.2)
    ]  # fmt: skip


# --- Series


def zero_one() -> list[Comparison]:
    rows = []
    for n in (5_000, 20_000):
        theirs = ("benchmarks.peers.series:dysts", {"n": n})
        told = f"0-1 test, 100 values of c, N = {n:,}"
        rows += [
            Comparison(f"{told}, kernel", "dysts", ("benchmarks.ours:displacement", {"n": n}), theirs, 1000, 2e-3),
            Comparison(f"{told}, public", "dysts", ("benchmarks.ours:zero_one", {"n": n}), theirs, 200, 2e-3),
        ]
    return rows


def entropy() -> list[Comparison]:
    n = 1_000_000
    ours = {m: ("benchmarks.ours:permutation_entropy", {"n": n, "order": m}) for m in range(3, 8)}
    by = "benchmarks.peers.series:"
    rows = [
        Comparison(f"permutation entropy, order {m}, N = 1,000,000", "antropy", ours[m],
                   (f"{by}antropy", {"n": n, "order": m}), 8, 1e-12)
        for m in range(3, 8)
    ]  # fmt: skip
    return rows + [
        Comparison("permutation entropy, order 5, N = 1,000,000", peer, ours[5],
                   (by + function, {"n": n, "order": 5}), None, 1e-12)
        for peer, function in (("ordpy", "ordpy"), ("neurokit2", "neurokit2_entropy"))
    ]  # fmt: skip


def dimension() -> list[Comparison]:
    ours = ("benchmarks.ours:correlation_dimension", {"n": 10_000})
    known = {"": 1.21}  # Grassberger & Procaccia 1983, Physica D 9:189: 1.21 +- 0.01
    choices = (("nolds", 20.0, "54 radii, as nolds chooses them"), (64, None, "64 radii, its default"))
    return [
        Comparison("correlation dimension of Hénon's x, 2 delays, N = 10,000", "neurokit2", ours,
                   ("benchmarks.peers.series:neurokit2", {"n": 10_000, "radius": radius}), goal, 0.05, known, note=note)
        for radius, goal, note in choices
    ]  # fmt: skip
