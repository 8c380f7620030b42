"""Compiled loops over shapes and colourings; the package's docstring explains both.

A *colouring* has a bit for each man on the board, by the order of the cells: 1 for a man of the player to move. Moves
and symmetries bring men into another order. Two tables do this for all colourings of a shape: one for the lower half
of the bits and one for the upper half (`fill_tables`).
"""

from typing import Any, NamedTuple

import numpy as np

import retrograde.solver.rules.compiled  # noqa: F401  # numba then knows int.bit_count
from retrograde.solver.runtime.kernel import kernel, lean_kernel
from retrograde.solver.values.score import DRAW_CLASS, EMPTY_PLIES, WIN_CLASS
from retrograde.solver.values.score_kernels import pass_up

Array = np.ndarray[Any, Any]

DECIDED, PRIMITIVE = 254, 255
"""Counters of positions that are decided, and of those that are from the start (see values/score.py)."""
NEVER = 0xFFFF
"""The remoteness of what is not due."""
DUE_SLOTS = 256
"""Slots in a block that has a least remoteness at which something in it is due."""
SYMMETRY_BITS = 7
"""Bits of an edge for the symmetry; the row is above them."""
FEW = 8
"""A table is worth filling if it serves more than one colouring for this many of its entries."""
MEN = 32


class Board(NamedTuple):
    """The tables of `games/kinds/placed.py` that number shapes."""

    images: Array
    """By symmetry: the image of each set of men on eight cells."""
    cell_images: Array
    """By symmetry: the image of each cell."""
    patterns: Array
    side_patterns: Array
    orbits: Array
    begins: Array
    sides: Array
    sets: Array
    set_begins: Array
    row_begins: Array
    """By the number of men and of those on key cells: the first row of these shapes."""
    orbit_count: Any
    set_bits: Any
    side_bits: Any


class Kind(NamedTuple):
    """A section of a tier: all positions with as many men of either player and the same number above them.

    The slot of a colouring is `start + row * len(masks) + rank`: the row of its shape, its rank among *masks*. *moves*
    are rows of (source or -1, target, cells that must be empty, number of an order). By the number of men after a
    move, from one less to one more, *high* has ranks of the upper halves of colourings, by the men of the mover.
    """

    men: Any
    own: Any
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
    inside: Any
    """Whether a man that is on the board stays within the tier when it moves and takes nothing."""
    bases: Array
    """First slots, among all of the game, of the sections after: a man of the board moves, and takes; a new man is
    put down, and takes. -1 if there is none."""


class Frontier(NamedTuple):
    """Colourings decided at one remoteness: those of row r are `masks[starts[r] : starts[r + 1]]`."""

    masks: Array
    starts: Array


# Shapes


@lean_kernel
def moved(board, men, symmetry):
    """Return the image of a set of men under a symmetry."""
    image = 0
    for byte in range(board.images.shape[1] >> 8):
        image |= board.images[symmetry, byte << 8 | men >> 8 * byte & 255]
    return image


@lean_kernel
def row_of(board, shape):
    """Return (the row of a shape, the set of symmetries that make it least); see `Placed._found`."""
    pattern = side = 0
    for byte in range(len(board.patterns) >> 8):
        pattern |= board.patterns[byte << 8 | shape >> 8 * byte & 255]
        side |= board.side_patterns[byte << 8 | shape >> 8 * byte & 255]
    orbit = board.orbits[pattern]
    number = board.begins[side.bit_count() * board.orbit_count + (orbit >> board.set_bits)]
    entry = board.sides[(orbit & (1 << board.set_bits) - 1) << board.side_bits | side]
    row = board.row_begins[shape.bit_count(), pattern.bit_count()] + number + (entry >> board.set_bits)
    return row, entry & (1 << board.set_bits) - 1


@lean_kernel
def list_cells(shape, cells):
    """List the occupied cells, ascending; return their number."""
    count = 0
    while shape:
        cells[count] = ((shape & -shape) - 1).bit_count()
        shape &= shape - 1
        count += 1
    return count


@lean_kernel
def shape_after(kind, shape, cells, source, target, order):
    """Return the occupied cells after a move."""
    if order == 0:
        return (shape ^ 1 << source if source >= 0 else shape) | 1 << target
    child = 1 << target
    for man in range(kind.men):
        child |= 1 << kind.orders[order, cells[man]]
    return child


@lean_kernel
def find_ranks(board, kind, cells, move, shape, symmetry, ranks):
    """Find for each man its rank after a move (-1: no move) to *shape* and a symmetry; -1 for a man that is taken.
    Return the image of the shape."""
    image = moved(board, shape, symmetry)
    source, target, order = (
        (kind.moves[move, 0], kind.moves[move, 1], kind.moves[move, 3]) if move >= 0 else (-1, -1, 0)
    )
    for man in range(kind.men):
        cell = target if cells[man] == source else kind.orders[order, cells[man]]
        there = 1 << board.cell_images[symmetry, cell]
        ranks[man] = (image & there - 1).bit_count() if image & there else -1
    return image


@lean_kernel
def target_bit(board, kind, move, image, symmetry):
    """Return the bit, by rank, of the man on a move's target."""
    return 1 << (image & (1 << board.cell_images[symmetry, kind.moves[move, 1]]) - 1).bit_count()


@lean_kernel
def fill_tables(ranks, men, low, high):
    """Fill tables so that `low[c & mask] | high[c >> half]` has the bits of *c* at other ranks; -1 drops a bit."""
    half = (men + 1) // 2
    low[0] = high[0] = 0
    for man in range(half):
        bit = 1 << ranks[man] if ranks[man] >= 0 else 0
        for pattern in range(1 << man):
            low[1 << man | pattern] = low[pattern] | bit
    for man in range(half, men):
        bit = 1 << ranks[man] if ranks[man] >= 0 else 0
        for pattern in range(1 << man - half):
            high[1 << man - half | pattern] = high[pattern] | bit


@lean_kernel
def rank_of(kind, mask, men, own):
    """Return the rank of a colouring among those of as many men and own men. There may be a man more or less."""
    half = (men + 1) // 2
    return kind.low[mask & (1 << half) - 1] + kind.high[men - kind.men + 1, own, mask >> half]


@lean_kernel
def one_by_one(mask, ranks):
    """Return a colouring with its bits at other ranks, without tables."""
    found = 0
    while mask:
        rank = ranks[((mask & -mask) - 1).bit_count()]
        found |= 1 << rank if rank >= 0 else 0
        mask &= mask - 1
    return found


@lean_kernel
def in_ranks(shape, line):
    """Return the men of a line as bits by rank. All its cells are occupied."""
    found = 0
    while line:
        found |= 1 << (shape & (line & -line) - 1).bit_count()
        line &= line - 1
    return found


@lean_kernel
def find_mills(kind, shape, source, target, found):
    """Find the other men of each mill that a man on *target* may close, as bits by rank; return how many mills."""
    count = 0
    others = shape ^ 1 << source if source >= 0 else shape
    for mill in kind.mills:
        if mill >> target & 1 and mill & ~(others | 1 << target) == 0:
            found[count] = in_ranks(shape, mill ^ 1 << target)
            count += 1
    return count


@lean_kernel
def closes(mask, mills, count):
    """Return whether a colouring has all men of one of some mills."""
    closed = False
    for at in range(count):
        closed |= mask & mills[at] == mills[at]
    return closed


# Edges within the tier


@kernel
def find_edges(board, kind, begin, end, begins, edges, moves):
    """Find the edges from rows *begin* to *end*: the row after each move that stays in the tier, and a symmetry that
    leads there. Write also the number of the move. Return how many there are."""
    cells = np.empty(MEN, np.int64)
    count = 0
    for row in range(begin, end):
        begins[row - begin] = count
        shape = kind.shapes[row]
        list_cells(shape, cells)
        for move in range(len(kind.moves)):
            source, target, empty, order = kind.moves[move]
            if source >= 0 and shape >> source & 1 and not shape & empty:
                after, which = row_of(board, shape_after(kind, shape, cells, source, target, order))
                edges[count] = after << SYMMETRY_BITS | board.sets[board.set_begins[which]]
                moves[count] = move
                count += 1
    begins[end - begin] = count
    return count


# The first look at all positions


@kernel
def look(board, kind, begin, end, every, bits, scores, left):
    """Write the initial scores and counters of rows *begin* to *end* of a section.

    *every* has the scores of all slots of the game. Returns False if a move leads to a section that there is not.
    """
    men, ways = kind.men, len(kind.masks)
    cells, ranks = np.empty(MEN, np.int64), np.empty(MEN, np.int64)
    own_mills, all_mills = np.empty(len(kind.mills), np.int64), np.empty(len(kind.mills), np.int64)
    ended = np.empty(ways, np.uint8)
    low, high = np.empty(1 << (men + 1) // 2, np.int64), np.empty(1 << men // 2, np.int64)
    there, closing, free = np.empty(ways, np.int32), np.empty(ways, np.int32), np.empty(ways, np.int32)
    fine = True
    for row in range(begin, end):
        shape = kind.shapes[row]
        list_cells(shape, cells)
        first = kind.start + row * ways
        own_scores, own_left = scores[first : first + ways], left[first : first + ways]
        own_scores[:] = 0
        own_left[:] = 0
        free[:] = 0
        mills = 0
        for mill in kind.mills:
            if mill & ~shape == 0:
                all_mills[mills] = in_ranks(shape, mill)
                mills += 1
        for move in range(len(kind.moves)):
            # Step 1: is the move possible on this shape, and where does it lead?
            source, target, empty, order = kind.moves[move]
            if shape & empty or (source >= 0 and not (kind.own and shape >> source & 1)):
                continue
            man = (shape & (1 << source) - 1).bit_count() if source >= 0 else -1
            after = shape_after(kind, shape, cells, source, target, order)
            count = find_mills(kind, shape, source, target, own_mills) if men > kind.own else 0
            # Step 2: moves that close no mill. Within the tier they are counted.
            if source >= 0 and kind.inside:
                for rank in range(ways):
                    own_left[rank] += kind.masks[rank] >> man & 1
                closed = 0
                for rank in range(ways if count else 0):
                    mask = np.int64(kind.masks[rank])
                    if mask >> man & 1 and closes(mask, own_mills, count):
                        own_left[rank] -= 1
                        closing[closed] = rank
                        closed += 1
            else:
                base = kind.bases[0 if source >= 0 else 2]
                fine &= base >= 0
                if base < 0:
                    break
                number = men + (source < 0)
                own = men - kind.own
                row_after, which = row_of(board, after)
                base += row_after * kind_ways(kind, number, own)
                for at in range(board.set_begins[which], board.set_begins[which + 1]):
                    image = find_ranks(board, kind, cells, move, after, board.sets[at], ranks)
                    put = target_bit(board, kind, move, image, board.sets[at])
                    fill_tables(ranks, men, low, high)
                    half = (men + 1) // 2
                    for rank in range(ways):
                        mask = np.int64(kind.masks[rank])
                        if man < 0 or mask >> man & 1:
                            child = (1 << number) - 1 ^ (low[mask & (1 << half) - 1] | high[mask >> half] | put)
                            found = rank_of(kind, child, number, own)
                            there[rank] = found if at == board.set_begins[which] else min(found, there[rank])
                closed = 0
                for rank in range(ways):
                    mask = np.int64(kind.masks[rank])
                    if man < 0 or mask >> man & 1:
                        if count and closes(mask, own_mills, count):
                            closing[closed] = rank
                            closed += 1
                        else:
                            passed = pass_up(np.int64(every[base + there[rank]]), bits)
                            own_scores[rank] = max(np.int64(own_scores[rank]), passed)
            # Step 3: moves that close a mill and take a man.
            if closed:
                fine &= kind.bases[1 if source >= 0 else 3] >= 0
                if not fine:
                    break
                find_free(kind, all_mills, mills, closing[:closed], free)
                buffers = ranks, there, low, high
                take(board, kind, cells, move, after, closing[:closed], free, every, bits, own_scores, buffers)
        # Step 4: lines, and positions without a move.
        find_lines(kind, shape, ended)
        finish_look(kind, bits, ended, own_scores, own_left)
    return fine


@lean_kernel
def kind_ways(kind, men, own):
    """Return the number of colourings of a section with *own* of *men* men."""
    return rank_of(kind, ((1 << own) - 1) << (men - own), men, own) + 1


@lean_kernel
def find_free(kind, mills, count, closing, free):
    """Find which men of the opponent may be taken: those in no mill, or all if every man is in one."""
    for rank in closing:
        if not free[rank]:
            theirs = (1 << kind.men) - 1 ^ np.int64(kind.masks[rank])
            outside = theirs
            for at in range(count):
                if theirs & mills[at] == mills[at]:
                    outside &= ~mills[at]
            free[rank] = outside if outside else theirs


@lean_kernel
def take(board, kind, cells, move, after, closing, free, every, bits, scores, buffers):
    """Improve the scores of colourings in which a move closes a mill, by what taking each free man brings."""
    ranks, there, low, high = buffers
    men, put = kind.men, kind.moves[move, 0] < 0
    number, own = men - 1 + put, men - kind.own - 1
    half, ways = (men + 1) // 2, kind_ways(kind, number, own)
    for man in range(men):
        hits = 0
        for rank in closing:
            hits += free[rank] >> man & 1
        if not hits:
            continue
        shape = after & ~(1 << cells[man])
        row, which = row_of(board, shape)
        base = kind.bases[3 if put else 1] + row * ways
        for at in range(board.set_begins[which], board.set_begins[which + 1]):
            image = find_ranks(board, kind, cells, move, shape, board.sets[at], ranks)
            bit = target_bit(board, kind, move, image, board.sets[at])
            if hits * FEW > 2 << half:
                fill_tables(ranks, men, low, high)
            for rank in closing:
                if free[rank] >> man & 1:
                    mask = np.int64(kind.masks[rank])
                    if hits * FEW > 2 << half:
                        mask = low[mask & (1 << half) - 1] | high[mask >> half]
                    else:
                        mask = one_by_one(mask, ranks)
                    found = rank_of(kind, (1 << number) - 1 ^ (mask | bit), number, own)
                    there[rank] = found if at == board.set_begins[which] else min(found, there[rank])
        for rank in closing:
            if free[rank] >> man & 1:
                passed = pass_up(np.int64(every[base + there[rank]]), bits)
                scores[rank] = max(np.int64(scores[rank]), passed)


@lean_kernel
def find_lines(kind, shape, ended):
    """Write for each colouring whether the player to move fills a line (1), the opponent (2), or both (3)."""
    full = (1 << kind.men) - 1
    ended[:] = 0
    for line in kind.lines:
        if line & ~shape == 0:
            men = in_ranks(shape, line)
            for rank in range(len(ended)):
                mask = np.int64(kind.masks[rank])
                ended[rank] |= (mask & men == men) | ((full ^ mask) & men == men) << 1


@lean_kernel
def finish_look(kind, bits, ended, scores, left):
    """Decide positions that are over. Count a draw or better as a child that never becomes a WIN."""
    for rank in range(len(scores)):
        if ended[rank]:
            scores[rank] = kind.ends[ended[rank]]
            left[rank] = PRIMITIVE
        elif scores[rank] >= DRAW_CLASS << bits:
            left[rank] += 1
        elif scores[rank] == 0 and left[rank] == 0:
            left[rank] = PRIMITIVE  # no move: LOSE in 0, which is the score 0


# Ply by ply


@lean_kernel
def remoteness_due(score, bits):
    """Return the remoteness of a WIN or LOSE that later tiers pass up to an undecided position, or NEVER."""
    if score >= WIN_CLASS << bits:
        return ((WIN_CLASS + 1) << bits) - 1 - score
    return score if 0 < score < DRAW_CLASS << bits else NEVER


@kernel
def gather(kind, begin, end, bits, remoteness, scores, left, due, undecided, lost, won, lost_starts, won_starts):
    """List the colourings of rows *begin* to *end* that are decided at a remoteness.

    *due* becomes the least remoteness at which something is due in a block, *undecided* how many positions of each row
    are. Returns how many are lost and won.
    """
    ways = len(kind.masks)
    blocks = (ways + DUE_SLOTS - 1) // DUE_SLOTS
    win, losses, wins = ((WIN_CLASS + 1) << bits) - 1 - remoteness, 0, 0
    due[:] = NEVER
    undecided[:] = 0
    for row in range(begin, end):
        lost_starts[row - begin], won_starts[row - begin] = losses, wins
        for rank in range(ways):
            slot = kind.start + row * ways + rank
            score = np.int64(scores[slot])
            if left[slot] < DECIDED:
                undecided[row - begin] += 1
                block = (row - begin) * blocks + rank // DUE_SLOTS
                due[block] = min(np.int64(due[block]), remoteness_due(score, bits))
            elif score == remoteness:
                lost[losses] = kind.masks[rank]
                losses += 1
            elif score == win:
                won[wins] = kind.masks[rank]
                wins += 1
    lost_starts[end - begin], won_starts[end - begin] = losses, wins
    return losses, wins


@kernel
def advance(board, kind, begin, end, bits, remoteness, links, frontiers, scores, left, due, undecided, found):
    """Decide the positions of rows *begin* to *end* that have this remoteness; return how many are lost and won.

    *links* are the three arrays of `find_edges`. *frontiers* are the `Frontier`s of the section after: what is lost and
    won one ply sooner. *found* are arrays for the colourings that are lost, and won, and where each row's begin.
    """
    begins, edges, moves = links
    lost, won = frontiers
    new_lost, new_won, lost_starts, won_starts = found
    men, own, ways = kind.men, kind.own, len(kind.masks)
    full, half = (1 << men) - 1, (men + 1) // 2
    win = ((WIN_CLASS + 1) << bits) - 1 - remoteness
    cells, ranks, back = np.empty(MEN, np.int64), np.empty(MEN, np.int64), np.empty(MEN, np.int64)
    mills = np.empty(len(kind.mills), np.int64)
    low, high = np.empty(1 << half, np.int64), np.empty(1 << men // 2, np.int64)
    losses = wins = 0
    for row in range(begin, end):
        lost_starts[row - begin], won_starts[row - begin] = losses, wins
        if not undecided[row - begin]:
            continue
        before = losses + wins
        shape = kind.shapes[row]
        list_cells(shape, cells)
        first = kind.start + row * ways
        own_scores, own_left = scores[first : first + ways], left[first : first + ways]
        for at in range(begins[row - begin], begins[row - begin + 1]):
            # Step 1: the colourings of the shape after the move that were decided last.
            after, symmetry = edges[at] >> SYMMETRY_BITS, edges[at] & (1 << SYMMETRY_BITS) - 1
            lost_begin, lost_end = lost.starts[after], lost.starts[after + 1]
            won_begin, won_end = won.starts[after], won.starts[after + 1]
            if lost_begin == lost_end and won_begin == won_end:
                continue
            # Step 2: which men are where before the move.
            move = np.int64(moves[at])
            source, target, _, order = kind.moves[move]
            there = shape_after(kind, shape, cells, source, target, order)
            image = find_ranks(board, kind, cells, move, there, symmetry, ranks)
            put = target_bit(board, kind, move, image, symmetry)
            count = find_mills(kind, shape, source, target, mills) if men > own else 0
            for man in range(men):
                back[ranks[man]] = man
            by_table = (lost_end - lost_begin + won_end - won_begin) * FEW > 2 << half
            if by_table:
                fill_tables(back, men, low, high)
            # Step 3: a LOSE makes the position before a WIN.
            for item in range(lost_begin, lost_end):
                mask = full ^ np.int64(lost.masks[item])
                if mask & put:
                    mask = low[mask & (1 << half) - 1] | high[mask >> half] if by_table else one_by_one(mask, back)
                    rank = rank_of(kind, mask, men, own)
                    if own_left[rank] < DECIDED and not (count and closes(mask, mills, count)):
                        own_scores[rank], own_left[rank] = win, DECIDED
                        new_won[wins] = mask
                        wins += 1
            # Step 4: a WIN leaves the position before one child fewer.
            for item in range(won_begin, won_end):
                mask = full ^ np.int64(won.masks[item])
                if mask & put:
                    mask = low[mask & (1 << half) - 1] | high[mask >> half] if by_table else one_by_one(mask, back)
                    rank = rank_of(kind, mask, men, own)
                    if own_left[rank] < DECIDED and not (count and closes(mask, mills, count)):
                        own_left[rank] -= 1
                        if own_left[rank] == 0 and own_scores[rank] <= remoteness:
                            own_scores[rank], own_left[rank] = remoteness, DECIDED
                            new_lost[losses] = mask
                            losses += 1
        # Step 5: what children in later tiers decide at this remoteness.
        blocks = (ways + DUE_SLOTS - 1) // DUE_SLOTS
        for block in range(blocks):
            at = (row - begin) * blocks + block
            if due[at] == remoteness:
                later = NEVER
                for rank in range(block * DUE_SLOTS, min(ways, (block + 1) * DUE_SLOTS)):
                    if own_left[rank] < DECIDED:
                        when = remoteness_due(np.int64(own_scores[rank]), bits)
                        if when == remoteness and own_scores[rank] == win:
                            own_left[rank] = DECIDED
                            new_won[wins] = kind.masks[rank]
                            wins += 1
                        elif when == remoteness and own_left[rank] == 0:
                            own_left[rank] = DECIDED
                            new_lost[losses] = kind.masks[rank]
                            losses += 1
                        elif when > remoteness:
                            later = min(later, when)
                due[at] = later
        undecided[row - begin] -= losses + wins - before
        if not undecided[row - begin]:
            due[(row - begin) * blocks : (row - begin + 1) * blocks] = NEVER
    lost_starts[end - begin], won_starts[end - begin] = losses, wins
    return losses, wins


@kernel
def finish(board, kind, begin, end, bits, images, scores, left, sizes):
    """Score what is undecided as a draw, and empty the slots that stand for no position of their own.

    Writes how many positions each slot of rows *begin* to *end* stands for: *images* if it is not symmetric.
    """
    men, ways = kind.men, len(kind.masks)
    half = (men + 1) // 2
    cells, ranks = np.empty(MEN, np.int64), np.empty(MEN, np.int64)
    low, high = np.empty(1 << half, np.int64), np.empty(1 << men // 2, np.int64)
    for row in range(begin, end):
        shape = kind.shapes[row]
        list_cells(shape, cells)
        slots = slice(kind.start + row * ways, kind.start + (row + 1) * ways)
        own_scores, own_left, own_sizes = scores[slots], left[slots], sizes[(row - begin) * ways :]
        for rank in range(ways):
            # A score without undecided children in the tier is what later tiers say.
            if 0 < own_left[rank] < DECIDED:
                own_scores[rank] = DRAW_CLASS << bits
            own_sizes[rank] = 1
        _, which = row_of(board, shape)
        first, last = board.set_begins[which], board.set_begins[which + 1]
        for at in range(first if last > first + 1 else last, last):
            find_ranks(board, kind, cells, -1, shape, board.sets[at], ranks)
            fill_tables(ranks, men, low, high)
            for rank in range(ways):
                mask = np.int64(kind.masks[rank])
                image = rank_of(kind, low[mask & (1 << half) - 1] | high[mask >> half], men, kind.own)
                if image < rank:
                    own_scores[rank] = DRAW_CLASS << bits | EMPTY_PLIES
                own_sizes[rank] += (image == rank) - (at == first)
        for rank in range(ways):
            empty = own_scores[rank] == DRAW_CLASS << bits | EMPTY_PLIES
            own_sizes[rank] = 0 if empty else images // own_sizes[rank]
