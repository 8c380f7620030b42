"""Runs the command line, within this process or as one of its own."""

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from retrograde.cli import main

COMMAND = [sys.executable, "-m", "retrograde.cli"]

HEAP = '''
from retrograde.games import LOSE, UNDECIDED, Game


class Heap(Game):
    """Take one, two or three from the heap; whoever takes the last one wins."""

    size: int = 10

    @property
    def start(self):
        return self.size

    def generate_moves(self, heap):
        yield from range(1, min(3, heap) + 1)

    def do_move(self, heap, taken):
        return heap - taken

    def primitive(self, heap):
        return LOSE if heap == 0 else UNDECIDED
'''
"""A rule module as people write them."""


def retrograde(*args: str | Path, status: int = 0, **options: object) -> Result:
    """Run a command line within this process, expecting an exit status; *options* are those of CliRunner.invoke."""
    result = CliRunner().invoke(main, [str(arg) for arg in args], **options)
    assert result.exit_code == status, result.output
    return result


def process(*args: str | Path, **options: object) -> "subprocess.CompletedProcess[str]":
    """Run a command line as a process of its own; *options* are those of subprocess.run."""
    return subprocess.run([*COMMAND, *map(str, args)], capture_output=True, text=True, timeout=120, **options)


def environment(home: Path) -> dict[str, str]:
    """Return this process's environment with another home for databases, and no colours forbidden."""
    return {**os.environ, "RETROGRADE_HOME": str(home)}
