"""Boards of points joined by lines, such as those of alquerque, and where steps along the lines lead."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from types import MappingProxyType

from retrograde.games.contract.drawing import Board, grid
from retrograde.games.contract.faults import are_points, refuse

DIRECTIONS = tuple((right, down) for down, right in product((-1, 0, 1), repeat=2) if right or down)
"""The eight directions, row by row from up-left on. The opposite of direction d is 7 - d."""


def alquerque(columns: int, rows: int, pieces: Mapping[str, str] = MappingProxyType({})) -> Board:
    """Return a board of points, joined to their neighbours across and down, and every other point also diagonally.

    Points are row by row from the top left; the first point has diagonals.

    >>> alquerque(3, 2).lines
    ((0, 1), (0, 3), (0, 4), (1, 2), (1, 4), (2, 4), (2, 5), (3, 4), (4, 5))
    """
    points = grid(columns, rows, pieces)

    def are_joined(one: int, other: int) -> bool:
        """Return whether a line joins two neighbouring points."""
        (left, top), (x, y) = points.places[one], points.places[other]
        # A diagonal step changes both numbers by one, so the sum is even at both ends or at neither.
        return left == x or top == y or (left + top) % 2 == 0

    lines = ((one, other) for one, other in points.in_a_row(2) if are_joined(one, other))
    return replace(points, cells=0, lines=tuple(sorted(lines)))


def ways(board: Board, steps: int = 1) -> tuple[tuple[int, ...], ...]:
    """Return for each place and each of eight directions the place *steps* steps away along a line, or -1.

    A grid has no lines; add pairs of places as lines by `replace` of `dataclasses`.

    >>> ways(replace(grid(3, 2), lines=grid(3, 2).in_a_row(2)))[1]
    (-1, -1, -1, 0, 2, 3, 4, 5)
    >>> ways(alquerque(3, 2))[1]
    (-1, -1, -1, 0, 2, -1, 4, -1)
    >>> ways(alquerque(3, 2), 2)[0]
    (-1, -1, -1, -1, 2, -1, -1, -1)
    """
    refuse(no_ways(board))
    near = [[-1] * len(DIRECTIONS) for _ in board.places]
    for one, other in board.lines:
        (left, top), (x, y) = board.places[one], board.places[other]
        direction = DIRECTIONS.index(((x > left) - (x < left), (y > top) - (y < top)))
        near[one][direction], near[other][7 - direction] = other, one
    far = near
    for _ in range(steps - 1):
        far = [[to if to < 0 else near[to][direction] for direction, to in enumerate(row)] for row in far]
    return tuple(map(tuple, far))


def no_ways(board: Board) -> Iterator[str]:
    """Yield complaints about a board without lines, or with a line that is not a pair of places."""
    if not board.lines:
        yield (
            "the board has no lines, along which ways go; give it some, as replace(board, lines=board.in_a_row(2)) of "
            "dataclasses does, or take alquerque(columns, rows)"
        )
    for line in board.lines:
        if not are_points(line, len(board.places)) or len(line) != 2:
            yield f"the board has the line {line!r}; a line of a board is a pair of its places, by their numbers"
