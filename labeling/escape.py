"""Escapes that are the orbit's own, and those that a fixed step makes near a singularity."""

import numpy as np

from dynamics.adaptive import adaptive_run
from dynamics.block import block
from dynamics.codegen import LANES
from labeling.evidence import Evidence
from labeling.gathering import whole_time
from labeling.settings import Settings
from labeling.verdict import Verdict

CAREFUL = 1e-3  # first step, which the integrator corrects
TOLERANCE = 1e-9
STRETCHES = 16  # of as many steps as the integrator tries at a time, in which an orbit must have escaped


def truly_unbounded(e: Evidence, verdict: Verdict, settings: Settings) -> Verdict:
    """The verdict on a flow that escapes, unless it stays where every step is as small as its error asks for.

    Coordinates that are singular within the set (polar ones at their pole) throw an orbit out at a fixed step. Where
    chaos comes first, the two orbits part; so the careful one is given all the time that the runs would have had.
    """
    if e.system.kind != "ode" or e.system.switches:
        return verdict
    duration = whole_time(e, settings)
    start = np.repeat(np.array([*e.system.state.values()])[:, None], LANES, axis=1)
    parameters = np.repeat(e.parameters[:, None], LANES, axis=1)
    careful = block(e.system, start, parameters, 0, h=CAREFUL * min(1.0, duration))
    for _ in range(STRETCHES):
        followed = adaptive_run(careful, duration - careful.t, rtol=TOLERANCE, atol=TOLERANCE)
        if not followed.unfinished[0]:
            break
    if followed.status[0] != "ok" and not followed.unfinished[0]:
        return verdict
    evidence = verdict.evidence | {"adaptive_run": followed.status[0], "time": float(careful.t[0])}
    return Verdict("undecided", reason="step_dependent", evidence=evidence)
