"""From a game without a database to who answers for it: its book, if there is one, and a search beyond."""

from retrograde.games.game import Game
from retrograde.solver.oracles.searching import SECONDS, SearchingOracle
from retrograde.solver.search.searcher import TABLE_SIZE


def searching_oracle(game: Game, seconds: float = SECONDS, workers: int = 1, size: int = TABLE_SIZE) -> SearchingOracle:
    """Return an oracle for a game that has no database: what its book says, and else what is searched."""
    return SearchingOracle(game, seconds, workers, size)
