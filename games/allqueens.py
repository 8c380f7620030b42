"""All Queens Chess, by Elliot Rudell: queens on a small board, without captures.

The board of the game has five cells a side and six queens a player. Smaller ones begin in the same way: the colours
alternate in the first and in the last row, and between these at the ends of the middle row if there is one.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE
from retrograde.games.kinds.points import DIRECTIONS
from retrograde.games.kinds.rows import Rows


def exchanges(game):
    """Return all turns and reflections of the board, and the board itself."""
    return [range(game.side**2), *grid(game.side, game.side).symmetries]


class AllQueens(Rows):
    """Move one of your queens in any direction over any number of empty cells. The first player with k queens in a
    row wins. A player who cannot move loses."""

    title = "All Queens Chess"
    words = {"X": "White", "O": "Black"}
    example = "4,3"
    cells = Cells(
        lambda game: grid(game.side, game.side, style="chequered"),
        "all",
        exchanges,
        X="white queen",
        O="black queen",
    )
    mover = Turn("XO")
    side: int = 5
    k: int = 4

    def __post_init__(self):
        if not 3 <= self.side <= 5:
            raise ValueError("side must be from 3 to 5")
        if not 3 <= self.k <= self.side:
            raise ValueError(f"k, how many queens in a row win, must be from 3 to side, which is {self.side}")

    @cached_property
    def start(self):
        """The first position: the queens stand by turns on the first and on the last row, and on the ends of a middle
        row."""
        side = self.side
        signs = [["."] * side for _ in range(side)]
        signs[0] = ["XO"[at % 2] for at in range(side)]
        signs[-1] = ["OX"[at % 2] for at in range(side)]
        if side % 2:
            signs[side // 2][0], signs[side // 2][-1] = "OX"
        return self.position_of("".join(map("".join, signs)), "X")

    @cached_property
    def lines(self):
        return self.cells.bits_of(self.board.in_a_row(self.k))

    @cached_property
    def rays(self):
        return self.cells.rays(*DIRECTIONS)

    def generate_moves(self, position):
        """Yield `cells * start + goal` for each move of a queen.

        >>> game = AllQueens()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(5, 'a1-a2'), (6, 'a1-b2'), (12, 'a1-c3')]
        """
        for cell in self.cells.having(position, self.mover.sign(position)):
            for ray in self.rays[cell]:
                for goal in ray:
                    if goal < 0 or not self.cells.is_empty(position, goal):
                        break
                    yield self.cells.size * cell + goal

    def do_move(self, position, move):
        return self.mover.passed(self.cells.go(position, move // self.cells.size, move % self.cells.size))

    def primitive(self, position):
        """Return LOSE if the opponent, who has just moved, has a row; else see `Game`."""
        if self.fill_line(self.cells.set(position, self.mover.other(position))):
            return LOSE
        return super().primitive(position)

    def draw_move(self, position, move):
        return move // self.cells.size, move % self.cells.size
