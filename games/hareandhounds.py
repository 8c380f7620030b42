"""Hare and Hounds, the French military game: three hounds hunt a hare over eleven points.

       1 - 2 - 3
     / | \\ | / | \\
    4 - 5 - 6 - 7 - 8      point p is cell p - 1
     \\ | / | \\ | /
       9 - 10- 11

The hounds start on 1, 4 and 9. A piece moves along a line to the next point if that is empty. A hound never moves to
the left. The hare wins on point 4, or if no hound can move. The hounds win if the hare cannot move. There is no rule
against stalling: a game that repeats for ever is a draw. (Under rules where stalling loses the hunt, the hare wins such
a draw.)
"""

from retrograde.games import LOSE, UNDECIDED, WIN, Game
from retrograde.games.contract.fields import Cells, Turn

PLACES = [(x, 0) for x in (1, 2, 3)] + [(x, 1) for x in range(5)] + [(x, 2) for x in (1, 2, 3)]
"""Column and row of each point."""
COLUMNS = tuple(x for x, _ in PLACES)
BURROW = 3
"""The cell of point 4, at the left end."""


def are_near(a, b):
    """Return whether a line joins two places; every other point has diagonal lines."""
    distance = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
    return distance == 1 or (distance == 2 and sum(a) % 2 == 1)


NEAR = tuple(sum(are_near(a, b) << cell for cell, b in enumerate(PLACES)) for a in PLACES)
"""For each cell, its neighbours as bits: where the hare may go."""
ONWARD = tuple(sum((are_near(a, b) and b[0] >= a[0]) << cell for cell, b in enumerate(PLACES)) for a in PLACES)
"""For each cell, its neighbours that are not to the left: where a hound may go."""
MIRROR = (8, 9, 10, 3, 4, 5, 6, 7, 0, 1, 2)
"""The cells from bottom to top."""


class HareAndHounds(Game):
    """As the hounds, D for dogs, trap the hare, H. As the hare, slip past them to the left end."""

    title = "Hare and Hounds"
    words = {"D": "Hounds", "H": "Hare"}
    cells = Cells(11, symmetries=[MIRROR], D="sienna disc D", H="lightgrey disc H")
    mover = Turn("DH")

    hare: int = 8
    hare_first: bool = False

    def __post_init__(self):
        if not 5 <= self.hare <= 8:
            raise ValueError("hare must be a point of the middle line, from 5 to 8")

    @property
    def start(self):
        middle = "".join("H" if point == self.hare else "." for point in range(5, 9))
        return self.read(f"D../D{middle}/D../{'H' if self.hare_first else 'D'}")

    # The rules: a move is 16 × the cell left + the cell entered

    def generate_moves(self, position):
        """Yield `start << 4 | goal` for each step of the hare, or of a hound, which never goes back."""
        near = NEAR if self.mover.get(position) else ONWARD
        for start in self.cells.having(position, self.mover.sign(position)):
            for goal in self.cells.empty(position):
                if near[start] >> goal & 1:
                    yield start << 4 | goal

    def do_move(self, position, move):
        return self.mover.passed(self.cells.go(position, move >> 4, move & 15))

    def primitive(self, position):
        """Return the value for the player to move: the hare wins in the burrow; a player without a move loses."""
        if self.cells.has(position, BURROW, self.cells.H):
            return WIN if self.mover.get(position) else LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def tier(self, position):
        """Return how far the hounds have come, all together."""
        progress = 0
        for cell in self.cells.having(position, self.cells.D):
            progress += COLUMNS[cell]
        return progress

    def estimate(self, position):
        """Return an estimate for the player to move, greater if the hare has passed more hounds and has more moves.

        A hound in the hare's column or further from the hounds' side counts as passed.
        """
        good = 0
        for hare in self.cells.having(position, self.cells.H):
            for hound in self.cells.having(position, self.cells.D):
                if COLUMNS[hound] >= COLUMNS[hare]:
                    good += 4
            good += (NEAR[hare] & self.cells.free(position)).bit_count()
        return good if self.mover.get(position) else -good

    # For people

    def position_of(self, signs, turn):
        if signs.count("D") != 3 or signs.count("H") != 1:
            raise ValueError("there must be three hounds (D) and one hare (H)")
        return super().position_of(signs, turn)

    def show(self, position):
        """Return the board, beside it the numbers of the points, and who is to move."""
        top, middle, bottom, mover = self.write(position).split("/")
        lines = [
            f"    {'---'.join(top)}            1---2---3",
            "  / | \\ | / | \\        / | \\ | / | \\",
            f"{'---'.join(middle)}    4---5---6---7---8",
            "  \\ | / | \\ | /        \\ | / | \\ | /",
            f"    {'---'.join(bottom)}            9---10--11",
        ]
        return "\n".join([*lines, f"{mover} to move"])

    def draw_board(self):
        """Return the board: eleven points in rows of three, five and three."""
        from retrograde.games.contract.drawing import Board

        names = tuple(str(cell + 1) for cell in range(11))
        lines = tuple((a, b) for a in range(11) for b in range(a) if NEAR[a] >> b & 1)
        labels = tuple((x + 0.47, y - 0.2, name) for (x, y), name in zip(PLACES, names, strict=True))
        places = tuple((float(x), float(y)) for x, y in PLACES)
        return Board(places, names, self.cells.looks, lines=lines, labels=labels)

    def draw_move(self, position, move):
        return move >> 4, move & 15

    def ending(self, position):
        if self.cells.has(position, BURROW, self.cells.H):
            return "the hare has slipped past the hounds"
        return "the hare is trapped" if self.mover.get(position) else "the hounds cannot move"

    def draw_end(self, position):
        """Return the cell of the hare, caught or home."""
        return tuple(self.cells.having(position, self.cells.H))
