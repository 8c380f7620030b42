"""Games that a line of men wins or loses: the game declares the lines, and asks whether men fill one::

    class Notakto(InLine):
        @cached_property
        def lines(self):                              # as bits, a bit for each cell
            return tuple(map(as_bits, grid(3, 3).in_a_row(3)))

        def primitive(self, position):
            return WIN if self.fill_line(position) else UNDECIDED

A game of placements derives from both classes: `class Quixo(InLine, Placed)`.
"""

from typing import Any, ClassVar

from retrograde.games.contract.game import Game


class InLine(Game):
    """Base class for games that declare `lines`, each a bit set of cells."""

    lines: ClassVar[Any]

    def fill_line(self, men):
        """Return whether men (a bit set) occupy all cells of some line."""
        for line in self.lines:  # noqa: SIM110  # compiled code has no any()
            if men & line == line:
                return True
        return False
