"""Ctrl-C ends every command soon, whatever it is doing. So does SIGTERM, which `kill` and service managers send.

Python raises KeyboardInterrupt only in the main thread, and only between two instructions: not while machine code runs.
An import or a destructor may also catch everything. So a thread listens too, and makes sure that the command ends:

    0 s      Python raises KeyboardInterrupt in the main thread, which nearly always ends the command
    1 s      if it still runs: the same again, and once more half a second later
    2 s      if it still runs: print one line, and end the process

The message names rules that never return: interpreted rules by the line they were at, compiled rules by the position
that they were called with.
"""

import os
import signal
import socket
import sys
import threading
import time
from _thread import interrupt_main
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from retrograde.cli.failure import INTERRUPTED, TERMINATED

PAUSES = (1.0, 0.5, 0.5)
"""Seconds between Ctrl-C, its repetitions, and the end."""

LEFT_RUNNING = "left running"
"""The name of threads that may still run when a command has ended."""

exit_now = os._exit
"""Ends the process. Saved at import, because `os._exit` is replaced while rules run."""


class Watch:
    """A thread that waits for Ctrl-C while a command runs, and what has happened since."""

    def __init__(self) -> None:
        self.said = False
        """Whether the command has ended and printed its message."""
        self.seen = 0.0
        """The time of Ctrl-C; 0 before it."""
        self.positions_at_interrupt: dict[int, int] = {}
        """The positions that compiled rules were working on then."""
        self.swallowed = threading.Event()
        """Set if KeyboardInterrupt was raised where it could not end the command."""
        self.hook: Callable[[Any], Any] = sys.unraisablehook
        self.sockets: tuple[socket.socket, socket.socket] | None = None
        self.terminated = False
        """Whether it was SIGTERM, not Ctrl-C."""

    def start(self) -> None:
        """Listen, unless this process handles Ctrl-C in its own way. One in the background may ignore Ctrl-C, and yet
        hears SIGTERM."""
        if threading.current_thread() is not threading.main_thread():
            return
        usual = signal.default_int_handler, signal.SIG_IGN
        if self.sockets or signal.getsignal(signal.SIGINT) not in usual:
            return
        self.sockets = socket.socketpair()
        for end in self.sockets:
            end.setblocking(end is self.sockets[0])
        signal.set_wakeup_fd(self.sockets[1].fileno(), warn_on_full_buffer=False)
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self.terminate)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(
                    before=hold_sigterm, after_in_parent=release_sigterm, after_in_child=forget_signals_in_child
                )
        self.hook, sys.unraisablehook = sys.unraisablehook, self.unraisable
        threading.Thread(target=self.listen, name="interrupt", daemon=True).start()

    def terminate(self, *_: Any) -> None:
        """Treat SIGTERM as Ctrl-C, but for the exit status."""
        self.terminated = True
        raise KeyboardInterrupt

    @property
    def status(self) -> int:
        """The exit status after Ctrl-C or SIGTERM."""
        return TERMINATED if self.terminated else INTERRUPTED

    def stop(self) -> None:
        """Leave Ctrl-C and SIGTERM to the command from now on."""
        if self.sockets and not self.seen:
            forget_signals()
            self.sockets[1].close()  # the thread reads the end of the stream, and ends
            sys.unraisablehook = self.hook

    def unraisable(self, unraisable: Any) -> None:
        """Raise KeyboardInterrupt again if it came in a callback or destructor, which cannot pass it on."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            self.swallowed.set()
        else:
            self.hook(unraisable)

    def listen(self) -> None:
        """Wait for Ctrl-C. Then raise it again after each pause, and finally end the process."""
        assert self.sockets
        while not {signal.SIGINT, signal.SIGTERM} & set(heard := self.sockets[0].recv(64)):
            if not heard:
                return
        self.terminated = self.terminated or signal.SIGINT not in heard
        self.seen = time.monotonic()
        self.positions_at_interrupt = active_positions()
        for pause in PAUSES:
            end = time.monotonic() + pause
            while self.swallowed.wait(max(0.0, end - time.monotonic())):
                self.swallowed.clear()
                time.sleep(0.01)  # let the callback return
                self.repeat()
            self.repeat()  # after the last pause this is useless, and does no harm
        self.end()

    def repeat(self) -> None:
        """Act as if Ctrl-C were pressed once more, unless the command has ended."""
        if not self.said:
            interrupt_main(signal.SIGTERM if self.terminated else signal.SIGINT)

    def end(self) -> None:
        """Print one line, if none was printed, and end the process."""
        if not self.said:
            clear = "\r\x1b[K" if os.isatty(2) else ""
            with suppress(OSError):
                os.write(2, f"{clear}retrograde: interrupted{self.culprit()}\n".encode())
        exit_now(self.status)

    def close(self, status: int, owns_process: bool) -> None:
        """End the process if Ctrl-C ended the command, whatever its threads do; else Python shuts down as usual.

        The process, if it is the command's own, also ends here if threads are LEFT_RUNNING: Python would stop them
        while they hold a lock of HDF5, and then wait for that lock.
        """
        self.said = True
        if self.sockets:
            signal.signal(signal.SIGINT, lambda *_: None)
            signal.signal(signal.SIGTERM, lambda *_: None)
        is_busy = owns_process and any(thread.name == LEFT_RUNNING for thread in threading.enumerate())
        if is_busy or (self.seen and status == INTERRUPTED):
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError, AttributeError):
                    stream.flush()
            exit_now(status if status != INTERRUPTED else self.status)

    def ignore(self) -> None:
        """Ignore further Ctrl-C while the error is printed."""
        if self.seen:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def culprit(self) -> str:
        """Return the compiled rules that have not returned since, in words to follow others; "" if all have."""
        while self.seen and time.monotonic() < self.seen + PAUSES[0] and active_positions():
            time.sleep(0.02)
        running = sys.modules.get("retrograde.solver.rules.running_kernels")
        stuck = running.stuck_since(self.positions_at_interrupt) if running and self.positions_at_interrupt else ""
        return f"; {stuck}" if stuck else ""


FORKING = threading.local()
"""The signals that a thread held back before it forked."""


def hold_sigterm() -> None:
    """Hold SIGTERM back in this thread until the process that it forks handles signals in the usual way.

    Otherwise a signal that the new process gets at once would pass for one of ours: both have the same wakeup socket.
    """
    FORKING.held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def release_sigterm() -> None:
    """Hear SIGTERM again after a fork."""
    signal.pthread_sigmask(signal.SIG_SETMASK, FORKING.held)


def forget_signals_in_child() -> None:
    """Handle signals in the usual way in a process that was just forked."""
    forget_signals()
    release_sigterm()


def forget_signals() -> None:
    """Hear no signals any more; SIGTERM ends the process at once, unless something else handles it."""
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(-1)
        if signal.getsignal(signal.SIGTERM) == WATCH.terminate:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def active_positions() -> dict[int, int]:
    """Return the positions that compiled rules are working on, by call; {} if the solver is not imported."""
    running = sys.modules.get("retrograde.solver.rules.running_kernels")
    return running.noted_positions() if running else {}


WATCH = Watch()
