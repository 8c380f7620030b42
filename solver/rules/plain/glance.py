"""A glance at a few positions near the start, which tells of most games at once that no set of theirs is carried along.

What is asked of a tier (see rules.py) is asked here of the positions of one that are met first, as the numbers that
they are: whoever fails here would fail there, after rules have been run on bits that are not known, thousands of times
if they branch on each of them.
"""

from itertools import islice
from operator import index
from typing import NamedTuple

from retrograde.games.contract.game import MOST_MOVES, UNDECIDED, Game, defines
from retrograde.solver.rules.examine import is_for_a_stream, start_of

LOOKED_AT = 64
"""Positions that are looked at, at most: a few milliseconds."""


class Seen(NamedTuple):
    """A position, its moves, the children by them, and the tiers of these."""

    position: int
    moves: list[int]
    children: list[int]
    tiers: list[int]

    def is_like(self, other: "Seen") -> bool:
        """Tell whether moves lead to the same tiers, and write the same bits into both positions."""
        apart = self.position ^ other.position
        return (self.moves, self.tiers) == (other.moves, other.tiers) and all(
            child ^ apart == one for child, one in zip(self.children, other.children, strict=True)
        )


def may_be_plain(game: Game) -> bool:
    """Tell whether a game is one for a stream, from a position that is its own image, and no two positions of a tier
    are seen of which moves are not the same, or do not write the same constants into both.

    Where rules raise anything, it is left to others to say so.
    """
    if not is_for_a_stream(game):
        return False
    start = start_of(game)
    try:
        own_image = not defines(game, "images") or not {*game.images(start)} - {start}
        return own_image and looks_alike(game, start)
    except Exception:
        return False


def looks_alike(game: Game, start: int) -> bool:
    """Tell whether moves are alike in the positions of each tier of the first waves, as far as these are looked at."""
    wave, left = [start], LOOKED_AT
    while wave and left:
        first: dict[int, Seen] = {}
        ahead: dict[int, None] = {}
        for position in wave[:left]:
            left -= 1
            if game.primitive(position) == UNDECIDED:
                seen = look_at(game, position)
                if not seen.is_like(first.setdefault(game.tier(position), seen)):
                    return False
                ahead.update(dict.fromkeys(seen.children))
        wave = [*ahead]
    return True


def look_at(game: Game, position: int) -> Seen:
    """Return what is seen of a position."""
    moves = [index(move) for move in islice(game.generate_moves(position), MOST_MOVES)]
    children = [index(game.do_move(position, move)) for move in moves]
    return Seen(position, moves, children, [index(game.tier(child)) for child in children])
