"""Calls the rules a second time after a game is explored, interpreted, and compares the answers.

The interpreted method (`solver/interpreted.py`) calls `check_consistency` when it has explored a game: the rules must
repeat themselves, images and slots must agree, and `parents` must be the inverse of `do_move`. The compiled methods use
`blame_parents` and `check_index` to describe a fault that they have found.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from operator import index
from typing import Any, NoReturn

from retrograde.games.catalog import variant
from retrograde.games.contract.game import UNDECIDED, Game, RuleError, Traits, Value
from retrograde.solver.rules.examine import Fault, blame, canonical, checked_position, examine
from retrograde.solver.rules.images import check_image

SAMPLE = 400
"""The most positions that are checked again."""
IMAGES = 100
"""The most of these that are compared with an image."""


def check_consistency(game: Game, children: dict[int, list[int]], values: dict[int, Value]) -> None:
    """Call the rules again for a sample of positions, and raise RuleError if an answer differs.

    *children* has the distinct children of all positions, *values* the values of the primitive ones.
    """
    # Every k-th position, so that at most SAMPLE are checked. -(-a // b) rounds up.
    traits = Traits.of(game)
    sample = list(children)[:: -(-len(children) // SAMPLE)]
    for number, position in enumerate(sample):
        value, moves, reached = examine(game, position)
        if value != values.get(position, UNDECIDED) or list(dict.fromkeys(reached)) != children[position]:
            what = "the rules say one thing, and another when asked again; they must depend on the position alone"
            raise RuleError(f"{variant(game)}, position {position}: {what}")
        if number % -(-len(sample) // IMAGES) == 0:
            check_image(game, position)
        for move in moves if traits.is_numbered else ():
            check_index(game, position, game.do_move(position, move))
    if traits.has_parents:
        check_parents(game, children, values, sample)


def check_parents(game: Game, children: dict[int, list[int]], values: dict[int, Value], sample: Iterable[int]) -> None:
    """Raise RuleError unless `parents` yields, for a sample of positions, just the positions with a move there.

    *children* and *values* are those of `check_consistency`.
    """
    parents_of: dict[int, set[int]] = {position: set() for position in sample}
    for parent, reached in children.items():
        for child in reached:
            if child in parents_of and game.tier(child) == game.tier(parent):
                parents_of[child].add(parent)
    for position, expected in parents_of.items():
        # Only explored positions in which the game goes on count as parents.
        given = {parent for parent in own_parents(game, position) if parent in children and parent not in values}
        with blame(game, position):
            for parent in given - expected:
                raise Fault(f"parents() yields {parent}, from which no move leads here")
            for parent in expected - given:
                raise Fault(f"parents() does not yield {parent}, from which a move leads here")


def by_tier(game: Game, positions: Iterable[int]) -> dict[int, list[int]]:
    """Return lists of positions by tier; `examine` has checked their tiers."""
    tiers: defaultdict[int, list[int]] = defaultdict(list)
    for position in positions:
        tiers[index(game.tier(position))].append(position)
    return tiers


def blame_parents(game: Game, child: int, is_stored: Callable[[int], bool], tier_positions: Iterable[int]) -> NoReturn:
    """Raise the RuleError that says which parent of a position, or of one in its tier, is wrong or missing.

    Only parents for which *is_stored* is true count. A missing one is searched among *tier_positions*.
    """
    for parent in own_parents(game, child):
        if is_stored(parent) and game.primitive(parent) == UNDECIDED and child not in examine(game, parent)[2]:
            what = f"parents() yields {parent}, from which no move leads here"
            raise RuleError(f"{variant(game)}, position {child}: {what}")
    tier = game.tier(child)
    for parent in tier_positions:
        for reached in dict.fromkeys(examine(game, parent)[2]):
            if game.tier(reached) == tier and parent not in own_parents(game, reached):
                what = f"parents() does not yield {parent}, from which a move leads here"
                raise RuleError(f"{variant(game)}, position {reached}: {what}")
    what = "parents() does not yield just the positions of its tier from which a move leads here"
    raise RuleError(f"{variant(game)}, position {child}: {what}")


def own_parents(game: Game, position: int) -> list[int]:
    """Return the distinct canonical parents that `parents` yields for a position and that lie in its tier."""
    with blame(game, position):
        given = [canonical(game, checked_position(game, parent, "parents()")) for parent in game.parents(position)]
        return [parent for parent in dict.fromkeys(given) if game.tier(parent) == game.tier(position)]


def check_index(game: Any, parent: int, child: int) -> None:
    """Raise RuleError unless a child of *parent* has the same slot as its canonical position."""
    canonical = game.canonical(child)
    if canonical == child:
        return
    slot, other = game.index(child), game.index(canonical)
    if slot != other:
        what = f"index({child}) gives {slot}, and {other} for {canonical}, which is the same by symmetry"
        raise RuleError(f"{variant(game)}, position {parent}: {what}")
