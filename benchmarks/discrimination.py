"""How often each indicator decides right, on points whose regime is known without it.

    python -m benchmarks.discrimination

measures all points of benchmarks/known_regimes.py, prints the tables and writes them into docs/discrimination.md
between its marks. It takes minutes the first time, when the systems' steps are compiled. The rules by which an
indicator decides are in `decisions`, and none has a constant that was fitted to these points.
"""

import itertools
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from benchmarks import ordinal_limits
from benchmarks.known_regimes import Known, known_points
from dynamics.codegen import LANES
from indicators.estimate import Estimate
from labeling.confirmation import resting_or_periodic
from labeling.evidence import Evidence
from labeling.gathering import gathered, swept_start
from labeling.settings import Settings

BEGIN, END = "<!-- made by benchmarks/discrimination.py -->", "<!-- end -->"
DOCS = Path(__file__).parent.parent / "docs" / "discrimination.md"
HALF = 0.5  # K tends to 0 or 1: the middle
INDICATORS = {"zero_one_k": "K", "megno_slope": "MEGNO slope", "lyapunov_max": "λ1"}
REASONS: dict[tuple[str, str], str] = {}  # (point, indicator): why it is wrong there


@dataclass(frozen=True)
class Judged:
    """A point, what its runs left, and what each indicator says of it: chaotic, regular, or nothing (None)."""

    known: Known
    evidence: Evidence
    says: dict[str, bool | None]

    def right(self, indicator: str) -> bool:
        """Whether the indicator says what is known; to say nothing is wrong."""
        return self.says[indicator] is self.known.chaotic


class UnknownRegimeError(RuntimeError):
    """Newton does not confirm the stable cycle from which a point's regime would be known."""


def judged(points: Sequence[Known], settings: Settings | None = None) -> Iterator[Judged]:
    """The points, as they are measured on the way that sweeps take: LANES versions of a system at a time."""
    settings = settings or Settings()
    for _, group in itertools.groupby(points, key=lambda known: known.system.id):
        same = list(group)
        for begin in range(0, len(same), LANES):
            block = same[begin : begin + LANES]
            found = gathered(swept_start([known.system for known in block], settings), settings)
            for known, evidence in zip(block, found, strict=True):
                if known.confirm:
                    confirm(known, evidence)
                yield Judged(known, evidence, decisions(evidence))


def confirm(known: Known, evidence: Evidence) -> None:
    """Raises UnknownRegimeError unless the orbit is at a cycle or equilibrium that Newton proves to attract."""
    verdict = resting_or_periodic(evidence)
    if verdict is None or verdict.stability != "attracting":
        raise UnknownRegimeError(f"{known.name}: no attracting cycle is found at the orbit's end")


def decisions(e: Evidence) -> dict[str, bool | None]:
    """True for chaotic, False for regular, None where an indicator has nothing to say.

    λ1 says chaotic above its 99.9 % half-width and above ln T/T, which deviations that grow like t reach; the slope of
    MEGNO, whose double tends to λ1, above its own error and the same ln T/T; K above 0.5. An exponent of minus infinity
    is regular, and so is an undefined K: the series is constant, or the section is a point.
    """
    duration = len(e.growth) * e.interval
    floor = math.log(duration) / duration
    slope = e.megno[1]
    return {
        "zero_one_k": _k_says(e.zero_one),
        "megno_slope": _exceeds(slope, 2.0, slope.error, floor),
        "lyapunov_max": _exceeds(e.largest, 1.0, e.largest.evidence.get("error_999"), floor),
    }


def _k_says(k: Estimate) -> bool | None:
    if k.value is None:
        return False if k.status == "undefined" else None
    return k.number > HALF


def _exceeds(found: Estimate, factor: float, half: object, floor: float) -> bool | None:
    if found.value is None:
        return False if "superstable" in str(found.evidence) else None
    assert isinstance(half, float)
    return factor * found.number > max(factor * half, floor)
