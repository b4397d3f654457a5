"""Points looked at until they are decided, or the budget is spent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynamics.block import Array
from dynamics.codegen import LANES, is_looped
from dynamics.noise import without_silent_noise
from dynamics.system import System
from indicators.lyapunov import CONVERGED
from labeling.certified import certified, with_certificates
from labeling.escape import truly_unbounded
from labeling.evidence import Evidence
from labeling.gathering import Start, gathered, reference_start, swept_start
from labeling.heteroclinic import cycling
from labeling.labels import Row, attractor, label_row
from labeling.regimes import regime
from labeling.sets import InvariantSet, ensemble, lies_on, sets_of, verdict_over
from labeling.settings import Settings, share
from labeling.transients import survives, transient
from labeling.verdict import Verdict
from labeling.workers import Workers

LEADING = 3  # exponents from which a regime is told: two for hyperchaos or a torus, and one beside them
LONGER = 4  # factor on every length at each escalation
PRECISE = 0.005  # of the largest exponent: the half-width at 95 % that a label of chaos is content with at once
CLOSER = 8  # times as many points for the dimension of a single label as for one of a sweep
FINEST = 4  # by which the step is divided of an orbit that leads to where its step is too coarse
KICK = 1e-3  # of the box: how far a start is moved that lies on the way into a repelling orbit
ORBIT_POINTS = 100  # per parameter value in an orbit diagram


@dataclass(frozen=True)
class Point:
    """One parameter point: its verdict, a state on the set it is about, its row and points for an orbit diagram.

    `version` is the system at the point's parameters, from the start that was judged. `end` is a state of the set (of a
    forced flow at phase 0), from which the point can be judged anew. `row` is None where it was not asked for.
    """

    version: System
    verdict: Verdict
    end: dict[str, float]
    row: Row | None
    orbit: Array

    @property
    def params(self) -> dict[str, float]:
        """All parameters of the point."""
        return self.version.parameters

    @property
    def attractor(self) -> Row:
        """The point as an entry of a list of attractors."""
        return attractor(self.version, self.verdict)


def judged_points(
    system: System,
    points: Sequence[Mapping[str, float]],
    settings: Settings,
    workers: Workers,
    *,
    what: str = "points",
    rows: bool = True,
) -> list[Point]:
    """Verdicts at any number of parameter points, each from the system's own start; see judged_versions."""
    versions = [system.with_values(point) for point in points]
    return judged_versions(versions, settings, workers, what=what, rows=rows)


def judged_versions(
    versions: Sequence[System], settings: Settings, workers: Workers, *, what: str = "points", rows: bool = False
) -> list[Point]:
    """Verdicts on versions of one system; undecided ones are looked at again, each time four times longer.

    Work is dealt in blocks of LANES points, whatever the number of processes; no lane depends on its neighbours.
    """
    found: dict[int, Point] = {}
    versions = [without_silent_noise(v) for v in versions]
    pending = list(range(len(versions)))
    for level in range(settings.escalations + 1):
        alike = [[i for i in pending if versions[i].kind == kind] for kind in sorted({v.kind for v in versions})]
        blocks = [part[i : i + LANES] for part in alike for i in range(0, len(part), LANES)]
        last = level == settings.escalations
        tasks = [([versions[i] for i in part], settings, LONGER**level, rows, last) for part in blocks]
        title = what if level == 0 else f"{what}, {LONGER**level} times longer"
        for part, judged in zip(blocks, workers.each(_judged_block, tasks, title), strict=True):
            found.update(zip(part, judged, strict=True))
        pending = [i for i in pending if found[i].verdict.regime == "undecided"]
        if not pending:
            break
    return [found[i] for i in range(len(versions))]


def label(system: System, settings: Settings | None = None, all_sets: bool = False) -> Row:
    """The row of a system at its own parameters, as it stands in labels.jsonl, with all sets found over its box.

    The label is about the set that the initial condition leads to; with `all_sets` it is about the system, decided only
    where all sets with a share of 1 % of the box agree. `certificates` holds those of its equilibria and map cycles.
    """
    system = without_silent_noise(system)
    settings = settings or Settings()
    settings = replace(settings, dimension_points=CLOSER * settings.dimension_points)
    e, verdict = judged_reference(system, settings)
    sets = attracting_sets(system, settings, (e, verdict))
    if all_sets:
        verdict = verdict_over(sets, system)
    row = label_row(e, verdict, settings)
    row["attractors"] = [attractor(system.with_values({}, s.start), s.verdict, s.share) for s in sets]
    if all_sets:
        row["initial_condition"] = None
    else:
        row["transient"] = transient(system, verdict, settings)
    others = [c for s in sets if (c := certified(system, s.verdict)) is not None]
    with_certificates(row, None if all_sets else certified(system, verdict), others)
    return row


def attracting_sets(
    system: System, settings: Settings, known: tuple[Evidence, Verdict] | None = None
) -> list[InvariantSet]:
    """The sets that orbits from the system's box end on, with their shares; each start is looked at briefly.

    Starts that are undecided are looked at a second time, four times longer. `known` is a set already looked at in
    full: orbits that are seen to lie on it share its verdict.
    """
    brief = settings.brief()
    starts = ensemble(system, settings.seed)
    judged: dict[int, tuple[Evidence, Verdict]] = {}
    pending = list(range(len(starts)))
    if not system.has_formula:  # for which it is the shortest
        horizons: tuple[int, ...] = (LONGER,)
    elif known is not None and known[1].regime == "undecided":  # after a longer look than these would be
        horizons = (1,)
    else:
        horizons = (1, LONGER)
    for horizon in horizons:
        for i in range(0, len(pending), LANES):
            part = pending[i : i + LANES]
            judged.update(zip(part, _seen([starts[n] for n in part], brief, horizon, known, LEADING), strict=True))
        pending = [i for i in pending if judged[i][1].regime == "undecided"]

    def confirmed(e: Evidence, verdict: Verdict) -> Verdict:
        return verdict if known is not None and verdict is known[1] else _confirmed(e, verdict, settings)

    return sets_of([judged[i] for i in range(len(starts))], system, confirmed)


def judged_reference(system: System, settings: Settings) -> tuple[Evidence, Verdict]:
    """Evidence and verdict at the system's own parameters and start, from LANES stretches of one orbit."""
    last = settings.escalations + (1 if share(system) == 1.0 else 0)  # costly rules are given up sooner
    for level in range(0 if system.has_formula else 1, last + 1):  # of the other kinds a horizon of 4 is the shortest
        start = reference_start(system, settings, LONGER**level)
        e = gathered(start, settings)[0]
        verdict = regime(e)
        if e.too_coarse and verdict.regime == "undecided":  # more time would be as wrong
            if settings.finer >= FINEST:
                return e, replace(verdict, reason="step_dependent")
            return judged_reference(system, replace(settings, finer=FINEST))
        if level < last and (verdict.regime == "undecided" or (level == 0 and _too_wide(e, verdict))):
            continue
        e, verdict = _at_half_step([(e, verdict)], start, settings)[0]
        judged = e, _confirmed(e, verdict, settings)
        if verdict.regime == "unbounded" != judged[1].regime and settings.finer < FINEST:
            return judged_reference(system, replace(settings, finer=FINEST))
        if judged[1].regime != "undecided" or level == last:
            return judged
    raise AssertionError("there is always a last level")


def _too_wide(e: Evidence, verdict: Verdict) -> bool:
    """Whether a label of chaos deserves a longer run; not of many variables, whose cost is as large as their sets."""
    if not verdict.is_chaotic or not e.system.has_formula or is_looped(e.system):
        return False
    precise = PRECISE if share(e.system) == 1.0 else CONVERGED
    return not isinstance(e.largest.error, float) or e.largest.error > precise * e.largest.number


def _judged_block(versions: list[System], settings: Settings, horizon: int, rows: bool, last: bool) -> list[Point]:
    """What is undecided is looked at again unless this is the `last` look: until then it has no row and no reason."""
    first = versions[0]
    _ = first.jacobian  # derived once, and shared by all versions
    versions = [first, *(first.with_values(v.parameters, v.state) for v in versions[1:])]
    explained = rows and last
    judged = _judged(versions, settings, horizon, explained)
    repelled = [i for i, (_, v) in enumerate(judged) if v.stability == "repelling"]
    if repelled:  # a grid asks for the attractor, and this start leads to a repelling orbit, as by chance starts do
        again = _judged([_kicked(versions[i], settings.seed) for i in repelled], settings, horizon, explained)
        for i, other in zip(repelled, again, strict=True):
            judged[i] = other
    out = []
    for version, (e, v) in zip(versions, judged, strict=True):
        told = rows and (last or v.regime != "undecided")
        row, orbit = (_row(version, e, v, settings), orbit_points(e)) if told else (None, np.empty(0))
        out.append(Point(version, v, e.end, row, orbit))
    return out


def _row(version: System, e: Evidence, verdict: Verdict, settings: Settings) -> Row:
    row = label_row(e, verdict, settings)
    with_certificates(row, certified(version, verdict), [])
    return row


def _judged(
    versions: Sequence[System], settings: Settings, horizon: int, explained: bool
) -> list[tuple[Evidence, Verdict]]:
    return [(e, _confirmed(e, v, settings, explained)) for e, v in _seen(versions, settings, horizon)]


def _seen(
    versions: Sequence[System],
    settings: Settings,
    horizon: int,
    known: tuple[Evidence, Verdict] | None = None,
    leading: int | None = None,
) -> list[tuple[Evidence, Verdict]]:
    start = swept_start(versions, settings, horizon)
    if known is None:
        return _at_half_step([(e, regime(e)) for e in gathered(start, settings, leading=leading)], start, settings)

    def tells(e: Evidence) -> bool | None:
        on = lies_on(e, *known)
        return False if on is None and horizon > 1 else on

    found = gathered(start, settings, leading=leading, turning=lambda e: tells(e) is False)
    on_it = [tells(e) for e in found]
    verdicts = {True: known[1], None: Verdict("undecided", reason="budget")}
    judged = [(e, regime(e) if on is False else verdicts[on]) for e, on in zip(found, on_it, strict=True)]
    return _at_half_step(judged, start, settings, [on is True for on in on_it])


def _confirmed(e: Evidence, verdict: Verdict, settings: Settings, explained: bool = True) -> Verdict:
    """A verdict that outlasts what an indicator cannot see: chaos that is left in the end, cycling between saddles.

    An escape must be the orbit's own. What stays undecided is looked at for cycling only where it is `explained`.
    """
    if verdict.regime == "unbounded":
        return truly_unbounded(e, verdict, settings)
    if verdict.is_chaotic:
        return survives(e, verdict, settings.seed)
    return cycling(e, verdict) if explained or verdict.regime != "undecided" else verdict


def _kicked(system: System, seed: int) -> System:
    rng = np.random.default_rng(seed)
    start = {}
    for name, value in system.state.items():
        lo, hi = system.box.get(name, (value - 1.0, value + 1.0))
        start[name] = value + KICK * (hi - lo) * float(rng.uniform(0.5, 1.0)) * (1 if value < (lo + hi) / 2 else -1)
    return system.with_values({}, start)


def _at_half_step(
    judged: list[tuple[Evidence, Verdict]], start: Start, settings: Settings, settled: Sequence[bool] = ()
) -> list[tuple[Evidence, Verdict]]:
    """Chaos of a flow must survive half the step; where it does not, the point is undecided, `step_dependent`.

    `settled` marks points whose verdict has stood that test already.
    """
    chaotic = [i for i, (_, v) in enumerate(judged) if v.is_chaotic and not (settled and settled[i])]
    if start.versions[0].discrete or not chaotic:
        return judged
    # a short run at half the step is enough where it is chaotic; what is not is given the time that the other had
    fine_ones = gathered(replace(start, horizon=1), settings.brief(), 2, LEADING)
    if not all(_looks_chaotic(regime(fine_ones[i])) for i in chaotic):
        fine_ones = gathered(replace(start, horizon=2 * start.horizon), settings, 2, LEADING)
    out = list(judged)
    for i in chaotic:
        (e, verdict), fine = judged[i], fine_ones[i]
        other = regime(fine)
        evidence = verdict.evidence | {"half_step": other.regime, "half_step_lyapunov_max": fine.largest.value}
        kept = _looks_chaotic(other)
        verdict = replace(verdict, evidence=evidence) if kept else Verdict(
            "undecided", reason="step_dependent", evidence=evidence
        )  # fmt: skip
        out[i] = e, verdict
    return out


def _looks_chaotic(verdict: Verdict) -> bool:
    """Whether all indicators say chaos; that the orbit comes back is no question of the step."""
    return verdict.is_chaotic or verdict.evidence.get("indicators") == "agree"


def orbit_points(e: Evidence) -> Array:
    """Values of the first variable for an orbit diagram: iterates of a map, local maxima of a flow (or its rest)."""
    if e.status != "ok":
        return np.empty(0)
    x = e.series[:, 0]
    if e.system.discrete:
        return x[-ORBIT_POINTS:].copy()
    if e.still:
        return x[-1:].copy()
    a, b, c = x[:-2], x[1:-1], x[2:]
    top = np.flatnonzero((b > a) & (b >= c))[-ORBIT_POINTS:]
    bend = a[top] - 2 * b[top] + c[top]
    return b[top] - (a[top] - c[top]) ** 2 / (8 * np.where(bend == 0.0, -1.0, bend))
