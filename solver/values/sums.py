"""Sums of impartial games. A player chooses one game and moves there, and loses if no move is left in any.

The value of a sum follows from the nimbers of its parts, without solving the whole as one game. The theory is by
Sprague and Grundy; for infinite nimbers, of games in which play can go round, by Smith, and by Fraenkel and Yesha.

>>> add([3, 5, 6]), value_of(add([3, 5, 6]))
(0, <Value.LOSE: 1>)
>>> loopy({0, 2}), add([loopy({0, 2}), 2]) == loopy({2, 0}), value_of(add([loopy({0, 2}), 1]))
(-6, True, <Value.DRAW: 2>)
"""

from collections.abc import Iterable, Sequence
from functools import reduce

from retrograde.games.contract.game import DRAW, LOSE, WIN, Value

NOWHERE = -1
"""The infinite nimber from which no move leads to a finite one."""


def loopy(numbers: Iterable[int]) -> int:
    """Return the infinite (*loopy*) nimber from which moves lead to exactly these finite ones; it is below 0."""
    return -1 - sum(1 << number for number in set(numbers))  # bit n: a move to n


def finite_options(nimber: int) -> set[int]:
    """Return the finite nimbers to which moves lead from an infinite one."""
    bits = -1 - nimber
    return {number for number in range(bits.bit_length()) if bits >> number & 1}


def plus(one: int, other: int) -> int:
    """Return the nimber of a sum of two. From the sum of two infinite ones, no move leads to a finite one.

    >>> plus(2, 3), plus(loopy([0, 2]), 1) == loopy([1, 3])
    (1, True)
    """
    if one >= 0 and other >= 0:
        return one ^ other
    if one < 0 and other < 0:
        return NOWHERE
    infinite, finite = min(one, other), max(one, other)  # infinite ones are below 0
    return loopy(number ^ finite for number in finite_options(infinite))


def add(nimbers: Iterable[int]) -> int:
    """Return the nimber of a sum of games with these nimbers."""
    return reduce(plus, nimbers, 0)


def value_of(nimber: int) -> Value:
    """Return the value of a position with this nimber, for the player to move."""
    if nimber >= 0:
        return WIN if nimber else LOSE
    return WIN if 0 in finite_options(nimber) else DRAW


def goals(nimbers: Sequence[int]) -> list[int | None]:
    """Return, for each part of a sum, the nimber of the other parts together. A winning move in this part reaches it.
    None if that is infinite: no move in this part wins.

    >>> goals([1, 2, 5]), goals([loopy({0}), 3])
    ([7, 4, 3], [3, None])
    """
    others = [add([*nimbers[:i], *nimbers[i + 1 :]]) for i in range(len(nimbers))]
    return [nimber if nimber >= 0 else None for nimber in others]


def text_of(nimber: int) -> str:
    """Return a nimber as text: `*5`, `∞(0, 2)`.

    >>> text_of(5), text_of(loopy({0, 2})), text_of(NOWHERE)
    ('*5', '∞(0, 2)', '∞')
    """
    if nimber >= 0:
        return f"*{nimber}"
    numbers = ", ".join(map(str, sorted(finite_options(nimber))))
    return f"∞({numbers})" if numbers else "∞"
