"""SmallShogi: say here what the game is.

The base class, `Drops`, says what a position is, and has the rules.
"""

from retrograde.games.kinds.drops import AHEAD, AROUND, GOLD, Drops


class SmallShogi(Drops):
    """Take the king. Drop men that you have captured as your own. A pawn that comes to the last row is gold."""

    to_move = "Kk"

    # The first position, and for each man its steps to the right and down, as its player sees the board

    setup = "kp./.../.PK"
    steps = {"P": AHEAD, "K": AROUND, "G": GOLD}
    promotions = {"P": "G"}

    # Options, which users set on the command line: drops.py:dropping=false

    dropping: bool = True
