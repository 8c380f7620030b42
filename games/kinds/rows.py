"""Games of lines on cells that are declared as fields: which lines are full, and how many are still open."""

from typing import Any, ClassVar

from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN
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


class LineRace(Rows):
    """Base class for games in which players claim empty cells until one owns a line; they declare `mover`, a field."""

    mover: ClassVar[Any]
    misere = False  # not annotated: it would come before the options of a subclass
    """Whether the player who owns a line loses."""

    def generate_moves(self, position):
        yield from self.cells.empty(position)

    def do_move(self, position, cell):
        return self.cells.add(position, cell, self.mover.sign(position))

    def primitive(self, position):
        """Return LOSE (in misère play WIN) if the opponent has a line, TIE if the board is full, else UNDECIDED."""
        if self.fill_line(self.cells.set(position, self.mover.other(position))):
            return WIN if self.misere else LOSE
        return UNDECIDED if self.cells.free(position) else TIE

    def tier(self, position):
        return self.cells.count(position)

    def tie_in(self, position):
        return self.cells.size - self.cells.count(position)

    def estimate(self, position):
        """Return how many more lines are still open to the player to move than to the opponent; in misère play less."""
        own, other = self.mover.sign(position), self.mover.other(position)
        ahead = self.count_open(position, own) - self.count_open(position, other)
        return -ahead if self.misere else ahead
