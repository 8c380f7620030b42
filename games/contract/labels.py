"""Shows a board's text with the names of its rows and columns beside it."""

from retrograde.games.contract.drawing import letters


def with_names(text: str) -> str:
    """Return a position's text in lines: its rows and columns with their names, and the player to move.

    >>> print(with_names("O./.X/O"))
    1 O .
    2 . X
      a b
    O to move
    """
    *rows, mover = text.split("/")
    lines = [f"{number} {' '.join(row)}" for number, row in enumerate(rows, 1)]
    return "\n".join([*lines, f"  {' '.join(letters(len(rows[0])))}", f"{mover} to move"])
