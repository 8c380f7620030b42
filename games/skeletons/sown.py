"""SowAndTake: say here what the game is.

A position is the stones in each pit, as the player to move sees them. The base class, `SownBoards`, numbers them.
"""

from retrograde.games import LOSE, TIE, UNDECIDED
from retrograde.games.kinds.sown import BITS, FIELD, SownBoards


class SowAndTake(SownBoards):
    """Sow the stones of a pit. If the last one makes two in a pit of the opponent, take both: each is a point."""

    # Options, which users set on the command line: sown.py:stones=8

    pits: int = 3
    stones: int = 6
    """The greatest number of stones on the board."""

    # The rules. They are compiled: use ints, tuples and loops here, and no strings

    def generate_moves(self, position):
        """Yield the own pits that have stones."""
        for pit in range(self.pits):
            if position >> BITS * pit & FIELD:
                yield pit

    def after(self, position, pit):
        """Return the board after a move, as the player who moved sees it."""
        hand = position >> BITS * pit & FIELD
        position -= hand << BITS * pit
        for _ in range(hand):
            pit = (pit + 1) % self.cells
            position += 1 << BITS * pit
        if pit >= self.pits and position >> BITS * pit & FIELD == 2:
            position -= 2 << BITS * pit
        return position

    def do_move(self, position, pit):
        """Return the position after a move, as the other player sees it."""
        return self.turned(self.after(position, pit))

    def reward(self, position, pit, player):
        """Return how many points a move pays a player; the player to move is 0."""
        return 0 if player else self.count(position) - self.count(self.after(position, pit))

    def primitive(self, position):
        """If the player to move has no stones, the game is over."""
        if self.own(position):
            return UNDECIDED
        return LOSE if self.other(position) else TIE

    def payoff(self, position, player):
        """Return the points that a player gets at the end: the stones that are left in the own row."""
        return self.count(self.other(position) if player else self.own(position))

    # For people

    def ending(self, position):
        return "a row is empty"
