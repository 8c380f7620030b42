"""Lights Out (Tiger Electronics, 1995): a press switches a light and its neighbours; switch all lights off.

A position has a bit for each light, row by row, 1 if it is on. A second press of the same light undoes the first, and
the order of presses does not matter. So a position that takes n presses to switch off also takes n presses to reach
from the dark board.

The board with all lights on can be solved on every board (K. Sutner, 1989). From there play reaches every position that
can be solved.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import UNDECIDED, WIN, Game

MOST_LIGHTS = 36


class LightsOut(Game):
    """Press lights until all are out. Each press switches the light and its neighbours on or off."""

    title = "Lights Out"
    players = 1
    bits = "O"

    width: int = 4
    height: int = 4

    def __post_init__(self):
        if not (self.width >= 1 and self.height >= 1 and 2 <= self.lights <= MOST_LIGHTS):
            raise ValueError(f"width and height must be at least 1, and there be 2 to {MOST_LIGHTS} lights")

    @property
    def lights(self):
        return self.width * self.height

    @property
    def start(self):
        return (1 << self.lights) - 1

    @cached_property
    def presses(self):
        """For each light, the lights that a press of it switches, as bits."""
        places = [(light % self.width, light // self.width) for light in range(self.lights)]

        def near(a, b):
            return abs(a[0] - b[0]) + abs(a[1] - b[1]) < 2

        return tuple(sum(near(a, b) << light for light, b in enumerate(places)) for a in places)

    # The rules

    def generate_moves(self, position):
        yield from range(self.lights)

    def do_move(self, position, light):
        return position ^ self.presses[light]

    def primitive(self, position):
        return UNDECIDED if position else WIN

    def parents(self, position):
        for light in range(self.lights):
            yield position ^ self.presses[light]

    def least_plies(self, position):
        """A press switches five lights at most."""
        return (position.bit_count() + 4) // 5

    # For people

    @cached_property
    def board(self):
        return grid(self.width, self.height, {"O": "gold disc"})

    def show(self, position):
        return self.write(position).replace("/", "\n")
