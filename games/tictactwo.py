"""Tic-Tac-Two: tic-tac-toe in a frame that moves over a larger board.

Rules of GamesmanClassic: after each player has put down two men, a turn may move a man into the frame instead, or the
frame by one cell. The frame begins in the centre, on 4 × 4 cells at the upper left.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.kinds.in_line import InLine
from retrograde.games.kinds.points import DIRECTIONS


class TicTacTwo(InLine):
    """Put a man into the frame of 3 × 3 cells. Once you and the opponent have two men on the board, you may instead
    move a man of yours into the frame, or the frame by a cell, also diagonally. Three in a row within the frame win."""

    title = "Tic-Tac-Two"
    example = "4,3"
    cells = Cells(lambda game: grid(game.side, game.side), symmetries="all", X="cross", O="ring")
    frame = Cells(lambda game: grid(game.side - 2, game.side - 2), symmetries="all", F="square")
    """The upper left cell of the frame."""
    mover = Turn("XO")
    side: int = 5
    men: int = 4

    def __post_init__(self):
        if self.side not in (4, 5) or not 3 <= self.men <= 4:
            raise ValueError("side must be 4 or 5, and men 3 or 4")

    @cached_property
    def start(self):
        centre = (self.side - 2) ** 2 // 2 if self.side == 5 else 0
        return self.frame.put(self.mover.put(0, 0), centre, 1)

    @cached_property
    def framed(self):
        """For each place of the frame, the cells in it, as bits."""
        size = self.side - 2
        corners = [self.side * row + column for row in range(size) for column in range(size)]
        return tuple(
            sum(1 << corner + self.side * row + column for row in range(3) for column in range(3)) for corner in corners
        )

    @cached_property
    def lines(self):
        return self.cells.bits_of(grid(self.side, self.side).in_a_row(3))

    @cached_property
    def shifts(self):
        return self.frame.steps(*DIRECTIONS)

    def place(self, position):
        """Return where the frame is."""
        return self.frame.set(position, 1).bit_length() - 1

    def generate_moves(self, position):
        """Yield the cell where a man is put down, or `cells * (1 + source) + goal` for a man that moves. For the frame,
        yield `cells * (1 + cells)` + its new place.

        >>> game = TicTacTwo()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(6, 'b2'), (7, 'c2'), (8, 'd2')]
        """
        size, own = self.cells.size, self.mover.sign(position)
        free = self.framed[self.place(position)] & self.cells.free(position)
        for goal in range(size):
            if free >> goal & 1:
                if self.cells.count_of(position, own) < self.men:
                    yield goal
                if self.cells.count_of(position, 2) >= 2:
                    for source in self.cells.having(position, own):
                        yield size * (1 + source) + goal
        if self.cells.count_of(position, 2) >= 2:
            for place in self.shifts[self.place(position)]:
                if place >= 0:
                    yield size * (1 + size) + place

    def do_move(self, position, move):
        """Return the position after a man is put down or moves, or the frame moves.

        >>> game = TicTacTwo()
        >>> game.write(game.start), game.write(game.do_move(game.start, 6))  # b2
        ('...../...../...../...../...../.../.F./.../X', '...../.X.../...../...../...../.../.F./.../O')
        """
        size, own = self.cells.size, self.mover.sign(position)
        if move < size:
            return self.mover.passed(self.cells.add(position, move, own))
        if move < size * (1 + size):
            return self.mover.passed(self.cells.go(position, move // size - 1, move % size))
        return self.mover.passed(self.frame.with_set(position, 1, 1 << move % size))

    def primitive(self, position):
        """Return the value by the rows within the frame: TIE if both players have one."""
        within = self.framed[self.place(position)]
        won = self.fill_line(self.cells.set(position, self.mover.sign(position)) & within)
        lost = self.fill_line(self.cells.set(position, self.mover.other(position)) & within)
        if won and lost:
            return TIE
        return WIN if won else LOSE if lost else UNDECIDED

    def tier(self, position):
        return self.cells.count(position)

    # For people

    def draw_board(self):
        looks = {"X": "cross", "O": "ring", "F": "lightblue square", "x": "lightgray cross", "o": "lightgray ring"}
        return grid(self.side, self.side, looks)

    def draw_pieces(self, position):
        """Return the signs, men out of the frame small, and F for the empty cells in it."""
        within = self.framed[self.place(position)]
        inside = [within >> cell & 1 for cell in range(self.cells.size)]
        return "".join(
            (sign.replace(".", "F") if here else sign.lower())
            for sign, here in zip(self.cells.sign_text(position), inside, strict=True)
        )

    def draw_move(self, position, move):
        """Return the cells that a man leaves and enters, or the centres of the frame."""
        size = self.cells.size
        if move < size:
            return (move,)
        if move < size * (1 + size):
            return divmod(move - size, size)
        centres = [self.side * (1 + at // (self.side - 2)) + 1 + at % (self.side - 2)
                   for at in (self.place(position), move % size)]  # fmt: skip
        return tuple(centres)

    def move_name(self, position, move):
        names = "-".join(self.board.names[cell] for cell in self.draw_move(position, move))
        return f"frame:{names}" if move >= self.cells.size * (1 + self.cells.size) else names
