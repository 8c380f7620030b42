"""Tables of where the cells of a board lie from one another: `cells.steps`, `cells.rays`, and the board's mirror."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrograde.games.contract.drawing import Board

Way = tuple[float, float]
"""A step on the board: (right, down)."""


def steps(board: "Board", *ways: Way) -> tuple[tuple[int, ...], ...]:
    """Return for each cell the cell to which each way leads; -1 beyond the board.

    >>> from retrograde.games.contract.drawing import grid
    >>> steps(grid(3, 2), (1, 0), (0, 1))
    ((1, 3), (2, 4), (-1, 5), (4, -1), (5, -1), (-1, -1))
    """
    number = {place: cell for cell, place in enumerate(board.places[: board.count])}
    return tuple(tuple(number.get((x + right, y + down), -1) for right, down in ways) for x, y in number)


def rays(board: "Board", *ways: Way) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return for each cell and each way all cells that lie there, nearest first, padded with -1 to one length.

    >>> from retrograde.games.contract.drawing import grid
    >>> rays(grid(3, 2), (1, 0))[0]
    ((1, 2, -1),)
    """
    table = steps(board, *ways)
    found = [[ray(table, cell, way) for way in range(len(ways))] for cell in range(board.count)]
    length = 1 + max(len(cells) for row in found for cells in row)
    return tuple(tuple((*cells, *[-1] * (length - len(cells))) for cells in row) for row in found)


def shifts(board: "Board", *ways: Way) -> tuple[tuple[int, int, int], ...]:
    """Return (left, right, reached) for each way: a set of cells moves as `bits << left >> right & reached`. Cells that
    would leave the board are lost. Raise ValueError if a way does not move all cells by the same number.

    >>> from retrograde.games.contract.drawing import grid
    >>> shifts(grid(3, 2), (1, 0), (0, -1))
    ((1, 0, 54), (0, 3, 7))
    """
    found = []
    for way in ways:
        pairs = [(cell, goal) for cell, (goal,) in enumerate(steps(board, way)) if goal >= 0]
        by = {goal - cell for cell, goal in pairs} or {0}  # any number, if the way leads from all cells off the board
        if len(by) > 1:
            raise ValueError(f"the way {way} moves cells of this board by different numbers")
        shift = by.pop()
        found.append((max(shift, 0), max(-shift, 0), sum(1 << goal for _, goal in pairs)))
    return tuple(found)


def ray(table: tuple[tuple[int, ...], ...], cell: int, way: int) -> list[int]:
    """Return the cells to which one way leads from a cell, nearest first; *table* is that of `steps`."""
    found = []
    while (cell := table[cell][way]) >= 0:
        found.append(cell)
    return found


def mirror(board: "Board") -> tuple[int, ...]:
    """Return for each cell its mirror image, left and right exchanged.

    >>> from retrograde.games.contract.drawing import grid
    >>> mirror(grid(3, 2))
    (2, 1, 0, 5, 4, 3)
    """
    number = {place: cell for cell, place in enumerate(board.places[: board.count])}
    ends = min(x for x, _ in number) + max(x for x, _ in number)
    return tuple(number[ends - x, y] for x, y in number)
