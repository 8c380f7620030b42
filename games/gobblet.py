"""Gobblet Gobblers, by Thierry Denoual: tic-tac-toe with men that go over smaller ones.

The men of each size have a layer of cells of their own: small, then medium, then large ones. Rules of GamesmanOne: a
player who lifts a man may put it into a row of the opponent that appears below it.
"""

from retrograde.games.contract.drawing import Board, grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.games.kinds.in_line import InLine

ONE = grid(3, 3)
"""One layer."""


def layers(game):
    """Return the layers side by side."""
    places = [(x + 3.5 * size, y) for size in range(game.sizes) for x, y in ONE.places]
    names = [f"{size}{name}" for size in "SML"[-game.sizes :] for name in ONE.names]
    return Board(tuple(places), tuple(names), {}, len(places))


def turns(game):
    """Return the rotations and reflections of all layers at once."""
    return [[9 * size + cell for size in range(game.sizes) for cell in order]
            for order in (tuple(range(9)), *ONE.symmetries)]  # fmt: skip


class Gobblet(InLine):
    """Put a man on an empty cell, or over a smaller man. Or move a man of yours that nothing covers in the same way.
    Three visible men of yours in a row win, also if the opponent has three as well."""

    title = "Gobblet Gobblers"
    example = "2"
    cells = Cells(layers, turns, turns, X="darkorange disc", O="royalblue disc")
    mover = Turn("XO")
    lines = cells.bits_of(ONE.in_a_row(3))
    sizes: int = 3
    men: int = 2
    """The number of men of each size."""

    def __post_init__(self):
        if not (1 <= self.sizes <= 3 and 1 <= self.men <= 3):
            raise ValueError("sizes and men must be from 1 to 3")

    def seen(self, position, sign):
        """Return the cells where a man of this sign is on top, as bits of one layer."""
        men = self.cells.set(position, sign)
        covered, found = 0, 0
        for size in range(self.sizes - 1, -1, -1):
            found |= men >> 9 * size & ~covered & 511
            covered |= self.cells.filled(position) >> 9 * size & 511
        return found

    def open(self, position, size):
        """Return the cells without a man of this size or larger, as bits."""
        covered = 0
        for larger in range(size, self.sizes):
            covered |= self.cells.filled(position) >> 9 * larger
        return ~covered & 511

    def generate_moves(self, position):
        """Yield goals, cells of the layer of a man's size, for men from the hand. For others, add `cells * (1 +
        source)`.

        >>> game = Gobblet()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(0, 'Sa1'), (1, 'Sb1'), (2, 'Sc1')]
        """
        own, total = self.mover.sign(position), self.cells.size
        for size in range(self.sizes):
            men = self.cells.set(position, own) >> 9 * size & 511
            smaller = self.open(position, size)
            upper = men & self.open(position, size + 1)
            for cell in range(9):
                if smaller >> cell & 1:
                    goal = 9 * size + cell
                    if men.bit_count() < self.men:
                        yield goal
                    for source in range(9):
                        if upper >> source & 1:
                            yield total * (1 + 9 * size + source) + goal

    def do_move(self, position, move):
        """Return the position after a man comes from the hand or from another cell."""
        source, goal = move // self.cells.size - 1, move % self.cells.size
        if source >= 0:
            position = self.cells.remove(position, source)
        return self.mover.passed(self.cells.add(position, goal, self.mover.sign(position)))

    def primitive(self, position):
        """Return WIN if the player to move has a row, LOSE if the opponent alone has one, else UNDECIDED."""
        if self.fill_line(self.seen(position, self.mover.sign(position))):
            return WIN
        return LOSE if self.fill_line(self.seen(position, self.mover.other(position))) else UNDECIDED

    def tier(self, position):
        return self.cells.count(position)

    def draw_move(self, position, move):
        source, goal = move // self.cells.size - 1, move % self.cells.size
        return (goal,) if source < 0 else (source, goal)
