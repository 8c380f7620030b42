"""Dōbutsu shōgi, "animal chess", by Madoka Kitao: lions, giraffes, elephants and chicks on three columns and four rows.

A position is seen by the player to move, whose men go up; cell c is column c % 3 of row c // 3, and row 3 is her own::

    0  1  2      bits 4c … 4c + 3   what stands in cell c: 0 nothing, 1 to 5 a chick, elephant, giraffe, lion or
    3  4  5                         hen of hers, 9 to 13 of the other player's
    6  7  8      bits 48 … 53       her chicks, elephants and giraffes in hand, two bits each
    9 10 11      bits 54 … 59       the other player's

The lion goes one step any way, the giraffe straight, the elephant slanting, the chick ahead; a chick that goes to the
last row becomes a hen, which goes like a gold general of shōgi, and is a chick again when taken. Men taken are dropped
on any empty cell instead of a move. Who takes the lion has won, and so has who brings her own to the last row where it
cannot be taken at once.

T. Tanaka, "An analysis of a board game «Doubutsu Shogi»", IPSJ SIG Technical Report 2009-GI-22 (3), 2009.
"""

from functools import cached_property

from retrograde.games import LOSE, UNDECIDED, WIN, Game

CHICK, ELEPHANT, GIRAFFE, LION, HEN = range(1, 6)
THEIRS = 8
HANDS = 48
STEPS = (
    (),
    ((-1, 0),),
    ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    ((-1, 0), (0, -1), (0, 1), (1, 0)),
    ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)),
    ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, 0)),
)


class Dobutsu(Game):
    """Take the other lion, or bring your own home."""

    @cached_property
    def start(self):
        rows = ((11, 12, 10), (0, 9, 0), (0, 1, 0), (2, 4, 3))
        return sum(man << 4 * (3 * row + column) for row, men in enumerate(rows) for column, man in enumerate(men))

    @cached_property
    def reach(self):
        """For each man and cell, the cells that it may go to, as bits."""
        return tuple(
            tuple(
                sum(
                    1 << 3 * (cell // 3 + down) + cell % 3 + right
                    for down, right in steps
                    if 0 <= cell // 3 + down < 4 and 0 <= cell % 3 + right < 3
                )
                for cell in range(12)
            )
            for steps in STEPS
        )

    # The rules: a move is 16 × the cell left, or 12 to 14 to drop a chick, elephant or giraffe, + the cell entered

    def generate_moves(self, position):
        empty = others = 0
        for cell in range(12):
            man = position >> 4 * cell & 15
            if man == 0:
                empty |= 1 << cell
            elif man > THEIRS:
                others |= 1 << cell
        for cell in range(12):
            man = position >> 4 * cell & 15
            if 0 < man < THEIRS:
                for target in range(12):
                    if self.reach[man][cell] & (empty | others) & 1 << target:
                        yield cell << 4 | target
        for kind in range(3):
            if position >> HANDS + 2 * kind & 3:
                for target in range(12):
                    if empty >> target & 1:
                        yield 12 + kind << 4 | target

    def do_move(self, position, move):
        source, target = move >> 4, move & 15
        if source >= 12:
            kind = source - 12
            position += (kind + 1 << 4 * target) - (1 << HANDS + 2 * kind)
        else:
            man, taken = position >> 4 * source & 15, position >> 4 * target & 15
            position ^= man << 4 * source | taken << 4 * target
            if taken and taken != THEIRS + LION:
                kind = 0 if taken == THEIRS + HEN else taken - THEIRS - 1
                position += 1 << HANDS + 2 * kind
            if man == CHICK and target < 3:
                man = HEN
            position |= man << 4 * target
        return self.turned(position)

    def turned(self, position):
        """Return a position as the other player sees it."""
        turned = (position >> HANDS & 63) << HANDS + 6 | position >> HANDS + 6 << HANDS
        for cell in range(12):
            man = position >> 4 * cell & 15
            if man:
                turned |= (man ^ THEIRS) << 4 * (11 - cell)
        return turned

    def primitive(self, position):
        """A lion that has been taken loses; one on the last row that is not taken at once wins."""
        lion = -1
        for cell in range(12):
            if position >> 4 * cell & 15 == LION:
                lion = cell
        if lion < 0:
            return LOSE
        if lion < 3:
            return WIN
        for cell in range(9, 12):
            if position >> 4 * cell & 15 == THEIRS + LION:
                for other in range(12):
                    man = position >> 4 * other & 15
                    if 0 < man < THEIRS and self.reach[man][other] >> cell & 1:
                        return UNDECIDED
                return LOSE
        return UNDECIDED

    def images(self, position):
        """Yield the mirror image, left for right."""
        image = position >> HANDS << HANDS
        for cell in range(12):
            image |= (position >> 4 * cell & 15) << 4 * (3 * (cell // 3) + 2 - cell % 3)
        yield image
