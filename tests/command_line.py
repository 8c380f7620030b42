"""Runs the command line, within this process or as one of its own."""

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from retrograde.cli import main

COMMAND = [sys.executable, "-m", "retrograde.cli"]

HEAP = Path(__file__).with_name("heap.py").read_text(encoding="utf-8")
"""A rule module as people write them: that of docs/ten-minutes.md."""


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
