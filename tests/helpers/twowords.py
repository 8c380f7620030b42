"""Games whose positions have two words, and their twins in one word, whose positions have the same order."""

from retrograde.games import LOSE, TIE, UNDECIDED, Game


class Fours(Game):
    """Connect Four on 5 columns of 4 rows: the first player's stones and the filled cells, 25 bits each."""

    columns, stride = 5, 5

    def generate_moves(self, position):
        filled = self.filled(position)
        for column in range(self.columns):
            if not filled >> (self.stride * column + self.stride - 2) & 1:
                yield column

    def do_move(self, position, column):
        crosses, filled = self.crosses(position), self.filled(position)
        stone = (filled + (1 << self.stride * column)) & ~filled
        return self.at(crosses if filled.bit_count() % 2 else crosses | stone, filled | stone)

    def primitive(self, position):
        crosses, filled = self.crosses(position), self.filled(position)
        last = crosses if filled.bit_count() % 2 else crosses ^ filled
        for step in (1, self.stride - 1, self.stride, self.stride + 1):
            pairs = last & last >> step
            if pairs & pairs >> 2 * step:
                return LOSE
        return TIE if filled.bit_count() == self.columns * (self.stride - 1) else UNDECIDED

    def tier(self, position):
        return self.filled(position).bit_count()


class FoursApart(Fours):
    """Two words."""

    name = "foursapart"
    start = (0, 0)

    def crosses(self, position):
        return position[0]

    def filled(self, position):
        return position[1]

    def at(self, crosses, filled):
        return crosses, filled


class FoursInOne(Fours):
    """One word."""

    name = "foursinone"
    start = 0

    def crosses(self, position):
        return position >> 25

    def filled(self, position):
        return position & 0x1FFFFFF

    def at(self, crosses, filled):
        return crosses << 25 | filled


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
