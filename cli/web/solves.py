"""Solves that the page asks for: small games of this installation, one at a time, each in a process of its own.

A solve is estimated first, by the command that a person would type, and refused where it would take long or much. It
runs beside the server with less priority, and goes on when the page that asked for it is gone:

    estimating --> solving --> done
        |             |-----> failed, stopped
        `--> refused

The text of a request names a game that is installed: no file, and no other code.
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
"""Of an estimate: what would take longer is not solved from the page."""
LONGEST_ESTIMATE, LONGEST_SOLVE = 40.0, 300.0
"""Seconds after which an estimate, or a solve that was estimated too low, is stopped."""
MOST_MEMORY = 2_000_000_000
"""Bytes, of which a solve gets at most half of those that are free."""
KEPT = 20
"""Solves that are over and still told of."""
COMMAND = [sys.executable, "-P", "-m", "retrograde.cli", "solve"]
"""With -P nothing is imported from the folder that the server happens to be started in."""

OVER = ("done", "refused", "failed", "stopped")

log = logging.getLogger(__name__)


class NotSolvedHere(RetrogradeError):
    """The server does not solve, or not for who asks."""


class Busy(RetrogradeError):
    """Another game is being solved."""


@dataclass
class Solve:
    """A solve as far as it has come: its state, the share of a phase that is done, and what there is to say."""

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
    """All solves that were asked for since the server began; *frank* says whether errors are told as they are."""

    def __init__(self, allowed: bool, frank: bool = True):
        self.allowed = allowed
        self.frank = frank
        self.token = secrets.token_urlsafe(24) if allowed else ""
        """What only our own page can know, and has to send along: pages from elsewhere cannot read our answers."""
        self.all: dict[str, Solve] = {}
        """By variant, the latest last."""
        self.lock = threading.Lock()
        self.closed = False

    def check(self, token: str | None) -> None:
        """Raise NotSolvedHere where the server does not solve, or a token is not the one it has given out."""
        if not self.allowed:
            raise NotSolvedHere("this server solves no games; where it may: retrograde serve --allow-solve")
        if not secrets.compare_digest((token or "").encode(), self.token.encode()):
            raise NotSolvedHere("solves are for the page of this server; load it anew")

    def begin(self, text: str) -> Solve:
        """Begin to solve a variant of a game that is installed, or return the solve that is under way.

        Raises VariantError where there is none, and Busy where another is being solved.
        """
        name = variant(named_game(text))
        with self.lock:
            for other in self.all.values():
                if not other.is_over and other.variant != name:
                    raise Busy(f"{other.variant} is being solved; wait for it, or cancel it")
            known = self.all.pop(name, None)
            if known is None or known.is_over:
                known = Solve(name)
                threading.Thread(target=self.run, args=(known,), name=f"solve {name}", daemon=True).start()
            self.all[name] = known
            for old in list(self.all)[:-KEPT]:
                del self.all[old]
        return known

    def cancel(self, text: str) -> None:
        """Stop a solve, if it is under way; what is done of it is kept for another time."""
        with self.lock:
            found = self.all.get(text)
            if found and not found.is_over:
                found.cancelled = True
                stop(found.process)

    def close(self) -> None:
        """Stop whatever is under way, and begin nothing more."""
        self.closed = True
        for one in list(self.all.values()):
            self.cancel(one.variant)

    # In a thread of its own

    def run(self, one: Solve) -> None:
        """Estimate, then solve, and note how it ends."""
        try:
            if self.is_small(one):
                one.state, one.words = "solving", ""
                self.follow(one, LONGEST_SOLVE, "--memory", str(memory_allowed()))
                one.state, one.share = "done", 1.0
        except Stopped as stopped:
            one.state, one.words = stopped.args
        except Exception as error:  # nobody else would hear of it, and the page would wait for ever
            log.exception("solving %s", one.variant)
            one.state, one.words = "failed", f"the solve failed, by {type(error).__name__}"

    def is_small(self, one: Solve) -> bool:
        """Estimate a solve; where it would take too much, say so and return False."""
        told = json.loads(self.follow(one, LONGEST_ESTIMATE, "--estimate"))
        seconds, memory = highest(told["seconds"]), highest(told["memory"])
        positions = f"about {amount(highest(told['positions']))} positions"
        if seconds > MOST_SECONDS or memory > memory_allowed():
            one.state = "refused"
            one.words = f"{positions}: it would take about {duration(seconds)}, {size(memory)} of memory"
            return False
        return True

    def follow(self, one: Solve, limit: float, *options: str) -> str:
        """Run `solve` to its end, note its progress, and return what it prints; raise Stopped where it fails."""
        workers = str(max(1, (os.cpu_count() or 2) - 1))  # so that the server's answers stay quick
        command = [*COMMAND, one.variant, "--json", "--workers", workers, *options]
        with TemporaryFile("w+", encoding="utf-8") as printed:  # not a pipe, which nobody would empty meanwhile
            process = self.start(one, command, printed)
            timer = threading.Timer(limit, too_late, (one, process))
            timer.start()
            try:
                said = ""
                for line in progress_of(process, one):
                    said = line or said
                status = process.wait()
            finally:
                timer.cancel()
                stop(process)
            if status:
                raise Stopped(*self.why(one, said))
            printed.seek(0)
            return printed.read()

    def start(self, one: Solve, command: list[str], printed: IO[str]) -> "subprocess.Popen[str]":
        """Start a process, unless it is no longer wanted: then raise Stopped."""
        with self.lock:
            if one.cancelled or self.closed:
                raise Stopped("stopped", "")
            one.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.PIPE, text=True,
                encoding="utf-8", errors="replace",
            )  # fmt: skip
        be_modest(one.process.pid)
        return one.process

    def why(self, one: Solve, said: str) -> tuple[str, str]:
        """Return the state and the words of a solve that has ended early; *said* is the last line that it wrote."""
        if one.cancelled:
            return "stopped", "" if one.state == "estimating" else "what is done is kept, and goes on from there"
        if one.late:
            if one.state == "estimating":
                return "refused", "already an estimate takes long: it is a large one"
            return "stopped", f"it takes more than {duration(LONGEST_SOLVE)}; what is done is kept"
        log.error("solving %s: %s", one.variant, ascii(said))
        words = said.removeprefix("retrograde: ").removeprefix("error: ")
        return "failed", printable(words) if self.frank else "the solve failed; this server's own output says more"


class Stopped(Exception):
    """A solve has ended before it was done: its state, and words."""


def progress_of(process: "subprocess.Popen[str]", one: Solve) -> Iterator[str]:
    """Note the progress that a process tells line by line, and yield the lines that tell something else."""
    assert process.stderr
    for line in process.stderr:
        try:
            told: dict[str, Any] = json.loads(line)
            one.phase, one.seconds_left = told["phase"], told["seconds_left"]
            one.share = told.get("overall_share", told["share"])  # of all phases, where that is known
        except (ValueError, TypeError, KeyError):
            yield line.strip()


def highest(told: Any) -> float:
    """Return a number that is told, of a range its end."""
    return float(max(told) if isinstance(told, list) else told)


def memory_allowed() -> int:
    """Return the bytes that a solve may take now."""
    return int(min(MOST_MEMORY, psutil.virtual_memory().available // 2))


def be_modest(pid: int) -> None:
    """Let a process wait while others have work."""
    with suppress(psutil.Error, OSError):
        process = psutil.Process(pid)
        process.nice(psutil.BELOW_NORMAL_PRIORITY_CLASS if os.name == "nt" else 10)


def too_late(one: Solve, process: "subprocess.Popen[str]") -> None:
    one.late = True
    stop(process)


def stop(process: "subprocess.Popen[str] | None") -> None:
    """End a process, if it has not ended."""
    if process and process.poll() is None:
        process.terminate()
