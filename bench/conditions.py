"""When an indicator's number decides between chaotic and regular motion, and what it then says.

The rules are the conditions of the indicators themselves, all in one place; what rests on a source says which. A
*turn* is the mean time between two maxima of the observable, and one iterate of a map.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Name = Literal["zero_one_k", "permutation_entropy", "lyapunov_max", "megno_slope"]
SERIES: tuple[Name, ...] = ("zero_one_k", "permutation_entropy")
GROWTH: tuple[Name, ...] = ("lyapunov_max", "megno_slope")
DECIDING: tuple[Name, ...] = ("zero_one_k", *GROWTH)

FINEST_STEP = 0.1  # turns
FEWEST_VALUES = 1000
MOST_NOISE = 0.01  # of the standard deviation, or of the distance of two orbits
SHORTEST_RUN = 200  # turns
SHORTEST_TRANSIENT = 50  # turns
WEIGHT = 1  # power of the time that weights growth in MEGNO
MIDDLE = 0.5  # of K

SOURCES = {
    "step": "Gottwald & Melbourne 2009, SIAM J. Appl. Dyn. Syst. 8:129, section 4: an oversampled flow reads K near 0. "
    "Successive values must be decorrelated; with more than 20 in an oscillation (indicators.sampling.oversampling) "
    "they are not, and half of that bound is asked for here",
    "values": "indicators.zero_one: tori read up to 0.96 at 200 values and 0.06 at 1,000; of order 5 there are 120 "
    "patterns, with at least 5 windows each (Bandt & Pompe 2002, Phys. Rev. Lett. 88:174102)",
    "noise": "docs/discrimination.md, last table: with noise of a tenth of the spread a 2-cycle reads K = 0.98 and "
    "with all of it 1; at a hundredth K is still right. A distance below the noise grows to it again at once, whatever "
    "the motion (Wolf et al. 1985, Physica D 16:285, whose replacement points are never nearer than the noise)",
    "run": "neutral deviations grow like t, at a mean rate of ln T/T (indicators.lyapunov.reaching_zero): 0.03 per "
    "turn at 200 turns, 0.26 at 8",
    "transient": "an indicator is one of the invariant set: what is measured before the set is reached is not of it "
    "(cases T01-08, MEG-07)",
    "weight": "Cincotta, Giordano & Simo 2003, Physica D 182:151, Eq. 3: growth is weighted by the time. Without the "
    "weight the mean tends to twice the exponent and its slope to 0, under chaos too",
    "permutation_entropy": "docs/discrimination.md: no threshold on it separates tori and long cycles from chaos, so "
    "that it decides nothing",
}


@dataclass(frozen=True)
class Measurement:
    """One number with its settings: `error` at 95 %, `step` and `transient` in turns, `length` in values or turns.

    `noise` is that added to the series, in standard deviations of it, or to the distance of two orbits, in lengths of
    it; `weight` the power of the time in MEGNO. `error` and `step` are None where there is none. Rates (of growth, and
    MEGNO's slope) are per turn.
    """

    indicator: Name
    value: float
    error: float | None
    status: str
    step: float | None
    length: int
    transient: int
    noise: float = 0.0
    weight: int = WEIGHT

    @property
    def settings(self) -> tuple[float | None, int, int, float, int]:
        """What it was measured under."""
        return self.step, self.length, self.transient, self.noise, self.weight


def flaws(m: Measurement) -> list[str]:
    """What keeps a number from saying anything about the motion: keys of SOURCES."""
    found = []
    if m.indicator in SERIES:
        assert m.step is not None
        found += ["step"] * (m.step < FINEST_STEP) + ["values"] * (m.length < FEWEST_VALUES)
    else:
        found += ["run"] * (m.length < SHORTEST_RUN)
    found += ["noise"] * (m.noise > MOST_NOISE)
    found += ["transient"] * (m.transient < SHORTEST_TRANSIENT)
    found += ["weight"] * (m.indicator == "megno_slope" and m.weight != WEIGHT)
    return found


def valid(m: Measurement) -> bool:
    """Whether a number was measured as its indicator asks for."""
    return not flaws(m)


def says_chaos(m: Measurement) -> bool | None:
    """What a number says, taken at face value; None of one that decides nothing.

    K: above a half. A rate: above ln T/T, which neutral deviations reach, and the exponent also above its error;
    MEGNO's slope is half a rate.
    """
    if m.indicator == "permutation_entropy":
        return None
    if m.indicator == "zero_one_k":
        return m.value > MIDDLE
    factor = 1.0 if m.indicator == "lyapunov_max" else 2.0
    neutral = math.log(max(m.length, math.e)) / max(m.length, math.e)
    beyond = m.indicator == "megno_slope" or m.value > (m.error or 0.0)
    return beyond and factor * m.value > neutral


def verdict(shown: Iterable[Measurement]) -> bool | None:
    """The documented combination: what most valid numbers that decide say of chaos; None if they say nothing."""
    votes = [says for m in shown if valid(m) and (says := says_chaos(m)) is not None]
    balance = sum(1 if vote else -1 for vote in votes)
    return balance > 0 if balance else None
