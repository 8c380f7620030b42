"""Missionaries and cannibals cross a river: where there are missionaries, cannibals must not be more."""

from retrograde.games.contract.fields import Flag, Number
from retrograde.games.contract.game import UNDECIDED, WIN, Game


class RiverCrossing(Game):
    """Bring all across the river with a small boat. Nowhere, also not in the boat, may cannibals outnumber
    missionaries, unless no missionary is there."""

    title = "Missionaries and cannibals"
    players = 1
    missionaries = Number(0, lambda game: game.pairs)
    cannibals = Number(0, lambda game: game.pairs)
    across = Flag()
    pairs: int = 3
    seats: int = 2

    def __post_init__(self):
        if not (1 <= self.pairs <= 100 and 1 <= self.seats <= 100):
            raise ValueError("pairs and seats must be from 1 to 100")

    @property
    def start(self):
        return self.missionaries.put(self.cannibals.put(0, self.pairs), self.pairs)

    def generate_moves(self, position):
        """Yield who crosses: 128 × missionaries + cannibals.

        >>> game = RiverCrossing()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(1, 'C'), (2, 'CC'), (129, 'MC')]
        """
        good, bad = self.missionaries.get(position), self.cannibals.get(position)
        if self.across.get(position):
            good, bad = self.pairs - good, self.pairs - bad
        for first in range(min(good, self.seats) + 1):
            for second in range(first == 0, min(bad, self.seats - first) + 1):  # the boat never crosses empty
                boat = first == 0 or first >= second
                # Both banks after the crossing; on the other one are `pairs` less those who stay here.
                here = good == first or good - first >= bad - second
                there = good - first == self.pairs or bad - second >= good - first
                if boat and here and there:
                    yield 128 * first + second

    def do_move(self, position, move):
        """Return the position after the boat crosses with `move // 128` missionaries and `move % 128` cannibals."""
        across = self.across.get(position)
        sign = 1 if across else -1
        position = self.missionaries.add(position, sign * (move // 128))
        return self.across.put(self.cannibals.add(position, sign * (move % 128)), not across)

    def primitive(self, position):
        left = self.missionaries.get(position) + self.cannibals.get(position)
        return UNDECIDED if left else WIN

    # For people

    def move_name(self, position, move):
        return "M" * (move // 128) + "C" * (move % 128)

    def show(self, position):
        """Show both banks, and the boat between them."""
        good, bad = self.missionaries.get(position), self.cannibals.get(position)
        here, there = "M" * good + "C" * bad, "M" * (self.pairs - good) + "C" * (self.pairs - bad)
        river = "|  B|" if self.across.get(position) else "|B  |"
        return f"{here:{2 * self.pairs}} {river} {there}".rstrip()
