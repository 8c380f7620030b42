"""Awari, or oware: sow stones round the board, and capture pits of the opponent's row that have two or three.

A position is the board as the player to move sees it, without the captured stones. It is a sequence of numbers of
stones in unary: as many ones as there are stones, and then a zero, for each of

    bit 0                                                           the highest
    own pits, left to right | the other's, right to left of ours, as they are sown

Stones are sown one by one into the following pits, skipping the pit they come from. If the last stone makes two or
three in a pit of the opponent's row, they are captured, and so are those of the pits before it as long as these are in
that row and have two or three. A player whose opponent has no stones must move so that the opponent gets some, if a
move does. The game is over if the player to move has no stones, or should give some and cannot. Then the stones that
are left belong to the player in whose row they are. Endless play shares what is left, so a score of 0 is right for it.
Each captured stone is a point.

These are the rules of J. W. Romein and H. E. Bal, Awari is solved (ICGA Journal 25, 2002), where the board of 6 pits
with 4 seeds each is a draw. A move that captures all of the opponent's stones is allowed; without `slam` it captures
none.
"""

from functools import cached_property
from itertools import combinations

from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.kinds.sown import PitTexts

FIELD = 63
MOST_BITS = 61
MOST_STONES = 12
"""The greatest `stones`. There are 2,704,156 boards with up to this many; more are too many as first positions."""


class Awari(PitTexts):
    """Sow the stones of a pit round the board, and capture twos and threes. The player who has more at the end wins."""

    metric = "score"

    pits: int = 4
    """The number of pits in a row."""
    seeds: int = 1
    """The number of stones in each pit at the start."""
    stones: int = 0
    """If not 0: start from all boards of at most this many stones."""
    slam: bool = True
    """Whether a move may capture all of the opponent's stones."""

    def __post_init__(self):
        if not 1 <= self.pits <= 6 or self.seeds < 1:
            raise ValueError("pits must be from 1 to 6, and seeds 1 or more")
        if self.total + 2 * self.pits > MOST_BITS:
            raise ValueError(f"there must be no more than {MOST_BITS - 2 * self.pits} stones in all")
        if not 0 <= self.stones <= MOST_STONES:
            raise ValueError(f"stones must be from 0 to {MOST_STONES}")

    @property
    def total(self):
        """The greatest number of stones on the board."""
        return self.stones or 2 * self.pits * self.seeds

    @cached_property
    def starts(self):
        """The board with `seeds` in each pit; or with `stones`, all boards of at most that many stones."""
        if not self.stones:
            row = sum(self.seeds << 6 * pit for pit in range(self.pits))
            return (self.coded(row, row),)
        bits = self.stones + 2 * self.pits
        boards = []
        # Each choice of bits for the zeros that end the pits is a board. Bits above the last zero are unused stones.
        for zeros in combinations(range(bits), 2 * self.pits):
            ones = (1 << zeros[-1]) - 1
            boards.append(ones & ~sum(1 << zero for zero in zeros))
        return tuple(boards)

    # The encoding

    def row(self, position, other):
        """Return the own row of pits, or the *other*: six bits for each pit, in the order in which they are sown."""
        row = 0
        for field in range(2 * self.pits):
            count = (~position & position + 1).bit_length() - 1  # the ones below the lowest zero
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
        """Return the number of stones in a row of pits."""
        stones = 0
        for pit in range(self.pits):
            stones += row >> 6 * pit & FIELD
        return stones

    # The rules: a move is the number of a pit, from 0

    def gives(self, own, pit):
        """Return whether stones from a pit reach the opponent's row."""
        return pit + (own >> 6 * pit & FIELD) >= self.pits

    def generate_moves(self, position):
        """Yield the numbers of the own pits with stones; if the opponent has none, only those that give some."""
        own, other = self.row(position, False), self.row(position, True)
        for pit in range(self.pits):
            if own >> 6 * pit & FIELD and (other or self.gives(own, pit)):
                yield pit

    def sown(self, position, pit):
        """Return both rows after sowing, and the pit of the last stone, counted from the own first pit."""
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
        """Return the opponent's row after the capture; all of it if the capture would leave nothing, without `slam`.

        *at* is the pit of the last stone, as `sown` returns it.
        """
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
        """Return how many stones the player to move, 0, captures."""
        if player:
            return 0
        _, other, at = self.sown(position, pit)
        return self.sum(other) - self.sum(self.left(other, at))

    def primitive(self, position):
        """Return UNDECIDED if there is a move; else a player with stones wins, and without any it is a TIE."""
        for _ in self.generate_moves(position):
            return UNDECIDED
        if self.row(position, False):
            return WIN
        return LOSE if self.row(position, True) else TIE

    def payoff(self, position, player):
        """Return what is left in a player's row."""
        return self.sum(self.row(position, player == 1))

    feature_weights = (50, 10, -20, 20)  # the weights of `features` in the estimate, in hundredths of a point

    def features(self, position):
        """Return (lead in stones, lead in non-empty pits, own weak pits, the opponent's weak pits).

        A weak pit has one or two stones, so one more stone lets the other player capture it.
        """
        own, other = self.row(position, False), self.row(position, True)
        stones = pits = weak = weak_other = 0
        for pit in range(self.pits):
            here, there = own >> 6 * pit & FIELD, other >> 6 * pit & FIELD
            stones += here - there
            pits += (here > 0) - (there > 0)
            weak += 1 <= here <= 2
            weak_other += 1 <= there <= 2
        return stones, pits, weak, weak_other

    def tier(self, position):
        """Return how many stones have been captured."""
        return self.total - self.sum(self.row(position, False)) - self.sum(self.row(position, True))

    # For people

    def numbers(self, position):
        """Return the stones in the pits of the player to move, and in the opponent's."""
        rows = self.row(position, False), self.row(position, True)
        return [[row >> 6 * pit & FIELD for pit in range(self.pits)] for row in rows]

    def of_numbers(self, stones):
        rows = stones[: self.pits], stones[self.pits :]
        return self.coded(*(sum(number << 6 * pit for pit, number in enumerate(row)) for row in rows))

    def ending(self, position):
        own, other = self.row(position, False), self.row(position, True)
        return "no stones are left" if not own | other else "whose row has stones keeps them"
