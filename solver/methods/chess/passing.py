"""Positions in which a pawn may be captured en passant, for tiers in which both sides have pawns.

Such a position has the moves of the position with the same men, and one or two captures en passant, which lead to a
later tier. Its only predecessor is the position before the double step. So its value follows from two things: what the
captures bring, known from the start, and the value of the position without the right. There are few such positions;
they are kept as lists.

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
    """The pawns of one side that may be captured en passant, as kernels need them.

    `rows` int64[men]: the row of each man's sets, -1 for none. `passable` uint64[rows, words]: the positions after his
    double step in which he may be captured. `open`: those of them not yet won.
    """

    rows: Array
    passable: Array
    open: Array


class Pawns:
    """The positions after the double step of one pawn, each of them an item; the other side is to move."""

    def __init__(self, spots: Array, parents: Array, codes: Array):
        self.spots, self.parents = spots, parents
        """Each item's position, and the one before the double step, as bit indices in a set, int64[items]."""
        self.codes = codes
        """The code that the best capture en passant brings, as in `kernels`, uint8[items]."""
        self.values = np.zeros(len(spots), np.uint16)
        """The code of each decided item, 0 for others."""
        self.stuck = np.zeros(len(spots), np.bool_)
        """Whether the position without the capture is lost, or has no move."""
        self.won, self.lost = np.empty((2, len(spots)), np.int64)
        """Buffers for the items decided last."""


class Passed:
    """All positions in which pawns of one side may be captured en passant."""

    def __init__(self, formation: Formation, departing: Any, side: int, mover: Any):
        """Find them. `mover` is the Side to move in them, with nothing decided yet."""
        men, board = formation.men, geometry()
        self.pawns: dict[int, Pawns] = {}
        own = [man for man, code in enumerate(formation.codes) if code == PAWN + 8 * side]
        others = [man for man, code in enumerate(formation.codes) if code == PAWN + 8 * (1 - side)]
        rows = np.full(len(formation.codes), -1, np.int64)
        passable = np.zeros((len(own) if others else 0, formation.words), np.uint64)
        self.passing = Passing(rows, passable, passable)
        if not passable.size:
            return
        # At most: 14 pairs of squares for the pawn and a capturer beside it, the other men anywhere.
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
        """Mark the items in which the side to move, *mover*, has no move but captures en passant."""
        nothing = nowhere(formation)
        for row, pawns in enumerate(self.pawns.values()):
            still = self.passing.passable[row] & mover.unlost
            kernels.take_out(formation.men, geometry(), mover.number, nothing, other.unwon, still)
            pawns.stuck[:] = bits_at(still, pawns.spots)

    def lose(self, code: int, lost: Array, into: Array) -> int:
        """Decide the items lost by this code. Add their predecessors to *into*, and return how many there are.

        *lost* are the positions, without the right to capture, that were lost just now.
        """
        total = 0
        for pawns in self.pawns.values():
            count = passing_kernels.lose_passed(
                pawns.spots, pawns.codes, pawns.stuck, pawns.values, code, lost, pawns.lost
            )
            passing_kernels.put(pawns.parents, pawns.lost, count, into)
            total += count
        return total

    def win(self, code: int, won: Array, into: Array) -> int:
        """Decide the items won by this code, as `lose` does; *won* are the positions won just now without the
        capture."""
        total = 0
        for row, pawns in enumerate(self.pawns.values()):
            count = passing_kernels.win_passed(
                pawns.spots, pawns.codes, pawns.values, code, won, row, self.passing.open, pawns.won
            )
            passing_kernels.put(pawns.parents, pawns.won, count, into)
            total += count
        return total


def bits_at(words: Array, spots: Array) -> Array:
    """Return whether each of these positions is in a set, by the indices of their bits."""
    found: Array = words[spots >> 6] >> (spots & 63).astype(np.uint64) & np.uint64(1)
    return found.astype(np.bool_)


def nowhere(formation: Formation) -> Passing:
    """Return the Passing of a side none of whose pawns may be captured en passant."""
    return Passing(np.full(len(formation.codes), -1, np.int64), *np.zeros((2, 0, formation.words), np.uint64))


def slots_of(formation: Formation, man: int, pawns: Pawns) -> Array:
    """Return the slot of each item, int64[items], counted from the first slot with en passant rights.

    Slots are those of `Numbering.passed_index` of chess. Items that are the same position, with like men exchanged,
    have the same slot.
    """
    codes, count = formation.codes, len(formation.codes)
    # Step 1: the squares of all men, mirrored so that the pawn is on the files a to d.
    place, last = pawns.spots >> 6, pawns.spots & 63
    pair, rest = place // (formation.inner >> 6), place % (formation.inner >> 6)
    squares = [rest >> 6 * (count - 2 - other) & 63 for other in range(count - 1)] + [last]
    mirror = np.where(squares[man] & 7 > 3, 7, 0)
    squares = [square ^ mirror for square in squares]
    white, black = (formation.men.squares[pair, side] ^ mirror for side in (0, 1))
    # Step 2: which of the seven pairs of pawns it is; the capturer on the left counts if there are two.
    turn, pawn = 1 - (codes[man] >> 3), squares[man]
    capturers = [other for other, code in enumerate(codes) if code == PAWN + 8 * turn]
    left = np.any([(squares[other] == pawn - 1) & (pawn & 7 > 0) for other in capturers], 0)
    taking = pawn + 1 - 2 * left
    slot: Array = (turn * PAIRS_OF_PAWNS + 2 * (pawn & 7) - left) << 12 | white << 6 | black
    if count == 2:
        return slot
    # Step 3: the square of the third man, if any, who is neither the pawn nor the capturer.
    third, pawns_in_all = np.zeros_like(slot), sum(code & 7 == PAWN for code in codes)
    for other in range(count):
        if other != man:
            stands = squares[other] - 8 * (codes[other] & 7 == PAWN)
            third = np.where((squares[other] == taking) & (other in capturers), third, stands)
    slot = slot * (48 if pawns_in_all == count else 64) + third
    return slot
