"""Games of lines on cells that are declared as fields: which lines are full, and how many are still open."""

from typing import Any, ClassVar

from retrograde.games.kinds.in_line import InLine


class Rows(InLine):
    """Base class for games that declare `cells`, a field, and `lines`, sets of its cells as bits."""

    cells: ClassVar[Any]

    def count_open(self, position, sign):
        """Return how many lines have only cells that are empty or have a sign."""
        others = self.cells.filled(position) & ~self.cells.set(position, sign)
        count = 0
        for line in self.lines:
            count += others & line == 0
        return count

    def draw_end(self, position):
        """Return the cells of all lines that are full of one sign."""
        of_one = [self.cells.set(position, sign) for sign in range(1, self.cells.kinds + 1)]
        full = [line for line in self.lines if line in (line & men for men in of_one)]
        return tuple(cell for cell in range(self.cells.size) if any(line >> cell & 1 for line in full))
