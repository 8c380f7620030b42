"""Fox and Geese, on a cross of 33 points or, with arms of one row, of 21.

A position is a tuple of three ints::

    (who is to move: 0 the geese, 1 the fox;  a bit for each point with a goose;  the bit of the fox's point)

Points are numbered row by row from the top. The geese begin there and move first. A goose moves along a line to an
empty point beside, down or to a side, and with *retreat* also up. The fox does so in any direction. Instead it may leap
straight over a goose to an empty point behind, which captures the goose, and in the same turn go on leaping; it never
must. The board has no diagonal lines except with *diagonals*. Geese win if the fox cannot move, and lose if they
cannot move. They also lose when fewer than four are left, because no three shut in the fox without its leaping over
one of them. Repetition is allowed. Every placement of the pieces counts, whether or not play leads there.

Rules and names of the variants: H. J. R. Murray, *A History of Board-Games Other than Chess* (1952), chapter 5.
"""

from functools import cached_property

from retrograde.games.contract.drawing import Board, letters
from retrograde.games.contract.game import LOSE, UNDECIDED
from retrograde.games.kinds.apart import PlacedApart, apart
from retrograde.games.kinds.points import ways
from retrograde.games.kinds.sections import tiered

FEWEST = 4
"""With fewer geese than this the fox has won."""


def cross(arm, diagonals, pieces):
    """Return a board of points in the form of a cross: three rows and three columns, each longer by two arms."""
    side = 2 * arm + 3
    middle = range(arm, arm + 3)
    spots = [(x, y) for y in range(side) for x in range(side) if x in middle or y in middle]
    lines = [
        (spots.index((x, y)), spots.index((x + right, y + down)))
        for x, y in spots
        for right, down in ((1, 0), (0, 1), (1, 1), (-1, 1))
        if (x + right, y + down) in spots and (right * down == 0 or (diagonals and (x + y) % 2 == 0))
    ]
    names = tuple(f"{letters(side)[x]}{side - y}" for x, y in spots)
    return Board(tuple((float(x), float(y)) for x, y in spots), names, pieces, lines=tuple(lines))


class FoxAndGeese(PlacedApart):
    """As the geese, shut in the fox. As the fox, capture geese until fewer than four are left."""

    title = "Fox and Geese"
    words = {"G": "Geese", "F": "Fox"}
    example = "4,1"
    bits, to_move = "GF", "GF"

    geese: int = 13
    arm: int = 2
    """The rows that the cross extends beyond its middle on each side."""
    diagonals: bool = False
    retreat: bool = False

    def __post_init__(self):
        if self.arm not in (1, 2):
            raise ValueError(f"arm must be 1 or 2, not {self.arm}")
        most = self.cells // 2
        if not FEWEST <= self.geese <= most:
            raise ValueError(f"there must be from {FEWEST} to {most} geese on {self.cells} points, not {self.geese}")

    @cached_property
    def board(self):
        return cross(self.arm, self.diagonals, {"G": "white disc G", "F": "orangered disc F"})

    @property
    def cells(self):
        return (2 * self.arm + 3) ** 2 - 4 * self.arm**2

    @property
    def start(self):
        """The geese on the first points, the fox in the centre."""
        return 0, (1 << self.geese) - 1, 1 << self.cells // 2

    @cached_property
    def placements(self):
        """By the number of geese, most first."""
        sections = [((-geese,), (geese, 1), mover) for geese in range(self.geese + 1) for mover in (0, 1)]
        # Geese that cannot retreat have only the reflection left to right, which exchanges points 0 and 2.
        mirrored = [turn for turn in self.board.symmetries if self.retreat or turn[0] == 2]
        return apart(self.cells, tiered(sections), mirrored)

    @cached_property
    def near(self):
        """For each point and each direction, the point beside it; -1 for none."""
        return ways(self.board)

    @cached_property
    def far(self):
        """For each point and each direction, the point two steps away; -1 for none."""
        return ways(self.board, 2)

    # The rules

    def generate_moves(self, position):
        """Yield `8 * point + direction` for geese. For the fox, yield the direction of a step, or the directions of
        leaps as octal digits after a leading 1.

        >>> game = FoxAndGeese()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(54, 'a5-a4'), (62, 'b5-b4'), (70, 'c5-c4')]
        """
        mover, geese, fox = position
        if mover == 0:
            for point in range(self.cells):
                if geese >> point & 1:
                    for direction in range(0 if self.retreat else 3, 8):  # the first three lead up
                        goal = self.near[point][direction]
                        if goal >= 0 and not (geese | fox) >> goal & 1:
                            yield 8 * point + direction
        else:
            at = fox.bit_length() - 1
            for direction in range(8):
                goal = self.near[at][direction]
                if goal >= 0 and not geese >> goal & 1:
                    yield direction
            # A depth-first search of all ways to leap. The loop goes back by a leap when no direction is left.
            path, direction = 1, 0
            while path > 1 or direction < 8:
                if direction == 8:
                    path, direction = path >> 3, (path & 7) + 1
                elif self.can_leap(geese, fox, path, direction):
                    path, direction = path << 3 | direction, 0
                    yield path
                else:
                    direction += 1

    def after_leaps(self, geese, fox, path):
        """Return the geese that are left after the leaps of a path, and the fox's point."""
        at = fox.bit_length() - 1
        for leap in range((path.bit_length() - 1) // 3 - 1, -1, -1):
            direction = path >> 3 * leap & 7
            geese ^= 1 << self.near[at][direction]
            at = self.far[at][direction]
        return geese, at

    def can_leap(self, geese, fox, path, direction):
        """Return whether the fox can leap in a direction, after the leaps of a path."""
        left, at = self.after_leaps(geese, fox, path)
        goal = self.far[at][direction]
        return goal >= 0 and left >> self.near[at][direction] & 1 and not left >> goal & 1

    def do_move(self, position, move):
        """Return the position after a goose steps, or the fox steps or leaps.

        >>> game = FoxAndGeese()
        >>> game.write(game.start), game.write(game.do_move(game.start, 54))  # a5-a4
        ('GGG/GGG/GGGGGGG/...F.../......./.../.../G', 'GGG/GGG/.GGGGGG/G..F.../......./.../.../F')
        """
        mover, geese, fox = position
        if mover == 0:
            point = move // 8
            return 1, geese ^ (1 << point | 1 << self.near[point][move % 8]), fox
        if move < 8:
            return 0, geese, 1 << self.near[fox.bit_length() - 1][move]
        left, at = self.after_leaps(geese, fox, move)
        return 0, left, 1 << at

    def primitive(self, position):
        """Return LOSE for too few geese to move, or a player who cannot move; else UNDECIDED."""
        mover, geese, _ = position
        if mover == 0 and geese.bit_count() < FEWEST:
            return LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    # For people

    def position_of(self, signs, turn):
        if signs.count("F") != 1 or signs.count("G") > self.geese:
            raise ValueError(f"there must be one fox (F) and at most {self.geese} geese (G)")
        return super().position_of(signs, turn)

    def draw_move(self, position, move):
        """Return the points that a piece visits, first the one that it leaves."""
        mover, geese, fox = position
        if mover == 0:
            return move // 8, self.near[move // 8][move % 8]
        at = fox.bit_length() - 1
        if move < 8:
            return at, self.near[at][move]
        leaps = (move.bit_length() - 1) // 3
        return tuple(self.after_leaps(geese, fox, move >> 3 * later)[1] for later in range(leaps, -1, -1))

    def draw_steps(self, position, move):
        return tuple((point,) for point in self.draw_move(position, move))

    def move_name(self, position, move):
        return "-".join(self.board.names[point] for point in self.draw_move(position, move))

    def ending(self, position):
        mover, geese, _ = position
        if mover:
            return "the fox is shut in"
        return "no goose can move" if geese.bit_count() >= FEWEST else "too few geese are left"
