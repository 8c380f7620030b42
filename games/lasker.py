"""Lasker morris: men's morris where a player may slide a man before all are put down.

In each turn a player either puts down a man or slides one on the board. E. Lasker proposed this, with ten men each. The
board, the mills and the ends are those of `morris.py`. So is the encoding, except for what is above the player to move:
the men in hand of the player to move, times one more than the number of men, plus the men in hand of the opponent.
Three men fly if none is in hand. The game is a draw. (G. E. Gévay and G. Danner, "Calculating Ultra-Strong and Extended
Solutions for Nine Men's Morris, Morabaraba, and Lasker Morris", 2014.)
"""

from retrograde.games.morris import Morris


class Lasker(Morris):
    """Put men down or slide them, close mills, and take the opponent's men until two are left."""

    title = "Lasker morris"
    example = "3"

    men: int = 10

    section_steps = Morris.section_steps

    @property
    def hands(self):
        """Both players have all men in hand: men * (men + 1) + men."""
        return self.men * (self.men + 2)

    def in_hand(self, hands):
        return hands // (self.men + 1)

    def hands_after(self, hands, put):
        """Return *hands* as the next player sees it: both numbers change places, after a man was *put* down."""
        return hands % (self.men + 1) * (self.men + 1) + hands // (self.men + 1) - put

    def sources(self, mine, hand):
        return mine | 1 << self.cells if hand else mine

    def phase(self, hands, mine, theirs):
        """A tier is what both players have in hand and on the board. A slide exchanges the two players."""
        hand, other = divmod(hands, self.men + 1)
        return -hand - other, -mine - theirs, *sorted(((hand, mine), (other, theirs)))

    def hands_text(self, position):
        """Return how many men X and O have in hand, as in `3-2`; "" if neither has any."""
        mine, theirs = divmod(position >> 2 * self.cells + 1, self.men + 1)
        x, o = (theirs, mine) if position >> 2 * self.cells & 1 else (mine, theirs)
        return f"{x}-{o}" if x or o else ""
