"""Bagh-chal, "the tigers' move", from Nepal: tigers hunt goats, who try to shut them in.

A position is a bit for each point with a tiger, row by row from the top left, then one for each with a goat; above them
who is to move, 0 for the goats, and how many goats are in hand. Tigers begin in the corners. Goats are put down by
turns, and when none is in hand slide to a point beside, as tigers do from the first; along lines, which go cornerwise
from every other point. A tiger may leap over a goat to the point behind, and takes it. When so many are taken tigers
have won, and all goats leave the board; who cannot move has lost. Nothing forbids to go round. Without *placing* no
goat is in hand: of 88,260,972 such positions on five by five points, those equal by symmetry once, wrote Y. J. Lim and
J. Nievergelt, "Tigers and Goats is a draw" (Games of No Chance 3, 2009).
"""

from functools import cached_property

from retrograde.games.kinds.hunt import Hunt
from retrograde.games.kinds.points import alquerque


class BaghChal(Hunt):
    """As the tigers take goats; as the goats shut the tigers in."""

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
        """The corners."""
        return (0, self.side - 1, self.cells - self.side, self.cells - 1)[: self.tigers]

    @cached_property
    def points(self):
        return alquerque(self.side, self.side)

    @cached_property
    def board(self):
        return alquerque(self.side, self.side, {"T": "darkorange disc T", "G": "white disc G"})
