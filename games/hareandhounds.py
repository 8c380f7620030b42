"""Hare and Hounds, the French military game: three hounds hunt a hare over eleven points.

       1 - 2 - 3
     / | \\ | / | \\
    4 - 5 - 6 - 7 - 8      point p is bit p - 1
     \\ | / | \\ | /
       9 - 10- 11

A position holds the places of the pieces::

    bit      15              14 … 11      10 … 0
             1 if the hare   the hare's   the hounds
             is to move      bit

The hounds start on 1, 4 and 9. A piece moves along a line to the next point if that is empty. A hound never moves to
the left. The hare wins on point 4, or if no hound can move. The hounds win if the hare cannot move. There is no rule
against stalling: a game that repeats for ever is a draw. (Under rules where stalling loses the hunt, the hare wins such
a draw.)
"""

from functools import cached_property

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN, Game

BOARD = 0b111_11111_111
BURROW = 3


class HareAndHounds(Game):
    """As the hounds, D for dogs, trap the hare, H. As the hare, slip past them to the left end."""

    title = "Hare and Hounds"
    words = {"D": "Hounds", "H": "Hare"}
    to_move = "DH"

    hare: int = 8
    hare_first: bool = False

    def __post_init__(self):
        if not 5 <= self.hare <= 8:
            raise ValueError("hare must be a point of the middle line, from 5 to 8")

    @cached_property
    def start(self):
        return self.hare_first << 15 | self.hare - 1 << 11 | 0b001_00001_001

    @cached_property
    def columns(self):
        return (1, 2, 3, 0, 1, 2, 3, 4, 1, 2, 3)

    @cached_property
    def lines(self):
        """For each point, its neighbours as bits. Every other point has diagonal lines."""

        def near(a, b):
            distance = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
            return distance == 1 or (distance == 2 and sum(a) % 2 == 1)

        places = list(zip(self.columns, [0] * 3 + [1] * 5 + [2] * 3, strict=True))
        return tuple(sum(near(a, b) << point for point, b in enumerate(places)) for a in places)

    @cached_property
    def onward(self):
        """For each point, the neighbours that a hound may enter."""
        return tuple(
            sum(1 << b for b in range(11) if lines >> b & 1 and self.columns[b] >= self.columns[a])
            for a, lines in enumerate(self.lines)
        )

    # The rules: a move is 16 × the point left + the point entered, both counted from 0

    def generate_moves(self, position):
        """Yield `point << 4 | target` for each step of the hare, or of a hound, which never goes back."""
        hare, hounds = position >> 11 & 15, position & BOARD
        if position >> 15:
            for target in range(11):
                if self.lines[hare] & ~hounds & 1 << target:
                    yield hare << 4 | target
        else:
            for point in range(11):
                if hounds >> point & 1:
                    for target in range(11):
                        if self.onward[point] & ~(hounds | 1 << hare) & 1 << target:
                            yield point << 4 | target

    def do_move(self, position, move):
        """Return the position after a step from *point* to *target*; the turn passes."""
        point, target = move >> 4, move & 15
        if position >> 15:
            return target << 11 | position & BOARD
        return position ^ 1 << 15 ^ 1 << point ^ 1 << target

    def primitive(self, position):
        """Return the value for the player to move: the hare wins in the burrow; a player without a move loses."""
        if position >> 11 & 15 == BURROW:
            return WIN if position >> 15 else LOSE
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def images(self, position):
        """Yield the mirror image, top to bottom."""
        hare, hounds = position >> 11 & 15, position & BOARD
        if hare < 3 or hare > 7:
            hare = (hare + 8) % 16
        hounds = (hounds & 0b111) << 8 | hounds & 0b11111_000 | hounds >> 8
        yield position >> 15 << 15 | hare << 11 | hounds

    def tier(self, position):
        """Return how far the hounds have come, all together."""
        progress = 0
        for point in range(11):
            if position >> point & 1:
                progress += self.columns[point]
        return progress

    def estimate(self, position):
        """Return an estimate for the player to move, greater if the hare has passed more hounds and has more moves.

        A hound in the hare's column or further from the hounds' side counts as passed.
        """
        # Bits 0 to 10 are the points with hounds, 11 to 14 the hare's point, and 15 is set if the hare moves.
        hare, hounds = position >> 11 & 15, position & BOARD
        passed = 0
        for point in range(11):
            if hounds >> point & 1 and self.columns[point] >= self.columns[hare]:
                passed += 1
        good = 4 * passed + (self.lines[hare] & ~hounds).bit_count()
        return good if position >> 15 else -good

    # For people

    def signs(self, position):
        signs = ["D" if position >> point & 1 else "." for point in range(11)]
        signs[position >> 11 & 15] = "H"
        return "".join(signs)

    def position_of(self, signs, turn):
        if signs.count("D") != 3 or signs.count("H") != 1:
            raise ValueError("there must be three hounds (D) and one hare (H)")
        hounds = sum(1 << point for point, sign in enumerate(signs) if sign == "D")
        return self.to_move.index(turn) << 15 | signs.index("H") << 11 | hounds

    def show(self, position):
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

        places = [(float(x), y) for x, y in zip(self.columns, [0.0] * 3 + [1.0] * 5 + [2.0] * 3, strict=True)]
        lines = tuple((a, b) for a in range(11) for b in range(a) if self.lines[a] >> b & 1)
        names = tuple(str(point + 1) for point in range(11))
        labels = [(x + 0.47, y - 0.2, name) for (x, y), name in zip(places, names, strict=True)]
        pieces = {"D": "sienna disc D", "H": "lightgrey disc H"}
        return Board(tuple(places), names, pieces, lines=lines, labels=tuple(labels))

    def draw_move(self, position, move):
        return move >> 4, move & 15

    def ending(self, position):
        if position >> 11 & 15 == BURROW:
            return "the hare has slipped past the hounds"
        return "the hare is trapped" if position >> 15 else "the hounds cannot move"

    def draw_turn(self, position):
        return self.to_move[position >> 15]

    def draw_end(self, position):
        """Return the point of the hare, caught or home."""
        return (position >> 11 & 15,)
