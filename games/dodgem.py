"""Dodgem, by Colin Vout: two groups of cars cross the board at right angles and leave it.

On a board of any size that fits, each player has one car fewer than there are rows. O's cars go right, X's go up::

    O . .
    O . .
    . X X

A car moves one cell ahead or to either side, into an empty cell, or ahead from the last cell off the board. O moves
first. A player without cars on the board wins. So does a player to move who has no move, because blocking the opponent
completely loses. These are the rules of *Winning Ways*, and of GamesmanClassic by default. On 3 × 3 there are cycles,
yet one player can always force a win. On 4 × 4 the start is a draw.

The reflection that exchanges the players is not used as a symmetry. As long as all cars are on the board, the sum of
their rows and columns says who is to move, so play never reaches both a position and its mirror image.
"""

from functools import cached_property

from retrograde.games import LOSE, UNDECIDED, WIN, Cells, Turn
from retrograde.games.contract.drawing import grid
from retrograde.games.contract.labels import with_names
from retrograde.games.kinds.stepping import Stepping


class Dodgem(Stepping):
    """Drive your cars ahead and off the board, or sideways. The first player without cars wins; so does a player with
    no move."""

    words = {"X": "Red", "O": "Blue"}
    cells = Cells(lambda game: grid(game.size, game.size), X="crimson disc", O="royalblue disc")
    mover = Turn("OX")
    ways = ((1, 0), (0, -1), (0, 1)), ((0, -1), (-1, 0), (1, 0))  # ahead, and to both sides
    size: int = 3

    def __post_init__(self):
        if not 2 <= self.size <= 5:
            raise ValueError("size must be from 2 to 5")

    @cached_property
    def start(self):
        cars = self.size - 1
        return self.read("/".join(["O" + "." * cars] * cars + ["." + "X" * cars, "O"]))

    def allows(self, position, way, goal):
        """Return whether a car may go to a cell: if it is empty, or ahead if it is off the board."""
        return self.cells.is_empty(position, goal) if goal >= 0 else way == 0

    def do_move(self, position, move):
        """Return the position after a car's step; a car without a goal leaves the board."""
        if self.goal(position, move) < 0:
            return self.mover.passed(self.cells.remove(position, move // 3))
        return super().do_move(position, move)

    def primitive(self, position):
        """Return LOSE if the opponent has no car left, WIN if the player to move cannot move, else UNDECIDED."""
        if self.cells.count_of(position, self.mover.other(position)) == 0:
            return LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return WIN

    def tier(self, position):
        return 2 * self.size - 2 - self.cells.count(position)  # cars that have left

    def parents(self, position):
        """Yield the positions from which a step within the board leads here."""
        yield from self.before_steps(position)

    def estimate(self, position):
        """Return the player to move's lead: how many more steps the opponent's cars need to leave the board."""
        ahead = 0
        for cell in self.cells.having(position, self.cells.O):
            ahead += self.size - cell % self.size
        for cell in self.cells.having(position, self.cells.X):
            ahead -= cell // self.size + 1
        return ahead if self.mover.get(position) else -ahead

    # For people

    def variant_title(self):
        return f"Dodgem {self.size} × {self.size}"

    def position_of(self, signs, turn):
        if max(signs.count("X"), signs.count("O")) >= self.size:
            raise ValueError(f"there must be no more than {self.size - 1} of X (Red) and of O (Blue)")
        if turn not in signs:
            raise ValueError(f"{turn} ({self.words[turn]}) has won, and is not to move")
        return super().position_of(signs, turn)

    def show(self, position):
        return with_names(self.write(position))

    def draw_board(self):
        """Return the cells, and beyond them the exits: O's on the right, X's at the top."""
        exits = [(self.size, row, "off") for row in range(self.size)]
        exits += [(column, -1, "off") for column in range(self.size)]
        pieces = {**self.board.pieces, ">": "royalblue arrow-right", "^": "crimson arrow-up"}
        return grid(self.size, self.size, pieces, beyond=exits)

    def draw_pieces(self, position):
        return f"{self.signs(position)}{'>' * self.size}{'^' * self.size}"

    def draw_move(self, position, move):
        row, column = divmod(move // 3, self.size)
        off = self.size + column if self.mover.get(position) else row
        goal = self.goal(position, move)
        return move // 3, goal if goal >= 0 else self.cells.size + off

    def ending(self, position):
        other = self.words[self.mover.signs[1 - self.mover.get(position)]]
        if self.primitive(position) == LOSE:
            return f"all cars of {other} have left the board"
        return f"{self.words[self.draw_turn(position)]} cannot move, and so wins"
