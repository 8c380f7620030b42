"""Encodes positions of endings as numbers of 58 bits, 48 with up to five men, and finds attacks in them.

    57 … 48     47       46     45 … 40       39 … 34       33 … 24   23 … 14   13 … 4        3 … 0
    fourth man  colours  turn   White's king  Black's king  man       man       man           en passant

    a man       9 … 6  5 … 0                 a king is a square only
                code   square                no man: ten ones
    the fourth  code with each bit inverted, and square; no man: ten zeros

The first-named side of an ending is called White in the encoding: its pawns go north, whatever its colour on the board.
`colours` is 1 if on the board that side is Black; then the board is also upside down. `turn` is 0 if White is to move.
Men are in ascending order, so that each placement of like men has one code. If both sides have the same men, the one to
move is White. `en passant` is the file, from 1, of a pawn that may legally be captured en passant, else 0.

The canonical position is the least of those equal by symmetry. Its `colours` are 0, and White's king is in the triangle
a1, d1, d4, or with pawns on the files a to d. Of six men the fourth man comes first in the comparison.
"""

from functools import cached_property

from retrograde.games.chess import men, squares
from retrograde.games.chess.men import KING, NOBODY, PAWN, REVERSED, SYMMETRIC
from retrograde.games.chess.squares import FIRST_WAY, LAST_WAY, image_of_square, lowest
from retrograde.games.contract.game import Game

COLOURS, TURN = 47, 46
WHITE_KING, BLACK_KING = 40, 34
FOURTH = 48
MEN = (24, 14, 4, FOURTH)
PLACES = (WHITE_KING, BLACK_KING, *MEN)
"""The lowest bit of each king and man in a position."""
NO_MAN = NOBODY << 6 | 63
TURNED = NOBODY << 6
"""The fourth man's code is stored with these bits inverted, so that positions without him have 48 bits."""
NO_FOURTH = 1023 << FOURTH
NOWHERE = -1


class Board(Game):
    """The encoding of positions, and attacks."""

    material: str

    def __post_init__(self):
        object.__setattr__(self, "material", men.ending_name(self.material))  # fields are frozen, but not from within

    @cached_property
    def tiers(self):
        """The tiers of this ending and of all endings that it can lead to, ascending."""
        return men.tiers_from(self.material)

    @property
    def family(self):
        return type(self)("KK")

    @cached_property
    def tier_table(self):
        return men.tier_table()

    @cached_property
    def reaches(self):
        return squares.reaches()

    @cached_property
    def between(self):
        return squares.between()

    @cached_property
    def steps(self):
        return squares.steps()

    def tier(self, position):
        return self.tier_table[key(position)] >> 2

    def settled(self, position):
        """Return a position, with its men in order, with the sides exchanged if the encoding asks for it."""
        flags = self.tier_table[key(position)]
        if flags & REVERSED or (flags & SYMMETRIC and position >> TURN & 1):
            return exchange_sides(position)
        return position

    # Symmetry

    def images(self, position):
        """Yield the positions equal by symmetry, in both pairs of colours: two with pawns, else eight."""
        for symmetry in range(2 if has_pawns(position) else 8):
            image = mirror_board(position, symmetry)
            yield image
            yield image ^ 1 << COLOURS

    # Attacks

    def attacked(self, position, square, side, occupied, gone):
        """Return whether a side attacks a square; squares *occupied* block, and a man on *gone* does not count."""
        for place in PLACES:
            code = code_at(position, place)
            origin = position >> place & 63
            if code >> 3 == side and origin != gone:
                line = origin << 6 | square
                # The man attacks along this line, and nothing stands in between.
                if self.reaches[line] >> code & 1 and not self.between[line] & occupied:
                    return True
        return False

    def in_check(self, position):
        """Return whether the side to move is in check."""
        turn = position >> TURN & 1
        return self.attacked(position, king_of(position, turn), 1 - turn, everybody(position), NOWHERE)

    def shield(self, position, king, side, occupied):
        """Return the squares, as bits, between a king and the men of *side* who would attack him on an empty board.

        His own man who leaves another square does not expose him. If a man attacks already, return -1, all squares.
        """
        shield = 0
        for place in PLACES:
            code = code_at(position, place)
            line = (position >> place & 63) << 6 | king
            if code >> 3 == side and self.reaches[line] >> code & 1:
                if not self.between[line] & occupied:
                    return -1
                shield |= self.between[line]
        return shield

    def box(self, position, side):
        """Return the number of squares that a side's king can walk to while no other man moves, his own included."""
        king = king_of(position, side)
        blocked = everybody(position) ^ 1 << king
        own = occupied_by(position, side)
        seen = waiting = 1 << king
        squares = 0
        while waiting:
            square = lowest(waiting)
            waiting ^= 1 << square
            squares += 1
            for way in range(FIRST_WAY[KING], LAST_WAY[KING]):
                target = self.steps[16 * square + way]
                if target >= 0 and not seen >> target & 1:
                    seen |= 1 << target
                    if not own >> target & 1 and not self.attacked(position, target, 1 - side, blocked, target):
                        waiting |= 1 << target
        return squares

    def may_capture(self, position, file):
        """Return whether the side to move could capture en passant on a file if it had the right."""
        turn = position >> TURN & 1
        pawn = 32 - 8 * turn + file  # the other side's pawn after a double step
        beyond = pawn + 8 - 16 * turn
        occupied = everybody(position)
        if code_on(position, pawn) != PAWN + 8 * (1 - turn):
            return False
        if occupied >> beyond & 1 or occupied >> 2 * beyond - pawn & 1:  # the square passed over, and its origin
            return False
        # The capture must not leave the king in check, with both pawns off their squares.
        after = occupied ^ 1 << pawn ^ 1 << beyond
        king = king_of(position, turn)
        for origin in range(pawn - (file > 0), pawn + 1 + (file < 7)):
            is_pawn = code_on(position, origin) == PAWN + 8 * turn
            if is_pawn and not self.attacked(position, king, 1 - turn, after ^ 1 << origin, pawn):
                return True
        return False

    def possible(self, position):
        """Return whether a position is legal.

        No two men share a square, pawns stand on their ranks, the side that has moved is not in check, and a right to
        capture en passant is real.
        """
        occupied = 0
        for place in PLACES:
            code = code_at(position, place)
            square = position >> place & 63
            if code != NOBODY:
                if occupied >> square & 1 or (code & 7 == PAWN and (square < 8 or square >= 56)):
                    return False
                occupied |= 1 << square
        turn = position >> TURN & 1
        if self.attacked(position, king_of(position, 1 - turn), turn, occupied, NOWHERE):
            return False
        return position & 15 == 0 or self.may_capture(position, (position & 15) - 1)


def code_at(position, place):
    """Return the code of the man at a place (a lowest bit, see PLACES) of a position."""
    if BLACK_KING <= place <= WHITE_KING:
        return KING if place == WHITE_KING else KING + 8
    return (position ^ TURNED << FOURTH) >> place + 6 & 15


def put(man, place):
    """Return the bits of a man, or of NO_MAN, at a place."""
    if place == FOURTH:
        return 0 if man == NO_MAN else (man ^ TURNED) << FOURTH
    return man << place


def without(position, place):
    """Return a position with no man at a place; its men are not in order."""
    return position & ~NO_FOURTH if place == FOURTH else position | 1023 << place


def code_on(position, square):
    """Return the code of the man on a square."""
    for place in PLACES:
        if position >> place & 63 == square and code_at(position, place) != NOBODY:
            return code_at(position, place)
    return NOBODY


def place_of(position, square):
    """Return the place of the man on a square, NOWHERE if it is empty."""
    for place in PLACES:
        if position >> place & 63 == square and code_at(position, place) != NOBODY:
            return place
    return NOWHERE


def king_of(position, side):
    """Return the square of a side's king."""
    return position >> WHITE_KING - 6 * side & 63


def occupied_by(position, side):
    """Return the squares of a side's men as bits. Bit 63, the sign, does no harm: bits are tested singly or masked."""
    occupied = 0
    for place in PLACES:
        code = code_at(position, place)
        if code >> 3 == side and code != NOBODY:
            occupied |= 1 << (position >> place & 63)
    return occupied


def everybody(position):
    """Return the squares of all men as bits."""
    return occupied_by(position, 0) | occupied_by(position, 1)


def has_pawns(position):
    """Return whether a position has a pawn."""
    return side_has_pawns(position, 0) or side_has_pawns(position, 1)


def side_has_pawns(position, side):
    """Return whether a side has a pawn."""
    pawn = PAWN + 8 * side
    return code_at(position, 24) == pawn or code_at(position, 14) == pawn or code_at(position, 4) == pawn


def key(position):
    """Return the index of a position's men in the tables by men (see `men.key_of`)."""
    return (position >> 54 & 15) << 12 | (position >> 30 & 15) << 8 | (position >> 20 & 15) << 4 | position >> 10 & 15


def pack(turn, white_king, black_king, first, second, third):
    """Return a position with up to three men, given in any order, without en passant."""
    kings = white_king << WHITE_KING | black_king << BLACK_KING
    return sort_men(turn << TURN | kings | first << 24 | second << 14 | third << 4)


def sort_men(position):
    """Return a position with its men in ascending order."""
    first, second, third = position >> 24 & 1023, position >> 14 & 1023, position >> 4 & 1023
    # A sorting network.
    first, second = min(first, second), max(first, second)
    second, third = min(second, third), max(second, third)
    first, second = min(first, second), max(first, second)
    fourth = position >> FOURTH ^ TURNED
    if fourth != TURNED:
        third, fourth = min(third, fourth), max(third, fourth)
        second, third = min(second, third), max(second, third)
        first, second = min(first, second), max(first, second)
        position = position & ~NO_FOURTH | put(fourth, FOURTH)
    return position >> BLACK_KING << BLACK_KING | first << 24 | second << 14 | third << 4 | position & 15


def exchange_sides(position):
    """Return the same position with the sides exchanged: colours, turn, men, and the board upside down."""
    kings = (position >> BLACK_KING & 63) << WHITE_KING | (position >> WHITE_KING & 63) << BLACK_KING
    # 56 mirrors a square top to bottom; 3 inverts `colours` and `turn`.
    result = (position >> TURN & 3 ^ 3) << TURN | kings ^ 56 << WHITE_KING ^ 56 << BLACK_KING | position & 15
    for place in MEN:
        code = code_at(position, place)
        man = NO_MAN if code == NOBODY else (code ^ 8) << 6 | position >> place & 63 ^ 56
        result |= put(man, place)
    return sort_men(result)


def mirror_board(position, symmetry):
    """Return the position after a symmetry of the board."""
    file = position & 15
    result = (position >> TURN & 3) << TURN | (9 - file if file and symmetry & 1 else file)
    for place in (WHITE_KING, BLACK_KING):
        result |= image_of_square(position >> place & 63, symmetry) << place
    for place in MEN:
        code = code_at(position, place)
        man = NO_MAN if code == NOBODY else code << 6 | image_of_square(position >> place & 63, symmetry)
        result |= put(man, place)
    return sort_men(result)
