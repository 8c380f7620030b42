"""LeapOver: say here what the game is.

A position is two bits for each point, those of X's men below those of O's men, and above them the player to move. The
base class, `Captures`, has the moves.
"""

from retrograde.games.kinds.captures import Captures
from retrograde.games.kinds.placed import placements
from retrograde.games.kinds.points import alquerque, ways

POINTS = alquerque(3, 3)


class LeapOver(Captures):
    """Leap over the opponent's men to capture them, as often as you can; a player who cannot move loses."""

    bits = to_move = "XO"
    start = 0b111_100_000 | 0b000_001_111 << 9
    board = alquerque(3, 3, {"X": "black disc", "O": "white disc"})

    # What may stand on the points: up to four men of each player. A tier is how many are captured

    sections = tuple((8 - x - o, (x, o)) for x in range(5) for o in range(5))
    placements = placements(9, sections, POINTS.symmetries, swap=(1, 0))

    # Steps 0 to 7 go along a line to the next point. Steps 8 to 15 leap over it

    steps = 16
    ways = ways(POINTS)

    # The rules. They are compiled: use ints, tuples and loops here, and no strings

    def target(self, point, step):
        """Return the point where a step leads, or -1."""
        near = self.ways[point][step & 7]
        return near if step < 8 or near < 0 else self.ways[near][step & 7]

    def taken(self, theirs, point, step):
        """Return which of the opponent's men a step captures, as bits."""
        return theirs & 1 << self.ways[point][step & 7] if step >= 8 else 0

    def plain(self, step):
        """Return whether a man may make the step without capturing."""
        return step < 8
