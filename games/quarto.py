"""Quarto, by Blaise Müller: the opponent chooses the piece that you put down.

There is a piece for each choice of properties, such as tall or short: two properties on 2 × 2 cells, three on 3 × 3,
four on 4 × 4. The game on 4 × 4 cells is a tie (Luc Goossens, 1998).

A position has a number for each cell, and one for the piece in hand: 0 for none, else 1 + a bit for each property.
"""

from functools import cached_property

from retrograde.games.contract.drawing import Board, grid
from retrograde.games.contract.fields import Numbers
from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, Game

SIGNS = ".ABCDEFGHIJKLMNOP"
COLOURS = ("gold", "sienna", "lightblue", "royalblue")


class Quarto(Game):
    """Put the piece that you were given on an empty cell, and give the opponent one. A full row, column or diagonal
    whose pieces have a property in common wins. The first player only gives a piece."""

    example = "2"
    pieces = Numbers(lambda game: game.side**2 + 1, 0, lambda game: 2**game.side)
    side: int = 4

    def __post_init__(self):
        if not 2 <= self.side <= 4:
            raise ValueError("side must be from 2 to 4")

    @property
    def cells(self):
        return self.side**2

    @cached_property
    def lines(self):
        return grid(self.side, self.side).in_a_row(self.side)

    def generate_moves(self, position):
        """Yield `17 * cell + given`: the cell `cells` if no piece is in hand, and 0 for given if no piece is left.

        >>> game = Quarto()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(273, '+A'), (274, '+B'), (275, '+C')]
        """
        used, hand = 0, self.pieces.get(position, self.cells)
        for cell in range(self.cells + 1):
            piece = self.pieces.get(position, cell)
            used |= 1 << piece if piece else 0
        none_left = used.bit_count() == 2**self.side
        for cell in range(self.cells) if hand else range(self.cells, self.cells + 1):
            if self.pieces.get(position, cell) == 0:
                if none_left:
                    yield 17 * cell
                for given in range(1, 2**self.side + 1):
                    if not used >> given & 1:
                        yield 17 * cell + given

    def do_move(self, position, move):
        """Return the position after the piece in hand is put down, and another one given."""
        hand = self.pieces.get(position, self.cells)
        if hand:
            position = self.pieces.put(position, move // 17, hand)
        return self.pieces.put(position, self.cells, move % 17)

    def primitive(self, position):
        """Return LOSE if the pieces of a full line share a property, TIE if no move is left, else UNDECIDED."""
        for line in self.lines:
            common = other = 2**self.side - 1  # bits: properties that all pieces of the line have; that none has
            for cell in line:
                piece = self.pieces.get(position, cell)
                common &= piece - 1 if piece else 0  # an empty cell: the line is not full
                other &= ~(piece - 1) if piece else 0
            if common | other:
                return LOSE
        # A tie: the board is full, or all pieces are placed. (At the start none is in hand, and none placed.)
        placed = self.tier(position)
        if placed == self.cells or (placed and self.pieces.get(position, self.cells) == 0):
            return TIE
        return UNDECIDED

    def tier(self, position):
        """Return how many pieces are on the board; the piece in hand does not count."""
        placed = 0
        for cell in range(self.cells):
            placed += self.pieces.get(position, cell) > 0
        return placed

    @cached_property
    def orders(self):
        """The symmetries of the board, with the hand; the identity comes first."""
        orders = (tuple(range(self.cells)), *grid(self.side, self.side).symmetries)
        return tuple((*order, self.cells) for order in orders)

    def images(self, position):
        """Yield the positions after a turn or a reflection of the board, and after an exchange of properties."""
        for order in self.orders:
            for exchanged in range(2**self.side):
                image = position
                for cell in range(self.cells + 1):
                    piece = self.pieces.get(position, order[cell])
                    image = self.pieces.put(image, cell, 1 + (piece - 1 ^ exchanged) if piece else 0)
                yield image

    # For people

    write, read, show = Game.write, Game.read, Game.show

    @cached_property
    def board(self):
        """The cells, and below them the piece in hand."""
        looks = {sign: f"{COLOURS[piece & 3]} {'square' if piece & 4 else 'disc'}{' o' if piece & 8 else ''}"
                 for piece, sign in enumerate(SIGNS[1 : 2**self.side + 1])}  # fmt: skip
        cells = grid(self.side, self.side)
        return Board((*cells.places, (0.0, self.side + 0.5)), (*cells.names, "hand"), looks, self.cells + 1)

    def signs(self, position):
        return "".join(SIGNS[self.pieces.get(position, cell)] for cell in range(self.cells + 1))

    def position_of(self, signs, turn):
        if len({*signs} - {"."}) != len(signs) - signs.count("."):
            raise ValueError("each piece must be there once")
        position = self.start
        for cell, sign in enumerate(signs):
            position = self.pieces.put(position, cell, SIGNS.index(sign))
        return position

    def draw_move(self, position, move):
        return (move // 17,)

    def move_name(self, position, move):
        cell, given = divmod(move, 17)
        names = [self.board.names[cell]] if cell < self.cells else []
        return "".join([*names, "+" + SIGNS[given] if given else ""])
