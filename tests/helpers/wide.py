"""Games whose positions are two or three words, next to the same games in one word."""

from retrograde.games import LOSE, TIE, UNDECIDED, Game
from tests.helpers import apart
from tests.helpers.apart import Graphs


class WideTicTacToe(Game):
    """Tic-tac-toe whose positions are two sets of cells, one word each."""

    name = "wide"
    start = (0, 0)
    lines = (7, 56, 448, 73, 146, 292, 273, 84)

    def generate_moves(self, position):
        for cell in range(9):
            if not (position[0] | position[1]) >> cell & 1:
                yield cell

    def do_move(self, position, cell):
        crosses, noughts = position
        if crosses.bit_count() == noughts.bit_count():
            return crosses | 1 << cell, noughts
        return crosses, noughts | 1 << cell

    def primitive(self, position):
        crosses, noughts = position
        last = noughts if crosses.bit_count() == noughts.bit_count() else crosses
        for line in self.lines:
            if last & line == line:
                return LOSE
        return TIE if crosses | noughts == 511 else UNDECIDED

    def tier(self, position):
        return (position[0] | position[1]).bit_count()

    def write(self, position):
        return f"{position[0]}+{position[1]}"

    def read(self, text):
        crosses, noughts = text.split("+")
        return int(crosses), int(noughts)


class WideConnectFour(Game):
    """Connect Four whose positions are two sets of cells: the stones of who moves, and those of the opponent."""

    name = "wideconnect4"
    width: int = 5
    height: int = 4
    start = (0, 0)

    def generate_moves(self, position):
        for column in range(self.width):
            if not (position[0] | position[1]) >> (self.height + 1) * column + self.height - 1 & 1:
                yield column

    def do_move(self, position, column):
        own, other = position
        stones = own | other
        cell = (
            (stones + (1 << (self.height + 1) * column))
            & ~stones
            & ((1 << self.height) - 1) << ((self.height + 1) * column)
        )
        return other, own | cell

    def primitive(self, position):
        last, stones = position[1], (position[0] | position[1]).bit_count()
        for step in (1, self.height, self.height + 1, self.height + 2):
            pairs = last & last >> step
            if pairs & pairs >> 2 * step:
                return LOSE
        return TIE if stones == self.width * self.height else UNDECIDED

    def promise(self, position, column):
        return self.width - abs(2 * column + 1 - self.width)

    def tier(self, position):
        return (position[0] | position[1]).bit_count()


class OneConnectFour(WideConnectFour):
    """The same game in one word: the second set lies above the first."""

    name = "oneconnect4"
    start = 0

    def apart(self, position):
        return position & (1 << 30) - 1, position >> 30

    def generate_moves(self, position):
        own, other = self.apart(position)
        for column in range(self.width):
            if not (own | other) >> (self.height + 1) * column + self.height - 1 & 1:
                yield column

    def do_move(self, position, column):
        own, other = self.apart(position)
        stones = own | other
        cell = (
            (stones + (1 << (self.height + 1) * column))
            & ~stones
            & ((1 << self.height) - 1) << ((self.height + 1) * column)
        )
        return other | (own | cell) << 30

    def primitive(self, position):
        own, last = self.apart(position)
        for step in (1, self.height, self.height + 1, self.height + 2):
            pairs = last & last >> step
            if pairs & pairs >> 2 * step:
                return LOSE
        return TIE if (own | last).bit_count() == self.width * self.height else UNDECIDED

    def tier(self, position):
        return position.bit_count()


def graph_of(kind, which):
    """Return a game of one random graph, as `kind` codes it, whose positions are not numbered."""
    rules = ("random", "symmetric", "cyclic", "graph", "node", "at", "tier", "images", "primitive", "generate_moves",
             "do_move")  # fmt: skip
    members = {name: vars(kind).get(name) or vars(Graphs)[name] for name in rules}
    members |= {"start": kind().at(which, 0), "name": f"graph{which}", "__module__": apart.__name__}
    return type(f"{kind.__name__}Listed", (Game,), members)()
