"""Rush Hour, by Nobuyuki Yoshigahara: slide cars along their lanes until the red one can leave.

A layout has the 36 cells row by row: letters for the cars, each two or three cells long, o for an empty cell and x for
a wall, as in Michael Fogleman's database of puzzles. The red car is A, and lies in a row, whose right end is the exit.
A position has three bits for each car, in the order of the letters: how far it is from the left or upper end of its
lane.
"""

from functools import cached_property
from itertools import pairwise

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import WIN, Game

SIDE = 6
COLOURS = ("gold", "seagreen", "royalblue", "orange", "plum", "turquoise", "tan", "salmon")


class RushHour(Game):
    """Slide cars along their lanes, any number of cells, until the red car A is at the right end of its row."""

    title = "Rush Hour"
    players = 1

    layout: str = "IBBxooIooLDDJAALooJoKEEMFFKooMGGHHHM"

    def __post_init__(self):
        if len(self.layout) != SIDE**2 or not all(sign in "ox" or "A" <= sign <= "Z" for sign in self.layout):
            raise ValueError(f"layout must be {SIDE**2} cells: letters A to Z for cars, o for empty, x for a wall")
        for car, cells in zip(self.names, self.cells_of_cars, strict=True):
            steps = {after - before for before, after in pairwise(cells)}
            if len(cells) not in (2, 3) or steps not in ({1}, {SIDE}) or (car == "A" and steps != {1}):
                raise ValueError(f"car {car} must be two or three cells in a line, and A in a row")
            if steps == {1} and cells[0] // SIDE != cells[-1] // SIDE:
                raise ValueError(f"car {car} must be in one row")
        if "A" not in self.names or len(self.names) > 20:
            raise ValueError("layout must have a car A, and at most 20 cars")

    @classmethod
    def options_in(cls, text):
        """Return the first layout in the text of a file: 36 cells in a word, as in Fogleman's database, or six rows."""
        words = [word.replace(".", "o") for line in text.splitlines() for word in line.partition("#")[0].split()]
        if wholes := [word for word in words if len(word) == SIDE**2]:
            return f"layout={wholes[0]}"
        rows = [word for word in words if len(word) == SIDE]
        if len(rows) < SIDE:
            raise ValueError(f"it has neither a word of {SIDE**2} cells nor {SIDE} rows of {SIDE}")
        return f"layout={''.join(rows[:SIDE])}"

    @cached_property
    def names(self):
        return "".join(sorted({*self.layout} - {*"ox"}))

    @cached_property
    def cells_of_cars(self):
        """The cells of each car at the start."""
        return tuple(tuple(cell for cell in range(SIDE**2) if self.layout[cell] == car) for car in self.names)

    @cached_property
    def covered(self):
        """For each car and distance from the end of its lane, the cells it covers, as bits. They are 0 where it cannot
        be."""
        found = []
        for cells in self.cells_of_cars:
            step = cells[1] - cells[0]
            first = cells[0] - cells[0] % SIDE if step == 1 else cells[0] % SIDE
            places = [range(first + step * at, first + step * (at + len(cells)), step) for at in range(SIDE)]
            found.append(tuple(sum(1 << cell for cell in place) if at + len(cells) <= SIDE else 0
                               for at, place in enumerate(places)))  # fmt: skip
        return tuple(found)

    @cached_property
    def walls(self):
        return sum(1 << cell for cell in range(SIDE**2) if self.layout[cell] == "x")

    @cached_property
    def start(self):
        return self.position_of(self.layout.replace("o", "."), "")

    # The rules: a move is 8 × the car + its new distance

    def filled(self, position):
        """Return the cells that cars or walls cover, as bits."""
        cells = self.walls
        for car in range(len(self.covered)):
            cells |= self.covered[car][position >> 3 * car & 7]
        return cells

    def generate_moves(self, position):
        """Yield `8 * car + to` for each place that a car can slide to: *to* is its new distance from the lane's end.

        >>> game = RushHour()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(90, 'f4-f3')]
        """
        taken = self.filled(position)
        for car in range(len(self.covered)):
            at = position >> 3 * car & 7
            # In each direction, slide on until the car would leave its lane or touch a wall or another car.
            others = taken ^ self.covered[car][at]
            for way in (-1, 1):
                to = at + way
                while 0 <= to < SIDE and self.covered[car][to] and self.covered[car][to] & others == 0:
                    yield 8 * car + to
                    to += way

    def do_move(self, position, move):
        shift = 3 * (move // 8)
        return position & ~(7 << shift) | move % 8 << shift

    def primitive(self, position):
        is_out = (position & 7) + len(self.cells_of_cars[0]) == SIDE
        return WIN if is_out else super().primitive(position)

    # For people

    @cached_property
    def board(self):
        looks = {car: f"{COLOURS[number % len(COLOURS)]} square {car}" for number, car in enumerate(self.names)}
        return grid(SIDE, SIDE, {**looks, "A": "crimson square A", "x": "black square"})

    def signs(self, position):
        signs = ["x" if self.walls >> cell & 1 else "." for cell in range(SIDE**2)]
        for car, name in enumerate(self.names):
            cells = self.covered[car][position >> 3 * car & 7]
            signs = [name if cells >> cell & 1 else sign for cell, sign in enumerate(signs)]
        return "".join(signs)

    def position_of(self, signs, turn):
        """Return the position with these cars; raise ValueError if one is not in its lane, or the walls differ."""
        position = 0
        for car, name in enumerate(self.names):
            cells = sum(1 << cell for cell, sign in enumerate(signs) if sign == name)
            if not cells or cells not in self.covered[car]:
                raise ValueError(f"car {name} must be in its lane")
            position |= self.covered[car].index(cells) << 3 * car
        if self.signs(position) != signs:
            raise ValueError("walls and cars must be those of the layout")
        return position

    def draw_move(self, position, move):
        """Return the cells at the front of a car before and after its move."""
        before, after = position >> 3 * (move // 8) & 7, move % 8
        lane, end = self.covered[move // 8], max if after > before else min
        first, last = ([cell for cell in range(SIDE**2) if lane[at] >> cell & 1] for at in (before, after))
        return end(first), end(last)
