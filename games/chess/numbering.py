"""A dense numbering of the positions of an ending, up to symmetry, with like men counted once.

    slots with nothing to capture en passant              slots with, behind the others

    turn     kings         each group of k like men       turn     pawns   kings     other man, if any
    1 or 2 × 462 or 1806 × C(64, k), or C(48, k) pawns    1 or 2 × 7     × 64 × 64 × 64, or 48 for a pawn

If both sides have the same men, White is always to move. The kings do not touch. White's is in the triangle a1, d1, d4;
if it is on the diagonal, Black's is not above the diagonal. With pawns White's king is on the files a to d. The number
of squares for Black's king, by the square of White's::

    4            30
    3         30 55     33 + 3 × 58 + 3 × 30 + 3 × 55 = 462
    2      30 55 55
    1   33 58 58 58     with pawns: 2 × 60 + 12 × 58 + 18 × 55 = 1806
        a  b  c  d

Positions with en passant rights exist only if both sides have pawns; published counts leave them out. The pawn that may
be captured is on the files a to d. The pawn that may capture it is beside it, on the left if there are two: 1 + 2 + 2 +
2 = 7 pairs. There are few such positions, so nothing else is saved.

A slot is empty if it stands for no legal position, or for one that has another slot (both kings on the diagonal).
"""

from collections.abc import Callable
from functools import cache, cached_property
from itertools import groupby
from math import comb

from retrograde.games.chess import men
from retrograde.games.chess.board import (
    BLACK_KING,
    COLOURS,
    FOURTH,
    MEN,
    NO_MAN,
    TURN,
    code_at,
    code_on,
    has_pawns,
    king_of,
    mirror_board,
    pack,
    put,
)
from retrograde.games.chess.men import LOWEST, NOBODY, PAWN
from retrograde.games.chess.moves import Moves
from retrograde.games.chess.squares import image_of_square, reaches

EMPTY = -1
INVERSE = (0, 1, 2, 3, 4, 6, 5, 7)
"""The symmetry that undoes each symmetry of the board."""
PAIRS_OF_PAWNS = 7


class Numbering(Moves):
    """The numbering of positions: `index` and `unindex` are inverse, and each slot has at most one position."""

    @cached_property
    def kings(self):
        """By both kings' squares, `16 * number + 8 * (both on the diagonal) + symmetry` to the canonical pair."""
        return numbers_of_kings()

    @cached_property
    def king_pairs(self):
        """The squares of both kings by number, `64 * white + black`: 462 pairs without pawns, then 1806 with pawns."""
        return pairs_in_order(False) + pairs_in_order(True)

    @cached_property
    def groups(self):
        """By row of the tier and man, his group's placements. It is 1 for a man like the one before, 0 for none."""
        return by_row(ways_of_groups)

    @cached_property
    def codes(self):
        """By row of the tier, the codes of four men."""
        return by_row(four_codes)

    @cached_property
    def others(self):
        """By row of the tier, the code of the third man if both sides have pawns. It is NOBODY for none, -1 without en
        passant."""
        return by_row(other_man)

    @cached_property
    def symmetric_tiers(self):
        return tuple(int(len({*men.sides_of(name)}) == 1) for name in men.NAMES)

    @cached_property
    def pawn_tiers(self):
        return tuple(int("P" in name) for name in men.NAMES)

    def row(self, tier):
        """Return the row of a tier in these tables."""
        return tier - LOWEST

    # Sizes

    def size(self, tier):
        """Return the number of slots of a tier."""
        return self.plain_size(tier) + self.turns(tier) * PAIRS_OF_PAWNS * 4096 * self.ways_of_other(tier)

    def parts(self, tier):
        """Return the parts of a tier as (name, slots): the sides to move, then the same with en passant rights."""
        turns = self.turns(tier)
        plain, passed = self.plain_size(tier) // turns, (self.size(tier) - self.plain_size(tier)) // turns
        names = ["white", "black", "white en passant", "black en passant"]
        if turns == 1:
            names = ["white and black", "white en passant and black en passant"]
        parts = zip(names, [plain] * turns + [passed] * turns, strict=True)
        return [part for part in parts if part[1]]

    def plain_size(self, tier):
        """Return the number of slots of a tier without en passant rights: White to move first, then Black."""
        slots = self.turns(tier) * self.pairs_of_kings(tier)
        for number in range(4):
            slots *= max(1, self.groups[4 * self.row(tier) + number])
        return slots

    def turns(self, tier):
        """Return how many sides may be to move, 1 or 2."""
        return 2 - self.symmetric_tiers[self.row(tier)]

    def pairs_of_kings(self, tier):
        """Return the number of canonical pairs of kings."""
        return 1806 if self.pawn_tiers[self.row(tier)] else 462

    def ways_of_other(self, tier):
        """Return how many places the third man, besides kings and two pawns, has with a right to capture en passant.

        A pawn has 48 places, another man 64, no man 1; 0 if nobody can capture en passant.
        """
        code = self.others[self.row(tier)]
        if code == -1:
            return 0
        return 1 if code == NOBODY else 64 - 16 * is_pawn(code)

    # Positions and slots

    def canonical(self, position):
        """Return the least of the positions equal by symmetry."""
        if position >> FOURTH:
            return least_of_all(position)
        return least_image(position, self.kings[(4096 if has_pawns(position) else 0) + (position >> BLACK_KING & 4095)])

    def index(self, position):
        """Return the slot of a position, which need not be canonical."""
        tier = self.tier(position)
        if position & 15:
            return self.passed_index(tier, position)
        entry = self.kings[self.pawn_tiers[self.row(tier)] << 12 | position >> BLACK_KING & 4095]
        least = least_image(position, entry)
        slot = (least >> TURN & 1) * self.pairs_of_kings(tier) + (entry >> 4)
        # The slot is a number in mixed radix: turn, kings, then each group in the combinatorial number system.
        like = 0
        for number in range(4):
            ways = self.groups[4 * self.row(tier) + number]
            if ways:
                like = like + 1 if ways == 1 else 1
                place = MEN[number]
                slot = slot * ways + choose((least >> place & 63) - 8 * is_pawn(code_at(least, place)), like)
        return slot

    def unindex(self, tier, i):
        """Return the canonical position of a slot, EMPTY if the slot is empty."""
        plain = self.plain_size(tier)
        position = self.placed(tier, i) if i < plain else self.passed(tier, i - plain)
        if position == EMPTY or not self.possible(position) or self.index(position) != i:
            return EMPTY
        return least_of_all(position) if position >> FOURTH else position

    def placed(self, tier, i):
        """Return the position of a slot without en passant rights; it may be illegal."""
        row = 4 * self.row(tier)
        men_of = 0
        like = 1
        # Take the groups off the slot from the last to the first; `like` counts the men of a group.
        for number in range(3, -1, -1):
            ways = self.groups[row + number]
            if ways == 0:
                men_of |= put(NO_MAN, MEN[number])
            elif ways == 1:
                like += 1
            else:
                code = self.codes[row + number]
                rest, i = i % ways, i // ways
                for member in range(like, 0, -1):
                    square = last_choice(rest, member)
                    rest -= choose(square, member)
                    men_of |= put(code << 6 | square + 8 * is_pawn(code), MEN[number + member - 1])
                like = 1
        pairs = self.pairs_of_kings(tier)
        kings = self.king_pairs[462 * self.pawn_tiers[self.row(tier)] + i % pairs]
        return i // pairs << TURN | kings << BLACK_KING | men_of

    # En passant

    def passed_index(self, tier, position):
        """Return the slot of a position with en passant rights."""
        turn, file = position >> TURN & 1, (position & 15) - 1
        # Mirror the board so that the pawn is on the files a to d.
        mirror = 1 if file > 3 else 0
        # The pawn that may be captured has just gone to rank 5 (squares 32 to 39) if White is to move, else to rank 4.
        pawn = image_of_square(32 - 8 * turn + file, mirror)
        file = pawn & 7
        left = 1 if file and code_on(position, image_of_square(pawn - 1, mirror)) == PAWN + 8 * turn else 0
        beside = pawn + 1 - 2 * left
        # The third man besides the kings is neither of these two pawns. Pawns are counted from a2.
        other = 0
        for place in (24, 14, 4):
            code, square = code_at(position, place), image_of_square(position >> place & 63, mirror)
            if code != NOBODY and square != pawn and square != beside:
                other = square - 8 * is_pawn(code)
        white, black = image_of_square(king_of(position, 0), mirror), image_of_square(king_of(position, 1), mirror)
        # `2 * file - left` is the number of the pair: 0 on file a, then 1 and 2 on b, and so on.
        slot = (turn * PAIRS_OF_PAWNS + 2 * file - left) << 12 | white << 6 | black
        return self.plain_size(tier) + slot * self.ways_of_other(tier) + other

    def passed(self, tier, i):
        """Return the position of a slot with en passant rights, counted from the first such slot; it may be illegal."""
        code, ways = self.others[self.row(tier)], self.ways_of_other(tier)
        i, other = i // ways, i % ways
        white, black = i >> 6 & 63, i & 63
        turn, pair = (i >> 12) // PAIRS_OF_PAWNS, (i >> 12) % PAIRS_OF_PAWNS
        file = pair + 1 >> 1  # `pair & 1`: the pawn that may capture is on the left
        pawn = 32 - 8 * turn + file
        passer, capturer = (PAWN + 8 * (1 - turn)) << 6 | pawn, (PAWN + 8 * turn) << 6 | pawn + 1 - 2 * (pair & 1)
        third = NO_MAN if code == NOBODY else code << 6 | other + 8 * is_pawn(code)
        if white == black:
            return EMPTY
        return self.canonical(pack(turn, white, black, passer, capturer, third) | file + 1)


def least_image(position, entry):
    """Return the least image with canonical kings; with up to five men it is the least of all. *entry*: see
    `Numbering.kings`."""
    least = mirror_board(position & ~(1 << COLOURS), entry & 7)
    return min(least, mirror_board(least, 4)) if entry & 8 else least


def least_of_all(position):
    """Return the least of the positions equal by symmetry, with four men besides the kings."""
    position &= ~(1 << COLOURS)
    least = position
    for symmetry in range(1, 8):
        least = min(least, mirror_board(position, symmetry))
    return least


def is_pawn(code):
    """Return 1 for the code of a pawn, else 0."""
    return 1 if code & 7 == PAWN else 0


def choose(number, like):
    """Return the number of placements of *like* equal men (one to four) on the first *number* squares."""
    if like == 1:
        return number
    if like == 2:
        return number * (number - 1) // 2
    if like == 3:
        return number * (number - 1) * (number - 2) // 6
    return number * (number - 1) * (number - 2) * (number - 3) // 24


def last_choice(rest, like):
    """Return the greatest square in the placement number *rest* of *like* equal men."""
    square = 63
    while choose(square, like) > rest:
        square -= 1
    return square


# Tables


@cache
def by_row(numbers: Callable[[str], list[int]]) -> tuple[int, ...]:
    """Return the *numbers* for the ending of each row, one after another. All endings share this table."""
    return tuple(number for name in men.NAMES for number in numbers(name))


def ways_of_groups(name: str) -> list[int]:
    """Return `Numbering.groups` of an ending: for each of four men the number of placements of his group."""
    ways = []
    for code, group in groupby(men.codes_of(men.sides_of(name))):
        size = len(list(group))
        ways += [comb(64 - 16 * is_pawn(code), size)] + [1] * (size - 1)
    return [*ways, 0, 0, 0, 0][:4]


def four_codes(name: str) -> list[int]:
    """Return the codes of four men, NOBODY for missing ones."""
    return [*men.codes_of(men.sides_of(name)), NOBODY, NOBODY, NOBODY, NOBODY][:4]


def other_man(name: str) -> list[int]:
    """Return a list of one: the code of the man besides one pawn of each side. It is NOBODY if there is none, -1
    without such pawns."""
    codes = four_codes(name)
    if PAWN not in codes or PAWN + men.BLACK not in codes:
        return [-1]
    codes.remove(PAWN)
    codes.remove(PAWN + men.BLACK)
    return codes[:1]


@cache
def pairs_in_order(pawns: bool) -> tuple[int, ...]:
    """Return the canonical pairs of kings as `64 * white + black`: the least of those equal by symmetry."""
    apart = [pair for pair in range(4096) if pair >> 6 != pair & 63 and not reaches()[pair] >> men.KING & 1]
    symmetries = range(1, 2 if pawns else 8)
    return tuple(pair for pair in apart if all(pair <= image_of_pair(pair, s) for s in symmetries))


def image_of_pair(pair: int, symmetry: int) -> int:
    """Return a pair of kings after a symmetry."""
    return image_of_square(pair >> 6, symmetry) << 6 | image_of_square(pair & 63, symmetry)


@cache
def numbers_of_kings() -> tuple[int, ...]:
    """Return `Numbering.kings` for all squares of the kings, without pawns and then with; -1 if they touch."""
    table = [-1] * 8192
    for pawns in (False, True):
        for number, least in enumerate(pairs_in_order(pawns)):
            diagonal = 8 * (not pawns and image_of_pair(least, 4) == least)
            for symmetry in range(2 if pawns else 8):
                table[4096 * pawns + image_of_pair(least, symmetry)] = 16 * number + diagonal + INVERSE[symmetry]
    return tuple(table)
