"""Gives each field its bits: cells first, then all others, each in the order of declaration.

A field begins in the next word if too few bits are left in one. Only a field that no word can hold takes several: its
cells have each plane in one word, and its numbers each number (see `Cells.take_bits` and `Numbers.take_bits`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from inspect import signature
from typing import Any

from retrograde.games.contract.fields.cells import Cells
from retrograde.games.contract.fields.field import Field, word_of
from retrograde.games.contract.game import MOST_WORDS, POSITION_BITS, Game


def fields_of(cls: type) -> dict[str, Any]:
    """Return the fields that a class and its bases declare, by name, in the order of their bits."""
    found = {name: one for base in reversed(cls.__mro__) for name, one in vars(base).items() if isinstance(one, Field)}
    found = {name: one for name, one in found.items() if getattr(cls, name) is one}
    return dict(sorted(found.items(), key=lambda item: not isinstance(item[1], Cells)))


def lay_out(game: Any) -> dict[str, Any]:
    """Give a game its copies of the fields, and return them by name. Raise ValueError if they take too many bits."""
    declared = fields_of(type(game))
    if taken := [name for name in declared if name in Game.__annotations__ or hasattr(Game, name)]:
        raise ValueError(f"{taken[0]!r} is a member of the game contract; give the field another name")
    fields = {name: one.sized_for(game) for name, one in declared.items()}
    word_index = bit = 0
    for one in fields.values():
        word_index, bit = one.take_bits(word_index, bit)
    if word_index >= MOST_WORDS:
        parts = ", ".join(f"{name} {one.width}" for name, one in fields.items())
        remedy = "; Cells(…, packed=True) needs fewer" if any(can_be_packed(one) for one in fields.values()) else ""
        what = f"a position has at most {MOST_WORDS} words of {POSITION_BITS} bits; its fields need {parts}"
        raise ValueError(what + remedy)
    for one in fields.values():
        one.words, one.word = word_index + 1, word_of(word_index + 1, one.word_index)
    for one in fields.values():
        one.prepare_formulas(fields)
        vars(one).update(one.methods())
    vars(game).update(fields)
    return fields


def can_be_packed(field: Any) -> bool:
    """Return whether a field would need fewer bits as packed cells."""
    return isinstance(field, Cells) and not field.packed and len(field.signs) > 2


def blank(game: Any) -> Any:
    """Return the position whose bits are all 0."""
    words: int = next(getattr(game, name) for name in fields_of(type(game))).words
    return 0 if words == 1 else (0,) * words


@contextmanager
def check_arguments(game: Any) -> Iterator[None]:
    """Let the fields of a game check the arguments of their methods: each raises ValueError for a wrong one."""
    fields = [getattr(game, name) for name in fields_of(type(game))]
    before = [dict(vars(one)) for one in fields]
    for one in fields:
        vars(one).update(checked_methods(one))
    try:
        yield
    finally:
        for one, members in zip(fields, before, strict=True):
            vars(one).update(members)


@lru_cache(256)
def checked_methods(field: Field) -> dict[str, Callable[..., Any]]:
    """Return the methods of a game's field that check their arguments, by name. It takes long enough to cache them."""
    return {name: with_check(field, name, method) for name, method in field.methods().items()}


def with_check(field: Field, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the *method* called *name* of a field; it raises ValueError for arguments out of their bounds."""
    bounds = field.bounds(name)
    names = [*signature(method).parameters]

    @wraps(method)
    def check_and_call(*arguments: Any) -> Any:
        """Call the method if its arguments are within their bounds; otherwise raise ValueError."""
        for argument, value in zip(names, arguments, strict=True):
            low, high = bounds.get(argument, (value, value))  # one without bounds may be anything
            if not low <= value <= high:
                raise ValueError(f"{field.name}.{name}: {argument} is {value}, and must be from {low} to {high}")
        if wrong := field.refusal(name, *arguments):
            raise ValueError(f"{field.name}.{name}: {wrong}")
        return method(*arguments)

    return check_and_call
