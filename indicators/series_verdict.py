"""Is a measured series regular, chaotic or noise? A decision from its indicators alone, with its reasons."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial
from typing import Literal

from indicators.entropy import WINDOWS_PER_PATTERN
from indicators.estimate import Estimate
from indicators.series_description import Description
from indicators.zero_one import CHAOTIC, ENOUGH_VALUES, REGULAR

Kind = Literal["regular", "chaotic", "noise_like", "undecided"]

LEVEL = 0.01


@dataclass(frozen=True)
class SeriesVerdict:
    """The verdict, the observations that it rests on or fails for, and what a better series would change."""

    kind: Kind
    reasons: list[str]
    advice: list[str]


def series_verdict(d: Description) -> SeriesVerdict:
    """The verdict on a described series; where signs are missing or disagree, it is `undecided`.

    `regular`: the series is constant or a cycle (it repeats, its maxima do, or harmonics of one frequency hold all of
    its variance but 1e-4), or quasi-periodic by its lines, and K is not 1; or K is 0, neighbours do not separate, and
    there are lines.
    `chaotic`: neighbours are true in a dimension up to 10, they separate at a rate above 0 beyond its interval, K (of
    the series, or of its maxima where that one is open) is 1, and the permutation entropy is below that of 99
    surrogates. Noise shares K with chaos, none of the other three.
    `noise_like`: neighbours are false in every dimension, and the permutation entropy is that of the surrogates. Chaos
    of many dimensions, or sampled so coarsely that successive values say nothing of each other, is like noise too.
    """
    order, k = _order(d), _k(d)
    separates = d.exponent.status == "ok"
    ordered = d.linear_noise.status == "ok" and d.linear_noise.number <= LEVEL
    advice = list(_advice(d))
    if separates and k == 1 and ordered:
        return SeriesVerdict("chaotic", list(_signs(d)), advice)
    if not separates and k != 1 and (order or (k == 0 and _stays(d) and d.spectrum is not None and d.spectrum.lines)):
        return SeriesVerdict("regular", [*order, *_signs(d)], advice)
    noisy = _false_everywhere(d) and d.linear_noise.status == "ok" and not ordered
    if noisy and not order and k != 0:
        return SeriesVerdict("noise_like", list(_signs(d)), advice)
    return SeriesVerdict("undecided", [*order, *_signs(d)], advice)


def _order(d: Description) -> list[str]:
    """What shows that the series is at rest, a cycle or a torus."""
    if d.constant:
        return ["the series is constant"]
    found = []
    if d.sampling.periodic:
        found.append(f"the series is a cycle of {d.sampling.bands} values")
    elif d.dimension.evidence.get("period"):
        found.append(f"the series repeats itself every {d.dimension.evidence['period']} values")
    if d.zero_one.evidence.get("reason") == "section is a point":
        found.append("the local maxima repeat themselves: a cycle")
    if d.spectrum is not None and d.spectrum.verdict in ("lines", "quasi_periodic"):
        lines, base = len(d.spectrum.lines), len(d.spectrum.base)
        kinds = "one frequency" if base == 1 else f"{base} incommensurate frequencies"
        found.append(f"the variance is that of {lines} spectral line{'s' * (lines > 1)} of {kinds}, but for 1e-4 of it")
    return found


def _k(d: Description) -> int | None:
    """1 or 0 where K says chaos or no chaos, None where it is open."""
    for one in (d.zero_one, d.zero_one_maxima):
        if one.status == "ok":
            return 1 if one.number >= CHAOTIC else 0 if one.number <= REGULAR else None
    return None


def _stays(d: Description) -> bool:
    return d.exponent.status == "not_converged" and "range" not in d.exponent.evidence


def _false_everywhere(d: Description) -> bool:
    return "false_neighbours" in d.exponent.evidence and "dimension" not in d.exponent.evidence


def _signs(d: Description) -> Iterator[str]:
    if d.constant:
        return
    yield _about_k(d)
    e = d.exponent
    if e.status == "ok":
        dimension = e.evidence["dimension"]
        yield f"in {dimension} dimension{'s' * (dimension > 1)} neighbours are true, and separate at {_figure(e)}"
    elif _stays(d):
        yield f"neighbours stay together: they separate at {_figure(e)}"
    else:
        yield f"no exponent: {e.evidence['reason']}"
    yield _about_noise(d.linear_noise)
    if d.spectrum is not None and d.spectrum.verdict == "lines_and_band":
        yield f"spectral lines hold {d.spectrum.share:.4%} of the variance, the rest is a band: chaos or noise"


def _about_k(d: Description) -> str:
    k = d.zero_one
    if k.status != "ok" and d.zero_one_maxima.status == "ok":
        return f"K of the local maxima is {d.zero_one_maxima.number:.3f}; of the series it is open: {_reason(k)}"
    if k.value is None and _reason(k) == "zero variance":
        return "the series is a straight line; of what its trend leaves K is undefined"
    if k.value is None:
        return f"K is undefined: {_reason(k)}"
    return f"K is {k.number:.3f}" + ("" if k.status == "ok" else f", but open: {_reason(k)}")


def _about_noise(test: Estimate) -> str:
    if test.status != "ok":
        return f"not compared with noise: {_reason(test)}"
    e = test.evidence
    low, high = e["entropy_of_surrogates"]
    text = (
        f"permutation entropy of order {e['order']} is {e['entropy']:.3f}, forbidden patterns "
        f"{e['forbidden_patterns']}; of linear noise with the same values and spectrum {low:.3f} to {high:.3f} and at "
        f"most {e['forbidden_patterns_of_surrogates']}"
    )
    return f"{text}; p = {test.number:.2f}"


def _advice(d: Description) -> Iterator[str]:
    """What a longer or better sampled series would change."""
    if d.constant:
        return
    used = d.zero_one.evidence.get("n", ENOUGH_VALUES)
    if used < ENOUGH_VALUES:
        least = ENOUGH_VALUES * d.zero_one.evidence["stride"]
        yield f"longer: with {least} values, so that {ENOUGH_VALUES} are left at its stride, K would be decided"
    elif d.zero_one.status == "not_converged" and _k(d) is None:
        yield "longer: K goes to 0 or to 1 as the series grows, but may need several times its length"
    if d.sampling.oversampled and d.sampling.stride > 1:
        apart = d.sampling.stride * d.interval
        yield (
            f"sampling: {2 * d.sampling.ratio:.0f} values per oscillation are more than ordinal patterns and K can "
            f"use, so these take one value in {d.sampling.stride}, {apart:.4g} apart; the exponent takes all"
        )
    if _false_everywhere(d):
        yield (
            "sampling: chaos of many dimensions, or sampled too coarsely, looks like noise too; of a flow take 10 or "
            "more values per oscillation, of a map every iterate"
        )
    few = [order for order, e in d.entropies.items() if e.status != "ok"]
    if few:
        least = WINDOWS_PER_PATTERN * factorial(few[0]) + (few[0] - 1) * _delay(d)
        yield f"longer: from {least} values on the permutation entropy of order {few[0]} has 5 windows per pattern"
    yield from _about_neighbours(d)
    if d.dimension.status == "not_converged":
        yield f"longer: the correlation dimension is not settled, {_reason(d.dimension)}"


def _about_neighbours(d: Description) -> Iterator[str]:
    e = d.exponent
    if e.status == "ok" and isinstance(e.error, float) and e.error > 0.1 * e.number:
        yield "longer: closer neighbours, and so a longer series, narrow the interval of the exponent"
    elif e.status == "not_converged" and "range" in e.evidence:
        yield "longer: with closer neighbours the exponent may get an interval above 0"
    elif "zero distances" in _reason(e) and not _order(d):
        yield "finer, or the settled part alone: most values repeat others, by rounding or because all is at rest"
    elif e.status == "undefined" and "dimension" in e.evidence:
        yield "cleaner or longer: neighbours must be closer than the motion is wide, and farther apart than its noise"


def _delay(d: Description) -> int:
    return d.sampling.stride if d.sampling.oversampled else 1


def _reason(e: Estimate) -> str:
    return str(e.evidence.get("reason", e.status))


def _figure(e: Estimate) -> str:
    return f"{e.value:.4g} ± {e.error:.2g}"
