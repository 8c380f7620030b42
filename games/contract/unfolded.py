"""A game without its symmetry: positions that are equal by it stay several, for whoever tells them apart.

A policy may play one way in a corner of the board and another way in the opposite one, so that what positions are worth
against it is not the same. Its database holds all of them, by rules that are the game's own but for `images`.
"""

from dataclasses import fields
from functools import cache
from typing import Any, cast

from retrograde.games.contract.game import Game, defines

FOLDED = "_folded"
"""The attribute of a class without symmetry that holds the class it was made of."""


def unfolded(game: Game) -> Game:
    """Return a game whose symmetry does not count; the game itself where it has none.

    >>> from retrograde.games.catalog import load_game
    >>> list(unfolded(load_game("tictactoe")).images(1)), unfolded(load_game("nim")) == load_game("nim")
    ([1], True)
    """
    return with_class(game, class_without_symmetry(cast(Any, type(game)))) if defines(game, "images") else game


def folded(game: Game) -> Game:
    """Return the game that one without symmetry was made of; any other game itself.

    >>> from retrograde.games.catalog import load_game
    >>> folded(unfolded(load_game("tictactoe"))) == load_game("tictactoe")
    True
    """
    return with_class(game, getattr(game, FOLDED)) if hasattr(game, FOLDED) else game


def with_class(game: Game, cls: type[Game]) -> Game:
    """Return a game of another class with the same options."""
    return cls(*(getattr(game, field.name) for field in fields(game)))  # type: ignore[arg-type]  # they are dataclasses


@cache
def class_without_symmetry(cls: type[Game]) -> type[Game]:
    """Return a class of games that are the same but for their symmetry: one, so that it is compiled once."""
    members = {
        "images": Game.images, FOLDED: cls, "name": cls.name, "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
    }  # fmt: skip
    return type(cls.__name__, (cls,), members)
