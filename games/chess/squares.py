"""Squares are numbered from 0, row by row from White's left: the file is `square & 7`, the rank `square >> 3`::

    8   56 57 58 59 60 61 62 63
    7   48 49 50 51 52 53 54 55          north-west  +7   +8   +9  north-east
    ...                                        west  -1    .   +1  east
    2    8  9 10 11 12 13 14 15          south-west  -9   -8   -7  south-east
    1    0  1  2  3  4  5  6  7
         a  b  c  d  e  f  g  h

A symmetry of the board is a number from 0 to 7, the sum of

    4   files and ranks change places, about the diagonal from a1 to h8, and then
    1   files are mirrored, left and right
    2   ranks are mirrored, top and bottom

With pawns, only the symmetries 0 and 1 remain.
"""

from functools import cache

from retrograde.games.chess.men import BISHOP, BLACK, KING, KNIGHT, PAWN, QUEEN, ROOK

ORTHOGONAL = ((0, 1), (1, 0), (0, -1), (-1, 0))
DIAGONAL = ((1, 1), (1, -1), (-1, -1), (-1, 1))
LEAPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
WAYS = ORTHOGONAL + DIAGONAL + LEAPS
"""All directions in which a man may leave his square, as (files, ranks).

Each kind of man has a range of them.
"""

FIRST_WAY = (0, 0, 4, 8, 0, 0)
LAST_WAY = (8, 4, 8, 16, 0, 8)
"""The range of WAYS of each kind, in the order of `men`, the end excluded; pawns have none."""


def image_of_square(square, symmetry):
    """Return the square after a symmetry of the board."""
    if symmetry & 4:
        square = square >> 3 | (square & 7) << 3
    return square ^ 7 * (symmetry & 1) ^ 28 * (symmetry & 2)


def square_name(square: int) -> str:
    """Return the name of a square, as in `e4`."""
    return "abcdefgh"[square & 7] + "12345678"[square >> 3]


def square_of(name: str) -> int:
    """Return the square with this name."""
    return "abcdefgh".index(name[0]) + 8 * "12345678".index(name[1])


def lowest(bits):
    """Return the lowest square of a set that is not empty: the index of its lowest bit."""
    return (bits & -bits).bit_length() - 1


@cache
def steps() -> tuple[int, ...]:
    """Return the next square in each of the 16 WAYS, -1 off the board: `steps[16 * square + way]`."""
    return tuple(step(square, way) for square in range(64) for way in WAYS)


@cache
def reaches() -> tuple[int, ...]:
    """Return who attacks whom on an empty board: bit c of `reaches[64 * origin + target]` for a man with code c."""
    reach = [0] * 4096
    kinds = [(1 << kind) | 1 << (kind | BLACK) for kind in range(KING + 1)]
    for square in range(64):
        for number, way in enumerate(WAYS):
            line = ray(square, way)
            for kind in (QUEEN, ROOK, BISHOP, KNIGHT, KING):
                if FIRST_WAY[kind] <= number < LAST_WAY[kind]:
                    for target in line[:1] if kind in (KNIGHT, KING) else line:
                        reach[64 * square + target] |= kinds[kind]
        for code, north in ((PAWN, 1), (PAWN | BLACK, -1)):
            for target in ray(square, (-1, north))[:1] + ray(square, (1, north))[:1]:
                reach[64 * square + target] |= 1 << code
    return tuple(reach)


@cache
def between() -> tuple[int, ...]:
    """Return the squares strictly between two on a row, column or diagonal, as bits: `between()[64 * origin + target]`.

    It is 0 for any other two squares. Bit 63 is never set: h8 is a corner.
    """
    bits = [0] * 4096
    for square in range(64):
        for way in ORTHOGONAL + DIAGONAL:
            passed = 0
            for target in ray(square, way):
                bits[64 * square + target] = passed
                passed |= 1 << target
    return tuple(bits)


def ray(square: int, way: tuple[int, int]) -> list[int]:
    """Return the squares from a square to the edge of the board in one direction.

    >>> [square_name(square) for square in ray(0, (1, 1))][:3]
    ['b2', 'c3', 'd4']
    """
    squares = []
    while (square := step(square, way)) >= 0:
        squares.append(square)
    return squares


def step(square: int, way: tuple[int, int]) -> int:
    """Return the next square in a direction, -1 off the board."""
    file, rank = (square & 7) + way[0], (square >> 3) + way[1]
    return file + 8 * rank if 0 <= file < 8 and 0 <= rank < 8 else -1
