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
from functools import lru_cache
from inspect import signature
from typing import Any, TypeVar

from retrograde.games.contract.game import POSITION_BITS

Method = TypeVar("Method", bound=Callable[..., Any])

TABLES: dict[str, Any] = {}
"""What quick formulas look up, by name."""


def formula(text: str, spread: str = "", writes: bool = False) -> Callable[[Method], Method]:
    """Let a method of a field return what the expression *text* says.

    *spread* is the expression for a field that takes several words, if another one. With *writes* the method returns a
    position, and the expression is a word of it.
    """

    def decorate(method: Method) -> Method:
        vars(method).update(formula=text, spread=spread or text, writes=writes)
        return method

    return decorate


class Field:
    """A part of a position. A class declares it; each game has a copy that knows its bits."""

    name = ""
    width = 0
    """Its bits."""
    at = 0
    """The index of the word that holds it: of its first one, if it takes several."""
    place = 0
    """Its lowest bit in that word."""
    words = 1
    """The words of a position; a position of one word is an int, others are tuples."""
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

    def measured(self, game: Any) -> Any:
        """Return the copy for a game: it knows how many bits it needs, and not yet where they are."""
        return copy(self)

    def lay(self, at: int, place: int) -> tuple[int, int]:
        """Take the bits of word *at* from *place* on, or of the next word if too few are left; return what follows."""
        if place + self.width > POSITION_BITS:
            at, place = at + 1, 0
        self.at, self.place = at, place
        return at, place + self.width

    def settle(self, fields: "Mapping[str, Field]") -> None:
        """Compute what follows from the places of all fields."""

    def masks(self) -> dict[int, int]:
        """Return its bits in each word that it takes, by the index of the word."""
        return {self.at: (1 << self.width) - 1 << self.place}

    def bounds(self, method: str) -> dict[str, tuple[int, int]]:
        """Return the least and the greatest value of each argument of a method, by its name."""
        return {}

    def refusal(self, method: str, *arguments: Any) -> str:
        """Return what else is wrong with the arguments of a method that are within their bounds; "" for nothing."""
        return ""

    # Texts

    rows = 1
    """How many parts its text has."""

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

    def expression(self, name: str) -> str:
        """Return the expression that a method returns."""
        method = vars(getattr(type(self), name))
        text = method["spread" if self.is_spread else "formula"]
        return self.with_words(self.changed(text)) if method["writes"] else text.format_map(vars(self))

    def changed(self, text: str) -> dict[int, str]:
        """Return the words that a method which writes changes, by their indices."""
        return {self.at: text.format_map(vars(self))}

    def with_words(self, changed: Mapping[int, str]) -> str:
        """Return an expression for a position with some words changed."""
        if self.words == 1:
            return changed[0]
        return f"({', '.join(changed.get(at, word_of(self.words, at)) for at in range(self.words))})"

    def sources(self, quick: bool) -> dict[str, str]:
        """Return the methods as texts of lambdas, by name; with *quick*, those for Python."""
        members = {name: getattr(type(self), name) for name in dir(type(self)) if name[0] != "_"}
        return {
            name: lambda_of(method, self.expression(name))
            for name, method in members.items()
            if hasattr(method, "formula")
        }

    def methods(self) -> dict[str, Callable[..., Any]]:
        """Return the methods that Python runs, by name."""
        return functions(tuple(self.sources(quick=True).items()))


def word_of(words: int, at: int) -> str:
    """Return an expression for a word of `position`, which has so many."""
    return "position" if words == 1 else f"position[{at}]"


def lambda_of(method: Callable[..., Any], expression: str) -> str:
    """Return the text of a lambda with the arguments of a method, without `self`, that returns an expression."""
    return f"lambda {', '.join([*signature(method).parameters][1:])}: {expression}"


@lru_cache(256)
def functions(sources: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Return the functions of some texts, by name. Fields that are alike share them."""
    made: dict[str, Any] = eval("{" + ", ".join(f"{name!r}: {text}" for name, text in sources) + "}", TABLES)
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
    return made
