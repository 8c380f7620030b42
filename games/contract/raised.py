"""Describes errors raised by rules: what the error is, and where in the rules it arose.

`optional_member` reads members such as `start`. `hasattr`, or `getattr` with a default, would take a property with a
misspelt name in its code for a missing one.
"""

from inspect import get_annotations
from pathlib import Path
from sys import modules
from typing import Any

from retrograde.games.contract.game import Game, RetrogradeError, RuleError


def optional_member(game: Game, name: str) -> Any:
    """Return a member of a game. It is None if absent, or a property that raises AttributeError of its own name."""
    try:
        return getattr(game, name)
    except AttributeError as error:
        if error.name == name and error.obj is game:  # `getattr` sets both unless the code that raised has
            return None
        raise


def given_start(game: Game) -> Any:
    """Return the first position as the rules give it; None if they have no `start`. Errors of the rules become a
    RuleError."""
    try:
        return optional_member(game, "start")
    except RetrogradeError:
        raise
    except Exception as error:
        raise RuleError(f"{game.name}, start: {complaint(error, game)}") from error


def complaint(error: BaseException, game: Game) -> str:
    """Return what is wrong with a rule that raises an error, in words that follow the rule's name."""
    if isinstance(error, AttributeError) and error.obj is game and lacks_declared(type(game), error.name):
        return f"needs {error.name}, which {type(game).__name__} does not have"
    return f"raises {error_text(error, type(game))}"


def lacks_declared(cls: type[Game], name: str | None) -> bool:
    """Return whether a class lacks a name that one of its base classes annotates and none defines."""
    bases = cls.__mro__
    return any(name in get_annotations(base) for base in bases) and not any(name in vars(base) for base in bases)


def error_text(error: BaseException, cls: type[Game]) -> str:
    """Return an error of a game's rules as text, with its line in the rules if that is known."""
    line = place_in_rules(error, cls)
    return f"{type(error).__name__}: {error}" + (f" ({line})" if line else "")


def place_in_rules(error: BaseException, cls: type[Game]) -> str:
    """Return the file and last line of the rules that an error passed through, the class's own file first, or ""."""
    for base in cls.__mro__[: cls.__mro__.index(Game)]:
        file = getattr(modules.get(base.__module__), "__file__", None)
        if file and (line := line_in(error, Path(file))):
            return f"{Path(file).name}, line {line}"
    return ""


def line_in(error: BaseException, path: Path) -> int:
    """Return the last line of a file that an error passed through, counted from 1; 0 if none."""
    trace, line = error.__traceback__, 0
    while trace:
        if Path(trace.tb_frame.f_code.co_filename).resolve() == path.resolve():
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
