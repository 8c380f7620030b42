"""Chess endgames of two to five men, and of six without pawns, exact to the mate: KRK, KBNK, KPKP and all their kin.

The rules are those of chess without castling, and without the fifty-move rule and repetition, which distances to mate
leave aside. The game is over by mate; by stalemate; and where no sequence of moves whatever leads to a mate, because
there are bare kings, or one bishop or knight besides, or only bishops on squares of one colour. (Dead positions with
blocked pawns go on, as drawn ones.) An end without a winner is a DRAW like any other.

There is no first position: every legal placement counts, and `size`, `index` and `unindex` number them tier by tier. A
tier is an ending, whatever the variant: positions and tiers mean the same in `chess:KRK` and `chess:KRKN`; what variant
it is decides nothing but which endings `read` takes. `board` has the encoding of positions, `moves` how men move,
`numbering` the numbering.
"""

from functools import cached_property

from retrograde.games.chess import men
from retrograde.games.chess.board import PLACES, code_at
from retrograde.games.chess.men import ALWAYS_DEAD, BISHOP, BISHOPS_ONLY
from retrograde.games.chess.numbering import Numbering
from retrograde.games.contract.game import DRAW, LOSE, UNDECIDED, WIN

# What decides nothing is imported where it is used


class Chess(Numbering):
    """Mate the king; `material` names the men of both sides, as in KRKN, and endings that may follow belong to it."""

    name = "chess"
    title = "Chess endgames"
    words = {"K": "White", "k": "Black"}
    example = "KRK"

    @cached_property
    def dead_table(self):
        return men.dead_table()

    def primitive(self, position):
        if self.is_dead(position):
            return DRAW
        if self.can_move(position):
            return UNDECIDED
        return LOSE if self.in_check(position) else DRAW

    def is_dead(self, position):
        """Tell whether the men that are left can give no mate."""
        dead = self.dead_table[self.row(self.tier(position))]
        if dead != BISHOPS_ONLY:
            return dead == ALWAYS_DEAD
        light = dark = False
        for place in PLACES:
            if code_at(position, place) & 7 == BISHOP:
                square = position >> place & 63
                is_dark = (square ^ square >> 3) & 1 == 0
                dark = dark or is_dark
                light = light or not is_dark
        return not (light and dark)

    # Databases

    def elsewhere(self, tier):
        """Return the ending of a tier, as a variant, where that is another one: each has a database of its own."""
        ending = men.name_of_tier(tier)
        return "" if ending == self.material else f"{self.name}:{ending}"

    @classmethod
    def collection(cls, options):
        """Return all endings of up to so many men, `all=4`, those that may follow others first."""
        from retrograde.games.chess.sets import set_of

        return set_of(options)

    # For people

    def variant_title(self):
        """Return the men: `King and rook against king and knight`."""
        from retrograde.games.chess.words import in_words

        return in_words(self.material)

    def distance(self, value, remoteness):
        """Return the distance to mate in moves."""
        if remoteness == 0:
            return ""
        return f"mate in {remoteness // 2 + 1}" if value == WIN else f"mated in {remoteness // 2}"

    def ending(self, position):
        """Return how the game has ended."""
        if self.is_dead(position):
            return "a dead position, no mate is possible"
        return "checkmate" if self.in_check(position) else "stalemate"

    def pgn(self, position, moves, players, finished, count=0):
        """Return a game from a position as PGN, so many plies without progress after it; *players* are the names of who
        moves first and second."""
        from retrograde.games.chess.pgn import pgn

        return pgn(self, position, moves, players, finished, count)

    def tier_name(self, tier):
        """Return the name of an ending."""
        return men.name_of_tier(tier)

    def write(self, position):
        """Return a position as FEN; en passant is noted only where it is a legal move."""
        from retrograde.games.chess.fen import write

        return write(position)

    def read(self, text):
        """Read FEN, in either colours; underscores may stand for spaces, and what follows the turn may be left out."""
        from retrograde.games.chess.fen import read

        return read(self, text)

    def show(self, position):
        from retrograde.games.chess.fen import picture

        return picture(position)

    def move_name(self, position, move):
        """Return a move in standard algebraic notation, as in `Nxe4+` or `a8=Q#`."""
        from retrograde.games.chess.san import san

        return san(self, position, move)

    def move(self, position, text):
        """Read a move in standard algebraic notation, or as UCI has it: `a7a8q`."""
        from retrograde.games.chess.san import parse

        return parse(self, position, text)

    def draw_board(self):
        from retrograde.games.contract.drawing import CHESS_MEN, grid

        return grid(8, 8, CHESS_MEN, "chequered", down="87654321")

    def draw_pieces(self, position):
        from retrograde.games.chess.fen import rows_of

        return "".join(rows_of(position))

    def draw_move(self, position, move):
        from retrograde.games.chess.fen import seen

        return tuple(seen(position, square) ^ 56 for square in (move & 63, move >> 6 & 63))

    def draw_turn(self, position):
        from retrograde.games.chess.fen import white_to_move

        return "Kk"[not white_to_move(position)]

    def draw_end(self, position):
        """Return the square of a king that is mated."""
        if not self.in_check(position):
            return ()
        return (self.draw_pieces(position).index(self.draw_turn(position)),)

    def read_pieces(self, pieces, turn):
        """Return the position, without en passant, of which a picture says nothing."""
        rows = "/".join(pieces[row : row + 8].replace(".", "1") for row in range(0, 64, 8))
        return self.read(f"{rows} {'w' if turn == 'K' else 'b'}")
