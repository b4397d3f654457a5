"""Balls as decimals and back, exactly: a decimal and a radius so tight that a change of any digit leaves the ball."""

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb, fmpq

FINER = 5  # decimals of the radius beyond those of the number
TIE = 0.4998  # of the last decimal's unit: a number rounded by more could as well have been rounded the other way


def ball(text: str) -> arb:
    """The ball around the exact value of a decimal, at the precision of `flint.ctx`."""
    value = Fraction(text)
    return arb(fmpq(value.numerator, value.denominator))


def tight_decimals(balls: Sequence[arb], decimals: int) -> tuple[list[str], str]:
    """Decimals of the middles of balls, and one radius around them that holds all of the balls.

    At most so many decimals, and fewer where a ball lies so near a tie that the next decimal would be as right.
    Rounding to n decimals leaves an error e < 10^-n / 2, and the radius is e + 10^-(n + 4): any other digit is farther.
    """
    for n in range(decimals, -1, -1):
        wholes = [round(_exact(x.mid()) * 10**n) for x in balls]
        off = max(_exact(abs(x - arb(fmpq(k, 10**n))).abs_upper()) for x, k in zip(balls, wholes, strict=True)) * 10**n
        if off <= TIE or n == 0:
            break
    units = math.ceil(off * 10**FINER) + 10
    digits = str(units)
    return [_decimal(k, n) for k in wholes], f"{digits[0]}.{digits[1:]}e{len(digits) - 1 - n - FINER}"


def digits_before(x: arb) -> int:
    """The number of decimals in which a positive exact ball is zero, negative for one above 1."""
    mantissa, exponent = (int(part) for part in x.man_exp())
    return math.floor(-(math.log10(mantissa) + exponent * math.log10(2)))


def _exact(x: arb) -> Fraction:
    mantissa, exponent = (int(part) for part in x.man_exp())
    return mantissa * Fraction(2) ** exponent


def _decimal(whole: int, decimals: int) -> str:
    digits = str(abs(whole)).rjust(decimals + 1, "0")
    number = f"{digits[: len(digits) - decimals]}.{digits[len(digits) - decimals :]}" if decimals else digits
    return f"-{number}" if whole < 0 else number
