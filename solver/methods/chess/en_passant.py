"""Positions in which a pawn may be captured en passant, for tiers in which both sides have pawns.

Such a position has the moves of the position with the same men, and one or two captures en passant, which lead to a
later tier. Its only predecessor is the position before the double step. So its value follows from two things: what the
captures bring, known from the start, and the value of the position without the right. There are few such positions;
they are kept as lists.

    won   as soon as the capture wins, or the position without it is won
    lost  once the capture loses, and the position without it is lost, or has no move at all
"""

from typing import Any, NamedTuple, Self

import numpy as np

from retrograde.games.chess.men import PAWN
from retrograde.games.chess.numbering import PAIRS_OF_PAWNS
from retrograde.solver.methods.chess import en_passant_kernels, kernels
from retrograde.solver.methods.chess.en_passant_kernels import DoubleSteps
from retrograde.solver.methods.chess.formation import Formation, geometry
from retrograde.solver.methods.chess.kernels import LaterCodes
from retrograde.solver.runtime.array_type import Array


class CapturablePawns(NamedTuple):
    """The pawns of one side that may be captured en passant, as kernels need them.

    `rows` int64[men]: the row of each man's sets, -1 for none. `passable` uint64[rows, words]: the positions after his
    double step in which he may be captured. `open`: those of them not yet won.
    """

    rows: Array
    passable: Array
    open: Array


class EnPassantPositions:
    """The positions in which pawns of one side may be captured en passant; none before `find`. `capturable` are these
    pawns; `by_pawn` has the DoubleSteps of each, by the pawn's index among the men."""

    def __init__(self, formation: Formation):
        self.by_pawn: dict[int, DoubleSteps] = {}
        rows = np.full(len(formation.codes), -1, np.int64)
        self.capturable = CapturablePawns(rows, *np.zeros((2, 0, formation.words), np.uint64))

    def find(self, formation: Formation, later: LaterCodes, side: int, mover: Any) -> Self:
        """Find the positions after double steps of this side's pawns, and return the object. *mover* is the Side to
        move in them, which has decided nothing yet."""
        own = [man for man, code in enumerate(formation.codes) if code == PAWN + 8 * side]
        others = [man for man, code in enumerate(formation.codes) if code == PAWN + 8 * (1 - side)]
        if not own or not others:
            return self
        passable = np.zeros((len(own), formation.words), np.uint64)
        # At most: 14 pairs of squares for the pawn and a capturer beside it, the other men anywhere.
        most = formation.pairs * 14 * len(others) << 6 * (len(formation.codes) - 2)
        for row, man in enumerate(own):
            self.capturable.rows[man] = row
            items = double_steps(most)
            count = en_passant_kernels.find_double_steps(
                formation.men, geometry(), man, mover.unwon, later, passable[row], items, np.zeros(4, np.int64)
            )
            self.by_pawn[man] = DoubleSteps(*(array[:count].copy() for array in items))
        self.capturable = self.capturable._replace(passable=passable, open=passable.copy())
        return self

    @property
    def greatest(self) -> int:
        """The greatest code that a capture en passant brings, 0 if there is none."""
        return max((int(items.codes.max(initial=0)) for items in self.by_pawn.values()), default=0)

    def mark_stuck(self, formation: Formation, mover: Any, other: Any) -> None:
        """Mark the items in which the side to move, *mover*, has no move but captures en passant."""
        nothing = EnPassantPositions(formation).capturable
        for row, items in enumerate(self.by_pawn.values()):
            stuck = self.capturable.passable[row] & mover.unlost
            kernels.remove_escapes(formation.men, geometry(), mover.number, nothing, other.unwon, stuck)
            items.stuck[:] = bits_at(stuck, items.positions)

    def decide_losses(self, code: int, lost: Array, parents: Array) -> int:
        """Give this code to the items that are lost now, and add their predecessors to the set *parents*. Return how
        many there are. *lost* is the set of positions, without the right to capture, that were lost just now."""
        return sum(en_passant_kernels.decide_losses(items, code, lost, parents) for items in self.by_pawn.values())

    def decide_wins(self, code: int, won: Array, parents: Array) -> int:
        """Give this code to the items that are won now, as `decide_losses` does for losses."""
        pairs = zip(self.by_pawn.values(), self.capturable.open, strict=True)
        return sum(en_passant_kernels.decide_wins(items, code, won, open_, parents) for items, open_ in pairs)


def double_steps(count: int) -> DoubleSteps:
    """Return arrays for this many items, none of them decided."""
    positions, parents = np.empty((2, count), np.int64)
    return DoubleSteps(positions, parents, np.empty(count, np.uint8), np.zeros(count, np.uint16), np.zeros(count, bool))


def bits_at(words: Array, positions: Array) -> Array:
    """Return whether each of these positions (indices of bits) is in the set *words*, bool[positions]."""
    found: Array = words[positions >> 6] >> (positions & 63).astype(np.uint64) & np.uint64(1)
    return found.astype(np.bool_)


def slots_of(formation: Formation, man: int, positions: Array) -> Array:
    """Return the slots of positions after a double step of the pawn *man*; the first slot with en passant is 0.

    Slots are those of `Numbering.passed_index` of chess. Positions that are the same, with like men exchanged, have the
    same slot.
    """
    codes, count = formation.codes, len(formation.codes)
    # Step 1: Find the squares of all men, mirrored so that the pawn is on the files a to d.
    index, last = positions >> 6, positions & 63
    pair, rest = index // (formation.inner >> 6), index % (formation.inner >> 6)
    squares = [rest >> 6 * (count - 2 - other) & 63 for other in range(count - 1)] + [last]
    mirror = np.where(squares[man] & 7 > 3, 7, 0)
    squares = [square ^ mirror for square in squares]
    white, black = (formation.men.squares[pair, side] ^ mirror for side in (0, 1))
    # Step 2: Find which of the seven pairs of pawns it is: `2 * file - left`, where *left* says whether the capturer is
    # on the left. If there are two, the left one counts.
    turn, pawn = 1 - (codes[man] >> 3), squares[man]
    capturers = [other for other, code in enumerate(codes) if code == PAWN + 8 * turn]
    left = np.any([(squares[other] == pawn - 1) & (pawn & 7 > 0) for other in capturers], 0)
    captor_square = np.where(left, pawn - 1, pawn + 1)
    slot: Array = (turn * PAIRS_OF_PAWNS + 2 * (pawn & 7) - left) << 12 | white << 6 | black
    if count == 2:
        return slot
    # Step 3: Find the square of the third man, if any, who is neither the pawn nor the capturer.
    third, all_are_pawns = np.zeros_like(slot), all(code & 7 == PAWN for code in codes)
    for other in range(count):
        if other != man:
            number = squares[other] - 8 * (codes[other] & 7 == PAWN)  # pawns have no squares on the first rank
            third = np.where((squares[other] == captor_square) & (other in capturers), third, number)
    slot = slot * (48 if all_are_pawns else 64) + third
    return slot
