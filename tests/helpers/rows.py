"""Boards as rows of text, for slow and obvious versions of rules. A cell is a sign, a dot if it is empty."""

BESIDE = ((0, -1), (1, 0), (0, 1), (-1, 0))
AROUND = (*BESIDE, (1, -1), (1, 1), (-1, 1), (-1, -1))


def cell(rows, x, y):
    return rows[y][x] if 0 <= y < len(rows) and 0 <= x < len(rows[0]) else ""


def put(rows, *changes):
    """Return rows with other signs at some places, each (x, y, sign)."""
    grid = [list(row) for row in rows]
    for x, y, sign in changes:
        grid[y][x] = sign
    return tuple(map("".join, grid))


def places(rows):
    return [(x, y) for y in range(len(rows)) for x in range(len(rows[0]))]


def having(rows, signs):
    return [(x, y) for x, y in places(rows) if cell(rows, x, y) in signs]


def in_a_row(rows, sign, k):
    ways = ((1, 0), (0, 1), (1, 1), (1, -1))
    return any(
        all(cell(rows, x + step * i, y + rise * i) == sign for i in range(k))
        for x, y in places(rows)
        for step, rise in ways
    )


def ray(rows, x, y, step, rise):
    """Return the empty cells that a queen on a place can reach in one way."""
    found = []
    while cell(rows, x := x + step, y := y + rise) == ".":
        found.append((x, y))
    return found
