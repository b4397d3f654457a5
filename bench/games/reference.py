"""The reference player of games over dynamics."""

from collections.abc import Mapping, Sequence

from bench.games.dynamics import INDICATORS, DynamicsGame
from bench.rendering import printed


class Reference:
    """The reference player: bisection of a range; of a list, one indicator after another until one answer is left."""

    def __init__(self, game: DynamicsGame) -> None:
        self.game = game

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The next query, or the answer."""
        seen = [m["content"].removeprefix("Observation: ") for m in messages[1:] if m["role"] == "user"]
        asked = [m["content"] for m in messages if m["role"] == "assistant"]
        return self._bisected(asked, seen) if self.game.asked == "threshold" else self._identified(seen)

    def _bisected(self, asked: Sequence[str], seen: Sequence[str]) -> str:
        lo, hi = self.game.range
        for query, regime in zip(asked, seen, strict=True):
            value = float(query.removeprefix("<query_regime>").removesuffix("</query_regime>"))
            lo, hi = (value, hi) if regime == self.game.sides[0] else (lo, value)
        if hi - lo <= self.game.tolerance * (1 + 1e-9):
            return f"<submit>{printed(lo)},{printed(hi)}</submit>"
        return f"<query_regime>{printed((lo + hi) / 2)}</query_regime>"

    def _identified(self, seen: Sequence[str]) -> str:
        left = [i for i, one in enumerate(self.game.candidates) if all(map(_agrees, one.indicators, seen))]
        answers = {self.game.answers[i] for i in left}
        if len(answers) == 1 or len(seen) == len(INDICATORS):
            return f"<submit>{min(answers or set(self.game.answers))}</submit>"
        return f"<query_indicator>{INDICATORS[len(seen)]}</query_indicator>"


def _agrees(figure: tuple[float | None, float, str], text: str) -> bool:
    value, half, _ = figure
    shown, plus_minus, error = text.partition(" ± ")
    if value is None or not plus_minus:
        return value is None and not plus_minus
    return abs(value - float(shown)) <= half + float(error)
