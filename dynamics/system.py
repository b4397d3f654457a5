"""A dynamical system is a row of text, and what can be read off its equations alone.

The schema of a row is a TOML table; `System` is the row checked and parsed. Everything that can be derived from the
equations (Jacobian, divergence, explicit time, dimension) is derived here and never typed in.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from keyword import iskeyword
from typing import Any, Literal

import sympy as sp

from dynamics.equations import RESERVED, EquationError, derivative, expression, number, symbol

Kind = Literal["map", "ode"]
KEYS = frozenset(
    [
        "kind",
        "state",
        "parameters",
        "rule",
        "let",
        "circle",
        "box",
        "sweep",
        "transient",
        "same_as",
        "name",
        "citation",
        "density",
        "conserved",
    ]
)
# what is derived from a row's text alone, and so is the same for all values of its parameters
SHARED = frozenset(
    ["time", "variables", "expressions", "density_expression", "conserved_expressions", "jacobian", "divergence",
     "volume_growth", "autonomous"]
)  # fmt: skip
MAX_SWEEP_POINTS = 1_000_000
MAX_DIVISOR = 12  # of the smallest forcing frequency, in the search for one that all are multiples of


class RowError(ValueError):
    """A row that does not describe a system; the message says which row, which key, and what would be right."""


@dataclass(frozen=True)
class Sweep:
    """A grid over one parameter: `points` values from `lo` to `hi`, both included."""

    parameter: str
    lo: float
    hi: float
    points: int

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lo) and math.isfinite(self.hi) and self.lo < self.hi):
            raise RowError(f"the sweep of {self.parameter} runs from {self.lo} to {self.hi}; lo must be below hi")
        if not 2 <= self.points <= MAX_SWEEP_POINTS:
            raise RowError(f"the sweep of {self.parameter} has {self.points} points; at least 2 are needed"
                               f" and at most {MAX_SWEEP_POINTS}")  # fmt: skip


@dataclass(frozen=True)
class System:
    """One row: the state's names with the stated initial condition, the parameters, and the rule that moves it.

    `rule` gives x(n+1) for a map and dx/dt for a flow, in the order of `state`. `circle` maps a variable that lives on
    a circle to its circumference. `box` bounds the initial conditions that make sense.
    """

    id: str
    kind: Kind
    state: dict[str, float]
    parameters: dict[str, float]
    rule: tuple[str, ...]
    let: dict[str, str]
    circle: dict[str, float]
    box: dict[str, tuple[float, float]]
    sweeps: tuple[Sweep, ...]
    name: str
    citation: str
    same_as: str | None = None
    transient: float | None = None  # iterates, or time
    density: str | None = None  # of an invariant measure, as the row states it
    conserved: dict[str, str] = field(default_factory=dict)  # first integrals, as the row states them

    def __hash__(self) -> int:
        return hash((self.id, self.kind, self.rule, tuple(self.state.items()), tuple(self.parameters.items())))

    @property
    def dimension(self) -> int:
        """Number of state variables."""
        return len(self.state)

    @cached_property
    def time(self) -> sp.Symbol:
        """The symbol of explicit time."""
        return symbol("t")

    @cached_property
    def variables(self) -> tuple[sp.Symbol, ...]:
        """The state's symbols, in order."""
        return tuple(symbol(name) for name in self.state)

    @cached_property
    def expressions(self) -> tuple[sp.Expr, ...]:
        """The rule as SymPy expressions over state, parameters and time, intermediates inserted."""
        known: dict[str, sp.Expr] = {name: symbol(name) for name in [*self.state, *self.parameters]}
        known["t"] = self.time
        for name, text in self.let.items():
            known[name] = self._parsed(text, known, f"let.{name}")
        return tuple(self._parsed(text, known, f"rule {i + 1}") for i, text in enumerate(self.rule))

    @cached_property
    def density_expression(self) -> sp.Expr | None:
        """The stated invariant density over state and parameters, if the row states one."""
        return None if self.density is None else self._of_state(self.density, "density")

    @cached_property
    def conserved_expressions(self) -> dict[str, sp.Expr]:
        """The stated first integrals over state and parameters, by name."""
        return {name: self._of_state(text, f"conserved.{name}") for name, text in self.conserved.items()}

    @cached_property
    def jacobian(self) -> sp.Matrix:
        """The (d, d) matrix of derivatives of the rule, almost everywhere."""
        return sp.Matrix([[derivative(f, x) for x in self.variables] for f in self.expressions])

    @cached_property
    def divergence(self) -> sp.Expr:
        """The trace of the Jacobian: for a flow, the rate at which a small volume grows."""
        return sp.simplify(self.jacobian.trace())

    @cached_property
    def volume_growth(self) -> sp.Expr:
        """The growth of a small volume per iterate of a map, |det J|, or its rate in a flow, div f."""
        return self.divergence if self.kind == "ode" else sp.Abs(sp.simplify(self.jacobian.det(method="berkowitz")))

    @cached_property
    def constant_volume_factor(self) -> float | None:
        """The growth of volume per iterate (|det J|) or its rate (div f), where it is the same everywhere."""
        growth = self.volume_growth.subs({symbol(name): value for name, value in self.parameters.items()})
        return float(growth) if not growth.free_symbols else None

    @property
    def preserves_volume(self) -> bool:
        """Whether phase volume is the same before and after, everywhere: by proof, sufficient and not necessary."""
        return self.constant_volume_factor == (0.0 if self.kind == "ode" else 1.0)

    @cached_property
    def autonomous(self) -> bool:
        """Whether time does not occur in the rule."""
        return not any(f.has(self.time) for f in self.expressions)

    @cached_property
    def forcing_period(self) -> float | None:
        """The period of a flow's explicit time, or None: autonomous, not periodic, or several incommensurate periods.

        Time must occur in sines and cosines of w t + phase alone, with frequencies that are small multiples of one.
        """
        values = {symbol(name): value for name, value in self.parameters.items()}
        frequencies: list[float] = []
        for f in self.expressions:
            waves = {w: sp.Dummy() for w in f.atoms(sp.sin, sp.cos) if w.has(self.time)}
            if f.xreplace(waves).has(self.time):
                return None
            for wave in waves:
                frequency = sp.diff(wave.args[0], self.time).subs(values)
                if not frequency.is_number:
                    return None
                frequencies.append(abs(float(frequency)))
        positive = [w for w in frequencies if w > 0.0]
        if not positive:
            return None
        for divisor in range(1, MAX_DIVISOR + 1):
            base = min(positive) / divisor
            if all(abs(w / base - round(w / base)) <= 1e-9 * w / base for w in positive):
                return 2 * math.pi / base
        return None

    def with_values(self, parameters: Mapping[str, float], start: Mapping[str, float] | None = None) -> "System":
        """The same system at other parameter values, or from another initial condition."""
        for given, known, what in ((parameters, self.parameters, "parameter"), (start or {}, self.state, "variable")):
            for name, value in given.items():
                if name not in known:
                    raise RowError(f"{self.id} has no {what} {name!r}; it has {', '.join(known) or 'none'}")
                if not math.isfinite(value):
                    raise RowError(f"{self.id}: {what} {name} is {value}; it must be finite")
        version = replace(self, parameters={**self.parameters, **parameters}, state={**self.state, **(start or {})})
        for name in SHARED & self.__dict__.keys():
            version.__dict__[name] = self.__dict__[name]
        return version

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key in self.__dataclass_fields__}

    def _of_state(self, text: str, where: str) -> sp.Expr:
        return self._parsed(text, {name: symbol(name) for name in [*self.state, *self.parameters]}, where)

    def _parsed(self, text: str, known: Mapping[str, sp.Expr], where: str) -> sp.Expr:
        try:
            return expression(text, known)
        except EquationError as error:
            raise RowError(f"{self.id}: {where}: {error}") from None


def system_from_row(system_id: str, row: Mapping[str, Any]) -> System:
    """The system that a TOML table describes; raises RowError with one sentence that says what is wrong."""
    try:
        system = _read(system_id, row)
    except EquationError as error:
        raise RowError(f"{system_id}: {error}") from None
    # what cannot be parsed is refused here, not at its first use
    _ = system.expressions, system.density_expression, system.conserved_expressions
    return system


def _read(system_id: str, row: Mapping[str, Any]) -> System:
    def refuse(message: str) -> RowError:
        return RowError(f"{system_id!r}: {message}")

    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", system_id):
        raise refuse("an id is made of letters, digits, '_', '-' and '.', since files are named after it")

    for key in row:
        if key not in KEYS:
            raise refuse(f"the key {key!r} is not part of a row; known are {', '.join(sorted(KEYS))}")
    for key, kind in (("kind", str), ("state", dict), ("rule", list)):
        if not isinstance(row.get(key), kind):
            raise refuse(f"the key {key!r} is missing or not a {kind.__name__}")
    for key, kind in (("parameters", dict), ("let", dict), ("circle", dict), ("box", dict), ("sweep", list),
                      ("name", str), ("citation", str), ("same_as", str), ("density", str),
                      ("conserved", dict)):  # fmt: skip
        if not isinstance(row.get(key, kind()), kind):
            raise refuse(f"the key {key!r} is {row[key]!r}; it must be a {kind.__name__}")
    if row["kind"] not in ("map", "ode"):
        raise refuse(f"kind is {row['kind']!r}; it must be 'map' or 'ode'")
    state = {name: number(value, f"the start of {name}") for name, value in row["state"].items()}
    parameters = {name: number(value, f"parameter {name}") for name, value in row.get("parameters", {}).items()}
    let = dict(row.get("let", {}))
    names = [*state, *parameters, *let]
    for name in names:
        if not name.isidentifier() or iskeyword(name) or name in RESERVED:
            raise refuse(f"{name!r} cannot be the name of a variable; take a letter followed by letters and digits,"
                         f" none of {', '.join(sorted(RESERVED))}")  # fmt: skip
        if names.count(name) > 1:
            raise refuse(f"the name {name!r} is used twice")
    if len(row["rule"]) != len(state) or not state:
        raise refuse(f"the rule has {len(row['rule'])} equations, the state has {len(state)} ({', '.join(state)})")
    for text in [*row["rule"], *let.values(), *row.get("conserved", {}).values()]:
        if not isinstance(text, str):
            raise refuse(f"the equation {text!r} is not text; put it in quotation marks")
    circle = {name: number(value, f"the circumference of {name}") for name, value in row.get("circle", {}).items()}
    for name, length in circle.items():
        if length <= 0:
            raise refuse(f"the circumference of {name} is {length}; it must be above 0")
    box = {}
    for name, bounds in row.get("box", {}).items():
        if not (isinstance(bounds, (list, tuple)) and len(bounds) == 2):
            raise refuse(f"the box of {name} is {bounds!r}; give [lo, hi]")
        lo, hi = (number(bound, f"the box of {name}") for bound in bounds)
        if not lo < hi:
            raise refuse(f"the box of {name} runs from {lo} to {hi}; lo must be below hi")
        box[name] = (lo, hi)
    for name in [*circle, *box]:
        if name not in state:
            raise refuse(f"{name!r} in circle or box is not a state variable; they are {', '.join(state)}")
    transient = number(row["transient"], "the transient") if "transient" in row else None
    if transient is not None and transient <= 0:
        raise refuse(f"the transient is {transient}; it must be above 0")
    sweeps = tuple(_sweep(entry, refuse) for entry in row.get("sweep", []))
    for sweep in sweeps:
        if sweep.parameter not in parameters:
            raise refuse(f"the sweep's parameter {sweep.parameter!r} is not one of {', '.join(parameters)}")
    return System(
        id=system_id,
        kind=row["kind"],
        state=state,
        parameters=parameters,
        rule=tuple(row["rule"]),
        let=let,
        circle=circle,
        box=box,
        sweeps=sweeps,
        name=row.get("name", system_id),
        citation=row.get("citation", ""),
        same_as=row.get("same_as"),
        transient=transient,
        density=row.get("density"),
        conserved=dict(row.get("conserved", {})),
    )


def _sweep(entry: Any, refuse: Callable[[str], RowError]) -> Sweep:
    keys = ("parameter", "lo", "hi", "points")
    if not isinstance(entry, dict) or set(entry) != set(keys):
        raise refuse(f"the sweep {entry!r} needs the keys {', '.join(keys)}, and no others")
    points = entry["points"]
    if not isinstance(points, int):
        raise refuse(f"the sweep of {entry['parameter']} has points = {points!r}; a whole number is needed")
    return Sweep(entry["parameter"], number(entry["lo"], "lo"), number(entry["hi"], "hi"), points)
