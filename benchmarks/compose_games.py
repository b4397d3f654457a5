"""Compose the catalogue of games anew: the same bytes as the one that is kept, in some minutes of processor time.

python -m benchmarks.compose_games > bench/games/catalogue.jsonl
"""

from joblib import Parallel, delayed

from bench.games.catalogue import Game, game_line
from bench.games.composing import chosen, composed
from bench.games.grammar import MODES, STRUCTURES


def cell(structure: str, mode: str) -> list[Game]:
    return list(composed(structure, mode))


def main() -> None:
    cells = Parallel(n_jobs=-1)(delayed(cell)(structure, mode) for structure in STRUCTURES for mode in MODES)
    for game in chosen(game for games in cells for game in games):
        print(game_line(game))


if __name__ == "__main__":
    main()
