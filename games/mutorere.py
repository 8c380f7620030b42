"""Mū Tōrere, a game of the Ngāti Porou: four stones each on a star with a centre, the pūtahi.

    8 1 2
    7 c 3     points 1 to 8, bits 0 to 7, are neighbours as on a clock, and 8 of 1; the centre is bit 8
    6 5 4

A position has nine bits for the stones of the player to move, nine for the other's, and a bit for who is to move::

    bit      18         17 … 9      8 … 0
             0 if X     theirs      mine       a move exchanges the two and turns the first bit over

A stone moves to the only empty place: along the rim, out of the centre, or into the centre if it is beside a stone of
the opponent. X moves first. A player who cannot move loses. These are the rules of GamesmanClassic, where the
restriction holds throughout the game. Some apply it to the first two moves of each player only.
"""

import re

from retrograde.games.contract.game import LOSE, UNDECIDED, Game

CENTRE = 8
BOARD = 0b1_1111_1111
SIGNS = "XO"


class MuTorere(Game):
    """Move a stone to the one empty place. A player who cannot move loses."""

    title = "Mū Tōrere"
    words = {"X": "Black", "O": "White"}

    start = 0b1111_0000 << 9 | 0b1111

    # The rules

    def generate_moves(self, position):
        """Yield the places from which a stone can move."""
        mine, theirs = position & BOARD, position >> 9 & BOARD
        empty = BOARD ^ mine ^ theirs
        for place in range(9):
            if mine >> place & 1:
                beside = 1 << (place + 1) % 8 | 1 << (place + 7) % 8
                if place == CENTRE or beside & empty or (empty >> CENTRE and beside & theirs):
                    yield place

    def do_move(self, position, place):
        """Return the position after the stone at *place* moves to the empty point."""
        theirs = position >> 9 & BOARD
        moved = BOARD ^ theirs ^ 1 << place  # my stones fill all but theirs and the place left
        return (position >> 18 ^ 1) << 18 | moved << 9 | theirs

    def primitive(self, position):
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def images(self, position):
        """Yield the eight rotations of the star, reflected and not, with either colour to move."""
        theirs, mine = position >> 9 & BOARD, position & BOARD
        for _ in range(8):
            theirs, mine = self.turned(theirs), self.turned(mine)
            for colour in range(2):
                yield colour << 18 | theirs << 9 | mine
                yield colour << 18 | self.mirrored(theirs) << 9 | self.mirrored(mine)

    def turned(self, stones):
        """Return the stones with those on the rim moved one point further."""
        return stones & 1 << CENTRE | stones << 1 & 0b1111_1110 | stones >> 7 & 1

    def mirrored(self, stones):
        """Return the stones with points 1 to 8 in reverse order."""
        reverse = stones & 1 << CENTRE
        for point in range(8):
            reverse |= (stones >> point & 1) << 7 - point
        return reverse

    # For people

    def write(self, position):
        """Return points 1 to 8, the centre and the player to move, as in `XXXXOOOO/./X`."""
        mover = position >> 18
        stones = (position & BOARD, position >> 9 & BOARD)
        xs, os = stones[mover], stones[1 - mover]
        places = "".join("X" if xs >> place & 1 else "O" if os >> place & 1 else "." for place in range(9))
        return f"{places[:8]}/{places[8]}/{SIGNS[mover]}"

    def read(self, text):
        """Return the position of a text such as `XXXXOOOO/./X`: the points of the rim, the centre, and who is to
        move."""
        match = re.fullmatch(r"([.XO]{8})/([.XO])/([XO])", text)
        if not match:
            raise ValueError("a position is points 1 to 8, the centre and the player to move, as in XXXXOOOO/./X")
        places, mover = match[1] + match[2], match[3]
        if places.count("X") != 4 or places.count("O") != 4:
            raise ValueError("there must be four X (Black) and four O (White)")
        mine = sum(1 << place for place, sign in enumerate(places) if sign == mover)
        theirs = sum(1 << place for place, sign in enumerate(places) if sign not in (mover, "."))
        return SIGNS.index(mover) << 18 | theirs << 9 | mine

    def show(self, position):
        """Return the board, beside it the numbers of the points, and who is to move."""
        rim, centre, mover = self.write(position).split("/")
        lines = [
            f"    {rim[0]}             1",
            f" {rim[7]}  |  {rim[1]}       8  |  2",
            "  \\ | /         \\ | /",
            f"{rim[6]}-- {centre} --{rim[2]}     7-- c --3",
            "  / | \\         / | \\",
            f" {rim[5]}  |  {rim[3]}       6  |  4",
            f"    {rim[4]}             5",
        ]
        return "\n".join([*lines, f"{mover} to move"])

    def move_name(self, position, place):
        """Return the name of the place that the stone leaves: `1` to `8` or `c`."""
        return "12345678c"[place]

    def draw_board(self):
        """Return the board: eight points on a circle, 1 to 8, and the centre, c."""
        from math import cos, pi, sin

        from retrograde.games.contract.drawing import Board

        rim = [(round(2 + 2 * sin(point * pi / 4), 3), round(2 - 2 * cos(point * pi / 4), 3)) for point in range(8)]
        lines = [(point, (point + 1) % 8) for point in range(8)] + [(point, CENTRE) for point in range(8)]
        pieces = {"X": "black disc", "O": "white disc"}
        beside = [
            (round(2 + 2.6 * sin(point * pi / 4), 3), round(2 - 2.6 * cos(point * pi / 4), 3)) for point in range(8)
        ]
        labels = [(x, y, str(point + 1)) for point, (x, y) in enumerate(beside)]
        return Board(
            (*rim, (2.0, 2.0)),
            tuple("12345678c"),
            pieces,
            lines=tuple(lines),
            labels=(*labels, (2.55, 2.23, "c")),
        )

    def draw_pieces(self, position):
        rim, centre, _ = self.write(position).split("/")
        return rim + centre

    def draw_move(self, position, place):
        """Return the place that the stone leaves, and the empty place."""
        return place, self.draw_pieces(position).index(".")

    def ending(self, position):
        return f"{self.words[SIGNS[position >> 18]]} cannot move"

    def draw_turn(self, position):
        return SIGNS[position >> 18]

    def draw_end(self, position):
        """Return the stones that are hemmed in."""
        return tuple(place for place in range(9) if position >> place & 1)

    def read_pieces(self, pieces, turn):
        return self.read(f"{pieces[:8]}/{pieces[8:]}/{turn}")
