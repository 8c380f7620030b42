"""Games whose positions are two or three words, next to the same games in one word."""

from retrograde.games import LOSE, TIE, UNDECIDED, Game
from tests.helpers import apart
from tests.helpers.apart import ByChance


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


class ConnectFour(Game):
    """Connect Four, coded by `sets` and `at`: the stones of the player to move, and those of the opponent."""

    width: int = 5
    height: int = 4

    def generate_moves(self, position):
        own, other = self.sets(position)
        for column in range(self.width):
            if not (own | other) >> (self.height + 1) * column + self.height - 1 & 1:
                yield column

    def do_move(self, position, column):
        own, other = self.sets(position)
        stones = own | other
        stone = (stones + (1 << (self.height + 1) * column)) & ~stones
        return self.at(other, own | stone)

    def primitive(self, position):
        own, last = self.sets(position)
        for step in (1, self.height, self.height + 1, self.height + 2):
            pairs = last & last >> step
            if pairs & pairs >> 2 * step:
                return LOSE
        return TIE if (own | last).bit_count() == self.width * self.height else UNDECIDED

    def promise(self, position, column):
        return self.width - abs(2 * column + 1 - self.width)

    def tier(self, position):
        own, other = self.sets(position)
        return (own | other).bit_count()


class WideConnectFour(ConnectFour):
    """Two words."""

    name = "wideconnect4"
    start = (0, 0)

    def sets(self, position):
        return position

    def at(self, own, other):
        return own, other


class TieredConnectFour(ConnectFour):
    """Two words, all stones and those of the first player. All positions of a tier have the same stones, so moves keep
    the order of positions."""

    name = "tieredconnect4"
    start = (0, 0)

    def sets(self, position):
        stones, first = position
        return (stones ^ first, first) if stones.bit_count() & 1 else (first, stones ^ first)

    def at(self, own, other):
        stones = own | other
        return stones, other if stones.bit_count() & 1 else own

    def tier(self, position):
        return position[0]

    def mirror(self, stones):
        mirrored = 0
        for column in range(self.width):
            own = stones >> (self.height + 1) * column & (1 << self.height) - 1
            mirrored |= own << (self.height + 1) * (self.width - 1 - column)
        return mirrored

    def images(self, position):
        yield self.mirror(position[0]), self.mirror(position[1])


class OneConnectFour(ConnectFour):
    """One word, so that positions have the same order."""

    name = "oneconnect4"
    start = 0

    def sets(self, position):
        return position >> 30, position & (1 << 30) - 1

    def at(self, own, other):
        return own << 30 | other


class TallPawns(Game):
    """Hexapawn on 2 columns of 16 rows, 66 bits: White's pawns and twice Black's, each with a bit for who moves.

    White moves to higher rows. The one who moves has lost if the other has reached the last row, or without a move.
    """

    name = "tallpawns"
    columns, cells = 2, 32
    start = (3, (3 << 30) << 1)

    def generate_moves(self, position):
        whites, blacks, white = position[0], position[1] >> 1, not position[1] & 1
        own, others = (whites, blacks) if white else (blacks, whites)
        for cell in range(self.cells):
            if own >> cell & 1:
                for side in (0, -1, 1):
                    column, goal = cell % self.columns + side, cell + side + (self.columns if white else -self.columns)
                    if 0 <= goal < self.cells and 0 <= column < self.columns:
                        taken = others >> goal & 1
                        if taken if side else not (whites | blacks) >> goal & 1:
                            yield 4 * cell + side + 1

    def do_move(self, position, move):
        whites, blacks, white = position[0], position[1] >> 1, not position[1] & 1
        cell = move >> 2
        goal = cell + (move & 3) - 1 + (self.columns if white else -self.columns)
        if white:
            return whites ^ (1 << cell | 1 << goal), (blacks & ~(1 << goal)) << 1 | 1
        return whites & ~(1 << goal), (blacks ^ (1 << cell | 1 << goal)) << 1

    def primitive(self, position):
        whites, blacks, white = position[0], position[1] >> 1, not position[1] & 1
        reached = blacks & 3 if white else whites >> self.cells - 2
        if reached:
            return LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE


def graph_of(kind, which):
    """Return a game of one random graph, as `kind` codes it, whose positions are not numbered."""
    rules = ("random", "symmetric", "cyclic", "graph", "node", "at", "tier", "images", "primitive", "generate_moves",
             "do_move")  # fmt: skip
    chance = ("turn", "odds", "payoff", "metric") if issubclass(kind, ByChance) else ()
    members = {name: getattr(kind, name) for name in (*rules, *chance)}
    members |= {"start": kind().at(which, 0), "name": f"graph{which}", "__module__": apart.__name__}
    return type(f"{kind.__name__}Listed", (Game,), members)()
