"""Sections of placements, for games with many: which may come about, and what number each tier has.

A game of placements lists sections, as `placements.py` has them: a tier, men, and a number above them. `reached` goes
on from a first one as play does, and `tiered` gives numbers to tiers that are told by tuples, in their order::

    found = reached((0, 0), lambda men: [(men[1], men[0] + 1)] if sum(men) < 6 else [])
    sections = tiered(((sum(men),), men, 0) for men in found)
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

Found = TypeVar("Found")


def reached(first: Found, after: Callable[[Found], Iterable[Found]]) -> set[Found]:
    """Return what can come about from a first one on, by what comes after each.

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
    """Return sections with tiers as numbers, from 0 in ascending order, in the place of tuples that never fall along a
    move.

    >>> tiered([((-1, 2), (1, 1), 0), ((-2,), (2, 0), 0), ((-1, 1), (0, 2), 2)])
    [(2, (1, 1), 0), (0, (2, 0), 0), (1, (0, 2), 2)]
    """
    given = list(sections)
    numbers = {phase: tier for tier, phase in enumerate(sorted({phase for phase, _, _ in given}))}
    return [(numbers[phase], men, number) for phase, men, number in given]
