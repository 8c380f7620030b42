"""Boards of kalah, with any number of seeds up to a limit: what the player to move can still win of them.

The rules and options are those of `kalah.py`. The stores are left out: seeds that go into a store are points at once.
The encoding is that of `kinds/sown.py`, with the player to move above the pits: 0 South, 1 North. Slots are of boards
with South to move.
"""

from functools import cached_property

from retrograde.games.contract.game import UNDECIDED
from retrograde.games.kinds.sown import BITS, FIELD, SownBoards


class KalahBoards(SownBoards):
    """Sow the seeds of a pit round the board. Each seed that comes into the own store is a point."""

    title = "Boards of kalah"
    words = {"S": "South", "N": "North"}

    pits: int = 6
    stones: int = 8
    """The greatest number of seeds in the pits."""
    empty: bool = True
    """Whether a last seed in an empty pit of the own row is taken even if the opposite pit is empty."""
    either: bool = True
    """Whether the game ends as soon as either row is empty, not only that of the player to move."""

    @property
    def turn_bit(self):
        return BITS * self.cells

    def turn(self, position):
        return position >> self.turn_bit

    def swapped(self, position):
        return position ^ 1 << self.turn_bit

    def index(self, position):
        return -1 if self.turn(position) else self.slot(position)

    @cached_property
    def sown(self):
        """What sowing adds to a board, at index `pit * 32 + hand`, where hand is the number of seeds in the pit.

        Seeds go round the board, one to each pit and to the own store, which comes after the own pits.
        """
        # For each own pit, where its first FIELD seeds go. Going round, the own store is number `self.pits`, so the
        # opponent's pits have numbers one higher than on the board, and seeds in the store leave the board.
        pits = tuple((pit + 1 + seed) % (self.cells + 1) for pit in range(self.pits) for seed in range(FIELD))
        return tuple(
            sum(1 << BITS * (at - (at > self.pits)) for at in pits[pit * FIELD : pit * FIELD + hand] if at != self.pits)
            - (hand << BITS * pit)
            for pit in range(self.pits)
            for hand in range(FIELD + 1)
        )

    def generate_moves(self, position):
        for pit in range(self.pits):
            if position >> BITS * pit & FIELD:
                yield pit

    def last(self, position, pit):
        """Return where the last seed of a pit goes: 0 to pits - 1 is the own row, pits the own store."""
        return (pit + (position >> BITS * pit & FIELD)) % (self.cells + 1)

    def after(self, position, pit):
        """Return the position after a move, as the player who moved sees the board, with the same turn."""
        at = self.last(position, pit)
        after = position + self.sown[pit << BITS | position >> BITS * pit & FIELD]
        if at < self.pits and after >> BITS * at & FIELD == 1:
            opposite = BITS * (self.cells - 1 - at)
            taken = after >> opposite & FIELD
            if taken or self.empty:
                after -= (1 << BITS * at) + (taken << opposite)
        return after

    def do_move(self, position, pit):
        after = self.after(position, pit)
        if self.last(position, pit) == self.pits:
            return after
        return self.turned(after) | (1 - self.turn(position)) << self.turn_bit

    def reward(self, position, pit, player):
        """Return how many seeds the player to move brings into the own store."""
        if player != self.turn(position):
            return 0
        return self.count(position) - self.count(self.after(position, pit))

    def parents(self, position):
        """Yield the positions from which a move within the own row, without a capture, leads here."""
        board = self.turned(position)
        for pit in range(self.pits):
            if not board >> BITS * pit & FIELD:
                before = board
                for at in range(pit + 1, self.pits):
                    seeds = board >> BITS * at & FIELD
                    if not seeds:
                        break
                    before -= 1 << BITS * at
                    # The last seed captured nothing: its pit was not empty, or there was nothing to take.
                    if seeds > 1 or not (self.empty or board >> BITS * (self.cells - 1 - at) & FIELD):
                        yield (before + ((at - pit) << BITS * pit)) | (1 - self.turn(position)) << self.turn_bit

    def primitive(self, position):
        if self.own(position) and (self.other(position) or not self.either):
            return UNDECIDED
        return self.result(position)

    def payoff(self, position, player):
        """Return the seeds left in a player's row."""
        return self.count(self.own(position) if player == self.turn(position) else self.other(position))

    # For people

    def write(self, position):
        """Return the pits of the player to move, the opponent's, and who is to move: `1,1/1,1/S`."""
        return f"{super().write(position)}/{'SN'[self.turn(position)]}"

    def read(self, text):
        board, _, turn = text.rpartition("/")
        if turn not in ("S", "N"):
            raise ValueError(f"a position ends with who is to move, S or N, as in {self.write(self.start)}")
        return super().read(board) | "SN".index(turn) << self.turn_bit

    def show(self, position):
        return f"{super().show(position)}   {'SN'[self.turn(position)]} to move"

    def draw_turn(self, position):
        return "SN"[self.turn(position)]
