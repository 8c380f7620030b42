"""Othello, by score: the difference of discs at the end.

A player who can turn nothing passes, which is a move. If neither can move, the game is over.
"""

from functools import cached_property

from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Cells, Turn
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.enclosing import Enclosing


class Othello(Enclosing):
    """Turn the opponent's discs by enclosing them between your own. The player with more discs at the end wins."""

    metric = "score"
    words = {"X": "Black", "O": "White"}
    discs = Cells(lambda game: grid(game.width, game.height), symmetries="start", X="black disc", O="white disc")
    mover = Turn("XO")
    width: int = 4
    height: int = 4

    def __post_init__(self):
        if min(self.width, self.height) < 2 or self.width * self.height > 64:
            raise ValueError("the board must have at least two rows and columns, and at most 64 cells")

    @cached_property
    def start(self):
        rows = ["." * self.width] * self.height
        for row, pair in ((self.height // 2 - 1, "OX"), (self.height // 2, "XO")):
            rows[row] = ("." * (self.width // 2 - 1) + pair).ljust(self.width, ".")
        return self.read("/".join([*rows, "X"]))

    @cached_property
    def corners(self):
        return self.discs.bits_of([(0, self.width - 1, self.discs.size - self.width, self.discs.size - 1)])[0]

    def primitive(self, position):
        """Return UNDECIDED if either player can turn discs over, else the value by their numbers."""
        own, other = self.sides(position)
        if self.turning(own, other) | self.turning(other, own):
            return UNDECIDED
        ahead = own.bit_count() - other.bit_count()
        return TIE if ahead == 0 else WIN if ahead > 0 else LOSE

    def payoff(self, position, player):
        return self.discs.count_of(position, 1 + player)

    # Hints for searches

    feature_weights = (8, 1, 0)

    def features(self, position):
        """Return the leads in corners, in moves, and in discs."""
        own, other = self.sides(position)
        corners = (own & self.corners).bit_count() - (other & self.corners).bit_count()
        moves = self.turning(own, other).bit_count() - self.turning(other, own).bit_count()
        return corners, moves, own.bit_count() - other.bit_count()

    def promise(self, position, move):
        """Return how few moves a move leaves to the opponent; a corner counts as four moves."""
        if move == self.discs.size or self.discs.size - self.discs.count(position) < 4:
            return 0  # with so few empty cells, searching is quicker than ordering
        own, other = self.sides(position)
        turned = self.turned(own, other, move) | 1 << move
        replies = self.turning(other & ~turned, own | turned).bit_count()
        return 100_000 * (4 * (self.corners >> move & 1) - replies)  # always more than the search's history

    def quiet(self, position):
        """Return whether the player to move can take no corner."""
        own, other = self.sides(position)
        return self.turning(own, other) & self.corners == 0

    def write(self, position):
        rows, _, turn = super().write(position).rpartition("/")
        return f"{rows},{turn}"
