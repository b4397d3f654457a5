"""Numerical analysis of frequencies: peaks of the spectrum, fitted jointly and refined by the drift of their phase.

Times are counted in samples from the middle of the series, frequencies in cycles per sample. Laskar 1990,
Icarus 88:266.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.fft import rfft

PER_ROUND = 12
DYNAMIC = 0.01
SLOWEST = 4
SEPARATION = 1.5
REFINEMENTS = 3
NEGLIGIBLE = 1e-9
ROW = 256


def rotation(frequency: float, n: int) -> NDArray[np.complex128]:
    """exp(2 pi i f t) at the n times."""
    rows = np.exp(2j * np.pi * frequency * (ROW * np.arange(-(-n // ROW)) - (n - 1) / 2))
    turn: NDArray[np.complex128] = np.multiply.outer(rows, np.exp(2j * np.pi * frequency * np.arange(ROW))).ravel()[:n]
    return turn


def peaks(left: NDArray[np.float64], taken: NDArray[np.float64]) -> NDArray[np.float64]:
    """Frequencies of the strongest separate local maxima of the windowed periodogram, at most twelve.

    Between bins the Hann window's amplitudes a, b at two neighbours put a line at (2b - a)/(a + b) bins from the first.
    """
    n = left.size
    amplitude = np.abs(rfft(left * np.hanning(n + 1)[:-1]))
    amplitude[:SLOWEST] = 0.0
    padded = np.concatenate([[0.0], amplitude, [0.0]])
    tops = np.flatnonzero((amplitude > padded[:-2]) & (amplitude >= padded[2:]))
    tops = tops[np.argsort(-amplitude[tops])][: 4 * PER_ROUND]
    chosen: list[float] = []
    for top in tops:
        if amplitude[top] ** 2 < DYNAMIC**2 * amplitude[tops[0]] ** 2 or len(chosen) == PER_ROUND:
            break
        lower, upper = padded[top], padded[top + 2]
        a, b = (amplitude[top], upper) if upper > lower else (lower, amplitude[top])
        start = top if upper > lower else top - 1
        frequency = min(0.5, (start + (2 * b - a) / (a + b)) / n)
        others = np.concatenate([taken, chosen])
        if np.all(np.abs(others - frequency) * n > SEPARATION):
            chosen.append(frequency)
    return np.array(chosen)


def refined(x: NDArray[np.float64], frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Frequencies moved by the drift of the phase, with every other line removed."""
    n = x.size
    half = n // 2
    window = np.hanning(half + 2)[1:-1]
    for _ in range(REFINEMENTS):
        amplitudes = amplitudes_of(x, frequencies)
        left = without_lines(x, frequencies)
        moved = frequencies.copy()
        for i, (frequency, amplitude) in enumerate(zip(frequencies, amplitudes, strict=True)):
            if frequency == 0.5:
                continue
            turn = rotation(-frequency, n)
            alone = (left + (amplitude * np.conj(turn)).real) * turn
            early, late = np.sum(window * alone[:half]), np.sum(window * alone[n - half :])
            drift = np.angle(late * np.conj(early)) / (2 * np.pi * (n - half))
            moved[i] = frequency + drift
        frequencies = np.where(moved > 0.5 - NEGLIGIBLE, 0.5, np.abs(moved))
    return frequencies


def amplitudes_of(x: NDArray[np.float64], frequencies: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Least-squares a of x ~ Re sum a exp(2 pi i f t), t counted from the middle: cosines and sines then decouple."""
    n = x.size
    images = np.array([np.sum(rotation(-f, n) * x) for f in frequencies], dtype=complex)
    if frequencies.size == 0:
        return images
    apart = _dirichlet(frequencies[:, None] - frequencies, n)
    together = _dirichlet(frequencies[:, None] + frequencies, n)
    cosines = np.linalg.lstsq((apart + together) / 2, images.real, rcond=1e-10)[0]
    sines = np.linalg.lstsq((apart - together) / 2, -images.imag, rcond=1e-10)[0]
    amplitudes: NDArray[np.complex128] = cosines - 1j * sines
    return amplitudes


def _dirichlet(f: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """sum exp(2 pi i f t) over the n centred times."""
    small = np.abs(np.sin(np.pi * f)) < 1e-12
    safe = np.where(small, 0.25, f)
    limit = n * np.cos(np.pi * f * n) / np.cos(np.pi * f)
    total: NDArray[np.float64] = np.where(small, limit, np.sin(np.pi * safe * n) / np.sin(np.pi * safe))
    return total


def without_lines(x: NDArray[np.float64], frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """The series without the lines that fit it best at the frequencies."""
    left = x.copy()
    for frequency, amplitude in zip(frequencies, amplitudes_of(x, frequencies), strict=True):
        left -= (amplitude * rotation(frequency, x.size)).real
    return left
