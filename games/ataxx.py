"""Ataxx, by Dave Crummack and Craig Galley: multiply beside your men, and turn the opponent's.

The men begin in the corners. A player who cannot move passes. When nobody can move, or a player has no
men left, the player with more men wins.
"""

from functools import cached_property

from retrograde.games.clobber import exchanges
from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN, Game


class Ataxx(Game):
    """Put a man on an empty cell beside one of yours, or move one there from two cells away. Diagonals count. The
    opponent's men around it become yours. More men win when nobody can move."""

    cells = Cells(lambda game: grid(game.width, game.height), "all", exchanges, X="crimson disc", O="royalblue disc")
    mover = Turn("XO")
    example = "4,3"
    width: int = 4
    height: int = 4

    def __post_init__(self):
        if self.width < 2 or self.height < 2:
            raise ValueError("width and height must be at least 2")

    @cached_property
    def start(self):
        middle = "." * (self.width - 2)
        return self.read("/".join([f"X{middle}O", *["." * self.width] * (self.height - 2), f"O{middle}X", "X"]))

    def within(self, steps):
        """Return for each cell the other cells at most *steps* columns and rows away, as bits."""
        places = self.cells.board.places
        return tuple(
            sum(1 << goal for goal, (right, down) in enumerate(places)
                if (right, down) != (x, y) and max(abs(right - x), abs(down - y)) <= steps)
            for x, y in places
        )  # fmt: skip

    @cached_property
    def near(self):
        return self.within(1)

    @cached_property
    def ring(self):
        """For each cell, the cells from which a man can leap there, as bits."""
        return tuple(far ^ near for far, near in zip(self.within(2), self.near, strict=True))

    def generate_moves(self, position):
        """Yield `(cells + 1) * goal + source` for each leap, with the source `cells` for a new man. If there is none,
        yield the pass `(cells + 1) * cells`.

        >>> game = Ataxx()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(33, 'b1'), (34, 'a1-c1'), (84, 'a2')]
        """
        size = self.cells.size
        own = self.cells.set(position, self.mover.sign(position))
        can_move = False
        for goal in self.cells.empty(position):
            if self.near[goal] & own:
                can_move = True
                yield (size + 1) * goal + size
            for source in self.cells.having(position, self.mover.sign(position)):
                if self.ring[goal] >> source & 1:
                    can_move = True
                    yield (size + 1) * goal + source
        if not can_move:
            yield (size + 1) * size

    def do_move(self, position, move):
        """Return the position after a man has come to its goal, and the opponent's men around it have changed.

        >>> game = Ataxx()
        >>> game.write(game.start), game.write(game.do_move(game.start, 33))  # b1
        ('X..O/..../..../O..X/X', 'XX.O/..../..../O..X/O')
        """
        size = self.cells.size
        goal, source = move // (size + 1), move % (size + 1)
        if goal < size:
            own = self.mover.sign(position)
            if source < size:
                position = self.cells.remove(position, source)
            turned = self.near[goal] & self.cells.set(position, self.mover.other(position))
            position = self.cells.put_all(position, turned | 1 << goal, own)
        return self.mover.passed(position)

    def can_move(self, position, sign):
        """Return whether some man with this sign can move."""
        for goal in self.cells.empty(position):
            if (self.near[goal] | self.ring[goal]) & self.cells.set(position, sign):
                return True
        return False

    def primitive(self, position):
        """Return the value by the numbers of men if nobody can move or a player has none, else UNDECIDED."""
        own, other = self.mover.sign(position), self.mover.other(position)
        mine, theirs = self.cells.count_of(position, own), self.cells.count_of(position, other)
        if mine and theirs and (self.can_move(position, own) or self.can_move(position, other)):
            return UNDECIDED
        ahead = mine - theirs
        return WIN if ahead > 0 else LOSE if ahead < 0 else TIE

    def tier(self, position):
        return self.cells.count(position)

    # For people

    def draw_move(self, position, move):
        goal, source = move // (self.cells.size + 1), move % (self.cells.size + 1)
        if goal == self.cells.size:
            return ()
        return (goal,) if source == self.cells.size else (source, goal)

    def move_name(self, position, move):
        cells = self.draw_move(position, move)
        return "-".join(self.board.names[cell] for cell in cells) if cells else "pass"
