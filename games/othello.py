"""Othello, by score: the difference of discs at the end.

A player who can turn nothing passes, which is a move. If neither can move, the game is over.
"""

from functools import cached_property

from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Cells, Game, Turn
from retrograde.games.contract.drawing import grid

WAYS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


class Othello(Game):
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
    def rays(self):
        return self.discs.rays(*WAYS)

    @cached_property
    def corners(self):
        size = self.discs.size
        return self.discs.bits_of([(0, self.width - 1, size - self.width, size - 1)])[0]

    def turn(self, position):
        return self.mover.get(position)

    def sides(self, position):
        """Return the discs of the player to move, and those of the opponent, as bits."""
        return self.discs.set(position, self.mover.sign(position)), self.discs.set(position, self.mover.other(position))

    def turned(self, own, other, cell):
        """Return the discs that a disc on an empty cell turns. All are sets of cells, as bits."""
        found = 0
        for ray in self.rays[cell]:
            between = 0
            for place in ray:
                if place < 0:
                    break
                if not other >> place & 1:
                    found |= between if own >> place & 1 else 0
                    break
                between |= 1 << place
        return found

    def generate_moves(self, position):
        """Yield the cells that turn discs over; the number of cells, a pass, if there are none."""
        own, other = self.sides(position)
        passes = True
        for cell in self.discs.empty(position):
            if self.turned(own, other, cell):
                passes = False
                yield cell
        if passes:
            yield self.discs.size

    def do_move(self, position, move):
        """Return the position after a disc is put on a cell, or after a pass."""
        if move < self.discs.size:
            own, other = self.sides(position)
            turned = self.turned(own, other, move) | 1 << move
            position = self.discs.put_all(position, turned, self.mover.sign(position))
        return self.mover.passed(position)

    def primitive(self, position):
        """Return UNDECIDED if either player can turn discs over, else the value by their numbers."""
        for after in (position, self.mover.passed(position)):
            own, other = self.sides(after)
            for cell in self.discs.empty(after):
                if self.turned(own, other, cell):
                    return UNDECIDED
        ahead = other.bit_count() - own.bit_count()  # these are as the opponent sees them
        return TIE if ahead == 0 else WIN if ahead > 0 else LOSE

    def payoff(self, position, player):
        return self.discs.count_of(position, 1 + player)

    def tier(self, position):
        return self.discs.count(position)

    feature_weights = (8, 1, 0)

    def features(self, position):
        """Return the leads in corners, in moves, and in discs."""
        own, other = self.sides(position)
        moves = 0
        for cell in self.discs.empty(position):
            moves += (self.turned(own, other, cell) > 0) - (self.turned(other, own, cell) > 0)
        corners = (own & self.corners).bit_count() - (other & self.corners).bit_count()
        return corners, moves, own.bit_count() - other.bit_count()

    def promise(self, position, move):
        """Return how few moves a move leaves to the opponent; a corner counts as four moves."""
        if move == self.discs.size or self.discs.size - self.discs.count(position) < 4:
            return 0  # with so few empty cells, searching is quicker than ordering
        own, other = self.sides(position)
        turned = self.turned(own, other, move)
        own, other = own | turned | 1 << move, other & ~turned
        replies = 0
        for cell in self.discs.empty(position):
            replies += cell != move and self.turned(other, own, cell) > 0
        return 100_000 * (4 * (self.corners >> move & 1) - replies)  # always more than the search's history

    def quiet(self, position):
        """Return whether the player to move can take no corner."""
        own, other = self.sides(position)
        left = self.corners & ~(own | other)
        while left:
            cell = (left & -left).bit_length() - 1
            left &= left - 1
            if self.turned(own, other, cell):
                return False
        return True

    def write(self, position):
        rows, _, turn = super().write(position).rpartition("/")
        return f"{rows},{turn}"

    def move_name(self, position, move):
        return "pass" if move == self.discs.size else super().move_name(position, move)
