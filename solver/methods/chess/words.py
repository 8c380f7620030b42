"""Move generation for 64 positions at once. A *word* is a uint64; bit s stands for the position with a man on square s.

The technique is that of bitboards: one shift of a word moves the man in all 64 positions. Squares, directions and
symmetries are numbered as in `games/chess/squares.py`. Every move but a pawn's can be undone along the same direction.
So a function that returns where men go also returns where they come from.

The last man of a tier is the one whose squares are the bits of the words. The other men, the *outer* men, select the
word: with the kings fixed, each placement of the outer men has a number, called its *rest*:

    men distinct        first × 64 + second …                 rests: 64 to the power of the men
    men in groups       like men in ascending order, so that each way to stand is there once: C(64, k) for k of them

Kernels look up in two tables how a rest changes when a man moves:

    less[rest, man]                          the row of `more` for the placement of the other men, this man removed
    more[less[rest, man], square]            the rest with this man put on *square*; -1 if a like man stands there
"""

from itertools import groupby
from typing import NamedTuple

import numpy as np

from retrograde.games.chess.men import KNIGHT, PAWN
from retrograde.games.chess.squares import FIRST_WAY, LAST_WAY, WAYS
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel

NOTHING, EVERYTHING = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
ONE = np.uint64(1)
BITS = np.array([1 << square for square in range(64)], np.uint64)
"""The word of each square: `BITS[s]` has only bit s set."""
# All squares but the a-file, and all but the h-file: they keep shifted words from wrapping around the edge.
NOT_A, NOT_H = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)
FOURTH, FIFTH = np.uint64(0xFF000000), np.uint64(0xFF00000000)
"""The ranks on which White's and Black's pawns stand after a double step."""
PAWNS = np.uint64(0x00FFFFFFFFFFFF00)
"""Squares on which pawns may stand: ranks 2 to 7."""


def on_board(files: int) -> int:
    """Return the squares, as bits, that a step by *files* files can lead to."""
    return sum(1 << square for square in range(64) if 0 <= (square & 7) - files < 8)


SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
"""A de Bruijn sequence: its 64 windows of six bits are all different. `lowest` finds the lowest bit with it."""
WINDOWS = np.zeros(64, np.int64)
WINDOWS[[(0x03F79D71B4CB0A89 << square & (1 << 64) - 1) >> 58 for square in range(64)]] = range(64)
"""The shift that brings a window of six bits to the top of SEQUENCE, by the value of the window."""

SHIFTS = np.array([abs(files + 8 * ranks) for files, ranks in WAYS], np.uint64)
UP = np.array([files + 8 * ranks > 0 for files, ranks in WAYS])
TARGETS = np.array([on_board(files) for files, _ in WAYS], np.uint64)
"""How a step shifts a word, by direction.

SHIFTS: by how many bits. UP: whether to the left, to higher squares. TARGETS: the squares that a step can lead to.
"""
# The range of directions of each kind of man, LAST excluded.
FIRST, LAST = np.array(FIRST_WAY), np.array(LAST_WAY)


@lean_kernel
def lowest(word):
    """Return the index of the lowest set bit of a word, which must not be 0."""
    lowest_bit = word & (~word + ONE)
    return WINDOWS[(lowest_bit * SEQUENCE) >> np.uint64(58)]


@lean_kernel
def slide(word, empty, direction):
    """Return the squares that sliding men reach along one direction, up to the first square behind the *empty* ones.

    *word* has the men. This is the Kogge-Stone fill of bitboard engines: three shifts, by one, two and four steps,
    cover any line.

    >>> hex(slide(np.uint64(1), ~np.uint64(1 << 24), 0))  # from a1 upwards, with a man on a4: a2, a3, a4
    '0x1010100'
    """
    shift = SHIFTS[direction]
    twice = shift + shift
    # `over` are the squares that may be passed: after each doubling, those with an empty run of that length.
    over = empty & TARGETS[direction]
    if UP[direction]:
        word |= over & (word << shift)
        over &= over << shift
        word |= over & (word << twice)
        over &= over << twice
        word |= over & (word << (twice + twice))
        # One step more: to the square that stops the slide.
        return (word << shift) & TARGETS[direction]
    word |= over & (word >> shift)
    over &= over >> shift
    word |= over & (word >> twice)
    over &= over >> twice
    word |= over & (word >> (twice + twice))
    return (word >> shift) & TARGETS[direction]


@lean_kernel
def move_targets(word, empty, kind):
    """Return the squares that men of one kind, other than pawns, reach: *empty* ones and the first occupied one on each
    line.

    >>> hex(move_targets(np.uint64(1), ~np.uint64(1), 3))  # a knight on a1 goes to c2 and b3
    '0x20400'
    """
    targets = NOTHING
    for direction in range(FIRST[kind], LAST[kind]):
        if kind < KNIGHT:
            targets |= slide(word, empty, direction)
        elif UP[direction]:
            targets |= (word << SHIFTS[direction]) & TARGETS[direction]
        else:
            targets |= (word >> SHIFTS[direction]) & TARGETS[direction]
    return targets


@lean_kernel
def origins(word, empty, kind, side):
    """Return the squares from which men of one kind move to the squares of *word* without a capture. For all kinds but
    pawns these are the squares of `move_targets`, so some of them may be occupied."""
    return move_targets(word, empty, kind) if kind != PAWN else pawns_behind(word, word, empty, side)


@lean_kernel
def pawns_behind(word, twice, empty, side):
    """Return the squares from which a side's pawns step to *word* by a single step, to *twice* by a double step.

    >>> d4 = np.uint64(1 << 27)
    >>> hex(pawns_behind(d4, d4, ~d4, 0))  # white pawns on d3 and d2
    '0x80800'
    """
    eight = np.uint64(8)
    # Of the double steps only those that end on the right rank, over an empty square, count.
    if side == 0:
        return (word >> eight) | ((((twice & FOURTH) >> eight) & empty) >> eight)
    return (word << eight) | ((((twice & FIFTH) << eight) & empty) << eight)


@lean_kernel
def attackers(word, empty, kind, side):
    """Return the squares from which a side's men of one kind attack a square of the word, along *empty* lines.

    >>> hex(attackers(np.uint64(1 << 27), ~np.uint64(1 << 27), 3, 0))  # knights that attack d4
    '0x142200221400'
    """
    if kind != PAWN:
        return move_targets(word, empty, kind)
    # A pawn attacks the next rank, so its squares are one rank back: 7 or 9 squares down for White.
    seven, nine = np.uint64(7), np.uint64(9)
    if side == 0:
        return ((word >> seven) & NOT_A) | ((word >> nine) & NOT_H)
    return ((word << seven) & NOT_H) | ((word << nine) & NOT_A)


@lean_kernel
def turn_word(word, symmetry):
    """Return the word after a symmetry of the board, numbered as in `squares.py`."""
    if symmetry & 4:
        word = transpose(word)
    if symmetry & 1:
        word = mirror_files(word)
    if symmetry & 2:
        word = mirror_ranks(word)
    return word


@lean_kernel
def transpose(word):
    """Return the word with files and ranks exchanged: reflected about the diagonal a1-h8.

    >>> hex(transpose(np.uint64(0b110)))  # b1 and c1 become a2 and a3
    '0x10100'
    """
    # Exchange blocks of 4 × 4 squares, then of 2 × 2, then single squares.
    change = (word ^ (word << np.uint64(28))) & np.uint64(0x0F0F0F0F00000000)
    word ^= change ^ (change >> np.uint64(28))
    change = (word ^ (word << np.uint64(14))) & np.uint64(0x3333000033330000)
    word ^= change ^ (change >> np.uint64(14))
    change = (word ^ (word << np.uint64(7))) & np.uint64(0x5500550055005500)
    return word ^ change ^ (change >> np.uint64(7))


@lean_kernel
def mirror_files(word):
    """Return the word with left and right exchanged.

    >>> hex(mirror_files(np.uint64(0b110)))  # b1 and c1 become g1 and f1
    '0x60'
    """
    # Exchange neighbouring bits, then pairs, then halves of each rank.
    ones, twos, fours = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    word = ((word >> np.uint64(1)) & ones) | ((word & ones) << np.uint64(1))
    word = ((word >> np.uint64(2)) & twos) | ((word & twos) << np.uint64(2))
    return ((word >> np.uint64(4)) & fours) | ((word & fours) << np.uint64(4))


@lean_kernel
def mirror_ranks(word):
    """Return the word with top and bottom exchanged.

    >>> hex(mirror_ranks(np.uint64(0b110)))  # b1 and c1 become b8 and c8
    '0x600000000000000'
    """
    # Exchange neighbouring ranks, then pairs of ranks, then the halves of the board.
    ranks, pairs = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
    word = ((word >> np.uint64(8)) & ranks) | ((word & ranks) << np.uint64(8))
    word = ((word >> np.uint64(16)) & pairs) | ((word & pairs) << np.uint64(16))
    return (word >> np.uint64(32)) | (word << np.uint64(32))


# Which word is which


class Rests(NamedTuple):
    """Lookup tables of all placements of the outer men, by rest.

    `squares` int64[rests, men]: the squares of the men. `bits` uint64[rests]: the same as a set, 0 if two men share a
    square. `turned` int32[8, rests]: the rest after each symmetry. `less` int32[rests, men] and `more` int32[rows, 64]:
    how a move changes the rest, as the module says.
    """

    squares: Array
    bits: Array
    turned: Array
    less: Array
    more: Array


def rests_of(codes: tuple[int, ...], grouped: bool, turned: Array) -> Rests:
    """Return the Rests of men with these codes. If *grouped*, each placement of like men appears once. *turned*
    int64[8, 64] has the image of each square under each symmetry."""
    count = len(codes)
    numbers, squares = number_rests(codes, grouped)
    # `rest_of[square, square, …]` is the rest, -1 if there is none.
    rest_of = numbers.reshape((64,) * count)
    bits = np.zeros(len(squares), np.uint64)
    apart = np.ones(len(squares), np.bool_)
    for man in range(count):
        square_bits = np.uint64(1) << squares[:, man].astype(np.uint64)
        apart &= bits & square_bits == 0
        bits |= square_bits
    turned_rests = np.stack([rest_of[tuple(symmetry[squares].T)].reshape(-1) for symmetry in turned])
    # `more` has a row for each man and each placement of the others. Like men of a group share the rows of the first.
    rows = 64 ** max(count - 1, 0)
    less = np.empty(squares.shape, np.int32)
    more = [np.moveaxis(rest_of, man, -1).reshape(-1, 64) for man in range(count)]
    for man, leader in enumerate(leaders(codes) if grouped else range(count)):
        less[:, man] = leader * rows + key_of(np.delete(squares, man, 1))
    return Rests(
        squares, np.where(apart, bits, 0).astype(np.uint64), turned_rests.astype(np.int32), less,
        np.concatenate([*more, np.empty((0, 64), np.int32)]).astype(np.int32),
    )  # fmt: skip


def number_rests(codes: tuple[int, ...], grouped: bool) -> tuple[Array, Array]:
    """Return (the rest of each combination of squares, int32[64 ** men]; the squares of each rest, int64[rests, men]).
    The rest is -1 where like men of a group share a square."""
    count = len(codes)
    keys = np.arange(64**count)
    squares = keys[:, None] >> 6 * np.arange(count - 1, -1, -1) & 63  # six bits each, the first man's highest
    if not grouped:
        return keys.astype(np.int32), squares
    # Sort the squares of like men. A combination has a rest of its own if it was sorted already.
    exist = np.ones(len(keys), np.bool_)
    for group in groups_of(codes):
        squares[:, group] = np.sort(squares[:, group], 1)
        exist &= np.all(np.diff(squares[:, group], axis=1) > 0, 1)
    sorted_keys = key_of(squares)
    rest_keys = keys[exist & (sorted_keys == keys)]
    numbers = np.where(exist, np.searchsorted(rest_keys, sorted_keys), -1).astype(np.int32)
    return numbers, squares[rest_keys]


def key_of(squares: Array) -> Array:
    """Return `first × 64 + second …` for each row of *squares* int64[n, men]."""
    weights = np.array([64 ** (squares.shape[1] - 1 - man) for man in range(squares.shape[1])], np.int64)
    keys: Array = squares @ weights
    return keys


def groups_of(codes: tuple[int, ...]) -> list[list[int]]:
    """Return the indices of like men that stand next to each other, group by group.

    >>> groups_of((5, 5, 9))
    [[0, 1], [2]]
    """
    return [list(group) for _, group in groupby(range(len(codes)), codes.__getitem__)]


def leaders(codes: tuple[int, ...]) -> list[int]:
    """Return for each man the index of the first man of his group.

    >>> leaders((5, 5, 9))
    [0, 0, 2]
    """
    return [group[0] for group in groups_of(codes) for _ in group]
