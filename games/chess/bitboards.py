"""Sets of squares as bits of one int, and attacks found with them.

The bit of a square is its number in `squares.py`. A set with h8, bit 63, is a negative int, as in compiled code: there
ints have 64 bits, and so the same rules give the same sets in Python. For that reason sets are made from tables, and
never shifted left.

Four sets, the *planes*, say what stands on a board: White's men, and the three bits of each man's kind: 1 pawn,
2 knight, 3 bishop, 4 king, 5 rook, 7 queen. Men with the first two bits move along diagonals, those with the first and
the third along ranks and files.

A position is five ints. Each of the first four has all bits of a plane that an int below 2**62 has room for. The last,
the state, has the others, those of g8 and h8::

    …      8      7 … 6     5 … 4     3 … 2     1 … 0
    rest   turn   plane 3   plane 2   plane 1   plane 0
"""

from functools import cache, cached_property

from retrograde.games.chess.men import BISHOP, BLACK, KING, KNIGHT, PAWN, ROOK
from retrograde.games.chess.squares import DIAGONAL, ORTHOGONAL, between, lowest, ray, reaches
from retrograde.games.contract.game import POSITION_BITS

WAYS = ORTHOGONAL + DIAGONAL
TURN = 8
"""The bit of a state that says who is to move: 0 for White."""
LOW = (1 << POSITION_BITS) - 1
"""The bits of a plane that have an int of their own."""


def to_signed(bits):
    """Return a set of squares as an int of 64 bits with a sign."""
    return bits - (bits >> 63 << 64)


def count(squares):
    """Return the number of squares in a set."""
    return (squares & (1 << 63) - 1).bit_count() + (squares < 0)


@cache
def rays():
    """Return the squares from each square to the edge in each of 8 ways, as bits: `rays[8 * square + way]`."""
    return tuple(to_signed(sum(1 << target for target in ray(square, way))) for square in range(64) for way in WAYS)


@cache
def lines():
    """Return the squares on the line through two squares from edge to edge: `lines[64 * one + other]`, 0 for none."""
    found = [0] * 4096
    for square in range(64):
        for way in WAYS:
            back = ray(square, (-way[0], -way[1]))
            line = to_signed(sum(1 << place for place in [square, *back, *ray(square, way)]))
            for other in ray(square, way):
                found[64 * square + other] = line
    return tuple(found)


@cache
def reached_by(man):
    """Return the squares that a man, a code of `men`, attacks from each square on an empty board."""
    reach = reaches()
    return tuple(
        to_signed(sum(1 << target for target in range(64) if reach[64 * origin + target] >> man & 1))
        for origin in range(64)
    )


def planes_of(position):
    """Return the four planes of a position, sets of squares: white men, and the three bits of a man's kind."""
    state = position[4]
    # The upper two bits of a plane as a number from -2 to 1, for the sign.
    return (
        position[0] | ((state & 3 ^ 2) - 2) << POSITION_BITS,
        position[1] | ((state >> 2 & 3 ^ 2) - 2) << POSITION_BITS,
        position[2] | ((state >> 4 & 3 ^ 2) - 2) << POSITION_BITS,
        position[3] | ((state >> 6 & 3 ^ 2) - 2) << POSITION_BITS,
    )


def joined(white, one, two, four, state):
    """Return the position of four planes and the rest of its state."""
    upper = white >> POSITION_BITS & 3 | (one >> POSITION_BITS & 3) << 2 | (two >> POSITION_BITS & 3) << 4
    return white & LOW, one & LOW, two & LOW, four & LOW, state | upper | (four >> POSITION_BITS & 3) << 6


def kind_on(planes, square):
    """Return the kind of the man on a square, 0 if it is empty."""
    return planes[1] >> square & 1 | (planes[2] >> square & 1) << 1 | (planes[3] >> square & 1) << 2


class Bitboards:
    """Attacks found in tables."""

    @cached_property
    def bit(self):
        """The set of each square alone."""
        return tuple(to_signed(1 << square) for square in range(64))

    @cached_property
    def rays(self):
        return rays()

    @cached_property
    def lines(self):
        return lines()

    @cached_property
    def between(self):
        return between()

    @cached_property
    def knight_reach(self):
        return reached_by(KNIGHT)

    @cached_property
    def king_reach(self):
        return reached_by(KING)

    @cached_property
    def pawn_reach(self):
        """The squares that a side's pawn attacks: `pawn_reach[64 * side + square]`, side 0 for White."""
        return reached_by(PAWN) + reached_by(PAWN + BLACK)

    @cached_property
    def straights(self):
        """The squares on a square's rank and file, without itself."""
        return reached_by(ROOK)

    @cached_property
    def diagonals(self):
        """The squares on a square's diagonals, without itself."""
        return reached_by(BISHOP)

    def attacked(self, planes, square, side, men, occupied):
        """Return whether the *men* of a side attack a square if these squares are *occupied*."""
        _, one, two, four = planes
        pawns = one & ~two & ~four & self.pawn_reach[64 * (1 - side) + square]
        leapers = ~one & (two & self.knight_reach[square] | four & self.king_reach[square])
        if men & (pawns | leapers):
            return True
        sliders = men & one & (self.diagonals[square] & two | self.straights[square] & four)
        while sliders:
            origin = lowest(sliders)
            sliders ^= self.bit[origin]
            if not self.between[64 * origin + square] & occupied:
                return True
        return False

    def in_check(self, position):
        """Return whether the side to move is in check."""
        planes = planes_of(position)
        white, one, two, four = planes
        turn = position[4] >> TURN & 1
        occupied = one | two | four
        own = occupied & ~white if turn else white
        return self.attacked(planes, lowest(own & four & ~one), 1 - turn, occupied ^ own, occupied)

    def open_squares(self, square, first, last, occupied):
        """Return the squares that a man reaches in some ways, from *first* to *last* - 1, the first men included."""
        found = 0
        for way in range(first, last):
            line = self.rays[8 * square + way]
            blockers = line & occupied
            if blockers:
                # North, east, north-east and north-west lead to higher squares: there the nearest man is the lowest.
                nearest = lowest(blockers) if way in (0, 1, 4, 7) else blockers.bit_length() - 1
                line ^= self.rays[8 * nearest + way]
            found |= line
        return found

    def targets(self, kind, square, occupied):
        """Return the squares, as bits, that a man of a kind other than a pawn attacks."""
        if kind == 2:
            return self.knight_reach[square]
        if kind == 4:
            return self.king_reach[square]
        # Bishops (3) go in ways 4 to 7, rooks (5) in ways 0 to 3, queens (7) in all.
        return self.open_squares(square, 4 * (kind == 3), 8 if kind & 2 else 4, occupied)
