"""What the package dysts states about its flows, against what their equations prove and what is measured here.

    python benchmarks/dysts_claims.py

rewrites the end of docs/dysts.md, from the line MARK on. Checked are the flags of all 135 flows, and the exponents of
the MEASURED rows on which the package's two own estimates, of the largest exponent and of the spectrum, differ most as
a ratio. Ours is that of one orbit from the package's start, as `bench label` measures it: the step is refined until
what it does to the deviations hardly matters, and the rest of that is in the interval. What has been measured is kept,
so that a second run only writes.
"""

import itertools
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from cache.results import Results
from dynamics.dysts import package
from dynamics.equations import derivative, symbol
from dynamics.pointwise import simplified, value_at, vanishes
from dynamics.registry import system
from dynamics.system import System
from dynamics.tracing import traced
from indicators.estimate import Estimate
from labeling.gathering import gathered, reference_start
from labeling.provenance import identity
from labeling.settings import Settings

MARK = "<!-- from here on made by benchmarks/dysts_claims.py -->"
DOCS = Path(__file__).parent.parent / "docs" / "dysts.md"
FLAGGED = ("nonautonomous", "hamiltonian", "unbounded_indices")
MEASURED = 15
SMALLEST = 1e-3  # of the larger estimate, per unit of time, below which a row is left out
DEAR = frozenset(["ExcitableCell"])  # not measured: so stiff that the refined step takes longer than all others
HORIZON = 1  # of the settings' lengths, times
BEYOND = 3.0  # half-widths of the 99.9 % interval that a claim is off before it is called wrong
DRAWS = 16
ROUNDING = 1e-9
PLACES = 5  # of an exponent, at most
PERIODS = 100.0  # over which a variable is watched
TURNS = 3.0  # circumferences that a variable which turns for ever covers at least in that time


class Claim(NamedTuple):
    """One wrong statement: the class, what the package says of it, what is found, and why."""

    name: str
    says: str
    found: str
    evidence: str


def main() -> None:
    _, about = package("dysts.flows")
    flags = [claim for name in sorted(about) for claim in flags_of(name, about[name])]
    exponents = [exponents_of(name, about[name]) for name in disputed(about)]
    head = DOCS.read_text(encoding="utf-8").partition(MARK)[0]
    rows = [f"| {c.name} | `{c.says}` | {c.found} | {c.evidence} |\n" for c in flags]
    counts = ", ".join(f"{sum(c.says.startswith(flag) for c in flags)} of `{flag}`" for flag in FLAGGED)
    table = [f"{exponent_line(row)}\n" for row in exponents]
    DOCS.write_text(
        "".join([head, MARK, "\n\n", FLAGS.format(counts=f"Wrong: {counts}."), *rows, EXPONENTS, *table]), "utf-8"
    )


# --- Flags


def flags_of(name: str, about: dict[str, Any]) -> list[Claim]:
    """What is wrong with nonautonomous, hamiltonian and unbounded_indices of one class."""
    print(name, file=sys.stderr)
    s = system(f"dysts_{name.lower()}")
    return [*time_flag(name, s, about), *hamiltonian_flag(name, s, about), *unbounded_flag(name, s, about)]


def time_flag(name: str, s: System, about: dict[str, Any]) -> list[Claim]:
    if about["nonautonomous"] == (not s.autonomous):
        return []
    says = f"nonautonomous: {about['nonautonomous']}"
    clocks = [x for x in state_names(name, about) if x not in s.state]
    why = f"{', '.join(clocks)} only counts time" if clocks else "the rule is a function of t"
    return [Claim(name, says, "forced" if not s.autonomous else "autonomous", why)]


def hamiltonian_flag(name: str, s: System, about: dict[str, Any]) -> list[Claim]:
    flagged = about["hamiltonian"]
    proof = hamiltonian(s, proved=not flagged) if s.kind == "ode" else None
    if flagged and proof is None:
        rate = value_at(s.divergence, {**start(s), **values(s)})
        why = f"div f = {rate:.3g} at its own start, and no pairs of its variables are conjugate"
        return [Claim(name, "hamiltonian: True", "not Hamiltonian in its variables", why)]
    return [Claim(name, "hamiltonian: False", "Hamiltonian", proof)] if proof and not flagged else []


def hamiltonian(s: System, proved: bool) -> str | None:
    """Why a flow is Hamiltonian: area (a variable times it) is preserved in the plane, or pairs of variables fit.

    In the plane every field with div(rho f) = 0 has a stream function, the Hamiltonian for the area rho dx dy. In four
    dimensions f is that of a Hamiltonian for pairs (q, p) if dq/dt and -dp/dt are the derivatives of one function.
    """
    x, f = s.variables, s.expressions
    if s.dimension == 2:
        for rho in (sp.Integer(1), *x):
            if is_zero(s, sum(derivative(rho * g, y) for g, y in zip(f, x, strict=True)), proved):
                return (
                    f"in the plane, div {'f' if rho == 1 else f'({rho} f)'} = 0: a stream function is its Hamiltonian"
                )
    if s.dimension == 4:
        for (a, b), (c, d) in (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))):
            for sign in (1, -1):
                slope = [sp.Integer(0)] * 4
                slope[a], slope[b], slope[c], slope[d] = -f[b], f[a], -sign * f[d], sign * f[c]
                pairs = itertools.combinations(range(4), 2)
                if all(is_zero(s, derivative(slope[i], x[j]) - derivative(slope[j], x[i]), proved) for i, j in pairs):
                    found = f"({x[a]}, {x[b]}) and ({x[c]}, {x[d]}) are conjugate"
                    return f"{found}: all rates are derivatives of one function"
    return None


def is_zero(s: System, expr: sp.Expr, proved: bool) -> bool:
    """Whether an expression is 0 at DRAWS states to within rounding, and by algebra too if that is asked for."""
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        point = {symbol(x): rng.uniform(*s.box[x]) for x in s.state} | {s.time: rng.uniform(0.0, 10.0)} | values(s)
        parts = [value_at(part, point) for part in sp.Add.make_args(expr)]
        if not abs(sum(parts)) <= ROUNDING * max(1.0, *map(abs, parts)):
            return False
    return not proved or vanishes(expr) or simplified(expr) == 0


def unbounded_flag(name: str, s: System, about: dict[str, Any]) -> list[Claim]:
    """Variables that are not said to grow, and do: clocks, and those that turn on their circle for ever."""
    names = state_names(name, about)
    flagged = {names[i] for i in about["unbounded_indices"]}
    says = f"unbounded_indices: {about['unbounded_indices']}"
    clocks = [x for x in names if x not in s.state and x not in flagged]
    out = [Claim(name, says, f"{x} grows too", "it only counts time") for x in clocks]
    if set(s.circle) - flagged:
        spans = turns(s, about["period"])
        for x in set(s.circle) - flagged:
            if spans[x] > TURNS:
                why = f"it covers {spans[x]:.3g} circumferences within {PERIODS:g} periods"
                out.append(Claim(name, says, f"{x} grows too", why))
    return out


def turns(s: System, period: float) -> dict[str, float]:
    """How many circumferences each variable on a circle covers, never taken back onto it."""
    fixed = {symbol(name): value for name, value in s.parameters.items()}
    free = [s.time, *s.variables]
    f = sp.lambdify(free, [g.subs(fixed) for g in s.expressions], "numpy", cse=True)
    ends = PERIODS * period
    made = solve_ivp(lambda t, u: f(t, *u), (0.0, ends), [*s.state.values()], "LSODA", rtol=1e-7, atol=1e-9,
                     t_eval=np.linspace(0.0, ends, 10_000))  # fmt: skip
    return {x: float(np.ptp(made.y[i]) / s.circle[x]) for i, x in enumerate(s.state) if x in s.circle}


def state_names(name: str, about: dict[str, Any]) -> list[str]:
    """The variables of the package's own rule, clocks among them."""
    module, _ = package("dysts.flows")
    kind = "dde" if about["delay"] else "ode"
    return [*traced(getattr(module, name), about["initial_conditions"], about["parameters"], kind).state]


def start(s: System) -> dict[sp.Symbol, float]:
    return {symbol(x): value for x, value in s.state.items()} | {s.time: 0.0}


def values(s: System) -> dict[sp.Symbol, float]:
    return {symbol(name): value for name, value in s.parameters.items()}


# --- Exponents


class Exponents(NamedTuple):
    """The package's two estimates of the largest exponent, and ours."""

    name: str
    maximum: float
    spectrum: float
    ours: Estimate


def disputed(about: dict[str, Any]) -> list[str]:
    """The classes whose two estimates differ most, as a ratio, and Lorenz, where the truth is known."""

    def ratio(name: str) -> float:
        sizes = sorted(map(abs, estimates(about[name])))
        return sizes[1] / max(sizes[0], 1e-12)

    def counts(name: str) -> bool:
        found = estimates(about[name])
        return (
            name not in DEAR
            and not about[name]["delay"]
            and all(map(math.isfinite, found))
            and max(map(abs, found)) > SMALLEST
        )

    known = [name for name in about if counts(name)]
    return [*sorted(sorted(known, key=ratio, reverse=True)[:MEASURED]), "Lorenz"]


def estimates(about: dict[str, Any]) -> tuple[float, float]:
    spectrum = about["lyapunov_spectrum_estimated"] or [None]
    return tuple(math.nan if v is None else v for v in (about["maximum_lyapunov_estimated"], spectrum[0]))  # type: ignore[return-value]


def exponents_of(name: str, about: dict[str, Any]) -> Exponents:
    print(name, file=sys.stderr)
    kept = Results(identity())
    chosen = system(f"dysts_{name.lower()}")
    return Exponents(name, *estimates(about), kept.of(chosen.id, largest, chosen))


def largest(chosen: System) -> Estimate:
    """The largest exponent of the orbit from the system's own start."""
    settings = Settings()
    return gathered(reference_start(chosen, settings, HORIZON), settings)[0].largest


def is_off(claimed: float, measured: Estimate) -> bool:
    half = float(measured.evidence.get("error_999", measured.error))
    return abs(claimed - measured.number) > BEYOND * half


# --- Tables


FLAGS = """\
**Flags that are wrong**, of all 135 flows: `nonautonomous`, `hamiltonian` and `unbounded_indices` (of variables that
grow for ever), against what the equations prove; that an angle turns for ever is seen on its orbit.
{counts}

| system | what the package says | what is found | evidence |
|---|---|---|---|
"""
EXPONENTS = f"""\

**Largest exponents** of the {MEASURED} flows whose two estimates differ most as a ratio, and of Lorenz: *maximum* is
`maximum_lyapunov_estimated`, *spectrum* the first of `lyapunov_spectrum_estimated`. Ours is measured on the orbit from
the package's own start, with its 99.9 % interval. *Wrong* is what lies more than {BEYOND:g} half-widths away. Left out
are rows whose estimates are both below {SMALLEST:g}, and {", ".join(DEAR)}, which is too stiff.

| system | maximum | spectrum | measured | wrong |
|---|---|---|---|---|
"""


def exponent_line(row: Exponents) -> str:
    told = f"| {row.name} | {row.maximum:.4g} | {row.spectrum:.4g} |"
    if row.ours.value is None:
        return f"{told} {row.ours.status} | |"
    claimed = {"maximum": row.maximum, "spectrum": row.spectrum}
    wrong = [word for word, value in claimed.items() if is_off(value, row.ours)]
    return f"{told} {figure(row.ours)} | {', '.join(wrong) or 'none'} |"


def figure(measured: Estimate) -> str:
    half = float(measured.evidence.get("error_999", measured.error))
    places = min(PLACES, max(0, 1 - math.floor(math.log10(max(half, 10.0**-PLACES)))))
    return f"{measured.number:.{places}f} ± {half:.{places}f}"


if __name__ == "__main__":
    main()
