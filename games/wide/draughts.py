"""The whole game of English draughts (checkers), from its start: the rules of the endings, with up to 24 pieces.

A position has two words. As in `games/draughts/board.py`, the squares are numbered as the player to move sees them::

    48        47 … 32        31 … 0             47 … 32         31 … 0
    colour    lower kings    own pieces         upper kings     the other player's pieces

`tier` and `index` of a position of few enough pieces are those of the endings, so that searches find it in their
databases.
"""

from functools import cached_property

from retrograde.games.contract.game import Game
from retrograde.games.draughts.board import SQUARES, packed
from retrograde.games.draughts.rules import Draughts
from retrograde.games.draughts.sides import BOTH, SPAN, ZERO, most_pieces

HALF, COLOUR = 16, 48


class WholeDraughts(Draughts):
    """Capture or block all pieces of the other player."""

    name = "draughts"
    title = "Draughts"
    example = ""
    words = {"b": "Black", "w": "White", "B": "black king", "W": "white king"}

    pieces: str = "all"

    # There are too many positions to number.
    images, canonical, multiplicity = Game.images, Game.canonical, Game.multiplicity
    unindex, parts, family = Game.unindex, Game.parts, Game.family

    def __post_init__(self):
        if self.rows in (6, 8) and self.pieces.strip() in ("all", str(self.most_pieces)):
            object.__setattr__(self, "pieces", "all")
        elif self.pieces == "all":
            raise ValueError(f"rows={self.rows}; the whole game has 8 or 6 rows, and on 4 it is draughts:4,4")
        elif self.pieces.strip().isdecimal() and self.rows in (4, 6, 8):
            many = f"2 to {most_pieces(self.rows)}, leave it out for the whole game"
            raise ValueError(f"pieces={self.pieces}; say {many}, or name them, as in KKvKM")
        else:
            Draughts(self.pieces, self.rows)  # raises what is wrong

    @property
    def most_pieces(self):
        return self.width * (self.rows - 2)

    @property
    def start(self):
        """The first position: Black to move."""
        own = (1 << (self.most_pieces // 2)) - 1
        return self.from_sets(1, own, self.turned(own), 0)

    # The encoding

    def colour(self, position):
        return position[0] >> COLOUR

    def sets(self, position):
        kings = ((position[0] >> 32) & ((1 << HALF) - 1)) | ((position[1] >> 32) << HALF)
        return position[0] & SQUARES, position[1] & SQUARES, kings

    def from_sets(self, colour, own, other, kings):
        return own | ((kings & ((1 << HALF) - 1)) << 32) | (colour << COLOUR), other | ((kings >> HALF) << 32)

    # The databases of endings

    def tier(self, position):
        """Return the tier of an ending, or a negative number: the more pieces, the lower."""
        own, other, kings = self.sets(position)
        pieces = (own | other).bit_count()
        if pieces > most_pieces(self.rows):
            return (SPAN * (ZERO - pieces)) << BOTH
        return super().tier(packed(0, own, other, kings))

    @cached_property
    def probed_game(self):
        """The game of all endings, whose databases a search may probe."""
        return Draughts(str(most_pieces(self.rows)), self.rows)

    def as_probed(self, position):
        """Return a position of few enough pieces as one of the endings."""
        own, other, kings = self.sets(position)
        return packed(self.colour(position), own, other, kings)

    def index(self, position):
        return super().index(self.as_probed(position))

    # For people

    def variant_title(self):
        return "Draughts" if self.rows == 8 else f"Draughts, {self.rows} rows"
