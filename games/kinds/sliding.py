"""Games of men that slide to empty cells: the game declares how, and `parents` follows as slides back::

    from retrograde.games.kinds.placed import placements
    from retrograde.games.kinds.sliding import Sliding, joined

    class Hem(Sliding):
        placements = placements(9, [(0, (3, 3))], grid(3, 3).symmetries, swap=(1, 0))
        # Cells 1 or 3 apart are adjacent; those 2 or 4 apart are on a diagonal.
        beside = joined(9, [(a, b) for a, b in grid(3, 3).in_a_row(2) if b - a in (1, 3)])

        def slides(self, men, extra):
            return [(0, 1, self.beside)]     # kind, extra after the move, cells in reach

The program calls `slides` once for each section, with its men of each kind and its *extra*, as in `placements`. The
extra is the number above the bits of the men (`number` in the code): all else that a position has, such as the player
to move. Each entry (kind, extra, reach) says: a man of this *kind* may slide from a cell to any empty cell that *reach*
has for it, as bits; then the position has this *extra*. If players are exchanged (`swap`), sections are for
the first player to move, and the other player's slides follow. Entries may lead to a later tier; `parents` ignores
these, because it lists parents within a tier only.

A slide may do more than move a man, as when it captures, or it may be forbidden. Then the game defines `slid(position,
cell)`, which is called for the position after the slide, or a `parents` of its own that leaves out some of
`super().parents(position)`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import accumulate, chain
from typing import Any

from retrograde.games.contract.game import RuleError, width_of
from retrograde.games.kinds.placed import Placed
from retrograde.games.kinds.placements import Order, Section, keys, reordered

__all__ = ["Sliding", "joined"]

Reach = tuple[int, ...]
"""For each cell, the cells that a man may reach from it, as bits."""
Sections = Mapping[tuple[tuple[int, ...], int], Section]
"""Sections by their men and number."""


class Sliding(Placed):
    """Base class for games that declare `placements` and `slides`; the numbering and `parents` follow."""

    def slides(self, men, number):
        """Return how men slide in a section: tuples of kind, extra afterwards, and the cells in reach of each cell."""
        raise RuleError(
            f"{type(self).__name__} needs slides(men, number), as retrograde.games.kinds.sliding shows them"
        )

    def slid(self, position, cell):
        """Return whether the man on a cell may have come there by a plain slide."""
        return True

    def parents(self, position):
        """Yield the positions of the same tier from which a man has slid to its cell."""
        # Step 1: find the section; entries for the second player to move are at odd indices.
        begins, number = self._slid_begins, position >> self._bits
        section = 2 * self._section(position) + (number & 1 if self._swaps else 0)
        if section < 0:  # NONE is -1, so this is below 0 for either player
            return
        taken = 0
        for kind in range(self._kinds):
            taken |= position >> kind * self._cells & self._full
        # Step 2: for each way to slide into this section, move each man of its kind back to each empty cell.
        for at in range(begins[section], begins[section + 1]):
            kind, before, reach = self._slid[at]
            targets = position >> kind * self._cells & self._full
            while targets:
                target = (targets & -targets).bit_length() - 1
                targets &= targets - 1
                sources = self._slid_from[reach][target] & ~taken
                if sources and not self.slid(position, target):
                    sources = 0
                while sources:
                    moved = 1 << target | sources & -sources
                    sources &= sources - 1
                    yield position ^ moved << kind * self._cells ^ (number ^ before) << self._bits

    # For people

    def draw_move(self, position, move):
        """Return the source and the target of a move `source * cells + target`; the source `cells`, the hand, is left
        out."""
        return tuple(cell for cell in divmod(move, self._cells) if cell < self._cells)

    # Tables

    @cached_property
    def _slides_back(self):
        """How men have slid within their tier: lists of (kind, number before, cells from which each cell is reached).

        The key says where the men are after the slide: twice the section's index in the tables of `Placed`, plus 1 if
        the second player is to move. Compiled rules cannot use this dict; `_slid` has the same as a tuple.
        """
        if width_of(self):
            raise RuleError(f"{type(self).__name__} has tuples for positions; slides are for those that are one int")
        sections = {(section.men, section.number): section for section in self._declared.sections}
        found: dict[int, list[tuple[int, int, Reach]]] = {}
        for section in sections.values():
            for kind, number, reach in slides_of(self, section):
                after = section_after(sections, self._declared.swap, section, number)
                # Slides to a later tier are no parents within the tier.
                if after.tier == section.tier:
                    # Sections are for the first player to move; `number` is 1 more if the second player is to move.
                    second, back = number - after.number, turned_round(reach)
                    place = 2 * self._place(after)
                    found.setdefault(place + second, []).append((kind, section.number, back))
                    # The same slide by the other player: with the kinds exchanged and the board turned.
                    if self._swaps:
                        other = self._swap[kind], section.number + 1, carried(back, self._declared.swap_order)
                        found.setdefault(place + 1 - second, []).append(other)
        if not found:
            raise RuleError(f"no slides of {type(self).__name__} stay in a tier; be a Placed game, with no slides")
        return found

    @cached_property
    def _slid_reaches(self):
        """All tables of cells in reach, each once, with its number."""
        reaches = (reach for ways in self._slides_back.values() for _, _, reach in ways)
        return {reach: at for at, reach in enumerate(dict.fromkeys(reaches))}

    @cached_property
    def _slid_from(self):
        return tuple(self._slid_reaches)

    @cached_property
    def _slid_begins(self):
        places = range(2 * keys(self._declared.sections))
        return tuple(accumulate((len(self._slides_back.get(place, ())) for place in places), initial=0))

    @cached_property
    def _slid(self):
        """The entries of `_slides_back` one after another: kind, number before, and the number of the table."""
        ways = chain(*(ways for _, ways in sorted(self._slides_back.items())))
        return tuple((kind, number, self._slid_reaches[reach]) for kind, number, reach in ways)


def slides_of(game: Any, section: Section) -> Iterator[tuple[int, int, Reach]]:
    """Yield the slides of a section for kinds that have men; raise RuleError if they make no sense."""
    declared, call = game.placements, f"slides({section.men}, {section.number})"
    given = game.slides(section.men, section.number)
    try:
        slides = [(int(kind), int(number), tuple(map(int, reach))) for kind, number, reach in given]
    except (TypeError, ValueError) as error:
        what = "(kind, number, cells in reach of each cell) for each way to slide"
        raise RuleError(f"{call} must give {what}") from error
    for kind, number, reach in slides:
        if not 0 <= kind < declared.kinds or number < 0:
            raise RuleError(f"{call} has kind {kind} and number {number}; there are {declared.kinds} kinds, from 0")
        if len(reach) != declared.cells or not all(0 <= cells < 1 << declared.cells for cells in reach):
            raise RuleError(f"{call} must have some of {declared.cells} cells as bits for each; it has {reach}")
        if any(carried(reach, order) != reach for order in declared.symmetries):
            raise RuleError(f"{call} are not the same by the symmetries of placements; mend one of the two")
        if section.men[kind]:
            yield kind, number, reach


def section_after(sections: Sections, swap: tuple[int, ...], section: Section, number: int) -> Section:
    """Return the section that a slide leads to, as the first player sees it; raise RuleError if there is none.

    *number* is the extra after the slide. With *swap*, it is odd if the second player is to move, and then the
    kinds of men are exchanged.
    """
    second = number & 1 if swap else 0
    men = tuple(section.men[kind] for kind in swap) if second else section.men
    after = sections.get((men, number - second))
    where = f"slides({section.men}, {section.number}) lead to {Section(0, men, number - second).name}"
    if after is None:
        raise RuleError(f"{where}, which placements do not have")
    if after.tier < section.tier:
        raise RuleError(f"{where}, which has tier {after.tier}, a lower one than {section.tier}")
    return after


def joined(cells: int, pairs: Iterable[Collection[int]]) -> Reach:
    """Return for each cell the cells that pairs join it to, as bits.

    >>> [bin(reach) for reach in joined(3, [(0, 1), (1, 2)])]
    ['0b10', '0b101', '0b10']
    """
    found = [0] * cells
    for one, other in pairs:
        found[one] |= 1 << other
        found[other] |= 1 << one
    return tuple(found)


@cache
def turned_round(reach: Reach) -> Reach:
    """Return for each cell the cells from which it is in reach.

    >>> turned_round((0b010, 0b100, 0b010))
    (0, 5, 2)
    """
    return tuple(sum((cells >> to & 1) << cell for cell, cells in enumerate(reach)) for to in range(len(reach)))


@cache
def carried(reach: Reach, order: Order) -> Reach:
    """Return a reach table with the cells, and the cells in reach of each, in another order."""
    return tuple(reordered(reach[cell], order) for cell in order)
