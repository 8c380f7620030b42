"""Chess endgames of two to five men, and of six without pawns: KRK, KBNK, KPKP and so on. Values are exact to the mate.

The rules are those of chess without castling. The fifty-move rule and repetition do not count either: distances to mate
ignore them. The game ends by mate or stalemate. It also ends when no sequence of moves can lead to a mate: with bare
kings, with one more bishop or knight, or with only bishops on squares of one colour. (Dead positions with blocked pawns
go on, and are draws.) An end without a winner is a DRAW.

The game has no first position: every legal placement of men is a position. `size`, `index` and `unindex` number them
tier by tier. A tier is an ending. Positions and tiers mean the same in every variant, such as `chess:KRK` and
`chess:KRKN`; the variant only decides which endings `read` accepts.

Modules: `board` encodes positions, `moves` moves men, `numbering` numbers positions.
"""

from functools import cached_property

from retrograde.games.chess import men
from retrograde.games.chess.board import MEN, PLACES, TURN, code_at, has_pawns, king_of
from retrograde.games.chess.men import ALWAYS_DEAD, BISHOP, BISHOPS_ONLY, BLACK, KNIGHT, NOBODY, PAWN, QUEEN, ROOK
from retrograde.games.chess.numbering import Numbering
from retrograde.games.contract.game import DRAW, LOSE, UNDECIDED

# Modules that only people need are imported where they are used

WORTH = (900, 500, 330, 320, 100)
"""Hundredths of a pawn: queen, rook, bishop, knight, pawn."""


class Chess(Numbering):
    """Mate the king. In an ending few men are left: `material=KRKN` is king and rook against king and knight."""

    name = "chess"
    title = "Chess endgames"
    words = {"K": "White", "k": "Black"}
    example = "KRK"

    @cached_property
    def dead_table(self):
        return men.dead_table()

    def primitive(self, position):
        """Return LOSE for mate, DRAW for stalemate or if nobody can mate, else UNDECIDED."""
        if self.is_dead(position):
            return DRAW
        if self.can_move(position):
            return UNDECIDED
        return LOSE if self.in_check(position) else DRAW

    def is_dead(self, position):
        """Return whether the remaining men cannot mate."""
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

    # Hints

    feature_weights = (*WORTH, 4, 6, 10, 5)

    def features(self, position):
        """Return the leads in men by kind and in rows of pawns, and how far the weaker king is driven.

        He is driven from the middle of the board, to the other king, and, without pawns, into a box of few squares.
        """
        turn = position >> TURN & 1
        queens = rooks = bishops = knights = pawns = rows = 0
        for place in MEN:
            code = code_at(position, place)
            if code != NOBODY:
                kind, square, sign = code & 7, position >> place & 63, 1 if code >> 3 == turn else -1
                queens += sign * (kind == QUEEN)
                rooks += sign * (kind == ROOK)
                bishops += sign * (kind == BISHOP)
                knights += sign * (kind == KNIGHT)
                pawns += sign * (kind == PAWN)
                if kind == PAWN:
                    rows += sign * (6 - (square >> 3) if code & BLACK else (square >> 3) - 1)
        lead = WORTH[0] * queens + WORTH[1] * rooks + WORTH[2] * bishops + WORTH[3] * knights + WORTH[4] * pawns
        sign = (lead > 0) - (lead < 0)
        king, other = king_of(position, turn ^ (lead > 0)), king_of(position, turn ^ (lead <= 0))
        driven = abs(2 * (king & 7) - 7) + abs(2 * (king >> 3) - 7)
        files, ranks = abs((king & 7) - (other & 7)), abs((king >> 3) - (other >> 3))
        near = 14 - files - ranks
        boxed = 0
        if lead and not has_pawns(position):
            # To mate, the king must come near, but to no fixed place: two files or ranks away is near enough.
            near = 14 - 2 * max(files, ranks, 2)
            boxed = 64 - self.box(position, turn ^ (lead > 0))
        return queens, rooks, bishops, knights, pawns, rows, sign * driven, sign * near, sign * boxed

    def quiet(self, position):
        """Return whether the side to move is not in check."""
        return not self.in_check(position)

    # Databases

    def elsewhere(self, tier):
        """Return the variant with the database of a tier's ending; "" if it is this variant."""
        ending = men.name_of_tier(tier)
        return "" if ending == self.material else f"{self.name}:{ending}"

    @classmethod
    def collection(cls, options):
        """Return all endings of up to N men (`all=N`), each after those that it can lead to."""
        from retrograde.games.chess.sets import set_of

        return set_of(options)

    # For people

    def variant_title(self):
        """Return the men in words: `King and rook against king and knight`."""
        from retrograde.games.chess.words import in_words

        return in_words(self.material)

    def distance(self, value, remoteness):
        """Return the distance to mate in moves."""
        from retrograde.games.chess.san import mate_in

        return mate_in(value, remoteness)

    def ending(self, position):
        """Return how the game has ended."""
        if self.is_dead(position):
            return "a dead position, no mate is possible"
        return "checkmate" if self.in_check(position) else "stalemate"

    def pgn(self, position, moves, players, finished, count=0, resigned=False):
        """Return a game as PGN; see `games/chess/pgn.py`."""
        from retrograde.games.chess.pgn import pgn

        return pgn(self, position, moves, players, finished, count, resigned)

    def tier_name(self, tier):
        """Return the name of an ending."""
        return men.name_of_tier(tier)

    def write(self, position):
        """Return a position as FEN, with an en passant square only if the capture is legal."""
        from retrograde.games.chess.fen import write

        return write(position)

    def read(self, text):
        """Return the position of a FEN, either side as White. Underscores may stand for spaces, and the last fields may
        be missing."""
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
        """Return the move with this name, in standard algebraic notation or as in UCI: `a7a8q`."""
        from retrograde.games.chess.san import parse

        return parse(self, position, text)

    def draw_board(self):
        from retrograde.games.contract.drawing import CHESS_MEN, grid

        return grid(8, 8, CHESS_MEN, "chequered", down="87654321")

    def draw_pieces(self, position):
        from retrograde.games.chess.fen import rows_of

        return "".join(rows_of(position))

    def draw_move(self, position, move):
        from retrograde.games.chess.fen import seen_square

        return tuple(seen_square(position, square) ^ 56 for square in (move & 63, move >> 6 & 63))

    def draw_turn(self, position):
        from retrograde.games.chess.fen import white_to_move

        return "Kk"[not white_to_move(position)]

    def draw_end(self, position):
        """Return the cell of the mated king."""
        if not self.in_check(position):
            return ()
        return (self.draw_pieces(position).index(self.draw_turn(position)),)

    def read_pieces(self, pieces, turn):
        """Return the position of a picture, without en passant, which no picture shows."""
        rows = "/".join(pieces[row : row + 8].replace(".", "1") for row in range(0, 64, 8))
        return self.read(f"{rows} {'w' if turn == 'K' else 'b'}")
