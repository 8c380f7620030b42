"""Endings of draughts (English checkers) of two to eight pieces, on 6 × 6 to ten: KKvK, KMvM and so on.

Men move forward diagonally, kings backward as well, one square at a time. A player who can capture must capture, and
chooses which way. A capture goes on as long as the piece can capture again. A man that reaches the last row is crowned,
and the move ends. A player who cannot move loses, also with no piece left. The rules have no draws: play that goes on
for ever is a draw.

The game has no first position, except on 4 × 4: every placement counts. `size`, `index` and `unindex` number positions
tier by tier. Positions and tiers mean the same in all variants with the same number of rows; `pieces` only decides
which there are.

Modules: `board` encodes positions, `moves` moves pieces, `sides` has the tiers, `numbering` numbers positions.
"""

from retrograde.games.contract.game import LOSE, UNDECIDED
from retrograde.games.draughts import sides
from retrograde.games.draughts.board import packed
from retrograde.games.draughts.numbering import Numbering

# Modules that only people need are imported where they are used; solving needs none of them


class Draughts(Numbering):
    """Capture or block all pieces of the other player. `pieces=KKvK` is two kings against one, `pieces=4` any four."""

    name = "draughts"
    title = "Draughts endings"
    words = {"w": "White", "b": "Black", "W": "white king", "B": "black king"}
    example = "KKvK"
    has_ties = False

    def __post_init__(self):
        if self.rows not in (4, 6, 8):
            raise ValueError(f"rows={self.rows}; the board must have 4, 6 or 8 rows")
        if not self.pieces.strip().isdecimal():
            object.__setattr__(self, "pieces", sides.ending(self.pieces, self.rows))  # fields are frozen
        elif 2 <= int(self.pieces) <= self.most_pieces:
            object.__setattr__(self, "pieces", str(int(self.pieces)))
        else:
            raise ValueError(f"pieces={self.pieces}; say 2 to {self.most_pieces}, or name them, as in KKvKM")
        if not self.pieces.isdecimal() and not self.has_room():
            raise ValueError(f"there is no room for {self.pieces} on {self.rows} rows")

    def has_room(self):
        """Return whether the ending has a position."""
        first, second = sides.two_sides(self.pieces)
        return any(self.size(sides.tier_of(first, second, at)) for at in sides.advances(first, second, self.rows))

    @property
    def start(self):
        """The first position of the whole game, Black to move; only the one on 4 × 4 has few enough pieces."""
        men = self.width * (self.rows // 2 - 1)
        own = (1 << men) - 1
        if 2 * men > self.most_pieces or self.tier(start := packed(1, own, self.turned(own), 0)) not in self.tiers:
            raise AttributeError("start")  # as in every ending
        return start

    def primitive(self, position):
        own, other, kings = self.sets(position)
        return UNDECIDED if self.can_move(own, other, kings) else LOSE

    # Hints

    feature_weights = (100, 140, 2, 10)

    def features(self, position):
        """Return the leads in men, kings, rows of men, and men on the first row, who stop the opponent's crowning."""
        own, other, kings = self.sets(position)
        men, theirs = own & ~kings, self.turned(other & ~kings)
        first = (1 << self.width) - 1
        return (
            men.bit_count() - theirs.bit_count(),
            (own & kings).bit_count() - (other & kings).bit_count(),
            self.sum_of_rows(men) - self.sum_of_rows(theirs),
            (men & first).bit_count() - (theirs & first).bit_count(),
        )

    def quiet(self, position):
        """Return whether the player to move has no capture."""
        own, other, kings = self.sets(position)
        return not self.capturing(own, other, kings)

    # For people

    @property
    def most_pieces(self):
        """The greatest number of pieces of an ending."""
        return sides.most_pieces(self.rows)

    def variant_title(self):
        """Return the pieces in words: `Two kings against king and man`."""
        from retrograde.games.draughts.words import in_words

        return in_words(self.pieces, self.rows)

    def ending(self, position):
        """Return how the game has ended."""
        return "no move is left" if self.sets(position)[0] else "no piece is left"

    def pgn(self, position, moves, players, finished, resigned=False):
        """Return a game from a position as PDN; *players* are the names of the first and the second player."""
        from retrograde.games.draughts.record import pdn

        return pdn(self, position, moves, players, finished, resigned)

    def tier_name(self, tier):
        """Return the name of an ending, and how far its men have advanced."""
        return sides.name_of(tier)

    def write(self, position):
        """Return a position in PDN: `W:W18,K24:B12,K10`."""
        from retrograde.games.draughts.pdn import write

        return write(self, position)

    def read(self, text):
        """Return the position of a PDN text; the sides may be in any order, and have ranges of squares."""
        from retrograde.games.draughts.pdn import read

        return read(self, text)

    def show(self, position):
        from retrograde.games.draughts.pdn import picture

        return picture(self, position)

    def move_name(self, position, move):
        """Return a move in PDN: `11-15`, or all squares of a capture, `22x15x8`."""
        from retrograde.games.draughts.pdn import move_name

        return move_name(self, position, move)

    def move(self, position, text):
        """Return the move of a PDN text; for a capture, the first and the last square may suffice."""
        from retrograde.games.draughts.pdn import parse

        return parse(self, position, text)

    def draw_board(self):
        from retrograde.games.draughts.words import drawn

        return drawn(self.rows)

    def draw_pieces(self, position):
        from retrograde.games.draughts.pdn import cells

        return cells(self, position)

    def draw_turn(self, position):
        return "wb"[self.colour(position)]

    def draw_move(self, position, move):
        """Return the cells of a piece during a move, its origin included."""
        from retrograde.games.draughts.pdn import cell, path

        return tuple(cell(self, square) for square in path(self, position, move))

    def draw_steps(self, position, move):
        """Return the same cells one by one, as a king may reach them in another order."""
        return tuple((place,) for place in self.draw_move(position, move))

    def read_pieces(self, pieces, turn):
        from retrograde.games.draughts.pdn import read_cells

        return read_cells(self, pieces, turn)
