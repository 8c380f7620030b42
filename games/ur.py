"""The Royal Game of Ur: two players race along paths that share a stretch of squares, by four dice of two faces.

A path has `safe` squares of a player's own, then `shared` ones, then `last` ones of its own. Pieces enter from before
square 1 and leave by an exact throw from any square to just behind the last. A piece may land on an empty square, or on
one of the other's, which has to begin anew, unless it stands on a rosette. Landing on a rosette gives another throw.
Who throws 0, or cannot move, passes. The first whose pieces have all left has won; the expectation is the probability
of that less the probability to lose.

By default the board is that of I. Finkel's reading: 4, 8 and 2 squares, with rosettes on the last square of each
stretch and in the middle of the shared one; with its 7 pieces there are 137,892,016 states, so the default is 1. ::

    | player 1 bit | throw + 1, or 0 before it, 3 | waiting of player 1, 3 | of 0, 3 | squares of player 1 | of 0 |
"""

from retrograde.games.game import CHANCE, UNDECIDED, WIN, Game

PASS = 63
"""A move; others are the squares that a piece leaves, 0 to enter."""


class Ur(Game):
    """Race all pieces along the path and off the board before the other does."""

    title = "Royal Game of Ur"
    metric = "expectation"

    pieces: int = 1
    safe: int = 4
    shared: int = 8
    last: int = 2
    dice: int = 4

    def __post_init__(self):
        if not 1 <= self.pieces <= 7:
            raise ValueError("pieces must be from 1 to 7")
        if min(self.safe, self.shared, self.last) < 1 or self.length > 22:
            raise ValueError("each stretch must have a square or more, and a path 22 at most")
        if not 1 <= self.dice <= 6:
            raise ValueError("dice must be from 1 to 6")

    @property
    def length(self):
        return self.safe + self.shared + self.last

    @property
    def squares(self):
        return (1 << self.length) - 1

    @property
    def contested(self):
        """The shared squares, square 1 being bit 0."""
        return (1 << self.shared) - 1 << self.safe

    @property
    def rosettes(self):
        middle = self.safe + (self.shared + 1) // 2
        return 1 << self.safe - 1 | 1 << middle - 1 | 1 << self.length - 1

    @property
    def turn_bit(self):
        return 1 << 2 * self.length + 9

    @property
    def start(self):
        return self.pieces * 9 << 2 * self.length

    # What a position says

    def player(self, position):
        return position >> 2 * self.length + 9

    def thrown(self, position):
        """Return the throw that is to be moved by; -1 before it."""
        return (position >> 2 * self.length + 6 & 7) - 1

    def waiting(self, position, player):
        return position >> 2 * self.length + 3 * player & 7

    def on_board(self, position, player):
        return position >> self.length * player & self.squares

    def left(self, position, player):
        """Return how many pieces have not left the board yet."""
        return self.waiting(position, player) + self.on_board(position, player).bit_count()

    # The rules

    def turn(self, position):
        if self.thrown(position) < 0 and self.primitive(position) == UNDECIDED:
            return CHANCE
        return self.player(position)

    def primitive(self, position):
        return UNDECIDED if self.left(position, self.player(position)) else WIN

    def payoff(self, position, player):
        return 1 if player == self.player(position) else 0

    def generate_moves(self, position):
        throw = self.thrown(position)
        if throw < 0:
            yield from range(self.dice + 1)
        else:
            found = False
            for square in range(self.length + 1):
                if self.can_leave(position, square, throw):
                    found = True
                    yield square
            if not found:
                yield PASS

    def can_leave(self, position, square, throw):
        """Tell whether a piece on a square, or one that waits, may move by a throw."""
        player = self.player(position)
        own, other = self.on_board(position, player), self.on_board(position, 1 - player)
        target = square + throw
        if target > self.length + 1 or (square and not own >> square - 1 & 1):
            return False
        if square == 0 and not self.waiting(position, player):
            return False
        if target == self.length + 1:
            return True
        bit = 1 << target - 1
        return not own & bit and not other & bit & self.contested & self.rosettes

    def odds(self, position, throw):
        ways = 1
        for number in range(throw):
            ways = ways * (self.dice - number) // (number + 1)
        return ways

    def do_move(self, position, move):
        unit = 1 << 2 * self.length + 6
        throw = self.thrown(position)
        if throw < 0:
            return position + (move + 1) * unit if move else position ^ self.turn_bit
        position -= (throw + 1) * unit
        if move == PASS:
            return position ^ self.turn_bit
        player = self.player(position)
        position -= 1 << (self.length * player + move - 1 if move else 2 * self.length + 3 * player)
        target = move + throw
        if target == self.length + 1:
            return position ^ self.turn_bit if self.left(position, player) else position
        bit = 1 << target - 1
        position += bit << self.length * player
        if bit & self.contested & self.on_board(position, 1 - player):
            position += (1 << 2 * self.length + 3 * (1 - player)) - (bit << self.length * (1 - player))
        return position if bit & self.rosettes else position ^ self.turn_bit

    def tier(self, position):
        """Return how many pieces have left, and who of both has fewer left."""
        first, second = self.left(position, 0), self.left(position, 1)
        return (2 * self.pieces - first - second) * 8 + self.pieces - min(first, second)

    # For people

    def variant_title(self):
        return f"Royal Game of Ur with {self.pieces} piece{'s' * (self.pieces > 1)}"

    def write(self, position):
        """Return the pieces that wait and the paths of both, who is to move, and the throw: `2:..X./1:.... 0 3`."""
        paths = [
            f"{self.waiting(position, player)}:"
            + "".join(".X"[position >> self.length * player + square & 1] for square in range(self.length))
            for player in range(2)
        ]
        throw = self.thrown(position)
        return " ".join(["/".join(paths), str(self.player(position)), *([str(throw)] if throw >= 0 else [])])

    def read(self, text):
        paths, *rest = text.split()
        sides = [side.partition(":") for side in paths.split("/")]
        if len(sides) != 2 or not 1 <= len(rest) <= 2 or rest[0] not in ("0", "1"):
            raise ValueError("a position is written as both paths, who is to move, and the throw, if it is made")
        position = int(rest[0]) * self.turn_bit
        for player, (waiting, _, path) in enumerate(sides):
            if len(path) != self.length or {*path} - {*".X"} or not waiting.isdecimal():
                raise ValueError(f"a path is how many pieces wait, a colon, and {self.length} squares of . and X")
            if int(waiting) + path.count("X") > self.pieces:
                raise ValueError(f"a player has {self.pieces} at most")
            position |= int(waiting) << 2 * self.length + 3 * player
            position |= sum(1 << self.length * player + square for square, sign in enumerate(path) if sign == "X")
        if self.on_board(position, 0) & self.on_board(position, 1) & self.contested:
            raise ValueError("two pieces stand on one square")
        if len(rest) == 2:
            if not rest[1].isdecimal() or not 1 <= int(rest[1]) <= self.dice:
                raise ValueError(f"a throw is from 1 to {self.dice}")
            position |= int(rest[1]) + 1 << 2 * self.length + 6
        return position

    def show(self, position):
        lines = [f"player {player}  {side}" for player, side in enumerate(self.write(position).split()[0].split("/"))]
        throw = self.thrown(position)
        said = f"{throw} thrown" if throw >= 0 else "the dice are thrown"
        return "\n".join([*lines, f"player {self.player(position)}: {said}"])

    def move_name(self, position, move):
        throw = self.thrown(position)
        if throw < 0:
            return str(move)
        if move == PASS:
            return "pass"
        return f"{move or 'in'}-{move + throw if move + throw <= self.length else 'off'}"
