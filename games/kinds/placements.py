"""Placements: numbers all ways in which men can stand on the cells of a board, up to symmetry.

A game declares what may stand on its board; `Placed` (see `placed.py`) makes a dense numbering of it::

    placements(16, [(x + o, (x, o)) for x in range(9) for o in range(9)], grid(4, 4).symmetries, swap=(1, 0))

A position is a bit for each cell with a man of the first kind, cell 0 lowest, then a bit for each cell with a man of
the second kind, and so on. Above them is a *number*, the *extra*: the player to move, how many men are still in hand,
or 0. A section declares a tier, how many men there are of each kind, and the extra. The slots of a tier are those of
its sections, in ascending order. A slot's number is made of these digits, the most significant first::

    section   subsection    orbit              other cells         first kind         second kind, …
    (x, o)    by men on     number of the      C(cells of no       C(men, x) ways     C(men - x, o) ways
              key cells     occupied cells     table, men there)                      (the last kind has 1)

First the occupied cells are numbered, the *shape* of the position, and then how the men of each kind are chosen among
all men. *Key cells* are up to 16 cells that the symmetries map to themselves as a set; all cells, if the board has no
more. *Side cells* are the other cells, if there are at most nine. The occupied key cells make a pattern. Patterns that
are equal by symmetry form an orbit; the least of them stands for all. The same is done on the side cells with the
symmetries that leave the least key pattern as it is. Men on the cells that are left, and then the men of each kind, are
numbered by sums of binomials (the combinatorial number system), after a symmetry that makes both patterns least. If
several symmetries do, because the patterns are symmetric in themselves, the least number counts, and slots with the
other numbers are empty.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from math import comb, prod
from operator import attrgetter

from retrograde.games.contract.game import POSITION_BITS, RuleError

KEY_CELLS = 16
"""The greatest number of key cells. A table holds all patterns on them, 8 bytes each."""
SIDE_CELLS = 9
"""The greatest number of side cells. For each set of symmetries a table holds all patterns on them."""
MOST_SYMMETRIES = 128
MOST_TIERS = 1 << 16
MOST_KEYS = 1 << 16
"""The greatest size of the table of sections: combinations of numbers of men and of the extra."""
NONE = -1

Order = tuple[int, ...]
"""A symmetry: for each cell, the cell that moves to its place."""


@dataclass(frozen=True, order=True)
class Section:
    """A tier, the numbers of men of each kind, and the extra: the `number` above the men."""

    tier: int
    men: tuple[int, ...]
    number: int

    @property
    def name(self) -> str:
        """The numbers of men, such as `3-2`, and the extra unless it is 0."""
        return "-".join(map(str, self.men)) + (f" #{self.number}" if self.number else "")


@dataclass(frozen=True)
class Subsection:
    """The placements of a section with *key_men* men on key cells: slots from `start` on."""

    section: Section
    key_men: int
    side_men: int
    start: int
    ways: tuple[int, ...]
    """The numbers of ways to occupy other cells, and then to choose the men of each kind but the last."""
    orbits: int

    @property
    def slots(self) -> int:
        return self.orbits * prod(self.ways)


@dataclass(frozen=True)
class Placements:
    """What may stand on a board, checked. `placements` makes it from a declaration."""

    cells: int
    sections: tuple[Section, ...]
    symmetries: tuple[Order, ...]
    """All symmetries, the identity first."""
    swap: tuple[int, ...]
    """The kind that each kind becomes when the players are exchanged; empty if players are not exchanged."""
    swap_order: Order
    """The symmetry that goes with the exchange."""

    @property
    def kinds(self) -> int:
        return len(self.sections[0].men)

    @property
    def count(self) -> int:
        """The number of positions; those equal by symmetry count separately."""
        found = 0
        for section in self.sections:
            left = (self.cells - before for before in accumulate(section.men, initial=0))
            found += prod(comb(cells, men) for cells, men in zip(left, section.men, strict=False))
        return found * (2 if self.swap else 1)

    @cached_property
    def key(self) -> tuple[int, ...]:
        """The key cells, ascending."""
        chosen: set[int] = set()
        if len(self.symmetries) > 1:
            # The largest sets of cells that symmetries map to one another, as long as there is room.
            kept = {frozenset(order[cell] for order in self.symmetries) for cell in range(self.cells)}
            for cells in sorted(kept, key=lambda cells: (-len(cells), min(cells))):
                chosen |= cells if len(chosen) + len(cells) <= KEY_CELLS else set()
        return tuple(sorted(chosen))

    @cached_property
    def side(self) -> tuple[int, ...]:
        """The side cells, ascending."""
        others = tuple(cell for cell in range(self.cells) if cell not in self.key)
        return others if self.key and len(others) <= SIDE_CELLS else ()

    def turned_on(self, cells: tuple[int, ...], back: bool = False) -> list[tuple[int, ...]]:
        """Return for each symmetry the tables of `by_bytes`, which give the image of each pattern on *cells*; with
        *back*, those of its inverse. Bit k of a pattern is the k-th of these cells."""
        place = {cell: at for at, cell in enumerate(cells)}
        # Nine cells or more make two tables of 256 entries, so that callers can always look into both.
        orders = (tuple(place[order[cell]] for cell in cells) for order in self.symmetries)
        return [by_bytes(inverse(order) if back else order, max(9, len(cells))) for order in orders]

    @cached_property
    def orbits(self) -> tuple[list[list[int]], dict[int, tuple[int, tuple[int, ...]]]]:
        """The least patterns on key cells, by number of men. Then two facts about each pattern: the number of its orbit
        among those with as many men, and the symmetries to its least pattern."""
        least: list[list[int]] = [[] for _ in range(len(self.key) + 1)]
        known: dict[int, tuple[int, tuple[int, ...]]] = {}
        turned = self.turned_on(self.key, back=True)
        for pattern in range(1 << len(self.key)):
            if pattern not in known:
                orbit = least[pattern.bit_count()]
                ways: dict[int, list[int]] = {}
                for symmetry, images in enumerate(turned):
                    ways.setdefault(images[pattern & 255] | images[256 + (pattern >> 8)], []).append(symmetry)
                known |= {image: (len(orbit), tuple(symmetries)) for image, symmetries in ways.items()}
                orbit.append(pattern)
        return least, known

    @cached_property
    def sides(self) -> dict[tuple[int, ...], list[tuple[int, tuple[int, ...]]]]:
        """A list for each set of symmetries that make a key pattern least. It has each side pattern's least image under
        these symmetries, and those of them that lead to it."""
        patterns = range(1 << len(self.side))
        # For each symmetry the images of all patterns, each looked up by its low byte and by the bits above.
        # (`turned_on` makes a second table also for eight cells or fewer, so this needs no check.)
        turned = [
            [table[one & 255] | table[256 + (one >> 8)] for one in patterns] for table in self.turned_on(self.side)
        ]
        found = {}
        # Each set once. `orbits[1]` has for each key pattern (number of its orbit, symmetries to its least pattern).
        for symmetries in dict.fromkeys(symmetries for _, symmetries in self.orbits[1].values()):
            leasts = map(min, zip(*(turned[symmetry] for symmetry in symmetries), strict=True))
            found[symmetries] = [
                (least, tuple(symmetry for symmetry in symmetries if turned[symmetry][pattern] == least))
                for pattern, least in enumerate(leasts)
            ]
        return found

    @cached_property
    def side_leasts(self) -> dict[tuple[int, ...], list[list[int]]]:
        """The least patterns on side cells, ascending, by set of symmetries (as in `sides`) and by number of men."""
        found = {}
        for symmetries, sides in self.sides.items():
            leasts = sorted({least for least, _ in sides})
            by_men = [[one for one in leasts if one.bit_count() == men] for men in range(len(self.side) + 1)]
            found[symmetries] = by_men
        return found

    @cached_property
    def begins(self) -> list[list[list[int]]]:
        """Where each key orbit's numbers begin, by men on side cells and on key cells. The last entry is the total."""
        least, known = self.orbits
        return [
            [
                list(accumulate((len(self.side_leasts[known[one][1]][men]) for one in orbit), initial=0))
                for orbit in least
            ]
            for men in range(len(self.side) + 1)
        ]

    @cached_property
    def subsections(self) -> tuple[Subsection, ...]:
        """All subsections, tier by tier in ascending order. The slots of each tier begin at 0."""
        found: list[Subsection] = []
        for _, sections in groupby(self.sections, attrgetter("tier")):
            start = 0
            for section in sections:
                subsections = tuple(self.subsections_of(section, start))
                found += subsections
                start = subsections[-1].start + subsections[-1].slots
        return tuple(found)

    def subsections_of(self, section: Section, start: int) -> Iterator[Subsection]:
        """Yield the subsections of a section, which has the slots from *start* on."""
        men, key, others = sum(section.men), len(self.key), self.cells - len(self.key)
        taken = accumulate(section.men, initial=0)
        chosen = tuple(comb(men - before, own) for before, own in zip(taken, section.men[:-1], strict=False))
        for key_men in range(max(0, men - others), min(men, key) + 1):
            side_men = men - key_men if self.side else 0
            ways = comb(others - len(self.side), men - key_men - side_men), *chosen
            subsection = Subsection(section, key_men, side_men, start, ways, self.begins[side_men][key_men][-1])
            yield subsection
            start += subsection.slots


def placements(
    cells: int,
    sections: Iterable[Sequence[object]],
    symmetries: Iterable[Sequence[int]] = (),
    swap: Sequence[int] = (),
    swap_order: Sequence[int] = (),
) -> Placements:
    """Return what may stand on a board of *cells* cells; raise RuleError for a declaration that makes no sense.

    *sections* are `(tier, men)` or `(tier, men, number)`: the tier, how many men of each kind, and the extra. Each of
    the *symmetries* is the cells in another order, as in `board.symmetries`; those that follow by composition may be
    left out. If positions are equal after the players are exchanged, *swap* says which kind each kind becomes then:
    `(1, 0)` for X and O. The lowest bit of the extra is then the player to move; declare only sections in which it
    is 0. *swap_order* is the symmetry that goes with the exchange, such as a half turn.

    >>> placements(9, [(0, (1, 1))], [(2, 1, 0, 5, 4, 3, 8, 7, 6)]).symmetries
    ((0, 1, 2, 3, 4, 5, 6, 7, 8), (2, 1, 0, 5, 4, 3, 8, 7, 6))
    """
    listed = tuple(sorted(section_of(cells, section) for section in sections))
    if not listed:
        raise RuleError("placements must have a section; give at least one, as in (0, (3, 3))")
    expect_sections(cells, listed, tuple(swap))
    group = closed(cells, [checked_order(cells, order) for order in symmetries])
    own = tuple(range(cells))
    order = checked_order(cells, swap_order or own)
    kinds = range(len(listed[0].men))
    if swap and (
        len(swap) != len(kinds) or any(not 0 <= to < len(kinds) or swap[to] != at for at, to in enumerate(swap))
    ):
        raise RuleError(f"swap must exchange kinds in pairs, one entry for each of {len(kinds)}; it is {tuple(swap)}")
    if composed(order, order) not in group or {composed(order, one) for one in group} != {
        composed(one, order) for one in group
    }:
        raise RuleError("swap_order, done twice, must be one of the symmetries, and go with all of them")
    return Placements(cells, listed, group, tuple(swap), order)


def section_of(cells: int, section: Sequence[object]) -> Section:
    """Return a declared section, (tier, men) or (tier, men, number), as a `Section`; raise RuleError if it is none.

    >>> section_of(9, (5, (3, 2)))
    Section(tier=5, men=(3, 2), number=0)
    """
    what = "a section of placements is (tier, men) or (tier, men, number), whole numbers from 0 up, as in (5, (3, 2))"
    if not isinstance(section, tuple) or len(section) not in (2, 3) or not isinstance(section[1], tuple):
        raise RuleError(f"{what}; one is {section!r}")
    tier, men, number = (*section, 0)[:3]
    if not all(isinstance(one, int) and one >= 0 for one in (tier, number, *men)) or not men:
        raise RuleError(f"{what}; one is {section!r}")
    if sum(men) > cells:
        raise RuleError(f"a section of placements has {sum(men)} men on {cells} cells: {section!r}")
    return Section(tier, men, number)


def expect_sections(cells: int, sections: Sequence[Section], swap: tuple[int, ...]) -> None:
    """Raise RuleError if sections differ in kinds, repeat each other, or take too many bits, tiers or keys."""
    kinds = len(sections[0].men)
    seen: set[tuple[tuple[int, ...], int]] = set()
    for section in sections:
        if len(section.men) != kinds:
            raise RuleError(f"all sections of placements have as many kinds; {section.name} has not {kinds}")
        if (section.men, section.number) in seen:
            raise RuleError(f"placements have the section {section.name} twice")
        if swap and section.number & 1:
            raise RuleError(f"with swap the number of a section is even, for the first to move; {section.name} is not")
        seen.add((section.men, section.number))
    highest = max(section.number for section in sections) | bool(swap)
    if cells < 1 or cells * kinds + highest.bit_length() > POSITION_BITS:
        raise RuleError(f"{kinds} kinds on {cells} cells and a number up to {highest} above them are more than 62 bits")
    if max(section.tier for section in sections) >= MOST_TIERS:
        raise RuleError(f"tiers of placements must be below {MOST_TIERS}")
    if keys(sections) > MOST_KEYS:
        raise RuleError(f"placements have too many sections: men and numbers make {keys(sections)} combinations")


def keys(sections: Sequence[Section]) -> int:
    """Return the number of combinations of men of each kind and extra, up to the greatest of each."""
    return prod(most + 1 for most in mosts(sections)) * (1 + max(section.number for section in sections))


def mosts(sections: Sequence[Section]) -> tuple[int, ...]:
    """Return the greatest number of men of each kind."""
    return tuple(max(men) for men in zip(*(section.men for section in sections), strict=True))


# Symmetries


def checked_order(cells: int, order: Sequence[int]) -> Order:
    """Return a symmetry; raise RuleError if it is not a permutation of the cells."""
    if sorted(order) != list(range(cells)):
        raise RuleError(f"a symmetry is the cells 0 to {cells - 1} in another order; one is {tuple(order)}")
    return tuple(order)


def closed(cells: int, orders: Iterable[Order]) -> tuple[Order, ...]:
    """Return all symmetries that follow from these by composition, the identity first.

    >>> closed(4, [(1, 2, 3, 0)])  # quarter turns of a ring of four cells
    ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2))
    """
    found = dict.fromkeys([tuple(range(cells))])
    makers = list(orders)
    left = list(found)
    while left:
        one = left.pop(0)
        for other in makers:
            both = composed(one, other)
            if both not in found:
                found[both] = None
                left.append(both)
        if len(found) > MOST_SYMMETRIES:
            raise RuleError(f"the symmetries of placements make more than {MOST_SYMMETRIES} by composition")
    return tuple(found)


def composed(first: Order, second: Order) -> Order:
    """Return the composition of two symmetries: *first*, and then *second*."""
    return tuple(first[cell] for cell in second)


def inverse(order: Order) -> Order:
    """Return the inverse of a symmetry.

    >>> inverse((1, 2, 0))
    (2, 0, 1)
    """
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def by_bytes(order: Order, cells: int) -> tuple[int, ...]:
    """Return the image of each of 256 patterns on the first eight cells, then on the next eight, and so on."""
    return tuple(reordered(pattern << first, order) for first in range(0, cells, 8) for pattern in range(256))


def reordered(pattern: int, order: Order) -> int:
    """Return a pattern with the cells in another order.

    >>> bin(reordered(0b011, (1, 2, 0)))
    '0b101'
    """
    return sum((pattern >> cell & 1) << place for place, cell in enumerate(order))


def as_bits(cells: Iterable[int]) -> int:
    """Return cells as a bit set.

    >>> bin(as_bits((0, 3)))
    '0b1001'
    """
    return sum(1 << cell for cell in cells)


def cells_of(pattern: int, cells: Sequence[int]) -> int:
    """Return the cells of a pattern as a bit set: bit k of *pattern* stands for the k-th of *cells*.

    >>> bin(cells_of(0b101, (1, 2, 4)))
    '0b10010'
    """
    return sum(1 << cell for place, cell in enumerate(cells) if pattern >> place & 1)
