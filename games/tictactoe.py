"""Tic-tac-toe on a square board of any size that fits 62 bits.

A position has a bit for each cell with an X, row by row from the top left, then one for each cell with an O::

    0 1 2
    3 4 5     X in cell c is bit c, O in cell c is bit 9 + c
    6 7 8
"""

import re
from functools import cached_property

from retrograde.games.game import LOSE, POSITION_BITS, TIE, UNDECIDED, WIN, Game


class TicTacToe(Game):
    """Claim cells by turns; whoever first owns a whole line wins, or loses in the misère game."""

    title = "Tic-tac-toe"
    words = {"X": "X", "O": "O"}

    size: int = 3
    misere: bool = False

    start = 0

    def __post_init__(self):
        if self.size < 1 or 2 * self.cells > POSITION_BITS:
            raise ValueError("size must be from 1 to 5")

    @property
    def cells(self):
        return self.size**2

    @property
    def board(self):
        return (1 << self.cells) - 1

    @cached_property
    def lines(self):
        rows = [[self.size * row + column for column in range(self.size)] for row in range(self.size)]
        columns = zip(*rows, strict=True)
        diagonals = [[row[i] for i, row in enumerate(rows)], [row[-1 - i] for i, row in enumerate(rows)]]
        return tuple(sum(1 << cell for cell in line) for line in [*rows, *columns, *diagonals])

    @cached_property
    def symmetries(self):
        """The cells of the board as its seven turns and mirrors order them."""
        board = [tuple(range(self.size * row, self.size * (row + 1))) for row in range(self.size)]
        boards = []
        for _ in range(4):
            board = list(zip(*board[::-1], strict=True))  # a quarter turn
            boards += [sum(board, ()), sum(board[::-1], ())]
        return tuple(cells for cells in boards if cells != tuple(range(self.cells)))

    # The rules

    def generate_moves(self, position):
        filled = (position | position >> self.cells) & self.board
        for cell in range(self.cells):
            if not filled >> cell & 1:
                yield cell

    def do_move(self, position, cell):
        return position | 1 << cell + self.cells * self.mover(position)

    def mover(self, position):
        return position.bit_count() & 1

    def primitive(self, position):
        last = position if self.mover(position) else position >> self.cells
        for line in self.lines:
            if last & line == line:
                return WIN if self.misere else LOSE
        return TIE if position.bit_count() == self.cells else UNDECIDED

    def images(self, position):
        for cells in self.symmetries:
            image = 0
            for cell in range(self.cells):
                image |= (position >> cells[cell] & (1 | 1 << self.cells)) << cell
            yield image

    def tier(self, position):
        return position.bit_count()

    def tie_in(self, position):
        return self.cells - position.bit_count()

    def estimate(self, position):
        """Return how many more lines are still open to the player to move than to the other."""
        xs, os = position & self.board, position >> self.cells
        ahead = 0
        for line in self.lines:
            ahead += (os & line == 0) - (xs & line == 0)
        return -ahead if self.mover(position) ^ self.misere else ahead

    # For people

    def variant_title(self):
        size = "" if self.size == 3 else f" {self.size} × {self.size}"
        return f"{self.title}{size}{', misère' if self.misere else ''}"

    def write(self, position):
        """Return the rows from the top down, as in `X.O/.X./...`."""
        owners = [(position >> cell & 1) + 2 * (position >> self.cells + cell & 1) for cell in range(self.cells)]
        signs = [".XO"[owner] for owner in owners]
        return "/".join("".join(signs[i : i + self.size]) for i in range(0, self.cells, self.size))

    def read(self, text):
        lines = re.split(r"[/\n]", text.strip().replace(" ", ""))
        signs = "".join(lines)
        if [len(line) for line in lines] != [self.size] * self.size or set(signs) - set(".XO"):
            raise ValueError(f"a board is {self.size} lines of {self.size} signs of .XO, parted by /")
        if signs.count("X") - signs.count("O") not in (0, 1):
            raise ValueError("there must be as many X as O, or one X more")
        return sum(1 << cell + self.cells * (sign == "O") for cell, sign in enumerate(signs) if sign != ".")

    def show(self, position):
        return "\n".join(" ".join(line) for line in self.write(position).split("/"))

    def move_name(self, position, cell):
        """Name a cell by its column, a letter, and its row, counted from the top: `b1`."""
        return f"{'abcde'[cell % self.size]}{cell // self.size + 1}"

    def draw_board(self):
        from retrograde.games.drawing import grid

        return grid(self.size, self.size, {"X": "cross", "O": "ring"})

    def draw_pieces(self, position):
        return self.write(position).replace("/", "")

    def draw_move(self, position, cell):
        return (cell,)

    def draw_turn(self, position):
        return "XO"[self.mover(position)]

    def draw_end(self, position):
        """Return the cells of the lines that are full."""
        owned = position, position >> self.cells
        full = [line for line in self.lines for cells in owned if cells & line == line]
        return tuple(cell for cell in range(self.cells) if any(line >> cell & 1 for line in full))

    def read_pieces(self, pieces, turn):
        position = self.read("/".join(pieces[i : i + self.size] for i in range(0, self.cells, self.size)))
        if turn != self.draw_turn(position):
            raise ValueError(f"{self.draw_turn(position)} is to move, by the number of X and O")
        return position
