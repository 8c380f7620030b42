"""Snort, by Simon Norton: bulls and cows never share a fence."""

from retrograde.games.col import Col


class Snort(Col):
    """Colour an empty cell that has no neighbour of the opponent's colour. A player who cannot loses."""

    def shunned(self, position):
        return self.mover.other(position)
