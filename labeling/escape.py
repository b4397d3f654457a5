"""Escapes that are the orbit's own, and those that a fixed step makes near a singularity."""

import numpy as np

from dynamics.adaptive import adaptive_run
from dynamics.block import block
from dynamics.codegen import LANES
from labeling.evidence import Evidence
from labeling.verdict import Verdict

CAREFUL = 1e-3  # first step, which the integrator corrects
TOLERANCE = 1e-9


def truly_unbounded(e: Evidence, verdict: Verdict) -> Verdict:
    """The verdict on a flow that escapes, unless it stays where every step is as small as its error asks for.

    Coordinates that are singular within the set (polar ones at their pole) throw an orbit out at a fixed step.
    """
    if e.system.kind != "ode" or e.system.switches:
        return verdict
    duration = e.t + len(e.growth) * e.interval + len(e.series) * e.series_step
    start = np.repeat(np.array([*e.system.state.values()])[:, None], LANES, axis=1)
    parameters = np.repeat(e.parameters[:, None], LANES, axis=1)
    careful = block(e.system, start, parameters, 0, h=CAREFUL * min(1.0, duration))
    if adaptive_run(careful, duration, rtol=TOLERANCE, atol=TOLERANCE).status[0] != "ok":
        return verdict
    evidence = verdict.evidence | {"adaptive_run": "ok", "time": duration}
    return Verdict("undecided", reason="step_dependent", evidence=evidence)
