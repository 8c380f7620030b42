"""TwoJugs: say here what the puzzle is."""

from retrograde.games import UNDECIDED, WIN, Game, Number


class TwoJugs(Game):
    """Fill, empty and pour two jugs until one of them holds the wanted amount."""

    players = 1

    # What a position is: how much is in each jug

    large = Number(0, lambda game: game.more)
    small = Number(0, lambda game: game.less)

    # Options, which users set on the command line: puzzle.py:wanted=1

    more: int = 5
    less: int = 3
    wanted: int = 4

    def __post_init__(self):
        if not 1 <= self.less < self.more or not 1 <= self.wanted <= self.more:
            raise ValueError("less must be from 1 to below more, and wanted from 1 to more")

    # The rules. They are compiled: use ints, tuples and loops here, and no strings

    def generate_moves(self, position):
        """Yield the moves that change something: 0 to 5, see `move_name`."""
        for move in range(6):
            if self.do_move(position, move) != position:
                yield move

    def do_move(self, position, move):
        """Return the position after a move."""
        large, small = self.large.get(position), self.small.get(position)
        if move < 2:
            return self.large.put(position, self.more if move == 0 else 0)
        if move < 4:
            return self.small.put(position, self.less if move == 2 else 0)
        poured = min(large, self.less - small) if move == 4 else -min(small, self.more - large)
        return self.small.put(self.large.put(position, large - poured), small + poured)

    def primitive(self, position):
        """Return WIN if the puzzle is solved; otherwise return UNDECIDED."""
        solved = self.large.get(position) == self.wanted or self.small.get(position) == self.wanted
        return WIN if solved else UNDECIDED

    # For people

    def move_name(self, position, move):
        return ("fill-large", "empty-large", "fill-small", "empty-small", "large>small", "small>large")[move]
