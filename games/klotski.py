"""Klotski, or Huarong Dao: slide blocks in a box until the square one can be taken out.

A position has three bits for each cell, row by row: the block whose upper left corner is there. 0 means that the cell
is empty, or that a block with another corner covers it::

    1 S    2 HH    3 V    4 BB      bits 3c to 3c + 2 have what begins in cell c: of VBBV/VBBV/VHHV/VSSV/S..S
                     V      BB      3 4 0 3 0 0 0 0 3 2 0 3 0 1 1 0 1 0 0 1

Blocks of one shape are interchangeable. A step moves a block by one cell. A move, as Gardner counts (Scientific
American, February 1964), moves one block as far as one likes, round corners too. Every move can be undone by a move.
"""

from functools import cached_property

from retrograde.games.contract.game import UNDECIDED, WIN, Game

SIGNS = ".SHVB"
SQUARE = SIGNS.index("B")
SIZES = ((0, 0), (1, 1), (2, 1), (1, 2), (2, 2))
"""The width and height of each block."""
MOST_CELLS = 20


class Klotski(Game):
    """Slide the blocks until the large square one is in the middle of the bottom, or at the goal."""

    players = 1

    layout: str = "VBBV-VBBV-VHHV-VSSV-S..S"
    """The rows at the start, joined by -: single blocks S, horizontal ones HH, vertical ones V above V, one square BB
    above BB. Dots are empty cells."""
    moves: bool = False
    """Whether one move takes a block to any cells that it can slide to; otherwise it goes one cell."""
    goal: int = -1
    """The cell, row by row from 0, that the square's upper left corner must reach; -1: the middle of the bottom."""

    def __post_init__(self):
        if len({*map(len, self.rows)}) != 1 or not 4 <= self.cells <= MOST_CELLS or {*self.layout} - {*SIGNS, "-"}:
            raise ValueError(f"layout must be rows of one length, joined by -, of 4 to {MOST_CELLS} cells of {SIGNS}")
        if self.start < 0:
            raise ValueError("layout must be made of blocks S, HH, V above V, and BB above BB, as in VBB-VBB")
        if self.layout.count("B") != 4:
            raise ValueError("layout must have one square block")
        if self.target >= self.cells or not self.fits[SQUARE][self.target]:
            raise ValueError(f"goal must be a cell where the square fits, not {self.goal}")
        if next(iter(self.generate_moves(self.start)), None) is None:
            raise ValueError("layout must leave a block that can move")

    @cached_property
    def rows(self):
        return self.layout.split("-")

    @cached_property
    def width(self):
        return len(self.rows[0])

    @cached_property
    def cells(self):
        return self.width * len(self.rows)

    @property
    def target(self):
        """The cell that the square's upper left corner must reach."""
        if self.goal >= 0:
            return self.goal
        return self.cells - 2 * self.width + (self.width - 2) // 2

    @cached_property
    def start(self):
        return self.coded(self.layout.replace("-", ""))

    @cached_property
    def fits(self):
        """For each block and each cell, the cells it covers with its corner there (bits); 0 if it sticks out."""
        return tuple(tuple(self.covered(*size, cell) for cell in range(self.cells)) for size in SIZES)

    def covered(self, wide, high, cell):
        """Return the cells that a block covers from its upper left *cell* on, as bits; 0 if it does not fit."""
        if cell % self.width + wide > self.width or cell + (high - 1) * self.width >= self.cells:
            return 0
        return sum(1 << cell + row * self.width + column for row in range(high) for column in range(wide))

    @cached_property
    def near(self):
        """For each cell, its neighbours: left, right, above, below. A neighbour outside the box is the cell itself."""
        found = []
        for cell in range(self.cells):
            beside = [cell - 1 if cell % self.width else cell, cell + 1 if (cell + 1) % self.width else cell]
            found.append((*beside, max(cell - self.width, cell % self.width), self.below(cell)))
        return tuple(found)

    def below(self, cell):
        return cell + self.width if cell + self.width < self.cells else cell

    # The rules: a move is the cell of the block's corner × the number of cells + the cell that the corner enters

    def taken(self, position):
        """Return the covered cells, as bits."""
        cells = 0
        for cell in range(self.cells):
            cells |= self.fits[position >> 3 * cell & 7][cell]
        return cells

    def reached(self, block, cell, others):
        """Return the cells that a block's corner can reach in a move, as bits, its own included. *others* are the cells
        that other blocks cover, as bits."""
        found = 1 << cell
        before = 0
        while found != before:
            before = found
            for at in range(self.cells):
                if before >> at & 1:
                    for to in self.near[at]:
                        if self.fits[block][to] and not self.fits[block][to] & others:
                            found |= 1 << to
            if not self.moves:
                break
        return found

    def generate_moves(self, position):
        """Yield `cell * cells + to` for each block at a cell and each other cell that it can reach.

        >>> game = Klotski()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(277, 'b4-b5'), (298, 'c4-c5'), (337, 'a5-b5')]
        """
        taken = self.taken(position)
        for cell in range(self.cells):
            block = position >> 3 * cell & 7
            if block:
                reached = self.reached(block, cell, taken ^ self.fits[block][cell])
                for to in range(self.cells):
                    if to != cell and reached >> to & 1:
                        yield cell * self.cells + to

    def do_move(self, position, move):
        cell, to = move // self.cells, move % self.cells
        block = position >> 3 * cell & 7
        return position - (block << 3 * cell) + (block << 3 * to)

    def primitive(self, position):
        return WIN if position >> 3 * self.target & 7 == SQUARE else UNDECIDED

    def parents(self, position):
        for move in self.generate_moves(position):
            yield self.do_move(position, move)

    def images(self, position):
        """Yield the mirror image, if the goal is in the middle."""
        if 2 * (self.target % self.width) + 2 == self.width:
            image = 0
            for cell in range(self.cells):
                block = position >> 3 * cell & 7
                if block:
                    column = cell % self.width
                    wide = 2 if block == 2 or block == SQUARE else 1
                    # The left column of the mirrored block is width - wide - column.
                    image |= block << 3 * (cell + self.width - wide - 2 * column)
            yield image

    # For people

    def coded(self, signs):
        """Return the position with these signs in its cells, or -1 if they are not made of blocks."""
        position = covered = 0
        for cell, sign in enumerate(signs):
            if covered >> cell & 1 or sign == ".":
                continue
            block = SIGNS.index(sign)
            cells = self.fits[block][cell]
            if not cells or cells & covered or any(cells >> at & 1 and signs[at] != sign for at in range(self.cells)):
                return -1
            covered |= cells
            position |= block << 3 * cell
        return position

    def write(self, position):
        signs = self.draw_pieces(position)
        return "/".join(signs[i : i + self.width] for i in range(0, self.cells, self.width))

    def read(self, text):
        if [*map(len, text.split("/"))] != [*map(len, self.rows)]:
            size = f"{len(self.rows)} rows of {self.width}"
            raise ValueError(f"a position is {size} signs, as in {self.write(self.start)}")
        return self.read_pieces(text.replace("/", ""), "")

    def show(self, position):
        return self.write(position).replace("/", "\n")

    def move_name(self, position, move):
        return "-".join(self.draw_board().names[cell] for cell in divmod(move, self.cells))

    def draw_board(self):
        from retrograde.games.contract.drawing import grid

        colours = {"S": "gold square", "H": "seagreen square", "V": "steelblue square", "B": "crimson square"}
        return grid(self.width, len(self.rows), colours)

    def draw_pieces(self, position):
        """Return a sign for each cell: that of the block on it, or a dot."""
        signs = ["."] * self.cells
        for cell in range(self.cells):
            block = position >> 3 * cell & 7
            for at in range(self.cells):
                if self.fits[block][cell] >> at & 1:
                    signs[at] = SIGNS[block]
        return "".join(signs)

    def draw_move(self, position, move):
        return divmod(move, self.cells)

    def read_pieces(self, pieces, turn):
        position = -1 if set(pieces) - set(SIGNS) else self.coded(pieces)
        if position < 0:
            raise ValueError("a position is made of blocks S, HH, V above V, and BB above BB")
        if sorted(pieces) != sorted(self.layout.replace("-", "")):
            raise ValueError("there must be as many blocks of each kind as at the start")
        return position
