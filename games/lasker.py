"""Lasker morris: men's morris in which a man in hand may wait: at each turn one is put down, or one on the board slid.

So E. Lasker proposed, with ten men each. The board, mills and ends are those of `morris.py`, and so is how a position
is coded, but for the number above who is to move: the men that the player to move has in hand, times one more than
there are men, and those of the other. Three men fly when none is in hand. The game is a draw. (G. E. Gévay and G.
Danner, "Calculating Ultra-Strong and Extended Solutions for Nine Men's Morris, Morabaraba, and Lasker Morris", 2014.)
"""

from retrograde.games.morris import Morris


class Lasker(Morris):
    """Put men down or slide them, close mills, and take the other's men until there are two."""

    title = "Lasker morris"
    example = "3"

    men: int = 10

    @property
    def start(self):
        return self.men * (self.men + 2) << 2 * self.cells + 1

    def sections(self):
        """Return tiers, men of both players, first of the one to move, and what is above: all that may come about.

        A tier is what both have in hand and on the board: whoever slides exchanges them.
        """
        found = {(self.men, self.men, 0, 0)}
        left = list(found)
        while left:
            hand, other, mine, theirs = left.pop()
            if mine + hand >= 3:
                moved = [(hand - 1, mine + 1)] * (hand > 0) + [(hand, mine)] * (mine > 0)
                new = {(other, held, theirs, men) for held, men in moved}
                new |= {(other, held, theirs - 1, men) for held, men in moved if men >= 3 and theirs}
                left += new - found
                found |= new
        order = {one: (-one[0] - one[1], -one[2] - one[3], *sorted((one[::2], one[1::2]))) for one in found}
        tiers = {key: tier for tier, key in enumerate(sorted(set(order.values())))}
        return [(tiers[order[one]], one[2:], 2 * (one[0] * (self.men + 1) + one[1])) for one in found]

    def in_hand(self, hands):
        return hands // (self.men + 1)

    def hands_after(self, hands, put):
        return hands % (self.men + 1) * (self.men + 1) + hands // (self.men + 1) - put

    def sources(self, mine, hand):
        return mine | 1 << self.cells if hand else mine

    def hands_text(self, position):
        """Return how many men X and O have in hand, as in `3-2`, nothing where neither has any."""
        mine, theirs = divmod(position >> 2 * self.cells + 1, self.men + 1)
        x, o = (theirs, mine) if position >> 2 * self.cells & 1 else (mine, theirs)
        return f"{x}-{o}" if x or o else ""
