"""How a game's board looks: places that hold pieces, for pictures on a page, in a notebook and in a terminal.

A game that wants pictures has four methods (see `Game`), most of them of one line::

    def draw_board(self):
        return grid(3, 3, {"X": "cross", "O": "ring"})

    def draw_pieces(self, position):              # a sign for each place, row by row, `.` for none
        return self.write(position).replace("/", "")

    def draw_move(self, position, move):          # the places it touches: a cell, or whence and whither
        return (move,)

    def draw_turn(self, position):                # the sign of the player to move
        return "XO"[self.mover(position)]

A fifth, which undoes `draw_pieces` and `draw_turn`, lets people set up positions by putting pieces on the board. It is
asked of whatever a person puts there, and says in a lower-case sentence what is wrong::

    def read_pieces(self, pieces, turn):
        if pieces.count("X") - pieces.count("O") != "XO".index(turn):
            raise ValueError(f"{turn} is not to move, by the number of pieces")
        return self.read("/".join(pieces[i : i + 3] for i in (0, 3, 6)))

A move is made by pointing at all the places that it touches, in any order. Two methods are for games where that will
not do::

    def draw_steps(self, position, move):         # first a piece of four cells, then whence and whither a stone goes
        return self.cells_of(move), (self.stone(position),), (self.goal(move),)

    def draw_reach(self, position, move):         # anywhere in the column into which a stone falls
        return tuple(range(move, self.width * self.height, self.width))

And one says what to mark where the game is over::

    def draw_end(self, position):
        return self.cells_of_the_line_that_has_won(position)

What a sign looks like is one of `SHAPES`, a chess man such as `white queen`, or any text, which is written as it
stands. A colour may stand before a shape, and a letter after it: `gold disc`, `sienna disc D`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase

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

    The first *cells* places are drawn as squares, the others as points; *lines* join pairs of places.
    """

    places: tuple[tuple[float, float], ...]
    names: tuple[str, ...]
    pieces: Mapping[str, str] = field(hash=False)
    cells: int = 0
    style: str = "plain"
    """Of the cells: `plain`, `chequered`, or `holes` (as for discs that are dropped)."""
    lines: tuple[tuple[int, int], ...] = ()
    labels: tuple[tuple[float, float, str], ...] = ()


def grid(
    columns: int,
    rows: int,
    pieces: Mapping[str, str],
    style: str = "plain",
    across: Sequence[str] = ascii_lowercase,
    down: Sequence[str] = (),
    beyond: Sequence[tuple[float, float, str]] = (),
) -> Board:
    """Return a board of cells, row by row from the top left, named by their column, then their row.

    *across* and *down* name columns and rows (by default a, b, … and 1, 2, …), and are written at the edges; rows may
    go without a name. Places *beyond* the cells are given as x, y and name.
    """
    across = across[:columns]
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
