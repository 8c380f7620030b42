"""Words of 64 squares, and how men move in them: bit s of a word says that something is so with a man on square s.

Squares, ways and symmetries are those of `games/chess/squares.py`. All moves but a pawn's can be taken back along the
same way, so that what a word is carried to is where its men go to as well as where they have come from.
"""

import numpy as np

from retrograde.games.chess.men import KNIGHT, PAWN
from retrograde.games.chess.squares import FIRST_WAY, LAST_WAY, WAYS
from retrograde.solver.work.kernel import lean_kernel

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
