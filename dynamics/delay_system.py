"""A system with constant delays is a row of text too: an ordinary row whose rule may also use delayed names.

    kind = "dde"
    state = { x = "0.9 + 0.1*cos(t)" }                  # the history: a number, or a formula in t <= 0 and parameters
    parameters = { beta = 0.2, gamma = 0.1, n = 10, tau = 17 }
    delayed = { x_tau = { of = "x", by = "tau" } }      # x_tau stands for x(t - tau)
    rule = ["beta*x_tau/(1 + x_tau**n) - gamma*x"]

Inside, the delayed names are further variables of an ordinary system whose rule for them is 0: so names, equations and
bounds are checked, and both partial Jacobians are derived, by what does it for every other row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from dynamics.equations import symbol
from dynamics.history import Delayed, history_formula, value_of_history
from dynamics.nearest import did_you_mean, listed, shown
from dynamics.pointwise import value_at
from dynamics.system import RowError, System, system_from_row

WITHOUT_DELAY = ("circle", "density", "conserved", "lattice")  # keys that a row with delays cannot have


@dataclass(frozen=True)
class DelaySystem:
    """One row with delays: u'(t) = f(u(t), z(t), p, t), where z are the delayed names.

    `base` is the ordinary row over variables and delayed names, in this order; its rule is f, and 0 for the delayed
    names. `history` gives each variable for t <= 0 as text.
    """

    base: System
    delayed: dict[str, Delayed]
    history: dict[str, str]

    def __hash__(self) -> int:
        return hash((self.base, tuple(self.history.items())))

    @property
    def id(self) -> str:
        """The row's id."""
        return self.base.id

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters' values, in order."""
        return self.base.parameters

    @property
    def variables(self) -> list[str]:
        """The names of the variables, without the delayed ones."""
        return list(self.history)

    @property
    def dimension(self) -> int:
        """Number of variables; the phase space, of history segments, is infinite."""
        return len(self.history)

    @cached_property
    def history_expressions(self) -> tuple[sp.Expr, ...]:
        """The history of every variable as a SymPy expression over t and the parameters."""
        return tuple(history_formula(self.id, name, text, self.parameters) for name, text in self.history.items())

    def with_values(self, parameters: Mapping[str, float], history: Mapping[str, str] | None = None) -> "DelaySystem":
        """The same system at other parameter values, or with another history of some variables."""
        for name in history or {}:
            if name not in self.history:
                raise RowError(f"{self.id} has no variable {shown(name)}; it has {listed(self.history)}"
                               f"{did_you_mean(name, self.history)}")  # fmt: skip
        whole = self.base.with_values(parameters)  # which refuses wrong names and values
        told = {**self.history, **(history or {})}
        start = _start(self.id, told, self.delayed, whole.parameters)
        return replace(self, base=whole.with_values({}, start), history=told)

    def delays(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """The delay of every delayed name in every lane, (names, lanes), from parameters (n, lanes)."""
        order = list(self.parameters)
        return np.array([parameters[order.index(one.by)] for one in self.delayed.values()])

    def past(self, times: NDArray[np.float64], parameters: Mapping[str, float]) -> NDArray[np.float64]:
        """The stated history (d, n) at times (n,) <= 0."""
        known = {symbol(name): value for name, value in parameters.items()}
        t = symbol("t")
        out = np.empty((self.dimension, len(times)))
        for c, formula in enumerate(self.history_expressions):
            varies = formula.has(t)
            out[c] = [value_at(formula, {**known, t: time}) for time in (times if varies else times[:1])]
        if not np.isfinite(out).all():
            raise RowError(f"{self.id}: the history has no finite value somewhere between t = {times.min():g} and"
                           f" {times.max():g}")  # fmt: skip
        return out


def delay_form(system: System) -> DelaySystem:
    """A row of kind dde as its kernels see it; RowError where a delay is not above 0."""
    start = _start(system.id, system.history, system.delayed, system.parameters)
    rule = (*system.rule, *["0"] * len(system.delayed))
    base = replace(system, kind="ode", state=start, rule=rule, delayed={}, history={})
    return DelaySystem(base, system.delayed, system.history)


def delay_system_from_row(system_id: str, row: Mapping[str, Any]) -> DelaySystem:
    """The system that a TOML table describes, as its kernels see it."""
    return delay_form(delay_row(system_id, row))


def delay_row(system_id: str, row: Mapping[str, Any]) -> System:
    """The system with delays that a TOML table describes; raises RowError with one sentence that says what is wrong."""

    def refuse(message: str) -> RowError:
        return RowError(f"{system_id}: {message}")

    if row.get("kind") != "dde":
        raise refuse(f"kind is {shown(row.get('kind'))}; a system with delays has kind 'dde'")
    for key in WITHOUT_DELAY:
        if key in row:
            raise refuse(f"the key {key!r} is not read in a system with delays")
    for key, kind in (("state", dict), ("parameters", dict), ("delayed", dict), ("rule", list)):
        if not isinstance(row.get(key), kind) or not row[key]:
            raise refuse(f"the key {key!r} is missing, empty, or not a {kind.__name__}")
    state, rule = row["state"], row["rule"]
    if len(rule) != len(state):
        raise refuse(f"the rule has {len(rule)} equations, the state has {len(state)} ({listed(state)})")
    delayed = {name: _delayed(name, entry, row, refuse) for name, entry in row["delayed"].items()}
    history = {name: _text(value) for name, value in state.items()}
    plain = {key: value for key, value in row.items() if key != "delayed"}
    plain |= {"kind": "ode", "rule": [*rule, *["0"] * len(delayed)]}
    # names and parameters are checked before the history, which uses them, is evaluated
    parameters = system_from_row(system_id, {
        "kind": "ode", "state": dict.fromkeys([*state, *delayed], 0.0), "parameters": row["parameters"],
        "rule": ["0"] * (len(state) + len(delayed)),
    }).parameters  # fmt: skip
    plain["state"] = _start(system_id, history, delayed, parameters)
    base, d = system_from_row(system_id, plain), len(rule)
    start = dict([*base.state.items()][:d])
    return replace(base, kind="dde", state=start, rule=base.rule[:d], delayed=delayed, history=history)


def _delayed(name: str, entry: Any, row: Mapping[str, Any], refuse: Callable[[str], RowError]) -> Delayed:
    if not isinstance(entry, dict) or set(entry) != {"of", "by"}:
        raise refuse(f"delayed.{name} is {shown(entry)}; give {{of = 'variable', by = 'parameter'}}")
    for key, known, what in (("of", row["state"], "variable"), ("by", row["parameters"], "parameter")):
        if entry[key] not in known:
            raise refuse(f"delayed.{name}: {shown(entry[key])} is not a {what}; they are {listed(known)}"
                         f"{did_you_mean(str(entry[key]), known)}")  # fmt: skip
    return Delayed(entry["of"], entry["by"])


def _start(
    system_id: str, history: Mapping[str, str], delayed: Mapping[str, Delayed], parameters: Mapping[str, float]
) -> dict[str, float]:
    """The value at t = 0 of every variable and every delayed name."""
    for one in delayed.values():
        if parameters[one.by] <= 0.0:
            raise RowError(f"{system_id}: the delay {one.by} is {parameters[one.by]:g}; it must be above 0")
    start = {name: value_of_history(system_id, name, history[name], parameters, 0.0) for name in history}
    for name, one in delayed.items():
        past = -parameters[one.by]
        start[name] = value_of_history(system_id, one.of, history[one.of], parameters, past)
    return start


def _text(value: Any) -> str:
    if isinstance(value, float):  # of NumPy too, which shows itself otherwise
        value = float(value)
    return value if isinstance(value, str) else repr(value)
