"""Progress on standard error: one line rewritten in place on a terminal; elsewhere a line now and then."""

import json
import shutil
import sys
import time
from typing import TYPE_CHECKING

from retrograde.cli.words import amount, duration

if TYPE_CHECKING:
    from retrograde.solver.work.progress import Progress

QUIET_SECONDS = 30.0
"""Where standard error is no terminal, a line is written so seldom."""
JSON_SECONDS = 1.0


class ProgressLine:
    """A listener for what works long, and a context manager that leaves no trace on the terminal."""

    def __init__(self) -> None:
        self.stream = sys.stderr
        self.live = self.stream.isatty()
        self.told = time.monotonic()

    def __call__(self, progress: "Progress") -> None:
        now = time.monotonic()
        if self.live:
            self.rewrite(describe(progress))
        elif now - self.told >= QUIET_SECONDS:
            self.told = now
            self.stream.write(describe(progress) + "\n")
            self.stream.flush()

    def rewrite(self, text: str) -> None:
        """Put a text in the place of the line before."""
        if self.live:
            self.stream.write("\r\x1b[K" + text[: shutil.get_terminal_size().columns - 1])
            self.stream.flush()

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self.rewrite("")
        self.stream.write(text + "\n")

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_: object) -> None:
        self.rewrite("")


class JsonProgress:
    """A listener that writes lines of JSON, one a second at most, to standard error."""

    def __init__(self) -> None:
        self.told = 0.0
        self.phase = ""

    def __call__(self, progress: "Progress") -> None:
        now = time.monotonic()
        ended = progress.total is not None and progress.done >= progress.total
        if now - self.told < JSON_SECONDS and progress.phase == self.phase and not ended:
            return
        self.told, self.phase = now, progress.phase
        facts = {
            "phase": progress.phase,
            "done": progress.done,
            "total": progress.total,
            "share": progress.share,
            "seconds": round(progress.seconds, 3),
            "rate": round(progress.rate),
            "seconds_left": None if progress.seconds_left is None else round(progress.seconds_left, 1),
            "tier": progress.tier,
            "resumed": progress.resumed,
        }
        sys.stderr.write(json.dumps(facts) + "\n")
        sys.stderr.flush()

    def rewrite(self, text: str) -> None:
        """Leave out what is for a terminal."""

    def say(self, text: str) -> None:
        """Write a warning as JSON."""
        sys.stderr.write(json.dumps({"message": text}) + "\n")

    def __enter__(self) -> "JsonProgress":
        return self

    def __exit__(self, *_: object) -> None:
        sys.stderr.flush()


def describe(progress: "Progress") -> str:
    """Return a line that says how far a phase has come: its share or count, speed and time left."""
    if progress.total and progress.share is not None:
        share = f"{int(100 * progress.share):3d} %"
        counts = f"{amount(progress.done)} of {amount(progress.total)} positions"
    else:
        share, counts = "", f"{amount(progress.done)} positions"
    parts = [f"{progress.phase:<9} {share}".rstrip(), counts, f"{amount(progress.rate)}/s"]
    if progress.seconds_left is not None and progress.seconds > 1:
        parts.append(f"{duration(max(1, progress.seconds_left))} left")
    if progress.tier is not None and progress.seconds > 1:
        parts.append(f"tier {progress.tier}")
    return "   ".join(parts)
