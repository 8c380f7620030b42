"""Awari, or oware: sow round the board, and take from the other's row what has become two or three.

A position is the board as seen by who is to move, without what has been taken. It is a row of numbers of stones, in
unary: as many ones as there are stones, and a zero, for each of

    bit 0                                                           the highest
    own pits, left to right | the other's, right to left of ours, as they are sown

Stones are sown one by one into the pits that follow, the pit they are from left out. If the last makes two or three in
a pit of the other's row, these are taken, and so on backwards as long as pits of that row have two or three. Who has
left the other none must give some, if a move does. The game is over if the player to move has none, or need give some
and cannot: what is left belongs to whose row it is in. Play that goes round for ever shares what is left, so that a
score of 0 is right for it. Each stone taken is a point.

These are the rules of J. W. Romein and H. E. Bal, Awari is solved (ICGA Journal 25, 2002), by which the board of 6 pits
and 4 seeds each is a draw; a move that takes all that the other has is allowed. Where it is not `slam`, it takes none.
"""

from functools import cached_property
from itertools import combinations

from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN, Game

FIELD = 63
MOST_BITS = 61
MOST_STONES = 12
"""All boards of so many are 2,704,156; more would be too many to begin with."""
SIGNS = ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMOPQRTUVWXYZ"


class Awari(Game):
    """Sow the stones of a pit round the board, and take twos and threes; who has taken more in the end wins."""

    metric = "score"

    pits: int = 4
    """How many a row has."""
    seeds: int = 1
    """How many are in each pit at first."""
    stones: int = 0
    """If it is not 0: begin with all boards of at most so many stones."""
    slam: bool = True
    """Whether all that the other has may be taken at once."""

    def __post_init__(self):
        if not 1 <= self.pits <= 6 or self.seeds < 1:
            raise ValueError("pits must be from 1 to 6, and seeds 1 or more")
        if self.total + 2 * self.pits > MOST_BITS:
            raise ValueError(f"there must be no more than {MOST_BITS - 2 * self.pits} stones in all")
        if not 0 <= self.stones <= MOST_STONES:
            raise ValueError(f"stones must be from 0 to {MOST_STONES}")

    @property
    def total(self):
        """How many stones there are at most."""
        return self.stones or 2 * self.pits * self.seeds

    @cached_property
    def starts(self):
        if not self.stones:
            row = sum(self.seeds << 6 * pit for pit in range(self.pits))
            return (self.coded(row, row),)
        bits = self.stones + 2 * self.pits
        boards = []
        for zeros in combinations(range(bits), 2 * self.pits):  # what is above the last zero is not on the board
            ones = (1 << zeros[-1]) - 1
            boards.append(ones & ~sum(1 << zero for zero in zeros))
        return tuple(boards)

    # The encoding

    def row(self, position, other):
        """Return a row of pits, six bits for each, in the order in which they are sown."""
        row = 0
        for field in range(2 * self.pits):
            count = (~position & position + 1).bit_length() - 1
            position >>= count + 1
            if (field >= self.pits) == other:
                row |= count << 6 * (field - other * self.pits)
        return row

    def coded(self, own, other):
        """Return the position with these rows."""
        code = shift = 0
        for field in range(2 * self.pits):
            row = other if field >= self.pits else own
            count = row >> 6 * (field % self.pits) & FIELD
            code |= (1 << count) - 1 << shift
            shift += count + 1
        return code

    def sum(self, row):
        stones = 0
        for pit in range(self.pits):
            stones += row >> 6 * pit & FIELD
        return stones

    # The rules: a move is the number of a pit, from 0

    def gives(self, own, pit):
        """Tell whether stones of a pit come to the other's row."""
        return pit + (own >> 6 * pit & FIELD) >= self.pits

    def generate_moves(self, position):
        own, other = self.row(position, False), self.row(position, True)
        for pit in range(self.pits):
            if own >> 6 * pit & FIELD and (other or self.gives(own, pit)):
                yield pit

    def sown(self, position, pit):
        """Return both rows after sowing, and where the last stone is."""
        own, other = self.row(position, False), self.row(position, True)
        hand = own >> 6 * pit & FIELD
        own -= hand << 6 * pit
        at = pit
        while hand:
            at = at + 1 if at < 2 * self.pits - 1 else 0
            if at != pit:
                if at < self.pits:
                    own += 1 << 6 * at
                else:
                    other += 1 << 6 * (at - self.pits)
                hand -= 1
        return own, other, at

    def left(self, other, at):
        """Return the other's row after what the last stone takes is gone."""
        row = other
        pit = at - self.pits
        while pit >= 0 and 2 <= row >> 6 * pit & FIELD <= 3:
            row -= (row >> 6 * pit & FIELD) << 6 * pit
            pit -= 1
        return row if row or self.slam else other

    def do_move(self, position, pit):
        own, other, at = self.sown(position, pit)
        return self.coded(self.left(other, at), own)

    def reward(self, position, pit, player):
        """Return how many stones the player to move, 0, takes."""
        if player:
            return 0
        _, other, at = self.sown(position, pit)
        return self.sum(other) - self.sum(self.left(other, at))

    def primitive(self, position):
        for _ in self.generate_moves(position):
            return UNDECIDED
        if self.row(position, False):
            return WIN
        return LOSE if self.row(position, True) else TIE

    def payoff(self, position, player):
        """Return what is left in a player's row."""
        return self.sum(self.row(position, player == 1))

    def tier(self, position):
        """Return how many stones are gone."""
        return self.total - self.sum(self.row(position, False)) - self.sum(self.row(position, True))

    # For people

    def numbers(self, position):
        """Return the stones of the own pits, and of the other's."""
        rows = self.row(position, False), self.row(position, True)
        return [[row >> 6 * pit & FIELD for pit in range(self.pits)] for row in rows]

    def write(self, position):
        """Return the pits of who is to move, and those of the other, as they are sown: `1,1,1,1/1,1,1,1`."""
        return "/".join(",".join(map(str, row)) for row in self.numbers(position))

    def read(self, text):
        rows = [part.split(",") for part in text.split("/")]
        if [len(row) for row in rows] != [self.pits] * 2 or not all(one.isdecimal() for row in rows for one in row):
            raise ValueError(f"a position is two rows of stones, as in {self.write(self.starts[-1])}")
        if sum(int(number) for row in rows for number in row) > self.total:
            raise ValueError(f"there must be no more than {self.total} stones")
        return self.coded(*(sum(int(number) << 6 * pit for pit, number in enumerate(row)) for row in rows))

    def show(self, position):
        own, other = self.numbers(position)
        return "\n".join(" ".join(f"{number:2}" for number in row) for row in (reversed(other), own))

    def move_name(self, position, pit):
        return str(pit + 1)

    def ending(self, position):
        own, other = self.row(position, False), self.row(position, True)
        return "no stones are left" if not own | other else "whose row has stones keeps them"

    def draw_board(self):
        """Return the pits in two rows, the own one below, in which stones stand as numbers."""
        from retrograde.games.contract.drawing import Board

        places = [(float(pit), 1.0) for pit in range(self.pits)]
        places += [(float(self.pits - 1 - pit), 0.0) for pit in range(self.pits)]
        names = [f"{sign}{pit + 1}" for sign in "ab" for pit in range(self.pits)]
        pieces = {sign: str(number) for number, sign in enumerate(SIGNS[: self.total + 1]) if number}
        return Board(tuple(places), tuple(names), pieces, len(places))

    def draw_pieces(self, position):
        return "".join(SIGNS[number] for row in self.numbers(position) for number in row)

    def draw_move(self, position, pit):
        return (pit,)
