"""The Royal Game of Ur: two players race along paths that share some squares, with four two-sided dice.

A path has `safe` squares of a player's own, then `shared` squares, then `last` squares of the player's own. Pieces
enter from before square 1, and leave by an exact throw to just behind the last square. A piece may land on an empty
square, or on one of the opponent's pieces, which must begin again, unless it stands on a rosette. Landing on a rosette
gives another throw. A player who throws 0 or cannot move passes. The first player whose pieces have all left wins. The
expectation is the probability of winning minus that of losing.

By default the board is that of I. Finkel's reading: 4, 8 and 2 squares, with rosettes on the last square of each part
of a player's own and in the middle of the shared squares. With its 7 pieces there are 137,892,016 states, so the
default is 1 piece. ::

    | player 1 bit | throw + 1, or 0 before it, 3 | waiting of player 1, 3 | of 0, 3 | squares of player 1 | of 0 |
"""

from functools import cached_property
from itertools import accumulate

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.game import CHANCE, UNDECIDED, WIN, Game

PASS = 63
"""The move that passes. Any other move is the square that a piece leaves, 0 to enter."""


def way(squares):
    """Return how far the pieces on some squares (bits; square 1 is bit 0) have come, in all."""
    return sum(number for number in range(squares.bit_length()) if (squares >> number) & 1)


class Ur(Game):
    """Race all pieces along the path and off the board before the opponent does."""

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
        """The shared squares, as bits; square 1 is bit 0."""
        return ((1 << self.shared) - 1) << self.safe

    @property
    def rosettes(self):
        middle = self.safe + (self.shared + 1) // 2
        return (1 << (self.safe - 1)) | (1 << (middle - 1)) | (1 << (self.length - 1))

    @property
    def turn_bit(self):
        return 1 << (2 * self.length + 9)

    @property
    def start(self):
        return (self.pieces * 9) << (2 * self.length)

    # What a position says

    def player(self, position):
        return position >> (2 * self.length + 9)

    def thrown(self, position):
        """Return the throw that the player must use; -1 before the throw."""
        return ((position >> (2 * self.length + 6)) & 7) - 1

    def waiting(self, position, player):
        return (position >> (2 * self.length + 3 * player)) & 7

    def on_board(self, position, player):
        return (position >> (self.length * player)) & self.squares

    def left(self, position, player):
        """Return how many pieces have not left the board yet, those that wait included."""
        return self.waiting(position, player) + self.on_board(position, player).bit_count()

    # The rules

    def turn(self, position):
        """Return CHANCE if the dice are to be thrown, else the number of the player."""
        if self.thrown(position) < 0 and self.primitive(position) == UNDECIDED:
            return CHANCE
        return self.player(position)

    def primitive(self, position):
        return UNDECIDED if self.left(position, self.player(position)) else WIN

    def payoff(self, position, player):
        return 1 if player == self.player(position) else 0

    def generate_moves(self, position):
        """Yield the throws, or the squares (0: waiting) whose piece may go; PASS if there is none."""
        throw = self.thrown(position)
        if throw < 0:
            yield from range(self.dice + 1)
        else:
            squares = self.movable(position, throw)
            if not squares:
                yield PASS
            while squares:
                yield (squares & -squares).bit_length() - 1
                squares &= squares - 1

    def movable(self, position, throw):
        """Return the squares whose piece the throw can move, as bits; bit 0 is for a piece that waits."""
        player = self.player(position)
        own, other = self.on_board(position, player), self.on_board(position, 1 - player)
        pieces = (own << 1) | (self.waiting(position, player) > 0)
        blocked = (own | (other & self.contested & self.rosettes)) << 1
        # Targets end just behind the last square.
        return ((pieces << throw) & ((1 << (self.length + 2)) - 1) & ~blocked) >> throw

    def odds(self, position, throw):
        """Return in how many ways *throw* of the dice show a mark: a binomial coefficient."""
        ways = 1
        for number in range(throw):
            ways = ways * (self.dice - number) // (number + 1)
        return ways

    def do_move(self, position, move):
        """Return the position after a throw, a PASS, or a piece's move from a square, which may capture or give another
        turn."""
        unit = 1 << (2 * self.length + 6)  # of the field "throw + 1"
        throw = self.thrown(position)
        if throw < 0:  # the move is a throw; 0 passes at once
            return position + (move + 1) * unit if move else position ^ self.turn_bit
        position -= (throw + 1) * unit
        if move == PASS:
            return position ^ self.turn_bit
        # Take the piece from its square, or from those that wait, and put it on its target or off the board.
        player = self.player(position)
        position -= 1 << (self.length * player + move - 1 if move else 2 * self.length + 3 * player)
        target = move + throw
        if target == self.length + 1:
            return position ^ self.turn_bit if self.left(position, player) else position
        bit = 1 << (target - 1)
        position += bit << (self.length * player)
        if bit & self.contested & self.on_board(position, 1 - player):  # captured: it waits again
            position += (1 << (2 * self.length + 3 * (1 - player))) - (bit << (self.length * (1 - player)))
        return position if bit & self.rosettes else position ^ self.turn_bit

    def tier(self, position):
        """Return 8 × how many pieces are off the board + how many the player with fewer left has brought off."""
        first, second = self.left(position, 0), self.left(position, 1)
        return (2 * self.pieces - first - second) * 8 + self.pieces - min(first, second)

    # The numbering holds positions before a throw of player 0. It goes by how many pieces each player still has, and
    # then so that a move without a capture leads to a greater slot. Squares that are not safe are *far*; the numbers
    # of both players' pieces there are the *crowd*.

    def swapped(self, position):
        """Return the position with the two players exchanged."""
        rest = (position >> (2 * self.length + 6)) ^ 8
        waiting = (self.waiting(position, 0) << 3) | self.waiting(position, 1)
        paths = (self.on_board(position, 0) << self.length) | self.on_board(position, 1)
        return (rest << (2 * self.length + 6)) | (waiting << (2 * self.length)) | paths

    @cached_property
    def tiers(self):
        """All tiers; none if parts of the path are too long for tables."""
        if self.shared > 8 or self.safe > 6 or self.last > 3:
            return ()
        both = range(1, self.pieces + 1)
        return tuple(sorted({(2 * self.pieces - a - b) * 8 + self.pieces - min(a, b) for a in both for b in both}))

    def size(self, tier):
        more, less = self.most_left(tier), self.least_left(tier)
        return self.halves[8 * more + less] * (1 if more == less else 2)

    def least_left(self, tier):
        return self.pieces - tier % 8

    def most_left(self, tier):
        return 2 * self.pieces - tier // 8 - self.least_left(tier)

    def index(self, position):
        """Return a position's slot in its tier; -1 if it has none: dice are thrown, or a player has finished."""
        first, second = self.left(position, 0), self.left(position, 1)
        if position >> (2 * self.length + 6) or not first or not second:
            return -1
        own, other = self.on_board(position, 0), self.on_board(position, 1)
        far, others_far = own >> self.safe, other >> self.safe
        # The slot is a sum: that of the crowd, then by the far squares, then by the safe squares of both players.
        slot = self.crowd_slots[(8 * first + second) * self.crowds + self.crowd(far, others_far)]
        own_ways = self.safe_ways[first - far.bit_count()]
        other_ways = self.safe_ways[second - others_far.bit_count()]
        own, other = own & ((1 << self.safe) - 1), other & ((1 << self.safe) - 1)
        slot += self.far_ranks[self.far_key(far, others_far)] * own_ways * other_ways
        slot += self.safe_ranks[own] * other_ways + self.safe_ranks[other]
        # If the players have different numbers of pieces left, the last bit says whether player 0 has fewer.
        return slot if first == second else 2 * slot + (first < second)

    def unindex(self, tier, i):
        """Return the position of slot i of a tier: pieces left, pieces on shared squares, then those on own squares."""
        first, second = self.most_left(tier), self.least_left(tier)
        if first != second:  # in the even slots player 0 has more left
            if i & 1:
                first, second = second, first
            i >>= 1
        row = (8 * first + second) * self.crowds
        # Bisect for the last crowd that begins at this slot or before.
        number, end = 0, self.crowds
        while end - number > 1:
            middle = (number + end) // 2
            if self.ordered_slots[row + middle] <= i:
                number = middle
            else:
                end = middle
        crowd = self.crowd_order[number]
        # Within the crowd, take off the safe squares of player 1, those of player 0, and then the far squares.
        i -= self.crowd_slots[row + crowd]
        own_ways = self.safe_ways[first - crowd // (self.far + 1)]
        other_ways = self.safe_ways[second - crowd % (self.far + 1)]
        code = self.far_codes[self.crowd_begins[crowd] + i // (own_ways * other_ways)]
        own = ((code >> self.far) << self.safe) | self.safe_codes[i // other_ways % own_ways]
        other = ((code & ((1 << self.far) - 1)) << self.safe) | self.safe_codes[i % other_ways]
        waiting = ((second - other.bit_count()) << 3) | (first - own.bit_count())
        return (waiting << (2 * self.length)) | (other << self.length) | own

    @property
    def far(self):
        return self.shared + self.last

    @property
    def crowds(self):
        return (self.far + 1) ** 2

    def crowd(self, own, other):
        """Return how many pieces of both players are on far squares, as one number."""
        return own.bit_count() * (self.far + 1) + other.bit_count()

    def far_key(self, own, other):
        """Return a number for the far squares of both players: a shared square is empty, player 0's or player 1's."""
        shared = (1 << self.shared) - 1
        behind = ((own >> self.shared) << self.last) | (other >> self.shared)
        return behind * 3**self.shared + self.threes[own & shared] + 2 * self.threes[other & shared]

    @cached_property
    def threes(self):
        """Bits read as digits to the base 3."""
        return tuple(int(f"{bits:b}", 3) for bits in range(1 << self.shared))

    @cached_property
    def crowd_order(self):
        """All crowds, fewest pieces first. Crowds that an exchange of players turns into each other are neighbours."""
        both = [divmod(crowd, self.far + 1) for crowd in range(self.crowds)]
        return tuple(
            sorted(
                range(self.crowds), key=lambda crowd: (sum(both[crowd]), abs(both[crowd][0] - both[crowd][1]), crowd)
            )
        )

    @cached_property
    def far_codes(self):
        """All placements of both players' pieces on far squares, player 0's bits above player 1's. Never two stand on a
        shared square. They are in order of crowds, then of how far all pieces have come."""
        one, found = range(1 << self.far), []
        for own in one:
            shared = own & ((1 << self.shared) - 1)
            found += [(self.crowd(own, other), way(own) + way(other), (own << self.far) | other)
                      for other in one if not other & shared]  # fmt: skip
        return tuple(code for _, _, code in sorted(found))

    @cached_property
    def crowd_begins(self):
        """The index of each crowd's first code, and last the number of codes."""
        counts = [0] * (self.crowds + 1)
        for code in self.far_codes:
            counts[self.crowd(code >> self.far, code & ((1 << self.far) - 1)) + 1] += 1
        return tuple(accumulate(counts))

    @cached_property
    def far_ranks(self):
        """For each key of far squares, the rank of its code among the codes of its crowd."""
        ranks = [0] * ((3**self.shared) << (2 * self.last))
        for number, code in enumerate(self.far_codes):
            own, other = code >> self.far, code & ((1 << self.far) - 1)
            ranks[self.far_key(own, other)] = number - self.crowd_begins[self.crowd(own, other)]
        return tuple(ranks)

    @cached_property
    def safe_codes(self):
        """The ways to stand on safe squares: fewest pieces first, and the furthest last."""
        return tuple(sorted(range(1 << self.safe), key=lambda bits: (bits.bit_count(), way(bits), bits)))

    @cached_property
    def safe_ranks(self):
        return tuple(self.safe_codes.index(bits) for bits in range(1 << self.safe))

    @cached_property
    def safe_ways(self):
        """For each number of pieces, how many of these codes have that many pieces or fewer."""
        return tuple(sum(bits.bit_count() <= most for bits in self.safe_codes) for most in range(8))

    @cached_property
    def crowd_slots(self):
        """The first slot of each crowd, by how many pieces both players still have; -1 if they have fewer."""
        return tuple(slot for row in self.crowd_rows for slot in row[:-1])

    @cached_property
    def ordered_slots(self):
        """`crowd_slots` in the order of crowds; for players with fewer pieces, the first slot of the next crowd."""
        ordered = []
        for row in self.crowd_rows:
            begin, begins = row[-1], []
            for crowd in reversed(self.crowd_order):
                begin = row[crowd] if row[crowd] >= 0 else begin
                begins.append(begin)
            ordered += reversed(begins)
        return tuple(ordered)

    @cached_property
    def halves(self):
        """The number of slots, by 8 × how many pieces player 0 still has + how many player 1 has."""
        return tuple(row[-1] for row in self.crowd_rows)

    @cached_property
    def crowd_rows(self):
        """For each pair of numbers of pieces, the first slot of each crowd, and last the number of slots."""
        rows = []
        for first in range(8):
            for second in range(8):
                row, end = [-1] * (self.crowds + 1), 0
                for crowd in self.crowd_order:
                    own, other = first - crowd // (self.far + 1), second - crowd % (self.far + 1)
                    if min(own, other) >= 0:
                        row[crowd] = end
                        codes = self.crowd_begins[crowd + 1] - self.crowd_begins[crowd]
                        end += codes * self.safe_ways[own] * self.safe_ways[other]
                row[-1] = end
                rows.append(tuple(row))
        return tuple(rows)

    # For people

    def variant_title(self):
        return f"Royal Game of Ur with {self.pieces} piece{'s' * (self.pieces > 1)}"

    def write(self, position):
        """Return the waiting pieces and the path of both players, the player to move, and the throw: `2:..X./1:.... 0
        3`."""
        paths = [
            f"{self.waiting(position, player)}:"
            + "".join(".X"[(position >> (self.length * player + square)) & 1] for square in range(self.length))
            for player in range(2)
        ]
        throw = self.thrown(position)
        return " ".join(["/".join(paths), str(self.player(position)), *([str(throw)] if throw >= 0 else [])])

    def read(self, text):
        """Return the position of a text as `write` gives it; raise ValueError if there is none."""
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
            position |= int(waiting) << (2 * self.length + 3 * player)
            position |= sum(1 << (self.length * player + square) for square, sign in enumerate(path) if sign == "X")
        if self.on_board(position, 0) & self.on_board(position, 1) & self.contested:
            raise ValueError("two pieces stand on one square")
        if len(rest) == 2:
            if not rest[1].isdecimal() or not 1 <= int(rest[1]) <= self.dice:
                raise ValueError(f"a throw is from 1 to {self.dice}")
            position |= (int(rest[1]) + 1) << (2 * self.length + 6)
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

    # The board: player 0 below, player 1 above, the shared squares between them. At the ends of each path are the
    # numbers of pieces that wait and that have left. The throw has a place of its own.

    words = {"X": "Light", "O": "Dark"}

    @cached_property
    def path_places(self):
        """The columns of a player's path: waiting pieces, squares, exit. Own squares run back beside the shared ones if
        they fit."""
        back = self.safe + self.last + 2 <= self.shared
        first = [self.safe - at if back else at - self.safe - 1 for at in range(self.safe + 1)]
        last = [self.shared - 1 - at if back else self.shared + at for at in range(self.last + 1)]
        return (*first, *range(self.shared), *last)

    @cached_property
    def board(self):
        """Player 1's own cells, the shared cells, player 0's own cells, and a cell for the dice."""
        own = [at for at in range(self.length + 2) if not self.safe < at <= self.safe + self.shared]
        shared = range(self.safe + 1, self.safe + self.shared + 1)
        cells = [(at, 1) for at in own] + [(at, -1) for at in shared] + [(at, 0) for at in own]
        rows = {1: 0.0, -1: 1.0, 0: 2.0}
        places = [(float(self.path_places[at]), rows[player]) for at, player in cells] + [(self.shared + 0.5, 1.0)]
        at_ends = {0: "in", self.length + 1: "off"}
        names = [f"{at_ends.get(at, at)}{('', ' of Light', ' of Dark')[player + 1]}" for at, player in cells]
        looks = {"X": "khaki disc", "O": "sienna disc", "*": "✿", **{str(number): str(number) for number in range(8)}}
        return Board(tuple(places), (*names, "dice"), looks, len(places))

    def place_of(self, at, player):
        """Return the place of the board for a step *at* of a player's path; 0 is the waiting pieces."""
        own = self.safe + self.last + 2
        if self.safe < at <= self.safe + self.shared:
            return own + at - self.safe - 1
        return (0 if player else own + self.shared) + (at if at <= self.safe else at - self.shared)

    def draw_pieces(self, position):
        """Return a sign for each place: the pieces on the paths, free rosettes, how many wait and are off, and the
        throw."""
        signs = ["."] * (2 * (self.safe + self.last + 2) + self.shared + 1)
        for player in range(2):
            signs[self.place_of(0, player)] = str(self.waiting(position, player))
            signs[self.place_of(self.length + 1, player)] = str(self.pieces - self.left(position, player))
            for square in range(self.length):
                place = self.place_of(square + 1, player)
                if (position >> (self.length * player + square)) & 1:
                    signs[place] = "XO"[player]
                elif (self.rosettes >> square) & 1 and signs[place] == ".":
                    signs[place] = "*"
        if (throw := self.thrown(position)) >= 0:
            signs[-1] = str(throw)
        return "".join(signs)

    def draw_move(self, position, move):
        throw, player = self.thrown(position), self.player(position)
        if throw < 0 or move == PASS:
            return ()
        return self.place_of(move, player), self.place_of(move + throw, player)

    def draw_turn(self, position):
        return "XO"[self.player(position)]
