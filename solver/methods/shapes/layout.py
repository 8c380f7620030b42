"""Prepares the arrays that the compiled loops need for a board and for each section of a tier.

A *shape* is the set of occupied cells, a bit for each. Its *row* is its number among the shapes with as many men.
Shapes that are equal by symmetry share one. Rows are in the order of `games/kinds/placements.py`: by the men on *key
cells*, then by the pattern on these, then by the pattern on the other cells, the *side cells*.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import comb
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.kinds.placements import NONE, Section
from retrograde.games.kinds.steps import Steps
from retrograde.solver.methods.shapes.fit import MOST_CELLS, MOST_PUSHES, After, NotShaped, sections_after
from retrograde.solver.methods.shapes.kernels import Board, SectionArrays
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.values.score import encode

HALF = (MOST_CELLS + 1) // 2
"""The most men in half a colouring."""
COUNTS = np.array([pattern.bit_count() for pattern in range(1 << HALF)], np.int64)
"""The number of ones of each pattern of half a colouring."""


@lru_cache(4)
def board_of(game: Any) -> Board:
    """Return the tables that give a shape its row and its images."""
    declared, cells = game.placements, game.placements.cells
    images = np.array(game._turned[: len(declared.symmetries)], np.int64)
    # Step 1: the image of each cell. `images` has 256 entries for each eight cells; that of a single man is one bit.
    bits = np.array([images[:, ((cell // 8) << 8) | (1 << (cell % 8))] for cell in range(cells)]).T
    # Step 2: where the rows begin, by the men on all cells and on key cells.
    key_cells, side_cells = len(declared.key), len(declared.side)
    row_begins = np.zeros((cells + 1, key_cells + 1), np.int64)
    for men in range(cells + 1):
        row = 0
        for key_men in range(max(0, men - side_cells), min(men, key_cells) + 1):
            row_begins[men, key_men] = row
            *_, shapes = declared.begins[men - key_men][key_men]  # the last entry is their number
            row += shapes

    # Step 3: the tables by which the rules number positions, as arrays.
    def table(numbers: Any) -> Array:
        return np.array(numbers, np.int64)

    return Board(
        images=images,
        cell_images=np.round(np.log2(bits)).astype(np.int64),
        patterns=table(game._patterns),
        side_patterns=table(game._side_patterns),
        orbits=table(game._orbits),
        begins=table(game._begins),
        sides=table(game._sides),
        sets=table(game._sets),
        set_begins=table(game._set_begins),
        row_begins=row_begins,
        orbit_count=game._orbit_count,
        set_bits=game._set_bits,
        side_bits=game._side_bits,
    )


@lru_cache(4)
def shapes_of(game: Any, men: int) -> Array:
    """Return the shapes with *men* men by row: of those that are equal by symmetry the least."""
    orbit_begins, side_cells = game._least_begins, game._side_bits
    key_cells = len(orbit_begins) - 2  # a begin for 0, 1, … men on all key cells, and the end
    found = [np.empty(0, np.int64)]
    side_shapes = np.array(game._side_leasts, np.int64) >> 1  # the lowest bit is a flag
    for key_men in range(max(0, men - side_cells), min(men, key_cells) + 1):
        # A shape is the least pattern of an orbit on key cells, with a least pattern on side cells under the symmetries
        # that the former leaves. `_side_begins` has an entry for each set of symmetries and number of men.
        for orbit in range(orbit_begins[key_men], orbit_begins[key_men + 1]):
            i = game._least_sets[orbit] * (side_cells + 1) + men - key_men
            found.append(game._least[orbit] | side_shapes[game._side_begins[i] : game._side_begins[i + 1]])
    return np.concatenate(found)


@lru_cache(32)
def masks_of(men: int, own: int) -> Array:
    """Return the colourings of *men* men, *own* of them the mover's, ascending: 0b011, 0b101, 0b110 for 3 and 2."""
    half = (men + 1) // 2
    ones = COUNTS.astype(np.uint8)  # a byte each, so that the sums below take less memory
    counts = (ones[: 1 << (men - half), None] + ones[None, : 1 << half]).ravel()  # upper half, lower half
    return np.flatnonzero(counts == own).astype(np.int32)


@lru_cache(32)
def ranks_of_uppers(men: int) -> Array:
    """Return int64[own men, upper half]: what the upper half of a colouring of *men* men adds to the lower half's rank.

    A 1 at bit p, the k-th one from the lowest bit of the whole colouring, adds C(p, k). How many ones the lower half
    has follows from the number of own men.

    >>> ranks_of_uppers(3)
    array([[0, 2],
           [0, 2],
           [0, 1],
           [0, 0]])
    """
    half = (men + 1) // 2
    added = np.zeros((men + 1, 1 << (men - half)), np.int64)  # by the number of own men in the lower half
    for bit in range(men - half):
        # Patterns with this highest bit are those without it, in the same order, each with one more 1.
        width = 1 << bit
        for below in range(men + 1):
            binomials = np.array([comb(half + bit, below + 1 + more) for more in range(bit + 1)])
            added[below, width : 2 * width] = added[below, :width] + binomials[COUNTS[:width]]
    patterns = np.arange(1 << (men - half))
    # A pattern with more ones than own men occurs in no colouring: its entry is arbitrary.
    return np.array([added[np.maximum(own - COUNTS[patterns], 0), patterns] for own in range(men + 1)])


@lru_cache(1)
def ranks_of_lowers() -> Array:
    """Return int64[2**HALF]: the rank of each pattern of a lower half among the patterns with the same number of ones.

    The ranks of 0b011, 0b101 and 0b110 are 0, 1 and 2. A 1 at bit p, the k-th one from the lowest bit, adds C(p, k).
    """
    ranks = np.zeros(1 << HALF, np.int64)
    for bit in range(HALF):
        # Patterns with this highest bit are those without it, in the same order, each with one more 1.
        width = 1 << bit
        binomials = np.array([comb(bit, ones_below + 1) for ones_below in range(bit + 1)])
        ranks[width : 2 * width] = ranks[:width] + binomials[COUNTS[:width]]
    return ranks


@lru_cache(32)
def ranks_around(men: int) -> Array:
    """Return int64[3, own men, upper half]: `ranks_of_uppers` for a man less, for as many men, and for a man more. The
    smaller tables are padded with zeros."""
    tables = [
        ranks_of_uppers(number) if number >= 0 else np.zeros((1, 1), np.int64) for number in range(men - 1, men + 2)
    ]
    stacked = np.zeros((3, men + 2, tables[-1].shape[1]), np.int64)  # the last table is the largest
    for i, ranks in enumerate(tables):
        stacked[i, : ranks.shape[0], : ranks.shape[1]] = ranks
    return stacked


def moves_of(steps: Steps, cells: int) -> tuple[Array, Array]:
    """Return (moves of a section, the orders that they need), as `SectionArrays` describes both."""
    unmoved = tuple(range(cells))
    orders = {unmoved: 0}
    moves = [(NONE, cell, 1 << cell, 0, NONE) for cell in range(cells) if steps.drops >> cell & 1]
    for source, reach in enumerate(steps.slides):
        moves += [(source, target, 1 << target, 0, NONE) for target in range(cells) if reach >> target & 1]
    moves += [(source, target, 1 << target, 0, over) for source, over, target in steps.leaps]
    for source, target, goes in steps.pushes:
        # NONE in front tells a push from order 0, that of slides, even if it pushes nobody.
        order = orders.setdefault((NONE, *goes), len(orders))
        # The man on the source goes to the target or, if the source is empty, a new man does.
        moves += [(source, target, 0, order, NONE), (NONE, target, 1 << source, order, NONE)]
    tables = [order[-cells:] for order in orders]
    return np.array(moves, np.int64).reshape(-1, 5), np.array(tables, np.int64)


def sections_of(
    game: Any, tier: int, begin_of: Callable[[int], int], bits: int
) -> Iterator[tuple[Section, Steps, After, SectionArrays]]:
    """Yield each section of a tier, with its steps, the sections after it, and its arrays for the loops.

    *begin_of* returns the first slot of a tier, *bits* are the bits of plies in a score. Raises NotShaped if the steps
    do not fit together.
    """
    starts = {}
    for part in reversed(game.placements.subsections):  # the first subsection of a section comes last, and stays
        starts[part.section] = part.start
    cells = game.placements.cells
    for section in game.placements.sections:
        if section.tier != tier:
            continue
        steps = game.section_steps(section.men, section.number)
        if not isinstance(steps, Steps):
            raise NotShaped(f"section_steps({section.men}, {section.number}) gives no Steps")
        if len(steps.pushes) > MOST_PUSHES or sum(map(bool, (steps.pushes, steps.mills, steps.leaps))) > 1:
            raise NotShaped("pushes are too many, or there are mills or leaps as well")
        after = sections_after(game, section, steps)
        bases = [NONE if later is None else begin_of(later.tier) + starts[later] for later in after]
        men, swap = sum(section.men), bool(game.placements.swap)
        masks = masks_of(men, section.men[0])
        moves, orders = moves_of(steps, cells)
        arrays = SectionArrays(
            men=men,
            own=section.men[steps.kind],
            kind=steps.kind,
            kind_after=0 if swap else 1 - steps.kind,
            start=starts[section],
            shapes=shapes_of(game, men),
            masks=((1 << men) - 1) ^ masks if steps.kind else masks,  # in the order of the men of kind 0
            low=ranks_of_lowers(),
            high=ranks_around(men),
            moves=moves,
            orders=orders,
            mills=np.array(steps.mills, np.int64),
            lines=np.array(steps.lines, np.int64),
            ends=np.array([0, *(encode(value, 0, bits) for value in steps.ends)], np.int64),
            clears=steps.clears,
            inside=after.moved is not None and after.moved.tier == tier,
            bases=np.array(bases, np.int64),
        )
        yield section, steps, after, arrays


class TierSections(NamedTuple):
    """The sections of a tier. `after` has for each section the number of the one after a move within the tier, or NONE.
    `full_size` is the number of positions that a slot without symmetry stands for."""

    board: Board
    steps: list[Steps]
    arrays: list[SectionArrays]
    after: list[int]
    full_size: int

    @property
    def cyclic(self) -> bool:
        """Whether some moves stay within the tier."""
        return any(arrays.inside for arrays in self.arrays)


def tier_sections(game: Any, tier: int, begin_of: Callable[[int], int], bits: int) -> TierSections:
    """Return the sections of a tier; raise NotShaped if the steps do not fit together."""
    board = board_of(game)
    rows = list(sections_of(game, tier, begin_of, bits))
    sections = [section for section, *_ in rows]
    after = [sections.index(after.moved) if after.moved and arrays.inside else NONE for *_, after, arrays in rows]
    full_size = (2 if game.placements.swap else 1) * len(board.images)  # colours may be swapped, the board turned
    return TierSections(board, [steps for _, steps, *_ in rows], [arrays for *_, arrays in rows], after, full_size)
