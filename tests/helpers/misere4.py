from retrograde.games import LOSE, WIN
from retrograde.games.connect4 import Connect4


class Misere(Connect4):
    """Drop stones into columns in turn; the first player with four in a row loses."""

    title = "Misère Connect Four"

    def primitive(self, position):
        value = super().primitive(position)
        return WIN if value == LOSE else value

    def estimate(self, position):
        return -super().estimate(position)

    def promise(self, position, column):
        return -super().promise(position, column)

    def quiet(self, position):
        return True
