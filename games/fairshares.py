"""Fair Shares and Varied Pairs, from *Winning Ways*: divide a heap into equal ones, or join two that differ.

A position says how many heaps there are of each size, from size 1 on. As in GamesmanOne, the game begins with one heap
if n is even, and with heaps of n - 1 and 1 if n is odd.
"""

from retrograde.games.contract.fields import Numbers
from retrograde.games.contract.fields.layout import blank
from retrograde.games.contract.game import Game


class FairShares(Game):
    """Divide a heap into several of one size, or join two heaps of different sizes. A player who cannot move, because
    each heap is a single piece, loses."""

    title = "Fair Shares and Varied Pairs"
    counts = Numbers(lambda game: game.n, 0, lambda game: game.n)
    n: int = 10

    def __post_init__(self):
        if not 2 <= self.n <= 60:
            raise ValueError("n must be from 2 to 60")

    @property
    def start(self):
        return self.read(str(self.n) if self.n % 2 == 0 else f"{self.n - 1}+1")

    def generate_moves(self, position):
        """Yield `(n + 1) * first + second` for each move.

        If the first size is larger, such a heap is divided into heaps of the second size, else two heaps are joined.

        >>> game = FairShares()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(111, '10/10'), (112, '10/5'), (115, '10/2')]
        """
        for size in range(2, self.n + 1):
            if self.counts.get(position, size - 1):
                for other in range(1, size):
                    if size % other == 0:
                        yield (self.n + 1) * size + other
                    if self.counts.get(position, other - 1):
                        yield (self.n + 1) * other + size

    def do_move(self, position, move):
        first, second = move // (self.n + 1), move % (self.n + 1)
        position = self.counts.add(position, first - 1, -1)
        if first > second:
            return self.counts.add(position, second - 1, first // second)
        return self.counts.add(self.counts.add(position, second - 1, -1), first + second - 1, 1)

    # For people

    def write(self, position):
        """Return the sizes of all heaps, the largest first: `4+4+1+1`."""
        sizes = range(self.n, 0, -1)
        return "+".join(str(size) for size in sizes for _ in range(self.counts.get(position, size - 1)))

    def read(self, text):
        parts = text.strip().split("+")
        if not all(part.isdecimal() for part in parts) or sum(map(int, parts)) != self.n or "0" in parts:
            raise ValueError(f"heaps are written as their sizes, {self.n} in all, as in {self.n - 1}+1")
        sizes = [int(part) for part in parts]
        return self.counts.parsed(blank(self), ",".join(str(sizes.count(size)) for size in range(1, self.n + 1)))

    def show(self, position):
        return self.write(position)

    def move_name(self, position, move):
        """Return `6/2` for a heap of six that is divided into two, `4+2` for heaps that are joined."""
        first, second = move // (self.n + 1), move % (self.n + 1)
        return f"{first}/{first // second}" if first > second else f"{second}+{first}"
