"""Kaooa, vulture and crows, from India: a hunt on a star with five points.

Seven crows are put down in turn, before they move. The vulture comes down after the first one. It may capture, and need
not. (In some sources it must.)
"""

from functools import cached_property
from itertools import pairwise
from math import cos, pi, sin

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.fields import Cells, Number, Turn
from retrograde.games.contract.game import LOSE, Game
from retrograde.games.kinds.sliding import joined

SPOTS = [
    (round(2 - radius * sin(turn * pi / 5), 3), round(2 - radius * cos(turn * pi / 5), 3))
    for radius, first in ((2, 0), (0.764, 1))
    for turn in range(first, 10, 2)
]
"""The places of the points: five tips of the star, then the corners within, each between a tip and the next one,
counterclockwise."""
ORDER = sorted(range(10), key=lambda spot: (SPOTS[spot][1], SPOTS[spot][0]))
"""The points from the top down."""
LANES = [[ORDER.index(spot) for spot in (tip, 5 + tip, 5 + (tip + 1) % 5, (tip + 2) % 5)] for tip in range(5)]
"""The five straight lines, each of four points."""
PAIRS = [pair for lane in LANES for pair in pairwise(lane)]
BOARD = Board(tuple(SPOTS[spot] for spot in ORDER), tuple("abcdefghij"), {}, lines=tuple(PAIRS))


def turns(game):
    """Return the rotations and reflections of the star."""
    found = []
    for by in range(5):
        for back in (1, -1):
            spots = [(back * spot + by) % 5 for spot in range(5)]
            inner = [5 + (spot + by if back == 1 else by - 1 - spot) % 5 for spot in range(5)]
            found.append([ORDER.index([*spots, *inner][spot]) for spot in ORDER])
    return found


class Kaooa(Game):
    """As the crows, shut the vulture in. As the vulture, leap over crows to capture them; four captured crows win."""

    words = {"C": "Crows", "V": "Vulture"}
    cells = Cells(BOARD, symmetries=turns, C="black disc C", V="crimson disc V")
    mover = Turn("CV")
    hand = Number(0, 7)
    """How many crows are still to be put down."""
    near = joined(10, PAIRS)
    leaps = tuple(
        (lane[at], lane[at + 1], lane[at + 2]) for way in LANES for lane in (way, way[::-1]) for at in range(2)
    )
    """All leaps of the vulture: (from, over, to)."""

    @cached_property
    def start(self):
        return self.hand.put(0, 7)

    def generate_moves(self, position):
        """Yield `10 * from + to` for steps and leaps. A man that is put down has its cell twice.

        >>> game = Kaooa()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(0, 'a'), (11, 'b'), (22, 'c')]
        """
        vulture = self.mover.get(position)
        men = self.cells.set(position, self.mover.sign(position))
        if (men == 0) if vulture else (self.hand.get(position) > 0):  # a man is to be put down
            for cell in self.cells.empty(position):
                yield 11 * cell  # 10 * cell + cell
        else:
            for cell in self.cells.having(position, self.mover.sign(position)):
                for goal in self.cells.empty(position):
                    if self.near[cell] >> goal & 1:
                        yield 10 * cell + goal
            for source, over, goal in self.leaps:
                if men >> source & 1 and vulture and self.can_leap(position, over, goal):
                    yield 10 * source + goal

    def can_leap(self, position, over, goal):
        return self.cells.has(position, over, self.cells.C) and self.cells.is_empty(position, goal)

    def do_move(self, position, move):
        """Return the position after a man is put down, steps, or has leapt and captured.

        >>> game = Kaooa()
        >>> game.write(game.start), game.write(game.do_move(game.start, 0))  # a
        ('./..../.././../C/7', 'C/..../.././../V/6')
        """
        source, goal = move // 10, move % 10
        if source == goal:  # a man is put down
            if self.mover.get(position) == 0:
                position = self.hand.add(position, -1)
            return self.mover.passed(self.cells.add(position, goal, self.mover.sign(position)))
        for first, over, last in self.leaps:
            if first == source and last == goal:
                position = self.cells.remove(position, over)
        return self.mover.passed(self.cells.go(position, source, goal))

    def primitive(self, position):
        """Return LOSE if four crows are captured or the player to move cannot, else UNDECIDED."""
        crows = self.cells.count_of(position, self.cells.C) + self.hand.get(position)
        return LOSE if crows < 4 else super().primitive(position)

    def tier(self, position):
        """Return how many crows have been put down, plus the captured ones."""
        return 14 - 2 * self.hand.get(position) - self.cells.count_of(position, self.cells.C)

    def draw_move(self, position, move):
        source, goal = move // 10, move % 10
        return (goal,) if source == goal else (source, goal)
