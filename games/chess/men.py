"""Codes of men (pieces and pawns) in four bits, and endings named by their men, such as KRKN.

    3     2 1 0        0 queen  1 rook  2 bishop  3 knight  4 pawn  5 king
    side  kind         code 15: no man

The first-named side of an ending has more men, or as many and better ones. It is called White here (side 0; the other
is Black, side 1), whatever its colour on a real board. There are 146 endings of two to five men, and 170 of six men
without pawns. The number of an ending is its tier. Endings with more men come first, then those with more pawns, so
that every capture and promotion raises the tier. With up to five men tiers count from 0; those of six men are negative.

    -170    …  -1        0      …  145
    KBBBBK     KRRRRK    KPPKP     KK

>>> ending_name("KNvkr"), name_of_tier(tier_of("KRKN")), name_of_tier(LOWEST), TIERS[-1]
('KRKN', 'KRKN', 'KBBBBK', 'KK')
"""

import re
from functools import cache
from itertools import combinations_with_replacement as bags

QUEEN, ROOK, BISHOP, KNIGHT, PAWN, KING = range(6)
LETTERS = "QRBNPK"
BLACK = 8
"""Added to the codes of Black's men."""
NOBODY = 15
MOST_MEN = 6
MOST_WITH_PAWNS = 5
"""The greatest number of men in an ending with pawns."""

Codes = tuple[int, ...]
"""The codes of the men besides the kings, White's first, ascending."""


def ending_name(text: str) -> str:
    """Return the name of an ending, stronger side first; case, order and a `v` between the sides do not matter.

    >>> ending_name("knvkr")
    'KRKN'
    """
    match = re.fullmatch(r"K([QRBNP]*)V?K([QRBNP]*)", text.strip().upper())
    if not match:
        raise ValueError(f"no ending {text!r}; name the men of both sides, as in KRKN or KBNvK")
    if len(match[1] + match[2]) + 2 > MOST_MEN:
        raise ValueError(f"{text!r} has {len(match[1] + match[2]) + 2} men; endings of {MOST_MEN} at most are known")
    if len(match[1] + match[2]) + 2 > MOST_WITH_PAWNS and "P" in match[1] + match[2]:
        raise ValueError(f"{text!r} has {MOST_MEN} men; endings of more than {MOST_WITH_PAWNS} are known without pawns")
    sides = ["".join(sorted(side, key=LETTERS.index)) for side in match.groups()]
    return name_of(sorted(sides, key=strength))


def strength(side: str) -> tuple[int, list[int]]:
    """Return a sort key for sides: more men first, then better men."""
    return -len(side), [LETTERS.index(letter) for letter in side]


def name_of(sides: list[str]) -> str:
    """Return the name of an ending from its sides, given without their kings."""
    return "".join("K" + side for side in sides)


def sides_of(name: str) -> list[str]:
    """Return both sides of an ending, without their kings."""
    return name.split("K")[1:]


def codes_of(sides: list[str]) -> Codes:
    """Return the codes of the men besides the kings."""
    return tuple(LETTERS.index(letter) + BLACK * (side == 1) for side in (0, 1) for letter in sides[side])


def all_endings(letters: str, least: int, most: int) -> list[str]:
    """Return the names of all endings with these kinds and numbers of men, sorted by tier."""
    sides = ["".join(bag) for size in range(most - 1) for bag in bags(letters, size)]
    pairs = [[first, second] for first in sides for second in sides if least <= len(first + second) + 2 <= most]
    return sorted({ending_name(name_of(pair)) for pair in pairs}, key=lambda name: (-len(name), -name.count("P"), name))


TIERS = tuple(all_endings("QRBNP", 2, MOST_WITH_PAWNS))
"""The names of the endings of up to five men, by tier."""
SIX_MEN = tuple(all_endings("QRBN", MOST_MEN, MOST_MEN))
"""The names of the endings of six men, in the order of their tiers, which are negative."""
LOWEST = -len(SIX_MEN)
NAMES = SIX_MEN + TIERS
"""The names of all endings; that of a tier is at `tier - LOWEST`."""


def tier_of(text: str) -> int:
    """Return the tier of an ending."""
    return NAMES.index(ending_name(text)) + LOWEST


def name_of_tier(tier: int) -> str:
    """Return the name of a tier's ending."""
    return NAMES[tier - LOWEST]


@cache
def tiers_from(name: str) -> tuple[int, ...]:
    """Return the tiers of an ending and of all endings it can lead to, ascending."""
    found, left = set(), {name}
    while left:
        found |= left
        left = {ending_name(after) for before in left for after in conversions(before)} - found
    return tuple(sorted(map(tier_of, found)))


def conversions(name: str) -> list[str]:
    """Return the endings after one capture or promotion, with their sides in any order."""
    lost = [name[:i] + name[i + 1 :] for i, letter in enumerate(name) if letter != "K"]
    return lost + [name[:i] + new + name[i + 1 :] for i, old in enumerate(name) if old == "P" for new in "QRBN"]


# Tables for compiled rules

SYMMETRIC, REVERSED = 1, 2


@cache
def tier_table() -> tuple[int, ...]:
    """Return the tiers by men: `4 * tier + flags` at `key_of` their codes. It is below all tiers if there is no such
    ending.

    SYMMETRIC: both sides have the same men. REVERSED: the first-named side is Black, so the sides must be exchanged.
    """
    table = [4 * (LOWEST - 1)] * 65536
    for tier, name in enumerate(NAMES, LOWEST):
        sides = sides_of(name)
        table[key_of(codes_of(sides[::-1]))] = 4 * tier + REVERSED
        table[key_of(codes_of(sides))] = 4 * tier + SYMMETRIC * (sides[0] == sides[1])
    return tuple(table)


def key_of(codes: Codes) -> int:
    """Return the index of men in the tables by men; below 4096 for three men or fewer."""
    first, second, third, fourth = (*codes, NOBODY, NOBODY, NOBODY, NOBODY)[:4]
    return 4096 * (NOBODY ^ fourth) + 256 * first + 16 * second + third


ALWAYS_DEAD, BISHOPS_ONLY = 1, 2


@cache
def dead_table() -> tuple[int, ...]:
    """Return, at `tier - LOWEST`, whether mate is impossible: ALWAYS_DEAD, or BISHOPS_ONLY if all bishops are on one
    colour."""
    always = {"KK": ALWAYS_DEAD, "KBK": ALWAYS_DEAD, "KNK": ALWAYS_DEAD}
    return tuple(always.get(name, BISHOPS_ONLY * (set(name) == {"K", "B"})) for name in NAMES)
