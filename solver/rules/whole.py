"""Whole numbers only: what compiled rules give is refused, when they are compiled, where it is anything else.

Written to an array of ints, a float would lose its fraction without a word.
"""

from numba import types
from numba.core.errors import TypingError
from numba.extending import overload


def whole(number: int) -> int:
    """Return a number that rules have given, as an int."""
    return int(number)


@overload(whole)
def _(number):
    given = number.type if isinstance(number, types.Optional) else number
    if isinstance(given, (types.Integer, types.Boolean)):
        return lambda number: number
    if isinstance(given, types.IntEnumMember):
        return lambda number: number + 0
    raise TypingError(f"a rule gives a {number} where it must give an int (to divide ints, write //)")
