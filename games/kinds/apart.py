"""Games of men on cells, like `placed.py`, with tuples as positions: for boards that need more than 62 bits.

A game declares what may stand on a board of up to 62 cells by `apart`, as it would by `placements`. A position is the
extra (`number`), and then a bit set of cells for each kind of men::

    from retrograde.games.kinds.apart import PlacedApart, apart

    class FoxAndHounds(PlacedApart):
        @cached_property
        def placements(self):
            return apart(32, [(0, (4, 1), fox_to_move) for fox_to_move in (0, 1)])

    (number, men of the first kind, men of the second kind, …)

Slots have the same numbers as in `Placed`. Rules unpack a position, `number, hounds, fox = position`, and build a new
one, `1 - number, hounds, fox`. With `bits` and `to_move`, texts and pictures follow as well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from retrograde.games.contract.declared import places, word
from retrograde.games.contract.game import POSITION_BITS, RuleError, filled, replaced
from retrograde.games.kinds.placed import Placed
from retrograde.games.kinds.placements import NONE, Placements, expect_sections, placements, section_of

__all__ = ["PlacedApart", "apart"]


class PlacedApart(Placed):
    """Base class for games that declare `placements` by `apart`; the numbering follows."""

    # The numbering: the same steps as in `Placed`, on tuples

    def unindex(self, tier, i):
        """Return the canonical position of a slot, or a tuple of negative numbers for an empty slot."""
        # Step 1: find the subsection, the last one of the tier that begins at or before the slot.
        subsection, after = self._tier_begins[tier], self._tier_begins[tier + 1]
        while after - subsection > 1:
            middle = (subsection + after) // 2
            if self._starts[middle] <= i:
                subsection = middle
            else:
                after = middle
        # Step 2: split the number into the occupied cells and who stands where.
        ways, number = self._ways[subsection], i - self._starts[subsection]
        orbit = number // ways
        men, symmetric = self._occupied(subsection, orbit)
        position = replaced(self._placed(subsection, men, number - orbit * ways), 0, self._numbers[subsection])
        # Step 3: if the pattern is symmetric in itself, several slots mean this position; only the least counts.
        if symmetric and self.index(position) != i:
            return filled(self, NONE)
        return self.canonical(position)

    def images(self, position):
        """Yield the positions equal by symmetry, and those with the players exchanged if the game declares `swap`."""
        for symmetry in range(self._symmetries):
            image = self._turned_round(position, symmetry)
            yield image
            if self._swaps:
                yield self._exchanged(image)

    def canonical(self, position):
        """Return the least of the positions equal by symmetry. They are all in one tier."""
        least = self._exchanged(position) if self._swaps and position[0] & 1 else position
        first = least
        # Tuples compare the men of the first kind before those of others: move the others only if these may be least.
        for symmetry in range(1, self._symmetries):
            if self._moved(first[1], symmetry) <= least[1]:
                image = self._turned_round(first, symmetry)
                if image < least:
                    least = image
        return least

    # Its parts

    def _turned_round(self, position, symmetry):
        """Return a position after a symmetry."""
        image = position
        for kind in range(1, self._kinds + 1):
            image = replaced(image, kind, self._moved(position[kind], symmetry))
        return image

    def _exchanged(self, position):
        """Return a position with the players exchanged."""
        other = replaced(position, 0, position[0] ^ 1)
        for kind in range(self._kinds):
            men = position[kind + 1]
            turned = self._moved(men, self._symmetries) if self._swap_turns else men
            other = replaced(other, self._swap[kind] + 1, turned)
        return other

    def _section(self, position):
        """Return a position's index into the tables of sections, as the first player sees it; NONE for no section."""
        section, taken = position[0], 0  # at first the extra alone
        other = self._swaps and section & 1  # whether the second player is to move
        section -= other
        if section >= self._most_number:
            return NONE
        for kind in range(self._kinds):
            men = position[1 + (self._swap[kind] if other else kind)]
            if men & taken or men & ~self._full or men.bit_count() > self._most_men[kind]:
                return NONE
            taken |= men
            section = section * (self._most_men[kind] + 1) + men.bit_count()
        return section if self._section_tiers[section] >= 0 else NONE

    def _found(self, position):
        """Return (the slot of a position, the number of symmetries that fix it); (NONE, 0) if it is in no section."""
        section = self._section(position)
        if section == NONE:
            return NONE, 0
        if self._swaps and position[0] & 1:
            position = self._exchanged(position)
        # Step 1: the patterns of the occupied key cells and side cells.
        occupied = 0
        for kind in range(1, self._kinds + 1):
            occupied |= position[kind]
        pattern = side = 0
        for byte in range(self._bytes):
            pattern |= self._patterns[byte << 8 | occupied >> 8 * byte & 255]
            side |= self._side_patterns[byte << 8 | occupied >> 8 * byte & 255]
        # Step 2: the number of both orbits together; `_set_bits` low bits hold the set of symmetries that remain.
        subsection = self._first_subsections[section] + pattern.bit_count()
        orbit = self._orbits[pattern]
        number = self._begins[side.bit_count() * self._orbit_count + (orbit >> self._set_bits)]
        side = self._sides[(orbit & (1 << self._set_bits) - 1) << self._side_bits | side]
        number += side >> self._set_bits
        which = side & (1 << self._set_bits) - 1
        # Step 3: the least rank of the men under the remaining symmetries, and how many of these reach it.
        ways = self._ways[subsection]
        best, count = ways, 0
        for at in range(self._set_begins[which], self._set_begins[which + 1]):
            rank = self._rank(position, occupied, subsection, self._sets[at])
            count = 1 if rank < best else count + (rank == best)
            best = min(best, rank)
        return self._starts[subsection] + number * ways + best, count

    def _rank(self, position, occupied, subsection, symmetry):
        """Return the rank within a subsection, after a symmetry. The other occupied cells count most, then each
        kind."""
        left = self._moved(occupied, symmetry)
        rank = self._choice(left & self._others, self._others)
        for kind in range(self._kinds - 1):
            men = self._moved(position[1 + kind], symmetry)
            rank = rank * self._kind_ways[subsection * self._kinds + kind + 1] + self._choice(men, left)
            left ^= men
        return rank

    def _placed(self, subsection, men, rank):
        """Return the position, with the number 0, of a rank in a subsection. *men* are the occupied key and side
        cells. Undoes `_rank`."""
        # The digits of the rank, the most significant first: the other occupied cells, then each kind but the last.
        at = subsection * self._kinds
        number = rank // self._later_ways[at]
        rank -= number * self._later_ways[at]
        left = men | self._chosen(number, self._other_men[subsection], self._others)
        position = filled(self, 0)
        for kind in range(self._kinds - 1):
            number = rank // self._later_ways[at + kind + 1]
            rank -= number * self._later_ways[at + kind + 1]
            men = self._chosen(number, self._men[at + kind], left)
            position = replaced(position, 1 + kind, men)
            left ^= men
        return replaced(position, self._kinds, left)

    @cached_property
    def _ints(self):
        """The number of ints in a position."""
        return 1 + self._kinds

    # For people

    def signs(self, position):
        """Return the sign of each cell, read from the bits of a position."""
        signs = ["."] * places(self)
        for sign, men in zip(word(self, "bits"), position[1:], strict=True):
            signs = [sign if men >> cell & 1 else before for cell, before in enumerate(signs)]
        return "".join(signs)

    def position_of(self, signs, turn):
        """Return the position with these signs and this player to move."""
        men = (sum(1 << cell for cell, other in enumerate(signs) if other == sign) for sign in word(self, "bits"))
        return max(0, word(self, "to_move").find(turn)), *men

    def draw_turn(self, position):
        """Return the sign of the player to move."""
        to_move = word(self, "to_move")
        return to_move[position[0] % len(to_move)] if to_move else super().draw_turn(position)


def apart(
    cells: int,
    sections: Iterable[Sequence[object]],
    symmetries: Iterable[Sequence[int]] = (),
    swap: Sequence[int] = (),
    swap_order: Sequence[int] = (),
) -> Placements:
    """Like `placements`, for positions that are tuples, on up to 62 cells; raise RuleError for a wrong declaration."""
    if not 1 <= cells <= POSITION_BITS:
        raise RuleError(f"a board of apart(…) has 1 to {POSITION_BITS} cells, and not {cells}")
    board = placements(cells, [(0, (0,))], symmetries, (), swap_order)  # checks the cells and their orders
    listed = tuple(sorted(section_of(cells, section) for section in sections))
    if listed:
        expect_sections(1, listed, tuple(swap))  # one cell, so that the check for 62 bits in all passes
    kinds = len(listed[0].men) if listed else 1
    placements(1, [(0, (0,) * kinds)] if listed else [], (), swap)  # only checks `swap`, and that there are sections
    return replace(board, sections=listed, swap=tuple(swap))
