"""Dōbutsu shōgi, "animal chess", by Madoka Kitao: lions, giraffes, elephants and chicks on three columns and four rows.

A position is seen by the player to move, whose men go up; cell c is column c % 3 of row c // 3, and row 3 is her own::

    0  1  2      bits 4c … 4c + 3   what stands in cell c: 0 nothing, 1 to 5 a chick, elephant, giraffe, lion or
    3  4  5                         hen of hers, 9 to 13 of the other player's
    6  7  8      bits 48 … 53       her chicks, elephants and giraffes in hand, two bits each
    9 10 11      bits 54 … 59       the other player's
                 bit 60             who is to move, 0 for South

The lion goes one step any way, the giraffe straight, the elephant slanting, the chick ahead; a chick that goes to the
last row becomes a hen, which goes like a gold general of shōgi, and is a chick again when taken. Men taken are dropped
on any empty cell instead of a move. Who can take the lion has won, and so has who brings her own to the last row where
it cannot be taken at once.

So T. Tanaka counts positions ("An analysis of a board game «Doubutsu Shogi»", IPSJ SIG Technical Report 2009-GI-22 (3),
2009). He counts the move that takes the lion as well: his distance is this one, or by one more where this one is even
for a win and odd for a loss.
"""

from functools import cached_property

from retrograde.games.drawing import Board
from retrograde.games.game import LOSE, UNDECIDED, WIN, Game

CHICK, ELEPHANT, GIRAFFE, LION, HEN = range(1, 6)
SIGNS = ".CEGLH...ceglh"
THEIRS = 8
HANDS = 48
TURN = 60
HAND_CELLS = 6
"""Cells beside the board for men in hand, of which each player has six at most."""
STEPS = (
    (),
    ((-1, 0),),
    ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    ((-1, 0), (0, -1), (0, 1), (1, 0)),
    ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)),
    ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, 0)),
)
"""For each man the steps that it takes, down and to the right."""


class Dobutsu(Game):
    """Take the other lion, or bring your own home."""

    title = "Dōbutsu shōgi"
    words = {"L": "South", "l": "North"}
    to_move = "Ll"

    men: str = "CEG"
    """Which men each player has beside the lion: chick C, elephant E, giraffe G."""

    def __post_init__(self):
        if self.men not in ("", "C", "E", "G", "CE", "CG", "EG", "CEG"):
            raise ValueError("men must be some of CEG, in this order")

    @cached_property
    def start(self):
        signs = "".join(sign if sign in "Ll" + self.men + self.men.lower() else "." for sign in "gle.c..C.ELG")
        return sum(SIGNS.index(sign) << 4 * cell for cell, sign in enumerate(signs) if sign != ".")

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
            if taken:
                kind = 0 if taken == THEIRS + HEN else taken - THEIRS - 1
                position += 1 << HANDS + 2 * kind
            if man == CHICK and target < 3:
                man = HEN
            position |= man << 4 * target
        return self.turned(position)

    def primitive(self, position):
        """Who can take the lion wins; a lion on the last row that cannot be taken has won."""
        home = False
        for cell in range(12):
            if position >> 4 * cell & 15 == THEIRS + LION:
                home = cell >= 9
                for other in range(12):
                    man = position >> 4 * other & 15
                    if 0 < man < THEIRS and self.reach[man][other] >> cell & 1:
                        return WIN
        return LOSE if home else UNDECIDED

    def turned(self, position):
        """Return a position as the other player sees it, whose turn it is."""
        hands = position >> HANDS & 63
        turned = (position >> TURN ^ 1) << TURN | hands << HANDS + 6 | (position >> HANDS + 6 & 63) << HANDS
        for cell in range(12):
            man = position >> 4 * cell & 15
            if man:
                turned |= (man ^ THEIRS) << 4 * (11 - cell)
        return turned

    def images(self, position):
        """Yield the mirror image, left for right, and both with the other player to move."""
        outer = 0xF00F00F00F00
        mirrored = position & ~(outer | outer >> 8) | (position & outer) >> 8 | (position & outer >> 8) << 8
        yield mirrored
        yield mirrored ^ 1 << TURN
        yield position ^ 1 << TURN

    # For people: North's men in hand above the board, South's below, chicks first

    @cached_property
    def board(self):
        beside = [(column - 1.5, row) for row in (-1.5, 4.5) for column in range(HAND_CELLS)]
        cells = [(float(column), float(row)) for row in range(4) for column in range(3)]
        names = [f"{column}{row}" for row in "1234" for column in "abc"]
        north, south = ([f"{player}{cell}" for cell in range(1, 1 + HAND_CELLS)] for player in "NS")
        pieces = {sign: f"{'gold' if sign.isupper() else 'lightblue'} disc {sign.upper()}" for sign in "CEGLHceglh"}
        return Board(
            (*beside[:HAND_CELLS], *cells, *beside[HAND_CELLS:]), (*north, *names, *south), pieces, 2 * HAND_CELLS + 12
        )

    def signs(self, position):
        turn = position >> TURN
        if turn:
            position = self.turned(position)
        men = "".join(SIGNS[position >> 4 * cell & 15] for cell in range(12))
        south, north = (self.in_hand(position >> at & 63) for at in (HANDS, HANDS + 6))
        return f"{north.lower():.<{HAND_CELLS}}{men}{south:.<{HAND_CELLS}}"

    def in_hand(self, counts):
        """Return the signs of men in hand."""
        return "".join(sign * (counts >> 2 * kind & 3) for kind, sign in enumerate("CEG"))

    def position_of(self, signs, turn):
        north, men, south = signs[:HAND_CELLS], signs[HAND_CELLS:-HAND_CELLS], signs[-HAND_CELLS:]
        if men.count("L") != 1 or men.count("l") != 1:
            raise ValueError("there must be one lion of each player (L and l) on the board")
        if {*south} - {*".CEG"} or {*north} - {*".ceg"}:
            raise ValueError("only chicks, elephants and giraffes of one's own are in hand")
        for kind in "CEG":
            count = signs.upper().count(kind) + (signs.upper().count("H") if kind == "C" else 0)
            if count != 2 * (kind in self.men):
                wanted = "two" if kind in self.men else "no"
                raise ValueError(f"there must be {wanted} {kind}, of both players and in hand together; not {count}")
        position = sum(SIGNS.index(sign) << 4 * cell for cell, sign in enumerate(men) if sign != ".")
        for hand, at in ((south, HANDS), (north.upper(), HANDS + 6)):
            position += sum(hand.count(sign) << at + 2 * kind for kind, sign in enumerate("CEG"))
        return self.turned(position) if turn == "l" else position

    def draw_turn(self, position):
        return self.to_move[position >> TURN]

    def draw_move(self, position, move):
        """Return the cells left and entered, as the board shows them."""
        source, target = move >> 4, move & 15
        north = position >> TURN
        if source >= 12:
            before = sum(position >> HANDS + 2 * kind & 3 for kind in range(source - 12))
            left = before if north else HAND_CELLS + 12 + before
        else:
            left = HAND_CELLS + (11 - source if north else source)
        return left, HAND_CELLS + (11 - target if north else target)

    def move_name(self, position, move):
        """Name a move as in `b3-b2`, and a drop as in `C*b2`."""
        left, entered = (self.board.names[place] for place in self.draw_move(position, move))
        return f"{'CEG'[(move >> 4) - 12]}*{entered}" if move >> 4 >= 12 else f"{left}-{entered}"

    def ending(self, position):
        return "the lion can be taken" if self.primitive(position) == WIN else "the lion has come home"
