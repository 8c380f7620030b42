"""Boards of awari, with any number of stones up to a limit: what the player to move can still win of them.

The rules and options are those of `awari.py`. The encoding is that of `kinds/sown.py`: boards are numbered, so that a
solve takes two bytes of memory for each board of the greatest number of stones, and one for each of the others.
"""

from functools import cached_property

from retrograde.games.contract.game import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.kinds.sown import BITS, FIELD, SownBoards


class AwariBoards(SownBoards):
    """Sow the stones of a pit round the board, and capture twos and threes. Each captured stone is a point."""

    title = "Boards of awari"

    pits: int = 6
    stones: int = 8
    """The greatest number of stones on the board."""
    slam: bool = True
    """Whether a move may capture all of the opponent's stones."""

    @cached_property
    def sown(self):
        """What sowing adds to a board, at `pit * 32 + hand`: round the board, without the pit they come from."""
        others = self.cells - 1
        return tuple(
            sum(1 << BITS * ((pit + 1 + seed % others) % self.cells) for seed in range(hand)) - (hand << BITS * pit)
            for pit in range(self.pits)
            for hand in range(FIELD + 1)
        )

    def last(self, pit, hand):
        """Return the pit of the last of *hand* stones. Sowing goes round the other pits, and skips the pit itself."""
        return (pit + 1 + (hand - 1) % (self.cells - 1)) % self.cells

    def gives(self, position, pit):
        """Return whether stones from a pit reach the opponent's row."""
        return pit + (position >> BITS * pit & FIELD) >= self.pits

    def generate_moves(self, position):
        other = self.other(position)
        for pit in range(self.pits):
            if position >> BITS * pit & FIELD and (other or self.gives(position, pit)):
                yield pit

    def left(self, board, pit):
        """Return the board after the capture that begins at a pit, the pit of the last stone."""
        after = board
        while pit >= self.pits and 2 <= after >> BITS * pit & FIELD <= 3:
            after -= (after >> BITS * pit & FIELD) << BITS * pit
            pit -= 1
        return after if self.slam or self.other(after) else board

    def after(self, position, pit):
        """Return the board after a move, as the player who moved sees it."""
        hand = position >> BITS * pit & FIELD
        return self.left(position + self.sown[pit << BITS | hand], self.last(pit, hand))

    def do_move(self, position, pit):
        return self.turned(self.after(position, pit))

    def reward(self, position, pit, player):
        """Return how many stones the player to move, 0, captures."""
        return 0 if player else self.count(position) - self.count(self.after(position, pit))

    def parents(self, position):
        """Yield the boards from which a move without a capture leads here.

        From each empty pit of the player who moved, stones are taken back one by one, as long as the pits allow.
        """
        board = self.turned(position)
        for pit in range(self.pits):
            if not board >> BITS * pit & FIELD:
                before, hand, at = board, 0, pit
                while True:
                    hand += 1
                    at = self.last(pit, hand)
                    if not before >> BITS * at & FIELD:
                        break
                    before -= 1 << BITS * at
                    # The move captures nothing, and is allowed: the opponent had stones before it or gets some.
                    if self.left(board, at) == board and (self.other(before) or pit + hand >= self.pits):
                        yield before + (hand << BITS * pit)

    def primitive(self, position):
        for _ in self.generate_moves(position):
            return UNDECIDED
        if self.own(position):
            return WIN
        return LOSE if self.other(position) else TIE

    def payoff(self, position, player):
        """Return what is left in a player's row."""
        return self.count(self.other(position) if player else self.own(position))

    def ending(self, position):
        return "whose row has stones keeps them" if position else "no stones are left"
