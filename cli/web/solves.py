"""Solves that the page requests: small installed games, one at a time, each in its own process.

First the command line's own estimate runs; a solve that would take too long or too much memory is refused. The solve
runs with low priority beside the server, and goes on if the page that requested it is closed:

    estimating --> solving --> done
        |             |-----> failed, stopped
        `--> refused

The text of a request names an installed game: never a file, never other code.
"""

import json
import logging
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO, Any

import psutil

from retrograde.cli.render.words import amount, duration, size
from retrograde.games.catalog import named_game, variant
from retrograde.games.contract.game import RetrogradeError
from retrograde.games.contract.text import printable

MOST_SECONDS = 60.0
"""The greatest estimated time of a solve from the page."""
LONGEST_ESTIMATE, LONGEST_SOLVE = 40.0, 300.0
"""Seconds after which an estimate, or a solve that was estimated too low, is stopped."""
MOST_MEMORY = 2_000_000_000
"""In bytes. A solve also gets at most half of the free memory."""
KEPT = 20
"""The number of finished solves that are still listed."""
COMMAND = [sys.executable, "-P", "-m", "retrograde.cli", "solve"]
"""-P: import nothing from the folder where the server was started."""

OVER = ("done", "refused", "failed", "stopped")

log = logging.getLogger(__name__)


class NotSolvedHere(RetrogradeError):
    """The server does not solve games, or not for this client."""


class Busy(RetrogradeError):
    """Another game is being solved."""


@dataclass
class Solve:
    """A solve in progress: its state, the finished share of its phase, and a message."""

    variant: str
    state: str = "estimating"
    phase: str = ""
    share: float | None = None
    seconds_left: float | None = None
    words: str = ""
    process: "subprocess.Popen[str] | None" = None
    cancelled: bool = False
    late: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        return self.state in OVER


class Solves:
    """All solves requested since the server started; none may be if not *allowed*. *shows_errors*: answers have error
    messages as they are."""

    def __init__(self, allowed: bool, shows_errors: bool = True):
        self.allowed = allowed
        self.shows_errors = shows_errors
        self.token = secrets.token_urlsafe(24) if allowed else ""
        """Requests must send it. Only our own page can know it: pages from elsewhere cannot read our answers."""
        self.all: dict[str, Solve] = {}
        """By variant; the latest is last."""
        self.lock = threading.Lock()
        self.closed = False

    def check(self, token: str | None) -> None:
        """Raise NotSolvedHere if the server does not solve games, or the token is wrong."""
        if not self.allowed:
            raise NotSolvedHere("this server solves no games; where it may: retrograde serve --allow-solve")
        if not secrets.compare_digest((token or "").encode(), self.token.encode()):
            raise NotSolvedHere("only the page of this server may start solves; reload it")

    def begin(self, text: str) -> Solve:
        """Start to solve a variant of an installed game, or return the running solve; raise VariantError or Busy."""
        name = variant(named_game(text))
        with self.lock:
            for other in self.all.values():
                if not other.is_over and other.variant != name:
                    raise Busy(f"{other.variant} is being solved; wait for it, or cancel it")
            solve = self.all.pop(name, None)
            if solve is None or solve.is_over:
                solve = Solve(name)
                threading.Thread(target=self.run, args=(solve,), name=f"solve {name}", daemon=True).start()
            self.all[name] = solve
            for old in list(self.all)[:-KEPT]:
                del self.all[old]
        return solve

    def cancel(self, text: str) -> None:
        """Stop a solve in progress; finished work is kept."""
        with self.lock:
            found = self.all.get(text)
            if found and not found.is_over:
                found.cancelled = True
                stop(found.process)

    def close(self) -> None:
        """Stop all solves, and start no more."""
        self.closed = True
        for solve in list(self.all.values()):
            self.cancel(solve.variant)

    # These run in a separate thread for each solve

    def run(self, solve: Solve) -> None:
        """Estimate, then solve, and record how it ends."""
        try:
            if self.is_small(solve):
                solve.state, solve.words = "solving", ""
                self.follow(solve, LONGEST_SOLVE, "--memory", str(memory_allowed()))
                solve.state, solve.share = "done", 1.0
        except Stopped as stopped:
            solve.state, solve.words = stopped.args
        except Exception as error:  # else the error is lost, and the page waits for ever
            log.exception("solving %s", solve.variant)
            solve.state, solve.words = "failed", f"the solve failed, by {type(error).__name__}"

    def is_small(self, solve: Solve) -> bool:
        """Estimate a solve; if it would take too much, record that and return False."""
        estimate = json.loads(self.follow(solve, LONGEST_ESTIMATE, "--estimate"))
        seconds, memory = highest(estimate["seconds"]), highest(estimate["memory"])
        positions = f"about {amount(highest(estimate['positions']))} positions"
        if seconds > MOST_SECONDS or memory > memory_allowed():
            solve.state = "refused"
            solve.words = f"{positions}: it would take about {duration(seconds)}, {size(memory)} of memory"
            return False
        return True

    def follow(self, solve: Solve, limit: float, *options: str) -> str:
        """Run `solve` to its end, record its progress, and return its output; raise Stopped if it fails."""
        workers = str(max(1, (os.cpu_count() or 2) - 1))  # so that the server's answers stay quick
        command = [*COMMAND, solve.variant, "--json", "--workers", workers, *options]
        with TemporaryFile("w+", encoding="utf-8") as printed:  # not a pipe: nobody would read it meanwhile
            process = self.start(solve, command, printed)
            timer = threading.Timer(limit, too_late, (solve, process))
            timer.start()
            try:
                output = ""
                for line in progress_of(process, solve):  # lines that are no progress: an error is the last one
                    output = line or output
                status = process.wait()
            finally:
                timer.cancel()
                stop(process)
            if status:
                raise Stopped(*self.reason(solve, output))
            printed.seek(0)
            return printed.read()

    def start(self, solve: Solve, command: list[str], printed: IO[str]) -> "subprocess.Popen[str]":
        """Start a process; raise Stopped if the solve was cancelled."""
        with self.lock:
            if solve.cancelled or self.closed:
                raise Stopped("stopped", "")
            solve.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.PIPE, text=True,
                encoding="utf-8", errors="replace",
            )  # fmt: skip
        be_modest(solve.process.pid)
        return solve.process

    def reason(self, solve: Solve, output: str) -> tuple[str, str]:
        """Return the state and message of a solve that ended early; *output* is the last line that it wrote."""
        is_estimate = solve.state == "estimating"  # nothing is kept of an estimate
        if solve.cancelled:
            return "stopped", "" if is_estimate else "what is done is kept, and goes on from there"
        if solve.late:
            if is_estimate:
                return "refused", "even an estimate takes too long: the game is too large for the page"
            return "stopped", f"it takes more than {duration(LONGEST_SOLVE)}; what is done is kept"
        log.error("solving %s: %s", solve.variant, ascii(output))
        if not self.shows_errors:  # a public server keeps its messages, which may name its files, to itself
            return "failed", "the solve failed; this server's own output says more"
        return "failed", printable(output.removeprefix("retrograde: ").removeprefix("error: "))


class Stopped(Exception):
    """A solve has ended before it was done: its state, and a message."""


def progress_of(process: "subprocess.Popen[str]", solve: Solve) -> Iterator[str]:
    """Read a process's standard error to its end: record the lines of progress in *solve*, and yield the others."""
    assert process.stderr
    for line in process.stderr:
        try:
            progress: dict[str, Any] = json.loads(line)
            solve.phase, solve.seconds_left = progress["phase"], progress["seconds_left"]
            solve.share = progress.get("overall_share", progress["share"])  # of all phases, where that is known
        except (ValueError, TypeError, KeyError):
            yield line.strip()


def highest(number: Any) -> float:
    """Return a number; the upper end of a range."""
    return float(max(number) if isinstance(number, list) else number)


def memory_allowed() -> int:
    """Return how many bytes a solve may use now."""
    return int(min(MOST_MEMORY, psutil.virtual_memory().available // 2))


def be_modest(pid: int) -> None:
    """Give a process low priority."""
    with suppress(psutil.Error, OSError):
        process = psutil.Process(pid)
        process.nice(psutil.BELOW_NORMAL_PRIORITY_CLASS if os.name == "nt" else 10)


def too_late(solve: Solve, process: "subprocess.Popen[str]") -> None:
    solve.late = True
    stop(process)


def stop(process: "subprocess.Popen[str] | None") -> None:
    """End a process, if it is still running."""
    if process and process.poll() is None:
        process.terminate()
