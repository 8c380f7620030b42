"""Translates between the slots of a database and the sets and codes of this package."""

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograde.games.chess.men import BLACK
from retrograde.solver.methods.chess import kernels, slot_kernels
from retrograde.solver.methods.chess.en_passant import slots_of
from retrograde.solver.methods.chess.en_passant_kernels import DoubleSteps
from retrograde.solver.methods.chess.fit import BITS, LaterScores, TooDeep
from retrograde.solver.methods.chess.formation import (
    Codes,
    Formation,
    Men,
    arrangement,
    count_positions,
    departures,
    geometry,
    has_pawns,
    later_tier,
    men_of,
    mirror_classes,
    mirror_images,
    pairs_of_kings,
    sort_like_men,
    squares_of_slots,
)
from retrograde.solver.methods.chess.kernels import NO_POSITION, DepartureResults, LaterCodes
from retrograde.solver.methods.chess.slot_kernels import LARGER_IMAGE, STORED, SlotLayout
from retrograde.solver.methods.chess.words import EVERYTHING, key_of
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.values.score import DRAW_CLASS, EMPTY_PLIES, LOSE_CLASS, WIN_CLASS

ScoresOf = Callable[[int, slice], LaterScores]
"""Returns the scores of consecutive slots of a later tier, by the tier's number."""

DEEPEST_LATER = 252
"""The greatest code (plies to mate + 1) of a later tier that a move leads to."""
BLOCK = 1 << 24
"""Codes checked at a time, so that the temporary arrays stay small."""
IMAGES = 16, 4
"""Positions that a slot stands for, in both pairs of colours: without pawns, and with pawns."""


def table_by_score(lost: Array, won: Array, drawn: int, none: Any) -> Array:
    """Return a table of all 65,536 scores. A loss in n plies has `lost[n]`, a win `won[n]`, a draw *drawn*, and all
    others *none*."""
    table = np.full(1 << BITS + 2, none, lost.dtype)
    table[(LOSE_CLASS << BITS) + np.arange(len(lost))] = lost
    table[((WIN_CLASS + 1) << BITS) - 1 - np.arange(len(won))] = won  # a sooner win has a greater score
    table[DRAW_CLASS << BITS] = drawn
    return table


# Later tiers


def load_later_codes(formation: Formation, scores_of: ScoresOf, table: Array, promotions: bool = True) -> LaterCodes:
    """Return the codes of all later tiers that captures and promotions lead to; raise TooDeep.

    *table* uint8[65536] has the code of each score of a later tier, NO_POSITION for no position. Without *promotions*
    all codes of promotions that capture nothing are NO_POSITION.
    """
    count = len(formation.codes)
    starts = np.full((count + 1, 4 * count + 1), -1, np.int64)
    with_pawns, orders = np.zeros_like(starts), np.full((*starts.shape, count), -1, np.int64)
    # Several captures may lead to the same men with the same side to move: their codes are loaded once.
    begins: dict[tuple[Codes, int], int] = {}
    end = 0
    for captured, change, order, remaining, turn in departures(formation.codes):
        if (remaining, turn) not in begins:
            begins[remaining, turn] = end
            end += count_positions(remaining)
        starts[captured + 1, change] = begins[remaining, turn]
        with_pawns[captured + 1, change] = has_pawns(remaining)
        orders[captured + 1, change, : len(order)] = order
    codes = np.empty(end, np.uint8)
    for (remaining, turn), begin in begins.items():
        found = codes[begin : begin + count_positions(remaining)]
        if promotions or len(remaining) < count:
            write_codes(remaining, turn, scores_of, table, found)
        else:
            found[:] = NO_POSITION
    # Codes between DEEPEST_LATER and NO_POSITION are marks of scores that are too deep.
    for first in range(0, end, BLOCK):
        block = codes[first : first + BLOCK]
        if ((block > DEEPEST_LATER) & (block < NO_POSITION)).any():
            raise TooDeep
    return LaterCodes(codes, starts, with_pawns, orders)


def write_codes(man_codes: Codes, turn: int, scores_of: ScoresOf, table: Array, found: Array) -> None:
    """Write what *table* has for the score of each position of a tier with one side to move, *turn*, to *found*.

    *man_codes* are the men besides the kings, in any order. *found* has 64 ** men entries for each pair of kings, in
    the layout of `formation.py` with the men in this order. Two men of a kind are distinct there, so most positions
    appear twice.
    """
    tier, own, exchanged, order = later_tier(man_codes, turn)
    # If the tier has the sides exchanged, the board is upside down there (square ^ 56), and the kings change places.
    pawns = has_pawns(man_codes)
    kings = pairs_of_kings(pawns)
    white, black = (kings[:, ::-1] ^ 56 if exchanged else kings).T  # the squares of each king, by pair
    numbers, size = slot_numbers(own, order, exchanged)
    # A tier has the slots with White to move, then those with Black. With equal sides it has only the former, and then
    # `exchanged` equals `turn`.
    begin = (turn ^ exchanged) * size * len(kings)
    scores = scores_of(tier, slice(begin, begin + size * len(kings)))
    by_item = table if scores.legend is None else table[scores.legend]
    entries = pawns << 12 | white << 6 | black  # indices into `Geometry.kings`, whose second half is for pawns
    legal = legal_positions(men_of(man_codes), turn)
    slot_kernels.write_codes(geometry(), entries, numbers, scores.items, by_item, legal, found)


def slot_numbers(codes: Codes, order: Array, exchanged: bool) -> tuple[Array, int]:
    """Return the slot of each placement of a tier's men, int32[16, placements], and the number of slots.

    Slots are counted among those with the same kings. A placement is `first × 64 + second …`, with the men as the tier
    before has them: man k of *codes* is number `order[k]` there, and the board is upside down if *exchanged*. The row
    is the lowest four bits of an entry of `Geometry.kings`: the symmetry that turns the board, and 8 if both kings are
    on the diagonal. Then of two mirror images only the smaller one has a slot. Placements that are not legal have any
    number.
    """
    squares = squares_of_slots(codes)
    mirror = mirror_images(codes, squares)
    numbers, slots = np.zeros(64 ** len(codes), np.int32), np.arange(len(squares), dtype=np.int32)
    numbers[key_of(squares)] = slots
    smaller = np.where(mirror_classes(squares, mirror) == LARGER_IMAGE, numbers[key_of(mirror)], slots)
    # The squares of the men in each placement, six bits each; `^ 56` turns the board upside down.
    placed = (np.arange(len(numbers))[:, None] >> 6 * (len(codes) - 1 - order) & 63) ^ (56 * exchanged)
    by_symmetry = [numbers[key_of(sort_like_men(codes, turned[placed]))] for turned in geometry().turned]
    return np.stack([*by_symmetry, *(smaller[row] for row in by_symmetry)]), len(squares)


# The tier itself


def legal_positions(men: Men, turn: int) -> Array:
    """Return the set of legal positions of some men with one side to move, uint64[words]."""
    if not len(men.kinds):  # bare kings: a bit for each pair, all legal
        return np.full(-(-len(men.squares) // 64), EVERYTHING, np.uint64)
    words = np.empty(len(men.squares) * len(men.rests.bits), np.uint64)
    kernels.find_legal(men, geometry(), turn, words, np.empty_like(words))
    return words


def find_departures(formation: Formation, later: LaterCodes, side: int) -> tuple[Array, Array, DepartureResults]:
    """Return (legal positions with a side to move, those in check, what captures and promotions bring)."""
    men, words = formation.men, formation.words
    legal, checked, saved, delayed = (np.empty(words, np.uint64) for _ in range(4))
    found = DepartureResults(np.empty(64 * words, np.uint8), saved, delayed)
    kernels.find_legal(men, geometry(), side, legal, checked)
    buffers = np.zeros(64, np.int64), np.zeros(4, np.int64)
    kernels.find_departures(men, geometry(), side, legal, later, found, *buffers)
    return legal, checked, found


def collect_scores(
    formation: Formation, ply_codes: list[Array], scores: Array, double_steps: dict[int, DoubleSteps], table: Array
) -> Array:
    """Write the scores of all slots, uint16, and return their counts, int64[n, 5].

    *ply_codes* has the codes by side to move; its arrays are freed one by one. *double_steps* has the positions with en
    passant, by pawn. *table* has the score of each code. A row of the counts has the part (the side to move), a score,
    the number of slots with it, the number of positions these stand for, and the first such slot.
    """
    indices, mirror_classes = arrangement(formation.codes)
    empty = scores.dtype.type(DRAW_CLASS << BITS | EMPTY_PLIES)
    squares, numbers = formation.men.squares, geometry().kings[4096 * formation.has_pawns :]
    diagonal = numbers[squares[:, 0] << 6 | squares[:, 1]] & 8 != 0
    layout = SlotLayout(indices, mirror_classes, diagonal, formation.inner, IMAGES[formation.has_pawns])
    turns = 2 - formation.is_symmetric
    size = len(indices) * formation.pairs
    rows = []
    for turn in range(turns):
        counts, begin = np.zeros((len(table), 3), np.int64), turn * size
        legal, turn_scores = legal_positions(formation.men, turn), scores[begin : begin + size]
        slot_kernels.collect_scores(ply_codes[turn], legal, layout, table, empty, begin, turn_scores, counts)
        ply_codes[turn] = np.empty(0, np.uint8)  # frees memory for the scores of the other side
        present = np.flatnonzero(counts[:, STORED])
        rows.append(np.column_stack([np.full(len(present), turn), table[present].astype(np.int64), counts[present]]))
    # Slots with en passant rights come after all others. Their parts are numbered after those of the others.
    en_passant_scores = scores[turns * size :].reshape(turns, -1)
    en_passant_scores[:] = empty
    for man, items in double_steps.items():
        # Of equal sides, positions are stored with White to move: Black's pawn has just moved.
        if not formation.is_symmetric or formation.codes[man] & BLACK:
            en_passant_scores.reshape(-1)[slots_of(formation, man, items.positions)] = table[items.values]
    for turn, turn_scores in enumerate(en_passant_scores):
        present, first, stored = (
            column.astype(np.int64) for column in np.unique(turn_scores, True, return_counts=True)
        )
        first += turns * size + turn * len(turn_scores)
        columns = np.full(len(present), turns + turn), present, stored, IMAGES[True] * stored, first
        rows.append(np.column_stack(columns)[present != empty])
    found = np.concatenate(rows)
    return found[np.lexsort((found[:, 1], found[:, 0]))]  # by part, then by score
