"""The power spectrum: spectral lines that persist as the series gets longer, and the band under them."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import rfft

from indicators.frequencies import base_frequencies
from indicators.frequency_analysis import NEGLIGIBLE, SLOWEST, amplitudes_of, peaks, refined, rotation, without_lines
from indicators.points import checked_points
from indicators.series import checked_series

Verdict = Literal["lines", "quasi_periodic", "lines_and_band", "broad_band", "constant"]

FEWEST_VALUES = 500
MOST_LINES = 96
ROUNDS = 16
QUARTERS = 4
COHERENT = 0.95
FLOOR_BINS = 64
SIGNIFICANCE = 100.0
RESIDUE = 1e-4
LINE_SHARE = 1e-3
BASE_SHARE = 1e-6
ROUNDING = 64.0


@dataclass(frozen=True)
class Line:
    """A spectral line: frequency in cycles per sample, its share of the variance, and how it persists.

    coherence : abs(sum a)^2 / (4 sum abs(a)^2) over the amplitudes a in the four quarters of the series, which is the
    power at resolution 1/T over that at 4/T: 1 for a line, about 1/4 for a band. excess : its power over that of the
    residue in the 64 resolution bins around.
    """

    frequency: float
    share: float
    coherence: float
    excess: float


@dataclass(frozen=True)
class SpectralLines:
    """The lines that persist, strongest first, and the verdict.

    share : of the variance, in all lines together. floor : median share of the variance per resolution bin 1/T in what
    the lines leave. base : incommensurate frequencies of which all lines are integer combinations.
    """

    verdict: Verdict
    share: float
    floor: float
    base: list[float]
    lines: list[Line]


def spectral_lines(x: ArrayLike, *, section: bool = False) -> SpectralLines:
    """Lines of a series (N,) at equal steps, N >= 500, and whether there is anything else in it.

    section : the series is one of a map or of a stroboscopic section, so the sampling frequency 1 is itself a
    frequency of the motion, and a single line at an irrational frequency is quasi-periodic; of a flow it is a cycle.

    Peaks of the Hann-windowed periodogram are fitted jointly by least squares, their frequencies refined by the drift
    of phase between the two halves, and removed, round after round until no new one is a line. A peak is a line if its
    power is more than 100 times the local floor (noise does that in one bin of e^100), more than a thousandth of what
    the lines leave, and coherent over the four quarters (at least 0.95): doubling T twice leaves a line's share of the
    variance as it is, and halves that of a bin in a band each time. Frequencies below 4/T are no lines but a trend.

    `lines`: they hold all but 1e-4 of the variance, and those above 1e-6 are integer combinations of one frequency,
    modulo 1, since what is sampled is aliased. `quasi_periodic`: the same with two or more incommensurate frequencies,
    see `base_frequencies`. `lines_and_band`: lines over a band that holds more than 1e-4 (cyclic bands, forced chaos, a
    noisy cycle; or a motion with jumps, which has more lines than the 96 sought: take cos and sin of an angle).
    `broad_band`: no line. `constant`: no variance. A band narrower than 1/T is a line.

    Laskar 1990, Icarus 88:266; Welch 1967, IEEE Trans. Audio Electroacoust. 15:70.
    """
    series = checked_series(x, FEWEST_VALUES)
    rest = series - series.mean()
    largest = float(np.max(np.abs(rest)))
    if largest <= ROUNDING * np.spacing(np.max(np.abs(series))):
        return SpectralLines("constant", 0.0, 0.0, [], [])
    rest /= largest
    rest /= rest.std()
    found: list[Line] = []
    tried = np.empty(0)
    left = rest
    for _ in range(ROUNDS):
        new = peaks(left, tried)
        if new.size == 0 or len(found) >= MOST_LINES:
            break
        tried = np.concatenate([tried, new])
        lines = _judged(rest, refined(rest, np.concatenate([_frequencies(found), new])))
        if len(lines) <= len(found):
            break
        found = lines
        left = without_lines(rest, _frequencies(found))
        if np.mean(left * left) < NEGLIGIBLE:
            break
    found.sort(key=lambda line: -line.share)
    share = 1.0 - float(np.mean(left * left)) if found else 0.0
    power = np.abs(rfft(left)) ** 2 * 2 / rest.size**2
    base = _bases(found, rest.size, section)
    return SpectralLines(_verdict(len(found), share, base), share, float(np.median(power[1:])), base, found)


def joint_spectral_lines(points: ArrayLike, *, section: bool = False) -> tuple[SpectralLines, list[SpectralLines]]:
    """The lines of all components of the points (N, d) together, and those of each component.

    Lines of two components within half a resolution bin are one, with the larger share. `share` and `floor` are those
    of the component with the smallest share, so that one broad-band component makes a band; constant ones do not count.
    """
    states = checked_points(points, FEWEST_VALUES)
    each = [spectral_lines(component, section=section) for component in states.T]
    moving = [one for one in each if one.verdict != "constant"]
    if not moving:
        return each[0], each
    merged: list[Line] = []
    for line in sorted((line for one in moving for line in one.lines), key=lambda line: -line.share):
        if all(abs(line.frequency - other.frequency) > 0.5 / len(states) for other in merged):
            merged.append(line)
    least = min(moving, key=lambda one: one.share)
    base = _bases(merged, len(states), section)
    verdict = _verdict(len(merged), least.share, base)
    return SpectralLines(verdict, least.share, least.floor, base, merged), each


def _frequencies(lines: list[Line]) -> NDArray[np.float64]:
    return np.array([line.frequency for line in lines])


def _bases(lines: list[Line], n: int, section: bool) -> list[float]:
    return base_frequencies(_frequencies([line for line in lines if line.share >= BASE_SHARE]), n, section)


def _verdict(lines: int, share: float, base: list[float]) -> Verdict:
    if lines == 0:
        return "broad_band"
    if share < 1.0 - RESIDUE:
        return "lines_and_band"
    return "lines" if len(base) <= 1 else "quasi_periodic"


def _judged(x: NDArray[np.float64], frequencies: NDArray[np.float64]) -> list[Line]:
    """Those of the frequencies that are lines."""
    n = x.size
    amplitudes = amplitudes_of(x, frequencies)
    left = without_lines(x, frequencies)
    power = np.abs(rfft(left)) ** 2 * 2 / n**2
    residue = float(np.mean(left * left))
    lines = []
    for frequency, amplitude in zip(frequencies, amplitudes, strict=True):
        turn = rotation(-frequency, n)
        line = (amplitude * np.conj(turn)).real
        quarters = np.array([part.mean() for part in np.array_split((left + line) * turn, QUARTERS)])
        coherence = float(np.abs(quarters.sum()) ** 2 / (QUARTERS * np.sum(np.abs(quarters) ** 2)))
        share = float(np.mean(line * line))
        middle = round(frequency * n)
        floor = float(np.median(power[max(1, middle - FLOOR_BINS // 2) : middle + FLOOR_BINS // 2 + 1])) / np.log(2)
        excess = share / max(floor, np.finfo(float).tiny)
        strong = excess > SIGNIFICANCE and share > LINE_SHARE * residue and frequency * n >= SLOWEST
        if strong and coherence >= COHERENT:
            lines.append(Line(float(frequency), share, coherence, excess))
    return lines
