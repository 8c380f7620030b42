"""TakeFromHeaps: say here what the game is."""

from retrograde.games import Game, Numbers


class TakeFromHeaps(Game):
    """Take stones from one heap in turn; a player who cannot take any loses."""

    metric = "nimber"  # of games in which both players have the same moves, sums can be played by their nimbers

    # What a position is: how many stones each heap has

    heaps = Numbers(lambda game: len(game.sizes), 0, lambda game: max(game.sizes))

    # Options, which users set on the command line: heaps.py:sizes=3+4+5

    sizes: tuple[int, ...] = (2, 3, 4)
    most: int = 3

    def __post_init__(self):
        if not self.sizes or min(self.sizes) < 1 or self.most < 1:
            raise ValueError("sizes and most must be at least 1")

    @property
    def start(self):
        return self.read(",".join(map(str, self.sizes)))

    # The rules. They are compiled: use ints, tuples and loops here, and no strings

    def generate_moves(self, position):
        """Yield `(most + 1) * heap + stones taken` for each move."""
        for heap in range(len(self.sizes)):
            for taken in range(1, min(self.most, self.heaps.get(position, heap)) + 1):
                yield (self.most + 1) * heap + taken

    def do_move(self, position, move):
        """Return the position after a move. The other player moves next."""
        return self.heaps.add(position, move // (self.most + 1), -(move % (self.most + 1)))

    def tier(self, position):
        """Return a number that no move decreases: how many stones are taken."""
        left = 0
        for heap in range(len(self.sizes)):
            left += self.heaps.get(position, heap)
        return sum(self.sizes) - left

    # For people

    def move_name(self, position, move):
        """Return a name such as `b-2`: two stones of the second heap."""
        return f"{chr(ord('a') + move // (self.most + 1))}-{move % (self.most + 1)}"
