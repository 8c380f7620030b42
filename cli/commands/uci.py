"""`retrograde uci`: a chess engine for any program that speaks UCI."""

import gc
import sys

import click

from retrograde.cli.common import input_line


@click.command()
def command() -> None:
    """Play chess endgames from the databases, as a UCI engine.

    Chess programs start this command themselves: set `retrograde uci` as the engine. Its option DatabasePath is the
    folder or file with databases of chess. If none of them has an ending, the engine searches it within the clock. If
    there is no time for that, or too many men are on the board, it looks two plies ahead, and says so.

    Looking up a move takes some milliseconds. The line after it is computed if the clock leaves time. MultiPV sets how
    many moves are shown, Move Overhead is time lost on the way to the program, Hash is the memory of the search in MiB.

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
