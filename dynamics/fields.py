"""Fields on a circle: partial differential equations whose rule is no formula but a kernel, `rule = "spatial:NAME"`.

A field is a block like any other: the same layout, deviations, records and statuses, moved by the same `run`. What
differs is where its step comes from. Domain, resolution, step and start are stated in the field's own module.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynamics import kuramoto_sivashinsky as ks
from dynamics import sine_gordon as sg
from dynamics.block import Block
from dynamics.codegen import LANES, Kernels
from dynamics.equations import number
from dynamics.nearest import listed, shown
from dynamics.sweep import read_sweep
from dynamics.system import RowError, System

Array = NDArray[np.float64]
FIELDS: dict[str, Callable[[], System]] = {ks.NAME: ks.kuramoto_sivashinsky, sg.NAME: sg.sine_gordon}
STEPS = {ks.NAME: ks.STEP, sg.NAME: sg.STEP}
FORMULAS = {  # text, LaTeX, and what the numbers of the state are
    ks.NAME: (
        "u_t = -u*u_x - u_xx - u_xxxx", r"u_t = -u\,u_x - u_{xx} - u_{xxxx}",
        "u has period L in x; a_m and b_m are the real and imaginary parts of its Fourier modes",
    ),
    sg.NAME: (
        "u_tt = u_xx - sin(u)", r"u_{tt} = u_{xx} - \sin u",
        "u has period L in x; u_j and v_j are u and u_t at equally spaced points",
    ),
}  # fmt: skip
KEYS = ("kind", "rule", "parameters", "sweep", "transient", "name", "citation")
LOW_MODES = 4  # that random starts of Kuramoto-Sivashinsky are made of
EXPONENTS = {ks.NAME: 10, sg.NAME: 2}  # that are measured, of as many as there are dimensions
FREQUENCIES = (0.6, 0.9)  # of the breathers that random starts of sine-Gordon are


def field_name(system: System) -> str:
    """The NAME of a rule "spatial:NAME"; ValueError where the row is an ordinary one, or names no known field."""
    rule, _, name = system.rule[0].partition(":")
    if rule != "spatial" or name not in FIELDS:
        raise ValueError(f"{system.id}: {system.rule[0]!r} is no field; known are"
                         f" {', '.join(f'spatial:{known}' for known in FIELDS)}")  # fmt: skip
    return name


def formula(system: System) -> tuple[str, str, str]:
    """The name of the field, and its equation as text and as LaTeX."""
    text, latex, _ = FORMULAS[field_name(system)]
    return "u", text, latex


def discretisation(system: System) -> str:
    """What the numbers of the state are, in one sentence."""
    return FORMULAS[field_name(system)][2]


def field_row(system_id: str, row: Mapping[str, Any]) -> System:
    """The field that a TOML table describes: rule, L, transient and words; start and resolution are the field's own."""
    for key in row:
        if key not in KEYS:
            raise RowError(f"{system_id}: the key {shown(key)} is not read in a row of kind 'pde'; known are"
                           f" {', '.join(KEYS)}")  # fmt: skip
    rule, length = row.get("rule"), row.get("parameters", {"L": None})
    known = [f"spatial:{name}" for name in FIELDS]
    if rule not in known:
        raise RowError(f"{system_id}: the rule is {shown(rule)}; a row of kind 'pde' names one of {listed(known)}")
    if not isinstance(length, dict) or set(length) != {"L"}:
        raise RowError(f"{system_id}: the parameters are {shown(length)}; a field has one, its length L")
    made = FIELDS[rule.partition(":")[2]]()
    values = {"L": number(length["L"], "parameter L")} if length["L"] is not None else made.parameters
    if values["L"] <= 0:
        raise RowError(f"{system_id}: the length L is {values['L']:g}; it must be above 0")
    sweeps = tuple(read_sweep(entry, lambda message: RowError(f"{system_id}: {message}"))
                   for entry in row.get("sweep", []))  # fmt: skip
    words = {key: row[key] for key in ("name", "citation", "transient") if key in row}
    return replace(made, id=system_id, parameters=values, sweeps=sweeps, **words)


def divergence(system: System) -> float:
    """The rate at which volume in the space of the discretised field grows, which is the same everywhere."""
    if field_name(system) == sg.NAME:
        return 0.0  # Hamiltonian
    return ks.divergence(system.parameters["L"], system.dimension // 2)


def energy_law(system: System) -> str:
    """Why volume shrinks, or does not, in one sentence."""
    if field_name(system) == sg.NAME:
        return "u_t = v, v_t = u_xx - sin u is Hamiltonian, and so is its discretisation: volume and energy are kept"
    return ("d/dt of the integral of u^2/2 is that of u_x^2 - u_xx^2: modes above 1 in wave number are damped without"
            " bound, and the rates of all modes sum to less than 0")  # fmt: skip


def field_starts(system: System, seed: int) -> Array:
    """States (d, LANES): the row's own start in lane 0, and in the others starts drawn from `seed`.

    Kuramoto-Sivashinsky: the lowest modes, normal of deviation 1/2 each. Sine-Gordon: breathers of other frequencies.
    """
    rng = np.random.default_rng(seed)
    states = np.zeros((system.dimension, LANES))
    if field_name(system) == ks.NAME:
        low = min(2 * LOW_MODES, system.dimension)
        states[:low] = 0.5 * rng.standard_normal((low, LANES))
    else:
        length, points = system.parameters["L"], system.dimension // 2
        x = sg.grid(length, points) - length / 2
        for i, frequency in enumerate(rng.uniform(*FREQUENCIES, LANES)):
            states[:points, i] = sg.breather(x, 0.0, frequency)
    states[:, 0] = [*system.state.values()]
    return states


def field_block(
    system: System,
    states: Array,
    k: int,
    *,
    h: Array | float | None = None,
    lengths: Array | None = None,
    seed: int = 0,
    order: int = sg.ORDER,
) -> Block:
    """A block of a field from states (d, LANES), with k random orthonormal deviations, the same in every lane.

    h : the step, one or (LANES,); the field's own if not given. lengths (LANES,) : L of every lane; or else the row's.
    order : of the symplectic scheme of sine-Gordon, 2 or 4; ETDRK4 is of order 4 alone.
    Raises ValueError for a step at which sine-Gordon's fastest wave is unstable.
    """
    name, d = field_name(system), system.dimension
    if states.shape != (d, LANES):
        raise ValueError(f"{system.id}: a block needs states {(d, LANES)}, not {states.shape}")
    if not 0 <= k <= d:
        raise ValueError(f"{system.id}: {k} deviation vectors asked for, the state has {d} dimensions")
    steps = np.broadcast_to(np.asarray(STEPS[name] if h is None else h, dtype=float), LANES).copy()
    domain = np.full(LANES, system.parameters["L"]) if lengths is None else np.asarray(lengths, dtype=float).copy()
    if domain.shape != (LANES,) or not (np.isfinite(domain).all() and (domain > 0).all()):
        raise ValueError(f"{system.id}: lengths must be {LANES} finite numbers above 0")
    if not (np.isfinite(steps).all() and (steps > 0).all()):
        raise ValueError(f"{system.id}: the step is {h}; it must be above 0")
    if name == ks.NAME:
        if order != 4:
            raise ValueError(f"{system.id}: ETDRK4 is of order 4, not {order}")
        step = ks.step_kernel(d // 2)
    else:
        if order not in sg.COMPOSITIONS:
            raise ValueError(f"{system.id}: no symplectic scheme of order {order}; there are {[*sg.COMPOSITIONS]}")
        limits = np.array([sg.longest_step(length, d // 2, order) for length in domain.tolist()])
        worst = int(np.argmax(steps / limits))
        if steps[worst] >= limits[worst]:
            raise ValueError(f"{system.id}: at a step of {steps[worst]:g} and L = {domain[worst]:g} the fastest wave is"
                             f" unstable; take one below {limits[worst]:.3g}")  # fmt: skip
        step = sg.step_kernel(d // 2, order)
    data = np.zeros((d * (1 + k) + 1) * LANES)
    shaped = data[: d * (1 + k) * LANES].reshape(d, 1 + k, LANES)
    shaped[:, 0] = states
    if k:
        shaped[:, 1:] = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, k)))[0][:, :, None]
    return Block(system, k, data, domain, np.zeros(LANES), steps, np.full(LANES, np.inf), Kernels(step, None))
