"""What rules raise, told as an error of the rules: what it is, and where in them it arose.

Members that are optional, such as a `start`, are asked for here: `hasattr`, or `getattr` with a default, takes a
property in whose code a name is misspelt for one that is not there.
"""

from inspect import get_annotations
from pathlib import Path
from sys import modules
from typing import Any

from retrograde.games.contract.game import Game, RetrogradeError, RuleError


def asked(game: Game, name: str) -> Any:
    """Return a member of a game; None where there is none, as also a property says by AttributeError of its own name.

    Whatever else its code raises goes on.
    """
    try:
        return getattr(game, name)
    except AttributeError as error:
        if error.name == name and error.obj is game:  # `getattr` notes both where nobody else has
            return None
        raise


def given_start(game: Game) -> Any:
    """Return the first position as the rules give it, None where there is none; raise RuleError for what they raise."""
    try:
        return asked(game, "start")
    except RetrogradeError:
        raise
    except Exception as error:
        raise RuleError(f"{game.name}, start: {complaint(error, game)}") from error


def complaint(error: BaseException, game: Game) -> str:
    """Return what is wrong with a rule that raises an error, in words that follow its name."""
    if isinstance(error, AttributeError) and error.obj is game and is_left_out(type(game), error.name):
        return f"needs {error.name}, which {type(game).__name__} does not have"
    return f"raises {said(error, type(game))}"


def is_left_out(cls: type[Game], name: str | None) -> bool:
    """Tell whether a class is to give a name that classes which it is derived from announce, and does not."""
    bases = cls.__mro__
    return any(name in get_annotations(base) for base in bases) and not any(name in vars(base) for base in bases)


def said(error: BaseException, cls: type[Game]) -> str:
    """Return what an error of a game's rules says, and where it arose, if that is known."""
    place = place_in_rules(error, cls)
    return f"{type(error).__name__}: {error}" + (f" ({place})" if place else "")


def place_in_rules(error: BaseException, cls: type[Game]) -> str:
    """Return the last line that an error came through in the file of a class of rules, or else in that of the nearest
    class that it is derived from; nothing where it came through none."""
    for base in cls.__mro__[: cls.__mro__.index(Game)]:
        file = getattr(modules.get(base.__module__), "__file__", None)
        if file and (line := line_in(error, Path(file))):
            return f"{Path(file).name}, line {line}"
    return ""


def line_in(error: BaseException, path: Path) -> int:
    """Return the last line of a file that an error came through, from 1; 0 where it came through none."""
    trace, line = error.__traceback__, 0
    while trace:
        if Path(trace.tb_frame.f_code.co_filename).resolve() == path.resolve():
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
