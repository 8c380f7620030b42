"""The 15-puzzle, and other boxes of 16 cells: `eightpuzzle.py` with a position of two words.

Each word has four bits for each of eight cells, row by row: the tile there, from 1, or 0 for the gap.

With the option `only`, as in `only=1-2-3-5-6`, only these tiles count. The others are alike, and to move them takes no
move. So a position says only where the counted tiles are and which other cells the gap can get to past them: these have
the number 0, the rest the number of the first tile that does not count. A move takes a counted tile into such a cell.

These positions are numbered: `regions` lists, for each set of cells with counted tiles, the parts into which the other
cells fall. The number is that of the region with the gap, then that of the order of the tiles, cell by cell.

A move of the whole puzzle moves one tile. So it is a move of the smaller puzzle in which that tile counts, and leaves
all others as they are. The distances of smaller puzzles without a tile in common add up to a lower bound (Korf and
Felner, 2002).
"""

from dataclasses import replace
from functools import cached_property
from itertools import combinations
from math import factorial

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import UNDECIDED, WIN, replaced
from retrograde.games.eightpuzzle import SIGNS, EightPuzzle
from retrograde.games.wide.two_words import TwoWords

MORE_SIGNS = SIGNS + "F"
CELLS = 8
"""The number of cells in a word."""
MOST_COUNTED = 5
"""The most tiles that count in an abstraction of a box without PATTERNS."""
PATTERNS = {(4, 4): ("1-5-6-9-10-13", "7-8-11-12-14-15", "2-3-4")}
"""The tiles that count in each abstraction, for boxes where consecutive tiles are not the best choice."""


class FifteenPuzzle(TwoWords, EightPuzzle):
    """Slide the tiles of a box into the gap until they are in order, with the gap last."""

    name = "eightpuzzle"
    low_bits = 4 * CELLS

    only: str = "all"

    def __post_init__(self):
        if not (self.width >= 2 and self.height >= 2 and self.cells <= len(MORE_SIGNS)):
            raise ValueError(f"width and height must be at least 2, and the box have at most {len(MORE_SIGNS)} cells")
        counted = [tile for tile in map(str, range(1, self.cells)) if tile in self.only.split("-")]
        if self.is_part and not (self.only == "-".join(counted) and 0 < len(counted) <= self.cells - 3):
            raise ValueError(f"only={self.only}; name {self.cells - 3} tiles at most, in order, as in 1-2-5")

    @property
    def is_part(self):
        """Return whether only some tiles count."""
        return self.only != "all"

    @cached_property
    def goal(self):
        return self.part_of(self.split(super().goal))

    @cached_property
    def start(self):
        return self.part_of(self.split(super().start))

    def part_of(self, position):
        if not self.is_part:
            return position
        return self.seen_with(position, self.gap(position), self.mask, self.free_tile(self.mask))

    # Some tiles

    @cached_property
    def mask(self):
        """The tiles that count, as bits."""
        return sum(1 << int(tile) for tile in self.only.split("-")) if self.is_part else (1 << self.cells) - 2

    @cached_property
    def abstractions(self):
        """The smaller puzzles whose distances add up to a lower bound."""
        if self.is_part:
            return ()
        tiles = [*map(str, range(1, self.cells))]
        most = min(MOST_COUNTED, self.cells - 3)
        groups = ["-".join(tiles[i : i + most]) for i in range(0, len(tiles), most)]
        return tuple(replace(self, only=group) for group in PATTERNS.get((self.width, self.height), groups))

    @cached_property
    def masks(self):
        return tuple(puzzle.mask for puzzle in self.abstractions) or (0,)

    def abstracted(self, position, number):
        mask = self.masks[number]
        return self.seen_with(position, self.gap(position), mask, self.free_tile(mask))

    def free_tile(self, mask):
        """Return the first tile that does not count."""
        tile = 1
        while mask >> tile & 1:
            tile += 1
        return tile

    def seen_with(self, position, gap, mask, other):
        """Return the position of the puzzle in which only the tiles of a mask count. *other* stands for any other tile
        on cells that the gap cannot get to."""
        taken = 0
        for cell in range(self.cells):
            taken |= (mask >> self.tile(position, cell) & 1) << cell
        reached = self.region(gap, taken)
        low = high = 0
        for cell in range(self.cells):
            free = 0 if reached >> cell & 1 else other
            tile = self.tile(position, cell) if taken >> cell & 1 else free
            if cell < CELLS:
                low |= tile << 4 * cell
            else:
                high |= tile << 4 * (cell - CELLS)
        return low, high

    def region(self, gap, taken):
        """Return the cells that the gap can get to past the taken ones, as bits.

        It may swap with any tile that does not count; *taken* are the cells of those that count, as bits.
        """
        reached, before = 1 << gap, 0
        while reached != before:
            before = reached
            # One step right, except from the last column, and left, except from the first: the cells after a last one.
            beside = (reached & ~self.last_column) << 1 | (reached & ~(self.last_column << 1)) >> 1
            reached |= (beside | reached << self.width | reached >> self.width) & ~taken & (1 << self.cells) - 1
        return reached

    @cached_property
    def last_column(self):
        return sum(1 << cell for cell in range(self.width - 1, self.cells, self.width))

    # The numbering, if only some tiles count

    @property
    def tiers(self):
        return (0,) if self.is_part else ()

    def size(self, tier):
        return len(self.regions) * self.orders

    @cached_property
    def count(self):
        """How many tiles count."""
        return self.mask.bit_count()

    @cached_property
    def orders(self):
        """How many orders the tiles that count have."""
        return factorial(self.count)

    @cached_property
    def ranks(self):
        """For each tile, how many smaller ones count."""
        return tuple((self.mask & (1 << tile) - 1).bit_count() for tile in range(CELLS * 2))

    @cached_property
    def regions(self):
        """The cells with counted tiles, and the cells that the gap can get to, as bits: all cases, in order."""
        found = []
        for cells in combinations(range(self.cells), self.count):
            taken = sum(1 << cell for cell in cells)
            free = {self.region(cell, taken) for cell in range(self.cells) if cell not in cells}
            found += [(taken, reached) for reached in free]
        return tuple(sorted(found))

    @cached_property
    def first_region(self):
        """For each set of cells, the number of the first of its regions; 0 if it has none."""
        first = [0] * (1 << self.cells)
        for number, (taken, _) in reversed([*enumerate(self.regions)]):
            first[taken] = number
        return tuple(first)

    def index(self, position):
        """Return a slot: the number of the cells that tiles take and the gap reaches, then that of the order of the
        tiles."""
        taken = reached = order = 0
        left, tiles = self.count, (1 << self.count) - 1  # how many tiles are still to come, and which
        for cell in range(self.cells):
            tile = self.tile(position, cell)
            if tile == 0:
                reached |= 1 << cell
            elif self.mask >> tile & 1:
                taken |= 1 << cell
                own = 1 << self.ranks[tile]
                order = order * left + (tiles & own - 1).bit_count()
                tiles ^= own
                left -= 1
        number = self.first_region[taken]
        while self.regions[number][1] != reached:
            number += 1
        return number * self.orders + order

    def unindex(self, tier, i):
        """Return the position of a slot."""
        taken, reached = self.regions[i // self.orders]
        # The order, `rest`, has a digit for each counted tile: how many smaller tiles are left. `base` is the digit's
        # worth, and `left` has a bit for each tile that is left.
        rest, left, base = i % self.orders, self.mask, self.orders
        count, other = self.count, self.free_tile(self.mask)
        low = high = 0
        for cell in range(self.cells):
            tile = 0 if reached >> cell & 1 else other
            if taken >> cell & 1:
                base //= count
                count -= 1
                tile, before = 0, rest // base
                rest %= base
                # Find the tile with *before* smaller ones among those left.
                while before or not (left >> tile) & 1:
                    before -= (left >> tile) & 1
                    tile += 1
                left ^= 1 << tile
            if cell < CELLS:
                low |= tile << 4 * cell
            else:
                high |= tile << 4 * (cell - CELLS)
        return low, high

    # The rules

    def generate_moves(self, position):
        """Yield the cells whose tile may go into the gap. If only some tiles count: `source << 4 | target`, a counted
        tile, and a cell beside it that the gap can get to."""
        if self.is_part:
            for cell in range(self.cells):
                if self.mask >> self.tile(position, cell) & 1:
                    for to in range(self.cells):
                        apart = abs(to - cell)
                        beside = apart == self.width or (apart == 1 and to // self.width == cell // self.width)
                        if beside and self.tile(position, to) == 0:
                            yield cell << 4 | to
        else:
            for cell in super().generate_moves(position):
                yield cell

    def tile(self, position, cell):
        return position[cell // CELLS] >> 4 * (cell % CELLS) & 15

    def gap(self, position):
        """Return the empty cell."""
        cell = 0
        while self.tile(position, cell):
            cell += 1
        return cell

    def do_move(self, position, move):
        """Return the position after the tile on a cell moves into the gap, or into a cell that the gap can get to."""
        cell, gap = (move >> 4, move & 15) if self.is_part else (move, self.gap(position))
        tile = self.tile(position, cell)
        position = replaced(position, cell // CELLS, position[cell // CELLS] - (tile << 4 * (cell % CELLS)))
        position = replaced(position, gap // CELLS, position[gap // CELLS] + (tile << 4 * (gap % CELLS)))
        return self.seen_with(position, cell, self.mask, self.free_tile(self.mask)) if self.is_part else position

    def primitive(self, position):
        return WIN if position[0] == self.goal[0] and position[1] == self.goal[1] else UNDECIDED

    def least_plies(self, position):
        plies = 0
        for cell in range(self.cells):
            tile = self.tile(position, cell)
            if self.mask >> tile & 1:
                plies += self.distances[tile][cell]
        return plies

    # For people

    @cached_property
    def board(self):
        return grid(self.width, self.height, {MORE_SIGNS[tile]: str(tile) for tile in range(1, self.cells)})

    def tiles(self, position):
        return [self.tile(position, cell) for cell in range(self.cells)]

    def signs(self, position):
        return "".join(MORE_SIGNS[tile] for tile in self.tiles(position))

    def position_of(self, signs, turn):
        """Return the position with these tiles; raise ValueError if one is missing, or the gap cannot get to its
        cells."""
        counted = {MORE_SIGNS[tile] for tile in range(self.cells) if self.mask >> tile & 1}
        free = self.free_tile(self.mask)
        rest = set(signs) - counted
        once = sorted(sign for sign in signs if sign in counted) == sorted(counted)
        if not once or "." not in rest or not rest <= {".", MORE_SIGNS[free : free + 1]}:
            raise ValueError("each tile must be there once, and one cell be empty")
        position = self.split(sum(MORE_SIGNS.index(sign) << 4 * cell for cell, sign in enumerate(signs)))
        if position != self.part_of(position):
            raise ValueError("the empty cells must be those that the gap can get to past the tiles that count")
        return position

    def move_name(self, position, move):
        return f"{self.tile(position, move >> 4)}-{move & 15}" if self.is_part else str(self.tile(position, move))

    def draw_move(self, position, move):
        return (move >> 4, move & 15) if self.is_part else (move, self.gap(position))
