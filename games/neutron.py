"""Neutron, by Robert A. Kraus: both players move the neutron, and then a man of theirs.

Rules of GamesmanOne, on boards of any odd size. The first player does not move the neutron in the first turn.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Flag, Turn
from retrograde.games.contract.game import LOSE, UNDECIDED, WIN, Game
from retrograde.games.kinds.points import DIRECTIONS


class Neutron(Game):
    """Move the neutron in any direction until something stops it, then one of your men in the same way. You win when
    the neutron stands on your first row. A player who cannot move the neutron and then a man loses."""

    words = {"X": "White", "O": "Black", "N": "Neutron"}
    cells = Cells(
        lambda game: grid(game.width, game.height), "mirror", X="white disc", O="black disc", N="crimson disc N"
    )
    mover = Turn("XO")
    begun = Flag()
    width: int = 3
    height: int = 5

    def __post_init__(self):
        if self.width % 2 == 0 or self.height % 2 == 0 or self.width * self.height < 9:
            raise ValueError("width and height must be odd, and have 9 cells at least")

    @cached_property
    def start(self):
        empty = ["." * self.width] * (self.height // 2 - 1)
        middle = "N".center(self.width, ".")
        return self.read("/".join(["O" * self.width, *empty, middle, *empty, "X" * self.width, "X", "no"]))

    @cached_property
    def rays(self):
        return self.cells.rays(*DIRECTIONS)

    def stop(self, position, cell, way):
        """Return the cell where a man on a cell stops; -1 if it cannot move this way."""
        stop = -1
        for goal in self.rays[cell][way]:
            if goal < 0 or not self.cells.is_empty(position, goal):
                break
            stop = goal
        return stop

    def neutron(self, position):
        """Return the cell of the neutron."""
        return self.cells.set(position, self.cells.N).bit_length() - 1

    def is_end(self, cell):
        """Return whether a cell is in the first or the last row."""
        return cell < self.width or cell >= self.cells.size - self.width

    def men_moved(self, position):
        """Yield `8 * cell + way` for each move of a man."""
        for cell in self.cells.having(position, self.mover.sign(position)):
            for way in range(8):
                if self.stop(position, cell, way) >= 0:
                    yield 8 * cell + way

    def generate_moves(self, position):
        """Yield `(8 * cells + 1) * way + man`: the way of the neutron, and a number of `men_moved`. The way is 8 in the
        first turn, when the neutron stays. The man is `8 * cells` if the neutron ends the game.

        >>> game = Neutron()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(1065, 'a5-a2'), (1066, 'a5-c3'), (1072, 'b5-a4')]
        """
        moves = 8 * self.cells.size + 1
        neutron = self.neutron(position)
        if not self.begun.get(position):
            for man in self.men_moved(position):
                yield 8 * moves + man
        else:
            for way in range(8):
                goal = self.stop(position, neutron, way)
                if goal >= 0 and self.is_end(goal):
                    yield moves * way + moves - 1
                elif goal >= 0:
                    for man in self.men_moved(self.cells.go(position, neutron, goal)):
                        yield moves * way + man

    def do_move(self, position, move):
        """Return the position after the neutron has moved, and a man if the game goes on.

        >>> game = Neutron()
        >>> game.write(game.start), game.write(game.do_move(game.start, 1065))  # a5-a2
        ('OOO/.../.N./.../XXX/X/no', 'OOO/X../.N./.../.XX/O/yes')
        """
        way, man = move // (8 * self.cells.size + 1), move % (8 * self.cells.size + 1)
        if way < 8:
            neutron = self.neutron(position)
            position = self.cells.go(position, neutron, self.stop(position, neutron, way))
        if man < 8 * self.cells.size:
            position = self.cells.go(position, man // 8, self.stop(position, man // 8, man % 8))
        return self.begun.put(self.mover.passed(position), True)

    def primitive(self, position):
        """Return WIN or LOSE if the neutron is on a player's first row, LOSE without a move, else UNDECIDED."""
        neutron = self.neutron(position)
        if self.is_end(neutron):
            return WIN if (neutron < self.width) == self.mover.get(position) else LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    # For people

    def draw_move(self, position, move):
        """Return the cells that the neutron leaves and enters, and those of the man."""
        way, man = move // (8 * self.cells.size + 1), move % (8 * self.cells.size + 1)
        gone = [self.neutron(position), self.stop(position, self.neutron(position), way)] if way < 8 else []
        if man == 8 * self.cells.size:
            return tuple(gone)
        after = self.cells.go(position, *gone) if gone else position
        return (*gone, man // 8, self.stop(after, man // 8, man % 8))
