"""How often each indicator decides right, on points whose regime is known without it.

    python -m benchmarks.discrimination

measures all points of benchmarks/known_regimes.py, prints the tables and writes them into docs/discrimination.md
between its marks. Where steps have to be compiled first it takes about 100 s. The rules by which an indicator decides
are in `strengths`, and none has a constant that was fitted to these points.
"""

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import binomtest

from benchmarks.known_regimes import Known, known_points, narrow_tents
from benchmarks.ordinal_limits import ordinal_tables
from dynamics.codegen import LANES
from indicators.estimate import Estimate
from labeling.confirmation import resting_or_periodic
from labeling.evidence import Evidence
from labeling.gathering import gathered, swept_start
from labeling.settings import Settings

BEGIN, END = "<!-- made by benchmarks/discrimination.py -->\n", "<!-- end of what is made -->\n"
DOCS = Path(__file__).parent.parent / "docs" / "discrimination.md"
HALF = 0.5  # K tends to 0 or 1: the middle
LEVEL = 0.95  # of Wilson's interval
INDICATORS = {"zero_one_k": "K", "megno_slope": "MEGNO slope", "lyapunov_max": "λ1"}
PUBLISHED = {"zero_one_k": "63 %", "megno_slope": "95.5 %, tuned", "lyapunov_max": "none"}
# (point, indicator): why it is wrong there
REASONS = {
    ("bakers_map at s = 2", "zero_one_k"): "in doubles the orbit falls onto 0 within 53 iterates, as each doubling"
    " drops one binary digit; the series is constant, and K rightly has no value. The row's label rests on the slope"
}  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """A point, what its runs left, and each indicator's value over the limit above which it says chaotic."""

    known: Known
    evidence: Evidence
    strengths: dict[str, float | None]

    def right(self, indicator: str) -> bool:
        """Whether the indicator says what is known; to say nothing, None, is wrong."""
        strength = self.strengths[indicator]
        return strength is not None and (strength > 1.0) is self.known.chaotic


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
                yield Judged(known, evidence, strengths(evidence))


def confirm(known: Known, evidence: Evidence) -> None:
    """Raises UnknownRegimeError unless the orbit is at a cycle or equilibrium that Newton proves to attract."""
    verdict = resting_or_periodic(evidence)
    if verdict is None or verdict.stability != "attracting":
        raise UnknownRegimeError(f"{known.name}: no attracting cycle is found at the orbit's end")


def strengths(e: Evidence) -> dict[str, float | None]:
    """Each indicator's value over its limit: above 1 it says chaotic, otherwise regular; None if it says nothing.

    The limit of λ1 is its 99.9 % half-width or ln T/T, to which deviations that grow like t come, whichever is larger;
    that of twice MEGNO's slope, which tends to λ1, its own error or ln T/T; that of K is 0.5. An exponent of minus
    infinity is regular, and so is an undefined K: the series is constant, or the section is a point.
    """
    duration = len(e.growth) * e.interval
    floor = math.log(duration) / duration
    slope, exponent, k = e.megno[1], e.largest, e.zero_one
    undefined = -math.inf if k.status == "undefined" else None
    return {
        "zero_one_k": undefined if k.value is None else k.number / HALF,
        "megno_slope": over(slope, slope.error, floor / 2),
        "lyapunov_max": over(exponent, exponent.evidence.get("error_999"), floor),
    }


def over(found: Estimate, half: object, floor: float) -> float | None:
    if found.value is None:
        return -math.inf if "superstable" in repr(found.evidence) else None
    assert isinstance(half, float)
    return found.number / max(half, floor)


# --- Tables


def main() -> None:
    """Measure, print, and rewrite the page."""
    start = time.process_time()
    found = list(judged(known_points()))
    seconds = time.process_time() - start
    tables = "\n".join([shares(found), *wrongs(found), margins(found), limits(list(judged(narrow_tents()))),
                        ordinal_tables([j.known for j in found], [j.evidence for j in found])])  # fmt: skip
    print(f"{tables}\n{seconds:.0f} s of CPU time for the {len(found)} points")
    before, _, rest = DOCS.read_text(encoding="utf-8").partition(BEGIN)
    DOCS.write_text(f"{before}{BEGIN}\n{tables}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def shares(found: Sequence[Judged]) -> str:
    """How many points of each class every indicator gets right, and the shares of all with Wilson's interval."""
    names = INDICATORS.values()
    lines = [f"| class | known by | points | {' | '.join(names)} |", "|---|---|---|" + "---|" * len(names)]
    for chaotic in (True, False):
        half = [j for j in found if j.known.chaotic is chaotic]
        for group in dict.fromkeys(j.known.group for j in half):
            part = [j for j in half if j.known.group == group]
            sources = list(dict.fromkeys(j.known.source for j in part))
            lines.append(f"| {group} | {'; '.join(sources)} | {len(part)} | {' | '.join(counts(part))} |")
        lines.append(f"| **all {'chaotic' if chaotic else 'regular'}** | | {len(half)} | {' | '.join(counts(half))} |")
    lines.append(f"| **all** | | {len(found)} | {' | '.join(counts(found))} |")
    rows = [(name, [j.right(i) for j in found], PUBLISHED[i]) for i, name in INDICATORS.items()]
    lines += ["", "| indicator | right | share | 95 % interval | the published benchmark |", "|---|---|---|---|---|"]
    for name, right, published in rows:
        low, high = binomtest(sum(right), len(right)).proportion_ci(LEVEL, "wilson")
        share = f"{sum(right) / len(right):.1%} | {low:.1%} to {high:.1%}".replace("%", " %")
        lines.append(f"| {name} | {sum(right)} of {len(right)} | {share} | {published} |")
    return "\n".join(lines) + "\n"


def counts(found: Sequence[Judged]) -> list[str]:
    return [str(sum(j.right(i) for j in found)) for i in INDICATORS]


def wrongs(found: Sequence[Judged]) -> Iterator[str]:
    """Every point at which an indicator is wrong, and why."""
    lines = [
        f"| {j.known.name} | {'chaotic' if j.known.chaotic else 'regular'} | {name} | {reason(j, indicator)} |"
        for j in found for indicator, name in INDICATORS.items() if not j.right(indicator)
    ]  # fmt: skip
    if lines:
        yield "\n".join(["| wrong at | it is | indicator | because |", "|---|---|---|---|", *lines]) + "\n"


def reason(j: Judged, indicator: str) -> str:
    return REASONS.get((j.known.name, indicator), "not explained")


def margins(found: Sequence[Judged]) -> str:
    """How near the nearest point on each side of every limit comes to it."""
    lines = ["| value over its limit | nearest chaotic point decided right | nearest regular point |", "|---|---|---|"]
    for indicator, name in INDICATORS.items():
        cells = [nearest(found, indicator, chaotic, choose) for chaotic, choose in ((True, min), (False, max))]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def nearest(found: Sequence[Judged], indicator: str, chaotic: bool, choose: Callable) -> str:  # type: ignore[type-arg]
    right = [j for j in found if j.known.chaotic is chaotic and j.right(indicator)]
    at = choose(right, key=lambda j: j.strengths[indicator])
    return f"{at.strengths[indicator]:.2g} ({at.known.name})"


def limits(found: Sequence[Judged]) -> str:
    """Tent maps whose slope falls to 1, at which the bands become too many and too narrow, and λ1 too small."""
    lines = [f"| slope of a tent map | ln slope | {' | '.join(INDICATORS.values())} |", "|---|---|---|---|---|"]
    for j in found:
        slope = 2 * j.known.system.parameters["mu"]
        cells = ["right" if j.right(i) else "wrong" for i in INDICATORS]
        lines.append(f"| 1 + {slope - 1:.6g} | {math.log(slope):.2g} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
