"""Equilibria and map cycles proved by an interval Newton method, with rigorous bounds of their multipliers.

A cycle x(1), .., x(p) of a map solves f(x(i)) = x(i+1) + turns(i) L, with whole turns on circles of circumference L;
an equilibrium of a flow solves f(x) = 0. If every solution of the equations linearised over a box around a centre, with
the derivative anywhere in its enclosure, lies inside that box, then the box holds exactly one orbit (Neumaier 1990,
Interval Methods for Systems of Equations, section 5.1). The p d linear equations are solved by running once around.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from flint import acb, acb_mat, arb, arb_mat, arb_poly, ctx

from dynamics.system import System
from labeling.balls import constant, enclosure

NEWTON_STEPS = 12  # of a method that doubles the correct digits
NEAR = 1e-5  # of 1 + the orbit's size: beyond it, Newton has left the orbit that it was given for another

Orbit = list[list[arb]]  # p points of d balls
Stable = Literal["attracting", "repelling"]


class UnprovedError(ArithmeticError):
    """The statement could not be proved at this precision; the message says which step failed."""


@dataclass(frozen=True)
class Equations:
    """The equations of an orbit: the system at exact or enclosed parameters, circumferences by place, and turns.

    `turns` holds, for each point, d whole numbers, 0 where the variable is not on a circle.
    """

    system: System
    parameters: dict[str, arb]
    circle: dict[int, str]
    turns: list[list[int]]

    @property
    def circumferences(self) -> dict[int, arb]:
        """Balls around the circumferences, by place in the state."""
        return {c: constant(text) for c, text in self.circle.items()}


@dataclass(frozen=True)
class Spectrum:
    """Enclosures of the multipliers, None where they cannot be told apart, and what is proved of their stability.

    `unstable` is the number outside the unit circle (map) or right of the imaginary axis (flow), None if not decided.
    """

    multipliers: list[acb] | None
    unstable: int | None
    stability: Stable | None


def corrections(equations: Equations, centre: Orbit, box: Orbit) -> Orbit:
    """Enclosure of -A^-1 F(centre) over all A in the derivative over the box: Newton's step, or the interval one's."""
    s, count = equations.system, len(centre)
    inner = [enclosure(s, equations.parameters, point) for point in centre]
    outer = inner if box is centre else [enclosure(s, equations.parameters, point) for point in box]
    try:
        if s.kind == "ode":
            return [outer[0][1].solve(_column([-f for f in inner[0][0]])).entries()]
        lengths = equations.circumferences
        missed = []
        for i, (image, _) in enumerate(inner):
            gap = [a - b for a, b in zip(image, centre[(i + 1) % count], strict=True)]
            for c, length in lengths.items():
                gap[c] -= equations.turns[i][c] * length
            missed.append(_column(gap))
        product, total = _identity(s.dimension), _column([arb(0)] * s.dimension)
        for (_, derivative), gap in zip(outer, missed, strict=True):
            product, total = derivative * product, derivative * total + gap
        steps = [(_identity(s.dimension) - product).solve(total)]
        for (_, derivative), gap in zip(outer[:-1], missed[:-1], strict=True):
            steps.append(derivative * steps[-1] + gap)
        return [step.entries() for step in steps]
    except ZeroDivisionError:
        raise UnprovedError("the equations' derivative cannot be shown to be regular") from None


def refined(equations: Equations, points: Orbit) -> Orbit:
    """Newton's method from points near the orbit, to the precision at hand; the result is not yet proved."""
    centre = points
    size = 1 + _largest(points)
    for _ in range(NEWTON_STEPS):
        steps = corrections(equations, centre, centre)
        centre = [[(x + dx).mid() for x, dx in zip(*pair, strict=True)] for pair in zip(centre, steps, strict=True)]
        moved = _largest(steps)
        if not moved.is_finite():
            break
        if moved < size * arb(2) ** (-ctx.prec // 2):
            away = _largest([[a - b for a, b in zip(*pair, strict=True)] for pair in zip(centre, points, strict=True)])
            if not away < NEAR * size:
                raise UnprovedError("Newton's method leaves the points given")
            return centre
    raise UnprovedError("Newton's method does not converge from the points given")


def proved_orbit(equations: Equations, centre: Orbit, radius: arb) -> Orbit:
    """Enclosures of the one orbit within the radius of the centre, in every coordinate; UnprovedError where none is."""
    box = [[arb(x, radius) for x in point] for point in centre]
    steps = corrections(equations, centre, box)
    if not all(abs(dx) < radius for step in steps for dx in step):
        raise UnprovedError("no orbit can be shown to lie within the radius of the centre")
    return [[x + dx for x, dx in zip(*pair, strict=True)] for pair in zip(centre, steps, strict=True)]


def require_circles(equations: Equations, point: Sequence[arb]) -> None:
    """Raises UnprovedError where the rule is none on the circle: a whole turn must turn the image by whole turns."""
    s, lengths = equations.system, equations.circumferences
    for turned, length in lengths.items():
        moved = [x + length if c == turned else x for c, x in enumerate(point)]
        pair = [enclosure(s, equations.parameters, u)[0] for u in (point, moved)]
        for c, (a, b) in enumerate(zip(*pair, strict=True)):
            whole = s.kind == "map" and c in lengths
            if not (((b - a) / lengths[c]).contains_integer() if whole else (b - a).contains(0)):
                raise UnprovedError(f"the rule does not repeat after a turn of {[*s.state][turned]}")


def require_least_period(equations: Equations, orbit: Orbit) -> None:
    """Raises UnprovedError where the p points may go round a shorter cycle.

    A shorter period divides p / q for a prime q, and then the points 1 and 1 + p / q are one.
    """
    count, lengths = len(orbit), equations.circumferences
    for q in (q for q in range(2, count + 1) if count % q == 0 and all(q % m for m in range(2, q))):
        pairs = enumerate(zip(orbit[0], orbit[count // q], strict=True))
        if not any(
            not ((a - b) / lengths[c]).contains_integer() if c in lengths else not a.overlaps(b) for c, (a, b) in pairs
        ):
            raise UnprovedError(f"the points 1 and {1 + count // q} cannot be told apart: the period may be less")


def spectrum(equations: Equations, orbit: Orbit) -> Spectrum:
    """Multipliers of a proved orbit: eigenvalues of its derivative, once around (map), or of the Jacobian (flow)."""
    s = equations.system
    matrix = _identity(s.dimension)
    for point in orbit:
        matrix = enclosure(s, equations.parameters, point)[1] * matrix
    values = _eigenvalues(matrix)
    sides: list[int | None] = [None]
    if values is not None:
        sides = [_side(value, s.kind == "map") for value in values]
    unstable = _unstable(matrix, s.kind == "map") if None in sides else sides.count(1)
    repels = 1 in sides or bool(unstable)
    return Spectrum(values, unstable, "repelling" if repels else "attracting" if unstable == 0 else None)


def _eigenvalues(matrix: arb_mat) -> list[acb] | None:
    if matrix.nrows() == 1:
        return [acb(matrix[0, 0])]
    for multiple in (False, True):
        try:
            values = list(acb_mat(matrix).eig(multiple=multiple))
        except ValueError:
            continue
        if all(value.is_finite() for value in values):
            return sorted(values, key=lambda z: (-float(z.abs_upper().mid()), -float(z.imag.mid())))
    return None


def _side(value: acb, on_circle: bool) -> int | None:
    """1 if the multiplier is proved unstable, -1 if stable, None if neither."""
    if on_circle:
        return 1 if value.abs_lower() > 1 else -1 if value.abs_upper() < 1 else None
    return 1 if value.real > 0 else -1 if value.real < 0 else None


def _unstable(matrix: arb_mat, on_circle: bool) -> int | None:
    """Number of unstable eigenvalues by Routh's array of the characteristic polynomial, None where an entry may be 0.

    For a map z = (1 + w)/(1 - w) takes the left half plane to the unit disc first (Gantmacher 1959, vol. 2, ch. XV).
    """
    coefficients = matrix.charpoly().coeffs()
    n = len(coefficients) - 1
    if on_circle:
        plus, minus = arb_poly([1, 1]), arb_poly([1, -1])
        total = sum((a * plus**k * minus ** (n - k) for k, a in enumerate(coefficients)), arb_poly([0]))
        coefficients = [total[k] for k in range(n + 1)]
    upper, lower = coefficients[::-2], coefficients[-2::-2]
    first = [upper[0]]
    while lower:
        first.append(lower[0])
        if lower[0].contains(0):
            return None
        follow = [*lower[1:], *([arb(0)] * (len(upper) - len(lower)))]
        upper, lower = lower, [b - upper[0] / lower[0] * c for b, c in zip(upper[1:], follow, strict=True)]
    if any(a.contains(0) for a in first):
        return None
    return sum(bool(a > 0) != bool(b > 0) for a, b in pairwise(first))


def _column(entries: Sequence[arb]) -> arb_mat:
    return arb_mat(len(entries), 1, list(entries))


def _identity(d: int) -> arb_mat:
    return arb_mat([[arb(i == j) for j in range(d)] for i in range(d)])


def _largest(points: Orbit) -> arb:
    largest = arb(0)
    for point in points:
        for x in point:
            largest = largest.max(abs(x))
    return largest
