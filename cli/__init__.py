"""The command line: `retrograde COMMAND`, a file for each command, imported only when it is called."""

from retrograde.cli.main import main

__all__ = ["main"]
