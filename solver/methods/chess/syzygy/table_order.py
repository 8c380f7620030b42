"""The order of positions in Syzygy tables: men form groups, and each group's squares have a number, a *digit*.

    without pawns     three men of whom there is one each, or both kings     like men     like men …
    with pawns        all pawns of a side, on each of four files apart       those of the other       like men …

The first group appears in one of its symmetric placements only. Without pawns its first man is in the triangle a1, d1,
d4, and the first man off the diagonal is below it. With pawns the leading pawn is the one nearest to a file at the
edge, and then to the first rank; it is on the files a to d. Every other group stands on squares that the groups before
leave free, in one of the combinations. A position's number has the groups' numbers as digits, in an order that each
table chooses.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations, groupby, permutations, product
from math import comb

import numpy as np

from retrograde.games.chess import men
from retrograde.solver.runtime.array_type import Array

KINDS = {"P": 1, "N": 2, "B": 3, "R": 4, "Q": 5, "K": 6}
"""The codes of men in the files; BLACK is added for Black's."""
BLACK = 8
KING, PAWN = KINDS["K"], KINDS["P"]
PAWN_SQUARES = 48
"""The squares on which a pawn may stand: all but those of the first and the last rank."""
NO_ORDER = 15
"""Stands for the position of the second group of pawns if there is no such group."""

TRIANGLE = 1, 2, 3, 10, 11, 19, 0, 9, 18, 27
"""The triangle a1, d1, d4, its diagonal last."""
BELOW = tuple(8 * rank + file for rank in range(8) for file in range(rank + 1, 8))
BELOW_OR_ON = *BELOW, *range(0, 64, 9)
"""The squares below the diagonal a1-h8, and with those on it."""


@dataclass(frozen=True)
class TableOrder:
    """An order of positions: the codes of all men, group by group, and the order of the digits.

    `first` is the position of the first group's digit, 0 for the one that changes fastest; `second` is that of the
    second group of pawns. The other groups follow in order. KRvKN in the order of the package's docstring is
    `TableOrder((6, 4, 14, 10), 0)`: White's king and rook and Black's king first, then Black's knight.
    """

    codes: tuple[int, ...]
    first: int
    second: int = NO_ORDER

    @property
    def has_pawns(self) -> bool:
        """Whether there are pawns, which then come first."""
        return self.codes[0] & 7 == PAWN

    @property
    def files(self) -> int:
        """The number of files that the leading pawn may be on; each has an order of positions of its own."""
        return 4 if self.has_pawns else 1

    @property
    def description(self) -> list[int]:
        """The description of the order in a file, numbers of four bits."""
        return [self.first, *([self.second] if self.second != NO_ORDER else []), *self.codes]

    @property
    def sizes(self) -> list[int]:
        """The number of men in each group."""
        first = first_group(self.codes)
        return [first, *(len(list(group)) for _, group in groupby(self.codes[first:]))]

    def digits(self, file: int = 0) -> list[tuple[int, int]]:
        """Return for each group the factor of its digit, and how many values the digit has.

        *file* is that of the leading pawn, from 0 to 3.

        >>> TableOrder((6, 4, 14, 10), 0).digits()
        [(1, 31332), (31332, 61)]
        """
        sizes = self.sizes
        first_other = 2 if self.second != NO_ORDER else 1
        free, factor = 64 - sum(sizes[:first_other]), 1
        found, others = [(0, 0)] * len(sizes), iter(range(first_other, len(sizes)))
        # Digit by digit, the one that changes fastest first.
        for position in range(len(sizes)):
            if position == self.first:
                group, values = 0, len(first_squares(sizes[0], self.has_pawns, file))
            elif position == self.second:
                group, values = 1, comb(PAWN_SQUARES - sizes[0], sizes[1])
            else:
                group = next(others)
                values = comb(free, sizes[group])
                free -= sizes[group]
            found[group] = factor, values
            factor *= values
        return found

    def length(self, file: int = 0) -> int:
        """Return the number of positions with one side to move."""
        return max(factor * values for factor, values in self.digits(file))


def first_group(codes: tuple[int, ...]) -> int:
    """Return the number of men in the first group: like pawns; or three men if so many are single; or both kings."""
    if codes[0] & 7 == PAWN:
        return codes.count(codes[0])
    return 3 if sum(codes.count(code) == 1 for code in codes) >= 3 else 2


def table_name(name: str) -> str:
    """Return the name of an ending in file names.

    >>> table_name("KRKN")
    'KRvKN'
    """
    return "v".join("K" + side for side in men.sides_of(name))


def codes_of(name: str) -> list[int]:
    """Return the codes of all men of an ending, White's first.

    >>> codes_of("KRKN")
    [6, 4, 14, 10]
    """
    return [KINDS[letter] + BLACK * side for side, letters in enumerate(men.sides_of(name)) for letter in "K" + letters]


def table_orders(name: str) -> list[TableOrder]:
    """Return all orders that the table of an ending may have."""
    codes = codes_of(name)
    sides_with_pawns = len({code for code in codes if code & 7 == PAWN})
    found = []
    for head in first_groups(codes):
        rest = [code for code in codes if code not in head]
        for order in permutations(sorted({*rest})):
            all_men = head + tuple(code for code in order for _ in range(rest.count(code)))
            # The digits of the groups at the head, one or two, may stand anywhere among those of all groups.
            firsts = range(len(order) + max(1, sides_with_pawns))
            seconds = firsts if sides_with_pawns == 2 else (NO_ORDER,)
            found += [TableOrder(all_men, first, second) for first in firsts for second in seconds if first != second]
    return found


def first_groups(codes: list[int]) -> list[tuple[int, ...]]:
    """Return the beginnings that the order of a table may have, each a tuple of codes of men.

    If there are pawns, the only one is all pawns, those of the side with fewer first. Else it is three men of whom
    there is one each, in any order. If there are no such three, it is both kings.

    >>> first_groups(codes_of("KPPKP"))  # the black pawn, then the white ones
    [(9, 1, 1)]
    >>> first_groups(codes_of("KK"))
    [(6, 14), (14, 6)]
    """
    pawns = Counter(code for code in codes if code & 7 == PAWN)
    if pawns:
        fewer_first = sorted(pawns, key=lambda code: (pawns[code], code))
        return [tuple(code for code in fewer_first for _ in range(pawns[code]))]
    single = [code for code in codes if codes.count(code) == 1]
    return list(permutations(single, 3)) if len(single) >= 3 else [(KING, KING + BLACK), (KING + BLACK, KING)]


# Squares


@cache
def first_squares(count: int, has_pawns: bool, file: int = 0) -> Array:
    """Return the squares of the first group's men by its digit, uint8[ways, count].

    >>> first_squares(3, has_pawns=False)[:2].tolist()
    [[1, 0, 2], [1, 0, 3]]
    """
    without_pawns = {2: two_kings, 3: three_men}
    ways = pawns_on(count, file) if has_pawns else without_pawns[count]()
    found = np.zeros((len(ways), count), np.uint8)
    for number, squares in ways.items():
        found[number] = squares
    return found


def three_men() -> dict[int, tuple[int, ...]]:
    """Return {number: squares} of three different men. The first man off the diagonal is below it."""
    # On the diagonal a1-h8 are the squares 0, 9, 18, …: the multiples of 9.
    return {
        number_of_three(first, second, third): (first, second, third)
        for first, second in product(TRIANGLE, range(64))
        if first != second and (first % 9 or second in BELOW_OR_ON)
        for third in (BELOW_OR_ON if first % 9 == second % 9 == 0 else range(64))
        if third not in (first, second)
    }


def number_of_three(first: int, second: int, third: int) -> int:
    """Return the number of three different men by their squares. Placements whose first man is off the diagonal a1-h8
    come first, then those whose second man is, then those whose third is, then those with all three on it."""
    # A square's number skips the squares of the men before it, so these are subtracted.
    before_second, before_third = int(second > first), int(third > first) + int(third > second)
    # Case 1: The first man is off the diagonal, on one of 6 squares; 63 and 62 are left for the others.
    if first % 9:
        return (TRIANGLE.index(first) * 63 + second - before_second) * 62 + third - before_third
    # Case 2: The first is on one of 4 squares of the diagonal, the second on one of 28 below it.
    begin, rank = 6 * 63 * 62, first // 9
    if second % 9:
        return begin + (rank * 28 + BELOW.index(second)) * 62 + third - before_third
    # Cases 3 and 4: The second is on one of the diagonal's other 7 squares; the third below it, or on one of 6 of it.
    begin += 4 * 28 * 62
    pair = rank * 7 + second // 9 - before_second
    if third % 9:
        return begin + pair * 28 + BELOW.index(third)
    return begin + 4 * 7 * 28 + pair * 6 + third // 9 - before_third


def two_kings() -> dict[int, tuple[int, ...]]:
    """Return {number: squares} of two kings that are not neighbours. Pairs with both on the diagonal come last."""
    apart = [
        (first, second)
        for first, second in product(TRIANGLE, range(64))
        if max(abs(first % 8 - second % 8), abs(first // 8 - second // 8)) > 1 and (first % 9 or second in BELOW_OR_ON)
    ]
    return dict(enumerate(sorted(apart, key=lambda kings: kings[0] % 9 == kings[1] % 9 == 0)))


def pawns_on(count: int, file: int) -> dict[int, tuple[int, ...]]:
    """Return {number: squares} of *count* like pawns, the leading one, which is first, on a file. The number is the
    first digit of a position. The leading pawn has the greatest `number_of_pawn`."""
    found: dict[int, tuple[int, ...]] = {}
    square_of = {number_of_pawn(square): square for square in range(8, 56)}
    begin = 0
    for lead in range(8 + file, 56, 8):
        free = number_of_pawn(lead)  # the others stand on squares with lower numbers
        for others in combinations(range(free), count - 1):
            number = begin + sum(comb(other, k + 1) for k, other in enumerate(others))
            found[number] = (lead, *(square_of[other] for other in reversed(others)))
        begin += comb(free, count - 1)
    return found


def number_of_pawn(square: int) -> int:
    """Return the number of a pawn's square, greater the nearer to a file at the edge, then to the first rank.

    Of two mirror squares, that on the left half has the greater number.

    >>> number_of_pawn(8), number_of_pawn(15), number_of_pawn(16), number_of_pawn(52)
    (47, 46, 45, 0)
    """
    file, rank = square % 8, square // 8 - 1
    return 47 - 12 * min(file, 7 - file) - 2 * rank - int(file > 3)


@cache
def combinations_of(count: int, free: int) -> Array:
    """Return the placements of *count* like men, up to three, on *free* squares, by digit, uint8[ways, 3].

    >>> combinations_of(2, 4)[:, :2].tolist()
    [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]
    """
    ways = np.array(list(combinations(range(free), count)), np.uint8)
    digits = np.zeros(len(ways), np.int64)
    for k in range(count):
        binomials = np.array([comb(square, k + 1) for square in range(free)])
        digits += binomials[ways[:, k]]
    found = np.zeros((len(ways), 3), np.uint8)
    found[digits, :count] = ways
    return found
