"""Sequences of length n, as tuples: words over few symbols, and arrangements of 1 to n."""

from collections.abc import Callable
from itertools import accumulate, pairwise, product

from bench.games.choices import each, inner, pairs
from bench.games.parts import (
    Arguments,
    Effect,
    Figure,
    Inputs,
    Law,
    Object,
    Probe,
    Space,
    Structure,
    TooLargeError,
    Value,
    reads,
)

MOST_WORDS = 100_000  # that are looked through for those of a space

Sequence = tuple[int, ...]


def _words(name: str, symbols: int, kept: Callable[[Sequence], bool]) -> Space:
    def objects(n: int) -> list[Object]:
        if symbols**n > MOST_WORDS:
            raise TooLargeError(f"there are {symbols}**{n} words")
        return [w for w in product(range(symbols), repeat=n) if kept(w)]

    return Space(name, "word", objects, "sequence")


def _near(n: int) -> list[Sequence]:
    """Arrangements that move no number by more than one place."""
    found: list[list[Sequence]] = [[()], [(1,)]]
    for k in range(2, n + 1):
        found.append([(*p, k) for p in found[k - 1]] + [(*p, k, k - 1) for p in found[k - 2]])
    return sorted(found[n])


def _cut(n: int) -> list[Sequence]:
    """1 to n with a block taken out and put to the front."""
    whole = tuple(range(1, n + 1))
    return sorted({whole[a:b] + whole[:a] + whole[b:] for a in range(n) for b in range(a + 1, n + 1)})


def _reversed(n: int) -> list[Sequence]:
    """1 to n with a block turned round."""
    whole = tuple(range(1, n + 1))
    return sorted({whole[:a] + whole[a:b][::-1] + whole[b:] for a in range(n) for b in range(a + 1, n + 1)})


def _layered(n: int) -> list[Sequence]:
    """1 to n in blocks, each turned round."""
    cuts = product((False, True), repeat=n - 1)
    found = []
    for cut in cuts:
        ends = [0, *(i + 1 for i in range(n - 1) if cut[i]), n]
        found.append(tuple(x for a, b in pairwise(ends) for x in range(b, a, -1)))
    return sorted(found)


def _peaked(n: int) -> list[Sequence]:
    """Arrangements that rise to n and then fall."""
    found = []
    for left in product((False, True), repeat=n - 1):
        rise = [x for x in range(1, n) if left[x - 1]]
        found.append((*rise, n, *(x for x in range(n - 1, 0, -1) if not left[x - 1])))
    return sorted(found)


def _ballot(w: Sequence) -> bool:
    return all(2 * ones >= i for i, ones in enumerate(accumulate(w), 1))


def _any_kind(name: str, arguments: Callable[[int], list[Arguments]], read: Callable[..., Value]) -> list[Probe]:
    return [reads(name, kind, arguments, read) for kind in ("word", "order")]


def _changes(w: Sequence) -> int:
    return sum(a != b for a, b in pairwise(w))


def _step(name: str, rule: Callable[[int, int, int], int]) -> Effect:
    """One step of an elementary automaton; beyond the ends stand zeros."""

    def stepped(w: Sequence, _n: int) -> Sequence:
        wide = (0, *w, 0)
        return tuple(rule(*wide[i : i + 3]) for i in range(len(w)))

    return Effect(name, "word", stepped)


def _flagged(n: int, p: Sequence, rule: Callable[[int, int], bool]) -> Sequence:
    return tuple(int(i + 1 < n and rule(p[i], p[i + 1])) for i in range(n))


def _unit_words(most: int) -> Callable[[int], list[Arguments]]:
    return lambda n: [w for w in product((0, 1), repeat=n) if 1 <= sum(w) <= most]


def _common(key: Sequence, w: Sequence) -> int:
    return next((i for i, (a, b) in enumerate(zip(key, w, strict=True)) if a != b), len(key))


SEQUENCES = Structure(
    name="sequence",
    spaces=[
        _words("binary", 2, lambda w: True),
        _words("ternary", 3, lambda w: True),
        _words("no_two_ones", 2, lambda w: all(a + b < 2 for a, b in pairwise(w))),
        _words("no_repeat", 3, lambda w: all(a != b for a, b in pairwise(w))),
        _words("balanced", 2, lambda w: sum(w) == len(w) // 2),
        _words("ballot", 2, _ballot),
        _words("rising", 3, lambda w: all(a <= b for a, b in pairwise(w))),
        _words("few_changes", 2, lambda w: _changes(w) <= 3),
        Space("near", "order", _near, "sequence"),
        Space("cut", "order", _cut, "sequence"),
        Space("reversed", "order", _reversed, "sequence"),
        Space("layered", "order", _layered, "sequence"),
        Space("peaked", "order", _peaked, "sequence"),
    ],
    probes=[
        *_any_kind("at", each, lambda w, i: w[i - 1]),
        *_any_kind("less", pairs, lambda w, i, j: w[i - 1] < w[j - 1]),
        *_any_kind("falls", inner, lambda w, i: w[i - 1] > w[i]),
        *_any_kind("greatest", pairs, lambda w, i, j: max(w[i - 1 : j])),
        *_any_kind("greater_before", each, lambda w, i: sum(x > w[i - 1] for x in w[: i - 1])),
        *_any_kind("smaller_after", each, lambda w, i: sum(x < w[i - 1] for x in w[i:])),
        *_any_kind("falls_until", each, lambda w, i: sum(a > b for a, b in pairwise(w[:i]))),
        *_any_kind("total_thirds", each, lambda w, i: sum(w[:i]) % 3),
        *_any_kind("odd_until", each, lambda w, i: sum(x % 2 for x in w[:i])),
        reads("total", "word", each, lambda w, i: sum(w[:i])),
        reads("even_total", "word", each, lambda w, i: sum(w[:i]) % 2 == 0),
        reads("same", "word", pairs, lambda w, i, j: w[i - 1] == w[j - 1]),
        reads("changes", "word", each, lambda w, i: _changes(w[:i])),
        reads("zeros_from", "word", each, lambda w, i: w[i - 1 :].count(0)),
        reads("one_within", "word", pairs, lambda w, i, j: 1 in w[i - 1 : j]),
        reads("place_odd", "order", each, lambda p, v: (p.index(v) + 1) % 2 == 1),
        reads("before", "order", pairs, lambda p, u, v: p.index(u) < p.index(v)),
        reads("followed", "order", inner, lambda p, v: p.index(v + 1) == p.index(v) + 1),
        reads("gap", "order", inner, lambda p, v: abs(p.index(v + 1) - p.index(v))),
        reads("home", "order", each, lambda p, v: p.index(v) + 1 == v),
        reads("among_first", "order", pairs, lambda p, v, i: p.index(v) < i),
    ],
    effects=[
        _step("either_side", lambda a, b, c: int(a != c)),
        _step("spread", lambda a, b, c: max(a, b, c)),
        _step("majority", lambda a, b, c: int(a + b + c >= 2)),
        _step("spread_right", lambda a, b, c: max(a, b)),
        _step("differs_left", lambda a, b, c: int(a != b)),
        _step("rule_110", lambda a, b, c: int((a, b, c) not in {(1, 1, 1), (1, 0, 0), (0, 0, 0)})),
        _step("lonely", lambda a, b, c: int(a == 0 and c == 0 and b != 0)),
        _step("meeting", lambda a, b, c: int(a != 0 and c != 0)),
        Effect("running_greatest", "order", lambda p, n: tuple(accumulate(p, max)), after="word"),
        Effect("rises", "order", lambda p, n: _flagged(n, p, lambda a, b: a < b), after="word"),
        Effect(
            "neighbours_lead",
            "order",
            lambda p, n: tuple(max(p[max(0, i - 1) : i + 2]) for i in range(n)),
            after="word",
        ),
        Effect("halved", "order", lambda p, n: tuple((x + 1) // 2 for x in p), after="word"),
        Effect("parities", "order", lambda p, n: tuple(x % 2 for x in p), after="word"),
    ],
    outcomes=[
        Figure("total", "word", lambda w, n: sum(w)),
        Figure("end", "word", lambda w, n: w[-1]),
        Figure("changes_parity", "word", lambda w, n: _changes(w) % 2),
        Figure("start", "word", lambda w, n: w[0]),
    ],
    costs=[
        Figure("total", "word", lambda w, n: sum(w)),
        Figure("changes", "word", lambda w, n: _changes(w)),
        Figure("weighted", "word", lambda w, n: sum(i * x for i, x in enumerate(w, 1))),
        Figure("inversions", "order", lambda p, n: sum(a > b for i, a in enumerate(p) for b in p[i + 1 :])),
        Figure("moved", "order", lambda p, n: sum(x != i for i, x in enumerate(p, 1))),
        Figure("distance", "order", lambda p, n: sum(abs(x - i) for i, x in enumerate(p, 1))),
    ],
    laws=[
        Law("agreements", "word", lambda key, w, n: sum(a == b for a, b in zip(key, w, strict=True))),
        Law("product", "word", lambda key, w, n: sum(a * b for a, b in zip(key, w, strict=True))),
        Law("common_start", "word", lambda key, w, n: _common(key, w)),
        Law("precedes", "word", lambda key, w, n: int(w < key)),
        Law("exceeding", "word", lambda key, w, n: sum(b > a for a, b in zip(key, w, strict=True))),
        Law("turned_agreements", "word", lambda key, w, n: sum(a == b for a, b in zip(key, w[::-1], strict=True))),
        Law("shifted_product", "word", lambda key, w, n: sum(a * b for a, b in zip(key, w[1:], strict=False))),
        Law("changes_kept", "word", lambda key, w, n: _changes(tuple(a for a, b in zip(key, w, strict=True) if b))),
        Law("kept_total", "order", lambda key, w, n: sum(a for a, b in zip(key, w, strict=True) if b)),
        Law("kept_greatest", "order", lambda key, w, n: max(a for a, b in zip(key, w, strict=True) if b)),
        Law("kept_least", "order", lambda key, w, n: min(a for a, b in zip(key, w, strict=True) if b)),
        Law(
            "kept_home",
            "order",
            lambda key, w, n: sum(a == i for i, (a, b) in enumerate(zip(key, w, strict=True), 1) if b),
        ),
        Law("kept_odd", "order", lambda key, w, n: sum(a % 2 for a, b in zip(key, w, strict=True) if b)),
        Law("sent_agreements", "order", lambda key, w, n: sum(w[a - 1] == b for a, b in zip(key, w, strict=True))),
        Law("sent_first", "order", lambda key, w, n: next(i for i, a in enumerate(key, 1) if w[a - 1])),
    ],
    inputs=[
        Inputs("one_mark", "word", _unit_words(1)),
        Inputs("two_marks", "word", _unit_words(2)),
        Inputs("three_marks", "word", _unit_words(3)),
        Inputs("two_marks", "order", _unit_words(2)),
        Inputs("three_marks", "order", _unit_words(3)),
    ],
)
