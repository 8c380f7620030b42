"""What all fields have in common: a declaration, a copy for each game, and methods made from formulas.

A field method has no body. Its *formula* is the expression that it returns, and the field's own numbers stand in it
in braces; `{word}` is the word that holds the field. For X and O on nine cells::

    @formula("{word} >> {size} * sign {base:+} & {full}")
    def set(self, position, sign): ...              -->     lambda position, sign: position >> 9 * sign - 9 & 511

A method that *writes* returns a position: its formula is the word after the change. In a position of two words::

    @formula("{word} ^ {bit}", writes=True)
    def passed(self, position): ...                 -->     lambda position: (position[0], position[1] ^ 64)

So a method costs what the same expression costs where it is written by hand. Python runs the lambda, and numba
compiles it. Neither checks its arguments: `check` and the position editor do (see `layout.checked`).
"""

from collections.abc import Callable, Mapping
from copy import copy
from functools import lru_cache, wraps
from inspect import signature
from typing import Any, TypeVar, cast

from retrograde.games.contract.game import POSITION_BITS

Method = TypeVar("Method", bound=Callable[..., Any])

TABLES: dict[str, Any] = {}
"""What quick formulas look up, by name."""


def formula(text: str, spread: str = "", writes: bool = False) -> Callable[[Method], Method]:
    """Let a method of a field return what the expression *text* says; *spread* replaces it for fields of several parts.

    With *writes* it returns a position, and the expression is a word of it.
    """

    def decorate(method: Method) -> Method:
        @wraps(method)
        def declared(*_: Any) -> Any:
            raise NotImplementedError(f"{method.__name__}() needs the bits of a game; call it on a game's field")

        vars(declared).update(formula=text, spread=spread or text, writes=writes)
        return cast(Method, declared)

    return decorate


class Field:
    """A part of a position. A class declares it; each game has a copy that knows its bits."""

    name = ""
    width = 0
    """The number of its bits."""
    word_index = 0
    """The index of the word that holds it: of its first one, if it takes several."""
    first_bit = 0
    """The number of its lowest bit in that word, from 0."""
    words = 1
    """The number of words of a position; a position of one word is an int, others are tuples."""
    word = "position"
    """An expression for the word that holds it."""

    add_members: Callable[[type], None]
    """Gives a class what follows from its fields. It knows all kinds of fields, so that `__init__.py` sets it here."""
    lay_out: Callable[[Any], dict[str, Any]]
    """Returns the fields of a game; set like `add_members`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        Field.add_members(owner)

    def __get__(self, game: Any, cls: type | None = None) -> Any:
        """Return the copy of a game that has not been laid out yet; of a class, the declaration."""
        return self if game is None else Field.lay_out(game)[self.name]

    def sized_for(self, game: Any) -> Any:
        """Return the copy for a game, with its `width`; `take_bits` says later which bits these are."""
        return copy(self)

    def take_bits(self, word_index: int, bit: int) -> tuple[int, int]:
        """Take the bits of a word from *bit* on, or of the next word. Return the next free (word, bit)."""
        if bit + self.width > POSITION_BITS:
            word_index, bit = word_index + 1, 0
        self.word_index, self.first_bit = word_index, bit
        return word_index, bit + self.width

    def prepare_formulas(self, fields: "Mapping[str, Field]") -> None:
        """Set the attributes that formulas name in braces; all *fields* have their bits now."""

    def masks(self) -> dict[int, int]:
        """Return a mask of its bits for each word that it takes, by the word's index: `{0: 0b111000}`."""
        return {self.word_index: (1 << self.width) - 1 << self.first_bit}

    def bounds(self, method: str) -> dict[str, tuple[int, int]]:
        """Return the least and the greatest value of a method's arguments, by name: `{"cell": (0, 8)}`."""
        return {}

    def refusal(self, method: str, *arguments: Any) -> str:
        """Return what else is wrong with the arguments of a method that are within their bounds; "" for nothing."""
        return ""

    # Texts

    rows = 1
    """The number of parts of its text, which a slash separates."""

    def text(self, position: int) -> str:
        """Return what it holds, as text."""
        raise NotImplementedError

    def parsed(self, position: int, text: str) -> int:
        """Return a position that holds what a text says; raise ValueError if the text says nothing."""
        raise NotImplementedError

    # Methods made from formulas

    @property
    def is_spread(self) -> bool:
        """Whether it takes several words."""
        return self.width > POSITION_BITS

    @property
    def has_parts(self) -> bool:
        """Whether its formulas are those for fields of several parts."""
        return self.is_spread

    def expression(self, name: str) -> str:
        """Return the expression that a method returns, as in `position >> 9 & 511`."""
        method = vars(getattr(type(self), name))
        text = method["spread" if self.has_parts else "formula"]
        return self.with_words(self.changed_words(text)) if method["writes"] else text.format_map(vars(self))

    def changed_words(self, text: str) -> dict[int, str]:
        """Return an expression for each word that a method changes, by the word's index; *text* is its formula."""
        return {self.word_index: text.format_map(vars(self))}

    def with_words(self, changed: Mapping[int, str]) -> str:
        """Return an expression for a position with some words changed."""
        if self.words == 1:
            return changed[0]
        return f"({', '.join(changed.get(index, word_of(self.words, index)) for index in range(self.words))})"

    def sources(self, quick: bool) -> dict[str, str]:
        """Return the methods as texts of lambdas, by name; with *quick*, those for Python, which may use TABLES.
        (Only subclasses make a difference.)"""
        members = {name: getattr(type(self), name) for name in dir(type(self)) if name[0] != "_"}
        return {
            name: lambda_of(method, self.expression(name))
            for name, method in members.items()
            if hasattr(method, "formula")
        }

    def methods(self) -> dict[str, Callable[..., Any]]:
        """Return the methods that Python runs, by name."""
        return functions(tuple(self.sources(quick=True).items()))


def word_of(words: int, index: int) -> str:
    """Return an expression for word number *index* of `position`, which has *words* words."""
    return "position" if words == 1 else f"position[{index}]"


def lambda_of(method: Callable[..., Any], expression: str) -> str:
    """Return the text of a lambda with the arguments of a method, without `self`, that returns an expression."""
    return f"lambda {', '.join([*signature(method).parameters][1:])}: {expression}"


@lru_cache(256)
def functions(sources: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Return the functions that texts of lambdas define, by name. Equal fields share them."""
    by_name: dict[str, Any] = eval("{" + ", ".join(f"{name!r}: {text}" for name, text in sources) + "}", TABLES)
    for name, function in by_name.items():
        function.__name__ = function.__qualname__ = name
    return by_name
