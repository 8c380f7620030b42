"""Quixo, by Thierry Chapeau: take a cube from the rim of a square board and push it in again.

All cubes are blank at first. A position is a bit for each cell with an X, row by row from the top left, then a bit for
each cell with an O, and above them the player to move, 0 for X. In each turn a player takes a cube from the rim that is
blank or her own. It becomes her own, and she pushes it in at another end of its row or column, so that the cubes
between move by one. A full row, column or diagonal wins for its owner. A player who completes one of the opponent's
loses, even if she completes one of her own.

    . X O .        the cube of a2, taken out by X          . X O .
    X . . O        and pushed in at d2, on the right       . . O X
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.games.kinds.in_line import InLine
from retrograde.games.kinds.placed import Placed, as_bits, placements
from retrograde.games.kinds.steps import Steps


class Quixo(InLine, Placed):
    """Take a cube from the rim, push it in again, and make a line of your own."""

    example = "3"
    bits = to_move = "XO"

    side: int = 5

    start = 0

    def __post_init__(self):
        if not 2 <= self.side <= 5:
            raise ValueError("the board must have two to five cells a side")

    @property
    def cells(self):
        return self.side**2

    @cached_property
    def board(self):
        return grid(self.side, self.side, {"X": "cross", "O": "ring"})

    @cached_property
    def placements(self):
        sections = ((x + o, (x, o)) for x in range(self.cells + 1) for o in range(self.cells + 1 - x))
        return placements(self.cells, sections, grid(self.side, self.side).symmetries, swap=(1, 0))

    @cached_property
    def lines(self):
        return tuple(map(as_bits, grid(self.side, self.side).in_a_row(self.side)))

    @cached_property
    def pushes(self):
        """For each push: source, target, the cells between and including them (bits), and the step between
        neighbours."""
        ends, found = (0, self.side - 1), []
        for source in range(self.cells):
            row, column = divmod(source, self.side)
            if row in ends or column in ends:
                across, down = [self.side * row + end for end in ends], [self.side * end + column for end in ends]
                for target, step in [(end, 1) for end in across] + [(end, self.side) for end in down]:
                    cells = as_bits(range(min(source, target), max(source, target) + 1, step))
                    found += [(source, target, cells, step)] * (target != source)
        return tuple(found)

    # The rules: a move is the number of a push

    def generate_moves(self, position):
        """Yield the numbers of the pushes whose cube is not the opponent's."""
        _, theirs = self.sides(position)
        for push in range(len(self.pushes)):
            if not theirs >> self.pushes[push][0] & 1:
                yield push

    def do_move(self, position, push):
        source, target, cells, step = self.pushes[push]
        return self.pushed(position, position >> 2 * self.cells, source, target, cells, step)

    def primitive(self, position):
        """Return WIN if the player to move has a line, LOSE if only the opponent has, else UNDECIDED."""
        mine, theirs = self.sides(position)
        if self.fill_line(mine):
            return WIN
        return LOSE if self.fill_line(theirs) else UNDECIDED

    def parents(self, position):
        """Yield the positions from which the opponent's last push leads here."""
        other = 1 - (position >> 2 * self.cells)
        for push in range(len(self.pushes)):
            source, target, cells, step = self.pushes[push]
            if position >> other * self.cells >> target & 1:
                yield self.pushed(position, other, target, source, cells, step)

    def pushed(self, position, player, source, target, cells, step):
        """Return the position after a player's push, with the other player to move."""
        # The cubes of either player between source and target move one step towards the source.
        both = cells | cells << self.cells
        moving = position & both & ~(1 << source | 1 << source + self.cells)
        moving = moving >> step if target > source else moving << step
        return (position & ~both | moving | 1 << target + player * self.cells) ^ 1 << 2 * self.cells

    def section_steps(self, men, number):
        """Return the pushes as (source, target, where each cell's cube goes)."""
        pushes = []
        for source, target, cells, step in self.pushes:
            goes = list(range(self.cells))
            for cell in range(self.cells):
                if cells >> cell & 1:
                    goes[cell] += -step if target > source else step
            goes[source] = target
            pushes.append((source, target, tuple(goes)))
        return Steps(pushes=tuple(pushes), slid=1, put=1, lines=self.lines, ends=(WIN, LOSE, WIN))

    # Hints

    feature_weights = (0, 10, 100)

    def features(self, position):
        """Return the leads in cubes, squares of each line's number of cubes, and cubes in the fullest line."""
        mine, theirs = self.sides(position)
        squares = most = most_other = 0
        for line in self.lines:
            own, other = (mine & line).bit_count(), (theirs & line).bit_count()
            squares += own**2 - other**2
            most, most_other = max(most, own), max(most_other, other)
        return mine.bit_count() - theirs.bit_count(), squares, most - most_other

    # For people

    def draw_move(self, position, push):
        return self.pushes[push][:2]
