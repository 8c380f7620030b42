"""Connect Four on any board that fits 62 bits; `wide/connect4.py` plays on larger ones.

A position has `height + 1` bits for each column, the leftmost column lowest. From the bottom of a column up there is
a bit for each stone (0 for the first player's, 1 for the second's), then a one, the guard, then zeros::

    the board     its bits, (1) for a guard

                   0   0   0
    . . .          0   0   0
    . O .          0  (1)  0            left       middle     right      highest bit first
    X X .         (1)  1   0       ->   0 0 (1) 0  0 (1) 1 0  0 0 0 (1)  in each column
                   0   0  (1)

>>> bin(Connect4(3, 3).read(".../.O./XX."))
'0b101100010'

Stones are encoded by colour, not by player to move, and the set of filled cells is the tier. Within a tier a stone of
one colour in one column changes the same bits in the same way. So a move keeps the order of positions.
"""

import re
from functools import cached_property

from retrograde.games.contract.game import LOSE, POSITION_BITS, TIE, UNDECIDED, WIN, Game


class Connect4(Game):
    """Drop stones into columns in turn; the first player with four in a row, in any direction, wins."""

    title = "Connect Four"
    words = {"X": "Red", "O": "Yellow"}
    example = "5,4"
    by_turns = "XO"

    width: int = 7
    height: int = 6
    connect: int = 4

    def __post_init__(self):
        if min(self.width, self.height, self.connect) < 1:
            raise ValueError("width, height and connect must be at least 1")
        if self.connect > POSITION_BITS:
            raise ValueError(f"connect must be at most {POSITION_BITS}")
        if self.width * self.stride > POSITION_BITS:
            raise ValueError(f"width × (height + 1) must be at most {POSITION_BITS}, and is {self.width * self.stride}")

    # The encoding

    @property
    def stride(self):
        return self.height + 1

    @cached_property
    def start(self):
        return sum(1 << self.stride * column for column in range(self.width))  # all guards on the floor

    @cached_property
    def board(self):
        return self.start * ((1 << self.height) - 1)

    @cached_property
    def spills(self):
        """Shifts by 1, 2, 4, …, each with the cells that it can reach within the same column."""
        shifts = [1 << i for i in range(self.height.bit_length())]
        return tuple((shift, self.start * ((1 << self.stride - shift) - 1)) for shift in shifts)

    def filled(self, position):
        """Return the cells that hold a stone: those below the guards."""
        filled = position
        for spill in self.spills:
            filled |= filled >> spill[0] & spill[1]
        return filled >> 1 & self.board

    # The rules

    def generate_moves(self, position):
        """Yield the columns that are not full, from 0 at the left."""
        for column in range(self.width):
            if not position >> self.stride * column + self.height & 1:
                yield column

    def do_move(self, position, column):
        """Return the position after a stone falls into a column."""
        filled = self.filled(position)
        guard = filled + self.start & (1 << self.stride) - 1 << self.stride * column
        return position + (guard << (filled.bit_count() & 1))  # the guard rises by one; its old bit becomes the stone's

    def primitive(self, position):
        """Return LOSE if the last stone made a row, TIE if the board is full, else UNDECIDED."""
        filled = self.filled(position)
        last = filled & (position if filled.bit_count() & 1 == 0 else ~position)  # stones of the player not to move
        for step in (1, self.height, self.stride, self.stride + 1):
            line = last
            for _ in range(self.connect - 1):
                line &= line >> step
            if line:
                return LOSE
        return TIE if filled == self.board else UNDECIDED

    def images(self, position):
        """Yield the mirror image.

        >>> game = Connect4(4, 4)
        >>> [game.write(image) for image in game.images(game.read("1"))]
        ['..../..../..../...X']
        """
        stride = self.stride
        column = (1 << stride) - 1
        mirrored = 0
        for _ in range(self.width):
            mirrored = mirrored << stride | position & column
            position >>= stride
        yield mirrored

    def tier(self, position):
        return self.filled(position)

    def tie_in(self, position):
        """Return the number of empty cells."""
        return self.width * self.height - self.filled(position).bit_count()

    @cached_property
    def even_rows(self):
        """The cells from which on, up to the top of the column, there is an even number of cells."""
        return self.start * sum(1 << row for row in range(self.height) if (self.height - row) % 2 == 0)

    def at_best(self, position):
        """Return what the player gets at best against an opponent who answers each stone with one on top of it.

        This is *follow-up* (Allis, 1988). It leaves the player one half of the empty cells, known in advance. In
        columns with an odd number of them it begins above the lowest. These columns make pairs: a stone on the lowest
        cell of one is answered by a stone on that of the other, so either player may get these two cells.
        """
        filled = self.filled(position)
        empty = self.board & ~filled
        if empty.bit_count() & 1:
            return WIN  # a column would be left without a pair
        stones = filled & position if filled.bit_count() & 1 else filled & ~position
        either = filled + self.start & empty & ~self.even_rows
        if self.in_a_row(stones | empty & self.even_rows | either):
            return WIN
        return LOSE if self.in_a_row(filled ^ stones | empty & ~self.even_rows & ~either) else TIE

    def in_a_row(self, stones):
        """Return whether these stones have `connect` in a row."""
        found = False
        for step in (1, self.height, self.stride, self.stride + 1):
            line = stones
            for _ in range(self.connect - 1):
                line &= line >> step
            found |= line != 0
        return found

    def estimate(self, position):
        """Return the player to move's lead in stones within rows that can still become four, counting each such row."""
        filled = self.filled(position)
        mover = filled.bit_count() & 1
        ahead = 0
        for player in range(2):
            stones = filled & (position if player else ~position)
            sign = 1 if player == mover else -1
            for step in (1, self.height, self.stride, self.stride + 1):
                # The first cell of each row without an opponent's stone.
                row = self.board & ~filled | stones
                for _ in range(self.connect - 1):
                    row &= row >> step
                for place in range(self.connect):
                    ahead += sign * (row & stones >> step * place).bit_count()
        return ahead

    def promise(self, position, column):
        """Return more for a move that makes more threats: empty cells that would complete a row of the player's.

        Threats that the next stone but one in their column fills count most; then columns near the centre.
        """
        child = self.do_move(position, column)
        filled = self.filled(child)
        stones = filled & (child if filled.bit_count() & 1 == 0 else ~child)
        cells = 0
        for step in (1, self.height, self.stride, self.stride + 1):
            # Cells that complete a row as its cell number *place*: empty, with stones on the cells before and after.
            below = self.board & ~filled
            for place in range(self.connect):
                row = below
                for i in range(1, self.connect - place):
                    row &= stones >> step * i
                cells |= row
                below &= stones << step * (place + 1)
        soon = cells & (filled + self.start & self.board) << 1  # above the cell that each column's next stone fills
        middle = self.width - abs(2 * column + 1 - self.width)
        return 64 * (cells.bit_count() + 2 * soon.bit_count()) + middle

    def quiet(self, position):
        """Return whether no move wins at once."""
        wins = False
        for column in self.generate_moves(position):
            wins |= self.primitive(self.do_move(position, column)) == LOSE
        return not wins

    # For people: `X` is the first player, `O` the second

    def variant_title(self):
        """Return the name with the size, and the length of a row if it is not four: `Connect Four 5 × 4`."""
        row = "" if self.connect == 4 else f", {self.connect} in a row"
        return f"{self.title} {self.width} × {self.height}{row}"

    def signs(self, position):
        """Return the rows from the top down, one after another."""
        filled = self.filled(position)
        cells = [self.stride * column + row for row in reversed(range(self.height)) for column in range(self.width)]
        return "".join(".XO"[(filled >> cell & 1) + ((filled & position) >> cell & 1)] for cell in cells)

    def position_of(self, signs, turn):
        """Return the position with these signs, row by row from the top; raise ValueError if a stone hangs in the
        air."""
        position = 0
        for column in reversed(range(self.width)):
            stones, _, above = signs[column :: self.width][::-1].partition(".")
            if above.strip("."):
                raise ValueError(f"a stone hangs in the air in column {column + 1}")
            bits = int("1" + stones[::-1].replace("X", "0").replace("O", "1"), 2)
            position = position << self.stride | bits
        return position

    def read(self, text):
        """Return the position for the columns played, as in `44353` (`10,4,12` on wide boards), or for a text of
        `write` or `show`."""
        if re.fullmatch(r"[\d,]*", text):
            return self.played(text.split(",") if "," in text else text)
        lines = [line for line in re.split(r"[/\n]", text.replace(" ", "")) if not line.isdecimal()]
        return super().read("/".join(lines))

    def played(self, columns):
        position = self.start
        for number, column in enumerate(columns):
            if self.primitive(position) != UNDECIDED:
                raise ValueError(f"the game is over after {number} moves")
            position = self.do_move(position, self.move(position, column))
        return position

    def show(self, position):
        lines = [" ".join(line) for line in self.write(position).split("/")]
        return "\n".join([*lines, " ".join(str(column + 1) for column in range(self.width))])

    def move_name(self, position, column):
        return str(column + 1)

    def draw_board(self):
        from retrograde.games.contract.drawing import grid

        across = [str(column + 1) for column in range(self.width)]
        pieces = {"X": "crimson disc", "O": "gold disc"}
        return grid(self.width, self.height, pieces, "holes", across, down=[""] * self.height)

    def draw_move(self, position, column):
        """Return the cell into which the stone falls."""
        height = (position >> self.stride * column & (1 << self.stride) - 1).bit_length() - 1
        return (self.width * (self.height - 1 - height) + column,)

    def draw_reach(self, position, column):
        """Return all cells of the column."""
        return tuple(range(column, self.width * self.height, self.width))

    def draw_end(self, position):
        """Return the cells of all winning rows."""
        signs = self.signs(position)
        rows = self.draw_board().in_a_row(self.connect)
        full = [row for row in rows if {signs[cell] for cell in row} in ({"X"}, {"O"})]
        return tuple(sorted({cell for row in full for cell in row}))
