"""Compiled loops over shapes and colourings; the package's docstring explains both.

A shape is a set of cells: bit c stands for cell c. A *colouring* has a bit for each man of a shape, in the order of
their cells: 1 for a man of the player to move. The men on cells 2, 5 and 6, with one of the player to move on cell 5,
are the shape 0b1100100 and the colouring 0b010. The *rank* of a colouring is its number among those of the section.

Moves and symmetries bring men into another order, so that bits of a colouring change places. Two tables do this for all
colourings of a shape: one for the lower half of the bits and one for the upper half (`fill_tables`).
"""

from typing import Any, NamedTuple

import numpy as np

import retrograde.solver.rules.compiled  # noqa: F401  # numba then knows int.bit_count
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import ZERO, inlined_kernel, kernel, lean_kernel
from retrograde.solver.values.score import DRAW_CLASS, EMPTY_PLIES, WIN_CLASS
from retrograde.solver.values.score_kernels import pass_up

DECIDED, PRIMITIVE = 254, 255
"""Counters of positions that are decided, and of those that are from the start (see values/score.py)."""
NEVER = 0xFFFF
"""The remoteness of what is not due."""
DUE_SLOTS = 256
"""Slots in a block that has a least remoteness at which something in it is due."""
SYMMETRY_BITS = 7
"""Bits of an edge for the symmetry; the row is above them."""
FEW = 8
"""Tables (see `fill_tables`) are used if they serve more than one colouring for this number of their entries."""
MEN = 32
"""The length of buffers with an item for each man: more than a board has cells."""


SOURCE, TARGET, EMPTY, ORDER, OVER = range(5)
"""Columns of `SectionArrays.moves`: the cell that a man leaves (-1: he is new) and the one that he goes to; the cells
that must be empty, as bits; a row of `orders`; and the cell that is leaped over, or -1."""
MOVED, TAKING, PUT, PUTTING = range(4)
"""Indices of `SectionArrays.bases`: a man on the board moves, and takes nothing or a man; a new man is put down, and
takes nothing or a man."""


class Board(NamedTuple):
    """The tables of `games/kinds/placed.py` that number shapes. Key cells, side cells and orbits are explained in
    `games/kinds/placements.py`. A set of symmetries has a number, which is the index of its begin in `set_begins`."""

    images: Array
    """By symmetry: the image of each set of men on eight cells, at `(byte << 8) | men`."""
    cell_images: Array
    """By symmetry: the image of each cell."""
    patterns: Array
    """The pattern on key cells of each set of men on eight cells, at `(byte << 8) | men`."""
    side_patterns: Array
    """The same on side cells."""
    orbits: Array
    """By pattern on key cells: `orbit << set_bits | the set of symmetries that make the pattern least`."""
    begins: Array
    """By men on side cells, then by orbit: the first number of a shape of the orbit."""
    sides: Array
    """By set of symmetries, then by pattern on side cells: `number << set_bits | the set that makes it least`."""
    sets: Array
    """The symmetries of the sets, one set after another."""
    set_begins: Array
    """Where each set begins in `sets`."""
    row_begins: Array
    """By the number of men and of those on key cells: the first row of these shapes."""
    orbit_count: Any
    set_bits: Any
    """The bits of the number of a set."""
    side_bits: Any
    """The number of side cells, which is that of the bits of a pattern on them."""


class SectionArrays(NamedTuple):
    """A section of a tier: all positions with as many men of either player and the same extra (see `placements.py`).

    The slot of a colouring is `start + row * len(masks) + rank`: the row of its shape, its rank among *masks*. *moves*
    has a row for each move (see SOURCE). By the number of men after a move, from one less to one more, *high* has ranks
    of the upper halves of colourings, by the men of the first kind.
    """

    men: Any
    """The number of men of both players."""
    own: Any
    """The number of men of the player to move."""
    kind: Any
    """The kind of these men. Colourings are ranked by the men of kind 0."""
    kind_after: Any
    """The kind of the opponent's men after a move; with `swap` 0 again."""
    start: Any
    shapes: Array
    masks: Array
    low: Array
    high: Array
    moves: Array
    orders: Array
    """For each cell, the cell that its man goes to. Order 0 moves only the man on the source."""
    mills: Array
    lines: Array
    ends: Array
    """The scores of positions where the player to move fills a line, where the opponent does, and where both do."""
    clears: Any
    """Whether a leap wins at once."""
    inside: Any
    """Whether a man that is on the board stays within the tier when it moves and takes nothing."""
    bases: Array
    """The first slot, among all of the game, of the section after each kind of move (MOVED to PUTTING); -1 if there is
    none."""


class ShapeMove(NamedTuple):
    """A move on a shape of a section. A man of the shape is known by his index among its men, in the order of cells."""

    board: Board
    section: SectionArrays
    cells: Array
    """The cells of the men before the move."""
    move: Any
    """The row of the move in `section.moves`."""
    after: Any
    """The shape after the move."""


class Frontier(NamedTuple):
    """Colourings decided at one remoteness: those of row r are `masks[starts[r] : starts[r + 1]]`."""

    masks: Array
    starts: Array


class Buffers(NamedTuple):
    """Arrays that the loops overwrite. They allocate none themselves: see `lean_kernel`.

    `child_ranks`, `closing` and `free` have an item for each colouring of a shape, `mills` and `all_mills` for each
    mill.
    """

    cells: Array
    new_bits: Array
    old_bits: Array
    """Of each man, the bit that he had before the move."""
    mills: Array
    """For `find_mills`."""
    all_mills: Array
    """For `find_free`."""
    child_ranks: Array
    """The colouring's rank after a move. In `advance`, a list of colourings before a move."""
    closing: Array
    """A list of the ranks at which a move closes a mill. In `find_lines`, who has a full line."""
    free: Array
    """The colouring of the opponent's men that may be taken."""
    tables: tuple[Array, Array]

    @classmethod
    def of(cls, section: SectionArrays) -> "Buffers":
        """Return buffers that are large enough for a section."""
        upper_men = section.men // 2
        cells, new_bits, old_bits = np.empty((3, MEN), np.int64)
        mills, all_mills = np.empty((2, len(section.mills)), np.int64)
        child_ranks, closing, free = np.empty((3, len(section.masks)), np.int32)
        tables = np.empty(1 << (section.men - upper_men), np.int64), np.empty(1 << upper_men, np.int64)
        return cls(cells, new_bits, old_bits, mills, all_mills, child_ranks, closing, free, tables)


# Shapes


@inlined_kernel
def image_of(board, men, symmetry):
    """Return the image of a shape, the cells of its *men*, under a symmetry, from tables for eight cells each."""
    image = 0
    for byte in range(board.images.shape[1] >> 8):
        image |= board.images[symmetry, (byte << 8) | ((men >> (8 * byte)) & 255)]
    return image


@inlined_kernel
def row_of(board, shape):
    """Return (row of a shape among those of as many men, number of the set of symmetries that make it least)."""
    # Step 1: the patterns on key cells and on side cells.
    pattern = side = 0
    for byte in range(len(board.patterns) >> 8):
        eight_cells = (byte << 8) | ((shape >> (8 * byte)) & 255)
        pattern |= board.patterns[eight_cells]
        side |= board.side_patterns[eight_cells]
    # Step 2: the number of both together. Entries of both tables have a set of symmetries in their low bits.
    set_mask = (1 << board.set_bits) - 1
    orbit = board.orbits[pattern]
    number = board.begins[side.bit_count() * board.orbit_count + (orbit >> board.set_bits)]
    entry = board.sides[((orbit & set_mask) << board.side_bits) | side]
    row = board.row_begins[shape.bit_count(), pattern.bit_count()] + number + (entry >> board.set_bits)
    return row, entry & set_mask


@inlined_kernel
def list_cells(shape, cells):
    """Write the occupied cells of a shape to *cells*, ascending: 2, 5, 6 for 0b1100100. Return their number."""
    count = 0
    while shape:
        cells[count] = ((shape & -shape) - 1).bit_count()  # the index of the lowest bit: the bits below it
        shape &= shape - 1  # clears that bit
        count += 1
    return count


@inlined_kernel
def shape_after(section, shape, cells, source, target, order):
    """Return the shape after a move from *source* (-1: a new man) to *target*. *cells* are the occupied cells; *order*
    is the row of `orders` that says how pushed men move, 0 if none is pushed."""
    if order == 0:
        return (shape ^ (1 << source) if source >= 0 else shape) | (1 << target)
    child = 1 << target
    for man in range(section.men):
        child |= 1 << section.orders[order, cells[man]]
    return child


@inlined_kernel
def find_new_bits(board, section, cells, move, shape, symmetry, new_bits):
    """Write to *new_bits*, for each man, his bit in colourings after a move and then a symmetry; -1 if he is taken.

    The *move* (-1 for none) leads from the men on *cells* to *shape*. Returns the image of that shape under the
    symmetry.
    """
    image = image_of(board, shape, symmetry)
    source, target, order = -1, -1, 0
    if move >= 0:
        source, target, order = section.moves[move, SOURCE], section.moves[move, TARGET], section.moves[move, ORDER]
    for man in range(section.men):
        cell = target if cells[man] == source else section.orders[order, cells[man]]
        cell_bit = 1 << board.cell_images[symmetry, cell]
        new_bits[man] = (image & (cell_bit - 1)).bit_count() if image & cell_bit else -1
    return image


@inlined_kernel
def target_bit(board, section, move, image, symmetry):
    """Return the bit, in colourings of *image*, of the man on a move's target. It is above a bit for each man before
    him. *symmetry* leads to the image."""
    cell_bit = 1 << board.cell_images[symmetry, section.moves[move, TARGET]]
    return 1 << (image & (cell_bit - 1)).bit_count()


@inlined_kernel
def fill_tables(new_bits, men, low, high):
    """Fill tables that move the bits of colourings: bit k goes to bit `new_bits[k]`, and is dropped if that is -1.

    *low* has an entry for each pattern of the lower half of the bits, *high* for the upper half. With h bits in the
    lower half, the colouring c becomes `low[c & ((1 << h) - 1)] | high[c >> h]`.
    """
    half = (men + 1) // 2
    low[0] = high[0] = 0
    # Patterns whose highest bit is `man` are those below, with his new bit added.
    for man in range(half):
        bit = 1 << new_bits[man] if new_bits[man] >= 0 else 0
        for pattern in range(1 << man):
            low[(1 << man) | pattern] = low[pattern] | bit
    for man in range(half, men):
        bit = 1 << new_bits[man] if new_bits[man] >= 0 else 0
        for pattern in range(1 << (man - half)):
            high[(1 << (man - half)) | pattern] = high[pattern] | bit


@inlined_kernel
def rank_of(section, mask, men, own, kind):
    """Return the rank of the colouring *mask* of *men* men, *own* of them the mover's, who are of this *kind*. The
    tables of a section also serve one man more or less."""
    half = (men + 1) // 2
    # Colourings are ranked by the men of kind 0.
    mask, first_kind = (mask ^ ((1 << men) - 1), men - own) if kind else (mask, own)
    tables = men - section.men + 1  # 0: those for a man less, 1: for as many, 2: for a man more
    return section.low[mask & ((1 << half) - 1)] + section.high[tables, first_kind, mask >> half]


@inlined_kernel
def reorder_bits(mask, new_bits):
    """Return a colouring with bit k brought to bit `new_bits[k]`, or dropped if that is -1, without tables.

    >>> bin(reorder_bits(0b101, np.array([1, -1, 0])))
    '0b11'
    """
    found = 0
    while mask:
        man = ((mask & -mask) - 1).bit_count()
        found |= 1 << new_bits[man] if new_bits[man] >= 0 else 0
        mask &= mask - 1
    return found


@inlined_kernel
def men_on(shape, line):
    """Return the colouring in which exactly the men on the cells of *line* are of the player to move.

    >>> bin(men_on(0b1011, 0b1001))  # the men on cells 0 and 3 are the first and the third
    '0b101'
    """
    found = 0
    while line:
        found |= 1 << (shape & ((line & -line) - 1)).bit_count()  # as many men are below the lowest cell of the line
        line &= line - 1
    return found


@inlined_kernel
def find_mills(section, shape, source, target, found):
    """Write to *found*, for each mill that a man on *target* may close, the colouring of its other men. Return how many
    mills these are. The man comes from *source*, -1 for a new one."""
    count = 0
    others = shape ^ (1 << source) if source >= 0 else shape
    for mill in section.mills:
        if (mill >> target) & 1 and mill & ~(others | (1 << target)) == 0:
            found[count] = men_on(shape, mill ^ (1 << target))
            count += 1
    return count


@inlined_kernel
def fills_mill(mask, mills, count):
    """Return whether a colouring has all men of one of the first *count* *mills*, as `find_mills` writes them."""
    closed = False
    for i in range(count):
        closed |= (mask & mills[i]) == mills[i]
    return closed


# Edges within the tier


@kernel
def find_edges(board, section, begin, end, begins, edges, moves):
    """Write the edges from rows *begin* to *end*, by moves that stay in the tier; return how many there are.

    An edge is the row after the move and, in the lowest SYMMETRY_BITS, a symmetry that leads to its shape. *moves* gets
    the number of the move. The edges from row r begin at `begins[r - begin]`.
    """
    cells = np.empty(MEN, np.int64)
    count = 0
    for row in range(begin, end):
        begins[row - begin] = count
        shape = section.shapes[row]
        list_cells(shape, cells)
        for move in range(len(section.moves)):
            source, target, empty, order, over = section.moves[move]
            # Leaps, which take a man, and new men lead to later tiers.
            if source >= 0 and over < 0 and (shape >> source) & 1 and not shape & empty:
                row_after, symmetry_set = row_of(board, shape_after(section, shape, cells, source, target, order))
                edges[count] = (row_after << SYMMETRY_BITS) | board.sets[board.set_begins[symmetry_set]]
                moves[count] = move
                count += 1
    begins[end - begin] = count
    return count


@lean_kernel
def leads_to(edges, lost_starts, won_starts):
    """Return whether some edge leads to a row with positions of a frontier; the arrays say where each row's begin."""
    for edge in edges:
        row = edge >> SYMMETRY_BITS
        if lost_starts[row] < lost_starts[row + 1] or won_starts[row] < won_starts[row + 1]:
            return True
    return False


# Initial scores of all positions


@lean_kernel
def initialize(board, section, rows, all_scores, bits, scores, children_left, buffers):
    """Write the initial scores and counters of *rows*, (begin, end), of a section.

    *all_scores* has the scores of all slots of the game. Returns False if a move leads to a section that does not
    exist.
    """
    begin, end = rows
    men, colourings = section.men, len(section.masks)
    cells, new_bits, _, mills, all_mills, child_ranks, closing, free, tables = buffers
    valid = True
    for row in range(begin, end):
        shape = section.shapes[row]
        list_cells(shape, cells)
        first = section.start + row * colourings
        row_scores, row_children_left = scores[first : first + colourings], children_left[first : first + colourings]
        row_scores[:] = 0
        row_children_left[:] = 0
        free[:] = 0
        for move in range(len(section.moves)):
            # Step 1: is the move possible on this shape? A leap is done here.
            source, target, empty, order, over = section.moves[move]
            if shape & empty or (source >= 0 and not (section.own and shape >> source & 1)):
                continue
            if over >= 0:
                after = shape_after(section, shape, cells, source, target, order)
                shape_move = ShapeMove(board, section, cells, move, after)
                valid &= add_leaps(shape_move, shape, all_scores, bits, row_scores, buffers)
                continue
            # Step 2: the colourings that close a mill by it, and those that do not. A mill needs a man to take.
            man = (shape & ((1 << source) - 1)).bit_count() if source >= 0 else -1
            count = find_mills(section, shape, source, target, mills) if men > section.own else 0
            closed = find_closing(section, man, mills, count, closing)
            after = shape_after(section, shape, cells, source, target, order)
            if source >= 0 and section.inside:
                count_moves(section, man, closing[:closed], row_children_left)
            else:
                valid &= section.bases[MOVED if source >= 0 else PUT] >= 0
                if valid:
                    shape_move = ShapeMove(board, section, cells, move, after)
                    rank_after(shape_move, man, new_bits, tables, child_ranks)
                    add_moves(shape_move, man, mills, count, child_ranks, all_scores, bits, row_scores)
            # Step 3: those that close one also take a man.
            if closed:
                valid &= section.bases[TAKING if source >= 0 else PUTTING] >= 0
                if valid:
                    find_free(section, shape, all_mills, closing[:closed], free)
                    shape_move = ShapeMove(board, section, cells, move, after)
                    add_captures(shape_move, closing[:closed], all_scores, bits, row_scores, buffers)
        # Step 4: lines, and positions without a move. `closing` now has who has a full line.
        find_lines(section, shape, closing)
        finish_initialization(section, bits, closing, row_scores, row_children_left)
    return valid


@inlined_kernel
def find_closing(section, man, mills, count, closing):
    """Write to *closing* the ranks of colourings in which a move closes one of the first *count* *mills*; return how
    many ranks."""
    closed = 0
    for rank in range(len(section.masks) if count else 0):
        mask = np.int64(section.masks[rank])
        if (man < 0 or mask >> man & 1) and fills_mill(mask, mills, count):
            closing[closed] = rank
            closed += 1
    return closed


@inlined_kernel
def count_moves(section, man, closing, children_left):
    """Add 1 to the counter of each colouring in which *man* is the mover's, except for the ranks in *closing*. Those
    close a mill by the move, and so leave the tier."""
    for rank in range(len(children_left)):
        children_left[rank] += section.masks[rank] >> man & 1
    for rank in closing:
        children_left[rank] -= 1


@inlined_kernel
def rank_after(shape_move, man, new_bits, tables, child_ranks):
    """Write to *child_ranks* each colouring's rank after a move of *man* that takes nothing, if he is the mover's.

    For a new man *man* is -1, and all colourings count. If several symmetries make the shape least, the least rank
    counts: other slots are empty. *new_bits* and *tables* are workspace.
    """
    board, section, cells, move, after = shape_move
    low, high = tables
    # After the move the opponent is to move: "own" men are then those of the opponent.
    men, men_after, own_after = section.men, section.men + (man < 0), section.men - section.own
    half = (men + 1) // 2
    _, symmetry_set = row_of(board, after)
    first = board.set_begins[symmetry_set]
    for i in range(first, board.set_begins[symmetry_set + 1]):
        image = find_new_bits(board, section, cells, move, after, board.sets[i], new_bits)
        target_man = target_bit(board, section, move, image, board.sets[i])
        fill_tables(new_bits, men, low, high)
        for rank in range(len(child_ranks)):
            mask = np.int64(section.masks[rank])
            if man < 0 or mask >> man & 1:
                movers = low[mask & ((1 << half) - 1)] | high[mask >> half] | target_man
                child = ((1 << men_after) - 1) ^ movers  # the men of the opponent, who moves next
                child_rank = rank_of(section, child, men_after, own_after, section.kind_after)
                child_ranks[rank] = child_rank if i == first else min(child_rank, child_ranks[rank])


@inlined_kernel
def add_moves(shape_move, man, mills, count, child_ranks, all_scores, bits, scores):
    """Raise *scores* of colourings to what a move to a later tier brings, unless it closes one of the first *count*
    *mills*. *child_ranks* has the rank of each colouring after the move."""
    section = shape_move.section
    row, _ = row_of(shape_move.board, shape_move.after)
    colourings = count_colourings(section, section.men + (man < 0), section.men - section.own)
    base = section.bases[MOVED if man >= 0 else PUT] + row * colourings
    for rank in range(len(scores)):
        mask = np.int64(section.masks[rank])
        if (man < 0 or mask >> man & 1) and not (count and fills_mill(mask, mills, count)):
            scores[rank] = max(np.int64(scores[rank]), pass_up(np.int64(all_scores[base + child_ranks[rank]]), bits))


@inlined_kernel
def count_colourings(section, men, own):
    """Return the number of colourings with *own* of *men* men: the rank of the last one, plus 1."""
    return rank_of(section, ((1 << own) - 1) << (men - own), men, own, 0) + 1


@inlined_kernel
def find_free(section, shape, mills, closing, free):
    """Write to *free* the opponent's men that may be taken, for each rank in *closing*. These are the men in no mill,
    or all if every man is in one. *mills* is workspace."""
    count = 0
    for mill in section.mills:
        if mill & ~shape == 0:
            mills[count] = men_on(shape, mill)
            count += 1
    for rank in closing:
        if not free[rank]:  # otherwise an earlier move of the same shape has found them
            theirs = ((1 << section.men) - 1) ^ np.int64(section.masks[rank])
            outside = theirs
            for i in range(count):
                if (theirs & mills[i]) == mills[i]:
                    outside &= ~mills[i]
            free[rank] = outside if outside else theirs


@inlined_kernel
def add_captures(shape_move, closing, all_scores, bits, scores, buffers):
    """Raise the scores of colourings in which a move closes a mill (*closing*) to what taking each free man brings."""
    for man in range(shape_move.section.men):
        count = ZERO
        for rank in closing:
            count += buffers.free[rank] >> man & 1
        if count:
            add_captures_of(shape_move, man, count, closing, all_scores, bits, scores, buffers)


@inlined_kernel
def add_captures_of(shape_move, man, count, closing, all_scores, bits, scores, buffers):
    """Raise the scores of *count* colourings, those of *closing* in which *man* is free, to what taking him brings."""
    board, section, cells, move, after = shape_move
    new_bits, free, child_ranks, (low, high) = buffers.new_bits, buffers.free, buffers.child_ranks, buffers.tables
    men, is_new = section.men, section.moves[move, SOURCE] < 0
    men_after, own_after = men - 1 + is_new, men - section.own - 1
    half, colourings = (men + 1) // 2, count_colourings(section, men_after, own_after)
    # Step 1: the shape without the man.
    shape = after & ~(1 << cells[man])
    row, symmetry_set = row_of(board, shape)
    base, first = section.bases[PUTTING if is_new else TAKING] + row * colourings, board.set_begins[symmetry_set]
    by_table = count * FEW > 2 << half  # the tables have about that many entries
    # Step 2: each colouring's rank after the move, the least of symmetric ones; see `rank_after`.
    for i in range(first, board.set_begins[symmetry_set + 1]):
        image = find_new_bits(board, section, cells, move, shape, board.sets[i], new_bits)
        target_man = target_bit(board, section, move, image, board.sets[i])
        if by_table:
            fill_tables(new_bits, men, low, high)
        for rank in closing:
            if free[rank] >> man & 1:
                mask = np.int64(section.masks[rank])
                mask = low[mask & ((1 << half) - 1)] | high[mask >> half] if by_table else reorder_bits(mask, new_bits)
                child = ((1 << men_after) - 1) ^ (mask | target_man)
                child_rank = rank_of(section, child, men_after, own_after, section.kind_after)
                child_ranks[rank] = child_rank if i == first else min(child_rank, child_ranks[rank])
    # Step 3: what it is worth.
    for rank in closing:
        if free[rank] >> man & 1:
            scores[rank] = max(np.int64(scores[rank]), pass_up(np.int64(all_scores[base + child_ranks[rank]]), bits))


@inlined_kernel
def add_leaps(shape_move, shape, all_scores, bits, scores, buffers):
    """Raise the scores of colourings in which a man can leap to what that brings. Return False if this leads to no
    declared section."""
    section, move = shape_move.section, shape_move.move
    source, over = section.moves[move, SOURCE], section.moves[move, OVER]
    if not (shape >> over) & 1:  # nobody to leap over
        return True
    man, taken = (shape & ((1 << source) - 1)).bit_count(), (shape & ((1 << over) - 1)).bit_count()
    # List these colourings as if they closed a mill, with the man leaped over as the only one that may be taken.
    count = ZERO
    for rank in range(len(section.masks)):
        if section.masks[rank] >> man & 1 and not section.masks[rank] >> taken & 1:
            buffers.closing[count], buffers.free[rank] = rank, 1 << taken
            count += 1
    if section.clears:
        for rank in buffers.closing[:count]:
            scores[rank] = pass_up(0, bits)  # the opponent is lost in 0: nothing is better
    elif count and section.bases[TAKING] >= 0:
        add_captures_of(shape_move, taken, count, buffers.closing[:count], all_scores, bits, scores, buffers)
    return not count or section.bases[TAKING] >= 0


@inlined_kernel
def find_lines(section, shape, line_owners):
    """Write to *line_owners*, for each colouring of a shape, who has a full line.

    0 is nobody, 1 the player to move, 2 the opponent, 3 both.
    """
    all_men = (1 << section.men) - 1
    line_owners[:] = 0
    for line in section.lines:
        if line & ~shape == 0:  # all cells of the line are occupied
            line_men = men_on(shape, line)
            for rank in range(len(line_owners)):
                movers = np.int64(section.masks[rank])
                opponents = all_men ^ movers
                line_owners[rank] |= ((movers & line_men) == line_men) | (((opponents & line_men) == line_men) << 1)


@inlined_kernel
def finish_initialization(section, bits, line_owners, scores, children_left):
    """Decide positions where the game is over: by *line_owners* (see `find_lines`), or without a move. A draw or better
    from a later tier counts as a child that never becomes a WIN."""
    for rank in range(len(scores)):
        if line_owners[rank]:
            scores[rank] = section.ends[line_owners[rank]]
            children_left[rank] = PRIMITIVE
        elif scores[rank] >= DRAW_CLASS << bits:
            children_left[rank] += 1
        elif scores[rank] == 0 and children_left[rank] == 0:
            children_left[rank] = PRIMITIVE  # no move: LOSE in 0, which is the score 0


# Ply by ply


@inlined_kernel
def remoteness_due(score, bits):
    """Return the remoteness of the WIN or LOSE that an undecided position has from later tiers (its score), or
    NEVER."""
    if score >= WIN_CLASS << bits:
        return ((WIN_CLASS + 1) << bits) - 1 - score  # counted down from the greatest score
    return score if 0 < score < DRAW_CLASS << bits else NEVER  # the score of a LOSE is its remoteness


@kernel
def gather(
    section, begin, end, bits, remoteness, scores, children_left, due, undecided, lost, won, lost_starts, won_starts
):
    """Write the colourings of rows *begin* to *end* decided at a *remoteness* to *lost* and *won*; return how many
    (lost, won).

    Those of row r begin at `lost_starts[r - begin]` and `won_starts[r - begin]`. *due* becomes, for each DUE_SLOTS
    slots of a row, the least later remoteness at which one is due; *undecided* the undecided positions of each row.
    """
    colourings = len(section.masks)
    blocks = (colourings + DUE_SLOTS - 1) // DUE_SLOTS
    win_score, losses, wins = ((WIN_CLASS + 1) << bits) - 1 - remoteness, 0, 0
    due[:] = NEVER
    undecided[:] = 0
    for row in range(begin, end):
        lost_starts[row - begin], won_starts[row - begin] = losses, wins
        for rank in range(colourings):
            slot = section.start + row * colourings + rank
            score = np.int64(scores[slot])
            if children_left[slot] < DECIDED:
                undecided[row - begin] += 1
                block, due_at = (row - begin) * blocks + rank // DUE_SLOTS, remoteness_due(score, bits)
                if due_at > remoteness:
                    due[block] = min(np.int64(due[block]), due_at)
            elif score == remoteness:
                lost[losses] = section.masks[rank]
                losses += 1
            elif score == win_score:
                won[wins] = section.masks[rank]
                wins += 1
    lost_starts[end - begin], won_starts[end - begin] = losses, wins
    return losses, wins


@lean_kernel
def advance(
    board, section, begin, end, bits, remoteness, links, frontiers, scores, children_left, due, undecided, results,
    buffers,
):  # fmt: skip
    """Decide the positions of rows *begin* to *end* that have this remoteness; return how many are lost and won.

    *links* are the three arrays of `find_edges`. *frontiers* are the two `Frontier`s of the section after: what is lost
    and won one ply sooner. *results* are arrays for the colourings that are lost, and won, and where each row's begin.
    """
    begins, edges, moves = links
    lost, won = frontiers
    new_lost, new_won, lost_starts, won_starts = results
    colourings = len(section.masks)
    blocks = (colourings + DUE_SLOTS - 1) // DUE_SLOTS
    cells, mills, masks_before = buffers.cells, buffers.mills, buffers.child_ranks
    losses = wins = 0
    for row in range(begin, end):
        lost_starts[row - begin], won_starts[row - begin] = losses, wins
        if not undecided[row - begin]:
            continue
        decided_before = losses + wins
        shape = section.shapes[row]
        list_cells(shape, cells)
        first = section.start + row * colourings
        row_arrays = scores[first : first + colourings], children_left[first : first + colourings]
        # Step 1: for each move, the colourings of the shape after it that were decided last.
        for edge in range(begins[row - begin], begins[row - begin + 1]):
            row_after, symmetry = edges[edge] >> SYMMETRY_BITS, edges[edge] & ((1 << SYMMETRY_BITS) - 1)
            lost_begin, lost_end = lost.starts[row_after], lost.starts[row_after + 1]
            won_begin, won_end = won.starts[row_after], won.starts[row_after + 1]
            if lost_begin == lost_end and won_begin == won_end:
                continue
            move = np.int64(moves[edge])
            source, target, _, order, _ = section.moves[move]
            count = find_mills(section, shape, source, target, mills) if section.men > section.own else 0
            after = shape_after(section, shape, cells, source, target, order)
            shape_move = ShapeMove(board, section, cells, move, after)
            if lost_begin < lost_end:
                found = find_masks_before(shape_move, symmetry, lost.masks[lost_begin:lost_end], buffers)
                masks = masks_before[:found]
                wins += decide_wins(section, masks, mills, count, bits, remoteness, row_arrays, new_won[wins:])
            if won_begin < won_end:
                found = find_masks_before(shape_move, symmetry, won.masks[won_begin:won_end], buffers)
                masks = masks_before[:found]
                losses += decide_losses(section, masks, mills, count, remoteness, row_arrays, new_lost[losses:])
        # Step 2: what children in later tiers decide at this remoteness.
        for block in range(blocks):
            i = (row - begin) * blocks + block
            if due[i] == remoteness:
                due[i], more_losses, more_wins = decide_due(
                    section, block * DUE_SLOTS, bits, remoteness, row_arrays, new_lost[losses:], new_won[wins:]
                )
                losses, wins = losses + more_losses, wins + more_wins
        undecided[row - begin] -= losses + wins - decided_before
        if not undecided[row - begin]:
            due[(row - begin) * blocks : (row - begin + 1) * blocks] = NEVER
    lost_starts[end - begin], won_starts[end - begin] = losses, wins
    return losses, wins


@inlined_kernel
def find_masks_before(shape_move, symmetry, masks, buffers):
    """Write to *buffers.child_ranks* the colourings from which a move leads to *masks*; return how many.

    *symmetry* makes the shape after the move least; *masks* are colourings of that least shape.
    """
    board, section, cells, move, after = shape_move
    new_bits, old_bits, found, (low, high) = buffers.new_bits, buffers.old_bits, buffers.child_ranks, buffers.tables
    men, full, half = section.men, (1 << section.men) - 1, (section.men + 1) // 2
    image = find_new_bits(board, section, cells, move, after, symmetry, new_bits)
    moved_man = target_bit(board, section, move, image, symmetry)
    for man in range(men):
        old_bits[new_bits[man]] = man
    # After the move the colours are exchanged. The man that has moved must belong to the player who moved. No branch:
    # half of the colourings are such.
    count = 0
    for mask in masks:
        found[count] = full ^ mask
        count += ((full ^ mask) & moved_man) != 0
    # Bring the men into the order before the move.
    if count * FEW > 2 << half:
        fill_tables(old_bits, men, low, high)
        for i in range(count):
            mask = np.int64(found[i])
            found[i] = low[mask & ((1 << half) - 1)] | high[mask >> half]
    else:
        for i in range(count):
            found[i] = reorder_bits(np.int64(found[i]), old_bits)
    return count


@inlined_kernel
def decide_wins(section, masks, mills, count, bits, remoteness, row_arrays, won):
    """Make the undecided ones of *masks* WINs, except where the move closes one of the first *count* *mills*. Write
    them to *won*, and return how many. *row_arrays* are the scores and counters of the row."""
    scores, children_left = row_arrays
    score, wins = ((WIN_CLASS + 1) << bits) - 1 - remoteness, 0
    for item in masks:
        mask = np.int64(item)
        rank = rank_of(section, mask, section.men, section.own, section.kind)
        if children_left[rank] < DECIDED and not (count and fills_mill(mask, mills, count)):
            scores[rank], children_left[rank] = score, DECIDED
            won[wins] = mask
            wins += 1
    return wins


@inlined_kernel
def decide_losses(section, masks, mills, count, remoteness, row_arrays, lost):
    """Count one child fewer for the undecided ones of *masks*, except where the move closes one of the first *count*
    *mills*. Write those that are lost now to *lost*, and return how many. *row_arrays* are as in `decide_wins`."""
    scores, children_left = row_arrays
    losses = 0
    for item in masks:
        mask = np.int64(item)
        rank = rank_of(section, mask, section.men, section.own, section.kind)
        if children_left[rank] < DECIDED and not (count and fills_mill(mask, mills, count)):
            children_left[rank] -= 1
            # If a child in a later tier lasts longer, the position is lost when that is due.
            if children_left[rank] == 0 and scores[rank] <= remoteness:
                scores[rank], children_left[rank] = remoteness, DECIDED
                lost[losses] = mask
                losses += 1
    return losses


@inlined_kernel
def decide_due(section, begin, bits, remoteness, row_arrays, lost, won):
    """Decide the positions among DUE_SLOTS slots of a row, from *begin* on, that are due at this *remoteness*. Return
    (the remoteness at which the next are due, how many are lost, how many are won)."""
    scores, children_left = row_arrays
    next_due, losses, wins = NEVER, 0, 0
    for rank in range(begin, min(len(scores), begin + DUE_SLOTS)):
        if children_left[rank] >= DECIDED:
            continue
        due_at = remoteness_due(np.int64(scores[rank]), bits)
        if due_at > remoteness:
            next_due = min(next_due, due_at)
        elif due_at == remoteness and scores[rank] >= WIN_CLASS << bits:
            children_left[rank] = DECIDED
            won[wins] = section.masks[rank]
            wins += 1
        elif due_at == remoteness and children_left[rank] == 0:
            children_left[rank] = DECIDED
            lost[losses] = section.masks[rank]
            losses += 1
    return next_due, losses, wins


@kernel
def finish(board, section, rows, bits, full_size, scores, children_left, sizes):
    """Score undecided positions of *rows*, (begin, end), as draws, and write to *sizes* how many positions each slot
    stands for.

    A slot of a colouring without symmetry stands for *full_size* positions. If symmetries of its shape turn a colouring
    into one of a lower rank, its slot becomes empty and stands for 0. *bits* are the bits of plies in a score.
    """
    begin, end = rows
    men, colourings = section.men, len(section.masks)
    half = (men + 1) // 2
    draw, empty = DRAW_CLASS << bits, (DRAW_CLASS << bits) | EMPTY_PLIES
    cells, new_bits = np.empty(MEN, np.int64), np.empty(MEN, np.int64)
    low, high = np.empty(1 << half, np.int64), np.empty(1 << (men - half), np.int64)
    for row in range(begin, end):
        shape = section.shapes[row]
        list_cells(shape, cells)
        slots = slice(section.start + row * colourings, section.start + (row + 1) * colourings)
        row_scores, row_children_left = scores[slots], children_left[slots]
        row_sizes = sizes[(row - begin) * colourings :]
        # Step 1: draws.
        for rank in range(colourings):
            if 0 < row_children_left[rank] < DECIDED:
                row_scores[rank] = draw
        # Step 2: count in row_sizes the symmetries of the shape that leave a colouring as it is. The first of them
        # does so for all colourings.
        _, symmetry_set = row_of(board, shape)
        first, last = board.set_begins[symmetry_set], board.set_begins[symmetry_set + 1]
        row_sizes[:colourings] = 1
        for i in range(first + 1, last):
            find_new_bits(board, section, cells, -1, shape, board.sets[i], new_bits)
            fill_tables(new_bits, men, low, high)
            for rank in range(colourings):
                mask = np.int64(section.masks[rank])
                image_mask = low[mask & ((1 << half) - 1)] | high[mask >> half]
                image_rank = rank_of(section, image_mask, men, section.own, section.kind)
                if image_rank < rank:
                    row_scores[rank] = empty
                row_sizes[rank] += image_rank == rank
        # Step 3: of k symmetries that leave it as it is, a colouring has full_size / k different images.
        for rank in range(colourings):
            row_sizes[rank] = 0 if row_scores[rank] == empty else full_size // row_sizes[rank]
