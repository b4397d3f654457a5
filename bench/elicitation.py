"""How likely a model holds TRUE or YES, from the log-probabilities of its tokens.

All spellings of one answer are added up; what is on other tokens is kept apart. A token that is not among those that
were returned is censored: its probability is somewhere from 0 to that of the least one that was; both ends are kept.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from bench.answers import POLARITY, TRUE

SPELLINGS = {"yes", "no", "true", "false", "是", "否"}
MISSING = -1000.0  # servers write -9999 for a token that was not among the returned ones
ROUNDING = 1e-6  # by which a log-probability may exceed 0


class Belief(NamedTuple):
    """The probability of TRUE among both answers, between `lo` and `hi`, and the mass that was on neither."""

    lo: float
    hi: float
    off: float

    @property
    def censored(self) -> bool:
        """Whether an answer was not among the returned tokens."""
        return self.hi > self.lo


def side(token: str) -> str | None:
    """TRUE or FALSE if a token spells an answer, in any case and with the marks of a word's start."""
    word = token.strip(" \t\n\u2581\u0120\u010a").lower()
    return POLARITY[word] if word in SPELLINGS else None


def belief(top: Sequence[Sequence[Any]]) -> Belief | str:
    """The belief of (token, log-probability) pairs at the position of the answer; or why there is none."""
    mass = {True: [0.0], False: [0.0]}
    off, least = 0.0, 1.0
    for pair in top:
        token, logprob = pair
        if not isinstance(token, str) or isinstance(logprob, bool) or not isinstance(logprob, (int, float)):
            return f"the log-probability of {token!r} is {logprob!r}, not a number"
        if math.isnan(logprob):
            return f"the log-probability of {token!r} is not a number"
        if logprob > ROUNDING:
            return f"the log-probability of {token!r} is {logprob:g}, over 0; is it a loss?"
        if logprob <= MISSING:
            continue
        p = math.exp(min(logprob, 0.0))
        least = min(least, p)
        answer = side(token)
        if answer is None:
            off += p
        else:
            mass[answer == TRUE].append(p)
    yes, no = (math.fsum(mass[key]) for key in (True, False))
    if yes + no == 0.0:
        return "neither answer is among the returned tokens"
    unseen = max(0.0, min(least, 1.0 - yes - no - off))
    lo = yes / (yes + no + (unseen if no == 0.0 else 0.0))
    hi = (yes + unseen) / (yes + no + unseen) if yes == 0.0 else yes / (yes + no)
    return Belief(lo, hi, off)


def answer_position(tokens: Iterable[str]) -> int | None:
    """The first of the sampled tokens that spells an answer."""
    return next((i for i, token in enumerate(tokens) if side(token) is not None), None)
