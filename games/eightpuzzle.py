"""The 8-puzzle: slide eight tiles in a box of nine cells into order. Boxes of other sizes work too.

A position has four bits for each cell, row by row: the tile there, from 1, or 0 for the gap::

    1 2 3
    4 5 6      bits 4c to 4c + 3 have the tile of cell c, counted from 0: the goal of 3 × 3 is 0x087654321
    7 8 .

Every move can be undone by a move. So play from the start, which is far from the goal, reaches every arrangement that
can be solved: half of all. A move is the cell of the tile that slides into the gap.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import UNDECIDED, WIN, Game

SIGNS = ".123456789ABCDE"


class EightPuzzle(Game):
    """Slide the tiles of a box into the gap until they are in order, with the gap last."""

    title = "8-puzzle"
    players = 1

    width: int = 3
    height: int = 3

    def __post_init__(self):
        if not (self.width >= 2 and self.height >= 2 and self.width * self.height <= len(SIGNS)):
            raise ValueError(f"width and height must be at least 2, and the box have at most {len(SIGNS)} cells")

    @property
    def cells(self):
        return self.width * self.height

    @cached_property
    def goal(self):
        return sum(tile << 4 * (tile - 1) for tile in range(1, self.cells))

    @cached_property
    def start(self):
        """The tiles in reverse, the gap last. Two tiles are exchanged if it could not be solved otherwise."""
        tiles = list(range(self.cells - 1, 0, -1))
        # An order is solvable, with the gap last, if the number of pairs in wrong order is even.
        turned = sum(a > b for i, a in enumerate(tiles) for b in tiles[i + 1 :])
        if turned % 2:
            tiles[-2:] = tiles[:-3:-1]
        return sum(tile << 4 * cell for cell, tile in enumerate(tiles))

    # The rules

    def gap(self, position):
        """Return the empty cell."""
        cell = 0
        while position >> 4 * cell & 15:
            cell += 1
        return cell

    def generate_moves(self, position):
        """Yield the cells next to the gap: the tile there moves into it."""
        gap = self.gap(position)
        if gap >= self.width:
            yield gap - self.width
        if gap % self.width:
            yield gap - 1
        if gap % self.width < self.width - 1:
            yield gap + 1
        if gap < self.cells - self.width:
            yield gap + self.width

    def do_move(self, position, cell):
        tile = position >> 4 * cell & 15
        return position - (tile << 4 * cell) + (tile << 4 * self.gap(position))

    def primitive(self, position):
        return WIN if position == self.goal else UNDECIDED

    def parents(self, position):
        for cell in self.generate_moves(position):
            yield self.do_move(position, cell)

    # Hints

    @cached_property
    def distances(self):
        """For each tile and cell, the columns and rows between the cell and the tile's place at the end."""
        places = [divmod(cell, self.width) for cell in range(self.cells)]
        goals = [places[tile - 1] for tile in range(self.cells)]
        return tuple(tuple(abs(row - r) + abs(column - c) for row, column in places) for r, c in goals)

    def tile(self, position, cell):
        return position >> 4 * cell & 15

    def least_plies(self, position):
        """Return the sum of the tiles' distances (Manhattan distance): a move changes it by 1."""
        plies = 0
        for cell in range(self.cells):
            tile = self.tile(position, cell)
            if tile:
                plies += self.distances[tile][cell]
        return plies

    def estimate(self, position):
        return -self.least_plies(position)

    # For people

    @cached_property
    def board(self):
        return grid(self.width, self.height, {SIGNS[tile]: str(tile) for tile in range(1, self.cells)})

    def tiles(self, position):
        return [position >> 4 * cell & 15 for cell in range(self.cells)]

    def signs(self, position):
        return "".join(SIGNS[tile] for tile in self.tiles(position))

    def position_of(self, signs, turn):
        if set(signs) != set(SIGNS[: self.cells]):
            raise ValueError("each tile must be there once, and one cell be empty")
        return sum(SIGNS.index(sign) << 4 * cell for cell, sign in enumerate(signs))

    def show(self, position):
        wide = len(str(self.cells - 1))
        names = [f"{tile or '.':>{wide}}" for tile in self.tiles(position)]
        return "\n".join(" ".join(names[i : i + self.width]) for i in range(0, self.cells, self.width))

    def move_name(self, position, cell):
        return str(position >> 4 * cell & 15)

    def draw_move(self, position, cell):
        return cell, self.gap(position)
