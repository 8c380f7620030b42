"""Games where one man may capture several others in one turn; the game declares what each step captures::

    class Alquerque(Captures):                        # steps 0 to 7 go to a point beside, 8 to 15 leap over one
        steps = 16
        leaps = ways(alquerque(5, 5), 2)
        ways = ways(alquerque(5, 5))

        def target(self, point, step):                # where a step goes, or -1
            return self.leaps[point][step & 7] if step >= 8 else self.ways[point][step]

        def taken(self, theirs, point, step):         # the men that it takes, as bits; 0 for none
            return theirs & 1 << self.ways[point][step & 7] if step >= 8 else 0

        def plain(self, step):                        # may it be made where it takes nothing?
            return step < 8

All moves, their names and pictures follow. A position is a bit for each point with a man of the first player, then a
bit for each point with a man of the second, and above them the player to move. A player who can capture must: one man
moves, and may go on for as long as each step captures. Otherwise one man makes one step. The point that the man leaves
is empty at once, and so are the points of captured men. A move is a whole turn, the last step in the lowest bits::

    1 man | step | step …       five bits for the point, four for each step: 32 points, 16 steps from each, 14 in a turn

If captures are not compulsory, the game defines its own `generate_moves`, from all `captures` and all `plain_steps`.
"""

from functools import cached_property
from typing import Any, ClassVar

from retrograde.games.contract.game import RuleError
from retrograde.games.kinds.placed import Placed

POINTS, STEPS, TAKEN = 32, 16, 14
"""Limits of a move's encoding: points, steps from each point, and steps in a turn. Each step captures at least one
man."""


class Captures(Placed):
    """Base class for games that declare `taken`, and `ways` or `target`; moves follow."""

    ways: ClassVar[Any]
    """For each point and step (or direction), the next point or -1; `ways` of `points.py` makes this for a board."""
    taken: ClassVar[Any]
    steps = 8
    """The number of steps from each point."""

    def target(self, point, step):
        """Return the point that a step leads to, or -1."""
        return self.ways[point][step]

    def plain(self, step):
        """Return whether a man may make this step without capturing."""
        return True

    def goes_on(self, path, step, to, been):
        """Return whether a man may go on, after *path*, by a step to the empty point *to*. *been* are the points of its
        path, as bits."""
        return True

    # The rules

    def generate_moves(self, position):
        """Yield the captures; the plain steps if there are none."""
        taking = False
        for path in self.captures(position):
            taking = True
            yield path
        if not taking:
            for path in self.plain_steps(position):
                yield path

    def captures(self, position):
        """Yield each path by which a man can capture others, as an int: see the module."""
        mine, theirs = self.sides(position)
        for man in range(self._cells):
            path, step = 32 | man, self.steps  # 32 is the leading 1 above the five bits of the point
            if mine >> man & 1:
                step = self.next_capture(mine, theirs, path, 0)
            while step < self.steps or path >= 64:  # depth-first search of the man's paths; 64: there is a step to undo
                if step < self.steps:
                    path, step = path << 4 | step, 0
                    yield path
                else:
                    path, step = path >> 4, (path & 15) + 1
                step = self.next_capture(mine, theirs, path, step)

    def plain_steps(self, position):
        """Yield all single steps that capture nothing."""
        mine, theirs = self.sides(position)
        for man in range(self._cells):
            for step in range(self.steps * (mine >> man & 1)):  # none from a point without an own man
                to = self.target(man, step)
                if to >= 0 and self.plain(step) and not (mine | theirs) >> to & 1:
                    yield (32 | man) << 4 | step

    def do_move(self, position, path):
        """Return the position after a man goes along a path of steps."""
        mine, theirs = self.sides(position)
        man, left, been = self.gone(theirs, path)
        mine, other = mine & ~been | 1 << man, 1 - (position >> self._bits)  # other: the player who is to move next
        return other << self._bits | mine << (1 - other) * self._cells | left << other * self._cells

    def next_capture(self, mine, theirs, path, step):
        """Return the first step from *step* on that continues a path with a capture; `steps` if there is none."""
        man, left, been = self.gone(theirs, path)
        filled = mine & ~been | left
        while step < self.steps:
            to = self.target(man, step)
            if to >= 0 and not filled >> to & 1 and self.goes_on(path, step, to, been) and self.taken(left, man, step):
                return step
            step += 1
        return step

    def gone(self, theirs, path):
        """Return (a man's point after a path, the opponent's men that are left, all points of the path); the last two
        as bits."""
        steps = (path.bit_length() - 6) // 4  # a leading 1 and five bits for the point, then four for each step
        man = path >> 4 * steps & 31
        been = 1 << man
        for at in range(steps):
            step = path >> 4 * (steps - 1 - at) & 15
            theirs ^= self.taken(theirs, man, step)
            man = self.target(man, step)
            been |= 1 << man
        return man, theirs, been

    def row(self, men, point, direction):
        """Return, as bits, the men in an unbroken row from a point (or -1) on, in a direction of `ways`."""
        found = 0
        while point >= 0 and men >> point & 1:
            found |= 1 << point
            point = self.ways[point][direction]
        return found

    @cached_property
    def _declared(self):
        """The declared placements; raise RuleError if they are too large for the encoding of moves."""
        declared = super()._declared
        men = max(max(section.men) for section in declared.sections)
        if declared.cells > POINTS or self.steps > STEPS or men > TAKEN:
            room = f"{POINTS} points, {STEPS} steps from each, and {TAKEN} men of a side"
            told = f"{declared.cells} points, {self.steps} steps and {men} men"
            raise RuleError(f"{type(self).__name__} has {told}; moves of Captures have room for {room}")
        return declared

    # For people

    def draw_move(self, position, path):
        """Return the points that the man visits, first the one where it stands."""
        # `path >> later` is the path without its last later / 4 steps.
        return tuple(self.gone(0, path >> later)[0] for later in range(path.bit_length() - 6, -1, -4))

    def draw_steps(self, position, path):
        return tuple((point,) for point in self.draw_move(position, path))

    def move_name(self, position, path):
        """Return the names of the points, as in `a2-b2-c3`."""
        return "-".join(self.board.names[point] for point in self.draw_move(position, path))
