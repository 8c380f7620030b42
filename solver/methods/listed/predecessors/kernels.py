"""Compiled loops over edges, which pack them by bucket of the child and invert them, and over frontiers.

A child or parent is given by its number within the tier, or by the complement (`~`) if the same player moves in both.
Positions are cut into *buckets* of `2**shift` numbers. The edges from a block of positions to one bucket are packed one
after another, in ascending order of parents::

    varint         twice the difference to the previous parent (for the first: to 0), plus one if the same player moves
                   again (see values/bits.py)
    width bytes    the child's number within the bucket, lowest byte first
"""

from typing import NamedTuple

import numpy as np

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.values.bits import read_varint, write_varint
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, TIE_CLASS, WIN_CLASS

MOST_BYTES = 16
"""The most bytes that a packed edge takes."""


class Seeds(NamedTuple):
    """Initial scores and counters of some positions, from expanding them, each field an array.

    `scores`: the score of a primitive position or of an empty slot, otherwise the best score passed up by children in
    later tiers (0 for none). `children_left`: the number of distinct children within the tier, plus one if a child in a
    later tier saves the position from losing, so that the counter never reaches 0; PRIMITIVE if the game is over or the
    slot empty. `sizes`: the number of symmetric positions. `counts`: the number of distinct children within the tier.
    """

    scores: Array
    children_left: Array
    sizes: Array
    counts: Array


@kernel
def append_edge(children, begin, end, child):
    """Append a child to those of a position, `children[begin:end]`, unless it is among them; return the new end.

    >>> children = np.array([7, 9, 0])
    >>> append_edge(children, 0, 2, 8), append_edge(children, 0, 2, 9)  # 9 is there already
    (3, 2)
    """
    # Lists are short. Four comparisons for each branch are faster than one, and than a vector of all.
    other = begin
    while other + 4 <= end:
        if (
            (children[other] == child)
            | (children[other + 1] == child)
            | (children[other + 2] == child)
            | (children[other + 3] == child)
        ):
            return end
        other += 4
    while other < end:
        if children[other] == child:
            return end
        other += 1
    children[end] = child
    return end + 1


@kernel
def number_of(edge):
    """Return the number of a child or parent: the entry itself or its complement."""
    return edge if edge >= 0 else ~edge


@kernel
def count_by_bucket(children, shift, counts):
    """Add the number of children in each bucket of `2**shift` positions to *counts*."""
    for child in children:
        counts[number_of(child) >> shift] += 1


@kernel
def sort_by_bucket(children, counts, shift, ends, entries):
    """Copy edges by bucket to *entries*, as `(child << 41) | (i << 1) | moves_again`, the child counted in its bucket.

    The i-th parent of a block has `counts[i]` of the *children*. *ends* comes in with the index in *entries* at which
    each bucket begins, and goes out with the one at which it ends.
    """
    begin = 0
    for i in range(len(counts)):
        for number in range(begin, begin + counts[i]):
            edge = np.int64(children[number])
            child = number_of(edge)
            bucket = child >> shift
            # 64 bits: 22 for the child within its bucket, 40 for the parent, 1 for "moves again"; the sign stays free.
            entries[ends[bucket]] = ((child - (bucket << shift)) << 41) | (np.int64(i) << 1) | (edge < 0)
            ends[bucket] += 1
        begin += counts[i]


@kernel
def pack(entries, first, width, packed):
    """Pack the entries of a bucket (see `sort_by_bucket`); return their size in bytes. *first* is the number of the
    block's first position. A child takes *width* bytes. *packed* has room for MOST_BYTES an entry."""
    end = 0
    # Entries count parents from *first*. To begin with `-first` makes the first difference the parent's own number.
    before = -first
    for entry in entries:
        parent = (entry >> 1) & ((1 << 40) - 1)
        end = write_varint(((parent - before) << 1) | (entry & 1), packed, end)
        before = parent
        # Write the child's number within the bucket.
        child = entry >> 41
        for _ in range(width):
            packed[end] = child & 255
            child >>= 8
            end += 1
    return end


@kernel
def unpack_child(packed, end, width):
    """Return the child's number that is stored at *end* in *width* bytes."""
    child = np.int64(0)
    for byte in range(width):
        child |= np.int64(packed[end + byte]) << (8 * byte)
    return child


@kernel
def count_parents_packed(packed, width, begins):
    """Add one to `begins[child + 2]` for each packed edge; `write_parents` takes the prefix sums. A child takes *width*
    bytes."""
    end = 0
    while end < len(packed):
        # Skip the difference to the previous parent: all bytes of a varint but the last are above 127.
        while packed[end] > 127:
            end += 1
        end += 1
        begins[unpack_child(packed, end, width) + 2] += 1
        end += width


@kernel
def write_parents(packed, bounds, width, begins, parents):
    """Write the parents of each child of a bucket one after another to *parents*.

    *begins* has two more entries than there are children. At the call, child i's list begins at `begins[i + 1]`. That
    entry moves on as the list grows: at the end, the list is `parents[begins[i] : begins[i + 1]]`. Packed blocks end at
    *bounds*; each counts its first parent from 0, and a child takes *width* bytes.
    """
    end = 0
    for bound in bounds:
        parent = np.int64(0)
        while end < bound:
            # Step 1: read the difference to the previous parent, and the bit for "moves again".
            number, end = read_varint(packed, end)  # twice the difference, plus the bit
            # Step 2: append the parent to the child's list.
            child = unpack_child(packed, end, width)
            end += width
            parent += number >> 1
            parents[begins[child + 1]] = ~parent if number & 1 else parent
            begins[child + 1] += 1


@kernel
def copy_lists(begins, ends, parents, out, end):
    """Copy the lists `parents[begins[i]:ends[i]]` to *out*, from index *end* on; return the new end."""
    for i in range(len(begins)):
        for entry in range(begins[i], ends[i]):
            out[end] = parents[entry]
            end += 1
    return end


@kernel
def sum_counters(children_left, decided):
    """Return the sum of the counters of undecided positions, which are less than *decided*."""
    total = 0
    for number in children_left:
        total += int(number) if number < decided else 0
    return total


class LoadedBlock(NamedTuple):
    """Buffers for loaded lists: the positions' numbers, where each list ends in `parents`, and the parents."""

    numbers: Array
    ends: Array
    parents: Array


@kernel
def load_lists(lists, first, scores, children_left, decided, unpropagated, out):
    """Copy the predecessor lists that may still be needed, with undecided parents only; return how many.

    These are the lists of positions, numbered from *first* on, that are undecided or have a score in *unpropagated*.
    *scores* begins with position *first*; *children_left* covers the whole tier, because parents lie anywhere. Counters
    from *decided* on mark decided positions. Writes a LoadedBlock to *out*, positions counted from *first*.
    """
    count = end = 0
    for i in range(len(lists.begins) - 1):
        # Step 1: may the parents of this position still be looked up?
        needed = children_left[first + i] < decided
        if not needed:
            for score in unpropagated:
                needed |= scores[i] == score
        if needed:
            # Step 2: copy its undecided parents; a decided one is overwritten by the next.
            for entry in range(lists.begins[i], lists.begins[i + 1]):
                parent = lists.parents[entry]
                out.parents[end] = parent
                end += children_left[number_of(parent)] < decided
            out.numbers[count] = i
            out.ends[count] = end
            count += 1
    return count


# Frontiers: the positions decided last, as two bits for each position of a tier
#
#     byte k    | 4k + 3 | 4k + 2 | 4k + 1 | 4k |     0 not in the frontier; 1 LOSE, 2 TIE, 3 WIN
#
# The numbers are the classes of values/score.py, except that LOSE has the number of DRAW, because draws are never
# propagated.

LOST = DRAW_CLASS


def bytes_of_frontier(count: int) -> int:
    """Return the size of a frontier over *count* positions, in bytes."""
    return (count + 3) // 4


def mark_of(group: int) -> int:
    """Return the two bits that stand for a class (*group*) of scores."""
    return LOST if group == LOSE_CLASS else group


@kernel
def add_to_frontier(frontier, positions, mark):
    """Add positions to a frontier that has none of them yet."""
    for position in positions:
        frontier[position >> 2] |= mark << (2 * (position & 3))


@kernel
def mark_at(frontier, position):
    """Return the two bits of a position; 0 if it is not in the frontier."""
    return (frontier[position >> 2] >> (2 * (position & 3))) & 3


@kernel
def split_parents(children, counts, first, frontier, good, bad):
    """Split the parents of a frontier into those that now reach their best score, and the others. Return both numbers.

    The *children* are in the frontier, or their complements (`~`) are if the same player moves again. Parent number
    *first* + i has `counts[i]` of them. Writes to *good* each parent with a winning move: to a LOSE of the opponent, to
    a WIN of its own, or to a TIE while ties are propagated. Writes to *bad* every other parent, once for each child.
    """
    goods = bads = end = 0
    for i in range(len(counts)):
        # Children of this parent, and the length of *bad* before it.
        begin, bads_before = end, bads
        end += counts[i]
        for number in range(begin, end):
            child = children[number]
            moves_again = child < 0
            mark = mark_at(frontier, ~child if moves_again else child)
            # Case: a winning child. One is enough; discard the losing ones noted before it.
            if mark == TIE_CLASS or (mark == WIN_CLASS) == moves_again:
                good[goods] = first + i
                goods += 1
                bads = bads_before
                break
            # Case: a losing child. The parent has one undecided child fewer.
            bad[bads] = first + i
            bads += 1
    return goods, bads
