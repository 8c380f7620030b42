"""Games of men on cells, with a dense numbering made from a declaration; `placements.py` explains the numbering::

    from retrograde.games.kinds.placed import Placed, placements

    class Quixo(Placed):
        @cached_property
        def placements(self):
            return placements(16, [(x + o, (x, o)) for x in range(17) for o in range(17 - x)], grid(4, 4).symmetries)

From this follow `tiers`, `size`, `parts`, `tier`, `index`, `unindex`, `images` and `canonical`, compiled as rules are.
The game itself defines `generate_moves`, `do_move` and `primitive`, and `parents` if moves are easy to undo. If men
slide, `sliding.py` makes `parents` too.
"""

from bisect import bisect_left
from functools import cached_property
from itertools import accumulate, chain
from math import comb, prod
from typing import Any, ClassVar

from retrograde.games.contract.game import Game, RuleError
from retrograde.games.kinds.placements import NONE, Placements, as_bits, by_bytes, cells_of, keys, mosts, placements

__all__ = ["Placed", "as_bits", "placements"]


class Placed(Game):
    """Base class for games that declare `placements`; the numbering follows."""

    placements: ClassVar[Any]

    # The numbering. These methods, and those below, are also compiled.

    @property
    def tiers(self):
        """All tiers, ascending."""
        return tuple(sorted({section.tier for section in self._declared.sections}))

    def size(self, tier):
        """Return the number of slots of a tier."""
        return sum(slots for _, slots in self.parts(tier))

    def parts(self, tier):
        """Return the sections of a tier, named by the numbers of men, and their slots."""
        found = {section.name: 0 for section in self._declared.sections if section.tier == tier}
        for subsection in self._declared.subsections:
            if subsection.section.tier == tier:
                found[subsection.section.name] += subsection.slots
        return list(found.items())

    def tier(self, position):
        """Return the tier of a position; a negative number if it is in no section."""
        section = self._section(position)
        return NONE if section == NONE else self._section_tiers[section]

    def index(self, position):
        """Return the slot of a position, canonical or not; a negative number if it is in no section."""
        return self._found(position)[0]

    def multiplicity(self, position):
        """Return how many positions are equal to this one by symmetry, itself included; 0 if it is in no section."""
        fixing = self._found(position)[1]
        return self._symmetries // fixing * (1 + self._swaps) if fixing else 0

    def unindex(self, tier, i):
        """Return the canonical position of a slot, or a negative number for an empty slot."""
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
        position = self._numbers[subsection] << self._bits | self._placed(subsection, men, number - orbit * ways)
        # Step 3: if the pattern is symmetric in itself, several slots mean this position; only the least counts.
        if symmetric and self.index(position) != i:
            return NONE
        return self.canonical(position)

    def images(self, position):
        """Yield the positions equal by symmetry, and those with the players exchanged if the game declares `swap`."""
        for symmetry in range(self._symmetries):
            image = position >> self._bits << self._bits
            for kind in range(self._kinds):
                men = position >> kind * self._cells & self._full
                image |= self._moved(men, symmetry) << kind * self._cells
            yield image
            if self._swaps:
                yield self._exchanged(image)

    def canonical(self, position):
        """Return the least of the positions equal by symmetry. They are all in one tier."""
        if self._swaps and position >> self._bits & 1:
            position = self._exchanged(position)
        men, number = position & (1 << self._bits) - 1, position >> self._bits << self._bits
        # The men of the last kind are in the highest bits: move these first, and the others only if that may be least.
        highest = self._bits - self._cells
        least = men
        for symmetry in range(1, self._symmetries):
            image = self._moved(men >> highest, symmetry) << highest
            if image >> highest <= least >> highest:
                for kind in range(self._kinds - 1):
                    image |= self._moved(men >> kind * self._cells & self._full, symmetry) << kind * self._cells
                least = min(least, image)
        return number | least

    # Its parts

    def sides(self, position):
        """Return (the men of the player to move, the opponent's) of a game with two kinds.

        The lowest bit of the extra must be the turn.
        """
        turn = position >> self._bits & 1
        return position >> turn * self._cells & self._full, position >> (1 - turn) * self._cells & self._full

    def _exchanged(self, position):
        """Return a position with the players exchanged."""
        other = (position >> self._bits ^ 1) << self._bits
        for kind in range(self._kinds):
            men = position >> kind * self._cells & self._full
            other |= (self._moved(men, self._symmetries) if self._swap_turns else men) << self._swap[kind] * self._cells
        return other

    def _moved(self, men, symmetry):
        """Return men after a symmetry: *men* is a bit set of cells, looked up byte by byte."""
        moved = 0
        for byte in range(self._bytes):
            moved |= self._turned[symmetry][byte << 8 | men >> 8 * byte & 255]
        return moved

    def _section(self, position):
        """Return a position's index into the tables of sections, as the first player sees it; NONE for no section.

        The index is a mixed-radix number: the extra, then the count of men of each kind.
        """
        section, taken = position >> self._bits, 0  # at first the extra alone
        # With `swap`, the lowest bit of the extra is the turn. It is 0 in sections, whose men are the first player's.
        other = self._swaps and section & 1
        section -= other
        if section >= self._most_number:
            return NONE
        for kind in range(self._kinds):
            men = position >> (self._swap[kind] if other else kind) * self._cells & self._full
            if men & taken or men.bit_count() > self._most_men[kind]:
                return NONE
            taken |= men
            section = section * (self._most_men[kind] + 1) + men.bit_count()
        return section if self._section_tiers[section] >= 0 else NONE

    def _found(self, position):
        """Return (the slot of a position, the number of symmetries that fix it); (NONE, 0) if it is in no section."""
        section = self._section(position)
        if section == NONE:
            return NONE, 0
        if self._swaps and position >> self._bits & 1:
            position = self._exchanged(position)
        # Step 1: the patterns of the occupied key cells and side cells.
        occupied = self._all_men(position)
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

    def _occupied(self, subsection, number):
        """Return (the occupied key and side cells, whether they are symmetric in themselves) for an orbit's *number* in
        a subsection."""
        # Step 1: find the orbit on key cells, the last one that begins at or before the number.
        men = self._side_men[subsection]
        orbit, after = self._least_begins[self._key_men[subsection]], self._least_begins[self._key_men[subsection] + 1]
        begins = men * self._orbit_count
        while after - orbit > 1:
            middle = (orbit + after) // 2
            if self._begins[begins + middle] <= number:
                orbit = middle
            else:
                after = middle
        # Step 2: look up the pattern on side cells; its lowest bit says whether both are symmetric.
        number += (
            self._side_begins[self._least_sets[orbit] * (self._side_bits + 1) + men] - self._begins[begins + orbit]
        )
        return self._least[orbit] | self._side_leasts[number] >> 1, self._side_leasts[number] & 1

    def _all_men(self, position):
        """Return the occupied cells."""
        occupied = 0
        for kind in range(self._kinds):
            occupied |= position >> kind * self._cells & self._full
        return occupied

    def _rank(self, position, occupied, subsection, symmetry):
        """Return the rank within a subsection, after a symmetry. The other occupied cells count most, then each kind.
        *occupied* are all men of the position."""
        left = self._moved(occupied, symmetry)
        rank = self._choice(left & self._others, self._others)
        for kind in range(self._kinds - 1):
            men = self._moved(position >> kind * self._cells & self._full, symmetry)
            rank = rank * self._kind_ways[subsection * self._kinds + kind + 1] + self._choice(men, left)
            left ^= men
        return rank

    def _choice(self, men, free):
        """Return the number of *men*, on some of the *free* cells, among all sets of as many: {0, 1}, {0, 2}, {1, 2}, …
        (combinatorial number system)."""
        number = count = 0
        while men:
            lowest = men & -men
            count += 1
            number += self._binomials[(free & lowest - 1).bit_count() * (self._cells + 1) + count]
            men ^= lowest
        return number

    def _placed(self, subsection, men, rank):
        """Return the men of all kinds for a rank in a subsection; *men* are the occupied key and side cells. Undoes
        `_rank`."""
        at = subsection * self._kinds
        number = rank // self._later_ways[at]
        rank -= number * self._later_ways[at]
        left = men | self._chosen(number, self._other_men[subsection], self._others)
        position = 0
        for kind in range(self._kinds - 1):
            number = rank // self._later_ways[at + kind + 1]
            rank -= number * self._later_ways[at + kind + 1]
            men = self._chosen(number, self._men[at + kind], left)
            position |= men << kind * self._cells
            left ^= men
        return position | left << (self._kinds - 1) * self._cells

    def _chosen(self, number, count, free):
        """Return the set of *count* free cells that has this number; undoes `_choice`."""
        # Decide for each free cell, from the highest down, whether it is in the set; `place` cells are below it.
        men, place = 0, free.bit_count()
        while count:
            highest = 1 << free.bit_length() - 1
            free ^= highest
            place -= 1
            ways = self._binomials[place * (self._cells + 1) + count]
            there = ways <= number  # no branch: the processor could not predict it
            number -= ways * there
            count -= there
            men |= highest * there
        return men

    # Tables

    @cached_property
    def _declared(self):
        """The game's `placements`, checked for its type."""
        if not isinstance(declared := getattr(self, "placements", None), Placements):
            raise RuleError(f"{type(self).__name__} needs placements, as placements(…) of retrograde.games gives them")
        return declared

    @cached_property
    def _cells(self):
        return self._declared.cells

    @cached_property
    def _kinds(self):
        return self._declared.kinds

    @cached_property
    def _bits(self):
        return self._cells * self._kinds

    @cached_property
    def _full(self):
        return (1 << self._cells) - 1

    @cached_property
    def _bytes(self):
        return (self._cells + 7) // 8

    @cached_property
    def _others(self):
        """The cells that are neither key nor side cells, as bits."""
        return self._full ^ sum(1 << cell for cell in (*self._declared.key, *self._declared.side))

    @cached_property
    def _symmetries(self):
        return len(self._declared.symmetries)

    @cached_property
    def _swaps(self):
        return bool(self._declared.swap)

    @cached_property
    def _swap(self):
        return self._declared.swap or (0,)

    @cached_property
    def _swap_turns(self):
        return self._declared.swap_order != self._declared.symmetries[0]

    @cached_property
    def _turned(self):
        """For each symmetry, and last for the exchange of players: the image of each set of men on eight cells."""
        orders = *self._declared.symmetries, self._declared.swap_order
        return tuple(by_bytes(order, self._cells) for order in orders)

    @cached_property
    def _patterns(self):
        """The pattern on key cells of each set of men on eight cells."""
        return by_bytes(self._declared.key, self._cells)

    @cached_property
    def _side_patterns(self):
        """The pattern on side cells of each set of men on eight cells."""
        return by_bytes(self._declared.side, self._cells)

    @cached_property
    def _side_bits(self):
        return len(self._declared.side)

    @cached_property
    def _numbered_sets(self):
        """The number of each set of symmetries that make patterns least, those for key cells first; not for compiled
        rules."""
        declared = self._declared
        both = (symmetries for sides in declared.sides.values() for _, symmetries in sides)
        return {symmetries: number for number, symmetries in enumerate(dict.fromkeys((*declared.sides, *both)))}

    @cached_property
    def _set_bits(self):
        """The bits that hold the number of a set, below another number in one table entry."""
        return len(self._numbered_sets).bit_length()

    @cached_property
    def _orbits(self):
        """For each pattern on key cells, its orbit's number, fewer men first; in the low bits its set's number."""
        known = self._declared.orbits[1]
        return tuple(
            (self._least_begins[pattern.bit_count()] + known[pattern][0]) << self._set_bits
            | self._numbered_sets[known[pattern][1]]
            for pattern in range(len(known))
        )

    @cached_property
    def _sides(self):
        """By set and pattern on side cells, the number of its least image, with the set that remains in the low bits.

        Least images are numbered among those with as many men.
        """
        return tuple(
            self._declared.side_leasts[symmetries][least.bit_count()].index(least) << self._set_bits
            | self._numbered_sets[left]
            for symmetries, sides in self._declared.sides.items()
            for least, left in sides
        )

    @cached_property
    def _sets(self):
        return tuple(chain(*self._numbered_sets))

    @cached_property
    def _set_begins(self):
        return (0, *accumulate(map(len, self._numbered_sets)))

    @cached_property
    def _least(self):
        """For each orbit, the cells of its least pattern, as bits."""
        return tuple(cells_of(pattern, self._declared.key) for pattern in chain(*self._declared.orbits[0]))

    @cached_property
    def _least_sets(self):
        """For each orbit, the set of its least pattern."""
        least, known = self._declared.orbits
        return tuple(self._numbered_sets[known[pattern][1]] for pattern in chain(*least))

    @cached_property
    def _least_begins(self):
        return (0, *accumulate(map(len, self._declared.orbits[0])))

    @cached_property
    def _orbit_count(self):
        return self._least_begins[-1]

    @cached_property
    def _begins(self):
        """For each number of men on side cells and each orbit, the orbit's first number."""
        return tuple(chain(*(begins[:-1] for by_key in self._declared.begins for begins in by_key)))

    @cached_property
    def _side_leasts(self):
        """The least patterns on side cells, by set, number of men and number: `cells << 1 | (key and side are
        symmetric)`."""
        declared = self._declared
        return tuple(
            2 * cells_of(pattern, declared.side) + (len(declared.sides[symmetries][pattern][1]) > 1)
            for symmetries, leasts in declared.side_leasts.items()
            for pattern in chain(*leasts)
        )

    @cached_property
    def _side_begins(self):
        """For each set and number of men on side cells, where the entries of `_side_leasts` begin."""
        counts = (len(some) for leasts in self._declared.side_leasts.values() for some in leasts)
        return (0, *accumulate(counts))

    @cached_property
    def _most_men(self):
        return mosts(self._declared.sections)

    @cached_property
    def _most_number(self):
        return 1 + max(section.number for section in self._declared.sections)

    @cached_property
    def _section_tiers(self):
        """The tier of each section, or NONE."""
        return self._by_section({self._place(section): section.tier for section in self._declared.sections})

    @cached_property
    def _first_subsections(self):
        """For each section, the number of its first subsection minus the men on key cells there. Plus a position's key
        men, it is its subsection."""
        subsections = list(enumerate(self._declared.subsections))
        return self._by_section(
            {self._place(subsection.section): number - subsection.key_men for number, subsection in subsections}
        )

    def _place(self, section):
        """Return the index of a section in the tables, a mixed-radix number: its number, then its men of each kind."""
        place = section.number
        for men, most in zip(section.men, self._most_men, strict=True):
            place = place * (most + 1) + men
        return place

    def _by_section(self, found):
        """Return the values of a dict by the index of the section (see `_place`), NONE for missing ones."""
        return tuple(found.get(at, NONE) for at in range(keys(self._declared.sections)))

    @cached_property
    def _tier_begins(self):
        """For each tier, its first subsection. The last entry is the number of subsections."""
        tiers = [subsection.section.tier for subsection in self._declared.subsections]
        return tuple(bisect_left(tiers, tier) for tier in range(tiers[-1] + 2))

    @cached_property
    def _starts(self):
        return tuple(subsection.start for subsection in self._declared.subsections)

    @cached_property
    def _ways(self):
        """For each subsection, the number of ways to place its men once the key and side cells are known."""
        return tuple(prod(subsection.ways) for subsection in self._declared.subsections)

    @cached_property
    def _kind_ways(self):
        """For each subsection, the numbers of ways to occupy other cells and to choose each kind but the last."""
        return tuple(chain(*(subsection.ways for subsection in self._declared.subsections)))

    @cached_property
    def _later_ways(self):
        """For each subsection and each of these, the product of all later ones."""
        ways = (subsection.ways for subsection in self._declared.subsections)
        return tuple(chain(*([prod(kinds[at + 1 :]) for at in range(len(kinds))] for kinds in ways)))

    @cached_property
    def _numbers(self):
        return tuple(subsection.section.number for subsection in self._declared.subsections)

    @cached_property
    def _men(self):
        """For each subsection, the numbers of men of each kind."""
        return tuple(chain(*(subsection.section.men for subsection in self._declared.subsections)))

    @cached_property
    def _other_men(self):
        """For each subsection, the number of men that are not on key or side cells."""
        return tuple(
            sum(subsection.section.men) - subsection.key_men - subsection.side_men
            for subsection in self._declared.subsections
        )

    @cached_property
    def _key_men(self):
        return tuple(subsection.key_men for subsection in self._declared.subsections)

    @cached_property
    def _side_men(self):
        return tuple(subsection.side_men for subsection in self._declared.subsections)

    @cached_property
    def _binomials(self):
        return tuple(comb(cells, men) for cells in range(self._cells + 1) for men in range(self._cells + 1))
