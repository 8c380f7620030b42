"""Runs the command line, within this process or as one of its own."""

import io
import os
import subprocess
import sys
from functools import partial
from inspect import signature
from pathlib import Path

from click.testing import CliRunner, Result

from retrograde.cli import main
from tests.helpers.paths import ROOT

COMMAND = [sys.executable, "-m", "retrograde.cli"]

LATE = 600.0
"""Seconds after which a process is taken to hang. How soon it ends decides nothing, for machines may be busy."""

HEAP = (ROOT / "tests" / "helpers" / "heap.py").read_text(encoding="utf-8")
"""A rule module as people write them: that of docs/ten-minutes.md."""


class Child(subprocess.Popen):
    """A process that is killed where its `with` block fails: Popen's own block would wait for one that hangs."""

    def __exit__(self, kind, *error):
        if kind:
            self.kill()
        super().__exit__(kind, *error)


def retrograde(*args: str | Path, status: int = 0, charset: str = "utf-8", **options: object) -> Result:
    """Run a command line within this process, expecting an exit status; *options* are those of CliRunner.invoke."""
    apart = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}  # click before 8.2
    result = CliRunner(charset, **apart).invoke(main, [str(arg) for arg in args], **options)
    assert result.exit_code == status, result.output
    return result


def process(*args: str | Path, **options: object) -> "subprocess.CompletedProcess[str]":
    """Run a command line as a process of its own; *options* are those of subprocess.run."""
    return subprocess.run([*COMMAND, *map(str, args)], capture_output=True, text=True, timeout=LATE, **options)


def on_terminal(*args: str | Path, lines: int = 24, text: str = "", **variables: str) -> str:
    """Return what a command line shows on a terminal of so many lines, at which a person types a text.

    *variables* are put into its environment. No pager waits for keys, unless PAGER names one. Needs pseudo-terminals,
    which Windows has not.
    """
    import pty  # here, for the same reason

    ours, theirs = pty.openpty()
    variables = {"COLUMNS": "80", "LINES": str(lines), "TERM": "xterm-256color", "PAGER": "cat", **variables}
    with (
        os.fdopen(ours, "r+b", buffering=0) as terminal,
        Child([*COMMAND, *map(str, args)], stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **variables}),
    ):
        os.close(theirs)
        terminal.write(text.encode())
        shown = b"".join(iter(partial(read_terminal, terminal), b""))
    return shown.decode().replace("\r\n", "\n")


def read_terminal(terminal: io.FileIO) -> bytes:
    """Return what has been shown on a terminal; nothing at its end, which Linux reports as an error."""
    try:
        return terminal.read(1 << 16)
    except OSError:
        return b""


def environment(home: Path) -> dict[str, str]:
    """Return this process's environment with another home for databases, and no colours forbidden."""
    return {**os.environ, "RETROGRADE_HOME": str(home)}
