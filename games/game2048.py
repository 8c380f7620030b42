"""2048, by Gabriele Cirulli, on small boards: slide tiles together until one shows the target.

All tiles slide as far as they can. Two equal tiles that meet become one of twice the number; each tile merges at most
once in a move. Then chance puts a 2 (nine times in ten) or a 4 into a random empty cell. Before the first move it does
so twice. The expectation is the probability of a tile with the `target`: on 2 × 2 cells it is 1 for 8, 0.9625 for 16,
0.0829 for 32. (J. Lees-Miller, *The Mathematics of 2048*, 2018, counts the states of such boards, and solves 3 × 3.)

Of more than 15 cells, a position is a tuple of two ints.
"""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Flag, Numbers
from retrograde.games.contract.fields.layout import blank
from retrograde.games.contract.game import CHANCE, LOSE, UNDECIDED, WIN, Game

NAMES = ("left", "right", "up", "down")
SIGNS = ".123456789abcdef"
MOST_CELLS = 30
COLOURS = ("linen", "wheat", "sandybrown", "coral", "tomato", "orangered", "gold")
"""The colours of tiles, from 2 on. Greater tiles have the last colour."""

EVEN, EMPTY, EQUAL, ROUGH = 40, 4, 2, 2
"""Weights of the estimate."""


class Game2048(Game):
    """Slide tiles together, two equal ones into one, until one shows the target."""

    title = "2048"
    metric = "expectation"
    players = 1

    tiles = Numbers(lambda game: game.cells, 0, 15)
    """For each cell, row by row: 0 if it is empty, n for a tile of 2**n."""
    spawning = Flag()
    """Whether chance is to put a tile."""

    width: int = 2
    height: int = 2
    target: int = 16

    def __post_init__(self):
        if self.width < 2 or self.height < 1 or self.cells > MOST_CELLS:
            raise ValueError(f"width must be 2 or more, height 1 or more, and there is room for {MOST_CELLS} cells")
        if not 4 <= self.target <= 1 << 15 or self.target & (self.target - 1):
            raise ValueError("target must be a power of two from 4 to 32768")

    @property
    def cells(self):
        return self.width * self.height

    @property
    def goal(self):
        return self.target.bit_length() - 1

    @cached_property
    def start(self):
        """The empty board."""
        return self.spawning.put(blank(self), True)

    @cached_property
    def lines(self):
        """For each direction, the lines along which tiles slide: first cell (where tiles stop), length and step."""
        width, height = self.width, self.height
        return tuple(
            line
            for direction in range(4)
            for line in (
                [(width * row, width, 1) for row in range(height)],
                [(width * row + width - 1, width, -1) for row in range(height)],
                [(column, height, width) for column in range(width)],
                [(width * (height - 1) + column, height, -width) for column in range(width)],
            )[direction]
        )

    @cached_property
    def first_lines(self):
        """For each direction, the index of its first line in `lines`; last, the number of all lines."""
        return (0, self.height, 2 * self.height, 2 * self.height + self.width, 2 * (self.height + self.width))

    @cached_property
    def symmetries(self):
        """For each turn and reflection that keeps the board, where each cell goes."""
        return grid(self.width, self.height).symmetries

    # The rules: a player's move is a direction; a chance move is 2 × cell for a 2, and 2 × cell + 1 for a 4

    def turn(self, position):
        return CHANCE if self.spawning.get(position) and not self.reached(position) else 0

    def reached(self, position):
        """Return whether a tile has reached the target."""
        found = False
        for cell in range(self.cells):
            found |= self.tiles.get(position, cell) == self.goal
        return found

    def generate_moves(self, position):
        """Yield the directions that change the board, or `2 * cell` and `2 * cell + 1` for a new 2 or 4 on an empty
        cell.

        >>> game = Game2048()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(0, '2@a1'), (1, '4@a1'), (2, '2@b1')]
        """
        if self.spawning.get(position):
            for cell in range(self.cells):
                if not self.tiles.get(position, cell):
                    yield 2 * cell
                    yield 2 * cell + 1
        else:
            for direction in range(4):
                if self.slide(position, direction) != position:
                    yield direction

    def odds(self, position, move):
        return 1 if move & 1 else 9

    def do_move(self, position, move):
        """Return the position after a slide, or after a new tile; a second one follows on an empty board."""
        if not self.spawning.get(position):
            return self.spawning.put(self.slide(position, move), True)
        child = self.tiles.add(position, move >> 1, (move & 1) + 1)
        return child if self.tier(position) == 1 else self.spawning.put(child, False)

    def slide(self, board, direction):
        """Return a board after its tiles have slid."""
        result = board
        for number in range(self.first_lines[direction], self.first_lines[direction + 1]):
            first, length, step = self.lines[number]
            # `place` is where the next tile comes to rest, `last` the tile before it, or 0 if that has merged.
            place, last, end = first, 0, first + step * length
            for i in range(length):
                tile = self.tiles.get(board, first + step * i)
                if tile and tile == last:
                    result = self.tiles.put(result, place - step, tile + 1)
                    last = 0
                elif tile:
                    result = self.tiles.put(result, place, tile)
                    place += step
                    last = tile
            while place != end:
                result = self.tiles.put(result, place, 0)
                place += step
        return result

    def primitive(self, position):
        """Return WIN if the target is reached, LOSE if nothing can slide, else UNDECIDED."""
        if self.reached(position):
            return WIN
        if self.spawning.get(position):
            return UNDECIDED
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def payoff(self, position, player):
        return 1 if self.reached(position) else 0

    def tier(self, position):
        """Return twice the sum of all tiles, plus 1 before chance moves. Sliding keeps the sum; chance raises it.

        >>> game = Game2048()
        >>> game.tier(game.read("2,2/4,.")), game.tier(game.read("2,2/4,.?"))
        (16, 17)
        """
        total = 0
        for cell in range(self.cells):
            tile = self.tiles.get(position, cell)
            if tile:
                total += 2 << tile
        return total + self.spawning.get(position)

    def images(self, position):
        for number in range(len(self.symmetries)):
            image = position
            for cell in range(self.cells):
                image = self.tiles.put(image, self.symmetries[number][cell], self.tiles.get(position, cell))
            yield image

    # Hints

    def estimate(self, position):
        """Return a guess of the probability of reaching the target, in hundredths, 1 to 99.

        It rises with each empty cell and each pair of equal neighbours, and falls with each line whose tiles go both up
        and down. A tile of 2**n counts n.
        """
        good, bad = 0, 0
        for number in range(self.first_lines[3]):
            if not self.first_lines[1] <= number < self.first_lines[2]:  # rows and columns, each in one direction
                first, length, step = self.lines[number]
                rises, falls, last = 0, 0, self.tiles.get(position, first)
                for i in range(1, length):
                    tile = self.tiles.get(position, first + step * i)
                    rises += max(0, tile - last)
                    falls += max(0, last - tile)
                    good += EQUAL if tile and tile == last else 0
                    last = tile
                bad += ROUGH * min(rises, falls)
        for cell in range(self.cells):
            good += 0 if self.tiles.get(position, cell) else EMPTY
        return min(max(EVEN + good - bad, 1), 99)

    # For people

    def variant_title(self):
        return f"2048 to {self.target} on {self.width} × {self.height}"

    def rows(self, position):
        tiles = [self.tiles.get(position, cell) for cell in range(self.cells)]
        texts = [str(1 << tile) if tile else "." for tile in tiles]
        return [texts[i : i + self.width] for i in range(0, self.cells, self.width)]

    def write(self, position):
        """Return the rows from the top down, and ? if chance is to put a tile: `2,./.,4`, `./.?`."""
        board = "/".join(",".join(row) for row in self.rows(position))
        return board + "?" * self.spawning.get(position)

    def read(self, text):
        """Return the position of a text as `write` gives it; raise ValueError if there is none."""
        rows = [row.split(",") for row in text.removesuffix("?").split("/")]
        tiles = [tile for row in rows for tile in row]
        if [len(row) for row in rows] != [self.width] * self.height:
            raise ValueError(f"a position is {self.height} rows of {self.width} tiles, as in 2,./.,4")
        known = {"."} | {str(1 << tile) for tile in range(1, self.goal + 1)}
        if not {*tiles} <= known:
            raise ValueError(f"tiles are powers of two up to {self.target}, or . for none")
        position = self.start if text.endswith("?") else blank(self)
        for cell, tile in enumerate(tiles):
            position = self.tiles.put(position, cell, 0 if tile == "." else int(tile).bit_length() - 1)
        return position

    def show(self, position):
        size = len(str(self.target))
        lines = [" ".join(tile.rjust(size) for tile in row) for row in self.rows(position)]
        return "\n".join([*lines, "a tile is to come"] if self.spawning.get(position) else lines)

    def move_name(self, position, move):
        if not self.spawning.get(position):
            return NAMES[move]
        cell = move >> 1
        return f"{4 if move & 1 else 2}@{self.board.names[cell]}"

    def ending(self, position):
        return f"there is a {self.target}" if self.reached(position) else "no tile can move"

    @cached_property
    def board(self):
        colours = (COLOURS[min(tile, len(COLOURS)) - 1] for tile in range(1, 16))
        looks = {SIGNS[tile]: f"{colour} square {1 << tile}" for tile, colour in enumerate(colours, 1)}
        return grid(self.width, self.height, looks)

    def draw_pieces(self, position):
        return "".join(SIGNS[self.tiles.get(position, cell)] for cell in range(self.cells))

    def draw_move(self, position, move):
        return (move >> 1,) if self.spawning.get(position) else ()
