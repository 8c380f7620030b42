"""Checks the symmetry that `images` declares: symmetric positions must have the same value and symmetric moves.

The solver stores one position of each set that images() makes equal. It assumes that the others have the same value
and, by symmetry, the same moves. Only a check of all positions with all their images would prove that; this module
checks a sample.
"""

from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Any

import numpy as np

from retrograde.games.contract.game import MOST_IMAGES, MOST_MOVES, UNDECIDED, Game, Traits
from retrograde.solver.rules.examine import Fault, blame, canonical, checked_position, checked_value, examine, key_of

SAMPLE_SIZE = 16
"""The most positions in the sample from which `mean_size` takes a mean."""


def check_image(game: Game, position: int) -> None:
    """Raise RuleError if a canonical position differs from one of its images in value, turn or moves."""
    if not Traits.of(game).has_images:
        return
    value, _, children = examine(game, position)
    with blame(game, position):
        if (least := canonical(game, position)) != position:
            raise Fault(f"the solver would store {least}, its image, instead of it; images() or unindex() is wrong")
        others = images_of(game, position)
        if not others:
            return
        # The position seeds the choice, so that a fault can be reproduced.
        image = Random(key_of(position)).choice(others)
        if (least := canonical(game, image)) != position:
            what = "images() must yield all symmetric positions"
            raise Fault(f"images() yields {image}, instead of which the solver would store {least}; {what}")
        image_value = checked_value(game.primitive(image))
        if image_value != value:
            raise Fault(f"images() yields {image}, which is {image_value.name}, and this is {value.name}")
        if Traits.of(game).has_turn and game.turn(image) != game.turn(position):
            raise Fault(f"images() yields {image}, where another is to move; symmetric positions have the same turn()")
        if value == UNDECIDED and canonical_children(game, image) != set(children):
            what = "symmetric positions must have symmetric moves"
            raise Fault(f"images() yields {image}, from which moves lead elsewhere; {what}")


def canonical_children(game: Game, position: int) -> set[int]:
    """Return the canonical children of any position."""
    moves = islice(game.generate_moves(position), MOST_MOVES)
    return {canonical(game, checked_position(game, game.do_move(position, move), "do_move()")) for move in moves}


def images_of(game: Game, position: int) -> list[int]:
    """Return the other positions equal to one by symmetry, ascending.

    >>> from retrograde.games.catalog import load_game
    >>> images_of(load_game("tictactoe"), 1)
    [4, 64, 256]
    """
    others = set()
    for image in game.images(position):
        others.add(checked_position(game, image, "images()"))
        if len(others) >= MOST_IMAGES:
            raise Fault(f"images() yields {MOST_IMAGES:,} positions or more; not so many can be equal by symmetry")
    return sorted(others - {position})


def mean_size(game: Game, positions: "np.ndarray[Any, Any] | Sequence[int]") -> float:
    """Return the mean number of positions symmetric to one of *positions*, itself included, from a sample."""
    if not Traits.of(game).has_images or not len(positions):
        return 1.0
    indices = np.linspace(0, len(positions) - 1, min(SAMPLE_SIZE, len(positions))).astype(np.int64)
    sample: Sequence[Any] = [positions[k] for k in indices]
    sample = sample if Traits.of(game).width else [*map(int, sample)]
    try:
        return sum(len({position, *islice(game.images(position), MOST_IMAGES)}) for position in sample) / len(sample)
    except Exception:  # other checks report broken rules
        return 1.0
