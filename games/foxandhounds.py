"""Fox and Hounds, on the dark squares of a chessboard: hounds hunt a fox that wants to slip past.

The dark squares of a board of 8 × 8 are 32 cells, row by row from the hounds' side::

      . 0 . 1 . 2 . 3      the hounds stand here when the game begins, and go down
      4 . 5 . 6 . 7 .
      . 8 . 9 . 10. 11
         …
     28 . 29. 30. 31.      the fox

A position is a tuple, because a bit for each man on each cell and one for the player to move would take 65 bits::

    (who is to move: 0 the fox, 1 the hounds;  a bit for each cell with a hound;  the bit of the fox's cell)

The fox moves one square diagonally to an empty square. A hound does so down the board only. Nothing is captured. The
fox moves first. He wins if he reaches the row where the hounds began, or if no hound can move. The hounds win if he
cannot move. Every placement of the men counts, whether or not play leads there.
"""

from functools import cached_property

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.games.kinds.apart import PlacedApart, apart

TARGET = 63
"""The low bits of a move: the cell that a man enters. Above them is the cell that it leaves."""


class FoxAndHounds(PlacedApart):
    """As the hounds, H, shut in the fox, F. As the fox, slip past them to their side of the board."""

    title = "Fox and Hounds"
    words = {"H": "Hounds", "F": "Fox"}
    example = "6"
    bits, to_move = "HF", "FH"

    side: int = 8
    fox: int = 2

    def __post_init__(self):
        if not (4 <= self.side <= 10 and self.side % 2 == 0):
            raise ValueError(f"the board must have 4, 6, 8 or 10 squares a side, not {self.side}")
        if not 1 <= self.fox <= self.hounds:
            raise ValueError(f"the fox must begin on one of the {self.hounds} dark squares of the last row, from 1 on")

    @property
    def hounds(self):
        """The number of hounds, and of dark squares in a row."""
        return self.side // 2

    @property
    def cells(self):
        return self.side * self.hounds

    @property
    def start(self):
        return 0, (1 << self.hounds) - 1, 1 << self.cells - self.hounds + self.fox - 1

    @cached_property
    def placements(self):
        return apart(self.cells, [(0, (self.hounds, 1), mover) for mover in (0, 1)])

    @cached_property
    def squares(self):
        """The column and the row of each cell."""
        return tuple((2 * at + 1 - row % 2, row) for row in range(self.side) for at in range(self.hounds))

    @cached_property
    def around(self):
        """For each cell, its diagonal neighbours as bits."""
        return tuple(
            sum(1 << cell for cell, (x, y) in enumerate(self.squares) if abs(x - column) == abs(y - row) == 1)
            for column, row in self.squares
        )

    @cached_property
    def below(self):
        """For each cell, the neighbours that a hound may enter: those with greater numbers."""
        return tuple(near >> cell << cell for cell, near in enumerate(self.around))

    # The rules

    def generate_moves(self, position):
        """Yield `source << 6 | target` for each step: hounds go down, the fox goes anywhere.

        >>> game = FoxAndHounds()
        >>> [(move, game.move_name(game.start, move)) for move in game.generate_moves(game.start)][:3]
        [(1880, 'c1-b2'), (1881, 'c1-d2')]
        """
        mover, hounds, fox = position
        men, empty = hounds if mover else fox, ~(hounds | fox)
        while men:
            man = men & -men
            source = man.bit_length() - 1
            targets = (self.below[source] if mover else self.around[source]) & empty
            while targets:
                target = targets & -targets
                yield source << 6 | target.bit_length() - 1
                targets ^= target
            men ^= man

    def do_move(self, position, move):
        """Return the position (player to move, hounds, fox) after a step."""
        mover, hounds, fox = position
        moved = 1 << (move >> 6) | 1 << (move & TARGET)
        return (0, hounds ^ moved, fox) if mover else (1, hounds, fox ^ moved)

    def primitive(self, position):
        """Return the value for the player to move. The fox wins in the row where the hounds began; else a player
        without a move loses."""
        mover, _, fox = position
        if fox < 1 << self.hounds:
            return LOSE if mover else WIN
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    # For people

    def draw_board(self):
        """Return the board: the dark squares of a chessboard."""
        from retrograde.games.contract.drawing import Board

        names = tuple(f"{chr(ord('a') + column)}{self.side - row}" for column, row in self.squares)
        # Labels are a quarter of a square beyond the edges, which are at -0.5 and self.side - 0.5.
        labels = [(float(column), self.side - 0.25, chr(ord("a") + column)) for column in range(self.side)]
        labels += [(-0.75, float(row), str(self.side - row)) for row in range(self.side)]
        pieces = {"H": "sienna disc H", "F": "gold disc F"}
        places = tuple((float(column), float(row)) for column, row in self.squares)
        return Board(places, names, pieces, self.cells, labels=tuple(labels))

    def position_of(self, signs, turn):
        if signs.count("H") != self.hounds or signs.count("F") != 1:
            raise ValueError(f"there must be {self.hounds} hounds (H) and one fox (F)")
        return super().position_of(signs, turn)

    def show(self, position):
        rows = self.draw_board().in_rows(self.signs(position))
        lines = [f"{self.side - row:2} {'' if row % 2 else '  '}{'   '.join(signs)}" for row, signs in enumerate(rows)]
        columns = " ".join(chr(ord("a") + column) for column in range(self.side))
        return "\n".join([*lines, f"   {columns}", f"{self.draw_turn(position)} to move"])

    def draw_move(self, position, move):
        return move >> 6, move & TARGET

    def draw_end(self, position):
        """Return the cell of the fox, caught or home."""
        return (position[2].bit_length() - 1,)

    def ending(self, position):
        mover, _, fox = position
        if fox < 1 << self.hounds:
            return "the fox has slipped past the hounds"
        return "no hound can move" if mover else "the fox is shut in"
