"""Connect Four on boards of more than 62 bits.

A position has two words: the left half of the columns, and the right half, each as in `connect4.py`. Together they are
the position of one int that would be too long::

    | right columns, high word | left columns, low word |     the low word has `low_bits` bits
"""

from functools import cached_property

from retrograde.games.connect4 import Connect4
from retrograde.games.contract.game import LOSE, POSITION_BITS, TIE, UNDECIDED, WIN, replaced
from retrograde.games.wide.two_words import TwoWords


class WideConnect4(TwoWords, Connect4):
    """Drop stones into columns in turn; the first player with four in a row, in any direction, wins."""

    name = "connect4"

    def __post_init__(self):
        if min(self.height, self.connect) < 1 or self.width < 3:
            raise ValueError("height and connect must be at least 1, and width 3 on a board of more than 62 bits")
        if self.connect > POSITION_BITS:
            raise ValueError(f"connect must be at most {POSITION_BITS}")
        if self.low_bits > POSITION_BITS:
            most = 2 * (POSITION_BITS // self.stride)
            raise ValueError(f"the board is too large: with height {self.height}, the width is at most {most}")

    # The encoding

    @property
    def half(self):
        """The number of columns in the low word."""
        return (self.width + 1) // 2

    @property
    def low_bits(self):
        return self.half * self.stride

    @cached_property
    def floor(self):
        """The lowest cell of each column in the low word."""
        return sum(1 << self.stride * column for column in range(self.half))

    @cached_property
    def start(self):
        return self.split(sum(1 << self.stride * column for column in range(self.width)))

    @cached_property
    def board(self):
        """All cells, in two words."""
        return tuple(one * ((1 << self.height) - 1) for one in self.start)

    @cached_property
    def spills(self):
        shifts = [1 << i for i in range(self.height.bit_length())]
        return tuple((shift, self.floor * ((1 << self.stride - shift) - 1)) for shift in shifts)

    def filled(self, position):
        """Return the cells that hold a stone, in two words."""
        low, high = position
        for spill in self.spills:
            low |= low >> spill[0] & spill[1]
            high |= high >> spill[0] & spill[1]
        return low >> 1 & self.board[0], high >> 1 & self.board[1]

    def stones(self, position, player):
        """Return the cells with a stone of a player, 0 or 1, in two words."""
        low, high = self.filled(position)
        return (low & position[0], high & position[1]) if player else (low & ~position[0], high & ~position[1])

    def down(self, cells, step):
        """Return cells in two words, each moved to the bit lower by a step."""
        low, high = cells
        return low >> step | (high & (1 << step) - 1) << self.low_bits - step, high >> step

    def up(self, cells, step):
        """Return cells in two words, each moved to the bit higher by a step; none that leaves the board."""
        low, high = cells
        return low << step & self.board[0], (high << step | low >> self.low_bits - step) & self.board[1]

    # The rules

    def generate_moves(self, position):
        """Yield the columns that are not full, from 0 at the left."""
        for column in range(self.width):
            word, place = column // self.half, column % self.half
            if not position[word] >> self.stride * place + self.height & 1:
                yield column

    def do_move(self, position, column):
        """Return the position after a stone falls into a column."""
        word, place = column // self.half, column % self.half
        filled = self.filled(position)
        player = (filled[0].bit_count() + filled[1].bit_count()) & 1
        guard = filled[word] + self.floor & (1 << self.stride) - 1 << self.stride * place
        return replaced(position, word, position[word] + (guard << player))

    def primitive(self, position):
        """Return LOSE if the last stone made a row, TIE if the board is full, else UNDECIDED."""
        count = self.tier(position)
        last = self.stones(position, 1 - count & 1)
        if self.in_a_row(last):
            return LOSE
        return TIE if count == self.width * self.height else UNDECIDED

    def images(self, position):
        """Yield the mirror image."""
        low, high = 0, 0
        for column in range(self.width):
            stones = position[column // self.half] >> self.stride * (column % self.half) & (1 << self.stride) - 1
            goal = self.width - 1 - column
            if goal < self.half:
                low |= stones << self.stride * goal
            else:
                high |= stones << self.stride * (goal - self.half)
        yield low, high

    def tier(self, position):
        """Return the number of stones: the filled cells take more than 62 bits."""
        low, high = self.filled(position)
        return low.bit_count() + high.bit_count()

    def tie_in(self, position):
        return self.width * self.height - self.tier(position)

    @cached_property
    def even_rows(self):
        return tuple(
            one * sum(1 << row for row in range(self.height) if (self.height - row) % 2 == 0) for one in self.start
        )

    def at_best(self, position):
        """Return what the player gets at best against follow-up, like `Connect4.at_best`."""
        count = self.tier(position)
        if (self.width * self.height - count) & 1:
            return WIN
        filled = self.filled(position)
        own, opponents = self.stones(position, count & 1), self.stones(position, 1 - count & 1)
        owns, others = own, opponents
        for word in range(2):
            empty = self.board[word] & ~filled[word]
            either = filled[word] + self.start[word] & empty & ~self.even_rows[word]
            owns = replaced(owns, word, own[word] | empty & self.even_rows[word] | either)
            others = replaced(others, word, opponents[word] | empty & ~self.even_rows[word] & ~either)
        if self.in_a_row(owns):
            return WIN
        return LOSE if self.in_a_row(others) else TIE

    def in_a_row(self, stones):
        """Return whether these stones, in two words, have `connect` in a row."""
        for step in (1, self.height, self.stride, self.stride + 1):
            line = stones
            for _ in range(self.connect - 1):
                moved = self.down(line, step)
                line = line[0] & moved[0], line[1] & moved[1]
            if line[0] | line[1]:
                return True
        return False

    def estimate(self, position):
        """Return the lead in stones of rows that may still be completed, each row counted with its stones."""
        filled = self.filled(position)
        mover = self.tier(position) & 1
        ahead = 0
        for player in range(2):
            stones = self.stones(position, player)
            sign = 1 if player == mover else -1
            for step in (1, self.height, self.stride, self.stride + 1):
                row = self.board[0] & ~filled[0] | stones[0], self.board[1] & ~filled[1] | stones[1]
                for _ in range(self.connect - 1):
                    moved = self.down(row, step)
                    row = row[0] & moved[0], row[1] & moved[1]
                moved = stones
                for _ in range(self.connect):
                    ahead += sign * ((row[0] & moved[0]).bit_count() + (row[1] & moved[1]).bit_count())
                    moved = self.down(moved, step)
        return ahead

    def promise(self, position, column):
        """Return more for a move that makes more threats, like `Connect4.promise`."""
        child = self.do_move(position, column)
        filled = self.filled(child)
        stones = self.stones(child, 1 - self.tier(child) & 1)
        low, high = 0, 0
        for step in (1, self.height, self.stride, self.stride + 1):
            below = self.board[0] & ~filled[0], self.board[1] & ~filled[1]
            risen = stones
            for place in range(self.connect):
                row, moved = below, stones
                for _ in range(1, self.connect - place):
                    moved = self.down(moved, step)
                    row = row[0] & moved[0], row[1] & moved[1]
                low |= row[0]
                high |= row[1]
                risen = self.up(risen, step)
                below = below[0] & risen[0], below[1] & risen[1]
        soon_low = low & (filled[0] + self.start[0] & self.board[0]) << 1
        soon_high = high & (filled[1] + self.start[1] & self.board[1]) << 1
        threats = low.bit_count() + high.bit_count() + 2 * (soon_low.bit_count() + soon_high.bit_count())
        return 64 * threats + self.width - abs(2 * column + 1 - self.width)

    # For people

    def signs(self, position):
        cells = [(column, row) for row in reversed(range(self.height)) for column in range(self.width)]
        both = self.joined(self.filled(position)), self.joined(position)
        filled, stones = ([number >> self.stride * column + row & 1 for column, row in cells] for number in both)
        return "".join(".XO"[one + (one & other)] for one, other in zip(filled, stones, strict=True))

    def position_of(self, signs, turn):
        return self.split(super().position_of(signs, turn))

    def draw_move(self, position, column):
        word, place = column // self.half, column % self.half
        height = (position[word] >> self.stride * place & (1 << self.stride) - 1).bit_length() - 1
        return (self.width * (self.height - 1 - height) + column,)
