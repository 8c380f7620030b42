"""TakeStones: say here what the game is, and how a position is encoded as a number.

A position is the number of stones that are left on the heap.
"""

from retrograde.games import LOSE, UNDECIDED, Game


class TakeStones(Game):
    """Two players take stones from a heap in turn; the player who takes the last one wins."""

    # Options, which users set on the command line: heap.py:stones=30

    stones: int = 20
    most: int = 3

    def __post_init__(self):
        if min(self.stones, self.most) < 1:
            raise ValueError("stones and most must be at least 1")

    # The rules. They are compiled: use ints, tuples and loops here, and no strings

    @property
    def start(self):
        return self.stones

    def generate_moves(self, left):
        """Yield the legal moves; each move is a small int."""
        yield from range(1, min(self.most, left) + 1)

    def do_move(self, left, taken):
        """Return the position after a move. The other player moves next."""
        return left - taken

    def primitive(self, left):
        """If the game is over, return WIN, LOSE or TIE for the player to move; otherwise return UNDECIDED."""
        return LOSE if left == 0 else UNDECIDED

    def tier(self, left):
        """Return a number that no move decreases. With tiers the game is solved part by part, in less memory."""
        return self.stones - left

    # Texts for people

    def show(self, left):
        return " ".join("o" * left) or "no stones"

    def ending(self, left):
        return "no stones are left"
