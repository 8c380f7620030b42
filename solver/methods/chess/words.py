"""Words of 64 squares, and how men move in them: bit s of a word says that something is so with a man on square s.

Squares, ways and symmetries are those of `games/chess/squares.py`. All moves but a pawn's can be taken back along the
same way, so that what a word is carried to is where its men go to as well as where they have come from.

Words with kings on the same squares are numbered by where all men stand but the last one, whose squares they have. The
number is called *rest*:

    men told apart      first × 64 + second …                 rests: 64 to the power of the men
    men in groups       like men in ascending order, so that each way to stand is there once: C(64, k) for k of them

What kernels want to know of a rest, and which it becomes when a man moves or the board is turned, stands in tables:

    less[rest, man]                          the row of `more` of those who stay when the man is taken up
    more[less[rest, man], square]            the rest when he is put down there, -1 where a like man stands
"""

from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.chess.men import KNIGHT, PAWN
from retrograde.games.chess.squares import FIRST_WAY, LAST_WAY, WAYS
from retrograde.solver.runtime.kernel import lean_kernel

Array = np.ndarray[Any, Any]

NOTHING, EVERYTHING = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
ONE = np.uint64(1)
BITS = np.array([1 << square for square in range(64)], np.uint64)
"""The word of each square."""
NOT_A, NOT_H = np.uint64(0xFEFEFEFEFEFEFEFE), np.uint64(0x7F7F7F7F7F7F7F7F)
FOURTH, FIFTH = np.uint64(0xFF000000), np.uint64(0xFF00000000)
"""Ranks on which pawns stand after a double step."""
PAWNS = np.uint64(0x00FFFFFFFFFFFF00)
"""Squares on which pawns stand."""


def on_board(files: int) -> int:
    """Return the squares that steps by so many files lead to."""
    return sum(1 << square for square in range(64) if 0 <= (square & 7) - files < 8)


SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
"""De Bruijn's: its 64 stretches of six bits are all different."""
PLACES = np.zeros(64, np.int64)
PLACES[[(0x03F79D71B4CB0A89 << square & (1 << 64) - 1) >> 58 for square in range(64)]] = range(64)
"""By the first six bits of the sequence shifted, how far it has been."""

SHIFTS = np.array([abs(files + 8 * ranks) for files, ranks in WAYS], np.uint64)
UP = np.array([files + 8 * ranks > 0 for files, ranks in WAYS])
TARGETS = np.array([on_board(files) for files, _ in WAYS], np.uint64)
"""By way, how far a word is shifted, whether to greater squares, and which squares may be reached."""
FIRST, LAST = np.array(FIRST_WAY), np.array(LAST_WAY)


@lean_kernel
def lowest(word):
    """Return the number of the lowest one in a word that is not 0."""
    return PLACES[(word & (~word + ONE)) * SEQUENCE >> np.uint64(58)]


@lean_kernel
def slid(word, empty, way):
    """Return where men go that slide along a way over *empty* squares."""
    shift = SHIFTS[way]
    twice = shift + shift
    over = empty & TARGETS[way]
    if UP[way]:
        word |= over & word << shift
        over &= over << shift
        word |= over & word << twice
        over &= over << twice
        word |= over & word << (twice + twice)
        return word << shift & TARGETS[way]
    word |= over & word >> shift
    over &= over >> shift
    word |= over & word >> twice
    over &= over >> twice
    word |= over & word >> (twice + twice)
    return word >> shift & TARGETS[way]


@lean_kernel
def moved(word, empty, kind):
    """Return where men of a kind, no pawns, go to: on *empty* squares, or on the first behind them."""
    there = NOTHING
    for way in range(FIRST[kind], LAST[kind]):
        if kind < KNIGHT:
            there |= slid(word, empty, way)
        elif UP[way]:
            there |= word << SHIFTS[way] & TARGETS[way]
        else:
            there |= word >> SHIFTS[way] & TARGETS[way]
    return there


@lean_kernel
def origins(word, empty, kind, side):
    """Return whence men of a kind come that stand on the squares of a word and have captured nothing."""
    return moved(word, empty, kind) if kind != PAWN else pawns_behind(word, word, empty, side)


@lean_kernel
def pawns_behind(word, twice, empty, side):
    """Return whence a side's pawns come that stand on the squares of a word after a step, or of another after two."""
    eight = np.uint64(8)
    if side == 0:
        return word >> eight | ((twice & FOURTH) >> eight & empty) >> eight
    return word << eight | ((twice & FIFTH) << eight & empty) << eight


@lean_kernel
def attackers(word, empty, kind, side):
    """Return whence men of a kind attack the squares of a word."""
    if kind != PAWN:
        return moved(word, empty, kind)
    return pawns_before(word, side)


@lean_kernel
def attacked(word, empty, kind, side):
    """Return what men of a kind attack from the squares of a word."""
    if kind != PAWN:
        return moved(word, empty, kind)
    return pawns_before(word, 1 - side)


@lean_kernel
def pawns_before(word, side):
    """Return whence a side's pawns attack the squares of a word."""
    seven, nine = np.uint64(7), np.uint64(9)
    if side == 0:
        return word >> seven & NOT_A | word >> nine & NOT_H
    return word << seven & NOT_H | word << nine & NOT_A


@lean_kernel
def turned_word(word, symmetry):
    """Return where a symmetry of the board takes the squares of a word."""
    if symmetry & 4:
        word = transposed(word)
    if symmetry & 1:
        word = mirrored(word)
    if symmetry & 2:
        word = upside_down(word)
    return word


@lean_kernel
def transposed(word):
    """Return a word with files and ranks exchanged."""
    change = (word ^ word << np.uint64(28)) & np.uint64(0x0F0F0F0F00000000)
    word ^= change ^ change >> np.uint64(28)
    change = (word ^ word << np.uint64(14)) & np.uint64(0x3333000033330000)
    word ^= change ^ change >> np.uint64(14)
    change = (word ^ word << np.uint64(7)) & np.uint64(0x5500550055005500)
    return word ^ change ^ change >> np.uint64(7)


@lean_kernel
def mirrored(word):
    """Return a word with left and right exchanged."""
    ones, twos, fours = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    word = word >> np.uint64(1) & ones | (word & ones) << np.uint64(1)
    word = word >> np.uint64(2) & twos | (word & twos) << np.uint64(2)
    return word >> np.uint64(4) & fours | (word & fours) << np.uint64(4)


@lean_kernel
def upside_down(word):
    """Return a word with top and bottom exchanged."""
    bytes_, pairs = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
    word = word >> np.uint64(8) & bytes_ | (word & bytes_) << np.uint64(8)
    word = word >> np.uint64(16) & pairs | (word & pairs) << np.uint64(16)
    return word >> np.uint64(32) | word << np.uint64(32)


# Which word is which


class Rests(NamedTuple):
    """All rests of some men, the outer ones: their squares, int64[rests, men], and these as bits, uint64[rests], 0
    where two men are on one; where symmetries take them, int32[8, rests]; and what becomes of them when a man moves,
    int32[rests, men] and int32[rows, 64]."""

    squares: Array
    bits: Array
    turned: Array
    less: Array
    more: Array


def rests_of(codes: tuple[int, ...], grouped: bool, turned: Array) -> Rests:
    """Return the rests of men by their codes, like ones *grouped* or told apart; *turned* is where symmetries take
    squares, int64[8, 64]."""
    count = len(codes)
    numbers, squares = numbered(codes, grouped)
    found = numbers.reshape((64,) * count)
    bits = np.zeros(len(squares), np.uint64)
    apart = np.ones(len(squares), np.bool_)
    for man in range(count):
        here = np.uint64(1) << squares[:, man].astype(np.uint64)
        apart &= bits & here == 0
        bits |= here
    after = np.stack([found[tuple(symmetry[squares].T)].reshape(-1) for symmetry in turned])
    rows = 64 ** max(count - 1, 0)
    less = np.empty(squares.shape, np.int32)
    more = [np.moveaxis(found, man, -1).reshape(-1, 64) for man in range(count)]
    for man, leader in enumerate(leaders(codes) if grouped else range(count)):
        less[:, man] = leader * rows + key_of(np.delete(squares, man, 1))
    return Rests(
        squares, np.where(apart, bits, 0).astype(np.uint64), after.astype(np.int32), less,
        np.concatenate([*more, np.empty((0, 64), np.int32)]).astype(np.int32),
    )  # fmt: skip


def numbered(codes: tuple[int, ...], grouped: bool) -> tuple[Array, Array]:
    """Return the number of the rest for all squares of the men, int32[64 ** men], -1 for none; and the squares of
    each rest, int64[rests, men]."""
    count = len(codes)
    keys = np.arange(64**count)
    squares = keys[:, None] >> 6 * np.arange(count - 1, -1, -1) & 63
    if not grouped:
        return keys.astype(np.int32), squares
    there = np.ones(len(keys), np.bool_)
    for group in groups(codes):
        squares[:, group] = np.sort(squares[:, group], 1)
        there &= np.all(np.diff(squares[:, group], axis=1) > 0, 1)
    sorted_keys = key_of(squares)
    own = keys[there & (sorted_keys == keys)]
    numbers = np.where(there, np.searchsorted(own, sorted_keys), -1).astype(np.int32)
    return numbers, squares[own]


def key_of(squares: Array) -> Array:
    """Return a number for the squares of men told apart, int64[n, men]."""
    weights = np.array([64 ** (squares.shape[1] - 1 - man) for man in range(squares.shape[1])], np.int64)
    keys: Array = squares @ weights
    return keys


def groups(codes: tuple[int, ...]) -> list[list[int]]:
    """Return the places of like men who stand one behind another, group by group."""
    return [list(group) for _, group in groupby(range(len(codes)), codes.__getitem__)]


def leaders(codes: tuple[int, ...]) -> list[int]:
    """Return for each man the first of his group."""
    return [group[0] for group in groups(codes) for _ in group]
