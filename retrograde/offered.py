"""The functions behind `import retrograde`: those of the solver, which also take a variant or a path as text.

They have the names of the solver's functions, and the same options.
"""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from retrograde import solver
from retrograde.databases import Database, open_database
from retrograde.games import Game
from retrograde.games.catalog import load_game
from retrograde.solver.play.solution import Solution, open_solution
from retrograde.solver.play.tablebase.probing import open_tablebase

__all__ = ["check", "open", "open_tablebase", "solve", "verify"]

Options = ParamSpec("Options")
Result = TypeVar("Result")


def of_game(
    function: Callable[Concatenate[Game, Options], Result],
) -> Callable[Concatenate[Game | str | Path, Options], Result]:
    """Return a function of a game that also takes a variant's text or a rule file's path."""

    @wraps(function)
    def called(game: Game | str | Path, /, *args: Options.args, **options: Options.kwargs) -> Result:
        return function(game_of(game, function.__name__), *args, **options)

    return called


def game_of(game: Game | str | Path, function: str) -> Game:
    """Return a game, or the game that a text or a path names; raise TypeError for anything else. *function* is the name
    of the function that takes it."""
    if isinstance(game, Game):
        return game
    if isinstance(game, type) and issubclass(game, Game):
        raise TypeError(f"{function}() takes a game, not its class; write {game.__name__}()")
    if not isinstance(game, str | os.PathLike):
        what = type(game).__name__
        raise TypeError(f"{function}() takes a game, or the text of a variant, as 'connect4:5,4', not {what}")
    return load_game(os.fspath(game))


def of_database(
    function: Callable[Concatenate[Database, Options], Result],
) -> Callable[Concatenate[Database | Solution | str | Path, Options], Result]:
    """Return a function of a database that also takes a solution, or what `open` takes."""

    @wraps(function)
    def called(source: Database | Solution | str | Path, /, *args: Options.args, **options: Options.kwargs) -> Result:
        if isinstance(source, Solution):
            source = source.database
        if isinstance(source, Database):
            return function(source, *args, **options)
        with open_database(source) as database:
            return function(database, *args, **options)

    return called


def open(
    variant_or_path: str | os.PathLike[str], *, game: Game | None = None, home: str | os.PathLike[str] | None = None
) -> Solution:
    if not isinstance(variant_or_path, str | os.PathLike):
        what = type(variant_or_path).__name__
        raise TypeError(f"open() takes the text of a variant, as 'connect4:5,4', or the path of a database, not {what}")
    return open_solution(variant_or_path, game=game, home=home)


open.__doc__ = open_solution.__doc__


check = of_game(solver.check)
solve = of_game(solver.solve)
verify = of_database(solver.verify)
