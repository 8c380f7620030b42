"""Othello on small boards, by score: the difference of discs at the end.

A position is a bit for each cell with a disc of the first player, row by row from the top left, then a bit for each
cell with a disc of the second player, and above them a bit that is 1 if the second player is to move. A player who can
turn nothing passes, which is a move. If neither can move, the game is over.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import LOSE, POSITION_BITS, TIE, UNDECIDED, WIN, Game

WAYS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


class Othello(Game):
    """Turn the opponent's discs by enclosing them between your own. The player with more discs at the end wins."""

    metric = "score"
    words = {"X": "Black", "O": "White"}
    bits = to_move = "XO"

    width: int = 4
    height: int = 4

    def __post_init__(self):
        if min(self.width, self.height) < 2 or 2 * self.cells >= POSITION_BITS:
            raise ValueError("the board must have at least two rows and columns, and at most 30 cells")

    @property
    def cells(self):
        return self.width * self.height

    @property
    def board(self):
        return (1 << self.cells) - 1

    @cached_property
    def start(self):
        corner = self.width * (self.height // 2 - 1) + self.width // 2 - 1
        black = 1 << corner + 1 | 1 << corner + self.width
        white = 1 << corner | 1 << corner + self.width + 1
        return black | white << self.cells

    @cached_property
    def rays(self):
        """For each cell and each direction, the cells that lie there, nearest first, padded with -1."""
        longest = max(self.width, self.height)
        found = []
        for cell in range(self.cells):
            for down, across in WAYS:
                y, x = divmod(cell, self.width)
                ray = []
                while 0 <= y + down < self.height and 0 <= x + across < self.width:
                    y, x = y + down, x + across
                    ray.append(self.width * y + x)
                found.append(tuple(ray + [-1] * (longest - len(ray))))
        return tuple(found)

    @cached_property
    def symmetries(self):
        """Where each symmetry of the board takes the cells: those that keep the start, without the identity."""
        found = []
        for swap in (False, True) if self.width == self.height else (False,):
            for mirror in (False, True):
                for flip in (False, True):
                    places = []
                    for y in range(self.height):
                        for x in range(self.width):
                            row, column = (x, y) if swap else (y, x)
                            row = self.height - 1 - row if flip else row
                            places.append(self.width * row + (self.width - 1 - column if mirror else column))
                    found.append(tuple(places))
        return tuple(places for places in found[1:] if self.moved(self.start, places) == self.start) or (found[0],)

    # The rules

    def moved(self, position, places):
        """Return a position with its cells moved to other places."""
        image = position >> 2 * self.cells << 2 * self.cells
        for cell in range(self.cells):
            image |= (position >> cell & 1) << places[cell]
            image |= (position >> cell + self.cells & 1) << places[cell] + self.cells
        return image

    def turn(self, position):
        return position >> 2 * self.cells

    def own(self, position):
        return position >> self.cells & self.board if self.turn(position) else position & self.board

    def other(self, position):
        return position & self.board if self.turn(position) else position >> self.cells & self.board

    def turned(self, own, other, cell):
        """Return the discs that a disc in an empty cell turns, as bits."""
        found = 0
        for way in range(8):
            between = 0
            for place in self.rays[8 * cell + way]:
                if place < 0:
                    break
                if own >> place & 1:
                    found |= between
                    break
                if not other >> place & 1:
                    break
                between |= 1 << place
        return found

    def can_move(self, own, other):
        for cell in range(self.cells):  # noqa: SIM110  # compiled code has no any()
            if not (own | other) >> cell & 1 and self.turned(own, other, cell):
                return True
        return False

    def generate_moves(self, position):
        own, other = self.own(position), self.other(position)
        passes = True
        for cell in range(self.cells):
            if not (own | other) >> cell & 1 and self.turned(own, other, cell):
                passes = False
                yield cell
        if passes:
            yield self.cells

    def do_move(self, position, move):
        own, other = self.own(position), self.other(position)
        if move < self.cells:
            turned = self.turned(own, other, move)
            own |= turned | 1 << move
            other &= ~turned
        if self.turn(position):
            return other | own << self.cells
        return own | other << self.cells | 1 << 2 * self.cells

    def primitive(self, position):
        own, other = self.own(position), self.other(position)
        if self.can_move(own, other) or self.can_move(other, own):
            return UNDECIDED
        if own.bit_count() == other.bit_count():
            return TIE
        return WIN if own.bit_count() > other.bit_count() else LOSE

    def payoff(self, position, player):
        discs = position >> self.cells if player else position
        return (discs & self.board).bit_count()

    def images(self, position):
        for places in self.symmetries:
            yield self.moved(position, places)

    def tier(self, position):
        return (self.own(position) | self.other(position)).bit_count()

    # For people

    def draw_board(self):
        return grid(self.width, self.height, {"X": "black disc", "O": "white disc"})

    def write(self, position):
        rows, _, turn = super().write(position).rpartition("/")
        return f"{rows},{turn}"

    def move_name(self, position, move):
        return "pass" if move == self.cells else super().move_name(position, move)
