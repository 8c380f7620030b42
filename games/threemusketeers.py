"""Three Musketeers, by Haar Hoolim: three against the Cardinal's men, who want them in one line.

On 3 × 3 or 5 × 5 cells the musketeers begin in two opposite corners and in the centre, on 4 × 4 beside the centre.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, UNDECIDED, WIN, Game


class ThreeMusketeers(Game):
    """As the musketeers, capture one of the Cardinal's men beside you in each turn, and win when you cannot. As the
    Cardinal, move a man to an empty cell beside, and win if the musketeers are in one row or column."""

    title = "Three Musketeers"
    words = {"M": "Musketeers", "C": "Cardinal"}
    example = "3"
    cells = Cells(lambda game: grid(game.side, game.side), symmetries="all", M="royalblue disc M", C="crimson disc C")
    mover = Turn("MC")
    side: int = 5

    def __post_init__(self):
        if not 3 <= self.side <= 5:
            raise ValueError("side must be from 3 to 5")

    @cached_property
    def start(self):
        side = self.side
        musketeers = {side - 1, side**2 - side, side * (side // 2) + (side - 1) // 2}
        return self.position_of("".join("M" if cell in musketeers else "C" for cell in range(side**2)), "M")

    @cached_property
    def beside(self):
        return self.cells.steps((0, -1), (1, 0), (0, 1), (-1, 0))

    @cached_property
    def lanes(self):
        """The rows and columns, as bits."""
        side = self.side
        rows = [range(side * at, side * at + side) for at in range(side)]
        return self.cells.bits_of([*rows, *(range(at, side**2, side) for at in range(side))])

    def generate_moves(self, position):
        """Yield `4 * cell + way`: a musketeer steps onto one of the Cardinal's men, these to empty cells.

        >>> game = ThreeMusketeers()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(18, 'e1-e2'), (19, 'e1-d1'), (48, 'c3-c2')]
        """
        wanted = self.cells.C if self.mover.get(position) == 0 else 0
        for cell in self.cells.having(position, self.mover.sign(position)):
            for way in range(4):
                goal = self.beside[cell][way]
                if goal >= 0 and self.cells.get(position, goal) == wanted:
                    yield 4 * cell + way

    def do_move(self, position, move):
        return self.mover.passed(self.cells.go(position, move // 4, self.beside[move // 4][move % 4]))

    def primitive(self, position):
        """Return who has won: the Cardinal by a lane with all musketeers, else the musketeers who cannot move. A
        Cardinal who cannot move loses."""
        cardinal = self.mover.get(position)
        musketeers = self.cells.set(position, self.cells.M)
        for lane in self.lanes:
            if musketeers & ~lane == 0:
                return WIN if cardinal else LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE if cardinal else WIN

    def tier(self, position):
        return 2 * (self.side**2 - self.cells.count(position)) - self.mover.get(position)

    def draw_move(self, position, move):
        return move // 4, self.beside[move // 4][move % 4]
