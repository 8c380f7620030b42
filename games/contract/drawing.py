"""How a game's board looks: its places and pieces, on a page, in a notebook and in a terminal.

A game that declares a board, and what stands on it, has pictures, texts and move names at once. Suppose that a position
has a bit for each cell with an X, row by row from the top left, and then a bit for each cell with an O. Then this is
all::

    @cached_property
    def board(self):                              # a class attribute will do if no option matters
        return grid(self.size, self.size, {"X": "cross", "O": "ring"})

    bits = "XO"
    by_turns = "XO"                               # players put down one piece in turn, X first

`write` then returns `X.O/.X./...`, which `read` understands. `show` returns the same in lines. `move_name` returns the
cell's name `b1` for move 1. Pictures and the position editor follow too. If the position itself must say who is to
move, declare `to_move = "XO"` instead of `by_turns`. With `bits`, the number above them is then the player to move, 0
for X and 1 for O, and the text is `X.O/.X./.../O`. (A game with its own `write` may store more above the bits: then the
turn is that number modulo the number of players.)

If positions are encoded in another way, two methods replace `bits`. Each undoes the other::

    def signs(self, position):                    # a sign for each cell, row by row, `.` for none
        return "".join(SIGNS[position >> 4 * cell & 15] for cell in range(9))

    def position_of(self, signs, turn):           # turn is empty, or one of to_move
        if len(set(signs)) < 9:
            raise ValueError("each tile must be there once, and one cell be empty")
        return sum(SIGNS.index(sign) << 4 * cell for cell, sign in enumerate(signs))

`position_of` gets one sign for each cell, all of them known to the board. If there is no such position, it raises
ValueError with a lower-case sentence. A game with `bits` may define `position_of` too, to refuse some signs and pass
the rest to `super().position_of(signs, turn)`.

If a move is not the number of a cell, `draw_move` returns the places that it touches. Move names such as `a1-b1`
follow::

    def draw_move(self, position, move):          # from a place to a place; or three places and more, or none
        return self.jumps[move]

Where a default does not suit, define the method itself: any of `write`, `read`, `show`, `move_name`, and::

    def draw_board(self):                         # the board, if it is not called `board`
    def draw_pieces(self, position):              # a sign for each place, those beyond the cells as well
    def draw_turn(self, position):                # the sign of the player to move; with `to_move` and without `bits`
    def read_pieces(self, pieces, turn):          # undoes the last two, for people who put pieces on the board

People make a move by pointing at all places that it touches, in any order. Two methods change that::

    def draw_steps(self, position, move):         # first a piece of four cells, then a stone, then the stone's goal
        return self.cells_of(move), (self.stone(position),), (self.goal(move),)

    def draw_reach(self, position, move):         # anywhere in the column into which a stone falls
        return tuple(range(move, self.width * self.height, self.width))

One more method returns the places to mark where the game is over::

    def draw_end(self, position):
        return self.cells_of_the_line_that_has_won(position)

Rules can ask a board for its `symmetries` and for all lines of places `in_a_row(3)`, in a `cached_property`, as
`tictactoe.py` does. Best use a board without pieces for this, `grid(3, 3).symmetries`: then colours are no part of the
rules.

The look of a sign is one of `SHAPES`, a chess man such as `white queen`, or any text, which is drawn as it is. A colour
may stand before a shape, and a letter after it: `gold disc`, `sienna disc D`.
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
"""The look of each letter of FEN."""


@dataclass(frozen=True)
class Board:
    """A board: its places, the lines between them, and the looks of the pieces.

    Places are (x, y) in units of a cell, x to the right and y down. The first *cells* places are drawn as squares, the
    others as points. *lines* join pairs of places. If there are cells, only cells hold pieces.
    """

    places: tuple[tuple[float, float], ...]
    names: tuple[str, ...]
    pieces: Mapping[str, str] = field(hash=False)
    cells: int = 0
    style: str = "plain"
    """How cells are drawn: `plain`, `chequered`, or `holes` (for discs that drop)."""
    lines: tuple[tuple[int, int], ...] = ()
    labels: tuple[tuple[float, float, str], ...] = ()

    @property
    def count(self) -> int:
        """The number of places that hold pieces: the cells, or all places if there are no cells."""
        return self.cells or len(self.places)

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The lengths of the rows of a text: how many consecutive places have the same height."""
        return tuple(len(list(row)) for _, row in groupby(self.places[: self.count], key=lambda place: place[1]))

    def in_rows(self, signs: str) -> list[str]:
        """Return the signs of all places that hold pieces, row by row.

        >>> grid(3, 2).in_rows("X.OO.X")
        ['X.O', 'O.X']
        """
        ends = [sum(self.rows[: row + 1]) for row in range(len(self.rows))]
        return [signs[end - length : end] for end, length in zip(ends, self.rows, strict=True)]

    def in_a_row(self, length: int) -> tuple[tuple[int, ...], ...]:
        """Return all lines of *length* adjacent places that hold pieces: horizontal, vertical or diagonal.

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
        """All quarter turns and reflections that map the board and its lines to itself, without the identity.

        Each is a permutation of the places that hold pieces.
        """
        places = self.places[: self.count]
        left, top = (min(ends) + max(ends) for ends in zip(*places, strict=True))
        around = [(round(2 * x - left, 3), round(2 * y - top, 3)) for x, y in places]  # the centre is 0, 0
        number = {place: at for at, place in enumerate(around)}
        lines = {frozenset(line) for line in self.lines}
        found = []
        # Each symmetry exchanges x and y or not, and inverts either or not.
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
    """Return a board of cells, row by row from the top left. Columns and rows have their names at the edges.

    *across* and *down* name columns and rows (by default a, b, … and 1, 2, …); rows may go without. Places *beyond* the
    cells are (x, y, name).

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
    """Return the names of the first *count* columns.

    >>> letters(28)[-3:]
    ['z', 'aa', 'ab']
    """
    pairs = [first + second for first in ("", *ascii_lowercase) for second in ascii_lowercase]
    return pairs[:count]
