"""The engine for programs that speak UCI, and the command that runs it."""

from retrograde.cli.uci.command import command

__all__ = ["command"]
