"""ShutIn: say here what the game is.

The base class, `Hunt`, says what a position is, and has the rules.
"""

from retrograde.games.kinds.hunt import Hunt
from retrograde.games.kinds.points import alquerque


class ShutIn(Hunt):
    """As the tiger, leap over goats to take them; as the goats, shut the tiger in."""

    words = {"T": "Tiger", "G": "Goats"}
    bits, to_move = "TG", "GT"

    # The board: its points, the points where the tigers begin, and pictures

    points = alquerque(3, 3)
    board = alquerque(3, 3, {"T": "darkorange disc", "G": "white disc"})
    lairs = (4,)

    # Options, which users set on the command line: hunt.py:goats=5

    goats: int = 5
    taken: int = 1
    """How many goats the tiger must take to win."""
    placing: bool = True
    """Whether goats are put down one by one. Otherwise they begin on the board."""

    section_steps = Hunt.section_steps  # solves several times faster; delete this line if you change moves
