"""Chooses the sweeps of the systems of dysts, and writes them as dynamics/systems/dysts_sweeps.toml.

    python -m benchmarks.sweep_ranges [SYSTEM]...

Every parameter is scanned twice from the row's own start: widely, from nothing to WIDE times its value, and closely
about it. At each value the largest exponent tells whether the orbit is chaotic, regular, or gone. Of a scan, the ranges
are candidates in which chaos holds about half of the values and few orbits leave. A system gets its best PARAMETERS
such ranges; between ones that are about as good, those are taken that keep chaos above and chaos below equally frequent
over all systems, so that where a value stands in its range tells nothing. Named systems are scanned and shown, and
nothing is written. Scans are kept: a second run only writes.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from cache.results import Results
from dynamics.codegen import LANES
from dynamics.dysts import overlay
from dynamics.registry import curated_ids, system
from dynamics.system import RowError, System
from labeling.evidence import Evidence
from labeling.gathering import gathered, swept_start
from labeling.provenance import identity
from labeling.settings import Settings
from labeling.workers import Workers

SWEEPS = Path(__file__).parent.parent / "dynamics" / "systems" / "dysts_sweeps.toml"
HEAD = """\
# The sweeps of the systems of dysts: parameters, and ranges in which chaos and order are about equally frequent.
# Made by benchmarks/sweep_ranges.py, which says how they are measured and chosen; not to be edited by hand.
"""
BRIEF = Settings(transient_flow=150.0, records=800, series=1_024, turning_steps=2_048, transient_steps=100_000)
VALUES = 32  # of a scan
WIDE, CLOSE = 2.5, 0.3  # times the parameter's value: how far the two scans reach
AROUND_ZERO = 1.0  # reach of the wide scan where the value is 0
SHORTEST = 8  # values of a scan in a range
CHAOTIC = (0.3, 0.7)  # share of chaos in a range
RARE = (0.05, 0.95)  # the same, where no better range is found
GONE = 0.25  # share of orbits that leave, at most
UNMEASURED = 0.05  # share of values at most at which nothing could be said
MOST_OF_SLOW = 3  # parameters that are scanned of a flow whose rule jumps
PARAMETERS = 2  # swept of a system
POINTS = 32
ORIENTED = 0.3  # correlation of chaos and position from which on a range has a side
LENIENCE = 0.25  # of a range's merit, for the sake of the balance of sides


Scan = tuple[str, np.ndarray, str, float]  # a parameter, its values, a letter for each, the row's own value


@dataclass(frozen=True)
class Range:
    """A candidate: a parameter's range, its merit, and the correlation of chaos with the position in it."""

    parameter: str
    lo: float
    hi: float
    merit: float
    side: float


def main(asked: Sequence[str]) -> None:
    ids = [*asked] or [i for i, stated in overlay().items() if stated["kind"] in ("ode", "dde", "map")]
    results = Results(identity())
    with Progress(console=Console(stderr=True)) as bars:
        bar = bars.add_task("scans", total=len(ids))
        workers = Workers(
            os.cpu_count() or 1, lambda done, total, what: bars.update(bar, completed=done, total=total), results
        )
        found = dict(zip(ids, workers.each(candidates, [(i,) for i in ids], "systems"), strict=True))
        bare = [i for i in ids if not found[i] and system(i).parameters]
        found |= zip(bare, workers.each(poorer, [(i,) for i in bare], "systems without a good range"), strict=True)
        stated = [] if asked else [*workers.each(sides, [(i,) for i in curated_ids()], "curated systems")]
    chosen = balanced(found, sum(side for those in stated for side in those))
    for system_id, ranges in chosen.items():
        for r in ranges:
            print(f"{system_id} {r.parameter} {r.lo:g} .. {r.hi:g} merit {r.merit:.2f} side {r.side:+.2f}")
    if not asked:
        SWEEPS.write_text(as_toml(chosen), "utf-8")


def candidates(system_id: str) -> list[Range]:
    """The best range of each side, for every parameter of a system and both scans."""
    return [r for scan in scans(system(system_id)) for r in ranges(scan, CHAOTIC, SHORTEST)]


def poorer(system_id: str) -> list[Range]:
    """Ranges of a system that has no candidate: with less chaos or less order; the first parameter's, if with none."""
    found = [*scans(system(system_id))]
    out = [r for scan in found for r in ranges(scan, RARE, SHORTEST // 2)]
    if out or not found:
        return out
    name, values, letters, _ = min(found, key=lambda scan: sum(x in "G?" for x in scan[2]))
    kept = [v for v, x in zip(values, letters, strict=True) if x in "CR"] or [*values]
    return [Range(name, float(f"{kept[0]:.4g}"), float(f"{kept[-1]:.4g}"), 0.0, 0.0)]


def scans(s: System) -> Iterator[Scan]:
    """Of every parameter the wide scan and the close one."""
    few = MOST_OF_SLOW if s.switches else None  # rules that jump are moved hundreds of times more slowly
    for name, value in [*s.parameters.items()][:few]:
        reach = abs(value)
        wide = (value - AROUND_ZERO, value + AROUND_ZERO) if value == 0.0 else (0.0, WIDE * value)
        close = (value - (CLOSE * reach or 0.1), value + (CLOSE * reach or 0.1))
        for ends in (wide, close):
            values = np.linspace(*sorted(ends), VALUES + 1)
            values = np.delete(values, 0 if abs(values[0]) <= abs(values[-1]) else -1)  # nothing at all is a limit case
            yield name, values, fates(s, name, values), value


def sides(system_id: str) -> list[float]:
    """For every sweep that a row states: the correlation of chaos with the position in it."""
    s = system(system_id)
    letters = [fates(s, sweep.parameter, replace(sweep, points=VALUES).values) for sweep in s.sweeps]
    return [_side(np.array([x == "C" for x in each], dtype=float)) for each in letters]


def _side(chaos: np.ndarray) -> float:
    return float(np.corrcoef(chaos, np.arange(len(chaos)))[0, 1]) if 0.0 < chaos.mean() < 1.0 else 0.0


def fates(s: System, parameter: str, values: Sequence[float] | np.ndarray) -> str:
    """One letter for each value: C chaotic, R regular, G gone, ? not measured."""
    out = []
    for begin in range(0, len(values), LANES):
        part = values[begin : begin + LANES]
        try:
            versions = [s.with_values({parameter: float(value)}) for value in part]
            found = gathered(swept_start(versions, BRIEF), BRIEF, leading=1, turning=lambda _: False)
            out.append("".join(map(fate, found)))
        except (RowError, ValueError, ZeroDivisionError):
            out.append("?" * len(part))
    return "".join(out)


def fate(e: Evidence) -> str:
    """The letter of one value."""
    if e.status != "ok":
        return "G" if e.status in ("escaped", "blew_up") else "?"
    if e.largest.value is None:
        return "R"
    time = len(e.growth) * e.interval
    if time < np.e:
        return "?"  # its steps became so small that hardly any time passed, as on the way to infinity
    return "C" if e.largest.number > max(float(e.largest.evidence["error_999"]), np.log(time) / time) else "R"


def ranges(scan: Scan, wanted: tuple[float, float], shortest: int) -> list[Range]:
    """Of a scan, the range of most merit on each side: chaos above, chaos below, neither."""
    parameter, values, letters, own = scan
    chaos, gone, open_ = (np.array([x in which for x in letters], dtype=float) for which in ("C", "G?", "?"))
    best: dict[int, Range] = {}
    for i in range(len(letters)):
        for j in range(i + shortest, len(letters) + 1):
            share = chaos[i:j].mean()
            if not wanted[0] <= share <= wanted[1] or gone[i:j].mean() > GONE or open_[i:j].mean() > UNMEASURED:
                continue
            side = _side(chaos[i:j])
            merit = 1 - 2 * abs(share - 0.5) - gone[i:j].mean() + 0.3 * (j - i) / len(letters)
            merit += 0.2 * (values[i] <= own <= values[j - 1])
            which = int(np.sign(side)) if abs(side) >= ORIENTED else 0
            if which not in best or merit > best[which].merit:
                step = (values[1] - values[0]) / 2
                lo, hi = (float(f"{x:.4g}") for x in (values[i] - step, values[j - 1] + step))
                best[which] = Range(parameter, lo, hi, float(merit), side)
    return [*best.values()]


ENERGY = {  # of starts on a range of energies, in place of a parameter of the rule
    "dysts_henonheiles": Range("energy", 0.03, 0.1666, 1.0, 1.0),  # escapes begin at 1/6
    "dysts_swingingatwood": Range("energy", 1.0, 5.5, 1.0, 0.0),  # above, the pendulum's length all but vanishes
}


def balanced(found: dict[str, list[Range]], total: float) -> dict[str, list[Range]]:
    """Each system's ranges: the best of its parameters, the side chosen that keeps the sum over all systems small.

    `total` is the sum of the sides of sweeps that are chosen already.
    """
    chosen: dict[str, list[Range]] = {}
    for system_id, options in sorted(found.items(), key=lambda item: len({r.parameter for r in item[1]})):
        chosen[system_id] = [ENERGY[system_id]] if system_id in ENERGY else []
        left = [r for r in options if system_id not in ENERGY or r.parameter != ENERGY[system_id].parameter]
        while left and len(chosen[system_id]) < PARAMETERS:
            least = max(r.merit for r in left) - LENIENCE
            taken = min((r for r in left if r.merit >= least), key=lambda r: (abs(total + r.side), -r.merit))
            chosen[system_id].append(taken)
            total += taken.side
            left = [r for r in left if r.parameter != taken.parameter]
    print(f"sum of sides {total:+.2f} over {sum(map(len, chosen.values()))} sweeps", file=sys.stderr)
    return {system_id: chosen[system_id] for system_id in found}


def as_toml(chosen: dict[str, list[Range]]) -> str:
    """The file of these sweeps, in the order of ids."""
    tables = [
        f'[[{system_id}.sweep]]\nparameter = "{r.parameter}"\nlo = {r.lo!r}\nhi = {r.hi!r}\npoints = {POINTS}\n'
        for system_id, ranges_ in chosen.items()
        for r in ranges_
    ]
    return "\n".join([HEAD, *tables])


if __name__ == "__main__":
    from benchmarks import sweep_ranges  # under whose name other processes know what is in it

    sweep_ranges.main(sys.argv[1:])
