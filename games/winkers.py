"""Winkers: first a checker, then a winker on top of it.

Rules of GamesmanOne, where the board of the game is `winkers:3,5`: a hexagon with rows of 3, 4, 5, 4 and 3 cells. Each
player has as many checkers, and as many winkers, as half of the cells, rounded up. Checkers belong to nobody once they
are on the board, so the winkers of a player and the number of moves say how many checkers the player has used.
"""

from functools import cached_property

from retrograde.games.contract.drawing import Board, letters
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.kinds.rows import Rows

WAYS = ((1, 0), (0.5, 1), (-0.5, 1))
"""Steps to the right, down to the right and down to the left."""


def honeycomb(width, height, without=()):
    """Return rows of cells: the first has *width* of them, the next ones are longer by one up to the middle.

    The cells *without* are left out, each (row, number in the row).
    """
    half = height // 2
    lengths = [width + half - abs(half - row) for row in range(height)]
    cells = [(row, at) for row, length in enumerate(lengths) for at in range(length) if (row, at) not in without]
    names = tuple(f"{letters(height)[row]}{at + 1}" for row, at in cells)
    places = tuple((at - lengths[row] / 2, float(row)) for row, at in cells)
    lines = [(cell, places.index((x + right, y + down))) for cell, (x, y) in enumerate(places)
             for right, down in WAYS if (x + right, y + down) in places]  # fmt: skip
    return Board(places, names, {}, lines=tuple(lines))


class Winkers(Rows):
    """Put a checker on an empty cell, or a winker of yours on a checker. Three of your winkers in a row win. If every
    cell has a winker, it is a tie; a player who cannot move before that wins."""

    words = {"X": "Red", "O": "Blue", "C": "Checker"}
    cells = Cells(
        lambda game: honeycomb(game.width, game.height),
        "all",
        X="crimson disc",
        O="royalblue disc",
        C="silver disc",
    )
    mover = Turn("XO")
    width: int = 3
    height: int = 3

    def __post_init__(self):
        if self.width < 3 or self.height % 2 == 0 or not 1 <= self.height <= 5:
            raise ValueError("width must be at least 3, and height 1, 3 or 5")
        if self.width * self.height + (self.height // 2) ** 2 > 20:
            raise ValueError("the board has more than 20 cells; make it smaller, as in winkers:3,5")

    @cached_property
    def start(self):
        return self.position_of("." * self.cells.size, "X")

    @cached_property
    def lines(self):
        """All rows of three cells, as bits."""
        rays = self.cells.rays(*WAYS)
        rows = [(cell, *ray[:2]) for cell, ways in enumerate(rays) for ray in ways if len(ray) > 1]
        return self.cells.bits_of([row for row in rows if -1 not in row])

    def checkers(self, position):
        """Return how many checkers the player to move has used: one in each move without a winker."""
        winkers = self.cells.count_of(position, self.cells.X) + self.cells.count_of(position, self.cells.O)
        # A checker is a move, a winker on top of it another one. The player to move has made half of all.
        moves = (self.cells.count(position) + winkers) // 2
        return moves - self.cells.count_of(position, self.mover.sign(position))

    def generate_moves(self, position):
        """Yield the cells where the player can put a checker or a winker."""
        each = (self.cells.size + 1) // 2
        if self.checkers(position) < each:
            yield from self.cells.empty(position)
        if self.cells.count_of(position, self.mover.sign(position)) < each:
            yield from self.cells.having(position, self.cells.C)

    def do_move(self, position, cell):
        sign = self.cells.C if self.cells.is_empty(position, cell) else self.mover.sign(position)
        return self.mover.passed(self.cells.put(position, cell, sign))

    def primitive(self, position):
        if self.fill_line(self.cells.set(position, self.mover.other(position))):
            return LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return WIN if self.cells.free(position) or self.cells.set(position, self.cells.C) else TIE

    def tier(self, position):
        return 2 * self.cells.count(position) - self.cells.count_of(position, self.cells.C)

    def move_name(self, position, cell):
        return self.board.names[cell]
