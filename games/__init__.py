"""Rules, and nothing but the rules: the contract (`game`), the games, and the catalog that finds them by name."""

import sys
from collections.abc import Iterator
from types import ModuleType

from retrograde.games.contract.fields import Cells, Flag, Number, Numbers, Turn
from retrograde.games.contract.game import (
    CHANCE,
    DRAW,
    FLIPPED,
    LOSE,
    METRICS,
    TIE,
    UNDECIDED,
    WIN,
    Game,
    MoveError,
    PositionError,
    RetrogradeError,
    RuleError,
    Value,
    VariantError,
)

__all__ = [
    "CHANCE",
    "DRAW",
    "FLIPPED",
    "LOSE",
    "METRICS",
    "TIE",
    "UNDECIDED",
    "WIN",
    "Cells",
    "Flag",
    "Game",
    "MoveError",
    "Number",
    "Numbers",
    "PositionError",
    "RetrogradeError",
    "RuleError",
    "Turn",
    "Value",
    "VariantError",
    "load",
    "names",
]


def names() -> list[str]:
    """Return the names of all games that need no path: built-in games, and those of other installed distributions.

    >>> "connect4" in names()
    True
    """
    from retrograde.games.catalog import game_names  # rules need no catalog

    return game_names()


def load(variant: str) -> Game:
    """Return the game for the text of a variant or for the path of a rule file.

    >>> load("connect4:5,4")
    Connect4(width=5, height=4, connect=4)
    """
    from retrograde.games.catalog import load_game

    return load_game(variant)


def game_html(game: Game) -> str:
    """Return a game's title and a picture of its start as HTML, for notebooks."""
    from retrograde.games.contract.picture import titled_html  # rules need no pictures
    from retrograde.games.contract.raised import given_start

    return titled_html(game, given_start(game))


Game._repr_html_ = game_html


class Games(ModuleType):
    """This package, callable and iterable: `retrograde.games()` returns the names of its games."""

    def __call__(self) -> list[str]:
        return names()

    def __iter__(self) -> Iterator[str]:
        return iter(names())


sys.modules[__name__].__class__ = Games
