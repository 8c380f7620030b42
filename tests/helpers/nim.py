"""Nim with one heap and a dense numbering: a game of a handful of slots, for tests."""

from retrograde.games import LOSE, UNDECIDED, Game


class Nim(Game):
    """Take one, two or three from the heap; the player who takes the last one wins."""

    most: int = 40

    start = 20

    @property
    def tiers(self):
        return (0,)

    def size(self, tier):
        return self.most

    def index(self, position):
        return position

    def unindex(self, tier, i):
        return i

    def generate_moves(self, position):
        yield from range(1, min(3, position) + 1)

    def do_move(self, position, move):
        return position - move

    def primitive(self, position):
        return LOSE if position == 0 else UNDECIDED

    def parents(self, position):
        for move in (1, 2, 3):
            if position + move < self.most:
                yield position + move


class HoledNim(Nim):
    """The same with a heap that has no slot."""

    def unindex(self, tier, i):
        return -1 if i == 7 else i
