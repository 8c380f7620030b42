"""PopOut: Connect Four whose players may also pull one of their own stones out at the bottom.

A position is one of Connect Four (`connect4.py`), with the player to move in the bit above the columns. A stone that is
popped is the lowest bit of its column, so that the column moves down by a shift.

Play may go in circles. So all columns, whatever they hold, are numbered: a column is a digit, and the player to move is
always taken to be the first one, for the colours may be exchanged.
"""

from functools import cached_property

from retrograde.games.connect4 import Connect4
from retrograde.games.contract.game import LOSE, POSITION_BITS, TIE, UNDECIDED, WIN, Game


class PopOut(Connect4):
    """Drop a stone, or pop one of yours out below. Four in a row win, also if the opponent gets four as well."""

    title = "PopOut"
    example = "4,4"
    by_turns = ""
    to_move = "XO"

    def __post_init__(self):
        super().__post_init__()
        if self.width * self.stride == POSITION_BITS:
            raise ValueError(f"width × (height + 1) must be at most {POSITION_BITS - 1}, and is {POSITION_BITS}")

    @cached_property
    def digits(self):
        """How many columns there are: any number of stones, in any colours. Also the mask of a column's bits."""
        return (1 << self.stride) - 1

    def mover(self, position):
        return position >> self.width * self.stride

    # The rules. A move is a column, plus the width where a stone is popped.

    def generate_moves(self, position):
        """Yield the columns that are not full, and `width + column` to take the own lowest stone out."""
        mover = self.mover(position)
        for column in range(self.width):
            stones = position >> self.stride * column & self.digits
            if stones >> self.height == 0:
                yield column
            if stones > 1 and stones & 1 == mover:
                yield self.width + column

    def do_move(self, position, move):
        """Return the position after a stone falls into a column, or is taken out below.

        >>> game = PopOut()
        >>> game.write(game.start), game.write(game.do_move(game.start, 0))  # 1
        ('......./......./......./......./......./......./X', '......./......./......./......./......./X....../O')
        """
        shift = self.stride * (move % self.width)
        stones = position >> shift & self.digits
        after = stones >> 1
        if move < self.width:
            guard = self.guard(stones)
            after = stones + (guard << self.mover(position))
        return position + (after - stones << shift) ^ 1 << self.width * self.stride

    def guard(self, stones):
        """Return the highest bit of a column."""
        return 1 << stones.bit_length() - 1

    def primitive(self, position):
        """Four of the opponent's come first, who made the last move."""
        filled = self.filled(position)
        seconds = filled & position
        last = seconds if self.mover(position) == 0 else filled ^ seconds
        if self.in_a_row(last):
            return LOSE
        if self.in_a_row(filled ^ last):
            return WIN
        for _ in self.generate_moves(position):
            return UNDECIDED
        return TIE

    def parents(self, position):
        """A stone of the player who moved goes up again from a column, or comes in again below it."""
        other = 1 - self.mover(position)
        for column in range(self.width):
            shift = self.stride * column
            stones = position >> shift & self.digits
            guard = self.guard(stones)
            turned = position ^ 1 << self.width * self.stride
            # The top stone leaves: its guard comes down by one bit. The stone's bit, and then a stone of 1, go as well.
            if stones > 1 and (stones & guard >> 1 != 0) == other:
                yield turned - ((guard >> (1 - other)) << shift)
            if stones >> self.height == 0:
                yield turned + (((stones << 1 | other) - stones) << shift)

    # Symmetries and numbers

    def images(self, position):
        """Yield the mirror image, and both with the colours and the player to move exchanged."""
        size = self.width * self.stride
        below = position & (1 << size) - 1
        mirrored = swapped = swapped_mirrored = 0
        for column in range(self.width):
            stones = below >> self.stride * column & self.digits
            exchanged = stones ^ self.guard(stones) - 1  # all bits below the guard
            mirrored = mirrored << self.stride | stones
            swapped |= exchanged << self.stride * column
            swapped_mirrored = swapped_mirrored << self.stride | exchanged
        mover = self.mover(position)
        yield mover << size | mirrored
        yield 1 - mover << size | swapped
        yield 1 - mover << size | swapped_mirrored

    @property
    def tiers(self):
        return (0,)

    def size(self, tier):
        return self.digits**self.width

    def index(self, position):
        """Return the lesser of the board and its mirror image, as the player to move sees them."""
        ahead = back = 0
        for column in range(self.width):
            left = position >> self.stride * column & self.digits
            right = position >> self.stride * (self.width - 1 - column) & self.digits
            if self.mover(position):
                left ^= self.guard(left) - 1
                right ^= self.guard(right) - 1
            ahead = ahead * self.digits + right - 1
            back = back * self.digits + left - 1
        return min(ahead, back)

    def unindex(self, tier, i):
        """Return the position of slot i with the first player to move; -1 if another slot stands for it."""
        position, rest = 0, i
        for column in range(self.width):
            position |= rest % self.digits + 1 << self.stride * column
            rest //= self.digits
        return position if self.index(position) == i else -1

    # Connect Four's need no circles, or take the player to move from the number of stones.
    tier, tie_in, promise, quiet, at_best = Game.tier, Game.tie_in, Game.promise, Game.quiet, Game.at_best

    def estimate(self, position):
        """Return Connect Four's estimate, which is for the player to move by the number of stones."""
        estimate = super().estimate(position)
        return estimate if self.filled(position).bit_count() & 1 == self.mover(position) else -estimate

    # For people

    read, show = Game.read, Game.show

    def position_of(self, signs, turn):
        return self.to_move.index(turn) << self.width * self.stride | super().position_of(signs, turn)

    def draw_turn(self, position):
        return self.to_move[self.mover(position)]

    def move_name(self, position, move):
        return str(move + 1) if move < self.width else f"pop{move - self.width + 1}"

    def draw_move(self, position, move):
        """Return the cell into which the stone falls, or from which it is popped."""
        if move < self.width:
            return super().draw_move(position, move)
        return (self.width * (self.height - 2) + move,)

    def draw_reach(self, position, move):
        """Return the empty cells of the column, or the cell of the stone that is popped."""
        (cell,) = self.draw_move(position, move)
        return tuple(range(move, cell + 1, self.width)) if move < self.width else (cell,)
