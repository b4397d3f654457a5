"""sin, cos, exp and their kin as plain arithmetic, which LLVM carries out in all lanes at once.

The C library's functions are called lane by lane, and cost a step more than all else in it. These are within 2 units in
the last place (sin, cos, exp; the others within 6: tests/test_elementary.py) and, being arithmetic that is never
reordered, the same on every machine. Beyond 2**20 pi/2 an angle's own last place changes it by more than that.
"""

import hashlib
import math
from fractions import Fraction
from pathlib import Path

import numpy as np

from dynamics.kernel import inlined

_ROUND = 1.5 * 2.0**52  # added and taken away, it rounds to a whole number, which then stands in the last bits

# pi/2 and ln 2 in parts of 33 and 32 bits, whose products with a whole number below 2**20 are exact
_HALF_PI = Fraction(
    "1.57079632679489661923132169163975144209858469968755291048747229615390820314310449931401741267105853399107404326"
)
_LN2 = Fraction("0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863327")


def _part(x: Fraction, bits: int) -> float:
    """The leading bits of x, cut off."""
    unit = Fraction(2) ** (math.frexp(float(x))[1] - bits)
    return float(x // unit * unit)


_PI1 = _part(_HALF_PI, 33)
_PI2 = _part(_HALF_PI - Fraction(_PI1), 33)
_PI3 = float(_HALF_PI - Fraction(_PI1) - Fraction(_PI2))
_LN1 = _part(_LN2, 32)
_LN3 = float(_LN2 - Fraction(_LN1))
_PER_HALF_PI, _PER_LN2 = float(1 / _HALF_PI), float(1 / _LN2)
# Taylor's coefficients; on abs(r) <= pi/4 and ln(2)/2 the first one left out is below 1e-17 of the whole
_S3, _S5, _S7, _S9, _S11, _S13, _S15, _S17 = ((-1.0) ** n / math.factorial(2 * n + 1) for n in range(1, 9))
_C4, _C6, _C8, _C10, _C12, _C14, _C16, _C18 = ((-1.0) ** n / math.factorial(2 * n) for n in range(2, 10))
_E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9, _E10, _E11, _E12, _E13 = (1.0 / math.factorial(n) for n in range(2, 14))
_L3, _L5, _L7, _L9, _L11, _L13, _L15, _L17, _L19, _L21, _L23 = (1.0 / n for n in range(3, 24, 2))
_NORMAL, _LIFT, _ROOT2 = 2.0**-1022, 2.0**54, math.sqrt(2.0)
_FARTHEST = 2.0**50  # where neighbouring doubles are a quarter apart, and an angle means nothing
_LARGEST, _SMALLEST = math.log(np.finfo(float).max), -708.0


@inlined
def _turned(x, quarter):  # type: ignore[no-untyped-def]
    """sin(x + quarter pi/2); beyond 2**50 in size any value would do, and it is that at 0."""
    shifted = x * _PER_HALF_PI + _ROUND
    n = shifted - _ROUND
    q = np.float64(shifted).view(np.int64) + quarter
    r = ((x - n * _PI1) - n * _PI2) - n * _PI3
    r = r if abs(x) < _FARTHEST else x - x
    z = r * r
    s = r + r * z * (_S3 + z * (_S5 + z * (_S7 + z * (_S9 + z * (_S11 + z * (_S13 + z * (_S15 + z * _S17)))))))
    c = 1.0 - (0.5 * z - z * z * (
        _C4 + z * (_C6 + z * (_C8 + z * (_C10 + z * (_C12 + z * (_C14 + z * (_C16 + z * _C18))))))))  # fmt: skip
    value = c if q & 1 else s
    return -value if q & 2 else value


@inlined
def sine(x):  # type: ignore[no-untyped-def]
    """sin x; NaN at infinity."""
    return _turned(x, 0)


@inlined
def cosine(x):  # type: ignore[no-untyped-def]
    """cos x; NaN at infinity."""
    return _turned(x, 1)


@inlined
def tangent(x):  # type: ignore[no-untyped-def]
    """tan x."""
    return _turned(x, 0) / _turned(x, 1)


@inlined
def exponential(x):  # type: ignore[no-untyped-def]
    """exp x; infinite above ln of the largest double, 0 below -708, where the result would be subnormal."""
    held = min(max(x, _SMALLEST), _LARGEST)
    shifted = held * _PER_LN2 + _ROUND
    n = shifted - _ROUND
    r = (held - n * _LN1) - n * _LN3
    p = r + r * r * (_E2 + r * (_E3 + r * (_E4 + r * (_E5 + r * (_E6 + r * (
        _E7 + r * (_E8 + r * (_E9 + r * (_E10 + r * (_E11 + r * (_E12 + r * _E13)))))))))))  # fmt: skip
    bits = (np.float64(shifted).view(np.int64) << 52) + 0x3FE0000000000000  # of 2**(n - 1), finite for all n
    value = (1.0 + p) * np.int64(bits).view(np.float64) * 2.0
    value = np.inf if x > _LARGEST else value
    value = 0.0 if x < _SMALLEST else value
    return value if x == x else x


@inlined
def hyperbolic_sine(x):  # type: ignore[no-untyped-def]
    """sinh x, by its series within 1 of 0, where the difference of exponentials would cancel."""
    a = abs(x)
    z = a * a
    near = a + a * z * (-_S3 + z * (_S5 + z * (-_S7 + z * (_S9 + z * (-_S11 + z * (_S13 + z * (-_S15 + z * _S17)))))))
    half = exponential(0.5 * a)  # its square overflows no earlier than sinh
    far = 0.5 * half * half - 0.5 / half / half
    value = near if z < 1.0 else far
    return -value if x < 0.0 else value


@inlined
def hyperbolic_cosine(x):  # type: ignore[no-untyped-def]
    """cosh x."""
    half = exponential(0.5 * abs(x))
    return 0.5 * half * half + 0.5 / half / half


@inlined
def hyperbolic_tangent(x):  # type: ignore[no-untyped-def]
    """tanh x, which is 1 to the last bit beyond 20."""
    held = min(max(x, -20.0), 20.0)
    value = hyperbolic_sine(held) / hyperbolic_cosine(held)
    return value if x == x else x


@inlined
def eccentric_anomaly(mean, eccentricity):  # type: ignore[no-untyped-def]
    """E of Kepler's equation E - e sin E = M; NaN where e is not in [0, 1).

    No iteration, and so no branch: the root of a cubic (Markley 1995, Celest. Mech. Dyn. Astron. 63:101, equations 5,
    9, 10, 14, 15 and 20) is corrected once, to fifth order (equations 21-29). Within 2 * 2**-52 max(1, dE/dM).
    """
    quarters = 4.0 * (mean * (0.25 * _PER_HALF_PI) + _ROUND - _ROUND)  # E and M make the same number of whole turns
    turned = ((mean - quarters * _PI1) - quarters * _PI2) - quarters * _PI3
    turned = turned if abs(mean) < _FARTHEST else mean - mean
    m = abs(turned)
    alpha = (3.0 * math.pi**2 + 1.6 * math.pi * (math.pi - m) / (1.0 + eccentricity)) / (math.pi**2 - 6.0)
    d = 3.0 * (1.0 - eccentricity) + alpha * eccentricity
    q = 2.0 * alpha * d * (1.0 - eccentricity) - m * m
    r = 3.0 * alpha * d * (d - 1.0 + eccentricity) * m + m * m * m
    w = (abs(r) + math.sqrt(q * q * q + r * r)) ** (2.0 / 3.0)
    e = (2.0 * r * w / (w * w + w * q + q * q) + m) / d
    f2, f3 = eccentricity * sine(e), eccentricity * cosine(e)  # derivatives of f = E - e sin E - M, but for signs
    f, f1 = e - f2 - m, 1.0 - f3
    step = -f / (f1 - 0.5 * f * f2 / f1)
    step = -f / (f1 + step * (0.5 * f2 + step * f3 / 6.0))
    step = -f / (f1 + step * (0.5 * f2 + step * (f3 / 6.0 - step * f2 / 24.0)))
    value = e + step
    value = (value if turned >= 0.0 else -value) + (mean - turned)
    return value if 0.0 <= eccentricity < 1.0 else np.nan


@inlined
def natural_logarithm(x):  # type: ignore[no-untyped-def]
    """ln x; NaN below 0, minus infinity at 0."""
    small = x < _NORMAL
    held = x * _LIFT if small else x
    bits = np.float64(held).view(np.int64)
    low = np.int64((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000).view(np.float64)  # the digits, in 1 .. 2
    many = low > _ROOT2
    m = 0.5 * low if many else low
    # the exponent of two, made a double by standing in the last bits of one
    e = np.int64((bits >> 52) + 0x4338000000000000).view(np.float64) - (_ROUND + 1023.0)
    e = e + 1.0 if many else e
    e = e - 54.0 if small else e
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    tail = z * (_L3 + z * (_L5 + z * (_L7 + z * (_L9 + z * (_L11 + z * (
        _L13 + z * (_L15 + z * (_L17 + z * (_L19 + z * (_L21 + z * _L23))))))))))  # fmt: skip
    value = e * _LN1 + (2.0 * s + (2.0 * s * tail + e * _LN3))
    value = value if x < np.inf else x
    value = -np.inf if x == 0.0 else value
    return value if x >= 0.0 else np.nan


@inlined
def power(x, y):  # type: ignore[no-untyped-def]
    """x**y by exp(y ln x), within about 2 + 2 abs(y ln x) units in the last place; NaN for a root of a negative x."""
    value = exponential(y * natural_logarithm(abs(x)))
    half = 0.5 * y
    value = -value if x < 0.0 and np.floor(half) != half else value
    value = np.nan if x < 0.0 and np.floor(y) != y else value
    return 1.0 if y == 0.0 else value


ELEMENTARY = {
    "sin": sine,
    "cos": cosine,
    "tan": tangent,
    "exp": exponential,
    "sinh": hyperbolic_sine,
    "cosh": hyperbolic_cosine,
    "tanh": hyperbolic_tangent,
    "log": natural_logarithm,
    "kepler": eccentric_anomaly,
}
# what generated modules begin with: they hold these functions, so their name must change with them
IMPORT = (
    f"from dynamics.elementary import {', '.join(f.__name__ for f in [*ELEMENTARY.values(), power])}"
    f"  # {hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]}"
)
