"""Tic-tac-toe on 4 × 4 × 4 cells from a given position: 64 cells with two signs, which take three words.

The four layers stand side by side. Play begins on a full board without a line, from which as many X as O were taken.
"""

from functools import cached_property
from itertools import product

from retrograde.games import LOSE, TIE, UNDECIDED, Cells, Game, Turn
from retrograde.games.contract.drawing import grid

FULL = "OOOXOXOXXOXOOOXO/XOXXXOOOOOOXXXOX/OOXOXXOXOXXOOXXX/OXOXXOXXOOXXOXXO"
WAYS = [way for way in product((-1, 0, 1), repeat=3) if way > (0, 0, 0)]


class Qubic(Game):
    """Claim cells in turn. The first to own four in a row wins, also across the layers."""

    cells = Cells(grid(16, 4), X="cross", O="ring")
    mover = Turn("XO", by="cells")
    empty: int = 16

    def __post_init__(self):
        if self.empty % 2 or not 0 <= self.empty <= 64:
            raise ValueError("the number of empty cells must be even, and from 0 to 64")

    @cached_property
    def start(self):
        signs, left = [*FULL.replace("/", "")], {"X": self.empty // 2, "O": self.empty // 2}
        for cell in (11 * number % 64 for number in range(64)):
            if left[signs[cell]]:
                left[signs[cell]] -= 1
                signs[cell] = "."
        return self.position_of("".join(signs), "")

    @cached_property
    def lines(self):
        found = set()
        for cell, way in product(product(range(4), repeat=3), WAYS):
            line = [[at + step * by for at, by in zip(cell, way, strict=True)] for step in range(4)]
            if all(0 <= at < 4 for place in line for at in place):
                found.add(sum(1 << 16 * row + 4 * layer + column for layer, row, column in line))
        return tuple(sorted(found))

    def generate_moves(self, position):
        yield from self.cells.empty(position)

    def do_move(self, position, cell):
        return self.cells.add(position, cell, self.mover.sign(position))

    def primitive(self, position):
        last = self.cells.set(position, self.mover.other(position))
        for line in self.lines:
            if last & line == line:
                return LOSE
        return TIE if self.cells.count(position) == 64 else UNDECIDED

    def tier(self, position):
        return self.cells.count(position)
