"""What stands on the board in a tier of chess, and how its positions lie in words.

    bytes, words of both sides to move      pair of kings, as chess numbers them  ×  64 squares for each man
    a word                                  the squares of the last man

With up to five men they are in the order of their codes, and like men are told apart, so that each of their positions
is there twice, or six times. Of six men those of whom there are most like ones come first, and like men but the last
one are not told apart (see words.py): three take a sixth of the words, two half of them. Where both kings are on the
diagonal a position and its mirror image are both there.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.chess import men
from retrograde.games.chess.men import BLACK, KNIGHT, PAWN, QUEEN
from retrograde.games.chess.numbering import numbers_of_kings, pairs_in_order
from retrograde.games.chess.squares import DIAGONAL, ORTHOGONAL, between, reaches, step, steps, turned
from retrograde.solver.methods.chess.words import Rests, key_of, numbered, rests_of

Array = np.ndarray[Any, Any]
Codes = tuple[int, ...]
"""Of men, in any order."""


class Geometry(NamedTuple):
    """The board: who attacks what, what lies between, the next squares, as `games/chess/squares.py` has them; where
    symmetries take squares, int64[8, 64]; and the numbers of kings, int32[8192], as chess numbers them."""

    reaches: Array
    between: Array
    steps: Array
    turned: Array
    kings: Array


class Men(NamedTuple):
    """The men of a tier besides the kings: their kinds and sides, int64[men], White's 0; the squares of kings by pair,
    int64[pairs, 2]; where a king's step leads, int32[2, pairs, 8], as in the numbers of kings, -1 for nowhere; and
    where all but the last man stand."""

    kinds: Array
    sides: Array
    squares: Array
    walks: Array
    rests: Rests


class Formation:
    """The men of a tier, by the name of the ending."""

    def __init__(self, name: str):
        self.name, codes = name, men.codes_of(men.sides_of(name))
        grouped = len(codes) >= GROUPED
        self.codes = together(codes) if grouped else codes
        self.men = men_of(self.codes, grouped)
        self.has_pawns = has_pawns(self.codes)
        self.has_passing = all("P" in side for side in men.sides_of(name))
        """Whether pawns may be captured en passant."""
        self.is_symmetric = len({*men.sides_of(name)}) == 1
        self.pairs = len(self.men.squares)
        self.inner = 64 * len(self.men.rests.bits) if codes else 1
        """Positions with kings on the same squares."""

    @property
    def words(self) -> int:
        """How many words there are with one side to move."""
        return int(self.pairs * self.inner) >> 6

    @property
    def room(self) -> int:
        """The bytes that the analysis takes beside the scores, at most about."""
        return self.room_with(BYTES, FIRST_BYTES)

    @property
    def room_by_zeroing(self) -> int:
        """The same of the analysis by distance to zeroing."""
        return self.room_with(ZEROING_BYTES, ZEROING_FIRST_BYTES)

    def room_with(self, bytes_: float, first: float) -> int:
        """Return the bytes of an analysis that takes so many for a position with one side to move, and at *first*,
        beside the codes of later tiers."""
        departing = departing_room(self)
        positions = 2 * self.pairs * self.inner
        passing = round(PASSING_BYTES * positions) * sum(code & 7 == PAWN for code in self.codes) * self.has_passing
        return max(round(bytes_ * positions), round(first * positions) + departing) + passing + FIXED


BYTES, FIRST_BYTES, PASSING_BYTES, FIXED = 2.2, 1.6, 0.2, 10_000_000
"""Memory for a position with one side to move: a byte for what is known, and bits in nine sets; as long as the codes of
later tiers are there, which take a byte each, bits in four; for each pawn that may be captured en passant, bits in two
and lists; and for all else."""

ZEROING_BYTES, ZEROING_FIRST_BYTES = 3.4, 2.2
"""The same for distances to zeroing, of which more is kept apart: bits in nine sets more."""


GROUPED = 4
"""Men from which on like ones are not told apart where they need not be."""


def together(codes: Codes) -> Codes:
    """Return men with like ones one behind another, those of which there are most first."""
    return tuple(sorted(codes, key=lambda code: (-codes.count(code), code)))


def men_of(codes: Codes, grouped: bool = False) -> Men:
    """Return the men of some codes, in any order, like ones told apart, or all but the last *grouped*."""
    array, pawns = np.array(codes, np.int64), has_pawns(codes)
    rests = rests_of(codes[:-1], grouped, geometry().turned)
    return Men(array & 7, array >> 3, pairs_of_kings(pawns), walks(pawns), rests)


def departing_room(formation: Formation) -> int:
    """Return the bytes that the codes of all later tiers take together, to which captures and promotions lead."""
    there = {(each.left, each.turn) for each in departures(formation.codes)}
    return sum(positions_of(left) for left, _ in there)


def positions_of(codes: Codes) -> int:
    """Return how many positions men have with one side to move, as they lie in words."""
    return len(pairs_of_kings(has_pawns(codes))) << 6 * len(codes)


def has_pawns(codes: Codes) -> bool:
    """Tell whether there is a pawn among men."""
    return any(code & 7 == PAWN for code in codes)


@cache
def geometry() -> Geometry:
    """Return the tables of the board."""
    symmetries = [[turned(square, symmetry) for square in range(64)] for symmetry in range(8)]
    bits = np.array(between(), np.int64).astype(np.uint64)
    return Geometry(
        np.array(reaches(), np.int64), bits, np.array(steps(), np.int64), np.array(symmetries, np.int64),
        np.array(numbers_of_kings(), np.int32),
    )  # fmt: skip


@cache
def pairs_of_kings(pawns: bool) -> Array:
    """Return the squares of both kings by their number, int64[pairs, 2]."""
    pairs = np.array(pairs_in_order(pawns), np.int64)
    return np.stack([pairs >> 6, pairs & 63], 1)


@cache
def walks(pawns: bool) -> Array:
    """Return where each king's eight steps lead, int32[2, pairs, 8]: as in the numbers of kings; -1 for nowhere."""
    numbers, squares = geometry().kings[4096 * pawns :], pairs_of_kings(pawns)
    found = np.full((2, len(squares), 8), -1, np.int32)
    for side in range(2):
        for number, way in enumerate(ORTHOGONAL + DIAGONAL):
            targets = np.array([step(square, way) for square in range(64)])[squares[:, side]]
            there = np.stack([targets, squares[:, 1]] if side == 0 else [squares[:, 0], targets], 1)
            found[side, :, number] = np.where(targets < 0, -1, numbers[there[:, 0] << 6 & 4095 | there[:, 1] & 63])
    return found


# What later tiers are called


class Later(NamedTuple):
    """A tier that a move leads to, as it is seen by the men before: the tier's number, and for White and Black to move
    whether sides are exchanged, and which of the men that are left stands where the tier's own men are."""

    tier: int
    codes: Codes
    exchanged: tuple[bool, bool]
    order: Array


def later(codes: Codes) -> Later:
    """Return the tier of men in any order.

    `order` int64[2, men]: for White, and Black, to move, the man in *codes* that is the tier's first man, and so on.
    """
    sides = ["".join(men.LETTERS[code & 7] for code in codes if code >> 3 == side) for side in (0, 1)]
    name = men.ending(men.name_of(sides))
    own = men.codes_of(men.sides_of(name))
    symmetric = len({*men.sides_of(name)}) == 1
    reverse = sorted(codes) != list(own)
    exchanged = reverse, reverse or symmetric
    order = np.array([order_of(codes, own, exchange) for exchange in exchanged], np.int64).reshape(2, len(own))
    return Later(men.tier_of(name), own, exchanged, order)


class Departure(NamedTuple):
    """A capture or a promotion, or both at once: which man is captured, -1 for none; what pawn changes to what, as
    `kernels.leave` has it; which men are left, by their places, and their codes then; who is to move."""

    captured: int
    change: int
    order: tuple[int, ...]
    left: Codes
    turn: int


def departures(codes: Codes) -> Iterator[Departure]:
    """Yield the captures and promotions that men may make."""
    changes = [(4 * man + kind + 1, man, kind) for man, code in enumerate(codes) if code & 7 == PAWN for kind in KINDS]
    for captured, (change, man, kind) in product(range(-1, len(codes)), [(0, -1, 0), *changes]):
        if captured < 0 and not change:
            continue
        mover = codes[man] >> 3 if change else 1 - (codes[captured] >> 3)
        if captured >= 0 and codes[captured] >> 3 == mover:
            continue
        after = dict(enumerate(codes))
        if change:
            after[man] = kind | codes[man] & BLACK
        if captured >= 0:
            del after[captured]
        order = tuple(sorted(after, key=after.__getitem__) if change else after)
        yield Departure(captured, change, order, tuple(after[place] for place in order), 1 - mover)


KINDS = range(QUEEN, KNIGHT + 1)
"""What pawns change to."""


def order_of(codes: Codes, own: Codes, exchange: bool) -> list[int]:
    """Return for each of a tier's men which one it is of those given, whose sides may have to be exchanged first."""
    left = {place: code ^ BLACK if exchange else code for place, code in enumerate(codes)}
    order = []
    for code in own:
        place = next(place for place, other in left.items() if other == code)
        del left[place]
        order.append(place)
    return order


# Slots


class Arrangement(NamedTuple):
    """The slots with kings on the same squares: int32[slots], where the position is among `inner`; uint8[slots], what
    it is where both kings are on the diagonal: 1 for the least of two mirror images, 2 for its own, 0 for neither."""

    places: Array
    kept: Array


def arrangement(codes: Codes) -> Arrangement:
    """Return how slots lie among positions of men in that order."""
    own = tuple(sorted(codes))
    squares = squares_of_slots(own)
    mirror = geometry().turned[4][squares]
    for like in groups_of(own):
        mirror[:, like] = np.sort(mirror[:, like], 1)
    here, there = (key_of(np.roll(every, len(codes) == 4, 1)) for every in (squares, mirror))  # the fourth counts most
    kept = np.where(here == there, 2, here < there).astype(np.uint8)
    return Arrangement(places_of(codes, squares[:, order_of(own, codes, False)]), kept)


def places_of(codes: Codes, squares: Array) -> Array:
    """Return where positions lie by the squares of their men, like ones in ascending order, int32[positions]."""
    numbers, _ = numbered(codes[:-1], len(codes) >= GROUPED)
    rests = numbers[key_of(squares[:, :-1])]
    return rests << 6 | squares[:, -1].astype(np.int32) if codes else rests


def groups_of(codes: Codes) -> list[list[int]]:
    """Return the places of like men, group by group."""
    return [[place for place, other in enumerate(codes) if other == code] for code in dict.fromkeys(codes)]


def squares_of_slots(codes: Codes) -> Array:
    """Return the squares of the men of all slots with kings on the same squares, int64[slots, men]."""
    found = np.zeros((1, 0), np.int64)
    for group in groups_of(codes):
        own = ways_to_stand(codes[group[0]] & 7 == PAWN, len(group))
        found = np.concatenate([np.repeat(found, len(own), 0), np.tile(own, (len(found), 1))], 1)
    return found


def ways_to_stand(pawns: bool, like: int) -> Array:
    """Return the squares of so many like men, ascending, as chess numbers them: the last one's count most."""
    free = np.arange(8, 56) if pawns else np.arange(64)
    grid = np.stack(np.meshgrid(*[free] * like, indexing="ij"), -1).reshape(-1, like)
    grid = grid[np.all(grid[:, 1:] > grid[:, :-1], 1)]
    return grid[np.lexsort(grid.T)]
