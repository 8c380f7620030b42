"""Sends output that is longer than the screen through a pager; prints all other output as it is."""

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

import click

from retrograde.cli.interrupt import WATCH


class Screen(io.StringIO):
    """Collects text for a terminal: it counts as one, so that text keeps its colours and is wrapped."""

    def isatty(self) -> bool:
        return True


@contextmanager
def page_output(as_json: bool = False) -> Iterator[None]:
    """Show the output at the end, page by page if it is longer than the screen. Show it at once with JSON or without a
    terminal."""
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
    """Print a text, through a pager if it is longer than the screen."""
    if rows_of(text) < shutil.get_terminal_size().lines:  # the last line is for the prompt
        click.echo(text, nl=False)
        return
    WATCH.stop()  # a pager handles Ctrl-C itself
    os.environ.setdefault("LESS", "-FRX")  # as Git does: colours, and the last page stays on the screen
    click.echo_via_pager(text)


def rows_of(text: str) -> int:
    """Return how many rows of the terminal a text takes."""
    columns = shutil.get_terminal_size().columns
    return sum(max(1, -(-len(line) // columns)) for line in click.unstyle(text).splitlines())
