"""PDN, the portable draughts notation: positions, moves, and pictures of the board.

A position has the side to move, and the squares of White's and of Black's pieces. K marks kings. A range of numbers
stands for all of them.

>>> from retrograde.games.draughts import Draughts
>>> game = Draughts("KMvMM")
>>> position = game.read("W:W22,K30:B18,11")
>>> game.write(position), [move_name(game, position, move) for move in game.generate_moves(position)]
('W:W22,K30:B11,18', ['22x15x8'])
>>> print(picture(game, position))
 1    .   .   .   .    4
 5  .   .   .   .      8
 9    .   .   b   .   12
13  .   .   .   .     16
17    .   b   .   .   20
21  .   w   .   .     24
25    .   .   .   .   28
29  .   W   .   .     32   White to move
"""

import re
from collections.abc import Iterator
from typing import Any

from retrograde.games.contract.game import MoveError, PositionError, is_numbered
from retrograde.games.draughts import sides
from retrograde.games.draughts.board import number
from retrograde.games.draughts.moves import CAPTURES, WAYS

EXAMPLE = "W:W18,K24:B12,K10"
POSITION = re.compile(r"([WB])((?::[WB][^:WB]*){2})")
PIECES = re.compile(r"(K?)(\d{1,2})(?:-(\d{1,2}))?")

Pieces = dict[int, str]
"""Pieces by the numbers of their squares: w and b are men, W and B kings."""


def paper_number(game: Any, position: int, square: int) -> int:
    """Return the number on paper, from 1, of a square that the player to move sees."""
    return square + 1 if game.draw_turn(position) == "b" else game.squares - square


def pieces_of(game: Any, position: int) -> Pieces:
    """Return the pieces on the board."""
    own, other, kings = game.sets(position)
    signs = "wb" if game.draw_turn(position) == "w" else "bw"
    pieces = {}
    for square in range(game.squares):
        if ((own | other) >> square) & 1:
            sign = signs[(other >> square) & 1]
            pieces[paper_number(game, position, square)] = sign.upper() if (kings >> square) & 1 else sign
    return dict(sorted(pieces.items()))


# Positions


def write(game: Any, position: int) -> str:
    """Return a position as in the PDN tag FEN: `W:W18,K24:B12,K10`."""
    pieces = pieces_of(game, position)
    sides = [
        ",".join(f"{'K' * sign.isupper()}{square}" for square, sign in pieces.items() if sign.upper() == side)
        for side in "WB"
    ]
    return f"{game.draw_turn(position).upper()}:W{sides[0]}:B{sides[1]}"


def read(game: Any, text: str) -> int:
    """Return the position of a text; raise PositionError if it has none.

    >>> from retrograde.games.draughts.rules import Draughts
    >>> game = Draughts("KKvK")
    >>> write(game, read(game, "w:wk25,k24:bk18"))
    'W:WK24,K25:BK18'
    """
    match = POSITION.fullmatch(text.upper().replace(" ", "").strip('".'))
    if not match or len({side[0] for side in match[2].split(":")[1:]}) < 2:
        raise PositionError(f"no position {text!r}; it should look like {EXAMPLE}")
    pieces: Pieces = {}
    for side in match[2].split(":")[1:]:
        for square, king in squares_in(side[1:], text, game.squares):
            if square in pieces:
                raise PositionError(f"there are two pieces on {square}; put one")
            pieces[square] = side[0] if king else side[0].lower()
    return position_of(game, pieces, match[1] == "W")


def squares_in(text: str, whole: str, most: int) -> Iterator[tuple[int, bool]]:
    """Yield (square, whether a king stands there) for the pieces of a side, such as `18,K24` of the text *whole*.
    Squares go to *most*.

    >>> list(squares_in("18,K24", "W:W18,K24:B12", 32))
    [(18, False), (24, True)]
    """
    for word in filter(None, text.split(",")):
        match = PIECES.fullmatch(word)
        if not match:
            raise PositionError(f"no piece {word!r} in {whole!r}; it should look like {EXAMPLE}")
        first, last = int(match[2]), int(match[3] or match[2])
        if not 1 <= first <= last <= most:
            raise PositionError(f"there is no square {word.lstrip('K')} on the board; its squares are 1 to {most}")
        for square in range(first, last + 1):
            yield square, bool(match[1])


def position_of(game: Any, pieces: Pieces, white: bool) -> int:
    """Return the position with these pieces; raise PositionError if it is illegal or not of the game."""
    check_pieces(game, pieces, white)
    own = other = kings = 0
    for square, sign in pieces.items():
        bit = 1 << (game.squares - square if white else square - 1)
        if (sign.upper() == "W") == white:
            own |= bit
        else:
            other |= bit
        kings |= bit * sign.isupper()
    position: int = game.from_sets(0 if white else 1, own, other, kings)
    tier = game.tier(position)
    if is_numbered(game) and tier not in game.tiers:
        name = sides.name_of_sides(*sides.sides_of(tier))
        options = f"{name},{game.rows}" if game.rows != 8 else name
        what = f"this is {name}, which does not follow from {game.pieces}"
        raise PositionError(f"{what}; its database is made by: retrograde solve draughts:{options}")
    return position


def check_pieces(game: Any, pieces: Pieces, white: bool) -> None:
    """Raise PositionError unless these pieces may be on the board. They are not too many, the player not to move has a
    piece, and no man stands where a man becomes a king."""
    if len(pieces) > game.most_pieces:
        name = "endings have" if is_numbered(game) else "the game has"
        raise PositionError(f"{len(pieces)} pieces are on the board; {name} {game.most_pieces} at most")
    mover, other = ("White", "Black") if white else ("Black", "White")
    if not any(sign.upper() == other[0] for sign in pieces.values()):
        raise PositionError(
            f"{mover} is to move and {other} has no pieces: the game is over; should {other} be to move?"
        )
    for square, sign in pieces.items():
        if (sign == "w" and square <= game.width) or (sign == "b" and square > game.squares - game.width):
            raise PositionError(f"a man stands on {square}, where he has been crowned; put K before the number")


# Moves


def path(game: Any, position: int, move: int) -> list[int]:
    """Return the squares of a piece during a move, its origin included."""
    at = 1 << (move & 31)
    squares = [at]
    captures = (move >> CAPTURES) & 15
    for turn in reversed(range(max(1, captures))):  # the first direction is in the highest bits
        way = (move >> (WAYS + 2 * turn)) & 3
        at = game.step(at, way)
        if captures:  # over the captured piece
            at = game.step(at, way)
        squares.append(at)
    return [paper_number(game, position, number(square)) for square in squares]


def move_name(game: Any, position: int, move: int) -> str:
    """Return a move's name: `11-15`, or all squares of a capture, `22x15x8`."""
    return ("x" if (move >> CAPTURES) & 15 else "-").join(map(str, path(game, position, move)))


def parse(game: Any, position: int, text: str) -> int:
    """Return the legal move of a text, which may leave out squares between first and last. Raise MoveError for none or
    several."""
    moves = {move_name(game, position, move): move for move in game.generate_moves(position)}
    squares = re.split("[-x:]", text.strip().lower())
    paths = {name: re.split("[-x]", name) for name in moves}
    exact = [name for name, path in paths.items() if path == squares]
    names = exact or [name for name, path in paths.items() if [path[0], path[-1]] == squares]
    if len(names) == 1:
        return moves[names[0]]
    if names:
        raise MoveError(f"{text!r} may be any of {' '.join(names)}")
    raise MoveError(f"no move {text!r} here; the moves are {' '.join(moves)}")


# Pictures


def cell(game: Any, square: int) -> int:
    """Return the cell of a square's number, counted row by row from the top left."""
    row, column = divmod(square - 1, game.width)
    return row * game.rows + 2 * column + 1 - row % 2


def cells(game: Any, position: int) -> str:
    """Return a sign for each cell of the board, light ones included."""
    signs = ["."] * game.rows**2
    for square, sign in pieces_of(game, position).items():
        signs[cell(game, square)] = sign
    return "".join(signs)


def read_cells(game: Any, signs: str, turn: str) -> int:
    """Return the position with these signs on the cells; raise PositionError if there is none."""
    squares = {cell(game, square): square for square in range(1, game.squares + 1)}
    pieces = {squares.get(number, 0): sign for number, sign in enumerate(signs) if sign != "."}  # 0: a light cell
    if 0 in pieces:
        raise PositionError("a piece stands on a light cell; pieces stand on dark ones")
    if turn not in ("w", "b"):
        raise PositionError("it must be the turn of w or b")
    return position_of(game, pieces, turn == "w")


def picture(game: Any, position: int) -> str:
    """Return the board with square numbers at the edges, and the side to move."""
    pieces, lines = pieces_of(game, position), []
    for row in range(game.rows):
        first = game.width * row + 1
        signs = "   ".join(pieces.get(square, ".") for square in range(first, first + game.width))
        signs = f"  {signs}" if row % 2 == 0 else f"{signs}  "
        lines.append(f"{first:2}  {signs}  {first + game.width - 1:3}")
    return "\n".join([*lines[:-1], f"{lines[-1]}   {game.words[game.draw_turn(position)]} to move"])
