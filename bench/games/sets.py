"""Sets: subsets of the numbers 1 to n, as increasing tuples."""

from collections.abc import Callable
from itertools import combinations

from bench.games.choices import each, inner, nothing, pairs, small, subsets, up_to, windows
from bench.games.parts import Effect, Figure, Inputs, Law, Space, Structure, compared, reads

Set = tuple[int, ...]


def _space(name: str, kept: Callable[[Set, int], bool]) -> Space:
    return Space(name, "set", lambda n: [s for s in subsets(range(1, n + 1)) if kept(s, n)], "set")


def _of_size(name: str, size: Callable[[int], int]) -> Space:
    return Space(name, "set", lambda n: list(combinations(range(1, n + 1), size(n))), "set")


def _intervals(n: int) -> list[Set]:
    return [tuple(range(a, b + 1)) for a in range(1, n + 1) for b in range(a, n + 1)]


def _progressions(n: int) -> list[Set]:
    return sorted({tuple(range(a, n + 1, d))[:k] for a in range(1, n + 1) for d in range(1, n + 1) for k in (1, 2, 3)})


def _sparse(n: int) -> list[Set]:
    found: list[Set] = [()]
    for x in range(1, n + 1):
        found += [(*s, x) for s in found if not s or s[-1] < x - 1]
    return found


def _between(s: Set, a: int, b: int) -> int:
    return sum(a <= x <= b for x in s)


def _effect(name: str, of: Callable[[Set, int], set[int]]) -> Effect:
    return Effect(name, "set", lambda s, n: tuple(sorted(x for x in of(s, n) if 1 <= x <= n)))


def _sums(s: Set, _n: int) -> set[int]:
    return {*s, *(x + y for x in s for y in s if x < y)}


SETS = Structure(
    name="set",
    spaces=[
        Space("number", "number", lambda n: [(x,) for x in range(1, n + 1)], "number"),
        _space("any", lambda s, n: True),
        _space("even_size", lambda s, n: len(s) % 2 == 0),
        _space("sum_by_three", lambda s, n: sum(s) % 3 == 0),
        _space("odd_sum", lambda s, n: sum(s) % 2 == 1),
        _space("divisor_closed", lambda s, n: all(d in s for x in s for d in range(1, x) if x % d == 0)),
        Space("sparse", "set", _sparse, "set"),
        Space("interval", "set", _intervals, "set"),
        Space("progression", "set", _progressions, "set"),
        _of_size("pair", lambda n: 2),
        _of_size("triple", lambda n: 3),
        _of_size("half", lambda n: n // 2),
    ],
    probes=[
        reads("odd", "number", nothing, lambda x: x[0] % 2 == 1),
        reads("greater", "number", each, lambda x, y: x[0] > y),
        reads("equal", "number", each, lambda x, y: x[0] == y),
        reads("member", "set", each, lambda s, x: x in s),
        reads("below", "set", each, lambda s, x: _between(s, 1, x)),
        reads("even_below", "set", each, lambda s, x: _between(s, 1, x) % 2 == 0),
        reads("meets", "set", windows, lambda s, a, b: _between(s, a, b) > 0),
        reads("count", "set", windows, _between),
        reads("exactly_one", "set", pairs, lambda s, x, y: (x in s) != (y in s)),
        reads("both", "set", pairs, lambda s, x, y: x in s and y in s),
        reads("compare", "set", inner, lambda s, x: compared(_between(s, 1, x), len(s) - _between(s, 1, x))),
        reads("distance", "set", inner, lambda s, d: any(x + d in s for x in s)),
        reads("sum_remainder", "set", small(5), lambda s, m: sum(s) % m),
        reads("multiples", "set", inner, lambda s, d: sum(x % d == 0 for x in s)),
        reads("nearest", "set", each, lambda s, x: min((abs(x - y) for y in s), default=0)),
        reads("rank_odd", "set", each, lambda s, k: len(s) >= k and s[k - 1] % 2 == 1),
        reads("rank_above", "set", pairs, lambda s, k, x: len(s) >= k and s[k - 1] > x),
        reads("sum_below", "set", each, lambda s, x: sum(y for y in s if y <= x) % 4),
    ],
    effects=[
        _effect("next", lambda s, n: {*s, *(x + 1 for x in s)}),
        _effect("around", lambda s, n: {x + d for x in s for d in (-1, 0, 1)}),
        _effect("skip", lambda s, n: {*s, *(x + 2 for x in s)}),
        _effect("beside", lambda s, n: {x + d for x in s for d in (-1, 1)}),
        _effect("multiples", lambda s, n: {k * x for x in s for k in range(1, n // x + 1)}),
        _effect("divisors", lambda s, n: {d for x in s for d in range(1, x + 1) if x % d == 0}),
        _effect("sums", _sums),
        _effect("double", lambda s, n: {*s, *(2 * x for x in s)}),
        _effect("enclosed", lambda s, n: {*s, *(x for x in range(2, n) if x - 1 in s and x + 1 in s)}),
        _effect("differences", lambda s, n: {*s, *(y - x for x in s for y in s if y > x)}),
    ],
    outcomes=[
        Figure("size", "set", lambda s, n: len(s)),
        Figure("first", "set", lambda s, n: int(1 in s)),
        Figure("last", "set", lambda s, n: int(n in s)),
        Figure("size_parity", "set", lambda s, n: len(s) % 2),
        Figure("sum_thirds", "set", lambda s, n: sum(s) % 3),
    ],
    costs=[
        Figure("fewest", "set", lambda s, n: len(s)),
        Figure("sum", "set", lambda s, n: sum(s)),
        Figure("squares", "set", lambda s, n: sum(x * x for x in s)),
        Figure("high", "set", lambda s, n: sum(n + 1 - x for x in s)),
        Figure("odd", "set", lambda s, n: sum(1 + 2 * (x % 2) for x in s)),
    ],
    laws=[
        Law("shared", "set", lambda key, s, n: len(set(key) & set(s))),
        Law("outside", "set", lambda key, s, n: len(set(s) - set(key))),
        Law("missing", "set", lambda key, s, n: len(set(key) - set(s))),
        Law("differing", "set", lambda key, s, n: len(set(key) ^ set(s))),
        Law("sum_shared", "set", lambda key, s, n: sum(set(key) & set(s))),
        Law("key_below", "set", lambda key, s, n: sum(x < s[0] for x in key)),
        Law("key_above", "set", lambda key, s, n: sum(x > s[-1] for x in key)),
        Law("key_within", "set", lambda key, s, n: _between(key, s[0], s[-1])),
        Law("followed", "set", lambda key, s, n: sum(x + 1 in key for x in s)),
        Law("beside", "set", lambda key, s, n: sum(x - 1 in key or x + 1 in key for x in s)),
    ],
    inputs=[
        Inputs("up_to_two", "set", up_to(2)),
        Inputs("pairs", "set", pairs),
        Inputs("up_to_three", "set", up_to(3)),
        Inputs("runs", "set", _intervals),
    ],
    reserved=frozenset({"number"}),
)
