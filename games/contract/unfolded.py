"""A game without its symmetry: symmetric positions stay separate positions.

A policy may play one way in a corner of the board and another way in the opposite corner. Then symmetric positions have
different values against it, and its database must hold all of them. The rules are the game's own, except that `images`
yields only the position itself.
"""

from dataclasses import fields
from functools import cache
from typing import Any, cast

from retrograde.games.contract.game import Game, Traits

FOLDED = "_folded"
"""The attribute of a class without symmetry that holds the original class."""


def unfolded(game: Game) -> Game:
    """Return the game without its symmetry; the game itself if it has none.

    >>> from retrograde.games.catalog import load_game
    >>> list(unfolded(load_game("tictactoe")).images(1)), unfolded(load_game("nim")) == load_game("nim")
    ([1], True)
    """
    return with_class(game, class_without_symmetry(cast(Any, type(game)))) if Traits.of(game).has_images else game


def folded(game: Game) -> Game:
    """Return the original of a game without symmetry; any other game itself.

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
    """Return a subclass without symmetry. It is cached, so that it is compiled only once."""
    members = {
        "images": Game.images, FOLDED: cls, "name": cls.name, "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
    }  # fmt: skip
    return type(cls.__name__, (cls,), members)
