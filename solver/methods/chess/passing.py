"""Positions in which a pawn may be captured en passant, of tiers in which both sides have pawns.

Such a position differs from the one with the same men by one more move, or several, to a later tier, and its only
parent is the position before the pawn's two steps. So there are two things known of it from the start, that parent and
what the capture brings, and one that follows from the position without the right. They are few, and kept as lists.

    won   as soon as the capture wins, or the position without it is won
    lost  once the capture loses, and the position without it is lost, or has no move at all
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.chess.men import PAWN
from retrograde.games.chess.numbering import PAIRS_OF_PAWNS
from retrograde.solver.methods.chess import kernels, passing_kernels
from retrograde.solver.methods.chess.formation import Formation, geometry

Array = np.ndarray[Any, Any]


class Passing(NamedTuple):
    """What kernels are told of the pawns of a side: of each man the row of his sets, int64[men], -1 for none; and the
    sets, uint64[rows, words], of positions after his two steps in which he may be captured: all, and those that are
    not won by then."""

    rows: Array
    passable: Array
    open: Array


class Pawns:
    """The positions after two steps of one man, with the other side to move; an item is one of them."""

    def __init__(self, spots: Array, parents: Array, codes: Array):
        self.spots, self.parents = spots, parents
        """Which bit of a set each is, and which the position before, int64[items]."""
        self.codes = codes
        """What captures en passant bring, as `kernels` have it, uint8[items]."""
        self.values = np.zeros(len(spots), np.uint16)
        """The codes of what is decided."""
        self.stuck = np.zeros(len(spots), np.bool_)
        """Whether the position without the capture is lost, or has no move."""
        self.won, self.lost = np.empty((2, len(spots)), np.int64)
        """Room for the items that have just been decided."""


class Passed:
    """What may be captured en passant of the pawns of a side."""

    def __init__(self, formation: Formation, departing: Any, side: int, mover: Any):
        """Find all such positions; `mover` is the Side to move then, of which nothing is decided yet."""
        men, board = formation.men, geometry()
        self.pawns: dict[int, Pawns] = {}
        own = [man for man, code in enumerate(formation.codes) if code == PAWN + 8 * side]
        others = [man for man, code in enumerate(formation.codes) if code == PAWN + 8 * (1 - side)]
        rows = np.full(len(formation.codes), -1, np.int64)
        passable = np.zeros((len(own) if others else 0, formation.words), np.uint64)
        self.passing = Passing(rows, passable, passable)
        if not passable.size:
            return
        most = formation.pairs * 14 * len(others) << 6 * (len(formation.codes) - 2)
        for row, man in enumerate(own):
            rows[man] = row
            items = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.uint8)
            count = passing_kernels.find_passed(
                men, board, man, mover.unwon, departing.codes, departing.starts, departing.with_pawns,
                departing.orders, np.zeros(3, np.int64), passable[row], *items,
            )  # fmt: skip
            self.pawns[man] = Pawns(*(array[:count].copy() for array in items))
        self.passing = Passing(rows, passable, passable.copy())

    @property
    def greatest(self) -> int:
        """The greatest code that a capture en passant brings."""
        return max((int(pawns.codes.max(initial=0)) for pawns in self.pawns.values()), default=0)

    def find_stuck(self, formation: Formation, mover: Any, other: Any) -> None:
        """Note where the side to move, *mover*, has no other move than to capture en passant."""
        nothing = nowhere(formation)
        for row, pawns in enumerate(self.pawns.values()):
            still = self.passing.passable[row] & mover.unlost
            kernels.take_out(formation.men, geometry(), mover.number, nothing, other.unwon, still)
            pawns.stuck[:] = bits_at(still, pawns.spots)

    def lose(self, code: int, lost: Array, into: Array) -> int:
        """Decide what is lost by a code, where *lost* is so just now without the capture; add the positions before to
        a set, and return how many there are."""
        total = 0
        for pawns in self.pawns.values():
            count = passing_kernels.lose_passed(
                pawns.spots, pawns.codes, pawns.stuck, pawns.values, code, lost, pawns.lost
            )
            passing_kernels.put(pawns.parents, pawns.lost, count, into)
            total += count
        return total

    def win(self, code: int, won: Array, into: Array) -> int:
        """Decide what is won by a code, where *won* is so just now without the capture, as `lose` does."""
        total = 0
        for row, pawns in enumerate(self.pawns.values()):
            count = passing_kernels.win_passed(
                pawns.spots, pawns.codes, pawns.values, code, won, row, self.passing.open, pawns.won
            )
            passing_kernels.put(pawns.parents, pawns.won, count, into)
            total += count
        return total


def bits_at(words: Array, spots: Array) -> Array:
    """Return whether a set has some positions, by the number of their bits."""
    found: Array = words[spots >> 6] >> (spots & 63).astype(np.uint64) & np.uint64(1)
    return found.astype(np.bool_)


def nowhere(formation: Formation) -> Passing:
    """Return what kernels are told where nothing is captured en passant."""
    return Passing(np.full(len(formation.codes), -1, np.int64), *np.zeros((2, 0, formation.words), np.uint64))


def slots_of(formation: Formation, man: int, pawns: Pawns) -> Array:
    """Return the slot of each item, from the first slot with en passant rights on, as chess numbers them, int64[items].

    Of like men who are told apart, items that are the same position have the same slot.
    """
    codes, count = formation.codes, len(formation.codes)
    place, last = pawns.spots >> 6, pawns.spots & 63
    pair, rest = place // (formation.inner >> 6), place % (formation.inner >> 6)
    squares = [rest >> 6 * (count - 2 - other) & 63 for other in range(count - 1)] + [last]
    mirror = np.where(squares[man] & 7 > 3, 7, 0)
    squares = [square ^ mirror for square in squares]
    white, black = (formation.men.squares[pair, side] ^ mirror for side in (0, 1))
    turn, pawn = 1 - (codes[man] >> 3), squares[man]
    capturers = [other for other, code in enumerate(codes) if code == PAWN + 8 * turn]
    left = np.any([(squares[other] == pawn - 1) & (pawn & 7 > 0) for other in capturers], 0)
    taking = pawn + 1 - 2 * left
    slot: Array = (turn * PAIRS_OF_PAWNS + 2 * (pawn & 7) - left) << 12 | white << 6 | black
    if count == 2:
        return slot
    third, pawns_in_all = np.zeros_like(slot), sum(code & 7 == PAWN for code in codes)
    for other in range(count):
        if other != man:
            stands = squares[other] - 8 * (codes[other] & 7 == PAWN)
            third = np.where((squares[other] == taking) & (other in capturers), third, stands)
    slot = slot * (48 if pawns_in_all == count else 64) + third
    return slot
