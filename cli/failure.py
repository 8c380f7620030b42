"""Failures: turns any exception into one line on standard error and an exit status."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType, TracebackType

import click

INTERRUPTED = 130
"""The exit status after Ctrl-C."""
MOST_OF_NAME = 200
"""The most signs of a file's name in a message."""
TERMINATED = 143
"""The exit status after SIGTERM."""
NO_THREAD = "can't start new thread"
RULES = "retrograde_rules_"
"""The catalog imports users' rule modules under names with this beginning."""


class Failure(click.ClickException):
    """The end of a command: the text after `retrograde:`, if any, and the exit status."""

    def __init__(self, message: str, status: int = 1):
        super().__init__(message)
        self.status = status


def explain(error: BaseException) -> Failure:
    """Return the failure that describes an exception to the user."""
    from retrograde.games import RetrogradeError

    if isinstance(error, RetrogradeError):
        return Failure(f"error: {message_of(error)}")
    if isinstance(error, KeyboardInterrupt | click.Abort) and not is_raised_by_rules(error):
        frame = frame_in_rules(error)
        rules = f"; the rules were at {frame[0]}, in {frame[1]}()" if frame else ""
        return Failure(f"interrupted{rules}", INTERRUPTED)
    if is_errno(error, errno.EPIPE):
        return Failure("", 141)
    if line_in_rules := place_in_rules(error):
        return Failure(f"error: the rules raise {type(error).__name__}: {error} ({line_in_rules})")
    if any(map(lacks_memory, causes(error))):
        from retrograde.solver.runtime.memory import address_space, format_size

        if space := address_space():
            allowed = f"`ulimit -v` allows {format_size(space[0])}"
            return Failure(f"error: there is not enough address space, of which {allowed}; raise that limit")
        if NO_THREAD in str(error):
            return Failure("error: the system starts no more threads; raise the limit that `ulimit -u` prints")
        return Failure("error: there is not enough memory; choose a smaller variant, or set a limit with --memory")
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename or ''}"
        name = name if len(name) <= MOST_OF_NAME else f"{name[:MOST_OF_NAME]}…"
        return Failure(f"error: {error.strerror}: {name}" if name else f"error: {error.strerror}")
    return Failure(
        f"error: {type(error).__name__}: {error}; this is a fault of retrograde, "
        "which `retrograde --traceback` before the command shows in full"
    )


def message_of(error: BaseException) -> str:
    """Return the message of an error, and its notes: remedies that a caller with a better one leaves out.

    >>> error = ValueError("the file is damaged")
    >>> error.add_note("copy it again")
    >>> message_of(error)
    'the file is damaged; copy it again'
    """
    return "; ".join((str(error), *getattr(error, "__notes__", ())))


def lacks_memory(error: BaseException) -> bool:
    """Return whether an error is a lack of memory, or of address space for a library or a thread."""
    is_in_text = any(words in str(error) for words in ("failed to map segment", NO_THREAD))
    return is_in_text or isinstance(error, MemoryError) or is_errno(error, errno.ENOMEM)


def is_errno(error: BaseException, number: int) -> bool:
    """Return whether an error is an OSError with this number."""
    return isinstance(error, OSError) and error.errno == number


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and the errors that led to it."""
    while error:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def explain_interrupt(error: KeyboardInterrupt, note: str) -> Failure:
    """Return the failure of a KeyboardInterrupt, with a note if it was Ctrl-C and not raised by rules."""
    failure = explain(error)
    return Failure(failure.message + note, INTERRUPTED) if failure.status == INTERRUPTED else failure


def is_raised_by_rules(error: BaseException) -> bool:
    """Return whether the rules themselves have raised KeyboardInterrupt or click.Abort."""
    from retrograde.solver.rules.examine import raised_by_rules

    return raised_by_rules(error) and place_in_rules(error) is not None


def place_in_rules(error: BaseException) -> str | None:
    """Return the last place in a user's rules that an exception passed through, or None."""
    frame = frame_in_rules(error)
    return frame[0] if frame else None


def frame_in_rules(error: BaseException) -> tuple[str, str] | None:
    """Return (the last place in a user's rules that an exception passed through, the function there), or None."""
    trace: TracebackType | None = error.__traceback__
    found = None
    while trace:
        if is_of_rules(trace.tb_frame):
            code = trace.tb_frame.f_code
            found = f"{code.co_filename}, line {trace.tb_lineno}", code.co_name
        trace = trace.tb_next
    return found


def is_of_rules(frame: FrameType) -> bool:
    """Return whether a frame runs code of a user's rule module, or of a base class of its game."""
    from retrograde.games import Game

    name, game = str(frame.f_globals.get("__name__")), frame.f_locals.get("self")
    if not (isinstance(game, Game) and type(game).__module__.startswith(RULES)):
        return name.startswith(RULES)
    return name in {base.__module__ for base in type(game).__mro__ if base is not Game}


def silence_output() -> None:
    """Discard all further output, so that the interpreter does not complain about it when it exits."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
