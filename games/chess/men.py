"""Men are coded in four bits, and an ending is named by its men: KRKN.

    3     2 1 0        0 queen  1 rook  2 bishop  3 knight  4 pawn  5 king
    side  kind         code 15: nobody

The first-named side of an ending, which has more men or else the better ones, is called White here (0, the other is
Black, 1), whatever its colour on somebody's board. There are 146 endings of two to five men. The number of an ending
is its tier: with more men first, then with more pawns, so that it rises with each capture and promotion.

>>> ending("KNvkr"), TIERS[tier_of("KRKN")], TIERS[-1]
('KRKN', 'KRKN', 'KK')
"""

import re
from functools import cache
from itertools import combinations_with_replacement as bags

QUEEN, ROOK, BISHOP, KNIGHT, PAWN, KING = range(6)
LETTERS = "QRBNPK"
BLACK = 8
"""Added to the code of a man of Black's."""
NOBODY = 15
MOST_MEN = 5

Codes = tuple[int, ...]
"""The codes of the men besides the kings, White's first, ascending."""


def ending(text: str) -> str:
    """Return the name of an ending, the stronger side first; `v` between the sides, cases and order do not matter."""
    match = re.fullmatch(r"K([QRBNP]*)V?K([QRBNP]*)", text.strip().upper())
    if not match:
        raise ValueError(f"no ending {text!r}; name the men of both sides, as in KRKN or KBNvK")
    if len(match[1] + match[2]) + 2 > MOST_MEN:
        raise ValueError(f"{text!r} has {len(match[1] + match[2]) + 2} men; endings of {MOST_MEN} at most are known")
    sides = ["".join(sorted(side, key=LETTERS.index)) for side in match.groups()]
    return name_of(sorted(sides, key=strength))


def strength(side: str) -> tuple[int, list[int]]:
    """Return what sides are sorted by: more men first, then better men."""
    return -len(side), [LETTERS.index(letter) for letter in side]


def name_of(sides: list[str]) -> str:
    """Return the name of two sides, given without their kings."""
    return "".join("K" + side for side in sides)


def sides_of(name: str) -> list[str]:
    """Return both sides of an ending, without their kings."""
    return name.split("K")[1:]


def codes_of(sides: list[str]) -> Codes:
    """Return the codes of the men besides the kings."""
    return tuple(LETTERS.index(letter) + BLACK * (side == 1) for side in (0, 1) for letter in sides[side])


def all_endings() -> list[str]:
    """Return the names of all endings, sorted by tier."""
    sides = ["".join(bag) for size in range(MOST_MEN - 1) for bag in bags("QRBNP", size)]
    names = {ending(name_of([first, second])) for first in sides for second in sides if len(first + second) < 4}
    return sorted(names, key=lambda name: (-len(name), -name.count("P"), name))


TIERS = tuple(all_endings())
"""The names of the endings, by tier."""


def tier_of(text: str) -> int:
    """Return the tier of an ending."""
    return TIERS.index(ending(text))


@cache
def tiers_from(name: str) -> tuple[int, ...]:
    """Return an ending's tier and those of all that play can lead to, ascending."""
    found, left = set(), {name}
    while left:
        found |= left
        left = {ending(after) for before in left for after in conversions(before)} - found
    return tuple(sorted(map(TIERS.index, found)))


def conversions(name: str) -> list[str]:
    """Return what one capture or promotion makes of an ending; the sides are not in order."""
    lost = [name[:i] + name[i + 1 :] for i, letter in enumerate(name) if letter != "K"]
    return lost + [name[:i] + new + name[i + 1 :] for i, old in enumerate(name) if old == "P" for new in "QRBN"]


# Tables for compiled rules

SYMMETRIC, REVERSED = 1, 2


@cache
def tier_table() -> tuple[int, ...]:
    """Return the tiers by men, `4 * tier + flags`, at `256 * code + 16 * code + code`; -1 where there is none.

    SYMMETRIC: both sides have the same men. REVERSED: the first-named side is Black; sides must be exchanged.
    """
    table = [-1] * 4096
    for tier, name in enumerate(TIERS):
        sides = sides_of(name)
        table[key_of(codes_of(sides[::-1]))] = 4 * tier + REVERSED
        table[key_of(codes_of(sides))] = 4 * tier + SYMMETRIC * (sides[0] == sides[1])
    return tuple(table)


def key_of(codes: Codes) -> int:
    """Return where in the tables by men some men are."""
    first, second, third = (*codes, NOBODY, NOBODY, NOBODY)[:3]
    return 256 * first + 16 * second + third


ALWAYS_DEAD, BISHOPS_ONLY = 1, 2


@cache
def dead_table() -> tuple[int, ...]:
    """Return by tier whether nobody can ever be mated: always, or (BISHOPS_ONLY) if all stand on one colour."""
    always = {"KK": ALWAYS_DEAD, "KBK": ALWAYS_DEAD, "KNK": ALWAYS_DEAD}
    return tuple(always.get(name, BISHOPS_ONLY * (set(name) == {"K", "B"})) for name in TIERS)
