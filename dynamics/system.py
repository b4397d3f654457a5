"""A dynamical system is a row of text, and what can be read off its equations alone.

The schema of a row is a TOML table; `System` is the row checked and parsed. Everything that can be derived from the
equations (Jacobian, divergence, explicit time, dimension) is derived here and never typed in.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from keyword import iskeyword
from typing import Any, Literal, get_args

import numpy as np
import sympy as sp

from dynamics.energy import ENERGY, energy_at, start_of_energy
from dynamics.equations import RESERVED, EquationError, derivative, expression, number, symbol
from dynamics.equations import RowError as RowError
from dynamics.history import Delayed, value_of_history
from dynamics.jumps import switches
from dynamics.lattice import expanded
from dynamics.nearest import did_you_mean, listed, shown
from dynamics.pointwise import DRAWS, constant_determinant, constant_trace, finite_at
from dynamics.sweep import Sweep as Sweep
from dynamics.sweep import read_sweep

Kind = Literal["map", "ode", "dde", "sde", "pde"]
KEYS = frozenset(
    ["kind", "state", "parameters", "rule", "let", "circle", "box", "sweep", "transient", "same_as", "name", "citation",
     "variant_of", "density", "conserved", "lattice", "delayed", "noise"]
)  # fmt: skip
# what is derived from a row's text alone, and so is the same for all values of its parameters
SHARED = frozenset(
    ["time", "variables", "expressions", "noise_expressions", "density_expression", "conserved_expressions", "jacobian",
     "divergence", "autonomous"]
)  # fmt: skip
OF_PARAMETERS = frozenset(["switches", "forcing_period", "constant_volume_factor"])  # the same for all starts
ELSEWHERE = frozenset(["delayed", "noise"])  # keys of the kinds that are read in delay_system and noise
SAME_ENERGY = 1e-6  # relative difference of a stated energy and that of the start
MAX_TRANSIENT = 1e7  # iterates, or time
MAX_NAMES = 500  # variables, parameters and intermediates
MAX_TEXT = 20_000  # characters of all equations
MAX_DIVISOR = 12  # of the smallest forcing frequency, in the search for one that all are multiples of


@dataclass(frozen=True)
class System:
    """One row: the state's names with the stated initial condition, the parameters, and the rule that moves it.

    `rule` gives x(n+1) for a map and dx/dt for a flow, in the order of `state`. `circle` maps a variable that lives on
    a circle to its circumference. `box` bounds the initial conditions that make sense. A row with delays (dde) has its
    state at t = 0 here, and `history` before; one with noise (sde) has a term of `noise` for every variable; that of a
    field (pde) names a kernel instead of a formula, and so has no `expressions`.
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
    variant_of: str | None = None  # the id of the system to which something was added
    transient: float | None = None  # iterates, or time
    density: str | None = None  # of an invariant measure, as the row states it
    conserved: dict[str, str] = field(default_factory=dict)  # first integrals, as the row states them
    delayed: dict[str, Delayed] = field(default_factory=dict)
    history: dict[str, str] = field(default_factory=dict)  # of each variable for t <= 0, a formula in t and parameters
    noise: tuple[str, ...] = ()  # of an Ito equation, diagonal; of a map, times a number between -1 and 1 per iterate

    def __hash__(self) -> int:
        return hash((self.id, self.kind, self.rule, tuple(self.state.items()), tuple(self.parameters.items())))

    @property
    def dimension(self) -> int:
        """Number of state variables; the phase space of a delay equation or of a field is infinite."""
        return len(self.state)

    @property
    def longest_delay(self) -> float:
        """The longest delay of a delay equation; 0 for all others."""
        return max((self.parameters[one.by] for one in self.delayed.values()), default=0.0)

    @property
    def discrete(self) -> bool:
        """Whether time goes in iterates."""
        return self.kind == "map"

    @property
    def has_formula(self) -> bool:
        """Whether the state alone decides what follows, by a formula: a map or an ordinary differential equation."""
        return self.kind in ("map", "ode") and not self.noise

    @property
    def noisy(self) -> bool:
        """Whether noise acts: an Ito equation, or a map with a noise term."""
        return bool(self.noise)

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
        """The rule as SymPy expressions over state, parameters and time, intermediates inserted; none of a field's."""
        return () if self.kind == "pde" else self._read_with_let(self.rule, "rule")

    @cached_property
    def noise_expressions(self) -> tuple[sp.Expr, ...]:
        """The noise of each variable as a SymPy expression."""
        return self._read_with_let(self.noise, "noise")

    def _read_with_let(self, texts: tuple[str, ...], what: str) -> tuple[sp.Expr, ...]:
        names = [*self.state, *self.delayed, *self.parameters]
        known: dict[str, sp.Expr] = {name: symbol(name) for name in names}
        known["t"] = self.time
        for name, text in self.let.items():
            known[name] = self._parsed(text, known, f"let.{name}")
        return tuple(self._parsed(text, known, f"{what} {i + 1}") for i, text in enumerate(texts))

    @cached_property
    def density_expression(self) -> sp.Expr | None:
        """The stated invariant density over state and parameters, if the row states one."""
        return None if self.density is None else self._of_state(self.density, "density")

    @cached_property
    def conserved_expressions(self) -> dict[str, sp.Expr]:
        """The stated first integrals over state and parameters, by name."""
        return {name: self._of_state(text, f"conserved.{name}") for name, text in self.conserved.items()}

    @property
    def has_energy(self) -> bool:
        """Whether the energy of the start is one of the parameters."""
        return ENERGY in self.conserved and ENERGY in self.parameters

    @cached_property
    def jacobian(self) -> sp.Matrix:
        """The (d, d) matrix of derivatives of the rule, almost everywhere."""
        return sp.Matrix([[derivative(f, x) for x in self.variables] for f in self.expressions])

    @cached_property
    def divergence(self) -> sp.Expr:
        """The trace of the Jacobian: for a flow, the rate at which a small volume grows."""
        return self.jacobian.trace()

    @cached_property
    def switches(self) -> tuple[sp.Expr, ...]:
        """The functions across whose zeros the rule of a flow jumps."""
        return switches(self)

    @cached_property
    def constant_volume_factor(self) -> float | None:
        """The growth of volume per iterate (|det J|) or its rate (div f), where it is proved the same everywhere."""
        if self.kind == "dde" or self.switches:
            return None  # there is no volume in a space of histories, and a jump changes it at once
        if self.kind == "pde":
            from dynamics.fields import divergence  # which stands on systems itself

            return divergence(self)
        values = {symbol(name): value for name, value in self.parameters.items()}
        rng = np.random.default_rng(0)
        points = [{**self._start, **values}]
        for _ in range(DRAWS):
            drawn = {symbol(n): rng.uniform(*self.box.get(n, (v - 1.0, v + 1.0))) for n, v in self.state.items()}
            points.append({**drawn, **values, self.time: rng.uniform(0.0, 10.0)})
        # terms with a factor 0 are no part of what is to be proved, and may be most of it
        jacobian = self.jacobian.xreplace({name: sp.S.Zero for name, value in values.items() if value == 0.0})
        growth = constant_determinant(jacobian, points) if self.discrete else constant_trace(jacobian, points)
        if growth is None or (growth := growth.subs(values)).free_symbols:
            return None
        factor = float(growth)
        return abs(factor) if self.discrete else factor

    @property
    def preserves_volume(self) -> bool:
        """Whether phase volume is the same before and after, everywhere: by proof, sufficient and not necessary."""
        return self.constant_volume_factor == (1.0 if self.discrete else 0.0)

    @cached_property
    def autonomous(self) -> bool:
        """Whether time does not occur in the rule."""
        return not any(f.has(self.time) for f in self.expressions)

    @cached_property
    def forcing_period(self) -> float | None:
        """The period of a flow's explicit time, or None: autonomous, not periodic, or several incommensurate periods.

        Time must occur in sines and cosines of w t + phase alone, whatever these stand in, with frequencies that are
        small multiples of one.
        """
        values = {symbol(name): value for name, value in self.parameters.items()}
        frequencies: list[float] = []
        for f in self.expressions:
            timed = [w for w in f.atoms(sp.sin, sp.cos) if w.has(self.time)]
            waves = {w: sp.Dummy() for w in timed if not any(w.args[0].has(inner) for inner in timed)}
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
                    other = "variable" if name in self.state else "parameter" if name in self.parameters else ""
                    is_other = f" ({name} is a {other})" if other else ""
                    raise RowError(f"{self.id} has no {what} {shown(name)}{is_other}; it has {listed(known)}"
                                   f"{did_you_mean(name, known)}")  # fmt: skip
                if not math.isfinite(value):
                    raise RowError(f"{self.id}: {what} {name} is {value}; it must be finite")
        values = {**self.parameters, **parameters}
        if self.has_energy:
            if ENERGY in parameters and not start:
                start = start_of_energy(self, values[ENERGY], values)
            found = energy_at(self, {**self.state, **(start or {})}, values)
            stated = parameters.get(ENERGY, found)
            if abs(stated - found) > SAME_ENERGY * (1 + abs(found)):
                raise RowError(f"{self.id}: the start has energy {found:g}, not {stated:g}; give one of the two")
            values[ENERGY] = stated
        told = {**self.history, **{name: repr(float(value)) for name, value in (start or {}).items()}}
        at_zero = {name: value_of_history(self.id, name, told[name], values, 0.0) for name in self.history}
        version = replace(self, parameters=values, state={**self.state, **(start or {}), **at_zero},
                          history=told if self.history else {})  # fmt: skip
        shared = SHARED if parameters else SHARED | OF_PARAMETERS
        for name in shared & self.__dict__.keys():
            version.__dict__[name] = self.__dict__[name]
        return version

    def check_start(self) -> None:
        """Raise RowError, naming the equation, where the rule has no finite value at the initial condition."""
        if self.kind == "pde":
            return
        at = {**self._start, **{symbol(name): value for name, value in self.parameters.items()}}
        for name, one in self.delayed.items():
            past = -self.parameters[one.by]
            at[symbol(name)] = value_of_history(self.id, one.of, self.history[one.of], self.parameters, past)
        for i, (f, text) in enumerate(zip(self.expressions, self.rule, strict=True), 1):
            if not finite_at(f, at):
                where = ", ".join(f"{name} = {value:g}" for name, value in [*self.state.items()][:6])
                raise RowError(f"{self.id}: rule {i}: {shown(text)} has no finite value at the start, {where}"
                               " (a division by zero, or a root or log of less)")  # fmt: skip

    @property
    def _start(self) -> dict[sp.Symbol, float]:
        return {**{symbol(name): value for name, value in self.state.items()}, self.time: 0.0}

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
    if system.has_energy:
        system = system.with_values({}, system.state)
    system.check_start()  # which parses the rule: what cannot be read is refused here, not at its first use
    _ = system.density_expression, system.conserved_expressions
    return system


def _read(system_id: str, row: Mapping[str, Any]) -> System:
    def refuse(message: str) -> RowError:
        return RowError(f"{shown(system_id) if odd else system_id}: {message}")

    odd = not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", system_id)
    if odd:
        raise refuse("an id is made of letters, digits, '_', '-' and '.', since files are named after it")
    for key in row:
        if key not in KEYS:
            hint = did_you_mean(key, KEYS) or f"; known are {', '.join(sorted(KEYS))}"
            raise refuse(f"the key {shown(key)} is not part of a row{hint}")
    for key, kind in (("kind", str), ("state", dict), ("rule", list)):
        if not isinstance(row.get(key), kind):
            raise refuse(f"the key {key!r} is missing or not a {kind.__name__}")
    for key, kind in (("parameters", dict), ("let", dict), ("circle", dict), ("box", dict), ("sweep", list),
                      ("name", str), ("citation", str), ("same_as", str), ("variant_of", str), ("density", str),
                      ("conserved", dict)):  # fmt: skip
        if not isinstance(row.get(key, kind()), kind):
            raise refuse(f"the key {key!r} is {shown(row[key])}; it must be a {kind.__name__}")
    if row["kind"] not in ("map", "ode"):
        raise refuse(f"kind is {shown(row['kind'])}; it must be {listed(get_args(Kind))}")
    for key in ELSEWHERE & row.keys():
        raise refuse(f"the key {key!r} is not read in a row of kind {row['kind']!r}")
    if "lattice" in row:
        row = expanded(row, refuse)
    state = {name: number(value, f"the start of {name}") for name, value in row["state"].items()}
    parameters = {name: number(value, f"parameter {name}") for name, value in row.get("parameters", {}).items()}
    let = dict(row.get("let", {}))
    names = [*state, *parameters, *let]
    _check_names(names, refuse)
    if len(row["rule"]) != len(state) or not state:
        raise refuse(f"the rule has {len(row['rule'])} equations, the state has {len(state)} ({listed(state)})")
    for text in [*row["rule"], *let.values(), *row.get("conserved", {}).values()]:
        if not isinstance(text, str):
            raise refuse(f"the equation {shown(text)} is not text; put it in quotation marks")
    characters = sum(map(len, [*row["rule"], *let.values()]))
    if characters > MAX_TEXT:
        raise refuse(f"its equations have {characters} characters; at most {MAX_TEXT} are read")
    circle = {name: number(value, f"the circumference of {name}") for name, value in row.get("circle", {}).items()}
    for name, length in circle.items():
        if length <= 0:
            raise refuse(f"the circumference of {name} is {length:g}; it must be above 0")
    box = {}
    for name, bounds in row.get("box", {}).items():
        if not (isinstance(bounds, (list, tuple)) and len(bounds) == 2):
            raise refuse(f"the box of {name} is {shown(bounds)}; give [lo, hi]")
        lo, hi = (number(bound, f"the box of {name}") for bound in bounds)
        if not lo < hi:
            raise refuse(f"the box of {name} runs from {lo} to {hi}; lo must be below hi")
        if not math.isfinite(hi - lo):
            raise refuse(f"the box of {name} runs from {lo} to {hi}, which is too wide a range")
        box[name] = (lo, hi)
    for name in [*circle, *box]:
        if name not in state:
            raise refuse(f"{shown(name)} in circle or box is not a state variable; they are {listed(state)}")
    transient = number(row["transient"], "the transient") if "transient" in row else None
    if transient is not None and transient <= 0:
        raise refuse(f"the transient is {transient}; it must be above 0")
    if transient is not None and transient > MAX_TRANSIENT:
        raise refuse(f"the transient is {transient:g}; at most {MAX_TRANSIENT:g} can be waited for")
    sweeps = tuple(read_sweep(entry, refuse) for entry in row.get("sweep", []))
    if ENERGY in row.get("conserved", {}) and any(sweep.parameter == ENERGY for sweep in sweeps):
        parameters.setdefault(ENERGY, 0.0)  # and it is what the start says
    for sweep in sweeps:
        if sweep.parameter not in parameters:
            raise refuse(f"the sweep's parameter {shown(sweep.parameter)} is not one of {listed(parameters)}"
                         f"{did_you_mean(sweep.parameter, parameters)}")  # fmt: skip
        if [other.parameter for other in sweeps].count(sweep.parameter) > 1:
            raise refuse(f"the parameter {sweep.parameter!r} is swept twice; files are named after it")
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
        variant_of=row.get("variant_of"),
        transient=transient,
        density=row.get("density"),
        conserved=dict(row.get("conserved", {})),
    )


def _check_names(names: list[str], refuse: Callable[[str], RowError]) -> None:
    if len(names) > MAX_NAMES:
        raise refuse(f"it has {len(names)} variables, parameters and intermediates; at most {MAX_NAMES} are read")
    for name in names:
        if not name.isidentifier() or iskeyword(name) or name in RESERVED:
            raise refuse(f"{shown(name)} cannot be the name of a variable; take a letter followed by letters and"
                         f" digits, none of {', '.join(sorted(RESERVED))}")  # fmt: skip
        if unicodedata.normalize("NFKC", name) != name:  # as which Python reads it in an equation
            raise refuse(f"the name {name!r} has characters that stand for others;"
                         f" write {unicodedata.normalize('NFKC', name)!r}")  # fmt: skip
        if names.count(name) > 1:
            raise refuse(f"the name {name!r} is used twice")
