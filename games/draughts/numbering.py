"""A dense numbering of positions. A slot stands for a position with White to move and the one with colours exchanged.

    men of both sides             kings of the mover       kings of the other
    ways to have that advance  ×  C(squares - men, k)   ×  C(squares - men - k, l)

The slots of a tier are in two parts: first those with the stronger side, named first, to move, then those with the
other side to move. If both sides are alike there is one part.

Placements of men are numbered like words in a dictionary, from the first square on: an empty square comes before a man
of the mover's, and that before a man of the other's. So the rank is a sum over men, of the number of ways in which the
remaining men could stand beyond that man's square. Kings are numbered on the remaining squares, in the combinatorial
number system.

If a side has nothing left, the other side has just moved and won. All slots of such a tier are losses.
"""

from functools import cache, cached_property
from math import comb

from retrograde.games.draughts import sides
from retrograde.games.draughts.board import COLOUR, free, number, packed, unpacked
from retrograde.games.draughts.moves import Moves
from retrograde.games.draughts.sides import ADVANCE, BOTH, KINGS, MEN, SPAN, ZERO, most_pieces


class Numbering(Moves):
    """The numbering of positions: `index` and `unindex` are inverse, and every slot has one position."""

    @cached_property
    def tiers(self):
        """The tiers with enough squares for their men."""
        return tuple(tier for tier in sides.tiers_from(self.pieces, self.rows) if self.size(tier))

    @property
    def family(self):
        return type(self)("KvK", self.rows)

    @cached_property
    def men_table(self):
        """The table of `ways_of_men`."""
        return ways_of_men(self.rows)

    @cached_property
    def choices(self):
        """Binomial coefficients: `n` choose `k` at `33 * k + n`."""
        return tuple(comb(n, k) for k in range(most_pieces(self.rows) + 1) for n in range(33))

    # Sizes

    def ways(self, first, own, other, advance):
        """Return the number of placements of *own* and *other* men from square *first* on, with this *advance*."""
        return self.men_table[self.ways_at(own, other, advance) + first]

    def ways_at(self, own, other, advance):
        """Return the index in `men_table` of the ways to place these men from square 0 on; those from later squares
        follow. *advance* is the sum of rows that the men have moved."""
        return (place_of_men(own, other) * ADVANCES + advance + LEAST) * (self.squares + 1)

    def slots(self, own, other, own_kings, other_kings, advance):
        """Return the number of positions with these numbers of men and kings, the mover's and the other's."""
        left = self.squares - own - other
        if own_kings + other_kings > left:
            return 0
        return (
            self.ways(0, own, other, advance)
            * self.choose(left, own_kings)
            * self.choose(left - own_kings, other_kings)
        )

    def parts(self, tier):
        """Return the parts of a tier as (name, slots): by the side to move, unless both sides are alike."""
        stronger, weaker = sides.sides_of(tier)
        orders = [(stronger, weaker)] * (sum(weaker) > 0) + [(weaker, stronger)] * (stronger != weaker)
        return [
            (sides.part_name(own, other), self.slots(own[1], other[1], own[0], other[0], tier & ADVANCE))
            for own, other in orders
        ]

    def size(self, tier):
        """Return the number of slots of a tier."""
        return sum(slots for _, slots in self.parts(tier))

    # Positions and slots

    def canonical(self, position):
        """Return the position with White to move."""
        return position & ((1 << COLOUR) - 1)

    def images(self, position):
        """Yield the position, and the one with colours exchanged."""
        yield position
        yield position ^ (1 << COLOUR)

    def multiplicity(self, position):
        """Return the number of images."""
        return 2

    def advance(self, own, other):
        """Return the advance of the men: the sum of their rows, counted by each side from its own first row."""
        return self.sum_of_rows(own) + (self.rows - 1) * other.bit_count() - self.sum_of_rows(other)

    def sum_of_rows(self, squares):
        """Return the sum of the rows of a set of squares."""
        # Rows are numbers of three bits: count each bit apart.
        ones, twos, fours = squares & self.odd, squares & self.twos, squares & self.fours
        return ones.bit_count() + 2 * twos.bit_count() + 4 * fours.bit_count()

    def tier(self, position):
        """Return the tier by the pieces of both sides and the advance of their men."""
        own, other, kings = unpacked(position)
        return self.tier_of(own, other, kings)

    def tier_of(self, own, other, kings):
        """Return the tier of a position with these pieces of the player to move, those of the other, and kings."""
        own_count, other_count = own.bit_count(), other.bit_count()
        own_kings, other_kings = (own & kings).bit_count(), (other & kings).bit_count()
        first_count, first_kings = own_count, own_kings
        if is_weaker(own_count, own_kings, other_count, other_kings):
            first_count, first_kings = other_count, other_kings
        both = SPAN * (ZERO - own_count - other_count) + own_kings + other_kings
        advance = self.advance(own & ~kings, other & ~kings)
        return (both << BOTH) | (first_kings << KINGS) | ((first_count - first_kings) << MEN) | advance

    def index(self, position):
        """Return the slot of a position, with either colour to move."""
        own, other, kings = unpacked(position)
        return self.slot_of(own, other, kings)

    def slot_of(self, own, other, kings):
        """Return the slot of a position with these pieces of the player to move, those of the other, and kings."""
        own_kings, other_kings = (own & kings).bit_count(), (other & kings).bit_count()
        own_men, other_men = own.bit_count() - own_kings, other.bit_count() - other_kings
        advance = self.advance(own & ~kings, other & ~kings)
        left = self.all ^ ((own | other) & ~kings)
        # The slot is a number in mixed radix: men, kings of the mover, kings of the other.
        slot = self.rank_of_men(own & ~kings, other & ~kings, own_men, other_men, advance)
        slot = slot * self.choose(left.bit_count(), own_kings) + self.rank_of_kings(own & kings, left)
        left ^= own & kings
        slot = slot * self.choose(left.bit_count(), other_kings) + self.rank_of_kings(other & kings, left)
        if own and is_weaker(own_men + own_kings, own_kings, other_men + other_kings, other_kings):
            slot += self.slots(other_men, own_men, other_kings, own_kings, advance)
        return slot

    def unindex(self, tier, i):
        """Return the position of a slot, with White to move."""
        # Step 1: read the numbers of pieces from the tier (its fields are drawn in `sides.py`).
        kings = (tier >> BOTH) % SPAN
        men = ZERO - (tier >> BOTH) // SPAN - kings
        own_kings, own_men, advance = (tier >> KINGS) & 15, (tier >> MEN) & 15, tier & ADVANCE
        other_kings, other_men = kings - own_kings, men - own_men
        # Step 2: in the first part the stronger side moves, in the second one the weaker side. If the weaker side has
        # nothing left there is no first part; if both sides are alike, no second one.
        first = self.slots(own_men, other_men, own_kings, other_kings, advance) if other_men + other_kings else 0
        if i >= first:
            i -= first
            own_kings, own_men, other_kings, other_men = other_kings, other_men, own_kings, own_men
        # Step 3: read men, kings of the mover and kings of the other from the slot, a number in mixed radix.
        left = self.squares - men
        of_own, of_other = self.choose(left, own_kings), self.choose(left - own_kings, other_kings)
        own, other = self.placed_men(i // of_other // of_own, own_men, other_men, advance)
        own_squares = self.placed_kings(i // of_other % of_own, own_kings, own | other)
        other_squares = self.placed_kings(i % of_other, other_kings, own | other | own_squares)
        return packed(0, own | own_squares, other | other_squares, own_squares | other_squares)

    # Men

    def rank_of_men(self, own, other, own_count, other_count, advance):
        """Return the rank of a placement of men among those with the same numbers of men and the same advance."""
        rank, left = 0, own | other
        while left:
            square = left & -left
            left ^= square
            at = number(square)
            row = at // self.width
            # Placements with this square empty come first, then those with a man of the mover's on it.
            rank += self.ways(at + 1, own_count, other_count, advance)
            if other & square:
                rank += self.ways_with_own(at, own_count, other_count, advance)
                other_count -= 1
                advance -= self.rows - 1 - row
            else:
                own_count -= 1
                advance -= row
        return rank

    def ways_with_own(self, at, own, other, advance):
        """Return the number of placements on the squares from *at* on, with a man of the mover's on *at*."""
        row = at // self.width
        if own == 0 or row == self.rows - 1:
            return 0
        return self.ways(at + 1, own - 1, other, advance - row)

    def placed_men(self, rank, own_count, other_count, advance):
        """Return the squares of the men in the placement of this rank, the mover's and the other's."""
        own = other = at = 0
        while own_count + other_count:
            # Placements with an empty square come first: the next man is where they are no more than the rank.
            ways = self.ways_at(own_count, other_count, advance)
            while rank < self.men_table[ways + at + 1]:
                at += 1
            rank -= self.men_table[ways + at + 1]
            row = at // self.width
            before = self.ways_with_own(at, own_count, other_count, advance)
            if rank < before:
                own |= 1 << at
                own_count -= 1
                advance -= row
            else:
                rank -= before
                other |= 1 << at
                other_count -= 1
                advance -= self.rows - 1 - row
            at += 1
        return own, other

    # Kings

    def choose(self, squares, kings):
        """Return the number of placements of kings on *squares* squares."""
        return self.choices[33 * kings + squares]

    def rank_of_kings(self, kings, left):
        """Return the rank of a placement of kings on the squares *left*. It is the sum over kings of `n` choose `k`:
        king number k, from 1, has n of these squares below it."""
        rank, count = 0, 0
        while kings:
            square = kings & -kings
            kings ^= square
            count += 1
            rank += self.choose((left & (square - 1)).bit_count(), count)
        return rank

    def placed_kings(self, rank, count, taken):
        """Return the squares of kings in the placement of this rank on the squares that are not *taken*. The highest
        king comes first; this inverts `rank_of_kings`."""
        kings, place = 0, self.squares - taken.bit_count()
        while count > 1:
            place -= 1
            while self.choose(place, count) > rank:
                place -= 1
            rank -= self.choose(place, count)
            kings |= free(place, taken)
            count -= 1
        return kings | free(rank, taken) if count else kings  # a single king's place is the rank


def is_weaker(own, own_kings, other, other_kings):
    """Return whether the first of two sides is weaker, from their numbers of pieces and of kings among them."""
    return own < other or (own == other and own_kings < other_kings)


# Tables


ADVANCES, LEAST = 64, 8
"""The table of men has so many advances for each pair of numbers of men, the first of them 8 less than 0. Ways with an
advance that no placement has are 0."""


def place_of_men(own, other):
    """Return the number of a pair of numbers of men, by their sum: 0 and 0, 0 and 1, 1 and 0, 0 and 2, …"""
    return (own + other) * (own + other + 1) // 2 + own


@cache
def ways_of_men(rows: int) -> tuple[int, ...]:
    """Return the number of placements of men from each square on, by numbers of men, then advance, then square."""
    width, most = rows // 2, most_pieces(rows)
    squares = rows * width
    nothing = [0] * ADVANCES
    found: dict[tuple[int, int], list[list[int]]] = {}
    table: list[int] = []
    for men in range(most + 1):
        for own in range(men + 1):
            # Recursion from the last square down: the square is empty, or has a man of the mover's, or one of the
            # other's. Either man takes its share of the advance.
            ways = found[own, men - own] = [nothing] * (squares + 1)
            ways[squares] = [int(men == 0 and advance == LEAST) for advance in range(ADVANCES)]
            for first in reversed(range(squares)):
                row = first // width
                ways[first] = ways[first + 1]
                for before, share in (((own - 1, men - own), row), ((own, men - own - 1), rows - 1 - row)):
                    if before in found and share < rows - 1:  # no man stands on the row where it is crowned
                        rest = nothing[:share] + found[before][first + 1]
                        ways[first] = [one + other for one, other in zip(ways[first], rest, strict=False)]
            table += [ways[first][advance] for advance in range(ADVANCES) for first in range(squares + 1)]
    return tuple(table)
