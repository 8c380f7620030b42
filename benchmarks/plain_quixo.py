"""Quixo as one would write it at first: no numbering, no tiers, no parents, and as few images as one likes.

A position has two bits for each cell, 0 for a blank cube, 1 for one of the player to move and 2 for one of the
opponent's: so all positions are of one tier, in which play goes round. `mirrors` is 1, 2 (left for right) or 8.
"""

from functools import cached_property

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN, Game


class PlainQuixo(Game):
    """Take a cube from the rim, push it in again, and make a line of your own."""

    side: int = 3
    mirrors: int = 8

    start = 0

    def __post_init__(self):
        if not 2 <= self.side <= 5 or self.mirrors not in (1, 2, 8):
            raise ValueError("the board must have two to five cells a side, and 1, 2 or 8 mirrors")

    @cached_property
    def lines(self):
        n, cells = self.side, range(self.side**2)
        rows = tuple(tuple(cells[n * row : n * row + n]) for row in range(n))
        columns = tuple(tuple(cells[column::n]) for column in range(n))
        return (*rows, *columns, tuple(cells[:: n + 1]), tuple(cells[n - 1 : -1 : n - 1]))

    @cached_property
    def pushes(self):
        """For each push the cell whose cube is taken out, the one where it is pushed in, and from one to the next."""
        n, found = self.side, []
        for source in range(n * n):
            row, column = divmod(source, n)
            if {row, column} & {0, n - 1}:
                ends = (n * row, -1), (n * row + n - 1, 1), (column, -n), (n * n - n + column, n)
                found += [(source, target, step) for target, step in ends if target != source]
        return tuple(found)

    @cached_property
    def symmetries(self):
        """For each mirror image the cell from which each cell comes."""
        n, cells = self.side, tuple(range(self.side**2))
        mirrored = tuple(cell // n * n + n - 1 - cell % n for cell in cells)
        found = [cells, mirrored]
        for _ in range(3):
            found += [tuple(image[cell % n * n + n - 1 - cell // n] for cell in cells) for image in found[-2:]]
        return tuple(found[: self.mirrors])

    def generate_moves(self, position):
        for push in range(len(self.pushes)):
            if position >> 2 * self.pushes[push][0] & 3 != 2:
                yield push

    def do_move(self, position, push):
        cell, target, step = self.pushes[push]
        while cell != target:
            position += ((position >> 2 * (cell + step) & 3) - (position >> 2 * cell & 3)) << 2 * cell
            cell += step
        position += (1 - (position >> 2 * cell & 3)) << 2 * cell
        ones = position & (1 << 2 * self.side**2) // 3
        return ones << 1 | (position ^ ones) >> 1

    def primitive(self, position):
        lost = False
        for line in self.lines:
            both = 3
            for cell in line:
                both &= position >> 2 * cell
            if both & 1:
                return WIN
            lost |= both & 2 > 0
        return LOSE if lost else UNDECIDED

    def images(self, position):
        for symmetry in self.symmetries:
            image = 0
            for cell in range(self.side**2):
                image |= (position >> 2 * symmetry[cell] & 3) << 2 * cell
            yield image
