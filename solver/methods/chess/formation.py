"""The men of a chess tier, and the layout of its positions in arrays.

Each side to move has arrays of its own, one byte or one bit for each position:

    byte of a position:  pair of kings, as chess numbers them  ×  64 squares for each man
    bit of a set:        the same; 64 bits with the squares of the last man are one word

    position = (pair × rests + rest) << 6 | square of the last man
               └──── index of the word ────┘

The men are those besides the kings. Up to three of them are in the order of their codes, and like men are distinct:
each position appears twice, or six times. Of four men (endings of six) those with the most like ones come first, and
like outer men are one group (see `words.py`). Then three like men take a sixth of the words, and two half of them.
Where both kings are on the diagonal, a position and its mirror image both appear.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from retrograde.games.chess import men
from retrograde.games.chess.men import BLACK, KNIGHT, PAWN, QUEEN
from retrograde.games.chess.numbering import numbers_of_kings, pairs_in_order
from retrograde.games.chess.squares import DIAGONAL, ORTHOGONAL, between, image_of_square, reaches, step, steps
from retrograde.solver.methods.chess.words import Rests, groups_of, key_of, number_rests, rests_of
from retrograde.solver.runtime.array_type import Array

Codes = tuple[int, ...]
"""The codes of men (see `games/chess/men.py`), in any order."""


class Geometry(NamedTuple):
    """Lookup tables of the board.

    `reaches`, `between` and `steps` are those of `games/chess/squares.py`. `turned` int64[8, 64]: where symmetries take
    squares. `kings` int32[8192]: pairs of kings, as `Numbering.kings` has them, without pawns and then with pawns.
    """

    reaches: Array
    between: Array
    steps: Array
    turned: Array
    kings: Array


class Men(NamedTuple):
    """The men of a tier besides the kings, and where kings and outer men may stand.

    `kinds` and `sides` int64[men]: sides are 0 for White, 1 for Black. `squares` int64[pairs, 2]: the squares of both
    kings, by pair. `king_moves` int32[2, pairs, 8]: the entry of `Geometry.kings` after a step of a side's king, -1 if
    he cannot go there. `rests`: the placements of all men but the last.
    """

    kinds: Array
    sides: Array
    squares: Array
    king_moves: Array
    rests: Rests


class Formation:
    """The men of a tier and the size of its arrays, from the name of the ending."""

    def __init__(self, name: str):
        self.name, codes = name, men.codes_of(men.sides_of(name))
        grouped = len(codes) >= GROUPED
        self.codes = group_like_men(codes) if grouped else codes
        self.men = men_of(self.codes, grouped)
        self.has_pawns = has_pawns(self.codes)
        self.has_en_passant = all("P" in side for side in men.sides_of(name))
        """Whether both sides have pawns, so that en passant is possible."""
        self.is_symmetric = len({*men.sides_of(name)}) == 1
        self.pairs = len(self.men.squares)
        self.inner = 64 * len(self.men.rests.bits) if codes else 1
        """Positions for each pair of kings."""

    @property
    def words(self) -> int:
        """The number of words in a set, for one side to move."""
        return int(self.pairs * self.inner) >> 6

    def memory(self, by_zeroing: bool) -> int:
        """Return about how many bytes the analysis needs besides the scores, at most."""
        each, each_at_first = (ZEROING_BYTES, ZEROING_FIRST_BYTES) if by_zeroing else (BYTES, FIRST_BYTES)
        positions = 2 * self.pairs * self.inner  # with either side to move
        pawns = sum(code & 7 == PAWN for code in self.codes) if self.has_en_passant else 0
        most = max(round(each * positions), round(each_at_first * positions) + bytes_of_later_codes(self))
        return most + round(EN_PASSANT_BYTES * positions) * pawns + FIXED


BYTES, FIRST_BYTES, EN_PASSANT_BYTES, FIXED = 2.2, 1.6, 0.2, 10_000_000
"""Bytes of memory, per position with one side to move unless said otherwise.

BYTES: a byte for its code and bits in nine sets. FIRST_BYTES: the same with bits in four sets, while the codes of later
tiers are in memory (a byte each, counted apart). EN_PASSANT_BYTES: for each pawn, if pawns may be captured en passant,
bits in two sets, and lists. FIXED: bytes for all else, in total.
"""

ZEROING_BYTES, ZEROING_FIRST_BYTES = 3.4, 2.2
"""The same for distances to zeroing: that analysis keeps nine more sets."""


GROUPED = 4
"""From this many men on (kings not counted), like outer men are one group."""


def group_like_men(codes: Codes) -> Codes:
    """Return the codes with like men next to each other, the largest group first."""
    return tuple(sorted(codes, key=lambda code: (-codes.count(code), code)))


def men_of(codes: Codes, grouped: bool = False) -> Men:
    """Return the Men with these codes; with like outer men *grouped* or distinct."""
    array, pawns = np.array(codes, np.int64), has_pawns(codes)
    rests = rests_of(codes[:-1], grouped, geometry().turned)
    return Men(array & 7, array >> 3, pairs_of_kings(pawns), king_moves(pawns), rests)


def bytes_of_later_codes(formation: Formation) -> int:
    """Return the bytes of the codes of all later tiers that captures and promotions lead to."""
    later = {(each.remaining, each.turn) for each in departures(formation.codes)}
    return sum(count_positions(remaining) for remaining, _ in later)


def count_positions(codes: Codes) -> int:
    """Return the number of positions in the arrays of these men, for one side to move."""
    return len(pairs_of_kings(has_pawns(codes))) << 6 * len(codes)


def has_pawns(codes: Codes) -> bool:
    """Return whether any of these codes is a pawn."""
    return any(code & 7 == PAWN for code in codes)


@cache
def geometry() -> Geometry:
    """Return the tables of the board."""
    symmetries = [[image_of_square(square, symmetry) for square in range(64)] for symmetry in range(8)]
    bits = np.array(between(), np.int64).astype(np.uint64)
    return Geometry(
        np.array(reaches(), np.int64), bits, np.array(steps(), np.int64), np.array(symmetries, np.int64),
        np.array(numbers_of_kings(), np.int32),
    )  # fmt: skip


@cache
def pairs_of_kings(pawns: bool) -> Array:
    """Return the squares of both kings by the number of the pair, int64[pairs, 2]."""
    pairs = np.array(pairs_in_order(pawns), np.int64)
    return np.stack([pairs >> 6, pairs & 63], 1)


@cache
def king_moves(pawns: bool) -> Array:
    """Return `Men.king_moves`: where each king's eight steps lead, int32[2, pairs, 8], -1 for nowhere.

    An entry is that of `Geometry.kings`: 16 * the number of the new pair, + 8 if both kings are on the diagonal, + the
    symmetry that turns the board so that this pair is the canonical one.
    """
    entries, squares = geometry().kings[4096 * pawns :], pairs_of_kings(pawns)
    found = np.full((2, len(squares), 8), -1, np.int32)
    for side in range(2):
        for number, direction in enumerate(ORTHOGONAL + DIAGONAL):
            targets = np.array([step(square, direction) for square in range(64)])[squares[:, side]]
            white, black = (targets, squares[:, 1]) if side == 0 else (squares[:, 0], targets)
            # A target of -1, off the board, gives a wrong index, whose entry is not used.
            found[side, :, number] = np.where(targets < 0, -1, entries[(white & 63) << 6 | black & 63])
    return found


# What later tiers are called


def later_tier(codes: Codes, turn: int) -> tuple[int, Codes, bool, Array]:
    """Return the tier of men in any order, as (tier, the codes of its own men, exchanged, order).

    *turn* is the side to move. `exchanged` says whether the sides are exchanged there: Black's queen alone, (8,), is in
    the tier of KQK, whose own men are (0,). `order` int64[men] has the index in *codes* of the tier's first man, its
    second man, and so on.
    """
    sides = ["".join(men.LETTERS[code & 7] for code in codes if code >> 3 == side) for side in (0, 1)]
    name = men.ending_name(men.name_of(sides))
    own = men.codes_of(men.sides_of(name))
    # Of an ending with equal sides, positions are stored with White to move.
    exchanged = sorted(codes) != list(own) or (turn == 1 and len({*men.sides_of(name)}) == 1)
    return men.tier_of(name), own, exchanged, np.array(order_of(codes, own, exchanged), np.int64)


class Departure(NamedTuple):
    """A capture, a promotion, or both in one move.

    `captured` is the index of the captured man, -1 for none. `change` is 0, or says which pawn becomes what, as in
    `kernels.LaterCodes`. `order` has the indices of the remaining men, `remaining` their codes after the move. `turn`
    is the side to move then.
    """

    captured: int
    change: int
    order: tuple[int, ...]
    remaining: Codes
    turn: int


def departures(codes: Codes) -> Iterator[Departure]:
    """Yield the captures and promotions that are possible with these men.

    >>> list(departures((1,)))  # KRK: only the rook can be captured
    [Departure(captured=0, change=0, order=(), remaining=(), turn=0)]
    """
    changes = [(4 * man + kind + 1, man, kind) for man, code in enumerate(codes) if code & 7 == PAWN for kind in KINDS]
    for captured, (change, man, kind) in product(range(-1, len(codes)), [(0, -1, 0), *changes]):
        if captured < 0 and not change:
            continue
        mover = codes[man] >> 3 if change else 1 - (codes[captured] >> 3)  # the side: 0 is White
        if captured >= 0 and codes[captured] >> 3 == mover:
            continue
        after = dict(enumerate(codes))
        if change:
            after[man] = kind | codes[man] & BLACK
        if captured >= 0:
            del after[captured]
        order = tuple(sorted(after, key=after.__getitem__) if change else after)  # by codes, one of which may be new
        yield Departure(captured, change, order, tuple(after[man] for man in order), 1 - mover)


KINDS = range(QUEEN, KNIGHT + 1)
"""The kinds that a pawn can promote to."""


def order_of(codes: Codes, own: Codes, exchange: bool = False) -> list[int]:
    """Return for each code in *own* the index of its man in *codes*; if *exchange*, first exchange the colours there.

    >>> order_of((5, 9, 5), (5, 5, 9))
    [0, 2, 1]
    """
    remaining = {man: code ^ BLACK if exchange else code for man, code in enumerate(codes)}
    order = []
    for code in own:
        order.append(next(man for man, other in remaining.items() if other == code))
        del remaining[order[-1]]
    return order


# Slots


class Arrangement(NamedTuple):
    """The slots that share a pair of kings.

    `indices` int32[slots]: the position among `Formation.inner`. `mirror_classes` uint8[slots]: what the slot is when
    both kings are on the diagonal: 1 for the smaller of two mirror images, 2 for a position that is its own mirror
    image, 0 for the larger.
    """

    indices: Array
    mirror_classes: Array


def arrangement(codes: Codes) -> Arrangement:
    """Return the Arrangement of the slots of men who are in this order."""
    own = tuple(sorted(codes))
    squares = squares_of_slots(own)
    classes = mirror_classes(squares, mirror_images(own, squares))
    return Arrangement(indices_of(codes, squares[:, order_of(own, codes)]), classes)


def mirror_images(codes: Codes, squares: Array) -> Array:
    """Return the squares of men, int64[positions, men], reflected about the diagonal; like men ascend."""
    return sort_like_men(codes, geometry().turned[4][squares])


def sort_like_men(codes: Codes, squares: Array) -> Array:
    """Sort the squares of like men in each row, in place; return the array."""
    for like in groups_of(codes):
        squares[:, like] = np.sort(squares[:, like], 1)
    return squares


def mirror_classes(squares: Array, mirror: Array) -> Array:
    """Return for each position 2 if it is its own mirror image, 1 if it is the smaller of the two, else 0, uint8."""
    shift = 1 if squares.shape[1] == 4 else 0  # of four men, the last one counts most: it becomes the first column
    keys, mirror_keys = (key_of(np.roll(rows, shift, 1)) for rows in (squares, mirror))
    return np.where(keys == mirror_keys, 2, keys < mirror_keys).astype(np.uint8)


def indices_of(codes: Codes, squares: Array) -> Array:
    """Return the index among `inner` of each row of *squares*, int32. Like men's squares ascend in a row."""
    numbers, _ = number_rests(codes[:-1], len(codes) >= GROUPED)
    rests = numbers[key_of(squares[:, :-1])]
    return rests << 6 | squares[:, -1].astype(np.int32) if codes else rests


def squares_of_slots(codes: Codes) -> Array:
    """Return the squares of the men in all slots that share a pair of kings, int64[slots, men]."""
    found = np.zeros((1, 0), np.int64)
    for group in groups_of(codes):
        placements = placements_of(codes[group[0]] & 7 == PAWN, len(group))
        found = np.concatenate([np.repeat(found, len(placements), 0), np.tile(placements, (len(found), 1))], 1)
    return found


def placements_of(pawns: bool, like: int) -> Array:
    """Return the placements of *like* equal men, in the order of `Numbering.index` of chess: the last man counts
    most."""
    free = np.arange(8, 56) if pawns else np.arange(64)
    grid = np.stack(np.meshgrid(*[free] * like, indexing="ij"), -1).reshape(-1, like)
    grid = grid[np.all(grid[:, 1:] > grid[:, :-1], 1)]
    return grid[np.lexsort(grid.T)]
