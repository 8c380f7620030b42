"""Output that is longer than the screen goes through a pager; what is piped, or fits, is printed as it is."""

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

import click

from retrograde.cli.interrupt import WATCH


class Screen(io.StringIO):
    """Text on its way to a terminal: it keeps its colours, and is wrapped as on one."""

    def isatty(self) -> bool:
        return True


@contextmanager
def paged(as_json: bool = False) -> Iterator[None]:
    """Collect what is printed, and show it at the end, page by page if the screen does not hold it.

    Where nobody looks (a pipe, a file), and for JSON, nothing is collected.
    """
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield
        return
    screen = Screen()
    try:
        with redirect_stdout(screen):
            yield
    except BaseException:
        click.echo(screen.getvalue(), nl=False)
        raise
    show(screen.getvalue())


def show(text: str) -> None:
    """Print a text, by a pager where it is longer than the screen."""
    if rows_of(text) < shutil.get_terminal_size().lines:  # the last line is the prompt's
        click.echo(text, nl=False)
        return
    WATCH.stop()  # a pager has its own use for Ctrl-C
    os.environ.setdefault("LESS", "-FRX")  # as Git does: colours, and the last page stays on the screen
    click.echo_via_pager(text)


def rows_of(text: str) -> int:
    """Return how many rows of the terminal a text takes."""
    columns = shutil.get_terminal_size().columns
    return sum(max(1, -(-len(line) // columns)) for line in click.unstyle(text).splitlines())
