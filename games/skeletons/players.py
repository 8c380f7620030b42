"""LastOfThree: say here what the game is."""

from retrograde.games import LOSE, UNDECIDED, Game, Number, Turn


class LastOfThree(Game):
    """Three players take one or two stones from a heap in turn; the player who takes the last one wins."""

    players = 3

    # What a position is: the stones that are left, and the player to move

    heap = Number(0, lambda game: game.stones)
    mover = Turn("123")

    # Options, which users set on the command line: players.py:stones=20

    stones: int = 7

    def __post_init__(self):
        if self.stones < 1:
            raise ValueError("stones must be at least 1")

    @property
    def start(self):
        return self.heap.put(0, self.stones)

    # The rules. They are compiled: use ints, tuples and loops here, and no strings

    def turn(self, position):
        """Return the player to move, from 0."""
        return self.mover.get(position)

    def generate_moves(self, position):
        """Yield how many stones may be taken."""
        yield from range(1, min(2, self.heap.get(position)) + 1)

    def do_move(self, position, taken):
        """Return the position after a move."""
        return self.mover.passed(self.heap.add(position, -taken))

    def primitive(self, position):
        """Return LOSE if the player to move has lost, so that the game is over; otherwise return UNDECIDED."""
        return UNDECIDED if self.heap.get(position) else LOSE

    def payoff(self, position, player):
        """Return what a player gets at the end: 1 for the one who took the last stone."""
        return 1 if (player + 1) % 3 == self.mover.get(position) else 0

    def tier(self, position):
        """Return a number that no move decreases: how many stones are taken."""
        return self.stones - self.heap.get(position)
