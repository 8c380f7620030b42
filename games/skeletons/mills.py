"""SmallMill: say here what the game is.

The base class, `Mills`, says what a position is, and has the rules.
"""

from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.mills import Mills


class SmallMill(Mills):
    """Put your men on the points, then slide them along lines; three in a row take a man of the opponent."""

    bits = to_move = "XO"

    # The board: its points, its lines, point by point, and its symmetries. A line of three points is a mill

    board = grid(3, 3, {"X": "black disc", "O": "white disc"})
    lines = grid(3, 3).in_a_row(3)
    symmetries = grid(3, 3).symmetries

    # Options, which users set on the command line: mills.py:men=4

    men: int = 3
    flying: bool = False
    """Whether a player with three men may move to any empty point."""
