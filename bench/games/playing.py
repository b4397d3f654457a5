"""One episode of a player that is known by its name."""

from bench.games.episode import NotPlayableError, Row, episode
from bench.games.necessity import judged
from bench.games.players import PLAYERS, NotComputableError
from bench.games.telling import PLAIN, told
from bench.games.wrappers import wrapper


def played_by(player: str, game: str, difficulty: int, how: str, seed: int) -> Row | None:
    """The episode; None where the wrapper or the player does not fit the game."""
    try:
        if how == "necessity":
            return judged(game, difficulty, PLAYERS[player](told(game, difficulty, PLAIN), seed), player, seed)
        one = told(game, difficulty, wrapper(how, game, seed).domain)
        return episode(game, difficulty, PLAYERS[player](one, seed), player, seed, how)
    except (NotPlayableError, NotComputableError):
        return None
