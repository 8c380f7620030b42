"""The 2 × 2 × 2 cube: eight corners; one is held still and the other seven are turned home.

Corners and places are numbered as by H. Kociemba, without the one held (down, back, left)::

    0 URF   1 UFL   2 ULB   3 UBR   4 DFR   5 DLF   6 DRB         Up, Right, Front, Down, Left, Back

A position has five bits for each place. The low three are the corner there, the two above them its twist, 0 to 2, in
thirds of a turn clockwise. A move is 3 × the face (0 U, 1 R, 2 F) + the number of turns - 1: U, U2, U', R, …

Positions are numbered: the number of the order of corners, then the twists as digits in base 3. The twists of all
corners make whole turns, so that the last one follows from the others.
"""

from functools import cached_property

from retrograde.games.contract.game import UNDECIDED, WIN, Game

CORNERS = 7
FROM = ((3, 0, 1, 2, 4, 5, 6), (4, 1, 2, 0, 6, 5, 3), (1, 5, 2, 3, 0, 4, 6))
"""For each face and place, the place from which a quarter turn brings a corner there."""
TWIST = ((0, 0, 0, 0, 0, 0, 0), (2, 0, 0, 1, 1, 0, 2), (1, 2, 0, 0, 2, 1, 0))
"""For each face and place, how much a quarter turn twists the corner that comes there."""


def repeated(face, times):
    """Return what FROM and TWIST say of a quarter turn, of several: for each place, the place and the twist."""
    places, twists = list(range(CORNERS)), [0] * CORNERS
    for _ in range(times):
        twists = [(twists[source] + twist) % 3 for source, twist in zip(FROM[face], TWIST[face], strict=True)]
        places = [places[source] for source in FROM[face]]
    return tuple(places), tuple(twists)


TURNS = tuple(repeated(face, times) for face in range(3) for times in (1, 2, 3))
"""For each move, the places from which corners come, and their twists there."""
NAMES = ("U", "U2", "U'", "R", "R2", "R'", "F", "F2", "F'")
COLOURS = {"U": "white", "R": "crimson", "F": "teal", "D": "gold", "L": "sienna", "B": "royalblue"}
STICKERS = ("URF", "UFL", "ULB", "UBR", "DFR", "DLF", "DRB", "DBL")
"""The faces that each corner shows when the cube is solved. The last corner is the one held still."""
NET = {
    "U": (("ULB", "UBR"), ("UFL", "URF")), "L": (("ULB", "UFL"), ("DBL", "DLF")), "F": (("UFL", "URF"), ("DLF", "DFR")),
    "R": (("URF", "UBR"), ("DFR", "DRB")), "B": (("UBR", "ULB"), ("DRB", "DBL")), "D": (("DLF", "DFR"), ("DBL", "DRB")),
}  # fmt: skip
"""The places of each face in the net, from the top left."""
CORNERS_OF_FACES = {"U": (2, 0), "L": (0, 2), "F": (2, 2), "R": (4, 2), "B": (6, 2), "D": (2, 4)}
"""The column and row of each face in the net."""


class PocketCube(Game):
    """Turn the faces of the 2 × 2 × 2 cube until each has one colour."""

    title = "Pocket cube"
    players = 1

    quarter: bool = False
    """Whether only quarter turns are moves, so that a half turn counts as two."""
    faces: int = 3
    """How many faces can be turned. With two, up and right, there are fewer positions."""

    def __post_init__(self):
        if not 2 <= self.faces <= 3:
            raise ValueError("faces must be 2 or 3")

    @cached_property
    def goal(self):
        return sum(corner << 5 * corner for corner in range(CORNERS))

    @cached_property
    def start(self):
        """The cube after the turns R U2 F' R2 U' F R' U that the game has. Any unsolved cube would do."""
        position = self.goal
        for move in (3, 1, 8, 4, 2, 6, 5, 0):
            if move < 3 * self.faces:
                position = self.do_move(position, move)
        return position

    # The rules

    def generate_moves(self, position):
        """Yield `3 * face + turns - 1` for one to three quarter turns of a face (*quarter*: not two)."""
        for move in range(3 * self.faces):
            if not self.quarter or move % 3 != 1:
                yield move

    def do_move(self, position, move):
        """Return the position after a turn, which moves and twists four corners."""
        after = 0
        for place in range(CORNERS):
            corner = position >> 5 * TURNS[move][0][place] & 31
            twist = (corner >> 3) + TURNS[move][1][place]
            if twist > 2:
                twist -= 3
            after |= (corner & 7 | twist << 3) << 5 * place
        return after

    def primitive(self, position):
        return WIN if position == self.goal else UNDECIDED

    def parents(self, position):
        """Yield the cubes before each turn: every turn is undone by one that is also a move."""
        for move in self.generate_moves(position):
            yield self.do_move(position, move)

    # The numbering

    tiers = (0,)

    def size(self, tier):
        return len(self.orders) * self.twists

    @property
    def twisted(self):
        """How many places have a twist of their own. The last one's follows, and two faces leave one place as it is."""
        return 3 + self.faces

    @property
    def twists(self):
        return 3**self.twisted

    @property
    def orientations(self):
        return 3, self.twisted

    @cached_property
    def orders(self):
        """The positions without twists that turns lead to, in order of their ranks."""
        found, waiting = {self.goal}, [self.goal]
        while waiting:
            position = waiting.pop()
            for face in range(self.faces):
                after = sum((position >> 5 * source & 7) << 5 * place for place, source in enumerate(FROM[face]))
                if after not in found:
                    found.add(after)
                    waiting.append(after)
        return tuple(sorted(found, key=self.rank))

    @cached_property
    def numbers(self):
        """For each rank, its number among the orders; -1 for orders that turns do not lead to."""
        numbers = [-1] * 5040
        for number, order in enumerate(self.orders):
            numbers[self.rank(order)] = number
        return tuple(numbers)

    def rank(self, position):
        """Return the number of the order of corners among all 7! = 5,040."""
        rank = 0
        for place in range(CORNERS):
            smaller = 0
            for later in range(place + 1, CORNERS):
                smaller += (position >> 5 * later & 7) < (position >> 5 * place & 7)
            rank = rank * (CORNERS - place) + smaller
        return rank

    def index(self, position):
        """Return the slot: the number of the permutation of the corners, then their twists in base 3."""
        twists = 0
        for place in range(self.twisted):
            twists = 3 * twists + (position >> 5 * place + 3 & 3)
        return self.numbers[self.rank(position)] * self.twists + twists

    def unindex(self, tier, i):
        """Return the position of slot i: a permutation of the corners, and twists that add up to a multiple of 3."""
        position, rest, total = self.orders[i // self.twists], i % self.twists, 0
        for place in range(self.twisted - 1, -1, -1):
            twist = rest % 3
            rest //= 3
            total += twist
            position |= twist << 5 * place + 3
        return position | (-total % 3) << 5 * (CORNERS - 1) + 3  # the last twist follows

    # For people

    def write(self, position):
        """Return the corner at each place with its twist, as in `0 1 2+ 3 4- 5 6`."""
        corners = [position >> 5 * place & 31 for place in range(CORNERS)]
        return " ".join(f"{corner & 7}{['', '+', '-'][corner >> 3]}" for corner in corners)

    def read(self, text):
        """Return the position that `write` gives as *text*, which turns need not reach. A corner with + is twisted by a
        third of a turn, one with - by two thirds."""
        words = text.split()
        if sorted(word[:1] for word in words) != list("0123456") or {word[1:] for word in words} - {"", "+", "-"}:
            raise ValueError(f"a position is seven corners, each with +, - or neither, as in {self.write(self.start)}")
        twists = [("", "+", "-").index(word[1:]) for word in words]
        if sum(twists) % 3:
            raise ValueError("the twists of all corners must make whole turns")
        corners = [int(word[0]) | twist << 3 for word, twist in zip(words, twists, strict=True)]
        return sum(corner << 5 * place for place, corner in enumerate(corners))

    def show(self, position):
        """Return the net: U above, then L, F, R and B, and D below."""
        signs = dict(zip(self.cells, self.draw_pieces(position), strict=True))
        return "\n".join("".join(signs.get((x, y), " ") for x in range(8)).rstrip() for y in range(6))

    def move_name(self, position, move):
        return NAMES[move]

    @cached_property
    def net(self):
        """For each cell of the net: column, row, corner place, and the face of that corner it shows."""
        return tuple(
            (x + right, y + down, STICKERS.index(corner), STICKERS[STICKERS.index(corner)].index(face))
            for face, (x, y) in CORNERS_OF_FACES.items()
            for down, row in enumerate(NET[face])
            for right, corner in enumerate(row)
        )

    @property
    def cells(self):
        return [(x, y) for x, y, _, _ in self.net]

    def draw_board(self):
        """Return the board: the net of the cube, four stickers to a face."""
        from retrograde.games.contract.drawing import Board

        names = tuple(f"{face}{number}" for face in CORNERS_OF_FACES for number in range(1, 5))
        pieces = {sign: f"{colour} square" for sign, colour in COLOURS.items()}
        return Board(tuple((float(x), float(y)) for x, y in self.cells), names, pieces, len(names))

    def draw_pieces(self, position):
        signs = []
        for _, _, place, face in self.net:
            corner = position >> 5 * place & 31 if place < CORNERS else CORNERS
            signs.append(STICKERS[corner & 7][(face - (corner >> 3)) % 3])
        return "".join(signs)

    def draw_move(self, position, move):
        after = self.draw_pieces(self.do_move(position, move))
        return tuple(cell for cell, sign in enumerate(self.draw_pieces(position)) if sign != after[cell])
