"""Checks of what a game declares. Base classes for games call them once, when they make tables from declarations.

Each function yields a complaint, or nothing if all is well. A complaint names the declaration and says what it must
be::

    def _faults(self):
        yield from no_number("men", self.men, 1, 9)
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from retrograde.games.contract.game import RuleError


def refuse(faults: Iterable[str]) -> None:
    """Raise RuleError with the first complaint, if there is one."""
    for fault in faults:
        raise RuleError(fault)


def no_number(name: str, value: Any, least: int, most: int) -> Iterator[str]:
    """Complain if *value* is not a whole number from *least* to *most*.

    >>> list(no_number("men", 0, 3, 6)), list(no_number("men", 6, 3, 6))
    (['men is 0; it must be a whole number from 3 to 6'], [])
    """
    if type(value) is not int or not least <= value <= most:
        yield f"{name} is {value!r}; it must be a whole number from {least} to {most}"


def no_truth(name: str, value: Any) -> Iterator[str]:
    """Complain if *value* is neither True nor False. (Python takes "no" to be true.)

    >>> list(no_truth("placing", "no"))
    ["placing is 'no'; it must be True or False"]
    """
    if type(value) is not bool:
        yield f"{name} is {value!r}; it must be True or False"


def no_dict(name: str, value: Any, what: str) -> Iterator[str]:
    """Complain if *value* is not a dict from the signs of men.

    >>> list(no_dict("called", "pawn", "what people call it"))
    ["called is 'pawn'; it must be a dict that has for a man, by its sign, what people call it"]
    """
    if not isinstance(value, Mapping):
        yield f"{name} is {value!r}; it must be a dict that has for a man, by its sign, {what}"


def no_points(name: str, value: Any, count: int) -> Iterator[str]:
    """Complain if *value* is not a non-empty tuple of distinct points below *count*.

    >>> list(no_points("lairs", (0, 0), 9)), list(no_points("lairs", (0, 8), 9))
    (['lairs is (0, 0); it must be a tuple of points from 0 to 8, each once'], [])
    """
    if not are_points(value, count) or not value:
        yield f"{name} is {value!r}; it must be a tuple of points from 0 to {count - 1}, each once"


def are_points(value: Any, count: int) -> bool:
    """Return whether *value* is a tuple or list of distinct points below *count*."""
    if not isinstance(value, tuple | list) or not all(type(point) is int and 0 <= point < count for point in value):
        return False
    return len({*value}) == len(value)
