"""The whole 3 × 3 × 3 cube: positions, moves and texts are those of `games/cube.py`, where some cubies count.

It has 43,252,003,274,489,856,000 positions and is searched with the distances of three parts (Korf, 1997). A turn moves
cubies of several parts, so that the greatest of the distances is a lower bound, and not their sum.
"""

from functools import cached_property

from retrograde.games.contract.game import Game
from retrograde.games.cube import EDGES, HOME, PLACES, CubePart

OVER = tuple(
    2 * EDGES.index(name.translate(str.maketrans("UDFB", "DUBF"))) + flip for name in EDGES for flip in range(2)
)
"""For the code of each edge, that of the edge in its place after the cube is turned over, U down and F to the back."""


class Cube(CubePart):
    """Turn the faces of the 3 × 3 × 3 cube until each has one colour."""

    name = "cube"
    example = ""

    only: str = "all"

    def __post_init__(self):
        if self.only != "all":
            part = CubePart(self.only)  # raises an error if there is no such part
            raise ValueError(f"only={self.only} is not the whole cube; use {part}")

    # There are too many positions to number them.
    index, unindex = Game.index, Game.unindex

    abstractions_add = False

    goal = HOME

    @cached_property
    def counted(self):
        return tuple(tuple(range(places)) for places in PLACES)

    @cached_property
    def abstractions(self):
        """The corners, six edges, and the other six as the first six of the cube turned over."""
        corners, edges = CubePart("corners"), CubePart("UR-UF-UL-UB-FR-FL")
        return corners, edges, edges

    @cached_property
    def codes(self):
        """The codes of all parts."""
        return tuple(row for part in self.abstractions for row in part.codes)

    def abstracted(self, position, number):
        corners, edges = position
        if number == 2:
            edges = 0
            for place in range(PLACES[1]):
                edges |= OVER[position[1] >> 5 * place & 31] << 5 * (OVER[2 * place] // 2)
        return self.seen((corners, edges), 2 * number)
