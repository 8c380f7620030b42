"""Games of nothing but fields, of one to twelve signs: for tests that compare fields compiled, interpreted and by hand.

Each has cells first, in the middle and last, and one field of every other kind. Positions have one word or several.
"""

from retrograde.games.contract.fields import Cells, Flag, Number, Numbers, Turn
from retrograde.games.contract.game import Game


class Layout(Game):
    """A position of cells of three boards and of numbers; there is no move."""

    first: int = 1
    middle: int = 1
    last: int = 1
    hand: int = 2

    low = Number(-2, 4)
    hands = Numbers(lambda game: game.hand, 0, 2)
    flag = Flag()
    pair = Turn("XY")
    three = Turn("ABC")

    sign_count = 1
    packed = False

    def generate_moves(self, position):
        yield from ()

    def do_move(self, position, move):
        return position


class OneSign(Layout):
    """A sign."""

    a = Cells(lambda game: game.first, A="cross")
    b = Cells(lambda game: game.middle, A="cross")
    c = Cells(lambda game: game.last, A="cross")
    by = Turn("AB", by="a")


class TwoSigns(Layout):
    """Two signs."""

    sign_count = 2

    a = Cells(lambda game: game.first, A="cross", B="ring")
    b = Cells(lambda game: game.middle, B="ring", A="cross")
    c = Cells(lambda game: game.last, A="cross", B="ring")
    by = Turn("BA", by="b")


class ThreeSigns(Layout):
    """Three signs."""

    sign_count = 3

    a = Cells(lambda game: game.first, A="cross", B="ring", C="disc")
    b = Cells(lambda game: game.middle, A="cross", B="ring", C="disc")
    c = Cells(lambda game: game.last, A="cross", B="ring", C="disc")
    by = Turn("ABC", by="c")


class FiveSigns(Layout):
    """Five signs, packed into three planes."""

    sign_count = 5
    packed = True
    a = Cells(lambda game: game.first, packed=True, A="cross", B="ring", C="disc", D="square", E="triangle")
    b = Cells(lambda game: game.middle, packed=True, A="cross", B="ring", C="disc", D="square", E="triangle")
    c = Cells(lambda game: game.last, packed=True, A="cross", B="ring", C="disc", D="square", E="triangle")
    by = Turn("ABC", by="c")


class TwelveSigns(Layout):
    """Twelve signs, packed into four planes."""

    sign_count = 12
    packed = True
    a = Cells(lambda game: game.first, packed=True, **dict.fromkeys("ABCDEFGHIJKL", "disc"))
    b = Cells(lambda game: game.middle, packed=True, **dict.fromkeys("ABCDEFGHIJKL", "disc"))
    c = Cells(lambda game: game.last, packed=True, **dict.fromkeys("ABCDEFGHIJKL", "disc"))
    by = Turn("ABC", by="c")


class OneBoard(Game):
    """A position of nothing but cells with one sign."""

    cells = Cells(lambda game: game.size, A="cross")

    size: int = 1

    def generate_moves(self, position):
        yield from self.cells.empty(position)

    def do_move(self, position, cell):
        return self.cells.add(position, cell, self.cells.A)
