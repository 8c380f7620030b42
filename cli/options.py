"""Arguments and options that several commands have."""

from collections.abc import Callable, Iterable
from inspect import cleandoc
from math import isfinite
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])


class Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in the latest versions of click only
    """A number of bytes, as in 1.5G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from retrograde.solver.runtime.memory import parse_size

        try:
            return parse_size(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Finite(click.FloatRange):
    """A number in a range, which is neither infinite nor "nan"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value!r} is no finite number", param, ctx)
        return number


SECONDS = Finite(min=0, max=1e8, min_open=True)
"""A time limit: at most three years, which all clocks of the operating system can count."""


def complete_names(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the names that begin with *incomplete*; if none does, let the shell complete files."""
    matching = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return matching or [CompletionItem(incomplete, type="file")]


def complete_variants(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the games and the solved variants that match; if none does, let the shell complete files."""
    from retrograde.databases.location import list_databases
    from retrograde.games.catalog import game_names

    solved = [path.stem.replace(",", ":", 1) for path in list_databases()]
    return complete_names(sorted({*game_names(), *solved}), incomplete)


def complete_games(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the games that match; if none does, let the shell complete files."""
    from retrograde.games.catalog import game_names

    return complete_names(game_names(), incomplete)


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def complete_players(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from retrograde.solver.play.offered import offered
    from retrograde.solver.play.player import PLAYERS

    return [CompletionItem(name) for name in ("human", *PLAYERS, *offered()) if name.startswith(incomplete)]


variant = click.argument("variant", shell_complete=complete_variants)
source = click.argument("source", metavar="VARIANT|FILE", shell_complete=complete_variants)
database = click.option(
    "--database", metavar="FILE", shell_complete=complete_files, help="The database, if not in the database folder."
)
weights = click.option(
    "--weights", metavar="FILE", shell_complete=complete_files,
    help="Weights of the game's features, made by fit, if they are not in the database folder.",
)  # fmt: skip
json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
skill = click.option(
    "--skill", type=Finite(0, 1), metavar="0..1",
    help="How often the perfect player is perfect; otherwise it moves at random.",
)  # fmt: skip


def size(name: str, variable: str, default: str | None, what: str) -> Callable[[Command], Command]:
    """Return an option for a number of bytes; *what* is its help."""
    return click.option(name, variable, type=Size(), default=default, show_default=True, metavar="SIZE", help=what)


def refuse_options(names: Iterable[str], why: str) -> None:
    """Raise UsageError if the command line gives one of these parameters. *why* follows the name of the option."""
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name in names and source is ParameterSource.COMMANDLINE:
            is_off = context.params.get(str(parameter.name)) is False and parameter.secondary_opts
            raise click.UsageError(f"{(parameter.secondary_opts if is_off else parameter.opts)[0]} {why}", context)


def number(name: str, default: int, what: str, most: int | None = None) -> Callable[[Command], Command]:
    """Return an option for a number from 1 to *most*; *what* is its help."""
    kind = click.IntRange(1, most)
    return click.option(name, type=kind, default=default, show_default=True, metavar="N", help=what)


seed = click.option(
    "--seed",
    type=int,
    metavar="N",
    default=1,
    show_default=True,
    help="Random seed; the same seed selects the same positions.",
)
time_limit = click.option("--time", "seconds", type=SECONDS, metavar="S", help="Time limit in seconds.")
threads = click.option(
    "--workers", type=click.IntRange(1, 64), metavar="N", help="Threads; by default one for each core."
)
fresh = click.option("--fresh", is_flag=True, help="Start over, and ignore earlier work.")
workers = click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="Threads to use; by default one for each core."
)


PLAYERS = """\
  perfect               never gives up value, and sets traps
  first                 the first of the best moves, without traps
  random                at random
  greedy                looks one ply ahead
  depth:4, time:0.5     search 4 plies, or half a second, and estimate
  depth:6,best=4        searches only the best moves deeply; also singular=50
  depth:6,book          plays from the book of estimates first
  paranoid:4            like depth:4, with all opponents as one side
  mcts:1000             plays 1,000 games at random for each move
  0.8                   perfect four times out of five, otherwise at random
  skill:0.8             the same, with every perfect move equally likely
  exploit:random        best response to random, if solved: solve --against
  rules                 an installed player; rules is for tic-tac-toe
  FILE.py:function      a function of your own"""
"""How the help of commands lists the players."""


class WithPlayers(click.Command):
    """A command whose help has the list of players instead of the word PLAYERS, and at its end the installed players
    of other distributions."""

    def __init__(self, *, help: str | None = None, **options: Any) -> None:
        super().__init__(help=cleandoc(help or "").replace("  PLAYERS", PLAYERS), **options)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from retrograde.solver.play.offered import offered

        if names := offered():
            formatter.write_paragraph()
            formatter.write_text(f"More players that are installed: {', '.join(names)}.")
