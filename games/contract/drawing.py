"""How a game's board looks: places that hold pieces, for pictures on a page, in a notebook and in a terminal.

A game that declares a board, and says what stands on it, has pictures, texts and names of moves at once. Where a
position is a bit for each cell with an X, row by row from the top left, then one for each with an O, this is all::

    @cached_property
    def board(self):                              # a class attribute will do, where no option matters
        return grid(self.size, self.size, {"X": "cross", "O": "ring"})

    bits = "XO"
    by_turns = "XO"                               # each puts down one by turns, X first: so the pieces tell the turn

`write` then gives `X.O/.X./...`, which `read` understands, `show` the same in lines, and `move_name` names the cell
`b1` for the move 1; pictures and the editor of positions follow. Where a position itself must tell who is to move, say
`to_move = "XO"`: with `bits` that is the number above them, 0 for X and 1 for O, and the text is `X.O/.X./.../O`. (A
game with a `write` of its own may have more above: then the turn is the remainder of that number by how many players.)

Where positions are coded in another way, two methods, which undo one another, take the place of `bits`::

    def signs(self, position):                    # a sign for each cell, row by row, `.` for none
        return "".join(SIGNS[position >> 4 * cell & 15] for cell in range(9))

    def position_of(self, signs, turn):           # turn is empty, or one of to_move
        if len(set(signs)) < 9:
            raise ValueError("each tile must be there once, and one cell be empty")
        return sum(SIGNS.index(sign) << 4 * cell for cell, sign in enumerate(signs))

`position_of` is asked only of signs that the board knows, one for each cell, and says in a lower-case sentence what is
wrong. A game with `bits` may have one as well, to refuse some and leave the rest to `super().position_of(signs, turn)`.

Where a move is no cell, `draw_move` tells the places that it touches, and names follow, such as `a1-b1`::

    def draw_move(self, position, move):          # whence and whither; or three places and more, or none
        return self.jumps[move]

What does not suit is said by a method of its own: any of `write`, `read`, `show`, `move_name`, and::

    def draw_board(self):                         # the board, where it is not called `board`
    def draw_pieces(self, position):              # a sign for each place, those beyond the cells as well
    def draw_turn(self, position):                # the sign of the player to move; with `to_move` and without `bits`
    def read_pieces(self, pieces, turn):          # undoes the last two, for people who put pieces on the board

A move is made by pointing at all the places that it touches, in any order. Two methods are for games where that will
not do::

    def draw_steps(self, position, move):         # first a piece of four cells, then whence and whither a stone goes
        return self.cells_of(move), (self.stone(position),), (self.goal(move),)

    def draw_reach(self, position, move):         # anywhere in the column into which a stone falls
        return tuple(range(move, self.width * self.height, self.width))

And one says what to mark where the game is over::

    def draw_end(self, position):
        return self.cells_of_the_line_that_has_won(position)

Rules can ask a board for its `symmetries` and for all places `in_a_row(3)`, in a `cached_property`, as those of
`tictactoe.py` do: best a board of their own, `grid(3, 3).symmetries`, for then colours are no part of the rules.

What a sign looks like is one of `SHAPES`, a chess man such as `white queen`, or any text, which is written as it
stands. A colour may stand before a shape, and a letter after it: `gold disc`, `sienna disc D`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from string import ascii_lowercase
from types import MappingProxyType

SHAPES = ("cross", "ring", "disc", "square", "arrow-right", "arrow-up")
CHESS_MEN = {
    sign if colour == "white" else sign.lower(): f"{colour} {name}"
    for colour in ("white", "black")
    for sign, name in zip("KQRBNP", ("king", "queen", "rook", "bishop", "knight", "pawn"), strict=True)
}
"""What the letters of FEN look like."""


@dataclass(frozen=True)
class Board:
    """A board: its places, in units of a cell, x to the right and y down; what is drawn under them, and the pieces.

    The first *cells* places are drawn as squares, the others as points; *lines* join pairs of places. Where there are
    cells, places beyond them hold no pieces.
    """

    places: tuple[tuple[float, float], ...]
    names: tuple[str, ...]
    pieces: Mapping[str, str] = field(hash=False)
    cells: int = 0
    style: str = "plain"
    """Of the cells: `plain`, `chequered`, or `holes` (as for discs that are dropped)."""
    lines: tuple[tuple[int, int], ...] = ()
    labels: tuple[tuple[float, float, str], ...] = ()

    @property
    def count(self) -> int:
        """How many places hold pieces: the cells, or all where there are none."""
        return self.cells or len(self.places)

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """How many of these follow one another at the same height, from the first on: the rows of a text."""
        return tuple(len(list(row)) for _, row in groupby(self.places[: self.count], key=lambda place: place[1]))

    def in_rows(self, signs: str) -> list[str]:
        """Return signs, one for each place that holds pieces, row by row.

        >>> grid(3, 2).in_rows("X.OO.X")
        ['X.O', 'O.X']
        """
        ends = [sum(self.rows[: row + 1]) for row in range(len(self.rows))]
        return [signs[end - length : end] for end, length in zip(ends, self.rows, strict=True)]

    def in_a_row(self, length: int) -> tuple[tuple[int, ...], ...]:
        """Return all rows of so many places that hold pieces, side by side, one below the other, or cornerwise.

        >>> grid(3, 2).in_a_row(2)
        ((0, 1), (0, 3), (0, 4), (1, 2), (1, 4), (1, 5), (1, 3), (2, 5), (2, 4), (3, 4), (4, 5))
        """
        number = {place: at for at, place in enumerate(self.places[: self.count])}
        rows = (
            [number.get((x + right * step, y + down * step)) for step in range(length)]
            for x, y in number
            for right, down in ((1, 0), (0, 1), (1, 1), (-1, 1))
        )
        return tuple(dict.fromkeys(tuple(row) for row in rows if None not in row))  # type: ignore[arg-type]  # None in none

    @cached_property
    def symmetries(self) -> tuple[tuple[int, ...], ...]:
        """All turns by quarters and mirrors that take the board to itself, but the one that leaves all as it is.

        Each is the places that hold pieces in another order. Lines are taken to lines; names and labels do not count.
        """
        places = self.places[: self.count]
        left, top = (min(ends) + max(ends) for ends in zip(*places, strict=True))
        around = [(round(2 * x - left, 3), round(2 * y - top, 3)) for x, y in places]  # the middle is 0, 0
        number = {place: at for at, place in enumerate(around)}
        lines = {frozenset(line) for line in self.lines}
        found = []
        for swap in (False, True):
            for down in (1, -1):
                for right in (1, -1):
                    turned = ((right * (y if swap else x), down * (x if swap else y)) for x, y in around)
                    order = [number.get(place, -1) for place in turned]
                    if min(order) >= 0 and {frozenset((order[a], order[b])) for a, b in self.lines} == lines:
                        found.append(tuple(order))
        return tuple(order for order in dict.fromkeys(found) if order != tuple(range(self.count)))


def grid(
    columns: int,
    rows: int,
    pieces: Mapping[str, str] = MappingProxyType({}),
    style: str = "plain",
    across: Sequence[str] = (),
    down: Sequence[str] = (),
    beyond: Sequence[tuple[float, float, str]] = (),
) -> Board:
    """Return a board of cells, row by row from the top left, named by their column, then their row.

    *across* and *down* name columns and rows (by default a, b, … z, aa, … and 1, 2, …), and are written at the edges;
    rows may go without a name. Places *beyond* the cells are given as x, y and name.

    >>> grid(3, 2).names
    ('a1', 'b1', 'c1', 'a2', 'b2', 'c2')
    >>> grid(3, 2).symmetries
    ((2, 1, 0, 5, 4, 3), (3, 4, 5, 0, 1, 2), (5, 4, 3, 2, 1, 0))
    """
    across = across[:columns] or letters(columns)
    down = down or [str(row + 1) for row in range(rows)]
    places = [(float(column), float(row)) for row in range(rows) for column in range(columns)]
    names = [f"{column}{row}" for row in down for column in across]
    labels = [(float(column), rows - 0.25, name) for column, name in enumerate(across)]
    labels += [(-0.75, float(row), name) for row, name in enumerate(down) if name]
    return Board(
        (*places, *((x, y) for x, y, _ in beyond)),
        (*names, *(name for _, _, name in beyond)),
        dict(pieces),
        columns * rows,
        style,
        labels=tuple(labels),
    )


def letters(count: int) -> list[str]:
    """Return so many names of columns.

    >>> letters(28)[-3:]
    ['z', 'aa', 'ab']
    """
    pairs = [first + second for first in ("", *ascii_lowercase) for second in ascii_lowercase]
    return pairs[:count]
