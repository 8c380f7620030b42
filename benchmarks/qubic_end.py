"""Tic-tac-toe on 4 × 4 × 4 cells from a given position: 64 cells with two signs, which take three words.

Play begins on a full board without a line, from which as many X as O were taken.
"""

from functools import cached_property

from retrograde.games import Cells
from retrograde.games.contract.drawing import grid
from retrograde.games.qubic import Qubic

FULL = "OOOXOXOXXOXOOOXO/XOXXXOOOOOOXXXOX/OOXOXXOXOXXOOXXX/OXOXXOXXOOXXOXXO"


class QubicEnd(Qubic):
    """Claim cells in turn. The first to own four in a row wins, also across the layers."""

    cells = Cells(grid(16, 4), X="cross", O="ring")  # without symmetries: few positions are equal by one
    size: int = 4
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
