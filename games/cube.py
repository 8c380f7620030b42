"""Parts of the 3 × 3 × 3 cube: some cubies are turned home, the others are alike. `wide/cube.py` is the whole cube.

Places and cubies have the names of their faces, as by H. Kociemba: URF is the corner up, right and front. A position is
two words, corners and edges, with a code of five bits for each place. It is 3 × the corner there + its twist, 2 × the
edge there + its flip, or ANY for a cubie that does not count. With twist or flip t, the first face of the cubie's name
shows at face t of the place's name. A move is 3 × the face + the number of quarter turns - 1: U, U2, U', R, …

The number of a position has first the places of the corners that count, as a partial permutation, and their twists in
base 3, then the places and flips of the edges. If all corners count, the last twist follows from the others.
"""

from functools import cached_property
from math import perm

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.game import UNDECIDED, WIN, Game

FACES = "URFDLB"
AROUND = {"U": "BRFL", "R": "UBDF", "F": "URDL", "D": "FRBL", "L": "UFDB", "B": "ULDR"}
"""For each face, the faces above it, right of it, below and left, as the net shows them."""
NET = {"U": (3, 0), "R": (6, 3), "F": (3, 3), "D": (3, 6), "L": (0, 3), "B": (9, 3)}
"""The column and row of each face in the net."""
COLOURS = {"U": "white", "R": "crimson", "F": "teal", "D": "gold", "L": "sienna", "B": "royalblue"}
TURNS = tuple(face + times for face in FACES for times in ("", "2", "'"))
"""The names of the moves."""
SCRAMBLE = "R U2 F' L2 D B' U L F2 R' D2 B"

CORNERS = ("URF", "UFL", "ULB", "UBR", "DFR", "DLF", "DBL", "DRB")
EDGES = ("UR", "UF", "UL", "UB", "DR", "DF", "DL", "DB", "FR", "FL", "BL", "BR")
KINDS = (CORNERS, EDGES)
PLACES = (8, 12)
STATES = (3, 2)
"""How many ways a corner, and an edge, can be turned in its place."""
CODES = 24
"""Codes of cubies that count are below this: 8 × 3 and 12 × 2."""
ANY = 31
MOST_POSITIONS = 88_179_840
"""The most positions of a part: as many as the eight corners have. Seven edges have more."""
HOME = tuple(
    sum(place * states << 5 * place for place in range(places)) for states, places in zip(STATES, PLACES, strict=True)
)
"""The solved cube."""


def place_of(letters):
    """Return the kind and number of the place with these faces, and where its name has the first of them."""
    for kind, names in enumerate(KINDS):
        for place, name in enumerate(names):
            if set(name) == set(letters):
                return kind, place, name.index(letters[0])
    raise ValueError(f"there is no cubie {letters}")


def cycle(kind, move):
    """Return what a move does to cubies of a kind.

    For each of four places: 5 × the place, 5 × the place from which its cubie comes, and the turn of the cubie."""
    face, times = FACES[move // 3], move % 3 + 1
    around, numbers = AROUND[face], []
    after = {letter: around[(around.index(letter) + times) % 4] for letter in around} | {face: face}
    for source, name in enumerate(KINDS[kind]):
        if face in name:
            _, place, turn = place_of([after[letter] for letter in name])
            numbers += [5 * place, 5 * source, turn]
    return tuple(numbers)


CYCLES = tuple(cycle(kind, move) for kind in range(2) for move in range(18))
KEPT = tuple((1 << 60) - 1 - sum(31 << place for place in row[::3]) for row in CYCLES)
"""For each row of CYCLES, the bits of the places that do not change."""
TURNED = tuple(
    tuple(code - code % states + (code + turn) % states if code < CODES else code for code in range(ANY + 1))
    for states in STATES
    for turn in range(3)
)
"""For each kind and turn, the code of a turned cubie."""


def sticker(face, row, column):
    """Return the kind and place of a sticker, and its index in the place's name. Centres are of a third kind."""
    up, right, down, left = tuple(AROUND[face])
    letters = [face, *(up, "", down)[row], *(left, "", right)[column]]
    return place_of(letters) if len(letters) > 1 else (2, FACES.index(face), 0)


STICKERS = tuple(sticker(face, row, column) for face in FACES for row in range(3) for column in range(3))
"""The stickers of each face, row by row."""


def cubie_with(kind, shown):
    """Return the cubie that shows these faces and its turn; -1 if all are dots."""
    if set(shown) == {"."}:
        return -1, 0
    for cubie, name in enumerate(KINDS[kind]):
        for turn in range(len(name)):
            if [name[at - turn] for at in range(len(name))] == shown:
                return cubie, turn
    raise ValueError(f"no cubie has the stickers {' '.join(shown)}")


def turned(word, kind, move):
    """Return the corners or edges after a move."""
    row = 18 * kind + move
    after = word & KEPT[row]
    for k in range(0, 12, 3):  # four places, with three numbers each
        code = word >> CYCLES[row][k + 1] & 31
        after |= TURNED[3 * kind + CYCLES[row][k + 2]][code] << CYCLES[row][k]
    return after


class CubePart(Game):
    """Turn the faces of the 3 × 3 × 3 cube until all cubies that count are at home."""

    name = "cube"
    title = "Rubik's cube"
    players = 1
    example = "UR-UF"

    only: str
    """The cubies that count, first corners, then edges, as in URF-UFL-UR-UF, or `corners`: all eight."""

    def __post_init__(self):
        # The names in the right order: other than `only` if that has an unknown or repeated name, or another order.
        names = [kind[cubie] for kind, cubies in zip(KINDS, self.counted, strict=True) for cubie in cubies]
        if not names or self.only not in ("corners", "-".join(names)):
            raise ValueError(
                f"only={self.only}; write corners, or names of {' '.join(CORNERS + EDGES)}, as in URF-UR-UF"
            )
        if self.size(0) > MOST_POSITIONS:
            raise ValueError(
                f"only={self.only} has {self.size(0):,} positions; name at most eight corners or six edges"
            )

    # The cubies that count

    @cached_property
    def counted(self):
        """The numbers of the corners that count, and of the edges."""
        names = CORNERS if self.only == "corners" else self.only.split("-")
        return tuple(tuple(cubie for cubie, name in enumerate(kind) if name in names) for kind in KINDS)

    @cached_property
    def codes(self):
        """For corners and edges, what becomes of each code: the same, or ANY."""
        return tuple(
            tuple(code if code // states in cubies else ANY for code in range(ANY + 1))
            for cubies, states in zip(self.counted, STATES, strict=True)
        )

    def seen(self, position, row):
        """Return the position with ANY for cubies that do not count, by `codes[row]` and, for edges, the next row."""
        corners = edges = 0
        for place in range(PLACES[0]):
            corners |= self.codes[row][position[0] >> 5 * place & 31] << 5 * place
        for place in range(PLACES[1]):
            edges |= self.codes[row + 1][position[1] >> 5 * place & 31] << 5 * place
        return corners, edges

    @cached_property
    def goal(self):
        return self.seen(HOME, 0)

    @cached_property
    def start(self):
        return self.read(SCRAMBLE)

    # The rules

    def generate_moves(self, position):
        """Yield `3 * face + turns - 1` for one to three quarter turns of each face."""
        yield from range(len(TURNS))

    def do_move(self, position, move):
        """Return the position after a turn, which moves four corners and four edges."""
        corners, edges = position
        if self.counts[0]:
            corners = turned(corners, 0, move)
        if self.counts[1]:
            edges = turned(edges, 1, move)
        return corners, edges

    def primitive(self, position):
        return WIN if position[0] == self.goal[0] and position[1] == self.goal[1] else UNDECIDED

    def parents(self, position):
        for move in range(len(TURNS)):
            yield self.do_move(position, move)

    # The numbering

    tiers = (0,)

    def size(self, tier):
        return self.sizes[0] * self.sizes[1]

    @cached_property
    def counts(self):
        """How many corners count, and how many edges."""
        return tuple(map(len, self.counted))

    @cached_property
    def digits(self):
        """How many corners have a twist that does not follow from others, and how many edges such a flip."""
        return tuple(count - (count == places) for count, places in zip(self.counts, PLACES, strict=True))

    @cached_property
    def sizes(self):
        """How many numbers corners have, and edges."""
        kinds = zip(PLACES, self.counts, STATES, self.digits, strict=True)
        return tuple(perm(places, count) * states**digits for places, count, states, digits in kinds)

    @cached_property
    def shifts(self):
        """For corners and edges, 4 × the rank of each code's cubie among those that count, 48 for others."""
        return tuple(
            tuple(4 * cubies.index(code // states) if code // states in cubies else 48 for code in range(ANY + 1))
            for cubies, states in zip(self.counted, STATES, strict=True)
        )

    @cached_property
    def turns(self):
        """For corners and edges, each code's turn, shifted so."""
        return tuple(
            tuple(code % states << shift for code, shift in enumerate(row))
            for row, states in zip(self.shifts, STATES, strict=True)
        )

    @property
    def orientations(self):
        """The twists of corners or the flips of edges. With both, their digits are apart, and there is no such pair."""
        kind = int(not self.counts[0])
        return () if all(self.counts) else (STATES[kind], self.digits[kind])

    def index(self, position):
        return self.number(position[0], 0) * self.sizes[1] + self.number(position[1], 1)

    def unindex(self, tier, i):
        return self.word(i // self.sizes[1], 0), self.word(i % self.sizes[1], 1)

    def number(self, word, kind):
        """Return the number of the corners or edges: their places, and their turns."""
        # For each cubie that counts, `places` and `turns` have four bits, in the order of the cubies.
        places = turns = number = taken = 0
        if not self.counts[kind]:
            return 0
        for place in range(PLACES[kind]):
            code = word >> 5 * place & 31
            places |= place << self.shifts[kind][code]
            turns |= self.turns[kind][code]
        for rank in range(self.counts[kind]):
            place = places >> 4 * rank & 15
            free = place - (taken & (1 << place) - 1).bit_count()  # how many free places are below
            number = number * (PLACES[kind] - rank) + free
            taken |= 1 << place
        for rank in range(self.digits[kind]):
            number = number * STATES[kind] + (turns >> 4 * rank & 15)
        return number

    def word(self, number, kind):
        """Return the corners or edges of a number; undoes `number`."""
        places = turns = taken = total = 0
        for rank in range(self.digits[kind] - 1, -1, -1):
            turns |= number % STATES[kind] << 4 * rank
            total += number % STATES[kind]
            number //= STATES[kind]
        if self.digits[kind] < self.counts[kind]:
            turns |= (-total % STATES[kind]) << 4 * self.digits[kind]  # all turns add up to whole ones
        for rank in range(self.counts[kind] - 1, -1, -1):
            places |= number % (PLACES[kind] - rank) << 4 * rank
            number //= PLACES[kind] - rank
        word = (1 << 5 * PLACES[kind]) - 1
        for rank in range(self.counts[kind]):
            place, free = 0, places >> 4 * rank & 15
            while free or taken >> place & 1:
                free -= 1 - (taken >> place & 1)
                place += 1
            taken |= 1 << place
            code = self.counted[kind][rank] * STATES[kind] + (turns >> 4 * rank & 15)
            word ^= (code ^ ANY) << 5 * place  # before, ANY is there
        return word

    # For people

    def read(self, text):
        """Return the position of 54 stickers as `write` gives them, or after turns of the solved cube."""
        signs = "".join(text.split())
        if len(signs) == len(STICKERS):
            return self.position_of(signs, "")
        position = self.goal
        for turn in text.split():
            if turn not in TURNS:
                raise ValueError(f"{turn!r} is no turn; write 54 stickers, or turns of the solved cube, as in R U2 F'")
            position = self.do_move(position, TURNS.index(turn))
        return position

    def position_of(self, signs, turn):
        """Return the position with these stickers; raise ValueError if no turns of the solved cube lead there."""
        shown = dict(zip(STICKERS, signs, strict=True))
        if "".join(shown[2, face, 0] for face in range(len(FACES))) != FACES:
            raise ValueError(f"the centres of the faces must be {FACES}")
        words, odd = [0, 0], False
        for kind, names in enumerate(KINDS):
            cubies = []
            for place, name in enumerate(names):
                cubie, turn = cubie_with(kind, [shown[kind, place, at] for at in range(len(name))])
                words[kind] |= (ANY if cubie < 0 else cubie * STATES[kind] + turn) << 5 * place
                cubies += [cubie] if cubie >= 0 else []
            if sorted(cubies) != [*self.counted[kind]]:
                raise ValueError("each cubie that counts must be there once")
            odd ^= sum(a > b for i, a in enumerate(cubies) for b in cubies[i + 1 :]) % 2
        position = tuple(words)
        if any(self.word(self.number(position[kind], kind), kind) != position[kind] for kind in range(2)):
            raise ValueError("no turns lead there: a corner is twisted, or an edge flipped")
        if self.counts == PLACES and odd:
            raise ValueError("no turns lead there: two cubies are exchanged")
        return position

    def write(self, position):
        """Return the stickers of the faces U, R, F, D, L and B, each row by row."""
        return self.draw_pieces(position)

    def show(self, position):
        """Return the net: U above, then L, F, R and B, and D below."""
        signs = dict(zip(self.cells, self.draw_pieces(position), strict=True))
        return "\n".join("".join(signs.get((x, y), " ") for x in range(12)).rstrip() for y in range(9))

    def move_name(self, position, move):
        return TURNS[move]

    @property
    def cells(self):
        return [(NET[face][0] + x, NET[face][1] + y) for face in FACES for y in range(3) for x in range(3)]

    def draw_board(self):
        """Return the board: the net of the cube, nine stickers to a face."""
        names = tuple(f"{face}{number}" for face in FACES for number in range(1, 10))
        pieces = {sign: f"{colour} square" for sign, colour in COLOURS.items()}
        return Board(tuple((float(x), float(y)) for x, y in self.cells), names, pieces, len(names))

    def draw_pieces(self, position):
        """Return the colour of each sticker, a dot for one of a cubie that does not count."""
        signs = ""
        for kind, place, at in STICKERS:
            code = position[kind] >> 5 * place & 31 if kind < 2 else ANY
            if code < CODES:
                name = KINDS[kind][code // STATES[kind]]
                signs += name[(at - code) % STATES[kind]]  # the turn is code % STATES[kind]
            else:
                signs += "." if kind < 2 else FACES[place]
        return signs

    def draw_move(self, position, move):
        after = self.draw_pieces(self.do_move(position, move))
        return tuple(cell for cell, sign in enumerate(self.draw_pieces(position)) if sign != after[cell])
