"""Chung Toi, by Reginald Chung: tic-tac-toe with men that point straight or diagonally.

Rules of GamesmanClassic: men may leap over others, and a player may pass, by turning a man back to where it points.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, UNDECIDED
from retrograde.games.kinds.in_line import InLine

BOARD = grid(3, 3)


class ChungToi(InLine):
    """Put down three men each, pointing straight or diagonally. Then move a man where it points, over other men as
    well, or leave it in its place; after that it may point the other way. Three in a row win."""

    title = "Chung Toi"
    words = {"R": "Red", "W": "White"}
    cells = Cells(
        BOARD, symmetries="all", R="crimson square R", W="white square W", r="crimson disc r", w="white disc w"
    )
    mover = Turn("RW")
    lines = cells.bits_of(BOARD.in_a_row(3))

    @cached_property
    def reach(self):
        """For each cell, itself and the cells that a straight man reaches, as bits. Then the same for diagonal men."""
        places = BOARD.places
        return tuple(
            sum(1 << goal for goal, (right, down) in enumerate(places)
                if (abs(right - x) == abs(down - y) if diagonal else right == x or down == y))
            for diagonal in (False, True) for x, y in places
        )  # fmt: skip

    def generate_moves(self, position):
        """Yield `2 * (9 * source + goal)`, plus 1 if the man then points diagonally. A man that is put down has its
        goal as source.

        >>> game = ChungToi()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(0, 'a1+'), (1, 'a1x'), (20, 'b1+')]
        """
        straight = self.mover.sign(position)
        placing = self.cells.count(position) < 6
        for source in range(9):
            sign = self.cells.get(position, source)
            if placing and sign == 0:
                yield 20 * source  # 2 * (9 * source + source)
                yield 20 * source + 1
            elif not placing and sign in (straight, straight + 2):
                # The first nine entries are for straight men, the next nine for diagonal ones.
                reach = self.reach[source + (0 if sign == straight else 9)]
                for goal in range(9):
                    if reach >> goal & 1 and (goal == source or self.cells.is_empty(position, goal)):
                        yield 2 * (9 * source + goal)
                        yield 2 * (9 * source + goal) + 1

    def do_move(self, position, move):
        """Return the position after a man has come to a cell, and points straight or diagonally."""
        sign = self.mover.sign(position) + 2 * (move % 2)
        left = self.cells.remove(position, move // 18)
        return self.mover.passed(self.cells.add(left, move // 2 % 9, sign))

    def primitive(self, position):
        straight = self.mover.other(position)
        men = self.cells.set(position, straight) | self.cells.set(position, straight + 2)
        return LOSE if self.fill_line(men) else UNDECIDED

    def tier(self, position):
        return self.cells.count(position)

    # For people

    def draw_move(self, position, move):
        source, goal = move // 18, move // 2 % 9
        return (goal,) if source == goal else (source, goal)

    def move_name(self, position, move):
        cells = "-".join(BOARD.names[cell] for cell in self.draw_move(position, move))
        return cells + "+x"[move % 2]
