"""Kalah, William Champion's game of sowing: pits of seeds, a store for each player, another turn for the last seed.

A position is a sequence of numbers of seeds in unary: as many ones as there are seeds, and then a zero, for each of

    bit 0                                                                            the highest
    South's pits, left to right | her store | North's pits, right to left | his store | who is to move: 1 North

A player sows the seeds of a pit one by one into the following pits and her own store, round the board, skipping the
opponent's store. If the last seed goes into her store, she moves again. If it goes into an empty pit of her own row,
she takes it together with all seeds in the opposite pit. The game ends when a player cannot move; the seeds left in the
other row belong to that row's player. The player with more seeds wins.

The rules are those of G. Irving, J. Donkers and J. Uiterwijk, Solving Kalah (ICGA Journal 23, 2000). The last seed in
an empty pit is taken even if the opposite pit is empty; not so without `empty`. The game ends when either row is empty;
without `either` it goes on until the row of the player to move is empty. With both options the scores are those that
they print. Without `either`, five pits of three seeds are won by 10 instead of 8.
"""

from functools import cached_property

from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.kinds.sown import SIGNS, PitTexts

FIELD = 63
"""The mask of one field. A row of pits and its store are a number with six bits for each."""
MOST_BITS = 61
PROMISE = 4096


class Kalah(PitTexts):
    """Sow the seeds of a pit round the board. The player with more seeds in the own store at the end wins."""

    words = {"S": "South", "N": "North"}

    pits: int = 4
    seeds: int = 2
    empty: bool = True
    """Whether a last seed in an empty pit of the own row is taken even if the opposite pit is empty."""
    either: bool = True
    """Whether the game ends as soon as either row is empty, not only that of the player to move."""

    def __post_init__(self):
        if not 1 <= self.pits <= 8 or self.seeds < 1:
            raise ValueError("pits must be from 1 to 8, and seeds 1 or more")
        if self.total + 2 * self.pits + 1 > MOST_BITS:
            raise ValueError(f"there must be no more than {MOST_BITS - 2 * self.pits - 1} seeds in all")

    @property
    def total(self):
        return 2 * self.pits * self.seeds

    @property
    def turn_bit(self):
        """The index of the bit for the player to move: above all ones, and the zeros that end the numbers."""
        return self.total + 2 * self.pits + 1

    @cached_property
    def start(self):
        row = sum(self.seeds << 6 * pit for pit in range(self.pits))
        return self.coded(row, row, 0)

    # The encoding

    def row(self, position, north):
        """Return a player's pits, the first to be sown lowest, and the store above them; six bits each."""
        code = position & (1 << self.turn_bit) - 1
        row = 0
        for field in range(2 * self.pits + 2):
            count = (~code & code + 1).bit_length() - 1  # the ones below the lowest zero
            code >>= count + 1
            if (field > self.pits) == north:
                row |= count << 6 * (field - north * (self.pits + 1))
        return row

    def coded(self, south, north, turn):
        """Return the position with these rows."""
        code = shift = 0
        for field in range(2 * self.pits + 2):
            row = north if field > self.pits else south
            count = row >> 6 * (field % (self.pits + 1)) & FIELD
            code |= (1 << count) - 1 << shift
            shift += count + 1
        return code | turn << self.turn_bit

    # The rules: a move is the number of a pit, from 0; pit 0 is the furthest from the player's own store

    def turn(self, position):
        return position >> self.turn_bit

    def generate_moves(self, position):
        """Yield the numbers of the own pits with seeds."""
        row = self.row(position, self.turn(position))
        for pit in range(self.pits):
            if (row >> (6 * pit)) & FIELD:
                yield pit

    def do_move(self, position, pit):
        """Return the position after the seeds of a pit are sown, which may capture or give another turn.

        A row has six bits for each pit, and above them the store.

        >>> game = Kalah()
        >>> game.write(game.start), game.write(game.do_move(game.start, 0))  # 1
        ('2,2,2,2,0/2,2,2,2,0/S', '0,3,3,2,0/2,2,2,2,0/N')
        """
        turn = self.turn(position)
        own, other = self.row(position, turn), self.row(position, 1 - turn)
        hand = (own >> (6 * pit)) & FIELD
        own -= hand << (6 * pit)
        # Round the board as the player sees it: the own pits, the own store at `pits`, then the other pits.
        at = pit
        while hand:
            at = at + 1 if at < 2 * self.pits else 0
            if at <= self.pits:
                own += 1 << 6 * at
            else:
                other += 1 << 6 * (at - self.pits - 1)
            hand -= 1
        if at < self.pits and (own >> (6 * at)) & FIELD == 1:
            opposite = 6 * (self.pits - 1 - at)
            taken = (other >> opposite) & FIELD
            if taken or self.empty:
                # The seeds taken and the last seed go into the store; the last seed leaves its pit.
                own += ((taken + 1) << 6 * self.pits) - (1 << 6 * at)
                other -= taken << opposite
        after = turn if at == self.pits else 1 - turn
        return self.coded(other, own, after) if turn else self.coded(own, other, after)

    def primitive(self, position):
        """Return UNDECIDED while the game goes on, else the value by the seeds in the stores."""
        pits = (1 << 6 * self.pits) - 1
        turn = self.turn(position)
        if self.row(position, turn) & pits and (self.row(position, 1 - turn) & pits or not self.either):
            return UNDECIDED
        ahead = 2 * self.payoff(position, self.turn(position)) - self.total
        if ahead > 0:
            return WIN
        return LOSE if ahead else TIE

    def payoff(self, position, player):
        """Return what a player has at the end: the own store, and the seeds left in the own row."""
        row = self.row(position, player)
        seeds = 0
        for field in range(self.pits + 1):
            seeds += row >> 6 * field & FIELD
        return seeds

    def promise(self, position, pit):
        """Return the seeds that the move takes, then the pit's number; the factor puts this before what a search
        learns."""
        turn = self.turn(position)
        own, other = self.row(position, turn), self.row(position, 1 - turn)
        at = pit + (own >> 6 * pit & FIELD)
        taken = 0
        if at < self.pits and not own >> 6 * at & FIELD:
            taken = other >> 6 * (self.pits - 1 - at) & FIELD
        return (pit + taken) * PROMISE

    feature_weights = (100, 50, -30, -30)

    def features(self, position):
        """Return the leads in the stores and in the rows, and both of the opponent's threats."""
        turn = self.turn(position)
        own, other = self.row(position, turn), self.row(position, 1 - turn)
        stores, rows = (own >> 6 * self.pits) - (other >> 6 * self.pits), 0
        for pit in range(self.pits):
            rows += (own >> 6 * pit & FIELD) - (other >> 6 * pit & FIELD)
        again, taken = self.threats(other, own)
        return stores, rows, again, taken

    def quiet(self, position):
        """Return whether no move brings another turn or takes seeds, sowings of a whole lap aside."""
        turn = self.turn(position)
        again, taken = self.threats(self.row(position, turn), self.row(position, 1 - turn))
        return not again and not taken

    def threats(self, own, other):
        """Return how many pits of a row bring another turn, and the most seeds that it can take. Sowings of a whole lap
        do not count."""
        again = most = 0
        for pit in range(self.pits):
            at = pit + (own >> 6 * pit & FIELD)
            again += at == self.pits
            if pit < at < self.pits and not own >> 6 * at & FIELD:
                most = max(most, other >> 6 * (self.pits - 1 - at) & FIELD)
        return again, most

    def tier(self, position):
        """Return how many seeds are in the stores: a move that adds none moves seeds on within a row."""
        stores = 6 * self.pits
        return (self.row(position, 0) >> stores) + (self.row(position, 1) >> stores)

    # For people

    def numbers(self, position):
        """Return the seeds of South's pits and store, and of North's."""
        rows = self.row(position, 0), self.row(position, 1)
        return [[row >> 6 * field & FIELD for field in range(self.pits + 1)] for row in rows]

    def write(self, position):
        """Return South's pits and store, North's, and who is to move, as in `2,2,2,2,0/2,2,2,2,0/S`."""
        south, north = (",".join(map(str, row)) for row in self.numbers(position))
        return f"{south}/{north}/{'SN'[self.turn(position)]}"

    def read(self, text):
        """Return the position of a text such as `0,3,3,1/3,3,3,0/N`: the rows of South and North with their stores, and
        who is to move."""
        parts = text.split("/")
        rows = [part.split(",") for part in parts[:2]]
        if [len(row) for row in rows] != [self.pits + 1] * 2 or parts[2:] not in (["S"], ["N"]):
            raise ValueError(f"a position is two rows of pits and store, and who is to move: {self.write(self.start)}")
        if not all(number.isdecimal() for row in rows for number in row):
            raise ValueError("pits and stores hold numbers of seeds")
        if sum(int(number) for row in rows for number in row) != self.total:
            raise ValueError(f"there must be {self.total} seeds in all")
        south, north = (sum(int(number) << 6 * field for field, number in enumerate(row)) for row in rows)
        return self.coded(south, north, "SN".index(parts[2]))

    def show(self, position):
        (*south, south_store), (*north, north_store) = self.numbers(position)
        upper = " ".join(f"{number:2}" for number in reversed(north))
        lower = " ".join(f"{number:2}" for number in south)
        middle, mover = " " * len(upper), "SN"[self.turn(position)]
        return f"   {upper}\n{north_store:2} {middle} {south_store:2}\n   {lower}   {mover} to move"

    def draw_board(self):
        """Return the pits in two rows with the stores at the ends. Seeds are shown as numbers."""
        from retrograde.games.contract.drawing import Board

        below = [(float(pit + 1), 2.0) for pit in range(self.pits)]
        above = [(float(self.pits - pit), 0.0) for pit in range(self.pits)]
        places = (*below, (self.pits + 1.0, 1.0), *above, (0.0, 1.0))
        names = [f"{sign}{pit + 1}" for sign in "SN" for pit in range(self.pits + 1)]
        pieces = {sign: str(number) for number, sign in enumerate(SIGNS[: self.total + 1]) if number}
        owners = ((self.pits + 1.0, 1.7, "South"), (0.0, 0.3, "North"))
        return Board(places, tuple(names), pieces | {"S": "S", "N": "N"}, len(places), labels=owners)

    def draw_move(self, position, pit):
        return (pit + self.turn(position) * (self.pits + 1),)

    def draw_turn(self, position):
        return "SN"[self.turn(position)]
