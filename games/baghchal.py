"""Bagh-chal, "the tigers' move", from Nepal: tigers hunt goats, who try to shut them in.

A position is a bit for each point with a tiger, row by row from the top left, then one for each with a goat; above them
who is to move, 0 for the goats, and how many goats are in hand. Tigers begin in the corners. Goats are put down by
turns, and when none is in hand slide to a point beside, as tigers do from the first; along lines, which go cornerwise
from every other point. A tiger may leap over a goat to the point behind, and takes it. When so many are taken tigers
have won, and all goats leave the board; who cannot move has lost. Nothing forbids to go round. Without *placing* no
goat is in hand: of 88,260,972 such positions on five by five points, those equal by symmetry once, wrote Y. J. Lim and
J. Nievergelt, "Tigers and Goats is a draw" (Games of No Chance 3, 2009).
"""

from dataclasses import replace
from functools import cached_property

from retrograde.games.drawing import grid
from retrograde.games.in_hand import InHand
from retrograde.games.placed import as_bits, placements
from retrograde.games.sliding import Sliding, joined


class BaghChal(Sliding, InHand):
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
    def cells(self):
        return self.side**2

    @cached_property
    def start(self):
        """Tigers in the corners; goats in hand, or in the first rows."""
        corners = (0, self.side - 1, self.cells - self.side, self.cells - 1)[: self.tigers]
        free = () if self.placing else [cell for cell in range(self.cells) if cell not in corners]
        return self.position(as_bits(corners), as_bits(free[: self.goats]), 2 * self.goats * self.placing)

    @cached_property
    def board(self):
        lines = [(cell, to) for cell, others in enumerate(self.beside) for to in range(cell) if others >> to & 1]
        points = grid(self.side, self.side, {"T": "darkorange disc T", "G": "white disc G"})
        return replace(points, cells=0, lines=tuple(lines[: -self.cells]))

    def along(self, steps):
        """For each point, those so many steps away along a line, as bits."""
        rows = grid(self.side, self.side).in_a_row(steps + 1)
        ends = [{row[0], row[-1]} for row in rows if row[1] - row[0] in (1, self.side) or row[0] % 2 == 0]
        return joined(self.cells, ends)

    @cached_property
    def beside(self):
        """For each point, those beside it; from the hand all."""
        return (*self.along(1), (1 << self.cells) - 1)

    @cached_property
    def behind(self):
        """For each point, those to which a tiger may leap."""
        return (*self.along(2), 0)

    @cached_property
    def placements(self):
        """By goats in hand, and while there are any by who is to move; then by goats that are taken; last the ends."""
        hands = range(self.goats + 1 if self.placing else 1)
        every = [(hand, turn, taken) for hand in hands for turn in (0, 1) for taken in range(self.taken)]
        found = {
            (-hand, -turn * (hand > 0), taken, turn): (self.tigers, self.goats - hand - taken)
            for hand, turn, taken in every
            if taken + (hand > 0) * turn <= self.goats - hand
        }
        tiers = {key: tier for tier, key in enumerate(sorted({key[:3] for key in found}))}
        sections = [(tiers[key[:3]], men, key[3] - 2 * key[0]) for key, men in found.items()]
        return placements(
            self.cells, [*sections, (len(tiers), (self.tigers, 0), 0)], grid(self.side, self.side).symmetries
        )

    # The rules: a move is whence and whither; to put a goat down is to move it from `cells`

    def generate_moves(self, position):
        tigers, goats, number = self.parts_of(position)
        men = tigers if number & 1 else goats if number == 0 else 1 << self.cells
        for source in range(self.cells + 1):
            if men >> source & 1:
                for target in range(self.cells):
                    leaps = number & self.behind[source] >> target & goats >> (source + target) // 2
                    if (self.beside[source] >> target | leaps) & 1 & ~(tigers | goats) >> target:
                        yield source * self.cells + target

    def do_move(self, position, move):
        tigers, goats, number = self.parts_of(position)
        source, target = move // self.cells, move % self.cells
        moved = (1 << source | 1 << target) & (1 << self.cells) - 1
        if not number & 1:
            return self.position(tigers, goats ^ moved, number + 1 - 2 * (source == self.cells))
        goats &= ~((self.behind[source] >> target & 1) << (source + target) // 2)
        taken = self.goats - number // 2 - goats.bit_count()
        return self.position(tigers ^ moved, goats, number - 1) if taken < self.taken else tigers ^ moved

    def slides(self, men, number):
        """Tigers and goats by turns; while goats are in hand, all that tigers do leads to another tier."""
        return [(1 - number, 1 - number, self.along(1))] if number < 2 else []

    def parts_of(self, position):
        """Return the tigers, the goats, and the number above them."""
        full = (1 << self.cells) - 1
        return position & full, position >> self.cells & full, position >> 2 * self.cells

    def position(self, tigers, goats, number):
        return tigers | goats << self.cells | number << 2 * self.cells

    # For people

    def ending(self, position):
        return "the tigers are shut in" if self.parts_of(position)[2] & 1 else "no goat can move, or all are taken"
