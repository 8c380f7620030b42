"""`retrograde uci`: a chess engine for any program that speaks UCI."""

import gc
import sys

import click

from retrograde.cli.common import input_line


@click.command()
def command() -> None:
    """Play chess as a UCI engine: endgames from the databases, and all else by search.

    Chess programs start this command themselves: set `retrograde uci` as the engine. Its option DatabasePath is the
    folder or file with databases of chess. If no database has the position, the engine searches within the clock. If
    there is no time for a search, the engine looks two plies ahead, and says so.

    The engine looks up a move in some milliseconds. If the clock leaves time, it also computes the line of best play.
    Options: MultiPV is the number of moves shown, Move Overhead is the time lost between program and engine in
    milliseconds, and Hash is the memory of the search in MiB.

    \b
    Example:
      echo uci | retrograde uci
    """
    from retrograde.cli.uci.engine import Engine

    def say(line: str) -> None:
        coding = getattr(sys.stdout, "encoding", None) or "utf-8"  # some encodings lack characters of paths
        click.echo(line.encode(coding, "backslashreplace").decode(coding))

    engine = Engine(say)
    gc.freeze()  # imported objects stay: the garbage collector must not scan them while a clock runs
    while (line := input_line()) and engine.answer(line):
        pass
    engine.finish()
    engine.close()
