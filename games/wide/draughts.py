"""The whole game of English draughts (checkers), from its start: the rules of the endings, with up to 24 pieces.

A position has two words. As in `games/draughts/board.py`, the squares are numbered as the player to move sees them::

    48        47 … 32        31 … 0             47 … 32         31 … 0
    colour    lower kings    own pieces         upper kings     the other player's pieces

`tier` and `index` of a position of up to eight pieces are those of the endings, so that searches find it in their
databases.
"""

from functools import cached_property

from retrograde.games.contract.game import LOSE, UNDECIDED, Game
from retrograde.games.draughts.board import SQUARES, number, packed
from retrograde.games.draughts.moves import CAPTURES, WAYS
from retrograde.games.draughts.rules import Draughts
from retrograde.games.draughts.sides import MOST_PIECES

HALF, COLOUR = 16, 48


class WholeDraughts(Draughts):
    """Capture or block all pieces of the other player."""

    name = "draughts"
    title = "Draughts"
    example = ""
    words = {"b": "Black", "w": "White", "B": "black king", "W": "white king"}

    pieces: str = "all"

    # There are too many positions to number.
    images, canonical, parents = Game.images, Game.canonical, Game.parents
    unindex, parts, family = Game.unindex, Game.parts, Game.family

    def __post_init__(self):
        if self.rows in (6, 8) and self.pieces.strip() in ("all", str(self.most_pieces)):
            object.__setattr__(self, "pieces", "all")
        elif self.pieces == "all":
            raise ValueError(f"rows={self.rows}; the whole game has 8 or 6 rows, and on 4 it is draughts:4,4")
        elif self.pieces.strip().isdecimal() and self.rows in (4, 6, 8):
            many = f"2 to {MOST_PIECES}, leave it out for the whole game"
            raise ValueError(f"pieces={self.pieces}; say {many}, or name them, as in KKvKM")
        else:
            Draughts(self.pieces, self.rows)  # raises what is wrong

    @property
    def most_pieces(self):  # type: ignore[override]  # one number in the endings
        return self.width * (self.rows - 2)

    @property
    def start(self):
        """The first position: Black to move."""
        own = (1 << self.most_pieces // 2) - 1
        return self.from_sets(1, own, self.turned(own), 0)

    # The encoding

    def sets(self, position):
        kings = position[0] >> 32 & (1 << HALF) - 1 | position[1] >> 32 << HALF
        return position[0] & SQUARES, position[1] & SQUARES, kings

    def from_sets(self, colour, own, other, kings):
        return own | (kings & (1 << HALF) - 1) << 32 | colour << COLOUR, other | kings >> HALF << 32

    # The rules

    def generate_moves(self, position):
        """Yield a piece's square, its number of captures and its ways; captures are compulsory."""
        own, other, kings = self.sets(position)
        empty = self.all ^ own ^ other
        capturing = self.capturing(own, other, kings)
        for way in range(0 if capturing else 4):
            targets = self.step(own & kings if way > 1 else own, way) & empty
            while targets:
                yield number(self.step(targets & -targets, 3 - way)) | way << WAYS
                targets &= targets - 1
        # Captures: depth-first search over the paths of each piece, as in `games/draughts/moves.py`.
        while capturing:
            origin = capturing & -capturing
            capturing ^= origin
            at, taken, path, depth, way, goes_on = origin, 0, 0, 0, 0, False
            ways = 4 if kings & origin else 2
            while depth or way < ways:
                over = self.step(at, way) & other & ~taken if way < ways else 0
                to = self.step(over, way) & (empty | origin)
                if to:
                    at, taken, path, depth, way, goes_on = to, taken | over, path << 2 | way, depth + 1, 0, False
                    if ways == 2 and at & self.last_row:
                        way = ways  # crowned, and the move ends
                elif way < ways:
                    way += 1
                else:
                    if not goes_on:
                        yield number(origin) | depth << CAPTURES | path << WAYS
                    way = path & 3
                    over = self.step(at, 3 - way)
                    at, taken, path, depth = self.step(over, 3 - way), taken ^ over, path >> 2, depth - 1
                    way, goes_on = way + 1, True

    def do_move(self, position, move):
        """Return the position after a step or a series of captures."""
        own, other, kings = self.sets(position)
        at = 1 << (move & 31)
        own, is_king = own ^ at, kings & at
        kings ^= is_king
        captures = move >> CAPTURES & 15
        if captures == 0:
            at = self.step(at, move >> WAYS)
        for turn in range(captures - 1, -1, -1):
            way = move >> WAYS + 2 * turn & 3
            over = self.step(at, way)
            other, kings = other ^ over, kings & ~over
            at = self.step(over, way)
        if is_king or at & self.last_row:
            kings |= at
        colour = position[0] >> COLOUR ^ 1
        return self.from_sets(colour, self.turned(other), self.turned(own | at), self.turned(kings))

    def primitive(self, position):
        own, other, kings = self.sets(position)
        return UNDECIDED if self.can_move(own, other, kings) else LOSE

    def tier(self, position):
        """Return the tier of an ending, or a negative number: the more pieces, the lower."""
        own, other, kings = self.sets(position)
        pieces = (own | other).bit_count()
        return MOST_PIECES - pieces if pieces > MOST_PIECES else super().tier(packed(0, own, other, kings))

    # The databases of endings

    @cached_property
    def probed_game(self):
        """The game of all endings, whose databases a search may probe."""
        return Draughts(str(MOST_PIECES), self.rows)

    def as_probed(self, position):
        """Return a position of up to eight pieces as one of the endings."""
        own, other, kings = self.sets(position)
        return packed(position[0] >> COLOUR, own, other, kings)

    def index(self, position):
        return super().index(self.as_probed(position))

    # For people

    def variant_title(self):
        return "Draughts" if self.rows == 8 else f"Draughts, {self.rows} rows"

    def draw_turn(self, position):
        return "wb"[position[0] >> COLOUR]
