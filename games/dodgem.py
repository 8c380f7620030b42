"""Dodgem, by Colin Vout: two groups of cars cross the board at right angles and leave it.

On a board of any size that fits, each player has one car fewer than there are rows. O's cars go right, X's go up::

    0 1 2      O . .
    3 4 5      O . .     X in cell c is bit c, O in cell c is bit 9 + c, bit 18 tells who is to move (0 for O)
    6 7 8      . X X

A car moves one cell ahead or to either side, into an empty cell, or ahead from the last cell off the board. O moves
first. A player without cars on the board wins. So does a player to move who has no move, because blocking the opponent
completely loses. These are the rules of *Winning Ways*, and of GamesmanClassic by default. On 3 × 3 there are cycles,
yet one player can always force a win. On 4 × 4 the start is a draw.

The reflection that exchanges the players is not used as a symmetry. As long as all cars are on the board, the sum of
their rows and columns says who is to move, so play never reaches both a position and its mirror image.
"""

from functools import cached_property

from retrograde.games.contract.game import LOSE, POSITION_BITS, UNDECIDED, WIN, Game

NOWHERE = -1
SIGNS = "OX"


class Dodgem(Game):
    """Drive your cars ahead and off the board, or sideways. The first player without cars wins; so does a player with
    no move."""

    title = "Dodgem"
    words = {"X": "Red", "O": "Blue"}
    bits = "XO"
    to_move = "OX"

    size: int = 3

    def __post_init__(self):
        if self.size < 2 or 2 * self.cells >= POSITION_BITS:
            raise ValueError("size must be from 2 to 5")

    @property
    def cells(self):
        return self.size**2

    @property
    def board(self):
        return (1 << self.cells) - 1

    @cached_property
    def start(self):
        os = sum(1 << self.size * row for row in range(self.size - 1))
        xs = sum(1 << self.cells - self.size + column for column in range(1, self.size))
        return os << self.cells | xs

    @cached_property
    def targets(self):
        """For each cell, O's first, the cells ahead and to both sides: `cells` for off the board, or NOWHERE."""

        def target(player, row, column):
            if 0 <= row < self.size and 0 <= column < self.size:
                return self.size * row + column
            return self.cells if (row < 0 if player else column == self.size) else NOWHERE

        steps = (((0, 1), (-1, 0), (1, 0)), ((-1, 0), (0, -1), (0, 1)))
        return tuple(
            tuple(target(player, cell // self.size + down, cell % self.size + right) for down, right in steps[player])
            for player in range(2)
            for cell in range(self.cells)
        )

    def cars(self, position, player):
        return position >> self.cells * (1 - player) & self.board

    # The rules: a move is 3 × cell + 0 to go ahead, 1 and 2 to go to the sides

    def generate_moves(self, position):
        player = position >> 2 * self.cells
        filled = (position | position >> self.cells) & self.board
        for cell in range(self.cells):
            if self.cars(position, player) >> cell & 1:
                for way in range(3):
                    target = self.targets[self.cells * player + cell][way]
                    if target != NOWHERE and not filled >> target & 1:
                        yield 3 * cell + way

    def do_move(self, position, move):
        player, cell = position >> 2 * self.cells, move // 3
        target = self.targets[self.cells * player + cell][move % 3]
        change = (1 << cell | 1 << target) & self.board
        return position ^ 1 << 2 * self.cells ^ change << self.cells * (1 - player)

    def primitive(self, position):
        if not self.cars(position, 1 - (position >> 2 * self.cells)):
            return LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return WIN

    def tier(self, position):
        return 2 * self.size - 2 - (position & (1 << 2 * self.cells) - 1).bit_count()  # cars that have left

    def parents(self, position):
        player = 1 - (position >> 2 * self.cells)
        filled = (position | position >> self.cells) & self.board
        for cell in range(self.cells):
            if not filled >> cell & 1:
                for way in range(3):
                    target = self.targets[self.cells * player + cell][way]
                    if 0 <= target < self.cells and self.cars(position, player) >> target & 1:
                        yield position ^ 1 << 2 * self.cells ^ (1 << cell | 1 << target) << self.cells * (1 - player)

    def estimate(self, position):
        """Return the player to move's lead: how many more steps the opponent's cars need to leave the board."""
        ahead = 0
        for cell in range(self.cells):
            if position >> self.cells + cell & 1:
                ahead += self.size - cell % self.size
            if position >> cell & 1:
                ahead -= cell // self.size + 1
        return ahead if position >> 2 * self.cells else -ahead

    # For people

    def variant_title(self):
        return f"{self.title} {self.size} × {self.size}"

    def position_of(self, signs, turn):
        if max(signs.count("X"), signs.count("O")) >= self.size:
            raise ValueError(f"there must be no more than {self.size - 1} of X (Red) and of O (Blue)")
        if turn not in signs:
            raise ValueError(f"{turn} ({self.words[turn]}) has won, and is not to move")
        return super().position_of(signs, turn)

    def show(self, position):
        *rows, mover = self.write(position).split("/")
        lines = [f"{number} {' '.join(row)}" for number, row in enumerate(rows, 1)]
        return "\n".join([*lines, f"  {' '.join('abcde'[: self.size])}", f"{mover} to move"])

    def draw_board(self):
        """Return the cells, and beyond them the exits: O's on the right, X's at the top."""
        from retrograde.games.contract.drawing import grid

        exits = [(self.size, row, "off") for row in range(self.size)]
        exits += [(column, -1, "off") for column in range(self.size)]
        pieces = {"X": "crimson disc", "O": "royalblue disc", ">": "royalblue arrow-right", "^": "crimson arrow-up"}
        return grid(self.size, self.size, pieces, beyond=exits)

    def draw_pieces(self, position):
        return f"{self.signs(position)}{'>' * self.size}{'^' * self.size}"

    def draw_move(self, position, move):
        player, cell = position >> 2 * self.cells, move // 3
        target = self.targets[self.cells * player + cell][move % 3]
        if target == self.cells:
            target += self.size + cell % self.size if player else cell // self.size
        return cell, target

    def ending(self, position):
        mover = SIGNS[position >> 2 * self.cells]
        other = SIGNS[1 - (position >> 2 * self.cells)]
        if self.primitive(position) == LOSE:
            return f"all cars of {self.words[other]} have left the board"
        return f"{self.words[mover]} cannot move, and so wins"
