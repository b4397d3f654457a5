"""Tools that a model may call: our simulator, within a budget of calls and CPU seconds for each question.

A tool reads a system's equations and nothing else: no label, no threshold, no result that is kept from another run.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.rendering import LANGUAGES, language
from bench.tool_budget import Budget, ToolError
from dynamics.block import single_orbit
from dynamics.codegen import kernels
from dynamics.equations import RowError
from dynamics.nearest import did_you_mean, shown
from dynamics.registry import system, system_ids, variant_ids
from dynamics.system import System
from indicators.entropy import permutation_entropy
from indicators.sampling import sampling
from indicators.zero_one import zero_one_k
from labeling.evidence import Evidence
from labeling.exponents import exponents_over
from labeling.gathering import gathered, reference_start
from labeling.settings import Settings

INDICATORS = ("lyapunov", "zero_one_k", "permutation_entropy")
TRANSIENT, LENGTH = {True: 5_000.0, False: 400.0}, {True: 20_000.0, False: 2_000.0}  # of maps, of flows; unless stated
MOST_STEPS = 3_000_000  # of one call: some seconds
MOST_STATES = 200  # that one call shows
SERIES = 10_000  # values that K and the entropy are taken of
DIGITS = 6
SHORTEST, LONGER = 4, 4  # horizons of labeling.gathering for systems that no formula of the present moves
MOST_LEADING = 16  # exponents of such systems, which have infinitely many
ONE = threading.Lock()  # one call at a time: compiled modules are not made by two threads at once

Arguments = Mapping[str, Any]
Floats = NDArray[np.float64]


class Tools:
    """The tools of one question. Each call returns a JSON object as text, with the calls that are left."""

    def __init__(self, names: tuple[str, ...], budget: Budget) -> None:
        self.names, self.calls, self.seconds = names, budget.calls, budget.seconds

    @property
    def spent(self) -> bool:
        """Whether no further call is answered."""
        return self.calls <= 0 or self.seconds <= 0.0

    def called(self, name: str, arguments: Arguments) -> str:
        """The result of a call, or under `error` why there is none; either way it is one call."""
        made: dict[str, Any]
        if self.spent:
            made = {"error": "the budget is spent; answer with what you know"}
        else:
            self.calls -= 1
            try:
                made = self._timed(name, arguments)
            except (ToolError, RowError, ValueError, TypeError, KeyError) as error:
                made = {"error": str(error)}
        return json.dumps(made | {"calls_left": self.calls}, allow_nan=False)

    def _timed(self, name: str, arguments: Arguments) -> dict[str, Any]:
        if name not in self.names:
            raise ToolError(f"there is no tool {shown(name)}; there are {', '.join(self.names)}")
        with ONE:
            s = chosen(arguments)
            if s.has_formula:  # compiled outside the clock, and kept
                kernels(s, 0, lanes=1)
                kernels(s, min(2, s.dimension))
            begun = time.thread_time()
            try:
                return WORK[name](s, arguments)
            finally:
                self.seconds -= time.thread_time() - begun


def chosen(arguments: Arguments) -> System:
    """The system that a call names, by its id or as questions call it, at the parameters and start of the call."""
    name = str(arguments.get("system", ""))
    key = _plain(name)
    if key not in _ids():
        raise ToolError(f"there is no system {shown(name)}{did_you_mean(key, list(_ids()))}")
    s = system(_ids()[key])
    values, start = (_numbers(arguments.get(key), key) for key in ("parameters", "start"))
    return s.with_values(values, start)


@cache
def _ids() -> dict[str, str]:
    ids = [*system_ids(), *variant_ids()]
    made = {_plain(one): one for one in ids}
    for lang in LANGUAGES:
        for one in ids:
            made.setdefault(_plain(language(lang).name_of(one)), one)
    return made


def _plain(name: str) -> str:
    return name.strip().lower().removeprefix("the ")


def _numbers(given: Any, key: str) -> dict[str, float]:
    if not isinstance(given or {}, Mapping):
        raise ToolError(f"{key} is {shown(json.dumps(given))}; an object of names and numbers is needed")
    return {str(name): float(value) for name, value in (given or {}).items()}


def _length(s: System, arguments: Arguments) -> tuple[float, float]:
    """What is looked at and what is dropped before, in iterates or time units."""
    transient = float(arguments.get("transient") or s.transient or TRANSIENT[s.discrete])
    length = float(arguments.get("length") or LENGTH[s.discrete] / TRANSIENT[s.discrete] * transient)
    if not (0.0 < length < np.inf and 0.0 < transient < np.inf):
        raise ToolError(f"length {length:g} and transient {transient:g} must be above 0 and finite")
    return length, transient


def _step(s: System, length: float, transient: float) -> float:
    """The step that a flow needs, after a short look; refuses what would take too long."""
    h = 1.0 if s.discrete else float(exponents_over(s, k=1, length=transient / 50, transient=transient / 10).step[0])
    if not h > 0.0:
        raise ToolError(f"{s.id} leaves every bound from there")
    steps = (length + transient) / h
    if steps > MOST_STEPS:
        raise ToolError(f"length and transient are {steps:.3g} steps together; at most {MOST_STEPS} are made, "
                        f"which is {MOST_STEPS * h:.6g}")  # fmt: skip
    return h


def _orbit(s: System, arguments: Arguments, count: int) -> tuple[Floats, Floats, str]:
    """Times (count,) and states (count, d) over the length that is asked for, and how the orbit ended."""
    length, transient = _length(s, arguments)
    h = _step(s, length, transient)
    between = max(1, round(length / h / count))
    dropped = max(1, round(transient / h / between))
    start = np.array([*s.state.values()], dtype=float)
    states, _, status = single_orbit(s, start, h, between, dropped + count)
    return np.arange(dropped + 1.0, dropped + count + 1) * (between * h), states[dropped:], str(status)


def simulated(s: System, arguments: Arguments) -> dict[str, Any]:
    """States at equal distances along the orbit, after a transient."""
    count = int(arguments.get("states") or 50)
    if not 1 <= count <= MOST_STATES:
        raise ToolError(f"states is {count}; from 1 to {MOST_STATES} are shown")
    times, states, status = _orbit(s, arguments, count) if s.has_formula else _path(s, arguments, count)
    if status != "ok":
        return {"status": status, "states": None}
    return {"status": status, "variables": [*s.state], "times": _short(times), "states": [_short(x) for x in states]}


def indicated(s: System, arguments: Arguments) -> dict[str, Any]:
    """An indicator with its 95 % half-width and its status."""
    name = arguments.get("name", "lyapunov")
    if name not in INDICATORS:
        raise ToolError(f"there is no indicator {shown(str(name))}; there are {', '.join(INDICATORS)}")
    if name == "lyapunov":
        return _lyapunov(s, arguments) if s.has_formula else _leading(s, arguments)
    _, states, status = (_orbit if s.has_formula else _path)(s, arguments, SERIES)
    if status != "ok":
        return {"value": None, "error": None, "status": status}
    x, around = states[:, 0], s.circle.get(next(iter(s.state)))
    x = x if around is None else np.cos(2 * np.pi * x / around)
    found = zero_one_k(x) if name == "zero_one_k" else permutation_entropy(x, delay=sampling(x).stride)
    return {"value": found.value, "error": found.error, "status": found.status}


def _lyapunov(s: System, arguments: Arguments) -> dict[str, Any]:
    length, transient = _length(s, arguments)
    _step(s, length, transient)
    k = min(int(arguments.get("k") or 2), s.dimension)
    found = exponents_over(s, k=k, length=length, transient=transient)
    if found.status[0] == "diverged":
        return {"value": None, "error": None, "status": "diverged", "length": length}
    return {"value": _short(found.values[0]), "error": _short(found.errors[0]), "status": str(found.status[0]),
            "length": float(found.length[0])}  # fmt: skip


def _evidence(s: System, arguments: Arguments, k: int) -> Evidence:
    """The runs of a delay equation, a field or an equation with noise: of the lengths with which its label begins.

    They are LONGER times as long where more time is asked for; the transient is always that of the label.
    """
    wanted, _ = _length(s, arguments)
    e = gathered(reference_start(s, Settings(), SHORTEST), Settings(), leading=k)[0]
    if e.status == "ok" and wanted > _time(e):
        e = gathered(reference_start(s, Settings(), LONGER * SHORTEST), Settings(), leading=k)[0]
    return e


def _time(e: Evidence) -> float:
    return len(e.growth) * e.interval


def _leading(s: System, arguments: Arguments) -> dict[str, Any]:
    k = min(int(arguments.get("k") or 2), MOST_LEADING)
    e = _evidence(s, arguments, k)
    if not isinstance(e.spectrum.value, list) or not isinstance(e.spectrum.error, list):
        return {"value": None, "error": None, "status": e.spectrum.status, "length": _time(e)}
    return {"value": _short(np.array(e.spectrum.value[:k])), "error": _short(np.array(e.spectrum.error[:k])),
            "status": e.spectrum.status, "length": _time(e)}  # fmt: skip


def _path(s: System, arguments: Arguments, count: int) -> tuple[Floats, Floats, str]:
    """As `_orbit`, of the other kinds: present values, from the start of the series on, as close as they are there."""
    e = _evidence(s, arguments, 1)
    each = max(1, min(len(e.series) // count, round(_length(s, arguments)[0] / e.series_step / count)))
    states = e.series[::each][:count]
    times = e.t + (each * e.series_step) * np.arange(len(states), dtype=np.float64)
    return times, states, str(e.status)


def _short(values: Floats) -> list[float | None]:
    return [float(f"{x:.{DIGITS}g}") if np.isfinite(x) else None for x in values]


WORK: dict[str, Callable[[System, Arguments], dict[str, Any]]] = {"simulate": simulated, "indicator": indicated}
