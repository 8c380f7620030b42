"""Games in which men in a line win or lose: a game says which lines there are, and asks whether men fill one::

    class Notakto(InLine):
        @cached_property
        def lines(self):                              # as bits, a bit for each cell
            return tuple(map(as_bits, grid(3, 3).in_a_row(3)))

        def primitive(self, position):
            return WIN if self.fill_line(position) else UNDECIDED

A game of placements is derived from both, as in `class Quixo(InLine, Placed)`.
"""

from typing import Any, ClassVar

from retrograde.games.contract.game import Game


class InLine(Game):
    """Declare `lines`, all that count, each as bits."""

    lines: ClassVar[Any]

    def fill_line(self, men):
        """Tell whether men, as bits, stand on all cells of a line."""
        for line in self.lines:  # noqa: SIM110  # compiled code has no any()
            if men & line == line:
                return True
        return False
