"""Endings and tiers. An ending is named by its pieces, KKMvK, kings before men; it has a tier for every advance of the
men.

The *advance* is the number of rows that all men of both sides have moved, counted from the row on which each side
begins. The stronger side of an ending is named first: that with more pieces, then with more kings. A tier is an int::

    14 and above                         13 … 10     9 … 6      5 … 0
    17 × (8 - pieces) + kings of both    kings       men        advance
                                         of the side named first

Every move of a man, crowning, and capture raises the tier. Only kings that capture nothing stay in a tier. Endings of
more than eight pieces have negative tiers.

>>> ending("kvmmk"), name_of(tier_of((2, 1), (1, 0), 3)), len(tiers_from("KMvK", 8))
('KMMvK', 'KKMvK at 3', 32)
"""

import re
from functools import cache

BOTH, KINGS, MEN, ADVANCE = 14, 10, 6, 63
"""The lowest bits in a tier of what is above 13, of the first side's kings, and of its men; the mask of the advance."""

SPAN, ZERO = 17, 8
"""The factor of the number of pieces in a tier, more than there are kings; and how many pieces count as 0."""

Side = tuple[int, int]
"""The numbers of kings and of men."""


def most_pieces(rows: int) -> int:
    """Return how many pieces endings have at most, on a board of *rows* rows."""
    return 10 if rows == 6 else 8


def ending(text: str, rows: int = 8) -> str:
    """Return the name of an ending, the stronger side first; case and order do not matter.

    >>> ending("kmvkk")
    'KKvKM'
    """
    match = re.fullmatch(r"([KM]+)V([KM]+)", text.strip().upper())
    if not match:
        raise ValueError(
            f"no ending {text!r}; name the kings and men of both sides, as in KKvKM, or say how many pieces"
        )
    first, second = sides = [side_of(name) for name in match.groups()]
    if (pieces := sum(first + second)) > (most := most_pieces(rows)):
        raise ValueError(f"{text!r} has {pieces} pieces; on {rows} rows, endings of {most} at most are known")
    return name_of_sides(*in_order(*sides))


def side_of(name: str) -> Side:
    """Return the side with this name."""
    return name.count("K"), name.count("M")


def name_of_side(side: Side) -> str:
    """Return the name of a side, a dash for one with nothing left."""
    return "K" * side[0] + "M" * side[1] or "-"


def name_of_sides(first: Side, second: Side) -> str:
    """Return the name of an ending."""
    return f"{name_of_side(first)}v{name_of_side(second)}"


def in_order(first: Side, second: Side) -> tuple[Side, Side]:
    """Return two sides, the stronger one first."""
    return (first, second) if (sum(first), first) >= (sum(second), second) else (second, first)


def part_name(own: Side, other: Side) -> str:
    """Return the name of a part of a tier: the mover's pieces, then the other side's."""
    return f"{name_of_side(own)} v {name_of_side(other)}"


# Tiers


def tier_of(first: Side, second: Side, advance: int) -> int:
    """Return the tier of an ending, with its stronger side first, at an advance."""
    both = SPAN * (ZERO - sum(first + second)) + first[0] + second[0]
    return (both << BOTH) | (first[0] << KINGS) | (first[1] << MEN) | advance


def sides_of(tier: int) -> tuple[Side, Side]:
    """Return both sides of a tier, the stronger one first."""
    gone, kings = divmod(tier >> BOTH, SPAN)
    first = (tier >> KINGS) & 15, (tier >> MEN) & 15
    return first, (kings - first[0], ZERO - gone - kings - first[1])


def name_of(tier: int) -> str:
    """Return the name of a tier, with its advance if there are men."""
    first, second = sides_of(tier)
    return name_of_sides(first, second) + (f" at {tier & ADVANCE}" if first[1] + second[1] else "")


def advances(first: Side, second: Side, rows: int) -> range:
    """Return the possible advances of the men of both sides on a board of *rows* rows."""
    return range((first[1] + second[1]) * (rows - 2) + 1)


@cache
def tiers_from(pieces: str, rows: int) -> tuple[int, ...]:
    """Return the tiers of one ending, or of all with so many pieces, and what they lead to, ascending.

    Some of them may have too few squares for their men.
    """
    found: set[tuple[Side, Side]] = set()
    left = set(endings_of(int(pieces)) if pieces.isdecimal() else [two_sides(pieces)])
    while left:
        found |= left
        left = {after for before in left for after in conversions(*before)} - found
    return tuple(sorted(tier_of(*sides, advance) for sides in found for advance in advances(*sides, rows)))


def two_sides(name: str) -> tuple[Side, Side]:
    """Return the sides of an ending."""
    first, second = map(side_of, name.split("v"))
    return first, second


def endings_of(pieces: int) -> list[tuple[Side, Side]]:
    """Return the sides of all endings with so many pieces in all."""
    sides = [(kings, count - kings) for count in range(1, pieces) for kings in range(count + 1)]
    return [in_order(first, second) for first in sides for second in sides if sum(first + second) == pieces]


def conversions(first: Side, second: Side) -> list[tuple[Side, Side]]:
    """Return the endings after crowning a man or losing a piece; none if *second* has nothing left.

    *first* must be the stronger side, as `in_order` returns it, so that only *second* can have nothing left.
    """
    if not sum(second):
        return []
    found = []
    for (kings, men), other in ((first, second), (second, first)):
        if men:
            found += [in_order((kings + 1, men - 1), other), in_order((kings, men - 1), other)]
        if kings:
            found.append(in_order((kings - 1, men), other))
    return found
