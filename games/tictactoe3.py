"""Tic-tac-toe for three players: X, O and Δ in turn.

The first player to own a line gets all three points. In a tie each player gets one. A position is a bit for each cell
with an X, row by row from the top left, then as many bits for O, and then for Δ.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, Game

PLAYERS = 3


class TicTacToe3(Game):
    """Three players claim cells in turn. The first to own a whole line wins."""

    title = "Tic-tac-toe for three"
    words = {"X": "X", "O": "O", "A": "A"}
    bits = by_turns = "XOA"
    players = PLAYERS

    size: int = 3

    start = 0

    def __post_init__(self):
        if not 1 <= self.size <= 4:
            raise ValueError("size must be from 1 to 4")

    @property
    def cells(self):
        return self.size**2

    @property
    def board(self):
        return (1 << self.cells) - 1

    @cached_property
    def lines(self):
        """All rows, columns and diagonals, as bits."""
        rows = [[self.size * row + column for column in range(self.size)] for row in range(self.size)]
        columns = zip(*rows, strict=True)
        diagonals = [[row[i] for i, row in enumerate(rows)], [row[-1 - i] for i, row in enumerate(rows)]]
        return tuple(sum(1 << cell for cell in line) for line in [*rows, *columns, *diagonals])

    @cached_property
    def symmetries(self):
        """The cells of the board in the order of each of its seven turns and mirrors."""
        board = [tuple(range(self.size * row, self.size * (row + 1))) for row in range(self.size)]
        boards = []
        for _ in range(4):
            board = list(zip(*board[::-1], strict=True))  # a quarter turn
            boards += [sum(board, ()), sum(board[::-1], ())]
        return tuple(cells for cells in boards if cells != tuple(range(self.cells)))

    # The rules

    def turn(self, position):
        return position.bit_count() % PLAYERS

    def generate_moves(self, position):
        """Yield the empty cells."""
        filled = (position | position >> self.cells | position >> 2 * self.cells) & self.board
        for cell in range(self.cells):
            if not filled >> cell & 1:
                yield cell

    def do_move(self, position, cell):
        return position | 1 << cell + self.cells * self.turn(position)

    def last(self, position):
        """Return the player who has moved last."""
        return (position.bit_count() + PLAYERS - 1) % PLAYERS

    def has_won(self, position):
        """Return whether the player who moved last has a line."""
        own = position >> self.cells * self.last(position)
        for line in self.lines:  # noqa: SIM110  # compiled code has no any()
            if own & line == line:
                return True
        return False

    def primitive(self, position):
        """Return LOSE if another player has a line, TIE if the board is full, else UNDECIDED."""
        if self.has_won(position):
            return LOSE
        return TIE if position.bit_count() == self.cells else UNDECIDED

    def payoff(self, position, player):
        """Return what an end pays: all points to the player with a line, else 1 to each."""
        if self.has_won(position):
            return PLAYERS if player == self.last(position) else 0
        return 1

    def images(self, position):
        """Yield the position after each rotation and reflection of the board."""
        for cells in self.symmetries:
            image = 0
            for cell in range(self.cells):
                image |= (position >> cells[cell] & 1) << cell
                image |= (position >> cells[cell] + self.cells & 1) << cell + self.cells
                image |= (position >> cells[cell] + 2 * self.cells & 1) << cell + 2 * self.cells
            yield image

    def tier(self, position):
        return position.bit_count()

    # For people

    def draw_board(self):
        pieces = {"X": "cross", "O": "ring", "A": "gold disc A"}
        return grid(self.size, self.size, pieces, down="4321"[-self.size :])
