"""Dōbutsu shōgi, "animal chess", by Madoka Kitao: lions, giraffes, elephants and chicks on three columns and four rows.

A position is seen by the player to move, whose men go up; cell c is column c % 3 of row c // 3, and row 3 is her own::

    0  1  2      bits 4c … 4c + 3   what stands in cell c: 0 nothing, 1 to 5 a chick, elephant, giraffe, lion or
    3  4  5                         hen of hers, 9 to 13 of the other player's
    6  7  8      bits 48 … 53       her chicks, elephants and giraffes in hand, two bits each
    9 10 11      bits 54 … 59       the other player's
                 bit 60             who is to move, 0 for South

The lion moves one step in any direction, the giraffe straight, the elephant diagonally, the chick ahead. A chick that
reaches the last row becomes a hen, which moves like a gold general of shōgi, and is a chick again when captured.
Instead of moving, a player may drop a captured man on any empty cell. A player who can capture the lion wins. So does a
player who brings her own lion to the last row where it cannot be captured at once.

T. Tanaka counts positions in this way ("An analysis of a board game «Doubutsu Shogi»", IPSJ SIG Technical Report
2009-GI-22 (3), 2009). He also counts the move that captures the lion. So his distance is this one, or one more if this
one is even for a win or odd for a loss.
"""

from functools import cached_property

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.games.kinds.drops import AHEAD, AROUND, GOLD, SLANTING, STRAIGHT, Drops


class Dobutsu(Drops):
    """Capture the opponent's lion, or bring your own home to the last row."""

    title = "Dōbutsu shōgi"
    words = {"L": "South", "l": "North"}
    to_move = "Ll"

    setup = "gle/.c./.C./ELG"
    steps = {"C": AHEAD, "E": SLANTING, "G": STRAIGHT, "L": AROUND, "H": GOLD}
    promotions = {"C": "H"}
    called = {"C": "chick", "E": "elephant", "G": "giraffe", "L": "lion"}

    men: str = "CEG"
    """The men that each player has beside the lion: chick C, elephant E, giraffe G."""

    def __post_init__(self):
        if self.men not in ("", "C", "E", "G", "CE", "CG", "EG", "CEG"):
            raise ValueError("men must be some of CEG, in this order")

    @cached_property
    def start(self):
        return self.laid("".join(sign if sign.upper() in f"/L{self.men}" else "." for sign in self.setup))

    def primitive(self, position):
        """A player who can capture the lion wins. A lion on the last row that cannot be captured has won."""
        lion = self.king(position)
        if self.reaches(position, lion):
            return WIN
        return LOSE if lion // self.columns == 3 else UNDECIDED

    def ending(self, position):
        return "the lion can be taken" if self.primitive(position) == WIN else "the lion has come home"
