"""The command `retrograde`: finds and runs a command, prints at most one line of error, and sets the exit status.

| status | when |
|---|---|
| 0 | success |
| 1 | the command failed, or a check found something wrong |
| 2 | the command line is wrong |
| 130 | Ctrl-C |
| 141 | the reader of the output has closed it, as `head` does |
| 143 | SIGTERM |
"""

import atexit
import gc
import io
import os
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from retrograde.cli.failure import INTERRUPTED, Failure, explain, silence_output
from retrograde.cli.interrupt import WATCH

COLLECT_AFTER = 200_000
"""How many new objects make Python look for unused ones. Its default of 700 is a tenth of the time of a short command,
which loads hundreds of modules whose objects stay."""

# The commands, in the order of the help, each with its line there.
COMMANDS = {
    "games": "list the games, or show one game's options and rules",
    "new": "write the skeleton of a rule file, and its test",
    "check": "check that a rule file keeps the contract",
    "solve": "solve a game and write its database",
    "list": "list databases, books, certificates and unfinished solves",
    "remove": "delete a database, or the remains of an interrupted solve",
    "info": "show the result: counts, the longest win, the size on disk",
    "query": "show the value of a position and of every move",
    "sum": "show the value of several games played side by side",
    "search": "prove the value of a position without a database",
    "count": "count the lines of play, ply by ply",
    "book": "make an opening book of a game that is too large to solve",
    "prove": "write a proof of a position's value that anyone can check",
    "play": "play against a perfect player, or watch one",
    "annotate": "annotate the moves of games, and mark mistakes",
    "match": "let two players play each other, and count the results",
    "judge": "measure how often a depth-limited search picks a wrong move",
    "fit": "fit the weights of a game's estimate to a database",
    "serve": "serve a page to play on, and JSON for other programs",
    "fetch": "download a database into the database folder",
    "publish": "write a static site of solved games, for any host of files",
    "export": "export positions and values as Parquet, CSV or NumPy arrays",
    "plot": "draw the counts by remoteness",
    "compare": "compare chess endings with tables of other programs",
    "uci": "run a chess engine that plays from the databases",
    "verify": "recompute every stored value, and compare",
    "warm": "compile the loops of the solver now",
}

HANDLE_CTRL_C = {"serve", "uci"}
"""Commands that handle Ctrl-C themselves."""

COMPLETE = "_RETROGRADE_COMPLETE"
"""The variable by which a shell requests completions."""


class NoCommand(click.UsageError):
    """`retrograde` alone: the message is its help. (Click's own behaviour depends on its version.)"""


class LazyGroup(click.Group):
    """A group that imports a command only when it is called, and prints each error in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return import_module(f"retrograde.cli.commands.{name}").command if name in COMMANDS else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            raise NoCommand(ctx.get_help(), ctx)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names, or fail and suggest a similar name."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(name, COMMANDS, 1)
            hint = f"did you mean {near[0]}?" if near else f"the commands are {', '.join(COMMANDS)}"
            ctx.fail(f"no command {name!r}; {hint}")
        if name in HANDLE_CTRL_C:
            WATCH.stop()
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name, help=COMMANDS[name]) for name in COMMANDS if name.startswith(incomplete)]

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; turn errors into one-line failures."""
        from retrograde.solver.rules.no_exit import no_exit

        try:
            with no_exit(), warnings.catch_warnings():
                warnings.showwarning = lambda message, *_: print_warning(message)
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except BaseException as error:
            if ctx.params["traceback"]:
                import traceback

                traceback.print_exc()
            raise explain(error) from error

    def main(
        self, args: Sequence[str] | None = None, prog_name: str | None = None, complete_var: str | None = None,
        standalone_mode: bool = True, **extra: Any,
    ) -> NoReturn:  # fmt: skip
        """Run a command line, by default that of the process, and exit with its status. (Click's signature requires
        *prog_name* and *standalone_mode*, which are ignored.)"""
        if COMPLETE in os.environ:
            from retrograde.cli.completion import install

            install()
        if isinstance(sys.stdout, io.TextIOWrapper):
            # Some encodings lack characters of our texts: cp437 has no ellipsis.
            sys.stdout.reconfigure(errors="replace")
        try:
            if args is None:
                gc.set_threshold(COLLECT_AFTER)
                os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy would start threads that have nothing to do
                atexit.register(skip_collection)  # the first that is registered is called last
                WATCH.start()
            status = self.run(args, complete_var, **extra) or 0
        except (KeyboardInterrupt, click.Abort):  # before a command is called, or while its error is printed
            WATCH.ignore()
            status = INTERRUPTED
            if not WATCH.said:
                click.echo("retrograde: interrupted", err=True)
        WATCH.close(status, owns_process=args is None)
        sys.exit(WATCH.status if status == INTERRUPTED else status)

    def run(self, args: Sequence[str] | None, complete_var: str | None, **extra: Any) -> Any:
        """Run a command line, print an error in one line, and return the exit status."""
        try:
            return super().main(args, "retrograde", complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            status = error.status if isinstance(error, Failure) else error.exit_code
            if WATCH.seen and status != INTERRUPTED:  # Ctrl-C inside a callback may raise another error
                status, error = INTERRUPTED, Failure("interrupted", INTERRUPTED)
            WATCH.ignore()
            if isinstance(error, NoCommand):
                click.echo(error.format_message(), err=True)
            elif message := one_line(error):
                culprit = WATCH.culprit() if status == INTERRUPTED else ""
                click.echo(f"retrograde: {message}{culprit}", err=True)
                WATCH.said = True
            else:
                silence_output()
            return status


def skip_collection() -> None:
    """Keep the garbage collector from searching all objects as Python shuts down, which takes a tenth of a second."""
    gc.disable()
    gc.freeze()


def print_warning(message: Warning | str) -> None:
    """Print a warning in one line."""
    from retrograde.games.contract.text import printable

    click.echo(f"retrograde: warning: {printable(' '.join(str(message).splitlines()))}", err=True)


def one_line(error: click.ClickException) -> str:
    """Return the text of an error in one line; "" if there is nothing to print."""
    from retrograde.games.contract.text import printable

    text = printable(" ".join(error.format_message().splitlines()))
    if isinstance(error, Failure):
        return text
    text = text[:1].lower() + text[1:].rstrip(".")
    command = getattr(error, "ctx", None)
    return f"error: {text}; see {command.command_path} --help" if command else f"error: {text}"


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="COMMAND …",
    epilog="""\b
Example:
  retrograde solve tictactoe
\b
For completion of commands, games and variants, add to your shell's start-up file:
  bash  eval "$(_RETROGRADE_COMPLETE=bash_source retrograde)"
  zsh   eval "$(_RETROGRADE_COMPLETE=zsh_source retrograde)"
  fish  _RETROGRADE_COMPLETE=fish_source retrograde | source""",
)
@click.option("--traceback", is_flag=True, help="Show where in the program an error occurred.")
@click.version_option(package_name="retrograde", message="retrograde %(version)s")
@click.pass_context
def main(ctx: click.Context, traceback: bool) -> None:
    """Solve games: the value of every position, and perfect play.

    A VARIANT is a game with its options: connect4, connect4:width=5,height=4, or in the order of the options
    connect4:5,4. The game may be a file of your own: ./mygame.py, ./mygame.py:option=value.

    Databases are in the folder RETROGRADE_HOME, or in the usual data folder if that variable is not set.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
