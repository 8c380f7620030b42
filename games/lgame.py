"""The L-game by Edward de Bono: an L of four cells for each player, and two neutral stones.

The board is 4 × 4 cells:

     0  1  2  3
     4  5  6  7     an L lies in one of 48 placements, numbered by `shapes`, each a set of four of these cells
     8  9 10 11
    12 13 14 15

A position holds the placements of the L's and the cells of the stones::

    bit      20         19 … 14     13 … 8      7 … 4      3 … 0
             0 if X     my L        their L     white      grey
                                    └ the L moved and the stones: a move is just what these bits shall be

In each turn a player must move the L to another placement, and may then move one stone to any empty cell. Both together
are one move. X moves first. A player who cannot move the L loses. These are the rules of GamesmanClassic, which also
tells the two stones apart.

Turns and reflections of the board, an exchange of the stones and an exchange of the colours make 32 positions equal. No
position is its own image.
"""

from functools import cached_property

from retrograde.games.contract.game import LOSE, UNDECIDED, Game
from retrograde.games.contract.labels import with_names

BOARD = 0xFFFF
SIGNS = "XO"
CELLS = [f"{'abcd'[cell % 4]}{cell // 4 + 1}" for cell in range(16)]


class LGame(Game):
    """Move your L to another place, then a neutral stone if you like. A player whose L cannot move loses."""

    title = "L-game"
    words = {"X": "Red", "O": "Blue", "w": "white stone", "g": "grey stone"}

    @cached_property
    def start(self):
        return self.read("wXX./.OX./.OX./.OOg/X")

    @cached_property
    def symmetries(self):
        """The cells of the board in the order of each of its eight turns and reflections."""
        board = [tuple(range(4 * row, 4 * row + 4)) for row in range(4)]
        boards = []
        for _ in range(4):
            board = list(zip(*board[::-1], strict=True))  # a quarter turn
            boards += [sum(board, ()), sum(board[::-1], ())]
        return tuple(boards)

    @cached_property
    def shapes(self):
        """The placements of an L, each as a bit set of cells."""
        upright = [[0, 4, 8, 9], [1, 5, 9, 10], [2, 6, 10, 11]]
        upright += [[cell + 4 for cell in cells] for cells in upright]
        return tuple(sorted(sum(1 << board[cell] for cell in cells) for board in self.symmetries for cells in upright))

    @cached_property
    def turned(self):
        """For each symmetry, the image of each placement."""
        return tuple(
            tuple(
                self.shapes.index(sum(1 << board[cell] for cell in range(16) if shape >> cell & 1))
                for shape in self.shapes
            )
            for board in self.symmetries
        )

    # The rules

    def generate_moves(self, position):
        """Yield `placement << 8 | white << 4 | grey` for each new placement of the own L: first with both stones where
        they are. Then one of them is moved to each empty cell.

        >>> game = LGame()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(1295, 'b1c1d1d2'), (1359, 'b1c1d1d2+wa2'), (1284, 'b1c1d1d2+ga2')]
        """
        mine, theirs, white, grey = position >> 14 & 63, position >> 8 & 63, position >> 4 & 15, position & 15
        taken = self.shapes[theirs] | 1 << white | 1 << grey
        for placement in range(48):
            if placement != mine and not self.shapes[placement] & taken:
                yield placement << 8 | white << 4 | grey
                empty = BOARD ^ taken ^ self.shapes[placement]
                for cell in range(16):
                    if empty >> cell & 1:
                        yield placement << 8 | cell << 4 | grey
                        yield placement << 8 | white << 4 | cell

    def do_move(self, position, move):
        return (position >> 20 ^ 1) << 20 | (position >> 8 & 63) << 14 | move

    def primitive(self, position):
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def images(self, position):
        """Yield the images of a position: eight symmetries, the neutral pieces in either order, either colour."""
        mine, theirs, white, grey = position >> 14 & 63, position >> 8 & 63, position >> 4 & 15, position & 15
        for i in range(8):
            shapes = self.turned[i][mine] << 14 | self.turned[i][theirs] << 8
            first, second = self.symmetries[i][white], self.symmetries[i][grey]
            for colour in range(2):
                yield colour << 20 | shapes | first << 4 | second
                yield colour << 20 | shapes | second << 4 | first

    def estimate(self, position):
        """Return how many more placements are open to the L of the player to move than to the opponent's L."""
        mine, theirs = self.shapes[position >> 14 & 63], self.shapes[position >> 8 & 63]
        stones = 1 << (position >> 4 & 15) | 1 << (position & 15)
        ahead = 0
        for shape in self.shapes:
            ahead += (not shape & (theirs | stones)) - (not shape & (mine | stones))
        return ahead

    # For people: `w` and `g` are the neutral stones

    def write(self, position):
        """Return the rows from the top down and the player to move, as in `wXX./.OX./.OX./.OOg/X`."""
        mover = SIGNS[position >> 20]
        other = "O" if mover == "X" else "X"
        mine, theirs = self.shapes[position >> 14 & 63], self.shapes[position >> 8 & 63]
        signs = [mover if mine >> cell & 1 else other if theirs >> cell & 1 else "." for cell in range(16)]
        signs[position >> 4 & 15], signs[position & 15] = "w", "g"
        return "/".join(["".join(signs[i : i + 4]) for i in range(0, 16, 4)] + [mover])

    def read(self, text):
        """Return the position of a text: four rows of signs and the player to move."""
        *rows, mover = text.split("/")
        signs = "".join(rows)
        if [len(row) for row in rows] != [4] * 4 or set(signs) - set(".XOwg") or mover not in ("X", "O"):
            raise ValueError("a position is 4 lines of 4 signs of .XOwg and the player to move, parted by /")
        if signs.count("w") != 1 or signs.count("g") != 1:
            raise ValueError("there must be one neutral stone w and one g")
        shapes = {sign: sum(1 << cell for cell in range(16) if signs[cell] == sign) for sign in SIGNS}
        for sign, shape in shapes.items():
            if shape not in self.shapes:
                raise ValueError(f"the cells with {sign} must make an L of four")
        # SIGNS has two signs, and without the mover's it is the other player's.
        mine, theirs = (self.shapes.index(shapes[sign]) for sign in (mover, SIGNS.strip(mover)))
        return SIGNS.index(mover) << 20 | mine << 14 | theirs << 8 | signs.index("w") << 4 | signs.index("g")

    def show(self, position):
        return with_names(self.write(position))

    def move_name(self, position, move):
        """Return the cells of the L (column, then row from the top) and the moved stone, as in `a1b1c1c2+wd4`."""
        shape, white, grey = self.shapes[move >> 8], move >> 4 & 15, move & 15
        name = "".join(CELLS[cell] for cell in range(16) if shape >> cell & 1)
        if white != position >> 4 & 15:
            return f"{name}+w{CELLS[white]}"
        return f"{name}+g{CELLS[grey]}" if grey != position & 15 else name

    def draw_board(self):
        from retrograde.games.contract.drawing import grid

        pieces = {"X": "crimson square", "O": "royalblue square", "w": "white disc", "g": "grey disc"}
        return grid(4, 4, pieces)

    def draw_pieces(self, position):
        return "".join(self.write(position).split("/")[:-1])

    def draw_move(self, position, move):
        """Return the cells of the L, and the cells that a stone leaves and enters."""
        shape, white, grey = self.shapes[move >> 8], move >> 4 & 15, move & 15
        places = [cell for cell in range(16) if shape >> cell & 1]
        for before, after in ((position >> 4 & 15, white), (position & 15, grey)):
            if before != after:
                places += [before, after]
        return tuple(places)

    def ending(self, position):
        return f"no other place is left for the L of {self.words[SIGNS[position >> 20]]}"

    def draw_turn(self, position):
        return SIGNS[position >> 20]

    def draw_steps(self, position, move):
        """Return the cells of the L, then the cell that a stone leaves, then the cell that it enters."""
        places = self.draw_move(position, move)
        return places[:4], *((place,) for place in places[4:])

    def draw_end(self, position):
        """Return the cells of the L that cannot be moved."""
        return tuple(cell for cell in range(16) if self.shapes[position >> 14 & 63] >> cell & 1)

    def read_pieces(self, pieces, turn):
        return self.read("/".join([*(pieces[i : i + 4] for i in range(0, 16, 4)), turn]))
