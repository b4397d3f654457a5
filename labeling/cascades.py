"""What happens between two neighbouring verdicts, found by following their cycles: local bifurcations in a row."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynamics.cycles import Cycle
from dynamics.system import Sweep, System
from labeling.continuation import Branch, Crossing, Place, sharp_width
from labeling.local import Local, local
from labeling.points import judged_points
from labeling.settings import Settings
from labeling.verdict import Verdict
from labeling.workers import Workers

FLIPS = {"map": 14, "ode": 3}  # of a cascade that are followed at most; a flow's take seconds each
TURNS = 8  # of a flow's cycle that is followed; longer ones belong to windows that verdicts bracket well enough
FEWEST_FLIPS = 4  # from which an accumulation point is extrapolated
BEYOND = 2.5  # times the distance at which the next flip of a cascade is expected
SAME = 1e-3  # difference of multipliers, and of periods relative to them, within which two cycles are one (or twins)
FEIGENBAUM = 4.669201609102990  # ratio of successive flip distances: Feigenbaum 1978, J. Stat. Phys. 19:25


def between(
    system: System, sweep: Sweep, low: tuple[float, Verdict], high: tuple[float, Verdict], settings: Settings
) -> tuple[list[Local], bool]:
    """The local bifurcations between two differing verdicts, and whether they account for the whole difference.

    The cycle of either end is followed towards the other: through flips to the doubled cycle and on, to a fold or a
    Hopf point, where it ends. Four flips that close in give the accumulation point.
    """
    up, complete_up = _followed(system, sweep, low, high, settings)
    if complete_up and not any(x.kind == "period_doubling" and x.ended for x in up):
        return up, True
    down, complete_down = _followed(system, sweep, high, low, settings)
    if complete_down or not complete_up:  # a flip is seen best on the cycle that lives on both sides of it
        return (down if complete_up else [*up, *down]), complete_down
    return up, True


def _followed(
    system: System, sweep: Sweep, start: tuple[float, Verdict], stop: tuple[float, Verdict], settings: Settings
) -> tuple[list[Local], bool]:
    cycle = start[1].cycle
    if cycle is None or cycle.neutral or not cycle.attracts or start[1].evidence.get("section_points", 1) > TURNS:
        return [], False
    width = sharp_width(sweep, start[0], stop[0])
    e = start[1].evidence
    branch = Branch(system, sweep.parameter, float(e.get("step", 0.01)), width, float(e.get("phase", 0.0)))
    place = Place(start[0], cycle)
    flips: list[float] = []
    found: list[Local] = []
    while len(flips) < FLIPS["map" if system.discrete else "ode"]:
        crossing = branch.crossing(place, _next_flip(flips, stop[0])) or branch.crossing(place, stop[0])
        if crossing is None:
            goal = stop[1].cycle
            return found, goal is not None and same_cycle(branch.followed(place, stop[0])[0][-1].cycle, goal)
        kind = crossing.kind
        if kind == "fold" and stop[1].is_chaotic and place.cycle.period > 1:
            kind = "tangent"  # the window that opens in chaos
        found.append(local(branch, crossing, kind, "cycle"))
        if crossing.ends and kind == "period_doubling":
            return found, True
        if kind != "period_doubling":
            return found, kind in ("fold", "tangent") or (kind.startswith("hopf") and stop[1].regime != "chaotic")
        flips.append(crossing.estimate)
        close = len(flips) >= FEWEST_FLIPS and abs(flips[-1] - flips[-2]) < 100 * width
        doubled = None if close else _doubled(branch, crossing, flips, stop[0], settings)
        if doubled is None:
            break
        place = doubled
    if stop[1].is_chaotic and len(flips) >= FEWEST_FLIPS:
        found.append(_accumulation(flips, width))
        return found, True
    return found, False


def _next_flip(flips: Sequence[float], stop: float) -> float:
    """A value safely beyond the next flip of a cascade: towards it steps are as short as its cycles need."""
    if len(flips) < 2:
        return stop
    reach = BEYOND * (flips[-1] - flips[-2]) / FEIGENBAUM
    return flips[-1] + reach if abs(reach) < abs(stop - flips[-1]) else stop


def same_cycle(a: Cycle, b: Cycle) -> bool:
    """Whether two cycles at the same parameters are one by period and multipliers (a symmetry's twins count as one)."""
    near = abs(a.period - b.period) <= SAME * max(a.period, b.period)
    mine, other = np.sort_complex(a.multipliers), np.sort_complex(b.multipliers)
    return bool(near and len(mine) == len(other) and np.abs(mine - other).max(initial=0.0) <= SAME)


def _doubled(
    branch: Branch, crossing: Crossing, flips: Sequence[float], stop: float, settings: Settings
) -> Place | None:
    """The stable cycle of twice the period a little beyond a flip, found by simulation at several distances."""
    ahead = stop - flips[-1]
    if len(flips) > 1:
        ahead = min(abs(ahead), abs(flips[-1] - flips[-2]) / FEIGENBAUM) * np.sign(ahead)
    values = [flips[-1] + ahead * part for part in (0.5, 0.3, 0.15, 0.05, 0.02, 0.005)]
    asked = [{branch.parameter: float(value)} for value in values]
    short = replace(settings, escalations=0)
    for point in judged_points(branch.system, asked, short, Workers(), rows=False):
        cycle = point.verdict.cycle
        if cycle is None or not cycle.attracts or not crossing.before.cycle.period:
            continue
        if abs(cycle.period / crossing.before.cycle.period - 2.0) < 0.05:
            return Place(point.params[branch.parameter], cycle)
    return None


def _accumulation(flips: Sequence[float], width: float) -> Local:
    """The limit of a flip sequence by Aitken's rule, with the change of that limit over the last flip as its error."""

    def limit(a: float, b: float, c: float) -> float:
        return c - (c - b) ** 2 / ((c - b) - (b - a))

    last = limit(*flips[-3:])
    half = max(2 * abs(last - limit(*flips[-4:-1])), 1e-3 * width)
    return Local(last - half, last + half, "accumulation", "flip sequence extrapolated", estimate=last)
