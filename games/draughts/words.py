"""Names of endings in words, and the look of the board."""

from dataclasses import replace

from retrograde.games.contract.drawing import Board, grid

COUNTS = ("", "", "two ", "three ", "four ", "five ", "six ", "seven ", "eight ")
LOOKS = {"w": "ivory disc", "b": "black disc", "W": "ivory disc K", "B": "black disc K"}


def in_words(pieces: str, rows: int) -> str:
    """Return the pieces of an ending in words, or their number at most.

    >>> in_words("KKMvK", 8), in_words("4", 6)
    ('Two kings and man against king', 'Draughts endings of up to four pieces, 6 rows')
    """
    if pieces.isdecimal():
        text = f"Draughts endings of up to {COUNTS[int(pieces)].strip()} pieces"
    else:
        text = " against ".join(side_in_words(side) for side in pieces.split("v"))
        text = text[0].upper() + text[1:]
    return text if rows == 8 else f"{text}, {rows} rows"


def side_in_words(side: str) -> str:
    """Return the pieces of one side in words: `two kings and man` for KKM."""
    kings, men = side.count("K"), side.count("M")
    words = [f"{COUNTS[kings]}king{'s' * (kings > 1)}"] * (kings > 0)
    words += [f"{COUNTS[men]}{'men' if men > 1 else 'man'}"] * (men > 0)
    return " and ".join(words)


def drawn(rows: int) -> Board:
    """Return the board. Dark cells are named by their numbers; the first and last of each row are shown."""
    board, width = grid(rows, rows, LOOKS, "chequered", down=[str(rows - row) for row in range(rows)]), rows // 2
    names = list(board.names)
    for square in range(rows * width):
        row, column = divmod(square, width)
        names[row * rows + 2 * column + 1 - row % 2] = str(square + 1)
    firsts = [(-0.75, float(row), str(width * row + 1)) for row in range(rows)]
    lasts = [(rows - 0.25, float(row), str(width * row + width)) for row in range(rows)]
    return replace(board, names=tuple(names), labels=(*firsts, *lasts))
