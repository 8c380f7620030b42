"""Dudeney's bishops: four white and four black ones change places, and never attack each other.

H. E. Dudeney, Amusements in Mathematics (1917), No. 327: 18 moves of each colour. He lets the colours move in turn;
here any bishop may move.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells
from retrograde.games.contract.game import WIN, Game


class Bishops(Game):
    """Move a bishop at a time, until the white and the black bishops have exchanged their rows. No bishop may attack
    one of the other colour."""

    title = "Dudeney's bishops"
    players = 1
    words = {"B": "White", "b": "Black"}
    cells = Cells(
        lambda game: grid(game.width, game.height, style="chequered"), "start", B="white bishop", b="black bishop"
    )
    width: int = 4
    height: int = 5

    def __post_init__(self):
        if self.width < 2 or self.height <= self.width:
            raise ValueError("height must be greater than width, which must be at least 2")

    @cached_property
    def start(self):
        empty = ["." * self.width] * (self.height - 2)
        return self.read("/".join(["b" * self.width, *empty, "B" * self.width]))

    @cached_property
    def rays(self):
        return self.cells.rays((1, -1), (1, 1), (-1, 1), (-1, -1))

    def attacks(self, position, cell, sign):
        """Return whether a bishop on a cell sees a bishop with this sign. Rays are filled up with -1."""
        for ray in self.rays[cell]:
            for goal in ray:
                if goal >= 0 and self.cells.has(position, goal, sign):
                    return True
                if goal < 0 or not self.cells.is_empty(position, goal):
                    break
        return False

    def generate_moves(self, position):
        """Yield `cells * source + goal` for each move after which no bishop is attacked.

        >>> game = Bishops()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(5, 'a1-b2'), (26, 'b1-c2'), (45, 'c1-b2')]
        """
        for source in self.cells.occupied(position):
            other = 3 - self.cells.get(position, source)
            for ray in self.rays[source]:
                for goal in ray:
                    if goal < 0 or not self.cells.is_empty(position, goal):
                        break
                    if not self.attacks(self.cells.go(position, source, goal), goal, other):
                        yield self.cells.size * source + goal

    def do_move(self, position, move):
        return self.cells.go(position, move // self.cells.size, move % self.cells.size)

    def primitive(self, position):
        """Return WIN if the bishops have exchanged their rows, LOSE if no bishop can move, else UNDECIDED."""
        first = (1 << self.width) - 1
        last = first << self.width * (self.height - 1)
        ended = self.cells.set(position, 1) == first and self.cells.set(position, 2) == last
        return WIN if ended else super().primitive(position)

    def draw_move(self, position, move):
        return divmod(move, self.cells.size)
