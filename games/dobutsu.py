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

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.games.kinds.drops import AHEAD, AROUND, GOLD, SLANTING, STRAIGHT, Drops


class Dobutsu(Drops):
    """Take the other lion, or bring your own home."""

    title = "Dōbutsu shōgi"
    words = {"L": "South", "l": "North"}
    to_move = "Ll"

    setup = "gle/.c./.C./ELG"
    steps = {"C": AHEAD, "E": SLANTING, "G": STRAIGHT, "L": AROUND, "H": GOLD}
    promotions = {"C": "H"}
    called = {"C": "chick", "E": "elephant", "G": "giraffe", "L": "lion"}

    men: str = "CEG"
    """Which men each player has beside the lion: chick C, elephant E, giraffe G."""

    def __post_init__(self):
        if self.men not in ("", "C", "E", "G", "CE", "CG", "EG", "CEG"):
            raise ValueError("men must be some of CEG, in this order")

    @cached_property
    def start(self):
        return self.laid("".join(sign if sign.upper() in f"/L{self.men}" else "." for sign in self.setup))

    def primitive(self, position):
        """Who can take the lion wins; a lion on the last row that cannot be taken has won."""
        lion = self.king(position)
        if self.reaches(position, lion):
            return WIN
        return LOSE if lion // self.columns == 3 else UNDECIDED

    def ending(self, position):
        return "the lion can be taken" if self.primitive(position) == WIN else "the lion has come home"
