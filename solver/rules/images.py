"""Symmetry held against the rules: what they say of a position they must say of its images.

The solver keeps one of the positions that images() makes equal, and takes the others to have its value and, by
symmetry, its moves. To prove that, all positions would have to be looked at with all their images; a sample is.
"""

from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Any

import numpy as np

from retrograde.games.contract.game import MOST_IMAGES, MOST_MOVES, UNDECIDED, Game, defines, width_of
from retrograde.solver.rules.examine import (
    Fault,
    blame,
    canonical,
    checked_position,
    checked_value,
    examine,
    key_of,
)

SOME = 16
"""Positions that stand for all, where only a mean is wanted."""


def check_image(game: Game, position: int) -> None:
    """Hold a canonical position against one of its images, whichever falls to it; raise RuleError where they differ."""
    if not defines(game, "images"):
        return
    value, _, children = examine(game, position)
    with blame(game, position):
        if (least := canonical(game, position)) != position:
            raise Fault(f"it is kept for {least}, its image, which is less; images() or unindex() is wrong")
        others = images_of(game, position)
        if not others:
            return
        image = Random(key_of(position)).choice(others)
        if (least := canonical(game, image)) != position:
            what = "yield of each position all symmetric ones"
            raise Fault(f"images() yields {image}, for which {least} is kept, and not this one; {what}")
        image_value = checked_value(game.primitive(image))
        if image_value != value:
            raise Fault(f"images() yields {image}, which is {image_value.name}, and this is {value.name}")
        if defines(game, "turn") and game.turn(image) != game.turn(position):
            raise Fault(f"images() yields {image}, where another is to move; symmetric positions have the same turn()")
        if value == UNDECIDED and canonical_children(game, image) != set(children):
            what = "symmetric positions must have symmetric moves"
            raise Fault(f"images() yields {image}, from which moves lead elsewhere; {what}")


def canonical_children(game: Game, position: int) -> set[int]:
    """Return the canonical children of a position, canonical or not."""
    moves = islice(game.generate_moves(position), MOST_MOVES)
    return {canonical(game, checked_position(game, game.do_move(position, move), "do_move()")) for move in moves}


def images_of(game: Game, position: int) -> list[int]:
    """Return the positions equal to one by symmetry, ascending, without itself."""
    others = set()
    for image in game.images(position):
        others.add(checked_position(game, image, "images()"))
        if len(others) >= MOST_IMAGES:
            raise Fault(f"images() yields {MOST_IMAGES:,} positions or more; not so many can be equal by symmetry")
    return sorted(others - {position})


def mean_size(game: Game, positions: "np.ndarray[Any, Any] | Sequence[int]") -> float:
    """Return how many positions are equal by symmetry to one of some, itself counted: the mean of a few of them."""
    if not defines(game, "images") or not len(positions):
        return 1.0
    places = np.linspace(0, len(positions) - 1, min(SOME, len(positions))).astype(np.int64)
    some: Sequence[Any] = [positions[k] for k in places]
    some = some if width_of(game) else [*map(int, some)]
    try:
        return sum(len({position, *islice(game.images(position), MOST_IMAGES)}) for position in some) / len(some)
    except Exception:  # rules that are broken are told of where they are checked
        return 1.0
