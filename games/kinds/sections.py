"""Helps games with many sections of placements: finds which sections play reaches, and numbers their tiers.

A section, as in `placements.py`, is a tier, numbers of men, and the extra. `reached` follows play from a
first item. `tiered` replaces tiers given as tuples by numbers, in the tuples' order::

    found = reached((0, 0), lambda men: [(men[1], men[0] + 1)] if sum(men) < 6 else [])
    sections = tiered(((sum(men),), men, 0) for men in found)
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

Found = TypeVar("Found")


def reached(first: Found, after: Callable[[Found], Iterable[Found]]) -> set[Found]:
    """Return everything that *after* leads to from *first*, in any number of steps.

    >>> sorted(reached(5, lambda heap: [heap - taken for taken in (2, 3) if taken <= heap]))
    [0, 1, 2, 3, 5]
    """
    found, left = {first}, [first]
    while left:
        new = set(after(left.pop())) - found
        found |= new
        left += new
    return found


def tiered(sections: Iterable[tuple[tuple[int, ...], tuple[int, ...], int]]) -> list[tuple[int, tuple[int, ...], int]]:
    """Return sections with their tiers numbered from 0.

    Tiers are given as tuples that never fall along a move; the numbers keep their order.

    >>> tiered([((-1, 2), (1, 1), 0), ((-2,), (2, 0), 0), ((-1, 1), (0, 2), 2)])
    [(2, (1, 1), 0), (0, (2, 0), 0), (1, (0, 2), 2)]
    """
    given = list(sections)
    numbers = {phase: tier for tier, phase in enumerate(sorted({phase for phase, _, _ in given}))}
    return [(numbers[phase], men, number) for phase, men, number in given]
