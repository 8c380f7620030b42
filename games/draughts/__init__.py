"""Endings of draughts (English checkers); see `rules`.

board, moves     positions and moves as numbers
sides            endings and tiers
numbering        positions as slots of a tier
rules            the game `Draughts`
pdn, record      positions, moves and games as text
words            names of endings in words, and the look of the board
"""

from retrograde.games.draughts.rules import Draughts

__all__ = ["Draughts"]
