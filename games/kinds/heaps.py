"""Heaps of objects as a position: their sizes in descending order, five bits each, the largest in the lowest bits::

    7 + 3 + 3     0b00011_00011_00111        0 is no heap at all

A move takes one heap and puts up to two others in its place: these three sizes, in the same encoding.
"""

HEAP_BITS = 5
LARGEST = (1 << HEAP_BITS) - 1
MOST_HEAPS = 12
"""Twelve heaps take 60 bits."""


def packed(sizes):
    """Return the position of these heaps, HEAP_BITS each: the smallest in the highest bits."""
    position = 0
    for size in sorted(sizes):
        position = position << HEAP_BITS | size
    return position


def sizes_of(position):
    """Return the sizes of the heaps, the largest first."""
    sizes = []
    while position:
        sizes.append(position & LARGEST)
        position >>= HEAP_BITS
    return sizes


def without(position, size):
    """Return the heaps without one heap of this size, which must be there."""
    below = 0
    while position >> below & LARGEST != size:
        below += HEAP_BITS
    return position & (1 << below) - 1 | position >> below + HEAP_BITS << below


def added(position, size):
    """Return the heaps with one more of this size, in its place; the same heaps for size 0."""
    below = 0
    while position >> below & LARGEST > size:
        below += HEAP_BITS
    if size == 0:
        return position
    return position & (1 << below) - 1 | size << below | position >> below << below + HEAP_BITS


def replaced(position, move):
    """Return the heaps after a move: the heap that it takes, and up to two sizes that it puts in its place."""
    left = without(position, move & LARGEST)
    left = added(left, move >> HEAP_BITS & LARGEST)
    return added(left, move >> 2 * HEAP_BITS)


def weight(position):
    """Return a number that every move reduces: the sum of 2 * size - 1 over all heaps."""
    total = 0
    while position:
        total += 2 * (position & LARGEST) - 1
        position >>= HEAP_BITS
    return total


# For people


def written(position):
    """Return the heaps as text: `7+3+3`, or `0` for no heap."""
    return "+".join(map(str, sizes_of(position))) or "0"


def understood(text, most):
    """Return the position of a text; raise ValueError for a wrong text, or for more than *most* objects."""
    parts = text.split("+")
    if not all(part.isdecimal() for part in parts):
        raise ValueError("heaps are written as their sizes, as in 7+3+3, or 0 for none")
    sizes = [int(part) for part in parts if int(part)]
    if sum(sizes) > most or len(sizes) > MOST_HEAPS:
        raise ValueError(f"the heaps must have at most {most} in all, and be at most {MOST_HEAPS}")
    return packed(sizes)


def name_of(move):
    """Return the name of a move, as in `7>4+2` or `7>0`: the heap that it takes, and the heaps that take its place."""
    return f"{move & LARGEST}>{written(packed(sizes_of(move >> HEAP_BITS)))}"
