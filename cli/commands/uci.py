"""`retrograde uci`: a chess engine for any program that speaks UCI."""

import gc
import sys

import click

from retrograde.cli.common import input_line


@click.command()
def command() -> None:
    """Play chess endgames from the databases, as a UCI engine.

    Chess programs start this themselves; tell them `retrograde uci` is the engine. Its option DatabasePath is the
    folder, or the file, where it looks for databases of chess. Endings that none of them has it searches within the
    clock. Without time for that, or with too many men on the board, it looks two plies ahead, and says so.

    A move is looked up in some milliseconds; the line that follows is worked out where the clock leaves time for it.
    MultiPV tells several moves, Move Overhead is time lost on the way, Hash is the memory of the search, in MiB.

    \b
    Example:
      echo uci | retrograde uci
    """
    from retrograde.cli.uci.engine import Engine

    def say(line: str) -> None:
        coding = getattr(sys.stdout, "encoding", None) or "utf-8"  # which may know fewer signs than a path has
        click.echo(line.encode(coding, "backslashreplace").decode(coding))

    engine = Engine(say)
    gc.freeze()  # what is imported stays, and need not be looked through for garbage while a clock runs
    while (line := input_line()) and engine.answer(line):
        pass
    engine.finish()
    engine.close()
