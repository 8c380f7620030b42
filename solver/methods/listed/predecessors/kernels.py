"""The compiled loops over links: children sorted out by bucket, and turned round into lists of parents.

A link is the number of a child, or of a parent, within its tier; or its complement (`~`), where the same player moves
in both. Positions are cut into *buckets* of `2**shift` numbers. The links of a stretch of positions to one bucket are
packed one after another, ascending by parent::

    variable     how many numbers the parent lies behind the one before (the first: the parent itself), times two,
                 and one more where the same player moves again; seven bits a byte, lowest first, the top bit for more
    width bytes  the child's number within the bucket, lowest byte first
"""

from typing import Any

import numpy as np

from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]

MOST_BYTES = 16
"""What a packed link takes at most."""


@kernel
def with_link(links, begin, end, link):
    """Write a link behind those of a position, from *begin* to *end*, if it is not among them; return where they end
    then."""
    new = True
    for other in range(begin, end):
        new &= links[other] != link
    links[end] = link
    return end + new


@kernel
def count_by_bucket(links, shift, counts):
    """Add to the *counts* of each bucket how many children are in it."""
    for link in links:
        counts[(link if link >= 0 else ~link) >> shift] += 1


@kernel
def sort_out(links, counts, first, shift, ends, entries):
    """Copy links by bucket: *entries* become `child << 41 | parent << 1 | again`, the child within its bucket.

    The *links* are children, so many as *counts* says of one parent after another, from parent number *first* on;
    parents are counted from there. *ends* comes in with where each bucket begins in *entries*, and goes out with where
    it ends.
    """
    begin = 0
    for i in range(len(counts)):
        for number in range(begin, begin + counts[i]):
            link = np.int64(links[number])
            again = link < 0
            child = ~link if again else link
            bucket = child >> shift
            entries[ends[bucket]] = (child - (bucket << shift)) << 41 | np.int64(i) << 1 | again
            ends[bucket] += 1
        begin += counts[i]


@kernel
def pack(entries, first, width, packed):
    """Pack the entries of a bucket; return how many bytes they take. *packed* has room for MOST_BYTES each."""
    end = 0
    before = -first
    for entry in entries:
        parent = entry >> 1 & (1 << 40) - 1
        rest = (parent - before) << 1 | entry & 1
        before = parent
        while rest > 127:
            packed[end] = rest & 127 | 128
            rest >>= 7
            end += 1
        packed[end] = rest
        end += 1
        child = entry >> 41
        for _ in range(width):
            packed[end] = child & 255
            child >>= 8
            end += 1
    return end


@kernel
def count_children(packed, width, begins):
    """Add for each packed link one to `begins[child + 2]`."""
    end = 0
    while end < len(packed):
        while packed[end] > 127:
            end += 1
        end += 1
        child = np.int64(0)
        for byte in range(width):
            child |= np.int64(packed[end + byte]) << 8 * byte
        end += width
        begins[child + 2] += 1


@kernel
def turn_round(packed, bounds, width, begins, parents):
    """Write the parents of each child of a bucket one after another.

    *begins* has two more entries than there are children: it comes in with where the parents of child i begin at
    `begins[i + 1]`, and goes out with that at `begins[i]`. Packed stretches end at *bounds*.
    """
    end = 0
    for bound in bounds:
        parent = np.int64(0)
        while end < bound:
            rest, shift = np.int64(0), 0
            while packed[end] > 127:
                rest |= np.int64(packed[end] & 127) << shift
                shift += 7
                end += 1
            rest |= np.int64(packed[end]) << shift
            end += 1
            child = np.int64(0)
            for byte in range(width):
                child |= np.int64(packed[end + byte]) << 8 * byte
            end += width
            parent += rest >> 1
            parents[begins[child + 1]] = ~parent if rest & 1 else parent
            begins[child + 1] += 1


@kernel
def count_parents(frontier, first, begins):
    """Return how many parents the positions of a frontier have together; they are numbered from *first* on."""
    count = 0
    for position in frontier:
        count += begins[position - first + 1] - begins[position - first]
    return count


@kernel
def parents_of(frontier, first, begins, parents, out):
    """Write the parents of the positions of a frontier one after another."""
    count = 0
    for position in frontier:
        for link in range(begins[position - first], begins[position - first + 1]):
            out[count] = parents[link]
            count += 1


@kernel
def links_left(left, decided):
    """Return how much is left of all undecided positions together."""
    count = 0
    for number in left:
        count += int(number) if number < decided else 0
    return count


@kernel
def keep(begins, parents, first, scores, left, decided, untold, numbers, ends, kept):
    """Keep the links of those positions, numbered from *first* on, that are undecided or have one of the scores
    *untold*, to parents that are undecided (see kept.py).

    Writes their numbers, counted from *first*, where in *kept* the parents of each end, and these. Returns how many
    positions are kept.
    """
    count = end = 0
    for i in range(len(begins) - 1):
        wanted = left[first + i] < decided
        if not wanted:
            for score in untold:
                wanted |= scores[i] == score
        if wanted:
            for link in range(begins[i], begins[i + 1]):
                parent = parents[link]
                kept[end] = parent
                end += left[parent if parent >= 0 else ~parent] < decided
            numbers[count] = i
            ends[count] = end
            count += 1
    return count
