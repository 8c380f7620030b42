"""Bagh-chal, "the tigers' move", from Nepal: tigers hunt goats, and the goats try to shut the tigers in.

A position is a bit for each point with a tiger, row by row from the top left, then a bit for each point with a goat.
Above them are the player to move, 0 for the goats, and the number of goats in hand. Tigers begin in the corners. The
goats' player puts down one goat in each turn. When none is in hand, goats slide to a neighbouring point, as tigers do
from the first turn. They slide along lines; every other point has diagonal lines. A tiger may leap over a goat to the
point behind it, and takes the goat. When `taken` goats are taken the tigers have won, and all goats leave the board. A
player who cannot move loses. Repetition is allowed. Without *placing* no goat is in hand. There are 88,260,972 such
positions on five by five points, counting those equal by symmetry once: Y. J. Lim and J. Nievergelt, "Tigers and Goats
is a draw" (Games of No Chance 3, 2009).
"""

from functools import cached_property

from retrograde.games.kinds.hunt import Hunt
from retrograde.games.kinds.points import alquerque


class BaghChal(Hunt):
    """As the tigers, take goats. As the goats, shut the tigers in."""

    title = "Bagh-chal"
    words = {"G": "Goats", "T": "Tigers"}
    example = "3,2,4,2"
    bits = "TG"
    to_move = "GT"

    side: int = 5
    tigers: int = 4
    goats: int = 20
    taken: int = 5
    placing: bool = True

    def __post_init__(self):
        if self.side not in (3, 5) or not 1 <= self.tigers <= 4:
            raise ValueError("the board has three or five points a side, and one to four tigers")
        if not 1 <= self.taken <= self.goats < self.cells - self.tigers:
            raise ValueError("a point must be left beside all goats, and no more be taken than there are")

    @property
    def lairs(self):
        """The corners where tigers begin."""
        return (0, self.side - 1, self.cells - self.side, self.cells - 1)[: self.tigers]

    section_steps = Hunt.section_steps

    @cached_property
    def points(self):
        return alquerque(self.side, self.side)

    @cached_property
    def board(self):
        return alquerque(self.side, self.side, {"T": "darkorange disc T", "G": "white disc G"})
