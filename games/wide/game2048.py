"""2048 on boards of more than 15 cells, such as the original 4 × 4: `game2048.py` with a position of two words.

The first half of the cells is in the first word, 4 bits each, the other half in the second. Above the cells of the
second word is the bit that says whether chance is to put a tile.
"""

from retrograde.games.contract.game import CHANCE, LOSE, UNDECIDED, WIN
from retrograde.games.game2048 import Game2048
from retrograde.games.wide.two_words import TwoWords

MOST_CELLS = 30


class Wide2048(TwoWords, Game2048):
    """Slide tiles together, two equal ones into one, until one shows the target."""

    name = "game2048"

    def __post_init__(self):
        if self.width < 2 or self.height < 1 or self.cells > MOST_CELLS:
            raise ValueError(f"width must be 2 or more, height 1 or more, and there is room for {MOST_CELLS} cells")
        if not 4 <= self.target <= 1 << 15 or self.target & self.target - 1:
            raise ValueError("target must be a power of two from 4 to 32768")

    @property
    def half(self):
        """The number of cells in the first word."""
        return (self.cells + 1) // 2

    @property
    def low_bits(self):
        return 4 * self.half

    @property
    def waiting(self):
        """The bit of the second word that is 1 where chance is to put a tile."""
        return 1 << 4 * (self.cells - self.half)

    @property
    def start(self):
        return 0, self.waiting

    def tile(self, position, cell):
        word, place = cell // self.half, cell % self.half
        return position[word] >> 4 * place & 15

    def with_tile(self, position, cell, tile):
        """Return a position with a tile added to a cell."""
        if cell < self.half:
            return position[0] + (tile << 4 * cell), position[1]
        return position[0], position[1] + (tile << 4 * (cell - self.half))

    # The rules

    def turn(self, position):
        return CHANCE if position[1] & self.waiting and not self.reached(position) else 0

    def reached(self, position):
        """Return whether a tile has reached the target."""
        found = False
        for cell in range(self.cells):
            found |= self.tile(position, cell) == self.goal
        return found

    def generate_moves(self, position):
        """Yield the directions that change the board, or `2 * cell` and `2 * cell + 1` for a new 2 or 4 on an empty
        cell."""
        if position[1] & self.waiting:
            for cell in range(self.cells):
                if not self.tile(position, cell):
                    yield 2 * cell
                    yield 2 * cell + 1
        else:
            for direction in range(4):
                first, second = self.slide(position, direction)
                if first != position[0] or second != position[1]:
                    yield direction

    def do_move(self, position, move):
        """Return the position after a slide, or after a new tile; a second one follows on an empty board."""
        if not position[1] & self.waiting:
            first, second = self.slide(position, move)
            return first, second | self.waiting
        first, second = self.with_tile(position, move >> 1, (move & 1) + 1)
        empty = not position[0] and position[1] == self.waiting
        return first, second if empty else second - self.waiting

    def slide(self, board, direction):
        """Return a board after its tiles slide in a direction; two equal neighbours become one tile."""
        result = (0, 0)
        for number in range(self.first_lines[direction], self.first_lines[direction + 1]):
            first, length, step = self.lines[number]
            place, last = first, 0
            for i in range(length):
                tile = self.tile(board, first + step * i)
                if tile and tile == last:
                    result = self.with_tile(result, place - step, 1)
                    last = 0
                elif tile:
                    result = self.with_tile(result, place, tile)
                    place += step
                    last = tile
        return result

    def primitive(self, position):
        """Return WIN if the target is reached, LOSE if nothing can slide, else UNDECIDED."""
        if self.reached(position):
            return WIN
        if position[1] & self.waiting:
            return UNDECIDED
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def tier(self, position):
        """Return a number that grows with each move: twice the tiles' sum, plus 1 while a tile is to come."""
        total = 0
        for cell in range(self.cells):
            tile = self.tile(position, cell)
            if tile:
                total += 2 << tile
        return total + (1 if position[1] & self.waiting else 0)

    def images(self, position):
        for number in range(len(self.symmetries)):
            image = (0, position[1] & self.waiting)
            for cell in range(self.cells):
                image = self.with_tile(image, self.symmetries[number][cell], self.tile(position, cell))
            yield image

    # For people

    def write(self, position):
        return super().write(self.joined(position))

    def read(self, text):
        return self.split(super().read(text))

    def show(self, position):
        return super().show(self.joined(position))

    def move_name(self, position, move):
        return super().move_name(self.joined(position), move)

    def draw_pieces(self, position):
        return super().draw_pieces(self.joined(position))

    def draw_move(self, position, move):
        return super().draw_move(self.joined(position), move)
