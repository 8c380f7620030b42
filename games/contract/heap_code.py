"""What the code of a taking-and-breaking game allows: `Game.heap_code` has a number for 0, 1, 2 … objects taken."""

from collections.abc import Iterator, Sequence

NOTHING, ONE, TWO, UNEQUAL = 1, 2, 4, 16
"""What a move may leave of a heap: nothing, one heap, two heaps, two heaps of different sizes. Numbers of a code are
sums of these."""


def options_of(code: Sequence[int], heap: int) -> Iterator[tuple[int, ...]]:
    """Yield what each move from a heap leaves: the sizes of no heap, of one or of two, the smaller one first.

    >>> list(options_of((0, 7, 7), 5))  # Kayles: take 1 or 2; leave nothing, one heap or two
    [(4,), (1, 3), (2, 2), (3,), (1, 2)]
    """
    for taken, digit in enumerate(code[: heap + 1]):
        left = heap - taken
        if digit & NOTHING and left == 0:
            yield ()
        if digit & ONE and left > 0 and taken > 0:
            yield (left,)
        if digit & (TWO | UNEQUAL):
            yield from ((less, left - less) for less in range(1, left // 2 + 1) if digit & TWO or 2 * less < left)


def sizes_in(text: str) -> list[int]:
    """Return the sizes of the heaps in a text such as `7+3+3`, without empty ones; raise ValueError for a wrong text.

    >>> sizes_in("7+3+0")
    [7, 3]
    """
    parts = [part.strip() for part in text.split("+")]
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise ValueError("heaps are written as their sizes, as in 7+3+3, or 0 for none")
    return [int(part) for part in parts if int(part)]
