"""Symmetry put to the test: a position stands for its images, so that one of them must be worth the same by its own
moves.

Of each record one image other than itself is tried, another one from record to record. It must have the same canonical
position, be over or not as that is, and its children must give the outcome that is stored. And a child must be among
the images of the canonical position that stands for it, for what is stored there is tried for those and no others.
"""

from collections.abc import Callable
from itertools import islice

from retrograde.databases import Outcome
from retrograde.games.game import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, Value
from retrograde.solver.rules.examine import MOST_MOVES, canonical, checked_move, checked_position, checked_value

MOST_IMAGES = 1 << 10
"""Positions that may be equal by symmetry."""
SPREAD = 0x1E3779B97F4A7C15
"""An odd number whose products' upper bits look random."""


def derive(value: Value, children: list[Outcome]) -> Outcome:
    """Return the outcome of a position from its primitive value and its children's outcomes.

    >>> derive(UNDECIDED, [Outcome(WIN, 3), Outcome(LOSE, 4), Outcome(LOSE, 2)])
    Outcome(value=<Value.WIN: 4>, remoteness=3)
    """
    if value != UNDECIDED:
        return Outcome(value, None if value == DRAW else 0)
    plies = {of: [child.remoteness or 0 for child in children if child.value == of] for of in (LOSE, TIE, DRAW, WIN)}
    if plies[LOSE]:
        return Outcome(WIN, 1 + min(plies[LOSE]))
    if plies[TIE]:
        return Outcome(TIE, 1 + min(plies[TIE]))
    return Outcome(DRAW, None) if plies[DRAW] else Outcome(LOSE, 1 + max(plies[WIN]))


def words(outcome: Outcome) -> str:
    """Return an outcome in words.

    >>> words(Outcome(WIN, 3)), words(Outcome(DRAW, None))
    ('WIN in 3', 'DRAW')
    """
    return outcome.value.name if outcome.value == DRAW else f"{outcome.value.name} in {outcome.remoteness}"


def images_of(game: Game, position: int) -> list[int]:
    """Return the distinct images of a position, itself first, in the order in which the rules yield them."""
    return list(dict.fromkeys([position, *islice(game.images(position), MOST_IMAGES)]))


def chosen_image(game: Game, position: int) -> int | None:
    """Return one image of a position other than itself, chosen by the position; None where there is no other."""
    images = images_of(game, position)
    return images[choose(position, len(images))] if len(images) > 1 else None


def choose(position: int, count: int) -> int:
    """Return a number from 1 to *count* - 1 that looks random and depends on the position alone."""
    return 1 + (position * SPREAD >> 33 & 0x7FFFFFFF) % (count - 1)


def fault_of(
    game: Game, position: int, stored: Outcome, image: int, look_up: Callable[[int], Outcome | None],
    text: Callable[[int], str],
) -> str:  # fmt: skip
    """Return what is wrong with an image of a canonical position, in words that follow the position's text.

    Nothing where all is right. *look_up* returns what is stored for a canonical position, and None for nothing.
    """
    name = f"has the image {text(image)}"
    try:
        if game.canonical(image) != position:
            return f"{name}, whose images are others"
        value, moves, children = children_of(game, image)
        if value != game.primitive(position):
            return f"{name}, of which the rules say {value.name}"
        outcomes = [look_up(child) for child in children]
        if None in outcomes:
            child = children[outcomes.index(None)]
            return f"{name}, from where a move leads to {text(child)}, which is not stored"
        derived = derive(value, [outcome for outcome in outcomes if outcome])
        if derived != stored:
            return f"is stored as {words(stored)}, and the children of its image {text(image)} make it {words(derived)}"
        return stray_child(game, image, moves, children, text)
    except Exception as error:  # whatever the rules may raise when asked about what is no position
        return f"{name}, of which {error}"


def children_of(game: Game, position: int) -> tuple[Value, list[int], list[int]]:
    """Return what `examine` does, of any position: by a move and its symmetries the tier may fall from one that is not
    canonical."""
    value = checked_value(game.primitive(position))
    moves = [checked_move(move) for move in islice(game.generate_moves(position), MOST_MOVES)] if not value else []
    reached = [checked_position(game.do_move(position, move), f"do_move(position, {move})") for move in moves]
    return value, moves, [canonical(game, child) for child in reached]


def stray_child(game: Game, position: int, moves: list[int], children: list[int], text: Callable[[int], str]) -> str:
    """Return that a move leads to what is no image of its canonical position, or nothing where none does."""
    for move, child in zip(moves, children, strict=True):
        reached = game.do_move(position, move)
        if reached != child and reached not in images_of(game, child):
            return f"has a move to {text(reached)}, which is no image of {text(child)}, and yet has it for one"
    return ""
