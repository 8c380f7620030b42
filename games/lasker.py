"""Lasker morris: men's morris in which a man in hand may wait: at each turn one is put down, or one on the board slid.

So E. Lasker proposed, with ten men each. The board, mills and ends are those of `morris.py`, and so is how a position
is coded, but for what stands above who is to move: the men that the player to move has in hand, times one more than
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
    def hands(self):
        return self.men * (self.men + 2)

    def in_hand(self, hands):
        return hands // (self.men + 1)

    def hands_after(self, hands, put):
        return hands % (self.men + 1) * (self.men + 1) + hands // (self.men + 1) - put

    def sources(self, mine, hand):
        return mine | 1 << self.cells if hand else mine

    def phase(self, hands, mine, theirs):
        """A tier is what both have in hand and on the board: whoever slides exchanges them."""
        hand, other = divmod(hands, self.men + 1)
        return -hand - other, -mine - theirs, *sorted(((hand, mine), (other, theirs)))

    def hands_text(self, position):
        """Return how many men X and O have in hand, as in `3-2`, nothing where neither has any."""
        mine, theirs = divmod(position >> 2 * self.cells + 1, self.men + 1)
        x, o = (theirs, mine) if position >> 2 * self.cells & 1 else (mine, theirs)
        return f"{x}-{o}" if x or o else ""
