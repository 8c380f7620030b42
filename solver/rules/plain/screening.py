"""Refuses most games that are not plain in milliseconds; used before the set-wise method is tried.

It checks some positions near the start for what `tier_kernels.py` proves for whole tiers. A game that fails here would
fail there, but only after its rules were run on symbolic bits, thousands of times if they branch on each bit.
"""

from itertools import islice
from operator import index
from typing import NamedTuple

from retrograde.games.contract.game import MOST_MOVES, UNDECIDED, Game, Traits
from retrograde.solver.rules.examine import is_for_a_stream, start_of

SAMPLE_SIZE = 64
"""The most positions that are checked. They take a few milliseconds."""


class PositionMoves(NamedTuple):
    """A position, its moves, its children by these moves, and the children's tiers."""

    position: int
    moves: list[int]
    children: list[int]
    tiers: list[int]

    def is_like(self, other: "PositionMoves") -> bool:
        """Return whether both positions have the same moves to the same tiers, and each move flips the same bits."""
        difference = self.position ^ other.position
        return (self.moves, self.tiers) == (other.moves, other.tiers) and all(
            child ^ difference == other_child for child, other_child in zip(self.children, other.children, strict=True)
        )


def may_be_plain(game: Game) -> bool:
    """Return False if the game is not for streaming, or a sample of positions shows that its rules are not plain. True
    proves nothing. Errors of the rules are False too: others report them."""
    if not is_for_a_stream(game):
        return False
    start = start_of(game)
    try:
        is_own_image = not Traits.of(game).has_images or not {*game.images(start)} - {start}
        return is_own_image and looks_alike(game, start)
    except Exception:
        return False


def looks_alike(game: Game, start: int) -> bool:
    """Return whether the sampled positions of each tier have the same moves, to the same tiers, flipping the same bits.

    The sample has the first SAMPLE_SIZE positions, ply by ply from *start*. A board on which a taken cell is no move,
    as in tic-tac-toe, does not pass; a column that stays open, as in Connect Four, does.
    """
    wave, unchecked = [start], SAMPLE_SIZE
    while wave and unchecked:
        # The first position seen in each tier, to which the others are compared.
        first: dict[int, PositionMoves] = {}
        next_wave: dict[int, None] = {}
        for position in wave[:unchecked]:
            unchecked -= 1
            if game.primitive(position) == UNDECIDED:
                moves = moves_at(game, position)
                if not moves.is_like(first.setdefault(game.tier(position), moves)):
                    return False
                next_wave.update(dict.fromkeys(moves.children))
        wave = [*next_wave]
    return True


def moves_at(game: Game, position: int) -> PositionMoves:
    """Return the moves and children of a position."""
    moves = [index(move) for move in islice(game.generate_moves(position), MOST_MOVES)]
    children = [index(game.do_move(position, move)) for move in moves]
    return PositionMoves(position, moves, children, [index(game.tier(child)) for child in children])
